//! The keys of records, and the comparison of records with equal keys.

use std::fmt::Debug;
use std::ops::Range;

use crate::error::Result;
use crate::memory;

/// The operation, for error messages.
pub(super) const DOING: &str = "pairing records of equal keys";

/// A source of keys for records.
pub trait Keys: Debug + Sync {
    /// Returns the number of keys of a record.
    fn bands(&self) -> usize;

    /// Returns the key of a record in a band.
    fn key(&self, record: u32, band: usize) -> u64;

    /// Returns the number of least significant bits of a key that have to be equal. The other bits
    /// may carry more information about a record.
    fn key_bits(&self, _band: usize) -> u32 {
        u64::BITS
    }

    /// Appends the entries of records.
    fn entries(&self, records: Range<u32>, band: usize, entries: &mut Vec<KeyEntry>) {
        entries.extend(records.map(|record| KeyEntry { key: self.key(record, band), record }));
    }

    /// Reports whether two records have the same key in a band.
    fn meet(&self, a: u32, b: u32, band: usize) -> bool;

    /// Reports whether two records have the same key in a band before `band`.
    fn met_before(&self, a: u32, b: u32, band: usize) -> bool {
        (0..band).any(|band| self.meet(a, b, band))
    }

    /// Appends to `space` the data by which [`Keys::near`] compares the records of a bucket.
    fn load(&self, _bucket: &[KeyEntry], _space: &mut Vec<u64>) -> Result<()> {
        Ok(())
    }

    /// Reports whether two records with the same key are paired.
    fn is_near(&self, probe: u32, other: u32) -> bool;

    /// Appends the positions of the entries that `probe` is paired with. `others` is the range of
    /// candidates in `bucket`. [`Keys::load`] has filled `space` with the data of the bucket.
    fn near(
        &self,
        probe: &KeyEntry,
        bucket: &[KeyEntry],
        others: Range<usize>,
        _space: &[u64],
        near: &mut Vec<u32>,
    ) -> Result<()> {
        memory::reserve(near, others.len(), DOING)?;
        let places = (others.start as u32..).zip(&bucket[others]);
        near.extend(
            places.filter_map(|(place, other)| self.is_near(probe.record, other.record).then_some(place)),
        );
        Ok(())
    }
}

/// A record and its key in one band.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct KeyEntry {
    /// The key.
    pub key: u64,
    /// The record.
    pub record: u32,
}
