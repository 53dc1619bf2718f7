//! Some blocks that are searched for at a time, by any number of threads. The nearest of the first
//! ones can be taken while the others are searched for.

use std::sync::{Mutex, PoisonError};

use super::block::{Block, Nearest};
use crate::error::Result;
use crate::executor::{self, Executor, Stop};
use crate::joins::Counts;

/// Some blocks.
#[derive(Debug)]
pub struct BlockBatch {
    blocks: Vec<(usize, Block)>,
    /// What was found and not taken.
    pub arrived: Arrived,
}

/// What was found for the blocks that are done, until it is taken.
#[derive(Debug)]
pub struct Arrived(Mutex<Arrivals>);

#[derive(Debug)]
struct Arrivals {
    nearest: Vec<Option<Nearest>>,
    /// The first block whose nearest were not taken.
    next: usize,
}

impl BlockBatch {
    /// Creates a batch of these blocks.
    pub fn new(blocks: Vec<Block>) -> Self {
        let nearest = blocks.iter().map(|_| None).collect();
        let arrived = Arrived(Mutex::new(Arrivals { nearest, next: 0 }));
        Self { blocks: blocks.into_iter().enumerate().collect(), arrived }
    }

    /// Reports whether there is no block.
    pub fn is_empty(&self) -> bool {
        self.blocks.is_empty()
    }

    /// Does the work on all blocks. Meanwhile it calls `beside` in the calling thread.
    pub fn work(
        &mut self,
        search: impl Fn(&mut Block, &Stop) -> Result<()> + Sync,
        executor: &dyn Executor,
        beside: &mut dyn FnMut(&Arrived),
    ) -> Result<()> {
        let Self { blocks, arrived } = self;
        let caller = std::thread::current();
        let work = |(number, block): &mut (usize, Block), stop: &Stop| {
            search(block, stop)?;
            arrived.put(*number, block.take_nearest()?);
            // It may wait until `beside` is called again.
            caller.unpark();
            Ok(())
        };
        executor::each_beside(executor, blocks, work, &mut || beside(arrived))
    }

    /// Returns what was counted for each block.
    pub fn counts(&self) -> impl Iterator<Item = &Counts> {
        self.blocks.iter().map(|(_, block)| &block.counts)
    }
}

impl Arrived {
    fn put(&self, number: usize, nearest: Nearest) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).nearest[number] = Some(nearest);
    }

    /// Takes the nearest of the next block, if it is done. The order of the blocks does not depend
    /// on the threads.
    pub fn take(&self) -> Option<Nearest> {
        let mut arrivals = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let next = arrivals.next;
        let nearest = arrivals.nearest.get_mut(next)?.take()?;
        arrivals.next += 1;
        Some(nearest)
    }
}
