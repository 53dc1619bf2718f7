//! Items of one size in a file, written some at a time.

use bytemuck::Pod;

use crate::error::Result;
use crate::memory;
use crate::storage::files::{TempFile, TempFiles};

const DOING: &str = "spilling tokens";

/// Items in the order in which they were pushed.
pub(super) struct Spool<T> {
    file: Box<dyn TempFile>,
    /// The number of items in the file.
    length: usize,
    held: Vec<T>,
}

impl<T: Pod> Spool<T> {
    /// Creates a file without items.
    pub(super) fn new(files: &dyn TempFiles) -> Result<Self> {
        Ok(Self { file: files.create()?, length: 0, held: Vec::new() })
    }

    /// Adds an item; `piece` items are written at one time.
    pub(super) fn push(&mut self, item: T, piece: usize) -> Result<()> {
        memory::push(&mut self.held, item, DOING)?;
        if self.held.len() >= piece { self.flush() } else { Ok(()) }
    }

    /// Writes the items that are still held.
    pub(super) fn flush(&mut self) -> Result<()> {
        self.file.write(bytemuck::cast_slice(&self.held))?;
        self.length += self.held.len();
        self.held.clear();
        Ok(())
    }

    /// Writes the items that are still held and frees the memory for them.
    pub(super) fn finish(&mut self) -> Result<()> {
        self.flush()?;
        self.held = Vec::new();
        Ok(())
    }

    /// Returns the number of items that are written.
    pub(super) fn len(&self) -> usize {
        self.length
    }

    /// Appends `count` written items, from the one at `at` on.
    pub(super) fn read(&mut self, at: usize, count: usize, items: &mut Vec<T>) -> Result<()> {
        let from = items.len();
        memory::reserve(items, count, DOING)?;
        items.resize(from + count, T::zeroed());
        self.file.read((at * size_of::<T>()) as u64, bytemuck::cast_slice_mut(&mut items[from..]))
    }
}
