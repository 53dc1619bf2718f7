//! Buckets divided into batches of work, the memory that is used to find the pairs of a band, and
//! the documents in buckets that are expanded in part.

use std::ops::Range;

use super::keys::{DOING, KeyEntry};
use super::windows::Window;
use crate::error::Result;
use crate::memory;

/// Entries of a band that are still to be paired.
#[derive(Debug, Clone)]
pub(super) struct WorkUnit {
    /// The index of the band in the wave.
    pub band: usize,
    /// The entries that are paired with later entries of their bucket.
    pub probes: Range<usize>,
    /// The entries that the probes are paired with, if the unit is a part of a single large bucket.
    /// `None` if the unit consists of small buckets.
    pub tile: Option<Range<usize>>,
    /// The bucket of the tile, if there is a tile.
    pub bucket: Range<usize>,
}

/// The number of records of a bucket that probes are compared with at one time.
const TILE: usize = 1 << 14;
/// The number of comparisons in a unit.
const COMPARISONS_A_UNIT: usize = 1 << 20;

/// Divides a bucket into units of work, or adds it to the last unit.
pub(super) fn plan(units: &mut Vec<WorkUnit>, bucket: Range<usize>) -> Result<()> {
    const SMALL: usize = 1 << 9;
    const SMALL_A_UNIT: usize = 1 << 12;
    if bucket.len() <= SMALL {
        let open = units.last_mut().filter(|last| {
            last.tile.is_none() && last.probes.len() < SMALL_A_UNIT && last.probes.end == bucket.start
        });
        if let Some(last) = open {
            last.probes.end = bucket.end;
            return Ok(());
        }
        let unit = WorkUnit { band: 0, probes: bucket, tile: None, bucket: 0..0 };
        return memory::push(units, unit, DOING);
    }
    let mut tile = bucket.start;
    while tile < bucket.end {
        let end = bucket.end.min(tile + TILE);
        let rows = COMPARISONS_A_UNIT / (end - tile);
        // A record is only paired with records after it, so no probe is after the tile.
        let mut probe = bucket.start;
        while probe < end {
            let probes = probe..end.min(probe + rows);
            probe = probes.end;
            memory::push(
                units,
                WorkUnit { band: 0, probes, tile: Some(tile..end), bucket: bucket.clone() },
                DOING,
            )?;
        }
        tile = end;
    }
    Ok(())
}

/// The buckets of a band that have at least one pair of records.
#[derive(Debug)]
pub(super) struct BandBuckets {
    pub(super) number: usize,
    /// The bits of a key that are equal for all records of a bucket.
    pub(super) mask: u64,
    pub(super) entries: Vec<KeyEntry>,
    /// Scratch space for the sort.
    pub(super) other: Vec<KeyEntry>,
    pub(super) units: Vec<WorkUnit>,
    pub(super) windows: Vec<Window>,
    pub(super) hot_buckets: u64,
    /// The records of the hot buckets, once for each bucket that they are in.
    pub(super) hot: Vec<u32>,
}

/// The scratch space of a worker.
#[derive(Debug, Default)]
pub(super) struct PairScratch {
    pub(super) space: Vec<u64>,
    pub(super) near: Vec<u32>,
    pub(super) compared: u64,
}

/// The documents that were found so far in buckets that are expanded in part. A document counts
/// once, however many such buckets it is in.
#[derive(Debug, Default)]
pub struct HotDocuments {
    /// The number of rows that each record represents, or empty if nothing is counted.
    rows: Vec<u32>,
    /// A bit for each record, set once its rows are counted.
    met: Vec<u64>,
    count: u64,
}

impl HotDocuments {
    /// Starts with no documents. `rows` holds the number of rows that each record represents.
    pub fn new(rows: Vec<u32>) -> Result<Self> {
        Ok(Self { met: memory::filled(0, rows.len().div_ceil(64), DOING)?, rows, count: 0 })
    }

    /// Adds the documents of `records`.
    pub(super) fn add(&mut self, records: &[u32]) {
        for &record in records {
            let (word, bit) = (record as usize / 64, 1 << (record % 64));
            if let (Some(word), Some(&rows)) = (self.met.get_mut(word), self.rows.get(record as usize))
                && *word & bit == 0
            {
                *word |= bit;
                self.count += u64::from(rows);
            }
        }
    }

    /// Returns the number of documents.
    pub fn count(&self) -> u64 {
        self.count
    }

    /// Returns the number of bytes on the heap.
    pub fn bytes(&self) -> usize {
        memory::bytes(&self.rows) + memory::bytes(&self.met)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_document_counts_once() {
        let mut hot = HotDocuments::new((1..=100).collect()).unwrap();
        hot.add(&[0, 2, 99]);
        hot.add(&[2, 64, 99]);
        assert_eq!(hot.count(), 1 + 3 + 100 + 65);
        let mut none = HotDocuments::default();
        none.add(&[5]);
        assert_eq!(none.count(), 0);
    }
}
