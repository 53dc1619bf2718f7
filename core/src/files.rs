//! Temporary files for data that does not fit into memory.

use crate::error::{Error, Result};
use crate::memory;

/// A file that is deleted at the end of the call. Only one thread, the leader, uses it.
pub trait TempFile {
    /// Appends bytes.
    fn write(&mut self, bytes: &[u8]) -> Result<()>;

    /// Reads bytes that were written, starting at offset `at`.
    fn read(&mut self, at: u64, bytes: &mut [u8]) -> Result<()>;
}

/// A factory of temporary files.
pub trait TempFiles {
    /// Creates a new, empty file.
    fn create(&self) -> Result<Box<dyn TempFile>>;
}

/// A factory that cannot create files, for programs that have enough memory.
#[derive(Debug, Clone, Copy)]
pub struct NoFiles;

impl TempFiles for NoFiles {
    fn create(&self) -> Result<Box<dyn TempFile>> {
        Err(Error::OutOfMemory { doing: "looking for a temporary file" })
    }
}

/// A factory of files that are kept in memory, for tests and for programs that have nowhere to
/// write.
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
