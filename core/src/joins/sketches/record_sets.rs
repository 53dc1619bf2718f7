//! The sets of a sample of records, and the records that have each key of a sample, which are
//! counted to find out which of the keys are rare.

use std::ops::Range;
use std::sync::Mutex;

use crate::error::Result;
use crate::executor::{self, Executor};
use crate::features::hash_sets::HashSets;
use crate::features::sets::members::Members;
use crate::features::signatures::Signatures;
use crate::memory;
use crate::storage::rows::Ragged;

const DOING: &str = "counting tokens of a sample";

/// Returns the row that represents a record.
pub(super) fn first_row(signatures: &Signatures, record: u32) -> u32 {
    Members::of_either(&signatures.left, signatures.right.as_ref(), record)[0]
}

/// Samples `most` records of the only or left table in even steps. Long documents make the sample
/// smaller, so that its sets have no more than `tokens` tokens together. The sample does not depend
/// on threads, memory or the order of rows.
pub(super) fn sampled(signatures: &Signatures, sets: &HashSets, most: u64, tokens: u64) -> Result<Vec<u32>> {
    let lefts = if signatures.right.is_some() { signatures.split } else { signatures.len() as u32 };
    let count = most.min(lefts.into());
    // At most as many records are sampled as there are.
    let steps = (0..count).map(|n| (n * u64::from(lefts) / count) as u32);
    let mut sampled: Vec<u32> = memory::collect(steps, "taking a sample")?;
    shorten(&mut sampled, tokens, |&record| sets.get(first_row(signatures, record)).len() as u64);
    Ok(sampled)
}

/// Leaves out every second record of a sample until its sets have no more than `tokens` tokens.
pub(crate) fn shorten(sampled: &mut Vec<u32>, tokens: u64, size: impl Fn(&u32) -> u64) {
    while sampled.iter().map(&size).sum::<u64>() > tokens {
        let mut every_second = sampled.len() == 1;
        sampled.retain(|_| {
            every_second = !every_second;
            every_second
        });
    }
}

/// The keys to count: distinct hashes in ascending order, identified by their positions.
pub(crate) struct CountedKeys {
    keys: Vec<u64>,
    /// A bitmap in which the bit of each key is set. It rules out most of the keys that are looked
    /// up but missing. The number of its words is a power of two.
    bits: Vec<u64>,
    /// For each value of the upper bits of a key, the number of keys with lower values; at the end
    /// the number of all keys. The few keys of one value are next to each other.
    starts: Vec<u32>,
}

impl CountedKeys {
    /// Takes the keys to count, in any order and possibly with repeats.
    pub(crate) fn new(mut keys: Vec<u64>, executor: &dyn Executor) -> Result<Self> {
        executor::one(executor, &mut keys, |keys, stop| executor::sort_unstable_by(keys, stop, &Ord::cmp))?;
        keys.dedup();
        let words = (keys.len() * 16).next_power_of_two().max(64) / 64;
        let mut bits = memory::filled(0u64, words, DOING)?;
        keys.iter().for_each(|&key| bits[(key >> 6) as usize & (words - 1)] |= 1 << (key % 64));
        let upper_bits = (keys.len() / 2).max(2).ilog2();
        let mut starts = memory::filled(0u32, (1 << upper_bits) + 1, DOING)?;
        // There are fewer keys than tokens of a sample.
        keys.iter().for_each(|&key| starts[(key >> (u64::BITS - upper_bits)) as usize + 1] += 1);
        (1..starts.len()).for_each(|n| starts[n] += starts[n - 1]);
        Ok(Self { keys, bits, starts })
    }

    /// Returns the number of keys.
    pub(crate) fn len(&self) -> usize {
        self.keys.len()
    }

    /// Returns the number of bytes on the heap.
    pub(crate) fn bytes(&self) -> usize {
        memory::bytes(&self.keys) + memory::bytes(&self.bits) + memory::bytes(&self.starts)
    }

    /// Reports whether a key may be one of these. It takes no decision.
    #[inline]
    pub(crate) fn may_have(&self, key: u64) -> bool {
        self.bits[(key >> 6) as usize & (self.bits.len() - 1)] >> (key % 64) & 1 == 1
    }

    /// Returns the position of a key.
    #[inline]
    pub(crate) fn place(&self, key: u64) -> Option<usize> {
        if !self.may_have(key) {
            return None;
        }
        let upper = (key >> (u64::BITS - (self.starts.len() - 1).ilog2())) as usize;
        let [start, end] = [upper, upper + 1].map(|n| self.starts[n] as usize);
        self.keys[start..end].binary_search(&key).ok().map(|n| start + n)
    }

    /// Counts, for each key, the records for which `each` reports the key. Uses all threads.
    pub(crate) fn count(
        &self,
        records: Range<u32>,
        executor: &dyn Executor,
        each: impl Fn(u32, &mut dyn FnMut(u64)) + Sync,
    ) -> Result<Vec<u64>> {
        const RECORDS_A_UNIT: usize = 1 << 14;
        let totals = Mutex::new(memory::filled(0u64, self.keys.len(), DOING)?);
        let mut units: Vec<u32> = records.clone().step_by(RECORDS_A_UNIT).collect();
        executor::each(executor, &mut units, |start, stop| {
            // A count is at most the number of records, because a record counts once for a key.
            let mut own = memory::filled(0u32, self.keys.len(), DOING)?;
            for record in *start..records.end.min(start.saturating_add(RECORDS_A_UNIT as u32)) {
                stop.check()?;
                each(record, &mut |key| {
                    if let Some(place) = self.place(key) {
                        own[place] += 1;
                    }
                });
            }
            if let Ok(mut totals) = totals.lock() {
                totals.iter_mut().zip(own).for_each(|(total, own)| *total += u64::from(own));
            }
            Ok(())
        })?;
        Ok(totals.into_inner().unwrap_or_default())
    }
}

/// The sets of a sample of records, and how many records have each of their tokens: of the sample,
/// or other ones.
pub(super) struct SampleSets {
    /// The sets.
    pub(super) sets: Ragged<u64>,
    tokens: CountedKeys,
    counts: Vec<u64>,
}

impl SampleSets {
    /// Takes the sets of `sample`, and counts their tokens in these sets.
    pub(super) fn new(
        signatures: &Signatures,
        all: &HashSets,
        sample: &[u32],
        executor: &dyn Executor,
    ) -> Result<Self> {
        let mut sets = Ragged::default();
        sample.iter().try_for_each(|&record| sets.push(all.get(first_row(signatures, record)), DOING))?;
        let tokens = memory::collect(sets.values.iter().copied(), DOING)?;
        let tokens = CountedKeys::new(tokens, executor)?;
        let counts = tokens.count(0..sample.len() as u32, executor, |n, count| {
            sets.get(n as usize).iter().for_each(|&token| count(token));
        })?;
        Ok(Self { sets, tokens, counts })
    }

    /// Counts the tokens in the sets of `others` instead.
    pub(super) fn counted_in(
        self,
        signatures: &Signatures,
        all: &HashSets,
        others: Range<u32>,
        executor: &dyn Executor,
    ) -> Result<Self> {
        let counts = self.tokens.count(others, executor, |record, count| {
            all.get(first_row(signatures, record)).iter().for_each(|&token| count(token));
        })?;
        Ok(Self { counts, ..self })
    }

    /// Returns the number of records that have a token of the sample.
    pub(super) fn count(&self, token: u64) -> u64 {
        self.tokens.place(token).map_or(0, |place| self.counts[place])
    }
}
