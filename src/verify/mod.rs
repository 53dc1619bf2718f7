//! How similar two sets are: the measures ([`measure`]) and the number of shared tokens ([`overlap`]).

pub mod measure;
pub mod overlap;
