//! The rows of a result, or the pairs of records, that were found in all groups of rows.

use bytemuck::Pod;

use crate::error::Result;
use crate::executor::Executor;
use crate::storage::log::Log;

/// A row of a result as it is kept.
pub(crate) trait GroupedRow: Pod + Send {
    /// Adds `first` to the numbers of the left and the right row.
    fn shift(&mut self, first: [u32; 2]);
}

/// Rows that were found, in memory or in a temporary file.
#[derive(Debug)]
pub(crate) struct GroupedRows<T> {
    rows: Log<T>,
    next: u64,
}

impl<T: Pod> GroupedRows<T> {
    /// Gives rows that were kept.
    pub(crate) fn new(rows: Log<T>) -> Self {
        Self { rows, next: 0 }
    }

    /// Returns the next rows, or `None` after the last one.
    pub(crate) fn next_batch(&mut self, executor: &dyn Executor) -> Result<Option<Vec<T>>> {
        const BATCH: u64 = 1 << 12;
        executor.check_interrupts()?;
        let count = (self.rows.len() - self.next).min(BATCH);
        let mut batch = Vec::new();
        self.rows.append(self.next, count as usize, &mut batch)?;
        self.next += count;
        Ok((count > 0).then_some(batch))
    }

    /// Returns the share of the rows that were taken, 0 to 1.
    pub(crate) fn progress(&self) -> f64 {
        if self.rows.len() == 0 { 1.0 } else { self.next as f64 / self.rows.len() as f64 }
    }

    /// Returns the number of bytes on the heap.
    pub(crate) fn bytes(&self) -> usize {
        self.rows.bytes()
    }
}
