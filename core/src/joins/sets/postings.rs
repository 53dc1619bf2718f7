//! Posting lists: for each token, the records that have it in their prefix.

use std::ops::Range;

use super::inputs::Inputs;
use super::listing::{Head, lists};
use super::posting::Posting;
use crate::error::Result;
use crate::executor::Executor;
use crate::memory;

/// For each token, the records that have it in their prefix, smallest record first.
#[derive(Debug)]
pub struct Postings {
    /// The heads of the lists by token, and one more head after the last list.
    heads: Vec<Head>,
    /// All lists, concatenated.
    pub postings: Vec<Posting>,
}

impl Postings {
    /// Builds the lists of the indexed records.
    pub fn of_indexed(inputs: &Inputs, executor: &dyn Executor) -> Result<Self> {
        let prefix = |record| (inputs.indexing_prefix(record).tokens, 0);
        lists(inputs.indexed(), inputs.shared_tokens, prefix, executor).map(Self::new)
    }

    /// Builds the lists of the records that probe. In a self-join they contain only the tokens that
    /// [`Postings::of_indexed`] does not have: a record probes with the tokens it is indexed under,
    /// and with some more.
    pub fn of_probing(inputs: &Inputs, executor: &dyn Executor) -> Result<Self> {
        let prefix = |record| {
            let tokens = inputs.probing_prefix(record).tokens;
            let known = if inputs.is_self_join() { inputs.indexing_prefix(record).tokens.len() } else { 0 };
            (tokens, known.min(tokens.len()))
        };
        lists(inputs.left(), inputs.shared_tokens, prefix, executor).map(Self::new)
    }

    fn new((heads, postings): (Vec<Head>, Vec<Posting>)) -> Self {
        Self { heads, postings }
    }

    /// Returns the range of the list of a token.
    #[inline]
    pub fn range(&self, token: usize) -> Range<usize> {
        self.start(token)..self.start(token + 1)
    }

    /// Returns the range of the list of a token if the first record of the list comes before `end`.
    #[inline]
    pub fn range_before(&self, token: u32, end: u32) -> Option<Range<usize>> {
        let token = token as usize;
        (self.heads[token].first < end).then(|| self.range(token))
    }

    /// Returns the list of a token.
    #[inline]
    pub fn list(&self, token: u32) -> &[Posting] {
        &self.postings[self.range(token as usize)]
    }

    /// Returns the start of the list of a token. `token` may also be the number after the last
    /// token.
    #[inline]
    pub fn start(&self, token: usize) -> usize {
        self.heads[token].start as usize
    }

    /// Returns the number of bytes on the heap.
    pub fn bytes(&self) -> usize {
        memory::bytes(&self.heads) + memory::bytes(&self.postings)
    }
}
