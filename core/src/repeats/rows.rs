//! Marks that follow each other are one repeated run.

use super::marks::Mark;
use crate::error::Result;
use crate::executor::Executor;
use crate::storage::sort::{Groups, Sorted};

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

    /// Returns the runs of one row at a time, as marks.
    pub fn by_row(self, executor: &dyn Executor) -> Result<Groups<Mark>> {
        Groups::new(self.marks, executor)
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
