//! What a piece of work is done with: threads, memory, temporary files.

use crate::executor::Executor;
use crate::files::TempFiles;

/// What a piece of work is done with.
#[derive(Clone, Copy)]
pub struct Resources<'a> {
    /// Makes temporary files.
    pub files: &'a dyn TempFiles,
    /// Bytes to work with.
    pub budget: usize,
    /// The threads.
    pub executor: &'a dyn Executor,
}

impl std::fmt::Debug for Resources<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Resources of {} bytes, {} threads", self.budget, self.executor.count())
    }
}
