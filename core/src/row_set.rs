//! A set of rows by their numbers, one bit for each row.

use crate::error::Result;
use crate::memory;

/// The number of rows in a word.
const BITS: usize = u64::BITS as usize;

/// A set of some of the rows `0..rows`.
#[derive(Debug)]
pub struct RowSet {
    /// A bit for each row, set if it is in the set. The bits after the last row are set, too.
    words: Vec<u64>,
    /// The number of rows that are not in the set.
    absent: usize,
}

impl RowSet {
    /// Makes an empty set of some of `rows` rows.
    pub fn new(rows: usize) -> Result<Self> {
        let mut words = memory::filled(0, rows.div_ceil(BITS), "noting rows")?;
        if let Some(last) = words.last_mut()
            && !rows.is_multiple_of(BITS)
        {
            *last = u64::MAX << (rows % BITS);
        }
        Ok(Self { words, absent: rows })
    }

    /// Returns the number of bytes that a set of some of `rows` rows has on the heap.
    pub fn bytes_of(rows: usize) -> usize {
        rows.div_ceil(BITS) * size_of::<u64>()
    }

    /// Adds a row.
    #[inline]
    pub fn insert(&mut self, row: usize) {
        let bit = 1 << (row % BITS);
        let word = &mut self.words[row / BITS];
        self.absent -= usize::from(*word & bit == 0);
        *word |= bit;
    }

    /// Reports whether a row is in the set.
    #[inline]
    pub fn contains(&self, row: usize) -> bool {
        self.words[row / BITS] >> (row % BITS) & 1 == 1
    }

    /// Reports whether all rows are in the set.
    pub fn is_full(&self) -> bool {
        self.absent == 0
    }

    /// Returns the first row, from row `from` on, that is not in the set.
    pub fn next_absent(&self, from: usize) -> Option<usize> {
        let first = *self.words.get(from / BITS)? | !(u64::MAX << (from % BITS));
        let later = self.words[from / BITS + 1..].iter().copied();
        let mut words = std::iter::once(first).chain(later).zip(from / BITS..);
        let (word, n) = words.find(|&(word, _)| word != u64::MAX)?;
        Some(n * BITS + word.trailing_ones() as usize)
    }

    /// Numbers the rows of the set in their order.
    pub fn numbered(self) -> Result<NumberedRows> {
        let mut count = 0;
        let before = self.words.iter().map(|word| {
            count += word.count_ones();
            count - word.count_ones()
        });
        let before = memory::collect(before, "numbering rows")?;
        Ok(NumberedRows { set: self, before })
    }
}

/// A set of rows and the place of each of them among all rows of the set.
#[derive(Debug)]
pub struct NumberedRows {
    set: RowSet,
    /// The number of rows of the set before those of each word.
    before: Vec<u32>,
}

impl NumberedRows {
    /// Returns how many rows of the set there are up to a row and with it. O(1).
    #[inline]
    pub fn up_to(&self, row: u32) -> u32 {
        let (word, bit) = (row as usize / BITS, row as usize % BITS);
        self.before[word] + (self.set.words[word] & (u64::MAX >> (BITS - 1 - bit))).count_ones()
    }

    /// Returns the number of bytes on the heap.
    pub fn bytes(&self) -> usize {
        memory::bytes(&self.set.words) + memory::bytes(&self.before)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    proptest! {
        #[test]
        fn a_set_of_bits_is_a_set(rows in 0usize..300, chosen in prop::collection::vec(0usize..300, 0..400)) {
            let mut set = RowSet::new(rows).unwrap();
            let chosen: BTreeSet<usize> = chosen.into_iter().filter(|&row| row < rows).collect();
            for &row in chosen.iter().chain(&chosen) {
                set.insert(row);
            }
            for row in 0..rows {
                prop_assert_eq!(set.contains(row), chosen.contains(&row));
            }
            for from in 0..rows + 70 {
                prop_assert_eq!(set.next_absent(from), (from..rows).find(|row| !chosen.contains(row)));
            }
            prop_assert_eq!(set.is_full(), chosen.len() == rows);
            prop_assert_eq!(memory::bytes(&set.words), RowSet::bytes_of(rows));
            let numbered = set.numbered().unwrap();
            for row in 0..rows {
                prop_assert_eq!(numbered.up_to(row as u32) as usize, chosen.range(..=row).count());
            }
        }
    }
}
