//! Finds exactly all pairs of minhash sketches that agree in enough values
//! (docs/design/algorithms.md section 2).
//!
//! Sketches of m values that agree in at least a values differ in at most m - a. There are two ways
//! to find them, and the join takes the way that compares fewer pairs:
//!
//! * by bands: if sketches are cut into m - a + 1 bands, similar sketches agree completely in at
//!   least one band (pigeonhole principle). Bands of several values distinguish most sketches.
//! * by rare values: similar sketches share one of the m - a + 1 values of each sketch that are
//!   rarest in the tables, where only values at the same position are compared (this is the prefix
//!   of a set, section 8). Values that a template puts into every sketch are not rare.
//!
//! Signatures store two values in each 64-bit number. In addition there are a few bits for each
//! value and, while the way is chosen, counters of about 8 bytes per sketch for each thread.

use std::ops::Range;
use std::sync::atomic::{AtomicU32, Ordering};

use super::pairs::{Pairs, equal_records};
use super::sketches::buckets::Buckets;
use super::sketches::buckets::keys::{KeyEntry, Keys};
use super::sketches::technique::agreeing_values;
use super::{Counts, RecordJoin, RecordPair};
use crate::error::Result;
use crate::executor::{self, Executor};
use crate::features::signatures::Signatures;
use crate::hash::mix;
use crate::memory;
use crate::sketches::minhash::{least_agreeing, similarity};
use crate::sketches::pigeonhole::Bands;

const DOING: &str = "joining sketches";
const LOOKING: &str = "looking for rare values";

/// Prepares to find all pairs of rows whose sketches of `values` values agree in at least the share
/// `threshold`, in (0, 1]. Signatures stay in memory; sorting takes about `budget` bytes. Also
/// returns the most bytes that were held at one time.
pub fn minhash_pairs(
    mut signatures: Signatures,
    values: u16,
    threshold: f64,
    budget: usize,
    executor: &dyn Executor,
) -> Result<(Pairs, usize)> {
    let (left, right) = signatures.take_members();
    let records = signatures.len() as u32;
    let equal = equal_records(&left, right.as_ref(), |_| true)?;
    let split = if right.is_some() { signatures.split } else { records };
    let bands = Bands::minhash(values, threshold);
    let sketches = StoredSketches { signatures, values, least: least_agreeing(threshold, values) };
    let (rare, held) = Rare::new(&sketches, bands.count(), budget, executor)?;
    let by_bands = meetings(&ByBands { sketches: &sketches, bands }, records, executor)?;
    let by_values = meetings(&ByValues { sketches: &sketches, rare: &rare }, records, executor)?;
    let rare = (by_values < by_bands).then_some(rare);
    let peak = held + sketches.signatures.bytes();
    let join = StoredJoin {
        buckets: Buckets::new(records, split, right.is_none(), None, budget),
        sketches,
        bands,
        rare,
        right_from: if right.is_some() { split } else { 0 },
    };
    Ok((Pairs::of_records(Box::new(join), left, right, equal), peak))
}

/// Estimates the number of pairs of records that share a bucket.
fn meetings(keys: &dyn Keys, records: u32, executor: &dyn Executor) -> Result<u64> {
    const CHECK_EVERY: usize = 1 << 12;
    let size = (2 * records as usize).next_power_of_two().max(2);
    let shift = u64::BITS - size.ilog2();
    let mut units: Vec<(usize, u64)> = (0..keys.bands()).map(|band| (band, 0)).collect();
    executor::each(executor, &mut units, |(band, meetings), stop| {
        let mut counters = memory::filled(0u32, size, DOING)?;
        let mut entries = Vec::new();
        memory::reserve(&mut entries, CHECK_EVERY, DOING)?;
        *meetings = 0;
        for first in (0..records).step_by(CHECK_EVERY) {
            stop.check()?;
            entries.clear();
            keys.entries(first..records.min(first + CHECK_EVERY as u32), *band, &mut entries);
            for entry in &entries {
                let counter = &mut counters[(entry.key >> shift) as usize];
                *meetings += u64::from(*counter);
                *counter += 1;
            }
        }
        Ok(())
    })?;
    Ok(units.iter().map(|(_, meetings)| meetings).sum())
}

