//! Decides whether minhash or the exact join finds the pairs. If very many documents have most of
//! their tokens in common, such as the pages of one template, they share most buckets, and most
//! comparisons are in vain. The exact join looks up only the rarest tokens of a document, which do
//! not come from a template. Both joins apply the same predicate to pairs, and the exact join
//! misses no pair.
//!
//! The work of each join is estimated on a sample: for the bands, the number of other records in
//! the buckets of a record; for the exact join, the number of sets that have one of the rarest
//! tokens of a record. Neither estimate depends on threads, memory or the order of rows.

use std::ops::Range;

use super::buckets::MostNeighbours;
use super::record_sets::{CountedKeys, SampleSets, first_row, sampled};
use super::technique::MinhashBands;
use crate::error::Result;
use crate::executor::Executor;
use crate::features::hash_sets::HashSets;
use crate::features::signatures::Signatures;
use crate::joins::sets::bounds::{Bounds, PairSide};
use crate::verify::predicate::Predicate;

/// The number of records in the sample.
pub(crate) const SAMPLE: u64 = 256;
/// The greatest number of tokens in the sample. If documents are long, fewer of them are sampled,
/// so that the memory in use does not depend on the memory available.
pub(crate) const MOST_TOKENS: u64 = 1 << 18;
/// The bytes that are held for each token of the sample: the token, its key, its bits, and two
/// counts. Each thread also holds a smaller count per token.
const BYTES_A_TOKEN: usize = 6 * size_of::<u64>();
/// With fewer records than this, the comparison of all pairs takes little time.
pub(crate) const FEW: u32 = 256;
/// The exact join is considered only if, on average, a record shares buckets with at least this
/// many records, in all bands together.
const MEETINGS: u64 = 16;
/// The number of sets that the exact join rules out by their bitmaps in the time of one comparison
/// in a bucket. It reads the bitmaps one after the other, while the signatures of a bucket are at
/// random places in memory. For short records the number is higher.
const ENTRIES_A_MEETING: u64 = 8;

/// Reports whether the exact join should find the pairs, and returns the most bytes that were held
/// at one time to decide this.
pub(super) fn is_skewed(
    signatures: &Signatures,
    sets: &HashSets,
    minhash: MinhashBands,
    predicate: Predicate,
    most: MostNeighbours,
    executor: &dyn Executor,
) -> Result<(bool, usize)> {
    let sample = SkewSample::new(signatures, sets)?;
    if sample.others.len() < FEW as usize || sample.records.is_empty() {
        return Ok((false, 0));
    }
    let meetings = sample.meetings(signatures, minhash, most, executor)?;
    if !may_take_over(meetings, sample.records.len()) {
        return Ok((false, 0));
    }
    let size = |&record: &u32| sets.get(first_row(signatures, record)).len();
    let tokens = sample.records.iter().map(size).sum::<usize>();
    let held = tokens * (BYTES_A_TOKEN + executor.count() * size_of::<u32>());
    let entries = sample.entries(signatures, sets, predicate, executor)?;
    Ok((takes_over(entries, meetings), held))
}

/// Reports whether the exact join is considered, if so many sampled records share buckets with so
/// many records, in all bands together.
pub(crate) fn may_take_over(meetings: u64, sampled: usize) -> bool {
    meetings >= MEETINGS * sampled as u64
}

/// Reports whether the exact join is less work.
pub(crate) fn takes_over(entries: u64, meetings: u64) -> bool {
    entries <= ENTRIES_A_MEETING * meetings
}

/// Returns how many sets have a token of the prefix of a set, whose tokens so many sets have.
pub(crate) fn prefix_entries(mut having: Vec<u64>, bounds: &Bounds) -> u64 {
    having.sort_unstable();
    // A set has at most `u32::MAX` tokens. Smaller partners are found by their own prefixes.
    let size = having.len() as u32;
    having.iter().take(bounds.prefix(PairSide::Left, size, size) as usize).sum()
}

/// Records sampled in even steps, and the records that they may be paired with.
struct SkewSample {
    records: Vec<u32>,
    others: Range<u32>,
}

impl SkewSample {
    fn new(signatures: &Signatures, sets: &HashSets) -> Result<Self> {
        let all = signatures.len() as u32;
        let others = if signatures.right.is_some() { signatures.split..all } else { 0..all };
        Ok(Self { records: sampled(signatures, sets, SAMPLE, MOST_TOKENS)?, others })
    }

    /// Counts the records that share a bucket with a sampled record and are compared with it.
    fn meetings(
        &self,
        signatures: &Signatures,
        minhash: MinhashBands,
        most: MostNeighbours,
        executor: &dyn Executor,
    ) -> Result<u64> {
        let mut all = 0;
        // In one table, neighbours on both sides are compared.
        let most =
            most.map_or(u64::MAX, |most| u64::from(most) * if signatures.right.is_some() { 1 } else { 2 });
        for band in 0..minhash.bands {
            let key = |record| signatures.get(record)[minhash.at + band];
            let counted =
                CountedKeys::new(self.records.iter().map(|&record| key(record)).collect(), executor)?;
            let counts = counted.count(self.others.clone(), executor, |record, count| count(key(record)))?;
            let of = |record: &u32| counted.place(key(*record)).map_or(0, |place| counts[place].min(most));
            all += self.records.iter().map(of).sum::<u64>();
        }
        Ok(all)
    }

    /// Counts the sets that have a token of the prefix of a sampled set. The prefix consists of the
    /// rarest tokens of the sampled set.
    fn entries(
        &self,
        signatures: &Signatures,
        sets: &HashSets,
        predicate: Predicate,
        executor: &dyn Executor,
    ) -> Result<u64> {
        let sample = SampleSets::new(signatures, sets, &self.records, executor)?;
        let sample = sample.counted_in(signatures, sets, self.others.clone(), executor)?;
        let bounds = Bounds::new(predicate);
        let entries = sample
            .sets
            .iter()
            .map(|set| prefix_entries(set.iter().map(|&token| sample.count(token)).collect(), &bounds));
        Ok(entries.sum())
    }
}
