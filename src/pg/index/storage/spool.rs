//! Bytes in order of arrival, in the temporary files of the memory context that was current when
//! they began.

use crate::pg::server::executor::BackendExecutor;
use crate::pg::server::temp_file::ServerFiles;
use neardup_core::error::Result;
use neardup_core::storage::log::Log;

/// The least number of bytes in memory.
const LEAST: usize = 48 << 10;

/// A [`Log`] of bytes with its files.
pub(crate) struct Spool {
    files: ServerFiles,
    log: Log<u8>,
}

/// A destination for bytes that are written.
pub(super) trait ByteStore {
    /// Appends bytes.
    fn push(&mut self, bytes: &[u8]) -> Result<()>;

    /// Returns the number of bytes.
    fn len(&self) -> u64;
}

impl ByteStore for Spool {
    fn push(&mut self, bytes: &[u8]) -> Result<()> {
        self.log.extend(bytes, &self.files)
    }

    fn len(&self) -> u64 {
        self.log.len()
    }
}

impl Spool {
    /// Makes an empty spool. About `budget` bytes are held in memory.
    pub(crate) fn new(budget: usize) -> Self {
        Self { files: ServerFiles::in_current_context(), log: Log::new(budget.max(LEAST)) }
    }

    /// Calls `each` with all bytes, `size` at a time, in order.
    pub(crate) fn for_each(&mut self, size: usize, each: impl FnMut(&[u8]) -> Result<()>) -> Result<()> {
        self.log.for_each(size, &BackendExecutor::single(), each)
    }
}
