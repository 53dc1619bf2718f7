//! The join token by token: all records that probe with a token are compared with all records that
//! are indexed under this token.
//!
//! PPJoin spends its time on random reads: of the counters and sizes of records that a probe meets
//! once and never again, and of the tokens of the records that pass. Here the parity bitmaps of the
//! records in a token's list are gathered once, and the bitmaps of all probes of that token are
//! compared with them. A comparison is a few instructions on memory in the cache and rules out
//! nearly every record. A pair that remains is examined only at the rarest token that both records
//! share, so it is examined only once, and no counter is needed.

use std::collections::VecDeque;
use std::ops::Range;

use super::bitmap::{Bitmap, BitmapComparer, of_record};
use super::bounds::partition;
use super::engine::{Engine, ProbeScratch};
use super::found::FoundPairs;
use super::inputs::Inputs;
use super::posting::Posting;
use super::postings::Postings;
use crate::error::Result;
use crate::executor::{self, Executor, Stop};
use crate::features::sets::records::Records;
use crate::memory;
use crate::simd::planes::{self, PlanesKernel};
use crate::simd::prefetch::prefetch;

const DOING: &str = "joining by bitmaps";

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
        let left_bitmaps = bitmaps(inputs.left(), executor)?;
        let right_bitmaps = match inputs.is_self_join() {
            true => None,
            false => Some(bitmaps(inputs.indexed(), executor)?),
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
            let tokens = inputs.probing_prefix(probe).tokens;
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
            let bitmap: Bitmap<W> = of_record(inputs.left(), probe);
            near.clear();
            let mut seen = 0;
            let postings = || lists.iter().flat_map(|list| list.iter()).skip(step / 2).step_by(step);
            postings().for_each(|posting| inputs.indexed().prefetch(posting.record as usize, usize::MAX));
            for posting in postings() {
                let other = of_record(inputs.indexed(), posting.record as usize);
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

    /// Returns the probes of a token with numbers from `from` up to but excluding `to`, indexed
    /// postings first.
    fn probes(&self, token: usize, from: usize, to: usize) -> [TokenProbes<'_>; 2] {
        let number = self.probes_before(token);
        let middle = number + self.indexed_probes(token + 1) - self.indexed_probes(token);
        let end = self.probes_before(token + 1);
        [
            TokenProbes::new(&self.indexed, token, number..middle, from..to),
            TokenProbes::new(&self.probing, token, middle..end, from..to),
        ]
    }
}

/// Some probes of a token.
struct TokenProbes<'a> {
    /// All postings, of which the probes are a range.
    postings: &'a [Posting],
    /// The range of the probes.
    range: Range<usize>,
}

impl<'a> TokenProbes<'a> {
    /// Returns the postings of a token's list whose numbers are within `asked`. The whole list has
    /// the numbers `all`.
    fn new(postings: &'a Postings, token: usize, all: Range<usize>, asked: Range<usize>) -> Self {
        let place = |number: usize| postings.start(token) + number.clamp(all.start, all.end) - all.start;
        Self { postings: &postings.postings, range: place(asked.start)..place(asked.end) }
    }
}

fn bitmaps<const W: usize>(records: &Records, executor: &dyn Executor) -> Result<Vec<Bitmap<W>>> {
    const RECORDS_A_PIECE: usize = 1 << 12;
    const RECORDS_AHEAD: usize = 2;
    let mut bitmaps: Vec<Bitmap<W>> = memory::zeroed(records.len(), DOING)?;
    let mut pieces: Vec<_> = bitmaps.chunks_mut(RECORDS_A_PIECE).enumerate().collect();
    executor::each(executor, &mut pieces, |(piece, bitmaps), stop| {
        for (n, bitmap) in bitmaps.iter_mut().enumerate() {
            let record = *piece * RECORDS_A_PIECE + n;
            records.prefetch(record + RECORDS_AHEAD, usize::MAX);
            *bitmap = of_record(records, record);
            stop.check()?;
        }
        Ok(())
    })?;
    Ok(bitmaps)
}

