//! Signatures of fixed width: a few 64-bit numbers for each document. Documents with equal
//! signatures are one record.
//!
//! A sketch method keeps such a sequence of numbers for each document, for example a simhash,
//! supershingles, the keys of bands, or a checksum. A method that sees only these numbers cannot
//! distinguish rows with the same numbers, so such rows are one record of its join.

use super::sets::members::Members;
use crate::error::{Error, Result};
use crate::executor::{self, Executor};
use crate::memory;
use crate::radix;

const DOING: &str = "collecting signatures";

/// The signatures of one worker.
#[derive(Debug, Default)]
pub struct SignatureCollector {
    width: usize,
    words: Vec<u64>,
    rows: Vec<u32>,
}

impl SignatureCollector {
    /// Creates a collector for signatures of `width` numbers, at least one.
    pub fn new(width: usize) -> Self {
        debug_assert!(width > 0);
        Self { width, words: Vec::new(), rows: Vec::new() }
    }

    /// Adds the signature of a row.
    pub fn add(&mut self, row: u32, words: &[u64]) -> Result<()> {
        debug_assert_eq!(words.len(), self.width);
        memory::reserve(&mut self.rows, 1, DOING)?;
        memory::extend(&mut self.words, words, DOING)?;
        self.rows.push(row);
        Ok(())
    }

    /// Sets number `at` of each row's signature to the result of `of` for the row.
    pub fn set_each(&mut self, at: usize, of: impl Fn(u32) -> u64) {
        for (words, &row) in self.words.chunks_exact_mut(self.width).zip(&self.rows) {
            words[at] = of(row);
        }
    }

    /// Returns the number of rows with a signature.
    pub fn len(&self) -> usize {
        self.rows.len()
    }

    /// Returns the number of bytes on the heap.
    pub fn bytes(&self) -> usize {
        memory::bytes(&self.words) + memory::bytes(&self.rows)
    }
}

/// The distinct signatures of one or two tables, and the rows that have them.
#[derive(Debug)]
pub struct Signatures {
    width: usize,
    words: Vec<u64>,
    /// The number of signatures of the left table. They come before the signatures of the right
    /// table.
    pub split: u32,
    /// The rows of the signatures of the only table, or of the left one.
    pub left: Members,
    /// The rows of the signatures of the right table, if there are two.
    pub right: Option<Members>,
}

impl Signatures {
    /// Returns the number of signatures of both tables.
    pub fn len(&self) -> usize {
        self.words.len() / self.width
    }

    /// Returns how many numbers each signature has.
    pub fn width(&self) -> usize {
        self.width
    }

    /// Returns a signature.
    #[inline]
    pub fn get(&self, record: u32) -> &[u64] {
        &self.words[record as usize * self.width..][..self.width]
    }

    /// Removes the rows of the signatures and returns them: those of the only or left table, and
    /// those of the right table if there are two.
    pub fn take_members(&mut self) -> (Members, Option<Members>) {
        (std::mem::take(&mut self.left), self.right.take())
    }

    /// Returns the number of bytes on the heap.
    pub fn bytes(&self) -> usize {
        memory::bytes(&self.words) + self.left.bytes() + self.right.as_ref().map_or(0, Members::bytes)
    }
}

/// The place of a row's signature, and its sort key.
#[derive(Debug, Clone, Copy)]
struct SortedSignature {
    /// The first number of the signature, which usually decides the order.
    first: u64,
    row: u32,
    /// The number of the signature. The signatures of all workers are numbered consecutively.
    place: u32,
}

/// Groups equal signatures of all workers. The groups of each table are in ascending order of their
/// signatures. With `right_from`, the rows from that row number on are in the right table. O(n) if
/// the first numbers are hashes, O(n log n) at worst. The result does not depend on the number of
/// workers.
pub fn distinct(
    parts: Vec<SignatureCollector>,
    right_from: Option<u32>,
    executor: &dyn Executor,
) -> Result<Signatures> {
    let width = parts.first().map_or(1, |part| part.width);
    let count = parts.iter().map(SignatureCollector::len).sum();
    if u32::try_from(count).is_err() {
        return Err(Error::TooMany { what: "documents", limit: u32::MAX.into() });
    }
    let mut firsts = Vec::new();
    memory::reserve(&mut firsts, parts.len(), DOING)?;
    let mut sides = [Vec::new(), Vec::new()];
    memory::reserve(&mut sides[0], count, DOING)?;
    let mut place = 0;
    for part in &parts {
        firsts.push(place);
        for (&row, words) in part.rows.iter().zip(part.words.chunks_exact(width)) {
            let right = right_from.is_some_and(|from| row >= from);
            memory::push(
                &mut sides[usize::from(right)],
                SortedSignature { first: words[0], row, place },
                DOING,
            )?;
            place += 1;
        }
    }
    let words = |entry: &SortedSignature| {
        let part = firsts.partition_point(|&first| first <= entry.place) - 1;
        &parts[part].words[(entry.place - firsts[part]) as usize * width..][..width]
    };
    let rest = |entry: &SortedSignature| if width == 1 { &[] } else { &words(entry)[1..] };
    executor::each(executor, &mut sides, |entries, stop| {
        radix::sort_by_hash(entries, &mut Vec::new(), stop, DOING, |entry| entry.first, &|a, b| {
            a.first.cmp(&b.first).then_with(|| rest(a).cmp(rest(b))).then(a.row.cmp(&b.row))
        })
    })?;
    let mut all = Vec::new();
    let [mut left, mut right] = [Members::default(), Members::default()];
    for (entries, members) in sides.into_iter().zip([&mut left, &mut right]) {
        let rows = memory::collect(entries.iter().map(|entry| entry.row), DOING)?;
        let (mut ends, mut end) = (Vec::new(), 0);
        for equal in entries.chunk_by(|a, b| a.first == b.first && rest(a) == rest(b)) {
            memory::push(&mut all, equal[0].first, DOING)?;
            memory::extend(&mut all, rest(&equal[0]), DOING)?;
            end += equal.len() as u32;
            memory::push(&mut ends, end, DOING)?;
        }
        *members = Members::new(rows, ends)?;
    }
    let split = left.len() as u32;
    Ok(Signatures { width, words: all, split, left, right: right_from.map(|_| right) })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::executor::PlainThreads;
    use proptest::prelude::*;
    use std::collections::BTreeMap;

    proptest! {
        #[test]
        fn equal_signatures_are_one_record(
            rows in prop::collection::vec((0..3u64, 0..3u64), 0..40),
            right in prop::option::of(0..40u32),
            threads in 1..4usize,
        ) {
            let mut parts: Vec<_> = (0..threads).map(|_| SignatureCollector::new(2)).collect();
            for (row, &(a, b)) in (0..).zip(&rows) {
                parts[row as usize % threads].add(row, &[a, b]).unwrap();
            }
            let found = distinct(parts, right, &PlainThreads(threads)).unwrap();
            let mut expected = BTreeMap::<(bool, [u64; 2]), Vec<u32>>::new();
            for (row, &(a, b)) in (0..).zip(&rows) {
                expected.entry((right.is_some_and(|from| row >= from), [a, b])).or_default().push(row);
            }
            prop_assert_eq!(found.len(), expected.len());
            for (record, ((is_right, words), rows)) in (0..).zip(expected) {
                prop_assert_eq!(found.get(record), &words[..]);
                prop_assert_eq!(is_right, record >= found.split);
                let members = match is_right {
                    false => found.left.rows(record as usize),
                    true => found.right.as_ref().unwrap().rows((record - found.split) as usize),
                };
                prop_assert_eq!(members, &rows[..]);
            }
        }
    }
}
