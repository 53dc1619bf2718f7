//! The join of sets in memory or, if the records and their index do not fit, in partitions of the
//! tokens or in blocks of records.

use super::Algorithm;
use super::blocks::{BlockJoin, is_one};
use super::bounds::{Bounds, largest_but_few};
use super::partitions::PartitionJoin;
use crate::error::Result;
use crate::joins::{JoinedSets, RecordJoin};
use crate::set_index::bitmap::Width;
use crate::storage::files::TempFiles;

impl JoinedSets {
    /// Prepares a join that holds about as many bytes as the budget says. In files, partitions need
    /// bitmaps. If no bitmap is wide enough for the sizes of the records, or if the caller asks for
    /// an algorithm without bitmaps, the records are joined block by block, and so are those whose
    /// tokens have weights.
    pub fn join(self, files: &dyn TempFiles) -> Result<Box<dyn RecordJoin>> {
        let words = match self.algorithm {
            Algorithm::Auto if self.weights.each().is_none() && !is_one(&self) => {
                let indexed = self.right.as_ref().unwrap_or(&self.left).runs()?;
                let runs = indexed.sizes().iter().enumerate();
                let size = largest_but_few(
                    runs.map(|(run, &size)| (size, indexed.range(run).len() as u64 * u64::from(size))),
                );
                size.and_then(|size| Bounds::new(self.predicate).bitmap_words(Width::IN_MEMORY, size, 1))
            }
            _ => None,
        };
        Ok(match words {
            None => Box::new(BlockJoin::new(self)),
            Some(1) => Box::new(PartitionJoin::<1>::new(self, files)?),
            Some(2) => Box::new(PartitionJoin::<2>::new(self, files)?),
            Some(4) => Box::new(PartitionJoin::<4>::new(self, files)?),
            Some(_) => Box::new(PartitionJoin::<8>::new(self, files)?),
        })
    }
}
