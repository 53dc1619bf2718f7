//! Tests of the plans of refreshes, and of the results of a job that follows them.

mod plans;
mod properties;
mod steps;
mod world;
