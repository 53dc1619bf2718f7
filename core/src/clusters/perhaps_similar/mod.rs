//! Perhaps-similar sets (Huang et al.): built from pairs, from signatures before any pair is
//! compared, or from the rows of a table.

pub mod of_pairs;
pub mod of_sentences;
pub mod of_signatures;
