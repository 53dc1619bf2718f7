//! Marks that follow each other are one repeated run.

use super::marks::Mark;
use crate::error::Result;
use crate::executor::Executor;
use crate::memory;
use crate::storage::sort::Sorted;

/// The repeated runs of all documents, by row and place.
pub struct RunRows {
    marks: Sorted<Mark>,
    /// The last run, which the next mark may continue. Each window is marked once, so the marks of
    /// other runs do not come between.
    open: Option<Mark>,
}

impl RunRows {
    /// Takes the marks.
    pub fn new(marks: Sorted<Mark>) -> Self {
        Self { marks, open: None }
    }

    /// Returns the next run, or `None` after the last.
    pub fn next(&mut self, executor: &dyn Executor) -> Result<Option<Mark>> {
        while let Some(mark) = self.marks.next(executor)? {
            if self.open.as_mut().is_some_and(|open| open.join(&mark)) {
                continue;
            }
            if let Some(done) = self.open.replace(mark) {
                return Ok(Some(done));
            }
        }
        Ok(self.open.take())
    }
}

/// The runs of one row at a time.
pub struct ByRow {
    rows: RunRows,
    head: Option<Mark>,
}

impl ByRow {
    /// Takes the runs.
    pub fn new(mut rows: RunRows, executor: &dyn Executor) -> Result<Self> {
        let head = rows.next(executor)?;
        Ok(Self { rows, head })
    }

    /// Returns the runs of a row. Rows have to be asked for in ascending order.
    pub fn in_row(&mut self, row: u32, executor: &dyn Executor) -> Result<Vec<Mark>> {
        let mut runs = Vec::new();
        while let Some(run) = self.head.filter(|run| run.row <= row) {
            if run.row == row {
                memory::push(&mut runs, run, "collecting the runs of a text")?;
            }
            self.head = self.rows.next(executor)?;
        }
        Ok(runs)
    }
}
