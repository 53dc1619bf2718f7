//! The plans of refreshes, and what becomes of a job that follows them.

mod plans;
mod properties;
mod steps;
mod world;
