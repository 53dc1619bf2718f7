//! The descriptions of methods that are made in parts.

mod codes;
mod edit;
mod imatch;
pub mod passages;
mod runs;
mod sets;
mod sketches;
mod spotsigs;
#[cfg(test)]
mod tests;
mod tlcs;
mod words;
