//! The descriptions of methods that are made in parts.

pub mod passages;
#[cfg(test)]
mod tests;
