//! The keys by which sketches are looked up: bands of values, or rare values.

use std::ops::Range;
use std::sync::atomic::{AtomicU32, Ordering};

use crate::error::Result;
use crate::executor::{self, Executor};
use crate::features::signatures::Signatures;
use crate::hash::mix;
use crate::joins::sketches::buckets::keys::{KeyEntry, Keys};
use crate::memory;
use crate::sketches::pigeonhole::Bands;

const DOING: &str = "looking for rare values";

/// Sketches, and the least number of values in which similar sketches agree.
#[derive(Debug)]
pub(super) struct StoredSketches {
    /// The values, two in each 64-bit number.
    pub signatures: Signatures,
    /// The number of values of each sketch.
    pub values: u16,
    /// The least number of values in which similar sketches agree.
    pub least: u32,
}

impl StoredSketches {
    #[inline]
    fn value(&self, record: u32, place: usize) -> u32 {
        (self.signatures.get(record)[place / 2] >> (32 * (place % 2))) as u32
    }

    /// Returns the number of values in which two sketches agree.
    #[inline]
    pub(super) fn agreeing(&self, a: u32, b: u32) -> u32 {
        let same = |x: u64| u32::from(x as u32 == 0) + u32::from(x >> 32 == 0);
        let (a, b) = (self.signatures.get(a), self.signatures.get(b));
        let agreeing: u32 = a.iter().zip(b).map(|(a, b)| same(a ^ b)).sum();
        // If the number of values is odd, the last 64-bit number holds only one value.
        agreeing - u32::from(self.values % 2)
    }

    #[inline]
    fn are_near(&self, a: u32, b: u32) -> bool {
        self.agreeing(a, b) >= self.least
    }
}

/// Bands as keys.
#[derive(Debug)]
pub(super) struct ByBands<'a> {
    /// The sketches that have the keys.
    pub sketches: &'a StoredSketches,
    /// The bands.
    pub bands: Bands,
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
pub(super) struct Rare {
    words: usize,
    bits: Vec<u64>,
}

impl Rare {
    /// Marks the `count` rarest values of each sketch, and returns the most bytes that were held. A
    /// counter selected by a hash counts how often a value occurs at its position. Collisions make
    /// some values seem more frequent than they are, which is harmless: any order is correct as
    /// long as it is the same for all sketches.
    pub(super) fn new(
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
        let mut counters = Vec::new();
        memory::reserve(&mut counters, 1usize << size.ilog2(), DOING)?;
        counters.resize_with(1 << size.ilog2(), AtomicU32::default);
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
        let mut bits = memory::filled(0u64, records * words, DOING)?;
        let mut units: Vec<_> = bits.chunks_mut(RECORDS_A_UNIT * words).zip(units).collect();
        executor::each(executor, &mut units, |(bits, start), stop| {
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

    /// Returns the number of bytes on the heap.
    pub(super) fn bytes(&self) -> usize {
        memory::bytes(&self.bits)
    }
}

/// Rare values as keys: a sketch has one key for each position at which its value is rare.
#[derive(Debug)]
pub(super) struct ByValues<'a> {
    /// The sketches that have the keys.
    pub sketches: &'a StoredSketches,
    /// The marks of the rare values.
    pub rare: &'a Rare,
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
