//! Turns units of documents (sentences or whole texts) into sets of signatures.

mod batch;
pub mod document_counts;
pub mod sets;
pub mod signatures;
pub mod text_store;
