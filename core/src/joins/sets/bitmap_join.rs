//! The join token by token: all records that probe with a token are compared with all records that
//! are indexed under this token.
//!
//! PPJoin spends its time on random reads: of the counters and sizes of records that a probe meets
//! once and never again, and of the tokens of the records that pass. Here the parity bitmaps of the
//! records in a token's list are gathered once, and the bitmaps of all probes of that token are
//! compared with them. A comparison is a few instructions on memory in the cache and rules out
//! nearly every record. A pair that remains is examined only at the rarest token that both records
//! share, so it is examined only once, and no counter is needed.

use std::ops::Range;

use super::bitmap::{Bitmap, BitmapComparer, gather, of_record, of_records};
use super::bounds::partition;
use super::engine::{Engine, ProbeScratch};
use super::inputs::Inputs;
use super::list::{TokenList, TokenProbe, plan_units};
use super::near_pairs::FoundPairs;
use super::postings::Postings;
use crate::error::Result;
use crate::executor::{self, Executor, Stop};
use crate::memory;
use crate::simd::planes::{self, PlanesKernel};
use crate::simd::prefetch::prefetch;

/// The postings of both inputs, and the bitmaps of all records, of `W` words each.
#[derive(Debug)]
pub struct BitmapJoin<const W: usize> {
    near: PlanesKernel<W>,
    indexed: Postings,
    /// In a self-join, the indexed postings probe, too, and are not repeated here.
    probing: Postings,
    left_bitmaps: Vec<Bitmap<W>>,
    /// The bitmaps of the right table, if there is one.
    right_bitmaps: Option<Vec<Bitmap<W>>>,
}

/// An estimate of the work of a join.
#[derive(Debug, Clone, Copy, Default)]
pub struct WorkSample {
    /// The number of postings that probe.
    pub postings: f64,
    /// The number of indexed postings that the probing postings meet.
    pub comparisons: f64,
    /// The number of these meetings in which the bitmaps do not rule the pair out.
    pub near: f64,
}

impl<const W: usize> BitmapJoin<W> {
    /// Takes the posting lists of the indexed records, builds the lists of the records that probe,
    /// and computes all bitmaps. O(all tokens).
    pub fn new(inputs: &Inputs, indexed: Postings, executor: &dyn Executor) -> Result<Self> {
        let probing = Postings::of_probing(inputs, executor)?;
        let flips = inputs.flips();
        let left_bitmaps = of_records(inputs.left(), flips, executor)?;
        let right_bitmaps = match inputs.is_self_join() {
            true => None,
            false => Some(of_records(inputs.indexed(), flips, executor)?),
        };
        Ok(Self { near: planes::kernel(), probing, indexed, left_bitmaps, right_bitmaps })
    }

    /// Estimates the work of the join from a sample of the probes.
    pub fn sample(inputs: &Inputs, indexed: &Postings, executor: &dyn Executor) -> Result<WorkSample> {
        const MOST_PROBES: usize = 1024;
        const PROBES_A_PIECE: usize = 64;
        let all = inputs.left().len();
        // The sample is a small share of the work, however large the work is.
        let probes = (all / 64).clamp(1, MOST_PROBES).min(all);
        let mut pieces: Vec<_> = (0..probes)
            .step_by(PROBES_A_PIECE)
            .map(|from| (from..probes.min(from + PROBES_A_PIECE), WorkSample::default()))
            .collect();
        executor::each(executor, &mut pieces, |(some, sample), stop| {
            *sample = Self::sample_of(inputs, indexed, some.clone().map(|n| n * all / probes), stop)?;
            Ok(())
        })?;
        let scale = all as f64 / probes.max(1) as f64;
        let sum =
            |of: fn(&WorkSample) -> f64| pieces.iter().map(|(_, sample)| of(sample)).sum::<f64>() * scale;
        Ok(WorkSample {
            postings: sum(|sample| sample.postings),
            comparisons: sum(|sample| sample.comparisons),
            near: sum(|sample| sample.near),
        })
    }

    /// Measures the work of these probes.
    fn sample_of(
        inputs: &Inputs,
        indexed: &Postings,
        probes: impl Iterator<Item = usize>,
        stop: &Stop,
    ) -> Result<WorkSample> {
        const COMPARISONS_A_PROBE: usize = 8;
        let comparer = BitmapComparer::<W>::new();
        let mut sample = WorkSample::default();
        let (mut near, mut lists) = (Vec::new(), Vec::new());
        for probe in probes {
            stop.check()?;
            let reach = inputs.reach(probe as u32);
            let tokens = inputs.probing_prefix(probe);
            sample.postings += tokens.len() as f64;
            lists.clear();
            let mut met = 0;
            for &token in tokens {
                let Some(range) = indexed.range_before(token, reach.end) else { continue };
                let list = &indexed.postings[range];
                let from = list.partition_point(|posting| posting.record < reach.first);
                let to = list.partition_point(|posting| posting.record < reach.end).max(from);
                met += to - from;
                lists.push(&list[from..to]);
            }
            // Compare postings that are evenly spaced among all postings that the probe meets,
            // because most of these are in the longest lists.
            let step = met.div_ceil(COMPARISONS_A_PROBE).max(1);
            let bitmap: Bitmap<W> = of_record(inputs.left(), probe, inputs.flips());
            near.clear();
            let mut seen = 0;
            let postings = || lists.iter().flat_map(|list| list.iter()).skip(step / 2).step_by(step);
            postings().for_each(|posting| inputs.indexed().prefetch(posting.record as usize, usize::MAX));
            for posting in postings() {
                let other = of_record(inputs.indexed(), posting.record as usize, inputs.flips());
                comparer.near(&bitmap, std::slice::from_ref(&other), reach.differ, 0, &mut near);
                seen += 1;
            }
            sample.comparisons += met as f64;
            if seen > 0 {
                sample.near += met as f64 * near.len() as f64 / f64::from(seen);
            }
        }
        Ok(sample)
    }

