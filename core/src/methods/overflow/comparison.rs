//! The comparison of candidates, of which the carried bytes of some are in memory at a time.

use bytemuck::{Pod, Zeroable};

use super::records::{CarriedRecords, each_unit};
use crate::error::Result;
use crate::executor::{self, Executor, Stop};
use crate::joins::{Counts, RecordPair};
use crate::memory;
use crate::methods::carrier::{Carrier, LeftOut};
use crate::storage::files::Resources;
use crate::storage::log::Log;
use crate::storage::rows::Ragged;
use crate::storage::sort::{Sorted, Sorter};
use crate::verify::overlap::TokenOverlap;
use crate::verify::predicate::Predicate;

const DOING: &str = "comparing candidates in temporary files";
/// So many candidates, repeats included, are sorted at a time: they take a gigabyte of temporary
/// files.
const MOST: u64 = 1 << 27;

/// The records whose rows are pairs with each other, and the similarities, if they are not all 1.
#[derive(Default)]
pub(super) struct EqualRecords {
    pub(super) records: Vec<u32>,
    pub(super) similarities: Vec<f64>,
}

/// A pair that was found.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Zeroable, Pod)]
#[repr(C)]
struct FoundPair {
    records: [u32; 2],
    /// The bits of the similarity.
    similarity: u64,
}

/// What makes two records a pair.
pub(super) struct PairRule<'a> {
    pub(super) carrier: &'a dyn Carrier,
    pub(super) left_out: LeftOut<'a>,
    /// The predicate of sets, if it decides alone.
    pub(super) exact: Option<Predicate>,
    /// The place of each record in the order of ids, or nothing if that does not matter.
    pub(super) ranks: Vec<u32>,
}

impl PairRule<'_> {
    fn similarity(&self, [a, b]: [&[u8]; 2], stop: &Stop) -> Result<Option<f64>> {
        let Some(predicate) = self.exact else {
            return self.carrier.similarity([a, b], self.left_out, stop);
        };
        let (a, b) = (self.carrier.set(a, stop)?, self.carrier.set(b, stop)?);
        let TokenOverlap { shared, left, right } = TokenOverlap::of_sets(&a, &b);
        let passes = predicate.passes(shared, left, right);
        Ok(passes.then(|| predicate.similarity(shared, left, right)))
    }
}

/// The candidates so far.
pub(super) struct CandidateComparison<'a> {
    rule: PairRule<'a>,
    candidates: Sorter<'a, [u32; 2]>,
    found: Sorter<'a, FoundPair>,
    equal: EqualRecords,
    counts: Counts,
}

impl<'a> CandidateComparison<'a> {
    /// Starts without candidates.
    pub(super) fn new(rule: PairRule<'a>, Resources { files, budget, .. }: Resources<'a>) -> Self {
        Self {
            rule,
            candidates: Sorter::new(files, budget / 8),
            found: Sorter::new(files, budget / 16),
            equal: EqualRecords::default(),
            counts: Counts::default(),
        }
    }

    /// Compares the rows of each record with each other.
    pub(super) fn compare_equal(
        &mut self,
        records: &mut CarriedRecords,
        Resources { budget, executor, .. }: Resources<'a>,
    ) -> Result<()> {
        let rule = &self.rule;
        let several = |record: &u32| records.right.is_none() && records.rows(*record).len() > 1;
        let several: Vec<u32> = memory::collect((0..records.len()).filter(several), DOING)?;
        let (mut rest, mut loaded) = (&several[..], Ragged::default());
        while !rest.is_empty() {
            loaded.clear();
            while loaded.len() < rest.len() && loaded.values.len() < budget / 4 {
                records.load(rest[loaded.len()], rule.carrier, &mut loaded)?;
            }
            let made = each_unit(loaded.len(), executor, |made: &mut Vec<Option<f64>>, n, stop| {
                let similarity = rule.similarity([loaded.get(n); 2], stop)?;
                memory::push(made, similarity, DOING)
            })?;
            let (these, after) = rest.split_at(loaded.len());
            for (&record, similarity) in these.iter().zip(made.into_iter().flatten()) {
                let Some(similarity) = similarity else { continue };
                memory::push(&mut self.equal.records, record, DOING)?;
                memory::push(&mut self.equal.similarities, similarity, DOING)?;
            }
            rest = after;
        }
        if self.equal.similarities.iter().all(|&similarity| similarity == 1.0) {
            self.equal.similarities = Vec::new();
        }
        Ok(())
    }

