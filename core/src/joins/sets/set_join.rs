//! The join of sets in memory or, if the records and their index do not fit, in partitions of the
//! tokens or in blocks of records.

use super::Algorithm;
use super::blocks::{self, BlockJoin};
use super::bounds::{Bounds, largest_but_few};
use super::partitions::PartitionJoin;
use crate::error::Result;
use crate::executor::Executor;
use crate::features::sets::store::RecordStore;
use crate::joins::{Counts, RecordJoin, RecordPair, SelfJoin};
use crate::set_index::bitmap::Width;
use crate::storage::files::Resources;
use crate::verify::predicate::Predicate;

/// A join of all records of one store with each other, or of two stores.
#[derive(Debug)]
pub struct SetJoin(Box<dyn RecordJoin>);

impl SetJoin {
    /// Prepares a join that holds about as many bytes as the budget says. In files, partitions need
    /// bitmaps. If no bitmap is wide enough for the sizes of the records, or if the caller asks for
    /// an algorithm without bitmaps, the records are joined block by block.
    pub fn new(
        left: RecordStore,
        right: Option<RecordStore>,
        shared_tokens: usize,
        predicate: Predicate,
        algorithm: Algorithm,
        Resources { files, budget, .. }: Resources<'_>,
    ) -> Result<Self> {
        let words = match algorithm {
            Algorithm::Auto if !blocks::is_one(&left, right.as_ref(), predicate, budget) => {
                let indexed = right.as_ref().unwrap_or(&left).runs()?;
                let runs = indexed.sizes().iter().enumerate();
                let size = largest_but_few(
                    runs.map(|(run, &size)| (size, indexed.range(run).len() as u64 * u64::from(size))),
                );
                size.and_then(|size| Bounds::new(predicate).bitmap_words(Width::IN_MEMORY, size))
            }
            _ => None,
        };
        macro_rules! partitions {
            ($words:literal) => {
                Box::new(PartitionJoin::<$words>::new(left, right, shared_tokens, predicate, files, budget)?)
            };
        }
        Ok(Self(match words {
            None => Box::new(BlockJoin::new(left, right, shared_tokens, predicate, algorithm, budget)),
            Some(1) => partitions!(1),
            Some(2) => partitions!(2),
            Some(4) => partitions!(4),
            Some(_) => partitions!(8),
        }))
    }
}

impl RecordJoin for SetJoin {
    fn next_batch(&mut self, executor: &dyn Executor) -> Result<Option<Vec<RecordPair>>> {
        self.0.next_batch(executor)
    }

    fn counts(&self) -> Counts {
        self.0.counts()
    }

    fn progress(&self) -> f64 {
        self.0.progress()
    }

    fn bytes(&self) -> usize {
        self.0.bytes()
    }

    fn take_sets(&mut self) -> Option<SelfJoin> {
        self.0.take_sets()
    }
}
