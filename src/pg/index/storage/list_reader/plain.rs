//! Pieces of lists whose rows are plain: a first row, and the distances of the others from it.

use crate::pg::index::pages::buffer::Looked;
use crate::pg::index::storage::list_bytes::{ListSource, PartBytes};
use crate::pg::index::storage::lists::LEAST_PLAIN;

/// Some rows of a piece, in order.
pub(crate) enum PieceRows<'a> {
    /// The rows.
    Rows(&'a [u32]),
    /// A row, and the distances of rows from it, little-endian.
    Plain(u32, &'a [[u8; 2]]),
}

/// The rest of a piece whose rows are plain.
#[derive(Clone, Copy)]
pub(super) struct Plain {
    /// The first row of the piece.
    first: u32,
    /// The distance of the last row that was read from the first one.
    distance: u16,
    /// The number of rows to be read.
    rows: u32,
}

impl Plain {
    /// Starts to read a piece with this number of rows and bytes, whose rows, counted from a base,
    /// are less than a limit. The first row is read.
    pub(super) fn begin<S: ListSource>(
        stream: &mut PartBytes<'_, S>,
        rows: u32,
        bytes: u32,
        base: u32,
        limit: u32,
    ) -> Looked<Self> {
        let right = rows as usize >= LEAST_PLAIN && bytes == 2 + 2 * rows;
        let mut first = [0; size_of::<u32>()];
        for byte in &mut first {
            *byte = stream.byte()?;
        }
        let first = u32::from_le_bytes(first);
        if !right || first >= limit {
            stream.corrupted("a list has a row that the segment has not");
        }
        Ok(Self { first: base + first, distance: 0, rows: rows - 1 })
    }

    /// Returns the first row of the piece.
    pub(super) fn first(self) -> u32 {
        self.first
    }

    /// Returns the number of rows to be read.
    pub(super) fn rows(self) -> u32 {
        self.rows
    }

    /// Calls `each` with the next rows, at most `most`. Returns the last row that was read.
    pub(super) fn each<S: ListSource>(
        &mut self,
        stream: &mut PartBytes<'_, S>,
        most: usize,
        each: &mut impl FnMut(PieceRows<'_>),
    ) -> Looked<u32> {
        let first = self.first;
        let last_row = stream.source.rows().saturating_sub(1) - first;
        let mut left = most.min(self.rows as usize);
        self.rows -= left as u32;
        while left > 0 {
            // Whole pages are read where they are.
            let mut right = true;
            let pairs = stream.with_pairs(left, &mut |distances| {
                right = self.pass(distances, last_row);
                if right {
                    each(PieceRows::Plain(first, distances));
                }
            })?;
            check(stream, right);
            left -= pairs;
            if left == 0 {
                break;
            }
            stream.fill()?;
            let here = (stream.page.len() - stream.at) / 2;
            if here == 0 {
                // The distance is on two pages.
                let next = [stream.byte()?, stream.byte()?];
                check(stream, self.pass(&[next], last_row));
                each(PieceRows::Plain(first, &[next]));
                left -= 1;
                continue;
            }
            let taken = here.min(left);
            let distances = stream.page[stream.at..][..2 * taken].as_chunks().0;
            check(stream, self.pass(distances, last_row));
            each(PieceRows::Plain(first, distances));
            stream.at += 2 * taken;
            left -= taken;
        }
        Ok(first + u32::from(self.distance))
    }

    /// Passes distances. Reports whether they ascend, and do not go beyond the last row of the
    /// segment.
    fn pass(&mut self, distances: &[[u8; 2]], last_row: u32) -> bool {
        let mut ascend = true;
        for &next in distances {
            let next = u16::from_le_bytes(next);
            ascend &= next > self.distance;
            self.distance = next;
        }
        ascend && u32::from(self.distance) <= last_row
    }
}

/// Fails if distances are not right.
fn check<S: ListSource>(stream: &PartBytes<'_, S>, right: bool) {
    if !right {
        stream.corrupted("a list of rows: a row that is not there");
    }
}
