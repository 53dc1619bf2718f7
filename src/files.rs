//! Temporary files: for what does not fit into memory.

use crate::error::{Error, Result};
use crate::memory;

/// A file that goes away with the call. Used from one thread, the leader's.
pub trait TempFile {
    /// Appends bytes.
    fn write(&mut self, bytes: &[u8]) -> Result<()>;

    /// Reads bytes that were written, from `at` on.
    fn read(&mut self, at: u64, bytes: &mut [u8]) -> Result<()>;
}

/// Makes temporary files.
pub trait TempFiles {
    /// A new, empty file.
    fn create(&self) -> Result<Box<dyn TempFile>>;
}

/// Makes none: for programs that have memory enough.
#[derive(Debug, Clone, Copy)]
pub struct NoFiles;

impl TempFiles for NoFiles {
    fn create(&self) -> Result<Box<dyn TempFile>> {
        Err(Error::OutOfMemory { doing: "looking for a temporary file" })
    }
}

/// Makes files that are memory: for tests, and for programs that have nowhere to write.
#[derive(Debug, Clone, Copy)]
pub struct MemoryFiles;

#[derive(Debug, Default)]
struct MemoryFile(Vec<u8>);

impl TempFile for MemoryFile {
    fn write(&mut self, bytes: &[u8]) -> Result<()> {
        memory::extend(&mut self.0, bytes, "writing a temporary file")
    }

    fn read(&mut self, at: u64, bytes: &mut [u8]) -> Result<()> {
        bytes.copy_from_slice(&self.0[at as usize..][..bytes.len()]);
        Ok(())
    }
}

impl TempFiles for MemoryFiles {
    fn create(&self) -> Result<Box<dyn TempFile>> {
        Ok(Box::new(MemoryFile::default()))
    }
}
