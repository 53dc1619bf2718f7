//! The descriptions of methods that are made in parts.

pub mod limited;
pub mod passages;
#[cfg(test)]
mod tests;
