//! All pairs of minhash sketches that agree in enough values, exactly (docs/design/algorithms.md section 2).
//!
//! Sketches of m values that agree in at least a differ in at most m - a. So they are found in two ways, of which the one
//! is taken that compares fewer:
//!
//! * by bands: of m - a + 1 bands one agrees wholly (pigeonhole). Bands of some values tell most sketches apart.
//! * by rare values: of the m - a + 1 values that are rarest in the tables, each in its place, similar sketches share one
//!   (the prefix of a set, section 8). What a template puts into every sketch is not rare.
//!
//! Values stand two to a number in signatures. Beside them there are a few bits a value, and while the way is chosen
//! counters of about 8 bytes a sketch for each thread.

use std::ops::Range;
use std::sync::atomic::{AtomicU32, Ordering};

use super::pairs::Pairs;
use super::sketches::buckets::Buckets;
use super::sketches::buckets::keys::{KeyEntry, Keys};
use super::{Counts, RecordJoin, RecordPair};
use crate::error::{Error, Result};
use crate::features::signatures::Signatures;
use crate::hash::mix;
use crate::memory;
use crate::sketches::minhash::{least_agreeing, similarity};
use crate::sketches::pigeonhole::Bands;
use crate::workers::{self, Workers};

const DOING: &str = "joining sketches";

/// Makes ready to find all pairs of rows whose sketches of `values` values agree in at least the share `threshold`, in
/// (0, 1]. Signatures stay in memory; what is sorted takes about `budget` bytes. Gives the most bytes that were held, too.
pub fn minhash_pairs(
    mut signatures: Signatures,
    values: u16,
    threshold: f64,
    budget: usize,
    workers: &dyn Workers,
) -> Result<(Pairs, usize)> {
    let (left, right) = signatures.take_members();
    let records = signatures.len() as u32;
    let mut equal = Vec::new();
    if right.is_none() {
        for record in (0..records).filter(|&record| left.rows(record as usize).len() > 1) {
            memory::push(&mut equal, record, DOING)?;
        }
    }
    let split = if right.is_some() { signatures.split } else { records };
    let bands = Bands::minhash(values, threshold);
    let sketches = Sketches { signatures, values, least: least_agreeing(threshold, values) };
    let (rare, held) = Rare::new(&sketches, bands.count(), budget, workers)?;
    let by_bands = meetings(&ByBands { sketches: &sketches, bands }, records, workers)?;
    let by_values = meetings(&ByValues { sketches: &sketches, rare: &rare }, records, workers)?;
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

/// Sketches, and in how many values similar ones agree.
#[derive(Debug)]
struct Sketches {
    signatures: Signatures,
    values: u16,
    least: u32,
}

impl Sketches {
    #[inline]
    fn value(&self, record: u32, place: usize) -> u32 {
        (self.signatures.get(record)[place / 2] >> (32 * (place % 2))) as u32
    }

    /// In how many values two sketches agree.
    #[inline]
    fn agreeing(&self, a: u32, b: u32) -> u32 {
        let same = |x: u64| u32::from(x as u32 == 0) + u32::from(x >> 32 == 0);
        let (a, b) = (self.signatures.get(a), self.signatures.get(b));
        let agreeing: u32 = a.iter().zip(b).map(|(a, b)| same(a ^ b)).sum();
        // The last number has one value where they are odd.
        agreeing - u32::from(self.values % 2)
    }

    fn near(
        &self,
        probe: &KeyEntry,
        bucket: &[KeyEntry],
        others: Range<usize>,
        near: &mut Vec<u32>,
    ) -> Result<()> {
        near.try_reserve(others.len()).map_err(|_| Error::OutOfMemory { doing: DOING })?;
        let first = others.start as u32;
        let others = (first..).zip(&bucket[others]);
        near.extend(others.filter_map(|(place, other)| {
            (self.agreeing(probe.record, other.record) >= self.least).then_some(place)
        }));
        Ok(())
    }
}

/// Keys of bands.
#[derive(Debug)]
struct ByBands<'a> {
    sketches: &'a Sketches,
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

    fn near(
        &self,
        probe: &KeyEntry,
        bucket: &[KeyEntry],
        others: Range<usize>,
        _space: &[u64],
        near: &mut Vec<u32>,
    ) -> Result<()> {
        self.sketches.near(probe, bucket, others, near)
    }
}

