//! The join in blocks: as many records at a time as fit into memory with their index.
//!
//! Records are in ascending order of size. Each block is joined with itself and with the blocks
//! after it, until their records are too large to be partners. One index and one block of probes
//! are in memory at a time. If all records fit, there is one block.

use std::collections::VecDeque;
use std::ops::Range;

use super::PrefixJoin;
use super::bounds::{Bounds, PairSide};
use super::inputs::Inputs;
use crate::error::Result;
use crate::executor::Executor;
use crate::features::dictionary::weights::TokenWeights;
use crate::features::sets::records::Records;
use crate::features::sets::store::RecordStore;
use crate::joins::{Counts, JoinedSets, RecordJoin, RecordPair};
use crate::memory;

/// A join of all records of one store with each other, or of two stores.
#[derive(Debug)]
pub struct BlockJoin {
    sets: JoinedSets,
    /// The pairs of blocks that are still to be joined: the block that probes, and the block that
    /// is indexed.
    todo: VecDeque<[Range<usize>; 2]>,
    /// The number of pairs of blocks when the join began.
    total: usize,
    current: Option<Current>,
    /// The last indexed block and its records, which the next pair of blocks can reuse.
    found: Option<(Range<usize>, Records)>,
    /// Buffers for the tokens of blocks. Allocating memory from the system again costs as much as
    /// reading into it.
    space: Vec<Vec<u32>>,
    counts: Counts,
}

/// The join of two blocks.
#[derive(Debug)]
struct Current {
    join: PrefixJoin,
    /// The block that probes, and the block that is indexed.
    blocks: [Range<usize>; 2],
}

impl BlockJoin {
    /// Prepares a join that holds about as many bytes of records and index at a time as the budget
    /// says, and at least one record of each side.
    pub fn new(sets: JoinedSets) -> Self {
        let JoinedSets { left, right, weights, predicate, budget, .. } = &sets;
        let bounds = Bounds::new(*predicate);
        let probing = match right {
            None if is_one(&sets) => blocks(left, weights, &bounds, PairSide::Left, *budget),
            _ => blocks(left, weights, &bounds, PairSide::Left, budget / 2),
        };
        let indexed = match right {
            None => probing.clone(),
            Some(right) => blocks(right, weights, &bounds, PairSide::Right, budget / 2),
        };
        let mut todo = VecDeque::new();
        for (n, found) in indexed.iter().enumerate() {
            // Of one table, the blocks before this one have met it.
            let from = if right.is_none() { n } else { 0 };
            let is_near = |probes: &&Range<usize>| {
                right.is_some() || reach(&bounds, left.size(probes.start), left.size(found.end - 1))
            };
            let probing = probing[from..].iter().take_while(is_near);
            todo.extend(probing.map(|probes| [probes.clone(), found.clone()]));
        }
        let total = todo.len();
        let (found, space, counts) = (None, Vec::new(), Counts::default());
        Self { sets, todo, total, current: None, found, space, counts }
    }

    /// Loads the records that probe, and the indexed records unless they are the same records.
    fn load(&mut self, [probes, found]: &[Range<usize>; 2]) -> Result<(Records, Option<Records>)> {
        let (mut known, only) = (None, self.total == 1);
        if let Some((block, records)) = self.found.take() {
            if block == *found {
                known = Some(records);
            } else {
                self.space.extend(records.into_tokens());
            }
        }
        let space = &mut self.space;
        let mut load = |store: &mut RecordStore, block: &Range<usize>| match only {
            true => store.take(),
            false => store.load(block.clone(), space.pop().unwrap_or_default()),
        };
        let JoinedSets { left, right, .. } = &mut self.sets;
        let right = match (right, known) {
            (None, _) if probes == found => None,
            (_, Some(known)) => Some(known),
            (Some(right), None) => Some(load(right, found)?),
            (None, None) => Some(load(left, found)?),
        };
        Ok((load(left, probes)?, right))
    }

    /// Ends the join of two blocks, and keeps the indexed records, because the next pair of blocks
    /// usually has the same indexed block.
    fn end_current(&mut self) {
        if let Some(Current { join, blocks: [_, found] }) = self.current.take() {
            let (left, right) = join.inputs.into_records();
            let (known, other) = match right {
                Some(right) => (right, Some(left)),
                None => (left, None),
            };
            self.space.extend(other.and_then(Records::into_tokens));
            self.found = Some((found, known));
        }
    }
}

