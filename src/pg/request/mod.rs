//! The arguments of `near_duplicates` and its relatives, checked and completed with their defaults.

mod arguments;
pub mod centre;
mod clustering;
pub mod example;
mod features;
pub mod form;
mod join;
pub mod methods;
mod options;
mod passages;
mod tables;
mod tokenizer;

pub use clustering::How;
pub use example::such_as;
pub use join::Request;
pub use passages::{Given, PassageRequest, parameters};
