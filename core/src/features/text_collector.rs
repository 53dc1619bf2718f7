//! Texts as a worker collects them.

use crate::error::{Error, Result};
use crate::hash;
use crate::memory;
use crate::storage::files::TempFiles;
use crate::storage::log::Log;
use crate::storage::rows::RaggedText;
use crate::text::characters::is_space;

const DOING: &str = "collecting texts";

/// The texts of one worker, and the row of each text.
#[derive(Debug, Default)]
pub struct TextCollector {
    pub(super) texts: RaggedText,
    /// The number of characters of each text.
    pub(super) lengths: Vec<u32>,
    pub(super) hashes: Vec<u64>,
    pub(super) rows: Vec<u32>,
    /// The texts that are in the file: as soon as one is, all before it are. The number of bytes of
    /// a text is at most four times that of its characters.
    pub(super) written: Vec<(u64, u32)>,
    /// Those of them that are only white space, ascending.
    pub(super) blank: Vec<u32>,
    /// The number of empty texts. They are similar to nothing and are not kept.
    pub empty: u64,
}

impl TextCollector {
    /// Adds the text of a row. Texts without any character are similar to nothing and are not kept.
    pub fn add(&mut self, row: u32, text: &str) -> Result<()> {
        if text.is_empty() {
            self.empty += 1;
            return Ok(());
        }
        let length = u32::try_from(text.chars().count())
            .map_err(|_| Error::TooMany { what: "characters in a text", limit: u32::MAX.into() })?;
        memory::reserve(&mut self.lengths, 1, DOING)?;
        memory::reserve(&mut self.hashes, 1, DOING)?;
        memory::reserve(&mut self.rows, 1, DOING)?;
        self.texts.push(text, DOING)?;
        self.lengths.push(length);
        self.hashes.push(hash::hash_bytes(text.as_bytes()));
        self.rows.push(row);
        Ok(())
    }

    /// Moves the texts to the file. Once some are there, all others have to follow before
    /// they are grouped.
    pub fn spill(&mut self, file: &mut Log<u8>, files: &dyn TempFiles) -> Result<()> {
        let texts = std::mem::take(&mut self.texts);
        memory::reserve(&mut self.written, texts.len(), DOING)?;
        let mut start = file.len();
        file.extend(texts.all().as_bytes(), files)?;
        for text in (0..texts.len()).map(|n| texts.get(n)) {
            if text.chars().all(is_space) {
                memory::push(&mut self.blank, self.written.len() as u32, DOING)?;
            }
            let bytes = u32::try_from(text.len())
                .map_err(|_| Error::TooMany { what: "bytes in a text", limit: u32::MAX.into() })?;
            self.written.push((start, bytes));
            start += text.len() as u64;
        }
        Ok(())
    }

    /// Returns a text that is in memory.
    pub(super) fn text(&self, n: usize) -> &str {
        self.texts.get(n)
    }

    /// Returns the number of bytes of texts on the heap.
    pub fn text_bytes(&self) -> usize {
        self.texts.bytes()
    }

    /// Returns the number of bytes on the heap.
    pub fn bytes(&self) -> usize {
        self.texts.bytes()
            + memory::bytes(&self.written)
            + memory::bytes(&self.blank)
            + memory::bytes(&self.lengths)
            + memory::bytes(&self.hashes)
            + memory::bytes(&self.rows)
    }
}
