//! Rows of any bytes, kept until they are wanted by their numbers: in memory, or in a temporary
//! file if they are too many for it.

use crate::error::Result;
use crate::memory;
use crate::storage::files::TempFiles;
use crate::storage::log::Log;

const DOING: &str = "keeping rows";

/// Rows as bytes, by their numbers.
#[derive(Debug)]
pub struct Blobs {
    /// Where each row ends.
    ends: Vec<u64>,
    rows: Log<u8>,
}

impl Blobs {
    /// Starts without rows. About `budget` bytes of rows are held in memory.
    pub fn new(budget: usize) -> Self {
        Self { ends: Vec::new(), rows: Log::new(budget) }
    }

    /// Returns the number of rows.
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// Returns the number of bytes in memory.
    pub fn bytes(&self) -> usize {
        memory::bytes(&self.ends) + self.rows.bytes()
    }

    /// Adds a row.
    pub fn push(&mut self, row: &[u8], files: &dyn TempFiles) -> Result<()> {
        self.rows.extend(row, files)?;
        memory::push(&mut self.ends, self.rows.len(), DOING)
    }

    /// Reads row `n`, which must exist, into `row`, where its bytes are aligned to 8 bytes.
    pub fn read(&mut self, n: usize, row: &mut Vec<u64>) -> Result<()> {
        let from = n.checked_sub(1).map_or(0, |before| self.ends[before]);
        let length = (self.ends[n] - from) as usize;
        row.clear();
        memory::fill(row, 0, length.div_ceil(size_of::<u64>()), DOING)?;
        self.rows.read(from, &mut bytemuck::cast_slice_mut(row)[..length])
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::storage::files::MemoryFiles;

    #[test]
    fn rows_come_back_in_any_order() {
        for most in [0, 1, 100, 5000, usize::MAX] {
            let mut rows = Blobs::new(most);
            let row = |n: usize| vec![n as u8; n * 7 % 40];
            (0..500).for_each(|n| rows.push(&row(n), &MemoryFiles).unwrap());
            let mut read = Vec::new();
            for n in (0..500).rev().chain([3, 499, 0]) {
                rows.read(n, &mut read).unwrap();
                assert_eq!(bytemuck::cast_slice::<u64, u8>(&read)[..row(n).len()], row(n), "{most} {n}");
            }
            assert_eq!(rows.len(), 500);
        }
    }
}
