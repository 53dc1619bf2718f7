//! Pieces of lists whose rows are plain: a first row, and the distances of the others from it.

use super::super::list_bytes::Source;
use super::super::lists::LEAST_PLAIN;
use super::{DECODED, Head, Part, Plain, Run};
use crate::pg::index::pages::buffer::Looked;

impl<S: Source> Part<'_, S> {
    /// Starts to read a piece whose rows, counted from the base, are less than `limit`.
    pub(super) fn begin_plain(&mut self, head: &Head, limit: u32) -> Looked<()> {
        let right = head.rows as usize >= LEAST_PLAIN && head.bytes == 2 + 2 * head.rows;
        let mut first = [0; size_of::<u32>()];
        for byte in &mut first {
            *byte = self.stream.byte()?;
        }
        let first = u32::from_le_bytes(first);
        if !right || first >= limit {
            self.stream.corrupted("a list has a row that the segment has not");
        }
        let first = self.base + first;
        self.waiting.push(first);
        self.last = Some(first);
        self.plain = Some(Plain { first, distance: 0, rows: head.rows - 1 });
        Ok(())
    }

    /// Decodes some rows of the current piece.
    pub(super) fn decode_plain(&mut self) -> Looked<()> {
        let mut rows = std::mem::take(&mut self.waiting);
        let read = self.each_plain(DECODED, &mut |run| {
            if let Run::Plain(first, distances) = run {
                rows.extend(distances.iter().map(|&next| first + u32::from(u16::from_le_bytes(next))));
            }
        });
        self.waiting = rows;
        read
    }

    /// Calls `each` with the next plain rows of the current piece, at most `most`.
    pub(super) fn each_plain(&mut self, most: usize, each: &mut impl FnMut(Run<'_>)) -> Looked<()> {
        let Some(Plain { first, mut distance, rows }) = self.plain.take() else { return Ok(()) };
        let last_row = self.stream.source.rows().saturating_sub(1) - first;
        let mut left = most.min(rows as usize);
        let rest = rows - left as u32;
        while left > 0 {
            self.stream.fill()?;
            let here = (self.stream.page.len() - self.stream.at) / 2;
            if here == 0 {
                // The distance is on two pages.
                let next = [self.stream.byte()?, self.stream.byte()?];
                self.check_distances(&mut distance, &[next], last_row);
                each(Run::Plain(first, &[next]));
                left -= 1;
                continue;
            }
            let taken = here.min(left);
            let distances = self.stream.page[self.stream.at..][..2 * taken].as_chunks().0;
            self.check_distances(&mut distance, distances, last_row);
            each(Run::Plain(first, distances));
            self.stream.at += 2 * taken;
            left -= taken;
        }
        self.last = Some(first + u32::from(distance));
        if rest > 0 {
            self.plain = Some(Plain { first, distance, rows: rest });
        }
        Ok(())
    }

    /// Fails if distances do not ascend from `distance`, or go beyond the last row of the segment.
    fn check_distances(&self, distance: &mut u16, distances: &[[u8; 2]], last_row: u32) {
        let mut ascend = true;
        for &next in distances {
            let next = u16::from_le_bytes(next);
            ascend &= next > *distance;
            *distance = next;
        }
        if !ascend || u32::from(*distance) > last_row {
            self.stream.corrupted("a list of rows: a row that is not there");
        }
    }
}
