//! Tests of the plans of calls, and of the tables when the plans are followed.

mod calls;
mod fill;
mod plans;
mod properties;
mod stars;
mod world;