impl RecordJoin for BlockJoin {
    /// The order of the pairs depends only on the records and the budget.
    fn next_batch(&mut self, executor: &dyn Executor) -> Result<Option<Vec<RecordPair>>> {
        loop {
            if let Some(Current { join, blocks: [probes, found] }) = &mut self.current {
                if let Some(mut batch) = join.next_batch(executor)? {
                    for pair in &mut batch {
                        // Records are numbered with 32 bits.
                        pair.left += probes.start as u32;
                        pair.right += found.start as u32;
                    }
                    return Ok(Some(batch));
                }
                self.counts.add(&join.counts());
                self.end_current();
            }
            let Some(blocks) = self.todo.pop_front() else { return Ok(None) };
            let (left, right) = self.load(&blocks)?;
            let JoinedSets { shared_tokens, predicate, algorithm, budget, .. } = self.sets;
            let weights = self.sets.weights.clone();
            let inputs = Inputs::new(left, right, shared_tokens, weights, predicate)?;
            let join = PrefixJoin::new(inputs, algorithm, budget, executor)?;
            self.current = Some(Current { join, blocks });
        }
    }

    fn counts(&self) -> Counts {
        let mut counts = self.counts;
        if let Some(current) = &self.current {
            counts.add(&current.join.counts());
        }
        counts
    }

    fn progress(&self) -> f64 {
        let current = self.current.as_ref().map_or(0.0, |current| 1.0 - current.join.progress());
        1.0 - (self.todo.len() as f64 + current) / self.total.max(1) as f64
    }

    fn bytes(&self) -> usize {
        self.sets.left.bytes()
            + self.sets.right.as_ref().map_or(0, RecordStore::bytes)
            + self.current.as_ref().map_or(0, |current| current.join.bytes())
            + self.found.as_ref().map_or(0, |(_, records)| records.bytes())
            + self.space.iter().map(memory::bytes).sum::<usize>()
    }

    fn take_sets(&mut self) -> Option<JoinedSets> {
        let begun = self.sets.right.is_some() || self.current.is_some() || self.todo.len() < self.total;
        let weights = self.sets.weights.clone();
        let whole = !begun && self.sets.predicate.is_symmetric() && weights.each().is_none();
        whole.then(|| JoinedSets { left: self.sets.left.take_all(), right: None, weights, ..self.sets })
    }
}

/// Reports whether a record of size `probe` or larger may have a partner of size `largest` or less.
/// A record that is too small for any partner does not exclude larger records.
fn reach(bounds: &Bounds, probe: u32, largest: u32) -> bool {
    bounds.partner_sizes(PairSide::Left, probe, probe).is_none_or(|partners| *partners.start() <= largest)
}

/// Reports whether all records and their index fit into the budget, about.
pub fn is_one(JoinedSets { left, right, weights, predicate, budget, .. }: &JoinedSets) -> bool {
    let bounds = Bounds::new(*predicate);
    let is_one =
        |store: &RecordStore, side, budget: usize| blocks(store, weights, &bounds, side, budget).len() <= 1;
    match right {
        None => is_one(left, PairSide::Left, *budget),
        Some(right) => is_one(left, PairSide::Left, budget / 2) && is_one(right, PairSide::Right, budget / 2),
    }
}

/// Cuts records into blocks whose joins take about `budget` bytes each.
fn blocks(
    store: &RecordStore,
    weights: &TokenWeights,
    bounds: &Bounds,
    side: PairSide,
    budget: usize,
) -> Vec<Range<usize>> {
    /// The number of bytes of a record apart from its tokens: sizes, positions, bitmap, bounds,
    /// marks.
    const RECORD: usize = 96;
    /// The number of bytes of a token. `POSTINGS` is the number of bytes of the postings of a token
    /// in the lists of both inputs.
    const TOKEN: usize = 4;
    const POSTINGS: usize = 24;
    let mut blocks = Vec::new();
    let (mut from, mut bytes) = (0, 0usize);
    let (mut size, mut prefix) = (0, 0);
    for record in 0..store.len() {
        let own = store.size(record);
        if own != size {
            size = own;
            let partners = bounds.partner_sizes(side, size, u32::MAX);
            prefix = partners.map_or(0, |partners| bounds.prefix(side, size, *partners.start()) as usize);
        }
        let shared = store.shared(record);
        let posted = match weights.each() {
            None => prefix.saturating_sub(size as usize - shared).min(shared),
            // About as many of the tokens as their share of the weight.
            Some(_) => (shared * prefix).div_ceil(size.max(1) as usize),
        };
        let cost = RECORD + TOKEN * shared + POSTINGS * posted;
        if bytes + cost > budget && record > from {
            blocks.push(from..record);
            (from, bytes) = (record, 0);
        }
        bytes += cost;
    }
    if from < store.len() {
        blocks.push(from..store.len());
    }
    blocks
}