    fn indexed_bitmaps(&self) -> &[Bitmap<W>] {
        self.right_bitmaps.as_ref().unwrap_or(&self.left_bitmaps)
    }

    /// Returns the number of probes of all tokens before this one.
    fn probes_before(&self, token: usize) -> usize {
        self.indexed_probes(token) + self.probing.start(token)
    }

    /// Returns how many of the probes of all tokens before this one are indexed postings.
    fn indexed_probes(&self, token: usize) -> usize {
        if self.right_bitmaps.is_none() { self.indexed.start(token) } else { 0 }
    }
}

impl<const W: usize> Engine for BitmapJoin<W> {
    fn plan(&self, inputs: &Inputs) -> Result<Vec<Range<usize>>> {
        let indexed = |token| self.indexed.range(token).len();
        plan_units(inputs.shared_tokens, |token| self.probes_before(token), indexed)
    }

    fn work(
        &self,
        inputs: &Inputs,
        todo: &mut Range<usize>,
        scratch: &mut ProbeScratch,
        stop: &Stop,
        found: &mut FoundPairs,
    ) -> Result<()> {
        if todo.start == todo.end {
            return Ok(());
        }
        let passed = |token: u32| self.probes_before(token as usize + 1) <= todo.start;
        let mut token = partition(0, inputs.shared_tokens as u32 - 1, passed) as usize;
        while todo.start < todo.end && !found.is_enough() {
            while self.probes_before(token + 1) <= todo.start {
                token += 1;
            }
            let end = self.probes_before(token + 1).min(todo.end);
            let list = self.indexed.list(token as u32);
            if list.is_empty() {
                stop.check()?;
                todo.start = end;
                continue;
            }
            let ProbeScratch { near, bitmaps, pairs, .. } = &mut *scratch;
            let posting = |at: usize| self.indexed.postings.get(at).map(|posting| posting.record);
            gather(self.indexed_bitmaps(), self.indexed.range(token), posting, bitmaps)?;
            let planes = std::array::from_fn(|w| &bitmaps[w * list.len()..][..list.len()]);
            let list = TokenList { postings: list, planes };
            // The indexed postings that probe come first.
            let number = self.probes_before(token);
            let middle = number + self.indexed_probes(token + 1) - self.indexed_probes(token);
            for (lists, numbers) in
                [(&self.indexed, number..middle), (&self.probing, middle..self.probes_before(token + 1))]
            {
                let place =
                    |n: usize| lists.start(token) + n.clamp(numbers.start, numbers.end) - numbers.start;
                let mut range = place(todo.start)..place(end);
                let all = range.len();
                let probe = |at: usize| {
                    // The next posting may belong to another token.
                    if let Some(next) = lists.postings.get(at + AHEAD) {
                        inputs.prefetch_reach(next.record);
                        prefetch(&self.left_bitmaps, next.record as usize);
                    }
                    let posting = lists.postings[at];
                    let bitmap = self.left_bitmaps[posting.record as usize];
                    TokenProbe { posting, reach: inputs.reach(posting.record), bitmap }
                };
                let result = list.join(&mut range, self.near, near, stop, probe, |probe, near, pruned| {
                    found.counts.pruned_by_bitmap += pruned;
                    let before = probe.posting.before_probe();
                    for &place in near {
                        let posting = list.postings[place as usize];
                        // A pair that shares a rarer token is found at that token. Similar records
                        // mostly share one of the tokens just before this token, too.
                        pairs.put(probe.posting, posting, !posting.met_before(&before));
                        if pairs.is_full() {
                            pairs.check(inputs, token as u32, found)?;
                        }
                    }
                    Ok(found.is_enough())
                });
                todo.start += all - range.len();
                // The pairs of the probes that are done have to be checked even after a stop.
                pairs.check(inputs, token as u32, found)?;
                result?;
                // The probes after these wait for the rest of them.
                if !range.is_empty() {
                    break;
                }
            }
        }
        Ok(())
    }

    fn bytes(&self) -> usize {
        self.probing.bytes()
            + self.indexed.bytes()
            + memory::bytes(&self.left_bitmaps)
            + self.right_bitmaps.as_ref().map_or(0, memory::bytes)
    }
}

/// How many probes in advance the data of a record is prefetched.
const AHEAD: usize = 12;
