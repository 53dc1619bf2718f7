//! Plans of calls, and what becomes of tables where they are followed.

mod plans;
mod properties;
mod stars;
mod world;
