//! Reads the bytes of the lists of a segment, one page at a time.

use roaring::RoaringBitmap;

use super::segment::{COLLECTING, Segment};
use crate::pg::index::layout::format::{CONTENTS, List, Pieces};
use crate::pg::index::pages::buffer::Looked;
use crate::pg::server::error::{SqlError, or_raise};
use neardup_core::error::Error;
use neardup_core::leb128;
use neardup_core::memory;

/// A source of lists.
pub(crate) trait ListSource {
    /// Returns the number of bits of a class and the number of lists: the parts, and one more list
    /// after them.
    fn shape(&self) -> (u32, u32);

    /// Returns the form of the pieces of the lists.
    fn pieces(&self) -> Pieces;

    /// Returns the number of rows.
    fn rows(&self) -> u32;

    /// Returns the place of list `n`.
    fn entry(&self, n: u32) -> Looked<List>;

    /// Calls `each` with the bytes of the lists in the range `from..until`, which lies on one page.
    /// Returns false if the page does not have these bytes. The page is locked while `each` runs.
    fn with(&self, from: u64, until: u64, each: &mut dyn FnMut(&[u8])) -> Looked<bool>;

    /// Fails because the bytes of the lists are invalid.
    fn corrupted(&self, what: &str) -> !;

    /// Fails with this error.
    fn failed(&self, error: Error) -> !;
}

impl ListSource for Segment {
    fn shape(&self) -> (u32, u32) {
        (self.class_bits(), self.about.lists)
    }

    fn pieces(&self) -> Pieces {
        self.layout.pieces
    }

    fn rows(&self) -> u32 {
        self.about.rows
    }

    fn entry(&self, n: u32) -> Looked<List> {
        Segment::entry(self, n)
    }

    fn with(&self, from: u64, until: u64, each: &mut dyn FnMut(&[u8])) -> Looked<bool> {
        pgrx::check_for_interrupts!();
        let page = self.list_page(from)?;
        let at = (from % CONTENTS as u64) as usize;
        let found = page.contents().get(at..at + (until - from) as usize);
        found.into_iter().for_each(each);
        Ok(found.is_some())
    }

    fn corrupted(&self, what: &str) -> ! {
        self.index.corrupted(self.about.root, &format!("segment {}: {what}", self.about.id))
    }

    fn failed(&self, error: Error) -> ! {
        SqlError::from(error).raise()
    }
}

/// The bytes of a part, read page by page.
pub(super) struct PartBytes<'a, S> {
    pub(super) source: &'a S,
    /// The offset after the bytes of the current page, and the end of the part.
    next: u64,
    end: u64,
    pub(super) page: Vec<u8>,
    pub(super) at: usize,
}

impl<'a, S: ListSource> PartBytes<'a, S> {
    pub(super) fn new(source: &'a S, list: List) -> Self {
        let (next, end) = (list.offset, list.offset + u64::from(list.length));
        Self { source, next, end, page: Vec::new(), at: 0 }
    }

    pub(super) fn corrupted(&self, what: &str) -> ! {
        self.source.corrupted(what)
    }

    /// Returns the number of bytes left.
    pub(super) fn rest(&self) -> u64 {
        self.end - self.next + (self.page.len() - self.at) as u64
    }

    /// Loads the next bytes if all loaded bytes were read and the part has more.
    pub(super) fn fill(&mut self) -> Looked<()> {
        if self.at < self.page.len() || self.next >= self.end {
            return Ok(());
        }
        let (source, next, until) = (self.source, self.next, self.end_of_page());
        self.page.clear();
        if !source.with(next, until, &mut |bytes| self.page.extend_from_slice(bytes))? {
            self.corrupted("a list has no end");
        }
        (self.at, self.next) = (0, until);
        Ok(())
    }

    /// Returns the offset where the bytes of the next page end.
    fn end_of_page(&self) -> u64 {
        self.end.min(self.next + CONTENTS as u64 - self.next % CONTENTS as u64)
    }

    /// Calls `each` with the next pairs of bytes, at most `most`, where they are, and returns their
    /// number. Returns 0 if some bytes are loaded, or if not a whole pair is on the next page.
    pub(super) fn with_pairs(&mut self, most: usize, each: &mut dyn FnMut(&[[u8; 2]])) -> Looked<usize> {
        let pairs = most.min((self.end_of_page() - self.next) as usize / 2);
        if self.at < self.page.len() || pairs == 0 {
            return Ok(0);
        }
        let until = self.next + 2 * pairs as u64;
        if !self.source.with(self.next, until, &mut |bytes| each(bytes.as_chunks().0))? {
            self.corrupted("a list has no end");
        }
        self.next = until;
        Ok(pairs)
    }

    pub(super) fn byte(&mut self) -> Looked<u8> {
        self.fill()?;
        let Some(&byte) = self.page.get(self.at) else { self.corrupted("a list has no end") };
        self.at += 1;
        Ok(byte)
    }

    /// Reads a number that fits into 32 bits.
    pub(super) fn number(&mut self) -> Looked<u32> {
        let number = self.long_number()?;
        Ok(u32::try_from(number).unwrap_or_else(|_| self.too_large()))
    }

    /// Reads a number.
    pub(super) fn long_number(&mut self) -> Looked<u64> {
        let here = self.page.get(self.at..).unwrap_or_default();
        let number = if here.len() >= leb128::MOST_BYTES {
            // All bytes of the number are here.
            let mut rest = here.iter();
            let number = leb128::read(|| Ok(rest.next().copied().unwrap_or_default()))?;
            self.at = self.page.len() - rest.len();
            number
        } else {
            leb128::read(|| self.byte())?
        };
        Ok(number.unwrap_or_else(|| self.too_large()))
    }

    fn too_large(&self) -> ! {
        self.corrupted("a list has a number that is too large")
    }

    /// Skips bytes that are known to exist.
    pub(super) fn skip(&mut self, bytes: u32) {
        let here = (self.page.len() - self.at).min(bytes as usize);
        self.at += here;
        self.next += u64::from(bytes) - here as u64;
    }
}

impl Segment {
    /// Reads the rows of a list.
    pub(crate) fn rows_of(&self, list: List) -> Looked<RoaringBitmap> {
        let (mut pages, mut bytes) = (PartBytes::new(self, list), Vec::new());
        or_raise(memory::reserve(&mut bytes, list.length as usize, COLLECTING));
        while pages.rest() > 0 {
            pages.fill()?;
            bytes.extend_from_slice(&pages.page);
            pages.at = pages.page.len();
        }
        match RoaringBitmap::deserialize_from(bytes.as_slice()) {
            Ok(rows)
                if rows.len() == u64::from(list.rows)
                    && rows.max().is_some_and(|row| row < self.about.rows) =>
            {
                Ok(rows)
            }
            _ => ListSource::corrupted(self, "a list cannot be read"),
        }
    }
}
