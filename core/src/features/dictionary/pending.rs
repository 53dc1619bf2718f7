//! Tokens of a batch of documents that are cut out of texts but not yet numbered.

use super::lookup::Lookup;
use crate::memory;

/// A placeholder for a token that the worker's vocabulary does not have.
pub const UNKNOWN: u32 = u32::MAX;

/// A document whose tokens are still to be numbered.
#[derive(Debug, Clone, Copy)]
pub struct PendingDocument {
    /// The row of the document.
    pub row: u32,
    /// The end of the document's tokens in [`Pending::tokens`].
    pub end: usize,
    /// The sum of the hashes of the tokens that the vocabulary has.
    pub fingerprint: u64,
}

/// Tokens of documents that are still to be numbered.
#[derive(Debug, Default)]
pub struct Pending {
    /// The tokens of all documents, in order: places in the vocabulary of the worker, and
    /// [`UNKNOWN`] for tokens that are looked up.
    pub tokens: Vec<u32>,
    /// The tokens that are looked up, in order.
    pub lookups: Vec<Lookup>,
    /// Strings that are too long for a lookup.
    pub long: Vec<u8>,
    /// The documents of the tokens, in order.
    pub documents: Vec<PendingDocument>,
    /// The numbers of the tokens that were looked up.
    pub numbers: Vec<u32>,
}

impl Pending {
    /// Removes everything and keeps the memory that another batch like this one needs. The rest is
    /// freed, because the first batches have far more new words than later ones.
    pub fn clear(&mut self) {
        memory::clear(&mut self.tokens);
        memory::clear(&mut self.lookups);
        memory::clear(&mut self.long);
        memory::clear(&mut self.documents);
        memory::clear(&mut self.numbers);
    }

    /// Returns the number of bytes on the heap, including what numbering takes in addition.
    pub fn bytes(&self) -> usize {
        memory::bytes(&self.tokens)
            + memory::bytes(&self.lookups)
            + memory::bytes(&self.long)
            + memory::bytes(&self.documents)
            + 3 * size_of::<u32>() * self.lookups.len()
    }
}
