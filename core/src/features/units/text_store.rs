//! Texts with the places of their units (sentences), by row. The texts are in memory as long as
//! they fit; after that, all texts and their places are in temporary files.

use crate::error::{Error, Result};
use crate::features::hash_sets::SetCollector;
use crate::features::row_words::{LoadedWords, RowWords};
use crate::memory;
use crate::storage::files::TempFiles;
use crate::text::spans::Span;

const DOING: &str = "keeping texts";

/// The texts of one worker.
#[derive(Debug, Default)]
pub struct UnitTextCollector {
    texts: SetCollector,
    /// Each row, and the number of its units.
    counts: Vec<(u32, u32)>,
    space: Vec<u64>,
}

impl UnitTextCollector {
    /// Adds the text of a row, and the places of its units.
    pub fn add(&mut self, row: u32, text: &str, units: &[Span]) -> Result<()> {
        let too_long = || Error::TooMany { what: "bytes in a text", limit: u32::MAX.into() };
        let bytes = u32::try_from(text.len()).map_err(|_| too_long())?;
        // There are at most as many units and characters as bytes.
        let count = units.len() as u32;
        self.space.clear();
        memory::reserve(&mut self.space, 1 + 2 * units.len() + text.len().div_ceil(WORD), DOING)?;
        self.space.push(u64::from(count) << 32 | u64::from(bytes));
        for unit in units {
            let place =
                [unit.bytes.start, unit.bytes.end, unit.chars.start, unit.chars.end].map(|at| at as u32);
            self.space.extend_from_slice(bytemuck::cast_slice(&[bytemuck::cast::<_, [u64; 2]>(place)]));
        }
        let from = self.space.len();
        self.space.resize(from + text.len().div_ceil(WORD), 0);
        bytemuck::cast_slice_mut::<u64, u8>(&mut self.space[from..])[..text.len()]
            .copy_from_slice(text.as_bytes());
        memory::push(&mut self.counts, (row, count), DOING)?;
        self.texts.add(row, &self.space)
    }

    /// Returns the number of bytes on the heap.
    pub fn bytes(&self) -> usize {
        self.texts.bytes() + memory::bytes(&self.counts) + memory::bytes(&self.space)
    }
}

const WORD: usize = size_of::<u64>();

/// A text and the places of its units.
#[derive(Debug, Clone, Copy, Default)]
pub struct OpenText<'a> {
    /// The text.
    pub text: &'a str,
    units: &'a [[u32; 4]],
}

impl<'a> OpenText<'a> {
    /// Returns the place of a unit.
    pub fn span(&self, unit: usize) -> Span {
        let [from, to, first, end] = self.units[unit].map(|at| at as usize);
        Span { bytes: from..to, chars: first..end }
    }

    /// Returns a unit, or an empty one if there is no text.
    pub fn unit(&self, unit: usize) -> &'a str {
        self.units.get(unit).map_or("", |&[from, to, ..]| &self.text[from as usize..to as usize])
    }
}

/// The texts of all workers.
#[derive(Debug, Default)]
pub struct TextStore {
    texts: RowWords,
    /// The number of units by row; 0 for rows without a text. Empty once they are forgotten.
    counts: Vec<u32>,
}

/// Some texts, loaded into memory.
#[derive(Debug)]
pub struct LoadedTexts<'a>(LoadedWords<'a>);

impl LoadedTexts<'_> {
    /// Returns the text of a row. The row must be among the loaded rows; if it has no text, the
    /// result is empty.
    pub fn get(&self, row: u32) -> OpenText<'_> {
        let words = self.0.get(row);
        let Some((&head, rest)) = words.split_first() else { return OpenText::default() };
        let (count, bytes) = ((head >> 32) as usize, head as u32 as usize);
        let (units, text) = rest.split_at(2 * count);
        let text = &bytemuck::cast_slice(text)[..bytes];
        // The bytes were a valid text when they were stored.
        OpenText { text: str::from_utf8(text).unwrap_or_default(), units: bytemuck::cast_slice(units) }
    }
}

