//! The documents in buckets that are expanded in part: each counts once, in however many of them it is.

use super::work::DOING;
use crate::error::Result;
use crate::memory;

/// The documents that were met in such buckets.
#[derive(Debug, Default)]
pub struct HotDocuments {
    /// How many rows each record stands for; none where nothing is counted.
    rows: Vec<u32>,
    /// A bit for each record that was met.
    met: Vec<u64>,
    count: u64,
}

impl HotDocuments {
    /// None was met, of records that stand for so many rows each.
    pub fn new(rows: Vec<u32>) -> Result<Self> {
        Ok(Self { met: memory::filled(0, rows.len().div_ceil(64), DOING)?, rows, count: 0 })
    }

    /// Adds those of records.
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

    /// How many there are.
    pub fn count(&self) -> u64 {
        self.count
    }

    /// Bytes on the heap.
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
