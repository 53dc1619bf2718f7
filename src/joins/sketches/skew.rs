//! Whether minhash is the right way to find its pairs: where very many documents have most of their tokens in common, as
//! pages of one template, they meet in most buckets, and most of what is compared is compared in vain. The exact join
//! begins with the rarest tokens, which a template has not. Both decide the same pairs, and the exact join loses none.
//!
//! What each would have to look at is estimated on a sample: for the bands the others in the buckets of a record, for
//! the exact join the sets that have one of its rarest tokens. Neither depends on threads, memory or the order of rows.

use std::ops::Range;

use super::buckets::MostNeighbours;
use super::counting::Counted;
use super::record_sets::{first_row, sampled};
use super::technique::MinhashBands;
use crate::error::Result;
use crate::executor::Executor;
use crate::features::hash_sets::HashSets;
use crate::features::signatures::Signatures;
use crate::joins::sets::bounds::{Bounds, Side};
use crate::memory;
use crate::verify::predicate::Predicate;

const DOING: &str = "looking for skew";

/// Records that are looked at.
const SAMPLE: u64 = 256;
/// Of long documents fewer, with so many tokens in all: what is held is the same whatever memory there is.
const MOST_TOKENS: u64 = 1 << 18;
/// What is held for a token of the sample: it, its key and bits, two counts; and one more count on each thread.
const BYTES_A_TOKEN: usize = 6 * size_of::<u64>();
/// Of fewer records all pairs are soon compared.
const FEW: u32 = 256;
/// Others that a record may meet, all bands together, before the exact join is thought of.
const MEETINGS: u64 = 16;
/// Sets that the exact join rules out by their bitmaps, one after the other, in the time of one that is met in a bucket
/// and whose signature is all over the memory; on short records more.
const ENTRIES_A_MEETING: u64 = 8;

/// Whether the exact join is to find the pairs, and the most bytes that were held at one time to tell.
pub(super) fn is_skewed(
    signatures: &Signatures,
    sets: &mut HashSets,
    (minhash, predicate): (MinhashBands, Predicate),
    most: MostNeighbours,
    budget: usize,
    executor: &dyn Executor,
) -> Result<(bool, usize)> {
    let sample = Sample::of(signatures, sets)?;
    if sample.others.len() < FEW as usize || sample.records.is_empty() {
        return Ok((false, 0));
    }
    let meetings = sample.meetings(signatures, minhash, most, executor)?;
    if meetings < MEETINGS * sample.records.len() as u64 {
        return Ok((false, 0));
    }
    let size = |&record: &u32| sets.size(first_row(signatures, record)) as usize;
    let tokens = sample.records.iter().map(size).sum::<usize>();
    let held = tokens * (BYTES_A_TOKEN + executor.count() * size_of::<u32>());
    let left = budget.saturating_sub(held).max(budget / 4);
    let entries = sample.entries(signatures, sets, predicate, left, executor)?;
    Ok((entries <= ENTRIES_A_MEETING * meetings, held))
}

/// Records in even steps, and those that they may be paired with.
struct Sample {
    records: Vec<u32>,
    others: Range<u32>,
}

impl Sample {
    fn of(signatures: &Signatures, sets: &HashSets) -> Result<Self> {
        let all = signatures.len() as u32;
        let others = if signatures.right.is_some() { signatures.split..all } else { 0..all };
        Ok(Self { records: sampled(signatures, sets, SAMPLE, MOST_TOKENS)?, others })
    }

    /// How many others the records of the sample meet in their buckets, as far as these are compared.
    fn meetings(
        &self,
        signatures: &Signatures,
        minhash: MinhashBands,
        most: MostNeighbours,
        executor: &dyn Executor,
    ) -> Result<u64> {
        let mut all = 0;
        // Neighbours on both sides in one table.
        let most =
            most.map_or(u64::MAX, |most| u64::from(most) * if signatures.right.is_some() { 1 } else { 2 });
        for band in 0..minhash.bands {
            let key = |record| signatures.get(record)[minhash.at + band];
            let counted = Counted::new(self.records.iter().map(|&record| key(record)).collect(), executor)?;
            let counts = counted.count(self.others.clone(), executor, |record, count| count(key(record)))?;
            let of = |record: &u32| counted.place(key(*record)).map_or(0, |place| counts[place].min(most));
            all += self.records.iter().map(of).sum::<u64>();
        }
        Ok(all)
    }

    /// How many other sets have one of the rarest tokens of the sample's: those of their prefixes.
    fn entries(
        &self,
        signatures: &Signatures,
        sets: &mut HashSets,
        predicate: Predicate,
        budget: usize,
        executor: &dyn Executor,
    ) -> Result<u64> {
        let row = |record| first_row(signatures, record);
        let mut rows: Vec<u32> = self.records.iter().map(|&record| row(record)).collect();
        let (mut own, mut ends) = (Vec::new(), Vec::new());
        {
            let loaded = sets.load(&mut rows)?;
            for &record in &self.records {
                memory::extend(&mut own, loaded.get(row(record)), DOING)?;
                ends.push(own.len());
            }
        }
        let mut keys = Vec::new();
        memory::extend(&mut keys, &own, DOING)?;
        let counted = Counted::new(keys, executor)?;
        let counts = counted.in_sets(signatures, sets, self.others.clone(), budget, executor)?;
        let bounds = Bounds::new(predicate);
        let mut begin = 0;
        let entries = ends.into_iter().map(|end| {
            let set = &own[std::mem::replace(&mut begin, end)..end];
            let mut having: Vec<u64> =
                set.iter().filter_map(|&token| counted.place(token)).map(|place| counts[place]).collect();
            having.sort_unstable();
            // No set has more tokens than 32 bits count. Smaller partners are found by prefixes of their own.
            let size = set.len() as u32;
            having.iter().take(bounds.prefix(Side::Left, size, size) as usize).sum::<u64>()
        });
        Ok(entries.sum())
    }
}
