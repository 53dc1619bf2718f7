//! Perhaps-similar sets (Huang et al.): of pairs, of signatures before any pair is compared, of the rows of a table.

pub mod of_pairs;
pub mod of_sentences;
pub mod of_signatures;
