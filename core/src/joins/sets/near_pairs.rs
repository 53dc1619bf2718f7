//! Pairs of a probe and a posting of the same token whose bitmaps are near. They are checked in
//! groups, because their tokens are scattered over memory. A pair that shares a rarer token is
//! skipped, because it is found at that token. Pairs that pass are kept until they are handed on.

use super::inputs::Inputs;
use super::posting::Posting;
use crate::error::Result;
use crate::features::dictionary::weights::TokenWeights;
use crate::features::sets::records::Records;
use crate::joins::{Counts, RecordPair};
use crate::memory;
use crate::simd::prefetch::prefetch;
use crate::verify::overlap::{disjoint, shared_at_least, shared_weight_at_least};
use crate::verify::predicate::Predicate;

const DOING: &str = "joining by bitmaps";

/// The number of pairs that are checked together.
const TOGETHER: usize = 32;

/// The results of a task.
#[derive(Debug, Default)]
pub struct FoundPairs {
    /// The pairs, in the order in which they were found.
    pub pairs: Vec<RecordPair>,
    /// The counters of the filters.
    pub counts: Counts,
    /// The number of pairs that should be handed on before more are searched.
    pub enough: usize,
}

impl FoundPairs {
    /// Starts without pairs.
    pub fn up_to(enough: usize) -> Self {
        Self { enough, ..Self::default() }
    }

    /// Reports whether there are so many pairs that they should be handed on before more are
    /// searched.
    #[inline]
    pub fn is_enough(&self) -> bool {
        self.pairs.len() >= self.enough
    }
}

/// Pairs that wait to be checked.
#[derive(Debug)]
pub struct NearPairs {
    pairs: [[Posting; 2]; TOGETHER],
    count: usize,
}

impl NearPairs {
    /// Appends a pair if `counts` is true. The value is unpredictable, so no branch depends on it.
    #[inline]
    pub fn put(&mut self, probe: Posting, posting: Posting, counts: bool) {
        self.pairs[self.count % TOGETHER] = [probe, posting];
        self.count += usize::from(counts);
    }

    /// Reports whether the pairs must be checked before more are added.
    #[inline]
    pub fn is_full(&self) -> bool {
        self.count == TOGETHER
    }

    /// Checks all pairs, which are of this token, and removes them. The memory that a step reads
    /// for all pairs is prefetched before the step begins.
    pub fn check(&mut self, inputs: &Inputs, token: u32, found: &mut FoundPairs) -> Result<()> {
        let pairs = &self.pairs[..std::mem::take(&mut self.count)];
        for [probe, posting] in pairs {
            inputs.left().prefetch_place(probe.record);
            inputs.indexed().prefetch_place(posting.record);
        }
        let mut parts = [[SplitTokens::default(); 2]; TOGETHER];
        let parts = &mut parts[..pairs.len()];
        let split = |records, posting: &Posting| match inputs.weights.each() {
            None => SplitTokens::new(records, *posting, token),
            // The place is a weight.
            Some(_) => SplitTokens::at_token(records, posting.record as usize, posting.record, token),
        };
        for (parts, [probe, posting]) in parts.iter_mut().zip(pairs) {
            *parts = [split(inputs.left(), probe), split(inputs.indexed(), posting)];
            parts.iter().for_each(SplitTokens::ask_for_last_before);
        }
        // Pairs that share no rarer token move to the front.
        let mut first = 0;
        for n in 0..parts.len() {
            let [left, right] = parts[n];
            parts[first] = parts[n];
            first += usize::from(disjoint(left.before, right.before));
        }
        let parts = &parts[..first];
        parts.iter().flatten().for_each(SplitTokens::ask_for_rest);
        let predicate = inputs.bounds.predicate();
        parts.iter().try_for_each(|[left, right]| verify(predicate, &inputs.weights, left, right, found))
    }
}

impl Default for NearPairs {
    fn default() -> Self {
        Self { pairs: [[Posting::default(); 2]; TOGETHER], count: 0 }
    }
}

/// The tokens of a record, split at a position.
#[derive(Debug, Clone, Copy, Default)]
pub struct SplitTokens<'a> {
    record: u32,
    /// The tokens before the position.
    pub before: &'a [u32],
    rest: &'a [u32],
    size: u32,
}

impl<'a> SplitTokens<'a> {
    fn new(records: &'a Records, posting: Posting, token: u32) -> Self {
        let tokens = records.tokens(posting.record as usize);
        let (size, lone) = (records.size(posting.record as usize), records.lone(posting.record as usize));
        let (before, rest) = tokens.split_at((posting.place(records, token) - lone) as usize);
        Self { record: posting.record, before, rest, size }
    }

    /// Splits the tokens of the record at `place` before `token`. Pairs name it `record`.
    pub fn at_token(records: &'a Records, place: usize, record: u32, token: u32) -> Self {
        let tokens = records.tokens(place);
        let (before, rest) = tokens.split_at(tokens.partition_point(|&other| other < token));
        Self { record, before, rest, size: records.size(place) }
    }

    /// Prefetches the last tokens before the position, which are compared first.
    fn ask_for_last_before(&self) {
        (1..=2).for_each(|line| prefetch(self.before, self.before.len().saturating_sub(line * LINE)));
    }

    /// Prefetches the first tokens from the position on, which rule out most pairs.
    fn ask_for_rest(&self) {
        const LINES: usize = 5;
        (0..LINES).for_each(|line| prefetch(self.rest, line * LINE));
    }
}

/// The number of tokens in a cache line.
const LINE: usize = 64 / size_of::<u32>();

/// Counts the shared tokens of a pair that shares no rarer token, and adds the pair to `found` if
/// it passes.
pub fn verify(
    predicate: &Predicate,
    weights: &TokenWeights,
    left: &SplitTokens<'_>,
    right: &SplitTokens<'_>,
    found: &mut FoundPairs,
) -> Result<()> {
    found.counts.candidates += 1;
    let least = predicate.least_overlap(left.size, right.size).unwrap_or(u32::MAX);
    let lost = match weights.each() {
        None => (left.rest.len().min(right.rest.len()) >= least as usize).then_some(0),
        // What only one of the sets has weighs as much as both sets without what both must have.
        Some(_) => {
            let sizes = u64::from(left.size) + u64::from(right.size);
            let before = u64::from(weights.sum(left.before)) + u64::from(weights.sum(right.before));
            sizes.checked_sub(2 * u64::from(least) + before)
        }
    };
    let Some(lost) = lost else {
        found.counts.pruned_by_position += 1;
        return Ok(());
    };
    found.counts.verified += 1;
    let shared = match weights.each() {
        None => shared_at_least(left.rest, right.rest, least as usize).map(|shared| shared as u32),
        Some(weights) => shared_weight_at_least(left.rest, right.rest, least, lost, weights),
    };
    if let Some(shared) = shared {
        let similarity = predicate.similarity(shared, left.size, right.size);
        let pair = RecordPair { left: left.record, right: right.record, similarity };
        memory::push(&mut found.pairs, pair, DOING)?;
    }
    Ok(())
}
