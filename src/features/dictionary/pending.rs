//! Tokens of a batch of documents between being cut out of texts and being numbered.

use super::lookup::Lookup;
use crate::memory;

/// Stands among the tokens of documents for one that the worker's vocabulary does not have.
pub const UNKNOWN: u32 = u32::MAX;

/// A document whose tokens are still to be numbered.
#[derive(Debug, Clone, Copy)]
pub struct PendingDocument {
    /// Its row.
    pub row: u32,
    /// Where its tokens end.
    pub end: usize,
    /// The sum of the hashes of those that the vocabulary has.
    pub fingerprint: u64,
}

/// Tokens of documents that are still to be numbered.
#[derive(Debug, Default)]
pub struct Pending {
    /// The tokens of all documents, in order: places in the vocabulary of the worker, and [`UNKNOWN`] for
    /// those that are looked up.
    pub tokens: Vec<u32>,
    /// The tokens that are looked up, in order.
    pub lookups: Vec<Lookup>,
    /// What is too long to stand in a lookup.
    pub long: Vec<u8>,
    /// The documents of the tokens, in order.
    pub documents: Vec<PendingDocument>,
    /// The numbers of the tokens that were looked up.
    pub numbers: Vec<u32>,
}

impl Pending {
    /// Takes everything away; space stays for another such batch. The first ones have far more words that are new.
    pub fn clear(&mut self) {
        memory::clear(&mut self.tokens);
        memory::clear(&mut self.lookups);
        memory::clear(&mut self.long);
        memory::clear(&mut self.documents);
        memory::clear(&mut self.numbers);
    }

    /// Bytes on the heap, with what numbering takes beside it.
    pub fn bytes(&self) -> usize {
        memory::bytes(&self.tokens)
            + memory::bytes(&self.lookups)
            + memory::bytes(&self.long)
            + memory::bytes(&self.documents)
            + 3 * size_of::<u32>() * self.lookups.len()
    }
}
