//! Measures the recall of minhash bands. All similar pairs of the documents of a sample are found
//! exactly, by the join of their sets with all others ([`crate::joins::sets`]). The recall is the
//! share of these pairs that the bands find, too.

use super::buckets::windows::Windows;
use super::buckets::{Buckets, MostNeighbours};
use super::record_sets::{SampleSets, first_row, for_each_part, sampled};
use super::technique::{MinhashBands, Technique, Verify};
use crate::error::Result;
use crate::executor::{self, Executor};
use crate::features::hash_sets::HashSets;
use crate::features::sets::records::{Records, TokensPlace};
use crate::features::signatures::Signatures;
use crate::joins::Algorithm;
use crate::joins::sets::PrefixJoin;
use crate::joins::sets::inputs::Inputs;
use crate::memory;

const DOING: &str = "measuring the recall";
/// The greatest number of tokens of all documents of a sample together. If documents are long,
/// fewer of them are sampled.
const MOST_TOKENS: u64 = 1 << 20;

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

/// Some records, as they are joined with the sample. Those without a token of the sample are left
/// out.
struct SideOfSample {
    /// The numbers of the records.
    numbers: Vec<u32>,
    sets: Records,
}

/// A record of a [`SideOfSample`] before it is in the order of sizes.
#[derive(Clone, Copy)]
struct UnsortedRecord {
    size: u32,
    number: u32,
    place: TokensPlace,
}

/// Some consecutive records of a [`SideOfSample`].
struct SideUnit<'a> {
    part: u32,
    numbers: &'a [u32],
    tokens: Vec<u32>,
    found: Vec<UnsortedRecord>,
}

impl SideOfSample {
    /// Takes the sets of these records. The ranks of tokens are those of the sample.
    fn new<'s>(
        numbers: &[u32],
        set: impl Fn(u32) -> &'s [u64] + Sync,
        sample: &SampleSets,
        ranks: &[u32],
        executor: &dyn Executor,
    ) -> Result<Self> {
        const RECORDS_A_UNIT: usize = 1 << 10;
        let units = (0..).zip(numbers.chunks(RECORDS_A_UNIT));
        let mut units: Vec<SideUnit> = units
            .map(|(part, numbers)| SideUnit { part, numbers, tokens: Vec::new(), found: Vec::new() })
            .collect();
        executor::each(executor, &mut units, |SideUnit { part, numbers, tokens, found }, stop| {
            tokens.clear();
            found.clear();
            for &number in *numbers {
                stop.check()?;
                let (set, start) = (set(number), tokens.len());
                memory::append(
                    tokens,
                    set.iter().filter_map(|&token| Some(ranks[sample.place(token)?])),
                    DOING,
                )?;
                let length = (tokens.len() - start) as u32;
                if length > 0 {
                    executor::sort_unstable_by(&mut tokens[start..], stop, &u32::cmp)?;
                    let place = TokensPlace { part: *part, length, start };
                    // No document has 2^32 tokens or more.
                    memory::push(found, UnsortedRecord { size: set.len() as u32, number, place }, DOING)?;
                }
            }
            Ok(())
        })?;
        let (mut parts, mut all) = (Vec::new(), Vec::new());
        for SideUnit { tokens, found, .. } in units {
            memory::push(&mut parts, tokens, DOING)?;
            memory::extend(&mut all, &found, DOING)?;
        }
        all.sort_unstable_by_key(|record: &UnsortedRecord| (record.size, record.number));
        let numbers = memory::collect(all.iter().map(|record| record.number), DOING)?;
        let places = memory::collect(all.iter().map(|record| record.place), DOING)?;
        let sizes = memory::collect(all.iter().map(|record| record.size), DOING)?;
        Ok(Self { numbers, sets: Records::of_parts(parts, places, sizes) })
    }
}

/// Counts the similar pairs that the records of a sample form with any other record, and how many
/// of these share a band and are compared there. The result is `None` if there is no similar pair.
/// A pair consists of two distinct documents. If there are two tables, it has one document of each.
/// Also returns the most bytes that were held at one time. Takes O(all tokens) and, if buckets may
/// be cut, a sort of each band.
pub fn measured_recall(
    signatures: &Signatures,
    sets: &mut HashSets,
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
    let sample = SampleSets::new(signatures, sets, &asked, others.clone(), budget, executor)?;
    let ranks = sample.ranks(executor)?;
    let own = |record| asked.binary_search(&record).map_or(&[][..], |n| sample.sets.get(n));
    let mut own = SideOfSample::new(&asked, own, &sample, &ranks, executor)?;
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
    let held = 3 * sample.sets.bytes() + memory::bytes(&ranks) + own.sets.bytes() + windows.bytes();
    let is_found = |asked: u32, record: u32| {
        let own = |record| &signatures.get(record)[minhash.at..][..minhash.bands];
        let mut bands = own(asked).iter().zip(own(record)).zip(0..);
        bands.any(|((a, b), band)| a == b && windows.compare(asked, record, band))
    };
    let mut measured = MeasuredRecall { similar: 0, found: 0 };
    let left = budget.saturating_sub(held).max(budget / 4);
    for_each_part(signatures, sets, others, left, |part, loaded| {
        let numbers = memory::collect(part, DOING)?;
        let set = |record| loaded.get(row(record));
        let others = SideOfSample::new(&numbers, set, &sample, &ranks, executor)?;
        let inputs = Inputs::new(std::mem::take(&mut own.sets), Some(others.sets), ranks.len(), predicate)?;
        let mut join = PrefixJoin::new(inputs, Algorithm::Auto, left, executor)?;
        while let Some(pairs) = join.next_batch(executor)? {
            for pair in pairs {
                let (one, other) = (own.numbers[pair.left as usize], others.numbers[pair.right as usize]);
                // A pair of two records of the sample counts once.
                if other > one || asked.binary_search(&other).is_err() {
                    measured.similar += 1;
                    measured.found += u64::from(is_found(one, other));
                }
            }
        }
        own.sets = join.into_records().0;
        Ok(())
    })?;
    Ok(((measured.similar > 0).then_some(measured), held))
}
