//! Numbers for tokens: equal tokens get the same number, and distinct tokens never do.
//!
//! Tokens are compared whole, not by their hashes, so that no pair of documents is found or lost by
//! a collision. One dictionary serves all workers. It is divided into shards by hash, and tokens
//! are numbered a batch at a time, each shard by one worker ([`numbering`]). So a shard is in the
//! cache while its part of a batch is looked up, and nothing has to be merged at the end.

pub(crate) mod by_content;
pub mod lookup;
pub mod numbering;
pub mod pending;
pub mod rank;
pub mod shard;
pub mod vocabulary;
pub mod weights;

use crate::error::{Error, Result};
use lookup::Lookup;
use shard::{Shard, is_place};

/// The way in which the number of a token combines its shard and its place in the shard.
#[derive(Debug, Clone, Copy)]
pub struct Numbering(u32);

impl Numbering {
    /// Returns the number of the token at a place of a shard.
    #[inline]
    pub fn number(self, shard: usize, place: u32) -> u32 {
        place << self.0 | shard as u32
    }

    /// Returns the shard of a token, and its place there.
    #[inline]
    pub fn place(self, number: u32) -> (usize, usize) {
        (number as usize & ((1 << self.0) - 1), (number >> self.0) as usize)
    }
}

/// Tokens and their numbers: the upper bits of a number are the token's place in its shard, and the
/// lower bits are the shard. A token takes about 80 bytes.
#[derive(Debug)]
pub struct Dictionary {
    shards: Vec<Shard>,
    bits: u32,
    /// The number of document stamps given so far.
    documents: u32,
    is_frozen: bool,
}

impl Default for Dictionary {
    fn default() -> Self {
        Self::new(Self::BITS)
    }
}

impl Dictionary {
    /// The number of bits of a hash that select the shard, in a dictionary for many documents. It
    /// does not depend on the number of workers.
    const BITS: u32 = 8;

    /// Creates a dictionary of a single shard, for a few documents.
    pub fn small() -> Self {
        Self::new(0)
    }

    fn new(bits: u32) -> Self {
        // The greatest numbers have other meanings.
        let most = (u32::MAX >> bits) as usize - 1;
        let shards = (0..1 << bits).map(|_| Shard::new(most)).collect();
        Self { shards, bits, documents: 0, is_frozen: false }
    }

    /// Lets no token be added from now on. New tokens are counted and numbered elsewhere.
    pub(crate) fn freeze(&mut self) {
        self.shards.iter_mut().for_each(Shard::freeze);
        self.is_frozen = true;
    }

    /// Reports whether no token can be added.
    pub fn is_frozen(&self) -> bool {
        self.is_frozen
    }

    /// Returns the shard of a hash.
    #[inline]
    pub fn shard_of(&self, hash: u64) -> usize {
        hash.checked_shr(64 - self.bits).unwrap_or(0) as usize
    }

    /// Returns the one of all shards of a dictionary that a hash belongs to.
    pub(crate) fn shard_of_some(shards: &[Shard], hash: u64) -> usize {
        hash.checked_shr(u64::BITS - shards.len().ilog2()).unwrap_or(0) as usize
    }

    /// Reserves consecutive stamps for some documents, and returns the first stamp.
    pub(crate) fn stamps(&mut self, documents: usize) -> Result<u32> {
        let first = self.documents;
        self.documents = u32::try_from(documents)
            .ok()
            .and_then(|documents| first.checked_add(documents))
            .ok_or(Error::TooMany { what: "documents", limit: u32::MAX.into() })?;
        Ok(first)
    }

    /// Returns the number of a token of the document with this stamp, or a result of
    /// [`Shard::place`] that is not a place.
    #[inline]
    pub(crate) fn number(
        &mut self,
        lookup: &Lookup,
        long: &[u8],
        stamp: u32,
        table: usize,
        repeats_count: bool,
    ) -> Result<u32> {
        let (shard, numbering) = (self.shard_of(lookup.hash), self.numbering());
        let place = self.shards[shard].place(lookup, long, stamp, table, repeats_count)?;
        Ok(if is_place(place) { numbering.number(shard, place) } else { place })
    }

    /// Prepares a dictionary for a few documents for so many tokens.
    pub(crate) fn expect(&mut self, tokens: usize) -> Result<()> {
        match self.shards.as_mut_slice() {
            [only] => only.expect(tokens),
            _ => Ok(()),
        }
    }

    /// Returns the number of a short token, without counting a document for it.
    pub(crate) fn number_of(&mut self, lookup: &Lookup) -> Result<u32> {
        let (shard, numbering) = (self.shard_of(lookup.hash), self.numbering());
        Ok(numbering.number(shard, self.shards[shard].find_or_add(lookup, &[])?))
    }

    /// Returns the number of a token's next occurrence in a document, after the occurrence with
    /// this number.
    pub(crate) fn number_after(&mut self, number: u32) -> Result<u32> {
        let (shard, place) = self.place(number);
        Ok(self.numbering().number(shard, self.shards[shard].occurrence_after(place as u32)?))
    }

    /// Adds `documents` to the number of documents of each table that contain a token.
    pub(crate) fn count_documents(&mut self, number: u32, documents: [u32; 2]) {
        let (shard, place) = self.place(number);
        self.shards[shard].count_documents(place, documents);
    }

    /// Removes one document of a table from the number of documents that contain a token.
    pub(crate) fn forget(&mut self, number: u32, table: usize) {
        let (shard, place) = self.place(number);
        self.shards[shard].forget(place, table);
    }

    /// Returns the way in which numbers combine shards and places.
    pub fn numbering(&self) -> Numbering {
        Numbering(self.bits)
    }

    /// Returns the shard of a token, and its place there.
    #[inline]
    pub fn place(&self, number: u32) -> (usize, usize) {
        self.numbering().place(number)
    }

    /// Returns all shards.
    pub fn shards(&self) -> &[Shard] {
        &self.shards
    }

    /// Returns all shards, so that tokens can be added to them.
    pub(crate) fn shards_mut(&mut self) -> &mut [Shard] {
        &mut self.shards
    }

    /// Returns the number of tokens.
    pub fn len(&self) -> usize {
        self.shards.iter().map(Shard::len).sum()
    }

    /// Returns the number of bytes on the heap.
    pub fn bytes(&self) -> usize {
        self.shards.iter().map(Shard::bytes).sum()
    }
}
