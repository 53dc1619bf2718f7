//! Words of 64 bits that are kept for each row, such as texts: in memory as long as they fit, and
//! then all in a temporary file, with their places.

use std::ops::Range;

use bytemuck::{Pod, Zeroable};

use super::hash_sets::{HashSets, SetCollector};
use crate::error::Result;
use crate::memory;
use crate::storage::files::TempFiles;
use crate::storage::log::Log;

const DOING: &str = "keeping texts";

/// The words of all rows.
#[derive(Debug, Default)]
pub struct RowWords {
    held: HashSets,
    file: Log<u64>,
    /// The place of the words of each row in the file.
    places: Log<WordsPlace>,
}

/// The place of the words of a row in the file.
#[derive(Debug, Clone, Copy, Default, Zeroable, Pod)]
#[repr(C)]
struct WordsPlace {
    start: u64,
    length: u64,
}

/// The words of some rows, loaded into memory.
#[derive(Debug)]
pub struct LoadedWords<'a> {
    held: &'a HashSets,
    /// What was read from the file. `rows` has the rows in ascending order, and for each row the
    /// range of its words in `space`.
    space: Vec<u64>,
    rows: Vec<(u32, Range<usize>)>,
}

impl LoadedWords<'_> {
    /// Returns the words of a row. The row must be among the loaded rows.
    pub fn get(&self, row: u32) -> &[u64] {
        let loaded = self.rows.binary_search_by_key(&row, |(row, _)| *row);
        loaded.map_or(self.held.get(row), |n| &self.space[self.rows[n].1.clone()])
    }
}

impl RowWords {
    /// Moves the words of the collectors to a file. Their rows come after all rows that were moved
    /// before.
    pub fn spill(&mut self, collectors: Vec<SetCollector>, files: &dyn TempFiles) -> Result<()> {
        self.file.spill(files)?;
        let (from, mut places) = (self.places.len() as usize, Vec::new());
        for SetCollector { sets, rows } in collectors {
            for (n, &row) in rows.iter().enumerate() {
                let (range, place) = (sets.range(n), row as usize - from);
                memory::lengthen(&mut places, WordsPlace::default(), place + 1, DOING)?;
                let start = self.file.len() + range.start as u64;
                places[place] = WordsPlace { start, length: range.len() as u64 };
            }
            self.file.extend(&sets.values, files)?;
        }
        self.places.extend(&places, files)
    }

    /// Takes the words of all collectors. No words may be added after this call. If earlier words
    /// are in a file, these go to that file, too.
    pub fn finish(&mut self, collectors: Vec<SetCollector>, files: &dyn TempFiles) -> Result<()> {
        if self.file.is_in_file() {
            return self.spill(collectors, files);
        }
        self.held = HashSets::from_collectors(collectors)?;
        Ok(())
    }

    /// Returns the number of words of a row.
    pub fn size(&mut self, row: u32) -> Result<usize> {
        let place = self.place(row)?;
        Ok(place.map_or(self.held.get(row).len(), |place| place.length as usize))
    }

    /// Returns the place of the words of a row in the file, if they are there.
    fn place(&mut self, row: u32) -> Result<Option<WordsPlace>> {
        if u64::from(row) >= self.places.len() {
            return Ok(None);
        }
        let mut place = [WordsPlace::default()];
        self.places.read(row.into(), &mut place)?;
        Ok(Some(place[0]))
    }

    /// Loads the words of some rows. If they are in a file, this call sorts `rows`, removes repeats
    /// from it, and reads from the file in the leader's thread.
    pub fn load(&mut self, rows: &mut Vec<u32>) -> Result<LoadedWords<'_>> {
        let (mut space, mut loaded) = (Vec::new(), Vec::new());
        if self.file.is_in_file() {
            rows.sort_unstable();
            rows.dedup();
            memory::reserve(&mut loaded, rows.len(), DOING)?;
            for &row in rows.iter() {
                let WordsPlace { start, length } = self.place(row)?.unwrap_or_default();
                let from = space.len();
                self.file.append(start, length as usize, &mut space)?;
                loaded.push((row, from..space.len()));
            }
        }
        Ok(LoadedWords { held: &self.held, space, rows: loaded })
    }

    /// Returns the number of bytes on the heap.
    pub fn bytes(&self) -> usize {
        self.held.bytes() + self.file.bytes() + self.places.bytes()
    }
}