/// Which values of each sketch are its rarest, one bit each.
#[derive(Debug)]
struct Rare {
    words: usize,
    bits: Vec<u64>,
}

impl Rare {
    /// The `count` rarest of each; and the most bytes held. How often a value is in its place is counted by a hash, so
    /// that some seem more frequent than they are: any order will do, as long as it is the same for all sketches.
    fn new(sketches: &Sketches, count: usize, budget: usize, workers: &dyn Workers) -> Result<(Self, usize)> {
        const RECORDS_A_UNIT: usize = 1 << 10;
        const MOST_COUNTERS: usize = 1 << 26;
        let (records, values) = (sketches.signatures.len(), usize::from(sketches.values));
        let room = (budget / 4 / size_of::<AtomicU32>()).clamp(1 << 10, MOST_COUNTERS);
        let size = (2 * records * values).clamp(1 << 10, room);
        // A power of two that is no greater.
        let shift = u64::BITS - size.ilog2();
        let mut counters = Vec::new();
        memory::reserve(&mut counters, 1usize << size.ilog2(), DOING)?;
        counters.resize_with(1 << size.ilog2(), AtomicU32::default);
        let hash =
            |record, place: usize| mix((place as u64) << 32 | u64::from(sketches.value(record, place)));
        let counter = |hash: u64| &counters[(hash >> shift) as usize];
        let mut units: Vec<u32> = (0..records as u32).step_by(RECORDS_A_UNIT).collect();
        let end = |start: u32| (records as u32).min(start.saturating_add(RECORDS_A_UNIT as u32));
        // A unit that was stopped begins anew, so it must have counted nothing.
        workers::each(workers, &mut units, |start, stop| {
            stop.check()?;
            for record in *start..end(*start) {
                for place in 0..values {
                    counter(hash(record, place)).fetch_add(1, Ordering::Relaxed);
                }
            }
            Ok(())
        })?;
        let words = values.div_ceil(64);
        let mut bits = memory::filled(0u64, records * words, DOING)?;
        let mut units: Vec<_> = bits.chunks_mut(RECORDS_A_UNIT * words).zip(units).collect();
        workers::each(workers, &mut units, |(bits, start), stop| {
            stop.check()?;
            let mut order = Vec::new();
            memory::reserve(&mut order, values, DOING)?;
            for (record, bits) in (*start..).zip(bits.chunks_exact_mut(words)) {
                order.clear();
                order.extend((0..values).map(|place| {
                    let hash = hash(record, place);
                    (counter(hash).load(Ordering::Relaxed), hash, place)
                }));
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

    fn bytes(&self) -> usize {
        memory::bytes(&self.bits)
    }
}

/// A key for each place: the value, of those sketches of which it is a rare one.
#[derive(Debug)]
struct ByValues<'a> {
    sketches: &'a Sketches,
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

    fn near(
        &self,
        probe: &KeyEntry,
        bucket: &[KeyEntry],
        others: Range<usize>,
        _space: &[u64],
        near: &mut Vec<u32>,
    ) -> Result<()> {
        self.sketches.near(probe, bucket, others, near)
    }
}

/// About how many pairs of records meet in buckets.
fn meetings(keys: &dyn Keys, records: u32, workers: &dyn Workers) -> Result<u64> {
    const CHECK_EVERY: usize = 1 << 12;
    let size = (2 * records as usize).next_power_of_two().max(2);
    let shift = u64::BITS - size.ilog2();
    let mut units: Vec<(usize, u64)> = (0..keys.bands()).map(|band| (band, 0)).collect();
    workers::each(workers, &mut units, |(band, meetings), stop| {
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
    sketches: Sketches,
    bands: Bands,
    /// Where rare values are what is looked for.
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
    fn next_batch(&mut self, workers: &dyn Workers) -> Result<Option<Vec<RecordPair>>> {
        let Self { sketches, bands, rare, buckets, right_from } = self;
        let found = match rare {
            Some(rare) => buckets.next_batch(&ByValues { sketches, rare }, workers)?,
            None => buckets.next_batch(&ByBands { sketches, bands: *bands }, workers)?,
        };
        let Some(found) = found else { return Ok(None) };
        let mut batch = Vec::new();
        memory::reserve(&mut batch, found.len(), DOING)?;
        batch.extend(found.iter().map(|&(left, right)| {
            let similarity = similarity(sketches.agreeing(left, right), sketches.values);
            RecordPair { left, right: right - *right_from, similarity }
        }));
        Ok(Some(batch))
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
