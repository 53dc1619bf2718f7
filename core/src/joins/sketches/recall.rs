//! Measures the recall of minhash bands. All similar pairs of the documents of a sample are found
//! exactly, by comparing each sampled document with the documents that share one of the tokens that
//! are rarest in the sample. The recall is the share of these pairs that the bands find, too.

use std::ops::Range;
use std::sync::Mutex;

use super::buckets::windows::Windows;
use super::buckets::{Buckets, MostNeighbours};
use super::record_sets::{CountedKeys, SampleSets, first_row, sampled};
use super::technique::{MinhashBands, Technique, Verify};
use crate::error::Result;
use crate::executor::{self, Executor, Stop};
use crate::features::hash_sets::{HashSets, shared};
use crate::features::signatures::Signatures;
use crate::joins::sets::bounds::Bounds;
use crate::memory;
use crate::simd::prefetch::prefetch;
use crate::storage::rows::Ragged;
use crate::verify::predicate::Predicate;

const DOING: &str = "measuring the recall";
/// The greatest number of tokens of all documents of a sample together. If documents are long,
/// fewer of them are sampled.
const MOST_TOKENS: u64 = 1 << 20;
/// The number of tokens that are looked up between two checks for interrupts, as many as a word has
/// bits. Each token may be in all documents of a sample.
const TOKENS_A_CHECK: usize = 64;
const TOKENS_A_LINE: usize = 8;

/// A posting list for each of the rarest tokens of the sampled documents. A document that is
/// similar to a sampled document has at least one of the rarest tokens of the sampled document.
struct SamplePostings {
    /// The tokens.
    tokens: CountedKeys,
    /// Numbers of documents within the sample, for each token.
    records: Ragged<u32>,
}

impl SamplePostings {
    fn new(sample: &SampleSets, predicate: Predicate, executor: &dyn Executor) -> Result<Self> {
        let bounds = Bounds::new(predicate);
        let mut state = (Vec::new(), 0);
        executor::one(executor, &mut state, |(all, next), stop| {
            let mut rarest = Vec::new();
            while *next < sample.sets.len() {
                let set = sample.sets.get(*next);
                let counted = set.iter().map(|&token| (sample.count(token), token));
                memory::refill(&mut rarest, counted, DOING)?;
                executor::sort_unstable_by(&mut rarest, stop, &Ord::cmp)?;
                // A document has at most `u32::MAX` tokens, and a sample at most as many documents.
                let (size, n) = (set.len() as u32, *next as u32);
                let prefix = bounds.whole_prefix(size) as usize;
                memory::append(all, rarest[..prefix].iter().map(|&(_, token)| (token, n)), DOING)?;
                *next += 1;
            }
            Ok(())
        })?;
        let all = state.0;
        let tokens = memory::collect(all.iter().map(|&(token, _)| token), DOING)?;
        let tokens = CountedKeys::new(tokens, executor)?;
        let postings = || all.iter().filter_map(|&(token, n)| Some((tokens.place(token)?, n)));
        let records = Ragged::dealt(tokens.len(), postings, DOING)?;
        Ok(Self { tokens, records })
    }

    /// Returns the number of bytes on the heap, including the bytes needed during construction.
    fn bytes(&self) -> usize {
        self.tokens.bytes() + self.records.bytes() + self.records.values.len() * size_of::<(u64, u32)>()
    }

    /// Returns the sampled documents that have `token` among their rarest tokens.
    #[inline]
    fn for_token(&self, token: u64) -> &[u32] {
        self.tokens.place(token).map_or(&[], |place| self.records.get(place))
    }
}

/// The recall as measured on a sample.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MeasuredRecall {
    /// The number of similar pairs of the sample, at least one.
    pub similar: u64,
    /// The number of these pairs that the bands find.
    pub found: u64,
}

impl MeasuredRecall {
    /// Returns the share of similar pairs that is found.
    pub fn recall(&self) -> f64 {
        self.found as f64 / self.similar as f64
    }
}

/// The records of a sample, whose similar pairs are counted.
struct Searched<'a> {
    /// The records, ascending.
    asked: &'a [u32],
    /// Their sets.
    own: &'a Ragged<u64>,
    /// The postings of the rarest tokens of these sets.
    postings: &'a SamplePostings,
    /// The predicate that decides which sets are similar.
    predicate: Predicate,
}

