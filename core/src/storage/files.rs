//! Temporary files for data that does not fit into memory, and the resources of a task: these
//! files, memory and threads.

use crate::error::{Error, Result};
use crate::executor::Executor;
use crate::memory;

/// A file that is deleted at the end of the call. Only one thread, the leader, uses it.
///
/// ```
/// use neardup_core::{MemoryFiles, TempFiles};
///
/// let mut file = MemoryFiles.create()?;
/// file.write(b"north quay")?;
/// let mut bytes = [0; 4];
/// file.read(6, &mut bytes)?;
/// assert_eq!(&bytes, b"quay");
/// # Ok::<(), neardup_core::Error>(())
/// ```
pub trait TempFile {
    /// Appends bytes.
    fn write(&mut self, bytes: &[u8]) -> Result<()>;

    /// Fills `bytes` with written bytes, starting at offset `at` of the file.
    fn read(&mut self, at: u64, bytes: &mut [u8]) -> Result<()>;
}

/// A factory of temporary files.
///
/// A program that writes to disk implements this trait. Files are made only when the memory of a
/// call is not enough for its sets, texts or pairs.
///
/// ```
/// use neardup_core::{MemoryFiles, NoFiles, TempFiles};
///
/// assert!(MemoryFiles.create().is_ok() && NoFiles.create().is_err());
/// ```
pub trait TempFiles {
    /// Creates a new, empty file.
    fn create(&self) -> Result<Box<dyn TempFile>>;
}

/// A factory that cannot create files, for programs that have enough memory.
///
/// A call that needs a file fails with [`Error::OutOfMemory`].
///
/// ```
/// use neardup_core::{Corpus, Edit, NoFiles, PlainThreads, Resources};
///
/// let resources = Resources { files: &NoFiles, budget: 1 << 30, executor: &PlainThreads(1) };
/// let (pairs, _) = Corpus::of_texts(&["quay", "quays"]).pairs_with(&Edit::within(1), resources)?;
/// assert_eq!(pairs.len(), 1);
/// # Ok::<(), neardup_core::Error>(())
/// ```
#[derive(Debug, Clone, Copy)]
pub struct NoFiles;

impl TempFiles for NoFiles {
    fn create(&self) -> Result<Box<dyn TempFile>> {
        Err(Error::OutOfMemory { doing: "looking for a temporary file" })
    }
}

/// A factory of files that are kept in memory, for tests and for programs that have nowhere to
/// write.
///
/// The bytes in these files do not count as memory of the call.
///
/// ```
/// use neardup_core::{MemoryFiles, TempFiles};
///
/// let mut file = MemoryFiles.create()?;
/// assert_eq!(file.write(&[1, 2, 3]), Ok(()));
/// # Ok::<(), neardup_core::Error>(())
/// ```
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
