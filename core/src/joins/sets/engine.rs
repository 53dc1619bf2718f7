//! The interface of the engines that find and verify candidates, task by task, and their scratch
//! space.

use std::fmt::Debug;
use std::ops::Range;

use super::inputs::{Inputs, Needs};
use super::near_pairs::{FoundPairs, NearPairs};
use crate::error::Result;
use crate::executor::Stop;
use crate::memory;

/// An index, and a way to find all pairs with it.
pub trait Engine: Debug + Send + Sync {
    /// Splits all the work into tasks. A task is a range of numbers whose meaning is up to the
    /// engine.
    fn plan(&self, inputs: &Inputs) -> Result<Vec<Range<usize>>>;

    /// Works on a task until it is done or enough pairs are found. `todo` becomes the rest of the
    /// task, also after an error.
    fn work(
        &self,
        inputs: &Inputs,
        todo: &mut Range<usize>,
        scratch: &mut ProbeScratch,
        stop: &Stop,
        found: &mut FoundPairs,
    ) -> Result<()>;

    /// Returns the number of bytes on the heap.
    fn bytes(&self) -> usize;
}

/// Scratch space that tasks use in turn.
#[derive(Debug, Default)]
pub struct ProbeScratch {
    /// The least overlaps that the current probe needs with its partners.
    pub needs: Needs,
    /// A count for each indexed record that the current probe met; zero between probes.
    pub marks: Vec<u32>,
    /// The records that the current probe met.
    pub touched: Vec<u32>,
    /// The posting lists of the current probe.
    pub lists: Vec<PostingRange>,
    /// The positions of the bitmaps that are near the current probe's bitmap.
    pub near: Vec<u32>,
    /// The bitmaps of a list, concatenated.
    pub bitmaps: Vec<u64>,
    /// Pairs of a probe and a posting of the same token that are near and still to be checked.
    pub pairs: NearPairs,
}

impl ProbeScratch {
    /// Returns the number of bytes on the heap.
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

/// A posting list that a probe searches.
#[derive(Debug)]
pub struct PostingRange {
    /// The position of the token in the prefix.
    pub place: u32,
    /// The weight of the probe's tokens from this one on.
    pub rest: u32,
    /// The range of the list among all postings.
    pub range: Range<usize>,
    /// The record of the posting in the middle of the list.
    pub middle: u32,
}