/// A join in progress.
#[derive(Debug)]
struct StoredJoin {
    sketches: StoredSketches,
    bands: Bands,
    /// The rare values, if the join looks up rare values instead of bands.
    rare: Option<Rare>,
    buckets: Buckets,
    right_from: u32,
}

impl StoredJoin {
    fn keys(&self) -> usize {
        self.rare.as_ref().map_or(self.bands.count(), |_| self.sketches.values.into())
    }
}

impl RecordJoin for StoredJoin {
    fn next_batch(&mut self, executor: &dyn Executor) -> Result<Option<Vec<RecordPair>>> {
        let Self { sketches, bands, rare, buckets, right_from } = self;
        let found = match rare {
            Some(rare) => buckets.next_batch(&ByValues { sketches, rare }, executor)?,
            None => buckets.next_batch(&ByBands { sketches, bands: *bands }, executor)?,
        };
        let Some(found) = found else { return Ok(None) };
        let pairs = found.iter().map(|&(left, right)| {
            let similarity = similarity(sketches.agreeing(left, right), sketches.values);
            RecordPair { left, right: right - *right_from, similarity }
        });
        Ok(Some(memory::collect(pairs, DOING)?))
    }

    fn counts(&self) -> Counts {
        let compared = self.buckets.met().compared;
        Counts { candidates: compared, verified: compared, ..Counts::default() }
    }

    fn progress(&self) -> f64 {
        self.buckets.progress(self.keys())
    }

    fn bytes(&self) -> usize {
        self.sketches.signatures.bytes() + self.rare.as_ref().map_or(0, Rare::bytes) + self.buckets.bytes()
    }
}

/// Sketches, and the least number of values in which similar sketches agree.
#[derive(Debug)]
struct StoredSketches {
    /// The values, two in each 64-bit number.
    signatures: Signatures,
    /// The number of values of each sketch.
    values: u16,
    /// The least number of values in which similar sketches agree.
    least: u32,
}

impl StoredSketches {
    #[inline]
    fn value(&self, record: u32, place: usize) -> u32 {
        (self.signatures.get(record)[place / 2] >> (32 * (place % 2))) as u32
    }

    /// Returns the number of values in which two sketches agree.
    #[inline]
    fn agreeing(&self, a: u32, b: u32) -> u32 {
        agreeing_values(self.signatures.get(a), self.signatures.get(b), self.values.into())
    }

    #[inline]
    fn are_near(&self, a: u32, b: u32) -> bool {
        self.agreeing(a, b) >= self.least
    }
}

/// Bands as keys.
#[derive(Debug)]
struct ByBands<'a> {
    /// The sketches that have the keys.
    sketches: &'a StoredSketches,
    /// The bands.
    bands: Bands,
}

impl Keys for ByBands<'_> {
    fn bands(&self) -> usize {
        self.bands.count()
    }

    fn key(&self, record: u32, band: usize) -> u64 {
        self.bands.range(band).fold(0, |key, place| mix(key ^ u64::from(self.sketches.value(record, place))))
    }

    fn meet(&self, a: u32, b: u32, band: usize) -> bool {
        let values = |record| self.bands.range(band).map(move |place| self.sketches.value(record, place));
        values(a).eq(values(b))
    }

    #[inline]
    fn is_near(&self, probe: u32, other: u32) -> bool {
        self.sketches.are_near(probe, other)
    }
}

/// The rarest values of each sketch: a bitmap for each sketch, with one bit per value.
#[derive(Debug)]
struct Rare {
    words: usize,
    bits: Vec<u64>,
}

