//! Units of documents, sentences or whole texts, into sets of signatures.

pub mod library;
pub mod sets;
pub mod signatures;
