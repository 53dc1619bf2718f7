//! What records have keys of, and what is compared where these are equal.

use std::fmt::Debug;
use std::ops::Range;

use super::work::DOING;
use crate::error::Result;
use crate::memory;

/// What records have keys of.
pub trait Keys: Debug + Sync {
    /// How many keys a record has.
    fn bands(&self) -> usize;

    /// The key of a record in a band.
    fn key(&self, record: u32, band: usize) -> u64;

    /// How many of a key's bits, from the least on, have to be equal; the others may say more of a record.
    fn key_bits(&self, _band: usize) -> u32 {
        u64::BITS
    }

    /// Appends the entries of records.
    fn entries(&self, records: Range<u32>, band: usize, entries: &mut Vec<KeyEntry>) {
        entries.extend(records.map(|record| KeyEntry { key: self.key(record, band), record }));
    }

    /// Whether two records have the same key in a band.
    fn meet(&self, a: u32, b: u32, band: usize) -> bool;

    /// Whether they have in one of the bands before this one.
    fn met_before(&self, a: u32, b: u32, band: usize) -> bool {
        (0..band).any(|band| self.meet(a, b, band))
    }

    /// Copies what is compared of the records of a bucket to `space`, concatenated.
    fn load(&self, _bucket: &[KeyEntry], _space: &mut Vec<u64>) -> Result<()> {
        Ok(())
    }

    /// Whether two records that have the same key are paired.
    fn is_near(&self, probe: u32, other: u32) -> bool;

    /// Appends the places of those of `others`, a part of a `bucket` that was loaded, which are paired with
    /// the entry `probe`.
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

/// A record and its key in some band.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct KeyEntry {
    /// The key.
    pub key: u64,
    /// The record.
    pub record: u32,
}
