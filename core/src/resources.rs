//! Resources of a task: threads, memory, temporary files.

use crate::executor::Executor;
use crate::storage::files::TempFiles;

/// The resources of a task.
///
/// Results do not depend on the resources, as long as these suffice; only time and memory do.
///
/// ```
/// use neardup_core::{MemoryFiles, PlainThreads, Resources};
///
/// let resources = Resources { files: &MemoryFiles, budget: 1 << 28, executor: &PlainThreads(4) };
/// assert_eq!(resources.executor.count(), 4);
/// ```
#[derive(Clone, Copy)]
pub struct Resources<'a> {
    /// The factory of temporary files.
    pub files: &'a dyn TempFiles,
    /// The number of bytes that the task may use.
    pub budget: usize,
    /// The threads.
    pub executor: &'a dyn Executor,
}

impl std::fmt::Debug for Resources<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Resources of {} bytes, {} threads", self.budget, self.executor.count())
    }
}
