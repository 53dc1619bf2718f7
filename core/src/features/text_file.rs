//! A temporary file of texts, one after the other.

use crate::error::Result;
use crate::memory;
use crate::storage::files::{TempFile, TempFiles};

const DOING: &str = "reading texts from a file";

/// Texts in a temporary file, or no file.
#[derive(Default)]
pub struct TextFile {
    file: Option<Box<dyn TempFile>>,
    written: u64,
}

impl std::fmt::Debug for TextFile {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "TextFile of {} bytes", self.written)
    }
}

impl TextFile {
    /// Reports whether there is a file.
    pub fn is_used(&self) -> bool {
        self.file.is_some()
    }

    /// Appends texts, which are contiguous, and returns the place of the first.
    pub(super) fn write(&mut self, texts: &str, files: &dyn TempFiles) -> Result<u64> {
        let file = match &mut self.file {
            Some(file) => file,
            none => none.insert(files.create()?),
        };
        file.write(texts.as_bytes())?;
        let start = self.written;
        self.written += texts.len() as u64;
        Ok(start)
    }

    /// Appends the text of `bytes` bytes at `start` to `space`.
    pub(super) fn read(&mut self, start: u64, bytes: usize, space: &mut Vec<u8>) -> Result<()> {
        let Some(file) = &mut self.file else { return Ok(()) };
        let from = space.len();
        memory::reserve(space, bytes, DOING)?;
        space.resize(from + bytes, 0);
        file.read(start, &mut space[from..])
    }
}
