//! Writes the lists of a segment. The rows of each class are stored as gaps, and the lists of
//! neighbouring classes form parts of about a kilobyte, or half of that in an index of anchors.
//!
//! A part consists of pieces of lists in the order of their classes. A piece has these fields:
//!
//! - the gap between its class and the class of the previous piece or, for the first piece, the
//!   first class of the part;
//! - the number of rows;
//! - the number of bytes of the code; these three numbers are in LEB128;
//! - one byte with the parameter of the code;
//! - the code of the rows ([`rice`]). If the previous piece has the same class, the numbers of rows
//!   are counted from the row after its last row.
//!
//! In an index of anchors, most lists have a single row. There the first number of a piece is twice
//! the gap, plus 1 if the piece has one row. Of such a piece only the row follows, in LEB128,
//! counted as in a code.
//!
//! In an index of grams, the rows of a piece of at least [`LEAST_PLAIN`] rows are plain if they are
//! near enough to one another. In place of the parameter such a piece has [`PLAIN`], and in place
//! of the code the first row in 4 bytes, counted as in a code, and for each other row its distance
//! from the first in 2 bytes.
//!
//! After the parts there is one more list: the rows that hold a part of a split set.

use super::spool::ByteStore;
use crate::pg::index::layout::format::{Descriptor, List, Pieces};
use neardup_core::error::{Error, Result};
use neardup_core::leb128;
use neardup_core::memory;
use neardup_core::set_index::rice;

const DOING: &str = "writing lists of rows";

/// The largest number of rows of a piece. A reader or a writer keeps this much of a list in memory.
pub(super) const PIECE: usize = 1 << 15;
/// The byte in place of a parameter that says that the rows of a piece are plain.
pub(super) const PLAIN: u8 = u8::MAX;
const _: () = assert!(PLAIN > rice::MOST_BITS);
/// The least number of rows of a piece whose rows are plain.
pub(super) const LEAST_PLAIN: usize = 16;
/// The greatest distance of a plain row from the first row of its piece.
const MOST_PLAIN: u32 = u16::MAX as u32;
/// The target size of a part in bytes.
const PART_BYTES: u64 = 1 << 10;

/// Returns the binary logarithm of the number of parts for this many postings. A posting takes
/// about 12 bits in a code, and about 6 bytes as a single row. A search of anchors reads a single
/// list of most parts that it opens, so that half the size is better there.
fn part_bits(pieces: Pieces, postings: u64, class_bits: u32) -> u32 {
    let bytes = match pieces {
        Pieces::Coded => postings.saturating_mul(3) / 2,
        Pieces::CodedOrSingle | Pieces::Grouped => postings.saturating_mul(6 * 2),
    };
    let parts = (bytes / PART_BYTES).max(1);
    parts.ilog2().min(class_bits)
}

/// Returns the binary logarithm of the number of parts for this many lists, or None if the number
/// of lists is invalid.
pub(super) fn bits_of_parts(lists: u32, class_bits: u32) -> Option<u32> {
    let parts = lists.checked_sub(1)?;
    (parts.is_power_of_two() && parts.ilog2() <= class_bits).then(|| parts.ilog2())
}

/// Replaces the contents of `piece` by the bytes of a piece. The numbers in `rows` are counted from
/// the base of the piece, and `gap` is the distance from the previous class. `code` is a buffer.
fn write_piece(
    pieces: Pieces,
    gap: u64,
    rows: &[u32],
    code: &mut Vec<u8>,
    piece: &mut Vec<u8>,
) -> Result<()> {
    code.clear();
    piece.clear();
    let head = match (pieces, rows) {
        (Pieces::Coded, _) => gap,
        (Pieces::CodedOrSingle | Pieces::Grouped, &[row]) => {
            leb128::write(gap * 2 + 1, piece, DOING)?;
            return leb128::write(row.into(), piece, DOING);
        }
        (Pieces::CodedOrSingle | Pieces::Grouped, _) => gap * 2,
    };
    let k = match rows {
        &[first, .., last]
            if pieces == Pieces::Grouped && rows.len() >= LEAST_PLAIN && last - first <= MOST_PLAIN =>
        {
            memory::reserve(code, 4 + 2 * (rows.len() - 1), DOING)?;
            code.extend(first.to_le_bytes());
            code.extend(rows[1..].iter().flat_map(|&row| ((row - first) as u16).to_le_bytes()));
            PLAIN
        }
        _ => rice::encode(rows, code)?,
    };
    for number in [head, rows.len() as u64, code.len() as u64] {
        leb128::write(number, piece, DOING)?;
    }
    memory::push(piece, k, DOING)?;
    memory::extend(piece, code, DOING)
}

/// Collects the lists of a segment.
pub(super) struct SegmentLists<S> {
    pieces: Pieces,
    class_bits: u32,
    part_bits: u32,
    /// The part that is being written, the offset where it begins, and the number of its postings.
    part: u32,
    start: u64,
    postings: u64,
    /// The class of the last piece of this part, or the part's first class.
    before: u64,
    /// The class whose rows are being collected, and these rows.
    class: u64,
    rows: Vec<u32>,
    /// The base from which the rows of the next piece are counted, and how many rows of the class
    /// were written.
    base: u32,
    written: u64,
    code: Vec<u8>,
    piece: Vec<u8>,
    /// The places of the parts.
    pub directory: S,
    /// The bytes of the parts.
    pub bytes: S,
}

impl<S: ByteStore> SegmentLists<S> {
    /// Starts the lists of a segment with about `postings` postings, whose classes have
    /// `class_bits` bits. The list directory and the bytes of the lists are written to the stores
    /// in the array.
    pub(super) fn new(pieces: Pieces, class_bits: u32, postings: u64, [directory, bytes]: [S; 2]) -> Self {
        Self {
            pieces,
            class_bits,
            part_bits: part_bits(pieces, postings, class_bits),
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
            directory,
            bytes,
        }
    }

    /// Adds a row of a class. The class is in the upper bits of `signature`. Pairs of signature and
    /// row must come in order. A repeated pair is stored once.
    pub(super) fn push(&mut self, signature: u64, row: u32, about: &mut Descriptor) -> Result<()> {
        let class = signature >> (u64::BITS - self.class_bits);
        if class != self.class {
            self.close(about)?;
            self.class = class;
        }
        if self.rows.last() == Some(&row) || self.rows.is_empty() && self.written > 0 && row < self.base {
            return Ok(());
        }
        let is_far = |&first: &u32| {
            self.pieces == Pieces::Grouped && self.rows.len() >= LEAST_PLAIN && row - first > MOST_PLAIN
        };
        if self.rows.len() == PIECE || self.rows.first().is_some_and(is_far) {
            self.write_piece_of_class()?;
        }
        memory::push(&mut self.rows, row, DOING)
    }

    /// Ends the list of the current class.
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
        write_piece(self.pieces, self.class - self.before, &self.rows, &mut self.code, &mut self.piece)?;
        self.bytes.push(&self.piece)?;
        self.before = self.class;
        self.written += self.rows.len() as u64;
        self.postings += self.rows.len() as u64;
        self.rows.clear();
        self.base = last + 1;
        Ok(())
    }

    /// Ends the parts before `part`.
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
        self.directory.push(&list.to_bytes())?;
        (self.start, self.postings) = (self.bytes.len(), 0);
        self.part += 1;
        self.before = u64::from(self.part) << (self.class_bits - self.part_bits);
        Ok(())
    }

    /// Ends the last list and adds the list of the rows that hold a part of a split set. Returns
    /// the number of lists.
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

#[cfg(test)]
mod tests;