impl<const W: usize> Engine for BitmapJoin<W> {
    /// Splits the probing postings into ranges of about equal work.
    fn plan(&self, inputs: &Inputs) -> Result<VecDeque<Range<usize>>> {
        const COMPARISONS_A_UNIT: usize = 1 << 20;
        /// The cost of a posting in addition to its comparisons, given as a number of comparisons.
        const POSTING: usize = 16;
        let mut units = VecDeque::new();
        let (mut from, mut work) = (0, 0);
        for token in 0..inputs.shared_tokens {
            let probes = self.probes_before(token)..self.probes_before(token + 1);
            let each = POSTING + self.indexed.range(token).len() / 2;
            let mut at = probes.start;
            while at < probes.end {
                let fit = (COMPARISONS_A_UNIT.saturating_sub(work) / each).max(1).min(probes.end - at);
                at += fit;
                work += fit * each;
                if work >= COMPARISONS_A_UNIT {
                    memory::attempt(DOING, || units.try_reserve(1))?;
                    units.push_back(from..at);
                    (from, work) = (at, 0);
                }
            }
        }
        units.push_back(from..self.probes_before(inputs.shared_tokens));
        Ok(units)
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
            self.gather(token, &mut scratch.bitmaps)?;
            for mut probes in self.probes(token, todo.start, end) {
                let all = probes.range.len();
                let result = self.join_lists(inputs, token as u32, &mut probes, scratch, stop, found);
                todo.start += all - probes.range.len();
                result?;
                if !probes.range.is_empty() {
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

impl<const W: usize> BitmapJoin<W> {
    /// Gathers the bitmaps of a token's list: the first words of all bitmaps, then the second
    /// words, and so on.
    fn gather(&self, token: usize, words: &mut Vec<u64>) -> Result<()> {
        /// How many postings in advance a bitmap is prefetched, also across lists.
        const AHEAD: usize = 16;
        let (all, list) = (self.indexed_bitmaps(), self.indexed.range(token));
        let length = list.len();
        if words.len() < length * W {
            let more = length * W - words.len();
            memory::reserve(words, more, DOING)?;
            words.resize(length * W, 0);
        }
        for (n, at) in list.enumerate() {
            if let Some(next) = self.indexed.postings.get(at + AHEAD) {
                prefetch(all, next.record as usize);
            }
            let bitmap = all[self.indexed.postings[at].record as usize];
            (0..W).for_each(|w| words[w * length + n] = bitmap[w]);
        }
        Ok(())
    }

    /// Compares the probes of one token one after the other with the token's list of indexed
    /// records, until there are enough pairs. The bitmaps of the list are in `scratch`.
    fn join_lists(
        &self,
        inputs: &Inputs,
        token: u32,
        TokenProbes { postings, range: probes }: &mut TokenProbes<'_>,
        scratch: &mut ProbeScratch,
        stop: &Stop,
        found: &mut FoundPairs,
    ) -> Result<()> {
        let list = self.indexed.list(token);
        let ProbeScratch { near, bitmaps, pairs, .. } = scratch;
        let planes: [&[u64]; W] = std::array::from_fn(|w| &bitmaps[w * list.len()..][..list.len()]);
        memory::reserve(near, list.len() + planes::IN_ADVANCE, DOING)?;
        // Each probe is at least as large as the one before it, so both ends of the range of
        // possible partners move up.
        let (mut from, mut to) = (0, 0);
        let mut stopped = Ok(());
        while probes.start < probes.end && !found.is_enough() {
            stopped = stop.check();
            if stopped.is_err() {
                break;
            }
            let probe = postings[probes.start];
            // The next posting may belong to another token.
            if let Some(next) = postings.get(probes.start + AHEAD) {
                inputs.prefetch_reach(next.record);
                prefetch(&self.left_bitmaps, next.record as usize);
            }
            let reach = inputs.reach(probe.record);
            from += list[from..].iter().take_while(|posting| posting.record < reach.first).count();
            to = to.max(from);
            to += list[to..].iter().take_while(|posting| posting.record < reach.end).count();
            probes.start += 1;
            if from == to {
                continue;
            }
            near.clear();
            stop.work(to - from);
            let bitmap = &self.left_bitmaps[probe.record as usize];
            (self.near)(bitmap, &planes.map(|plane| &plane[from..to]), reach.differ, from as u32, near);
            found.counts.pruned_by_bitmap += (to - from - near.len()) as u64;
            let before = probe.before_probe();
            for &place in near.iter() {
                let posting = list[place as usize];
                // A pair that shares a rarer token is found at that token. Similar records mostly
                // share one of the tokens just before this token, too.
                pairs.put(probe, posting, !posting.met_before(&before));
                if pairs.is_full() {
                    pairs.check(inputs, token, found)?;
                }
            }
        }
        pairs.check(inputs, token, found)?;
        stopped
    }
}

/// How many probes in advance the data of a record is prefetched.
const AHEAD: usize = 12;
