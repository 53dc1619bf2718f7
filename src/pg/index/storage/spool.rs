//! Bytes in order of arrival, stored in a temporary file beyond a memory budget.

use super::sort::READ;
use crate::pg::server::temp_file::ServerFiles;
use neardup_core::error::Result;
use neardup_core::memory;
use neardup_core::storage::files::{TempFile, TempFiles};

/// Bytes in order of arrival. Whenever the bytes in memory exceed a budget, they are moved to a
/// temporary file.
pub(crate) struct Spool {
    files: ServerFiles,
    budget: usize,
    memory: Vec<u8>,
    file: Option<Box<dyn TempFile>>,
    written: u64,
}

impl Spool {
    /// Makes an empty spool.
    pub(crate) fn new(budget: usize) -> Self {
        Self {
            files: ServerFiles::in_current_context(),
            budget: budget.max(READ),
            memory: Vec::new(),
            file: None,
            written: 0,
        }
    }

    /// Returns the number of bytes.
    pub(crate) fn len(&self) -> u64 {
        self.written + self.memory.len() as u64
    }

    /// Appends bytes.
    pub(crate) fn push(&mut self, bytes: &[u8]) -> Result<()> {
        memory::extend(&mut self.memory, bytes, "collecting lists of rows")?;
        if self.memory.len() > self.budget {
            let file = match &mut self.file {
                Some(file) => file,
                none => none.insert(self.files.create()?),
            };
            file.write(&self.memory)?;
            self.written += self.memory.len() as u64;
            self.memory.clear();
        }
        Ok(())
    }

    /// Calls `each` with all bytes, `size` at a time, in order.
    pub(crate) fn for_each(&mut self, size: usize, mut each: impl FnMut(&[u8])) -> Result<()> {
        let mut bytes: Vec<u8> = Vec::new();
        memory::reserve(&mut bytes, size, "collecting lists of rows")?;
        let mut at = 0;
        while at < self.len() {
            pgrx::check_for_interrupts!();
            bytes.resize((self.len() - at).min(size as u64) as usize, 0);
            let in_file = self.written.saturating_sub(at).min(bytes.len() as u64) as usize;
            if let (Some(file), true) = (&mut self.file, in_file > 0) {
                file.read(at, &mut bytes[..in_file])?;
            }
            let rest = bytes.len() - in_file;
            if rest > 0 {
                let from = (at + in_file as u64 - self.written) as usize;
                bytes[in_file..].copy_from_slice(&self.memory[from..from + rest]);
            }
            each(&bytes);
            at += bytes.len() as u64;
        }
        Ok(())
    }
}
