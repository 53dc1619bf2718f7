//! Marks of a few tokens or keys of a row in earlier parts. Two rows that share one of them are
//! candidates in that earlier part already, so that most candidates come from a single part: near
//! duplicates share most of their prefixes, and would come from each part of those.
//!
//! The mark of a token is the upper half of its scrambled hash, which also decides about its part.
//! So tokens with one mark are in one part, and a part takes them for one token: a row shares a
//! mark only with rows that it meets there. Similar sets choose the same marks, because each
//! chooses the least ones. They are encoded as their number, and then each in 4 bytes,
//! little-endian.

use crate::error::{Error, Result};
use crate::memory;

/// The format without earlier marks.
const WITHOUT: u8 = 1;
const VERSION: u8 = 2;
const BYTES: usize = size_of::<u32>();
/// The greatest number of marks. With six, a candidate at 0.8 comes from 1.4 of 16 parts; with
/// three from 1.9, with eight still from 1.4, and without marks from 7.
const MOST: usize = 6;

/// The greatest number of bytes before the tokens of a row.
pub(super) const MOST_BYTES: usize = 2 + MOST * BYTES;

/// Returns the mark of a scrambled token, or of a key.
#[inline]
pub(super) fn mark(scrambled: u64) -> u32 {
    (scrambled >> u32::BITS) as u32
}

/// Returns the part into which a scrambled token, or a key, falls.
#[inline]
pub(super) fn part(scrambled: u64, parts: u32) -> u32 {
    ((u64::from(mark(scrambled)) * u64::from(parts)) >> u32::BITS) as u32
}

/// The marks of a set in the parts so far, at most [`MOST`].
#[derive(Debug, Default)]
pub(super) struct Earlier {
    marks: [u32; MOST],
    count: usize,
}

impl Earlier {
    /// Writes the beginning of a row of the next part.
    pub(super) fn begin_row(&self, bytes: &mut Vec<u8>) {
        // There are fewer than 256.
        bytes.extend([VERSION, self.count as u8]);
        self.marks[..self.count].iter().for_each(|mark| bytes.extend(mark.to_le_bytes()));
    }

    /// Adds scrambled tokens of the next part, by which that part finds each pair of sets that
    /// share one of them: the least ones, as far as there is room.
    pub(super) fn add(&mut self, tokens: impl Iterator<Item = u64>) {
        for mark in tokens.map(mark) {
            let at = self.marks[..self.count].partition_point(|&other| other < mark);
            if at == MOST {
                continue;
            }
            self.count = (self.count + 1).min(MOST);
            self.marks[at..self.count].rotate_right(1);
            self.marks[at] = mark;
        }
    }
}

/// Splits an encoded row behind its version and its earlier marks. Fails for malformed bytes;
/// `name` is the name of the value.
pub(super) fn split<'a>(bytes: &'a [u8], name: &'static str) -> Result<(&'a [[u8; BYTES]], &'a [u8])> {
    let bad = |why: String| Error::Malformed { what: name, why };
    let cut = || bad("it is cut short".to_owned());
    let (&version, rest) = bytes.split_first().ok_or_else(cut)?;
    match version {
        WITHOUT => Ok((&[], rest)),
        VERSION => {
            let (&count, rest) = rest.split_first().ok_or_else(cut)?;
            if usize::from(count) > MOST {
                return Err(bad(format!("{count} earlier marks are more than {MOST}")));
            }
            let (marks, rest) = rest.split_at_checked(usize::from(count) * BYTES).ok_or_else(cut)?;
            Ok((marks.as_chunks().0, rest))
        }
        _ => Err(bad(format!("its format is version {version}, this neardup knows {WITHOUT} and {VERSION}"))),
    }
}

/// Appends the earlier marks of an encoded row as words of two, and returns the number of words.
pub(super) fn append(
    bytes: &[u8],
    name: &'static str,
    words: &mut Vec<u64>,
    doing: &'static str,
) -> Result<u64> {
    let (marks, _) = split(bytes, name)?;
    let pairs = marks.chunks(2).map(|pair| {
        let [one, other] = [pair[0], pair[pair.len() - 1]].map(|mark| u64::from(u32::from_le_bytes(mark)));
        one | other << u32::BITS
    });
    memory::append(words, pairs, doing)?;
    Ok(marks.len().div_ceil(2) as u64)
}

/// Reports whether two rows share one of their earlier marks.
#[inline]
pub(super) fn meet(one: &[u64], other: &[u64]) -> bool {
    let other: &[u32] = bytemuck::cast_slice(other);
    bytemuck::cast_slice::<u64, u32>(one).iter().any(|mark| other.contains(mark))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_least_ones_are_kept() {
        let mut earlier = Earlier::default();
        let of = |earlier: &Earlier| {
            let mut bytes = Vec::new();
            earlier.begin_row(&mut bytes);
            let mut words = Vec::new();
            append(&bytes, "row", &mut words, "testing").unwrap();
            assert!(split(&bytes, "row").unwrap().1.is_empty() && bytes.len() <= MOST_BYTES);
            words
        };
        let tokens = |marks: &[u64]| marks.iter().map(|mark| mark << 32 | 77).collect::<Vec<u64>>();
        assert!(of(&earlier).is_empty());
        earlier.add(tokens(&[9]).into_iter());
        assert_eq!(of(&earlier), [9 | 9 << 32]);
        earlier.add(tokens(&[18, 13, 15]).into_iter());
        assert_eq!(of(&earlier), [9 | 13 << 32, 15 | 18 << 32]);
        assert!(meet(&of(&earlier), &[5 | 15 << 32]) && !meet(&of(&earlier), &[5 | 16 << 32]));
        assert!(!meet(&of(&earlier), &[]));
        earlier.add(tokens(&[27, 26, 25, 24, 23, 22]).into_iter());
        assert_eq!(of(&earlier), [9 | 13 << 32, 15 | 18 << 32, 22 | 23 << 32]);
    }

    #[test]
    fn bytes_that_are_no_rows() {
        for bytes in [&[][..], &[0], &[3], &[2], &[2, 1, 0, 0], &[2, 7]] {
            assert!(split(bytes, "row").is_err(), "{bytes:?}");
        }
        assert_eq!(split(&[1, 7], "row").unwrap(), (&[][..], &[7][..]));
    }
}