impl TextStore {
    /// Takes the texts of the collectors in `shelves` and writes them to a file. Their rows come
    /// after all rows that were taken before.
    pub fn spill<'s>(
        &mut self,
        shelves: impl IntoIterator<Item = &'s mut UnitTextCollector>,
        files: &dyn TempFiles,
    ) -> Result<()> {
        let texts = self.take(shelves)?;
        self.texts.spill(texts, files)
    }

    /// Takes the texts of the collectors in `shelves`. No texts may be added after this call.
    pub fn finish<'s>(
        &mut self,
        shelves: impl IntoIterator<Item = &'s mut UnitTextCollector>,
        files: &dyn TempFiles,
    ) -> Result<()> {
        let texts = self.take(shelves)?;
        self.texts.finish(texts, files)
    }

    fn take<'s>(
        &mut self,
        shelves: impl IntoIterator<Item = &'s mut UnitTextCollector>,
    ) -> Result<Vec<SetCollector>> {
        let mut texts = Vec::new();
        for shelf in shelves {
            let UnitTextCollector { texts: own, counts, .. } = std::mem::take(shelf);
            let rows = counts.iter().map(|&(row, _)| row as usize + 1).max().unwrap_or(0);
            memory::lengthen(&mut self.counts, 0, rows, DOING)?;
            counts.iter().for_each(|&(row, count)| self.counts[row as usize] = count);
            texts.push(own);
        }
        Ok(texts)
    }

    /// Returns the number of units of a row.
    pub fn units(&self, row: u32) -> u32 {
        self.counts.get(row as usize).copied().unwrap_or(0)
    }

    /// Forgets the numbers of units.
    pub fn forget_counts(&mut self) {
        self.counts = Vec::new();
    }

    /// Returns the number of bytes that a row takes in memory, about.
    pub fn size(&mut self, row: u32) -> Result<usize> {
        Ok(self.texts.size(row)? * WORD)
    }

    /// Loads the texts of some rows. If the texts are in a file, this call sorts `rows`, removes
    /// repeats from it, and reads from the file in the leader's thread.
    pub fn open(&mut self, rows: &mut Vec<u32>) -> Result<LoadedTexts<'_>> {
        self.texts.load(rows).map(LoadedTexts)
    }

    /// Returns the number of bytes on the heap.
    pub fn bytes(&self) -> usize {
        self.texts.bytes() + memory::bytes(&self.counts)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::storage::files::MemoryFiles;
    use crate::storage::files::NoFiles;
    use crate::text::sentences::sentences;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn texts_come_back(texts in prop::collection::vec("([a-z好。. ]{0,9}|)", 0..12), spill: bool) {
            let mut shelves = vec![UnitTextCollector::default(), UnitTextCollector::default()];
            let mut library = TextStore::default();
            for (row, text) in texts.iter().enumerate() {
                shelves[row % 2].add(row as u32, text, &sentences(text)).unwrap();
                if spill && row % 3 == 2 {
                    library.spill(&mut shelves, &MemoryFiles).unwrap();
                }
            }
            let files: &dyn TempFiles = if spill { &MemoryFiles } else { &NoFiles };
            library.finish(&mut shelves, files).unwrap();
            let mut rows: Vec<u32> = (0..=texts.len() as u32).collect();
            let open = library.open(&mut rows).unwrap();
            for (row, text) in texts.iter().enumerate() {
                let entry = open.get(row as u32);
                prop_assert_eq!(entry.text, text);
                let spans = sentences(text);
                prop_assert_eq!(entry.units.len(), spans.len());
                for (n, span) in spans.iter().enumerate() {
                    prop_assert_eq!((entry.unit(n), &entry.span(n)), (span.slice(text), span));
                }
            }
            prop_assert!(open.get(texts.len() as u32).units.is_empty());
            drop(open);
            for (row, text) in texts.iter().enumerate() {
                prop_assert_eq!(library.units(row as u32) as usize, sentences(text).len());
            }
        }
    }
}