impl Rare {
    /// Marks the `count` rarest values of each sketch, and returns the most bytes that were held. A
    /// counter selected by a hash counts how often a value occurs at its position. Collisions make
    /// some values seem more frequent than they are, which is harmless: any order is correct as
    /// long as it is the same for all sketches.
    fn new(
        sketches: &StoredSketches,
        count: usize,
        budget: usize,
        executor: &dyn Executor,
    ) -> Result<(Self, usize)> {
        const RECORDS_A_UNIT: usize = 1 << 10;
        const MOST_COUNTERS: usize = 1 << 26;
        let (records, values) = (sketches.signatures.len(), usize::from(sketches.values));
        let room = (budget / 4 / size_of::<AtomicU32>()).clamp(1 << 10, MOST_COUNTERS);
        let size = (2 * records * values).clamp(1 << 10, room);
        // The greatest power of two that is not greater than `size`.
        let shift = u64::BITS - size.ilog2();
        let counters = (0..1usize << size.ilog2()).map(|_| AtomicU32::default());
        let counters = memory::collect(counters, LOOKING)?;
        let hash =
            |record, place: usize| mix((place as u64) << 32 | u64::from(sketches.value(record, place)));
        let counter = |hash: u64| &counters[(hash >> shift) as usize];
        let mut units: Vec<u32> = (0..records as u32).step_by(RECORDS_A_UNIT).collect();
        let end = |start: u32| (records as u32).min(start.saturating_add(RECORDS_A_UNIT as u32));
        // A unit that was stopped starts again from the beginning, so it may only be stopped before
        // it has counted anything.
        executor::each(executor, &mut units, |start, stop| {
            stop.check()?;
            for record in *start..end(*start) {
                for place in 0..values {
                    counter(hash(record, place)).fetch_add(1, Ordering::Relaxed);
                }
            }
            Ok(())
        })?;
        let words = values.div_ceil(64);
        let mut bits = memory::filled(0u64, records * words, LOOKING)?;
        let mut units: Vec<_> = bits.chunks_mut(RECORDS_A_UNIT * words).zip(units).collect();
        executor::each(executor, &mut units, |(bits, start), stop| {
            stop.check()?;
            let mut order = Vec::new();
            for (record, bits) in (*start..).zip(bits.chunks_exact_mut(words)) {
                let counted = (0..values).map(|place| {
                    let hash = hash(record, place);
                    (counter(hash).load(Ordering::Relaxed), hash, place)
                });
                memory::refill(&mut order, counted, LOOKING)?;
                if count < values {
                    order.select_nth_unstable(count);
                }
                order.iter().take(count).for_each(|&(.., place)| bits[place / 64] |= 1 << (place % 64));
            }
            Ok(())
        })?;
        let held = memory::bytes(&counters) + memory::bytes(&bits);
        Ok((Self { words, bits }, held))
    }

    #[inline]
    fn has(&self, record: u32, place: usize) -> bool {
        self.bits[record as usize * self.words + place / 64] >> (place % 64) & 1 == 1
    }

    /// Returns the number of bytes on the heap.
    fn bytes(&self) -> usize {
        memory::bytes(&self.bits)
    }
}

/// Rare values as keys: a sketch has one key for each position at which its value is rare.
#[derive(Debug)]
struct ByValues<'a> {
    /// The sketches that have the keys.
    sketches: &'a StoredSketches,
    /// The marks of the rare values.
    rare: &'a Rare,
}

impl Keys for ByValues<'_> {
    fn bands(&self) -> usize {
        self.sketches.values.into()
    }

    fn key(&self, record: u32, band: usize) -> u64 {
        mix(self.sketches.value(record, band).into())
    }

    fn entries(&self, records: Range<u32>, band: usize, entries: &mut Vec<KeyEntry>) {
        let rare = records.filter(|&record| self.rare.has(record, band));
        entries.extend(rare.map(|record| KeyEntry { key: self.key(record, band), record }));
    }

    #[inline]
    fn meet(&self, a: u32, b: u32, band: usize) -> bool {
        self.rare.has(a, band)
            && self.rare.has(b, band)
            && self.sketches.value(a, band) == self.sketches.value(b, band)
    }

    #[inline]
    fn is_near(&self, probe: u32, other: u32) -> bool {
        self.sketches.are_near(probe, other)
    }
}