impl Searched<'_> {
    /// Counts the similar pairs of a sampled record and one of `records`, which have these rows in
    /// `sets`, and how many of these pairs `is_found` accepts. O(tokens + candidates).
    fn count(
        &self,
        records: Range<u32>,
        sets: &HashSets,
        row: &impl Fn(u32) -> u32,
        is_found: &impl Fn(u32, u32) -> bool,
        stop: &Stop,
    ) -> Result<(u64, u64)> {
        let Self { asked, own, postings, predicate } = self;
        let (mut similar, mut found) = (0, 0);
        let mut is_touched = memory::filled(false, asked.len(), DOING)?;
        let mut touched = Vec::new();
        memory::reserve(&mut touched, asked.len(), DOING)?;
        for record in records.clone() {
            let set = sets.get(row(record));
            let next = if record + 1 < records.end { sets.get(row(record + 1)) } else { &[] };
            for (n, tokens) in set.chunks(TOKENS_A_CHECK).enumerate() {
                stop.check()?;
                let at = n * TOKENS_A_CHECK;
                (at..at + TOKENS_A_CHECK).step_by(TOKENS_A_LINE).for_each(|at| prefetch(next, at));
                // Few tokens are there, and which ones is unpredictable.
                let there = |(n, &token)| u64::from(postings.tokens.may_have(token)) << n;
                let mut left = tokens.iter().enumerate().map(there).sum::<u64>();
                while left != 0 {
                    for &n in postings.for_token(tokens[left.trailing_zeros() as usize]) {
                        if !std::mem::replace(&mut is_touched[n as usize], true) {
                            touched.push(n);
                        }
                    }
                    left &= left - 1;
                }
            }
            for n in touched.drain(..) {
                stop.check()?;
                is_touched[n as usize] = false;
                // A pair of two records of the sample counts once.
                if record <= asked[n as usize] && asked.binary_search(&record).is_ok() {
                    continue;
                }
                let (own, asked) = (own.get(n as usize), asked[n as usize]);
                // No document has 2^32 tokens or more.
                let [size, other] = [own, set].map(|set| set.len() as u32);
                if predicate.passes(size.min(other), size, other) {
                    let is_similar = predicate.passes(shared(own, set) as u32, size, other);
                    similar += u64::from(is_similar);
                    found += u64::from(is_similar && is_found(asked, record));
                }
            }
        }
        Ok((similar, found))
    }
}

/// Counts the similar pairs that the records of a sample form with any other record, and how many
/// of these share a band and are compared there. The result is `None` if there is no similar pair.
/// A pair consists of two distinct documents. If there are two tables, it has one document of each.
/// Also returns the most bytes that were held at one time. Takes O(all tokens) and, if buckets may
/// be cut, a sort of each band.
pub fn measured_recall(
    signatures: &Signatures,
    sets: &HashSets,
    minhash: MinhashBands,
    sample: usize,
    most: MostNeighbours,
    budget: usize,
    executor: &dyn Executor,
) -> Result<(Option<MeasuredRecall>, usize)> {
    let Verify::Sets(predicate) = minhash.verify else { return Ok((None, 0)) };
    let records = signatures.len() as u32;
    let two_tables = signatures.right.is_some();
    // The sample is taken from the left table.
    let lefts = if two_tables { signatures.split } else { records };
    let asked = sampled(signatures, sets, sample as u64, MOST_TOKENS)?;
    let row = |record| first_row(signatures, record);
    let others = if two_tables { signatures.split } else { 0 }..records;
    let own = SampleSets::new(signatures, sets, &asked, executor)?;
    let postings = SamplePostings::new(&own, predicate, executor)?;
    let own = own.sets;
    let technique = Technique::Minhash(minhash);
    let windows = match technique.keys(signatures, None) {
        Some(keys) if most.is_some_and(|most| records > most) => {
            let mut wanted = Vec::new();
            memory::extend(&mut wanted, &asked, DOING)?;
            let buckets = Buckets::new(records, lefts, !two_tables, most, budget / 4);
            buckets.windows_of(wanted, &*keys, executor)?
        }
        _ => Windows::default(),
    };
    // This includes a key and its count for each token.
    let held = 3 * own.bytes() + postings.bytes() + windows.bytes();
    let is_found = |asked: u32, record: u32| {
        let own = |record| &signatures.get(record)[minhash.at..][..minhash.bands];
        let mut bands = own(asked).iter().zip(own(record)).zip(0..);
        bands.any(|((a, b), band)| a == b && windows.compare(asked, record, band))
    };
    let searched = Searched { asked: &asked, own: &own, postings: &postings, predicate };
    const RECORDS_A_UNIT: usize = 1 << 8;
    let totals = Mutex::new((0, 0));
    let mut units: Vec<u32> = others.clone().step_by(RECORDS_A_UNIT).collect();
    executor::each(executor, &mut units, |start, stop| {
        let records = *start..others.end.min(start.saturating_add(RECORDS_A_UNIT as u32));
        let (similar, found) = searched.count(records, sets, &row, &is_found, stop)?;
        if let Ok(mut totals) = totals.lock() {
            *totals = (totals.0 + similar, totals.1 + found);
        }
        Ok(())
    })?;
    let (similar, found) = totals.into_inner().unwrap_or_default();
    let measured = MeasuredRecall { similar, found };
    Ok(((measured.similar > 0).then_some(measured), held))
}
