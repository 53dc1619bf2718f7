//! Turns documents into sets of token numbers, and these sets into the ordered records of a join.

pub mod builder;
pub mod collect;
mod counted;
mod counting_files;
mod distinct;
mod distinct_hashes;
mod equal_tokens;
pub mod exact;
pub mod grams;
pub mod members;
pub mod number_sets;
pub mod order;
mod overflow;
mod record_places;
pub mod records;
mod set_weights;
mod shared_tokens;
pub mod spill;
mod spilled_sets;
pub mod store;
mod token_blocks;
mod token_files;
mod token_tree;
mod translate;
mod vocabulary_batch;
