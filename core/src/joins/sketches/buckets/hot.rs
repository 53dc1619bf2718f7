//! The documents in buckets that are expanded in part. A document counts once, however many such
//! buckets it is in.

use super::work::DOING;
use crate::error::Result;
use crate::memory;

/// The documents that were found so far in buckets that are expanded in part.
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