    /// Adds a candidate, which may be repeated.
    pub(super) fn add(
        &mut self,
        candidate: [u32; 2],
        records: &mut CarriedRecords,
        resources: Resources<'a>,
    ) -> Result<()> {
        if self.candidates.len() >= MOST {
            self.compare(records, resources)?;
        }
        self.candidates.push(candidate, resources.executor)
    }

    /// Adds a pair.
    pub(super) fn found(
        &mut self,
        records: [u32; 2],
        similarity: f64,
        executor: &dyn Executor,
    ) -> Result<()> {
        self.found.push(FoundPair { records, similarity: similarity.to_bits() }, executor)
    }

    /// Compares the candidates that are left. Returns the pairs in order.
    pub(super) fn finish(
        mut self,
        records: &mut CarriedRecords,
        resources: Resources<'a>,
    ) -> Result<(Log<RecordPair>, EqualRecords, Counts)> {
        self.compare(records, resources)?;
        let Resources { files, budget, executor } = resources;
        let (mut found, mut pairs) = (self.found.sorted(executor)?, Log::new(budget / 8));
        let (mut last, split) = (None, records.split().unwrap_or(0));
        while let Some(pair) = found.next(executor)? {
            if last.replace(pair) != Some(pair) {
                let FoundPair { records: [left, right], similarity } = pair;
                let similarity = f64::from_bits(similarity);
                pairs.push(RecordPair { left, right: right - split, similarity }, files)?;
            }
        }
        Ok((pairs, self.equal, self.counts))
    }

    /// Compares all candidates so far.
    fn compare(&mut self, records: &mut CarriedRecords, resources: Resources<'a>) -> Result<()> {
        let Resources { files, budget, executor } = resources;
        let empty = Sorter::new(files, budget / 8);
        let mut candidates = std::mem::replace(&mut self.candidates, empty).sorted(executor)?;
        let mut next = candidates.next(executor)?;
        while next.is_some() {
            self.compare_some(&mut candidates, &mut next, records, resources)?;
        }
        Ok(())
    }

    /// Compares the candidates, from `next` on, of as many left records as there is room for.
    fn compare_some(
        &mut self,
        candidates: &mut Sorted<[u32; 2]>,
        next: &mut Option<[u32; 2]>,
        records: &mut CarriedRecords,
        Resources { budget, executor, .. }: Resources<'a>,
    ) -> Result<()> {
        let (carrier, rule) = (self.rule.carrier, &self.rule);
        let (mut lefts, mut numbers) = (Ragged::default(), Vec::new());
        // The right records with the place of the left one, ascending.
        let mut partners: Vec<[u32; 2]> = Vec::new();
        let room = (budget / 8 / size_of::<[u32; 2]>()).max(1);
        while let Some(candidate @ [left, right]) = *next {
            if numbers.last() != Some(&left) {
                if lefts.values.len() >= budget / 4 || partners.len() >= room {
                    break;
                }
                records.load(left, carrier, &mut lefts)?;
                memory::push(&mut numbers, left, DOING)?;
            }
            // Of one left record, some candidates may be left to the next turn.
            if partners.len() >= 2 * room {
                break;
            }
            memory::push(&mut partners, [right, numbers.len() as u32 - 1], DOING)?;
            while *next == Some(candidate) {
                *next = candidates.next(executor)?;
            }
        }
        self.counts.candidates += partners.len() as u64;
        self.counts.verified = self.counts.candidates;
        executor::sort(executor, &mut partners, Ord::cmp)?;
        let (mut rest, mut rights) = (&partners[..], Ragged::default());
        while !rest.is_empty() {
            rights.clear();
            let (mut count, mut places) = (0, Vec::new());
            for of_right in rest.chunk_by(|a, b| a[0] == b[0]) {
                if rights.values.len() >= budget / 8 {
                    break;
                }
                records.load(of_right[0][0], carrier, &mut rights)?;
                memory::fill(&mut places, rights.len() - 1, of_right.len(), DOING)?;
                count += of_right.len();
            }
            let (these, after) = rest.split_at(count);
            let made = each_unit(count, executor, |made: &mut Vec<FoundPair>, n, stop| {
                let [right, place] = these[n];
                let left = numbers[place as usize];
                let mut pair = [lefts.get(place as usize), rights.get(places[n])];
                let ranks = &rule.ranks;
                if !ranks.is_empty() && ranks[left as usize] > ranks[right as usize] {
                    pair.reverse();
                }
                let Some(similarity) = rule.similarity(pair, stop)? else { return Ok(()) };
                let found = FoundPair { records: [left, right], similarity: similarity.to_bits() };
                memory::push(made, found, DOING)
            })?;
            made.into_iter().flatten().try_for_each(|pair| self.found.push(pair, executor))?;
            rest = after;
        }
        Ok(())
    }
}
