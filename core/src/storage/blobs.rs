//! Rows of any bytes, kept until they are wanted by their numbers: in memory, or in a temporary
//! file if they are too many for it.

use crate::error::Result;
use crate::memory;
use crate::storage::files::{TempFile, TempFiles};

const DOING: &str = "keeping rows";

/// Rows as bytes, by their numbers.
pub struct KeptRows<F> {
    files: F,
    /// The number of bytes after which rows go to the file.
    most: usize,
    /// Where each row ends.
    ends: Vec<u64>,
    held: Vec<u8>,
    file: Option<Box<dyn TempFile>>,
    written: u64,
}

impl<F> std::fmt::Debug for KeptRows<F> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "KeptRows of {} rows", self.ends.len())
    }
}

impl<F: TempFiles> KeptRows<F> {
    /// Starts without rows. About `most` bytes of rows are held in memory.
    pub fn new(files: F, most: usize) -> Self {
        Self { files, most, ends: Vec::new(), held: Vec::new(), file: None, written: 0 }
    }

    /// Returns the number of rows.
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// Returns the number of bytes in memory.
    pub fn bytes(&self) -> usize {
        memory::bytes(&self.ends) + memory::bytes(&self.held)
    }

    /// Adds a row.
    pub fn push(&mut self, row: &[u8]) -> Result<()> {
        memory::extend(&mut self.held, row, DOING)?;
        memory::push(&mut self.ends, self.written + self.held.len() as u64, DOING)?;
        if self.held.len() >= self.most {
            let file = match &mut self.file {
                Some(file) => file,
                none => none.insert(self.files.create()?),
            };
            file.write(&self.held)?;
            self.written += self.held.len() as u64;
            self.held.clear();
        }
        Ok(())
    }

    /// Reads row `n`, which must exist, into `row`, where its bytes are aligned to 8 bytes.
    pub fn read(&mut self, n: usize, row: &mut Vec<u64>) -> Result<()> {
        let from = n.checked_sub(1).map_or(0, |before| self.ends[before]);
        let length = (self.ends[n] - from) as usize;
        row.clear();
        memory::reserve(row, length.div_ceil(size_of::<u64>()), DOING)?;
        row.resize(length.div_ceil(size_of::<u64>()), 0);
        let bytes = &mut bytemuck::cast_slice_mut(row)[..length];
        match (from.checked_sub(self.written), &mut self.file) {
            (None, Some(file)) => file.read(from, bytes),
            (begins, _) => {
                let begins = begins.unwrap_or_default() as usize;
                bytes.copy_from_slice(&self.held[begins..begins + length]);
                Ok(())
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::storage::files::MemoryFiles;

    #[test]
    fn rows_come_back_in_any_order() {
        for most in [0, 1, 100, 5000, usize::MAX] {
            let mut rows = KeptRows::new(MemoryFiles, most);
            let row = |n: usize| vec![n as u8; n * 7 % 40];
            (0..500).for_each(|n| rows.push(&row(n)).unwrap());
            let mut read = Vec::new();
            for n in (0..500).rev().chain([3, 499, 0]) {
                rows.read(n, &mut read).unwrap();
                assert_eq!(bytemuck::cast_slice::<u64, u8>(&read)[..row(n).len()], row(n), "{most} {n}");
            }
            assert_eq!(rows.len(), 500);
        }
    }
}
