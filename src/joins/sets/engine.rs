//! What finds candidates and verifies them, piece by piece, and the space that it uses.

use std::collections::VecDeque;
use std::fmt::Debug;
use std::ops::Range;

use super::found::FoundPairs;
use super::inputs::{Inputs, Needs};
use super::near_pairs::NearPairs;
use crate::error::Result;
use crate::executor::Stop;
use crate::memory;

/// An index, and a way to find all pairs by it.
pub trait Engine: Debug + Send + Sync {
    /// All the work, in pieces of numbers that mean something to the engine.
    fn plan(&self, inputs: &Inputs) -> Result<VecDeque<Range<usize>>>;

    /// Does a piece of work, until it is done or enough pairs are found; `todo` becomes what is left
    /// of it, also after an error.
    fn work(
        &self,
        inputs: &Inputs,
        todo: &mut Range<usize>,
        scratch: &mut ProbeScratch,
        stop: &Stop,
        found: &mut FoundPairs,
    ) -> Result<()>;

    /// Bytes on the heap.
    fn bytes(&self) -> usize;
}

/// Space that pieces of work use in turn.
#[derive(Debug, Default)]
pub struct ProbeScratch {
    /// What the present probe needs of its partners.
    pub needs: Needs,
    /// A count for each indexed record that the present probe met; zero between probes.
    pub marks: Vec<u32>,
    /// The records met by the present probe.
    pub touched: Vec<u32>,
    /// The lists of the present probe.
    pub lists: Vec<PostingRange>,
    /// Places of bitmaps that are near.
    pub near: Vec<u32>,
    /// The bitmaps of a list, concatenated.
    pub bitmaps: Vec<u64>,
    /// Probes and postings of the same tokens that are near and still to be checked.
    pub pairs: NearPairs,
}

impl ProbeScratch {
    /// Bytes on the heap.
    pub fn bytes(&self) -> usize {
        self.needs.bytes()
            + memory::bytes(&self.marks)
            + memory::bytes(&self.touched)
            + memory::bytes(&self.lists)
            + memory::bytes(&self.near)
            + memory::bytes(&self.bitmaps)
            + size_of::<NearPairs>()
    }
}

/// A list that a probe looks through.
#[derive(Debug)]
pub struct PostingRange {
    /// The token's place in the prefix.
    pub place: u32,
    /// Where the list is among all postings.
    pub range: Range<usize>,
    /// The record of the posting in its middle.
    pub middle: u32,
}
