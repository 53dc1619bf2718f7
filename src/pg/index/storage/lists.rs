//! Writes the lists of a segment: the rows of each class as gaps, classes near one another in parts of about a page.
//!
//! A part is pieces of lists in the order of their classes: how far the class is from that of the piece before, or from
//! the first of the part; how many rows, how many bytes, each of these numbers in LEB128; one byte with the parameter of
//! the code; the code of the rows ([`rice`]), counted from behind the last row of the piece before where that has the
//! same class. Behind the parts comes one list more: the rows whose signatures are spread over several rows.

use super::spool::Spool;
use crate::error::{Error, Result};
use crate::joins::search::rice;
use crate::memory;
use crate::pg::index::layout::format::{Descriptor, List};

const DOING: &str = "writing lists of rows";

/// The most rows of a piece: what a reader or a writer has in memory of a list.
pub(super) const PIECE: usize = 1 << 15;
/// Bytes of a part that are aimed at.
const PART_BYTES: u64 = 1 << 10;

/// The number of parts, as a power of two, for this many postings: one takes about 12 bits.
fn part_bits(postings: u64, class_bits: u32) -> u32 {
    let parts = (postings.saturating_mul(3) / 2 / PART_BYTES).max(1);
    parts.ilog2().min(class_bits)
}

/// The number of parts of so many lists, as a power of two; none if that is none.
pub(super) fn bits_of_parts(lists: u32, class_bits: u32) -> Option<u32> {
    let parts = lists.checked_sub(1)?;
    (parts.is_power_of_two() && parts.ilog2() <= class_bits).then(|| parts.ilog2())
}

/// Appends a number.
fn push_number(out: &mut Vec<u8>, mut number: u64) -> Result<()> {
    while number >= 0x80 {
        memory::push(out, number as u8 | 0x80, DOING)?;
        number >>= 7;
    }
    memory::push(out, number as u8, DOING)
}

/// Collects the lists of a segment.
pub(super) struct Lists {
    class_bits: u32,
    part_bits: u32,
    /// The part that is being written, where it began, and its postings.
    part: u32,
    start: u64,
    postings: u64,
    /// The class of the last piece of this part, or its first.
    before: u64,
    /// The class whose rows are being collected, and how many of it were written.
    class: u64,
    rows: Vec<u32>,
    /// What the rows of the next piece are counted from, and how many of the class were written.
    base: u32,
    written: u64,
    code: Vec<u8>,
    piece: Vec<u8>,
    /// Where the parts are.
    pub directory: Spool,
    /// Their bytes.
    pub bytes: Spool,
}

impl Lists {
    /// Lists of classes with this many bits and of about this many postings, which use at most `budget` bytes of memory.
    pub(super) fn new(class_bits: u32, postings: u64, budget: usize) -> Self {
        Self {
            class_bits,
            part_bits: part_bits(postings, class_bits),
            part: 0,
            start: 0,
            postings: 0,
            before: 0,
            class: 0,
            rows: Vec::new(),
            base: 0,
            written: 0,
            code: Vec::new(),
            piece: Vec::new(),
            directory: Spool::new(budget / 2),
            bytes: Spool::new(budget / 2),
        }
    }

    /// Adds a row of a class, which stands in the upper bits of its signature. They come in order; a pair that comes again
    /// is one.
    pub(super) fn push(&mut self, signature: u64, row: u32, about: &mut Descriptor) -> Result<()> {
        let class = signature >> (u64::BITS - self.class_bits);
        if class != self.class {
            self.close(about)?;
            self.class = class;
        }
        if self.rows.last() == Some(&row) || self.rows.is_empty() && self.written > 0 && row < self.base {
            return Ok(());
        }
        if self.rows.len() == PIECE {
            self.write_piece_of_class()?;
        }
        memory::push(&mut self.rows, row, DOING)
    }

    /// Ends the list of a class.
    fn close(&mut self, about: &mut Descriptor) -> Result<()> {
        if !self.rows.is_empty() {
            self.write_piece_of_class()?;
            about.signatures += 1;
            about.postings += self.written;
            about.longest = about.longest.max(u32::try_from(self.written).unwrap_or(u32::MAX));
        }
        (self.base, self.written) = (0, 0);
        Ok(())
    }

    fn write_piece_of_class(&mut self) -> Result<()> {
        self.go_to((self.class >> (self.class_bits - self.part_bits)) as u32)?;
        self.write_piece()
    }

    /// Writes the rows that are waiting.
    fn write_piece(&mut self) -> Result<()> {
        let Some(&last) = self.rows.last() else { return Ok(()) };
        self.rows.iter_mut().for_each(|row| *row -= self.base);
        self.code.clear();
        let k = rice::encode(&self.rows, &mut self.code)?;
        self.piece.clear();
        for number in [self.class - self.before, self.rows.len() as u64, self.code.len() as u64] {
            push_number(&mut self.piece, number)?;
        }
        memory::push(&mut self.piece, k, DOING)?;
        self.bytes.push(&self.piece)?;
        self.bytes.push(&self.code)?;
        self.before = self.class;
        self.written += self.rows.len() as u64;
        self.postings += self.rows.len() as u64;
        self.rows.clear();
        self.base = last + 1;
        Ok(())
    }

    /// Ends the parts before this one.
    fn go_to(&mut self, part: u32) -> Result<()> {
        while self.part < part {
            self.end_part()?;
        }
        Ok(())
    }

    fn end_part(&mut self) -> Result<()> {
        let too_long =
            |_| Error::TooMany { what: "rows of frequent tokens in an index", limit: u32::MAX.into() };
        let list = List {
            offset: self.start,
            length: u32::try_from(self.bytes.len() - self.start).map_err(too_long)?,
            rows: u32::try_from(self.postings).map_err(too_long)?,
        };
        let mut entry = [0; List::SIZE];
        list.write(&mut entry);
        self.directory.push(&entry)?;
        (self.start, self.postings) = (self.bytes.len(), 0);
        self.part += 1;
        self.before = u64::from(self.part) << (self.class_bits - self.part_bits);
        Ok(())
    }

    /// Ends the last list, and adds that of the rows which are parts of others. Says how many lists these are.
    pub(super) fn finish(&mut self, split: &[u32], about: &mut Descriptor) -> Result<u32> {
        self.close(about)?;
        let parts = 1 << self.part_bits;
        self.go_to(parts)?;
        self.class = self.before;
        for rows in split.chunks(PIECE) {
            memory::extend(&mut self.rows, rows, DOING)?;
            self.write_piece()?;
        }
        self.end_part()?;
        Ok(parts + 1)
    }
}
