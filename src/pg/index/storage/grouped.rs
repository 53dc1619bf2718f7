//! Brings the rows of a segment of strings into the order of the groups of their strings. So the
//! rows of a list, which all belong to one group, are near to one another.
//!
//! The rows of a group keep their order. First come rows without grams, which belong to no group.

use super::spool::Spool;
use crate::pg::index::layout::items::{HeapRow, short};
use neardup_core::error::Result;
use neardup_core::joins::search::grams;

/// The number of places: one for rows without grams, and one for each group.
pub(crate) const PLACES: usize = 1 + grams::GROUPS as usize;

/// Returns the place in the order of rows of a row with these sizes next to it.
pub(crate) fn place_of_size(size: &[u8]) -> usize {
    match size {
        [] => 0,
        size => match short(size) {
            0 => 0,
            size => 1 + grams::group(size) as usize,
        },
    }
}

/// Returns the place of the rows that have a signature.
fn place_of_signature(signature: u64) -> usize {
    1 + grams::group_of(signature) as usize
}

/// Rows in the order in which they come.
pub(super) struct Grouped {
    payload: usize,
    /// The rows of each place.
    places: Vec<Spool>,
    rows: u32,
    /// A buffer for a row.
    bytes: Vec<u8>,
}

impl Grouped {
    /// Starts without rows. `payload` is the number of bytes next to a row.
    pub(super) fn new(payload: usize, budget: usize) -> Self {
        let places = (0..PLACES).map(|_| Spool::new(budget / PLACES)).collect();
        Self { payload, places, rows: 0, bytes: Vec::new() }
    }

    /// Returns the number of rows.
    pub(super) fn rows(&self) -> u32 {
        self.rows
    }

    /// Adds a row, and returns its number within its place.
    pub(super) fn push(&mut self, row: HeapRow, sketch: &[u8]) -> Result<u32> {
        let width = HeapRow::SIZE + self.payload;
        let spool = &mut self.places[place_of_size(sketch)];
        let number = (spool.len() / width as u64) as u32;
        self.bytes.clear();
        self.bytes.extend(row.0.to_le_bytes());
        self.bytes.extend_from_slice(sketch);
        self.bytes.resize(width, 0);
        spool.push(&self.bytes)?;
        self.rows += 1;
        Ok(number)
    }

    /// Calls `each` with all rows, in the order of their places. Returns the first number of each
    /// place.
    pub(super) fn each(self, mut each: impl FnMut(HeapRow, &[u8]) -> Result<()>) -> Result<Bases> {
        let width = HeapRow::SIZE + self.payload;
        let mut bases = Vec::with_capacity(PLACES);
        let mut base = 0;
        for mut spool in self.places {
            bases.push(base);
            base += (spool.len() / width as u64) as u32;
            spool.for_each(width << 10, |rows| {
                rows.chunks_exact(width).try_for_each(|row| each(HeapRow::read(row), &row[HeapRow::SIZE..]))
            })?;
        }
        Ok(Bases(bases))
    }
}

/// The number of the first row of each place.
pub(super) struct Bases(Vec<u32>);

impl Bases {
    /// Returns the number of a row that has a signature, from its number within its place.
    pub(super) fn number(&self, signature: u64, number: u32) -> u32 {
        self.0[place_of_signature(signature)] + number
    }
}
