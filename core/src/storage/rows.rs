//! Rows of different lengths, or strings, concatenated: one vector of values, and the offset of
//! each row in it.

use std::ops::Range;

use crate::error::Result;
use crate::memory;

/// Rows of different lengths.
#[derive(Debug, Clone)]
pub struct Ragged<T> {
    /// The values of all rows. Values after the last row belong to the row that [`Ragged::close`]
    /// makes next.
    pub values: Vec<T>,
    /// The start of each row, and the end of the last one. Empty before the first row.
    starts: Vec<usize>,
}

impl<T> Default for Ragged<T> {
    fn default() -> Self {
        Self { values: Vec::new(), starts: Vec::new() }
    }
}

impl<T> Ragged<T> {
    /// Returns rows of these values. `starts` holds the start of each row and the end of the last
    /// one.
    pub fn new(values: Vec<T>, starts: Vec<usize>) -> Self {
        debug_assert!(starts.last().is_none_or(|&end| end <= values.len()));
        Self { values, starts }
    }

    /// Returns the number of rows.
    #[inline]
    pub fn len(&self) -> usize {
        self.starts.len().saturating_sub(1)
    }

    /// Reports whether there are no rows.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns the range of a row's values among all values.
    #[inline]
    pub fn range(&self, row: usize) -> Range<usize> {
        self.starts[row]..self.starts[row + 1]
    }

    /// Returns the range of the values of consecutive rows among all values.
    pub fn range_of(&self, rows: Range<usize>) -> Range<usize> {
        self.starts[rows.start]..self.starts[rows.end]
    }

    /// Returns the start of the row that is made next.
    pub fn end(&self) -> usize {
        self.starts.last().copied().unwrap_or(0)
    }

    /// Returns a row.
    #[inline]
    pub fn get(&self, row: usize) -> &[T] {
        &self.values[self.range(row)]
    }

    /// Returns the last row, or an empty one if there are no rows.
    pub fn last(&self) -> &[T] {
        self.len().checked_sub(1).map_or(&[], |last| self.get(last))
    }

    /// Iterates over all rows.
    pub fn iter(&self) -> impl Iterator<Item = &[T]> + Clone {
        self.starts.windows(2).map(|ends| &self.values[ends[0]..ends[1]])
    }

    /// Iterates over all rows mutably.
    pub fn iter_mut(&mut self) -> impl Iterator<Item = &mut [T]> {
        let mut rest = self.values.as_mut_slice();
        self.starts.windows(2).map(move |ends| {
            let (row, after) = std::mem::take(&mut rest).split_at_mut(ends[1] - ends[0]);
            rest = after;
            row
        })
    }

    /// Makes room for `rows` further rows, so that [`Ragged::close`] does not have to allocate.
    pub fn reserve(&mut self, rows: usize, doing: &'static str) -> Result<()> {
        // The first row needs two entries.
        let ends = rows + usize::from(self.starts.is_empty());
        memory::reserve(&mut self.starts, ends, doing)
    }

    /// Makes a row of the values after the last row.
    pub fn close(&mut self, doing: &'static str) -> Result<()> {
        self.reserve(1, doing)?;
        if self.starts.is_empty() {
            self.starts.push(0);
        }
        self.starts.push(self.values.len());
        Ok(())
    }

    /// Removes the last row.
    pub fn pop(&mut self) {
        self.starts.pop();
        self.values.truncate(self.end());
    }

    /// Removes all rows; their space stays allocated.
    pub fn clear(&mut self) {
        self.values.clear();
        self.starts.clear();
    }

    /// Returns the number of bytes on the heap.
    pub fn bytes(&self) -> usize {
        memory::bytes(&self.values) + memory::bytes(&self.starts)
    }
}

impl<T: Copy> Ragged<T> {
    /// Appends a row.
    pub fn push(&mut self, row: &[T], doing: &'static str) -> Result<()> {
        self.reserve(1, doing)?;
        memory::extend(&mut self.values, row, doing)?;
        self.close(doing)
    }

    /// Distributes items over `rows` rows. `items` returns each item's row and value, and returns
    /// the same items whenever it is called. Items of a row stay in order. O(rows + items).
    pub fn dealt<I>(rows: usize, items: impl Fn() -> I, doing: &'static str) -> Result<Self>
    where
        I: Iterator<Item = (usize, T)>,
        T: Default,
    {
        // At first, the number of items of each row is stored at the row's index plus 2. After the
        // summation, the start of each row is at its index plus 1. While items are placed, this
        // start advances until it is the start of the next row.
        let mut starts = memory::filled(0, rows + 2, doing)?;
        items().for_each(|(row, _)| starts[row + 2] += 1);
        (1..starts.len()).for_each(|row| starts[row] += starts[row - 1]);
        let mut values = memory::filled(T::default(), starts[rows + 1], doing)?;
        for (row, value) in items() {
            values[starts[row + 1]] = value;
            starts[row + 1] += 1;
        }
        starts.pop();
        Ok(Self { values, starts })
    }
}

/// Strings, concatenated.
#[derive(Debug, Default)]
pub struct RaggedText {
    text: String,
    /// The end of each string.
    ends: Vec<usize>,
}

impl RaggedText {
    /// Returns the number of strings.
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// Returns a string.
    #[inline]
    pub fn get(&self, string: usize) -> &str {
        let start = string.checked_sub(1).map_or(0, |before| self.ends[before]);
        &self.text[start..self.ends[string]]
    }

    /// Returns all strings, concatenated.
    pub fn all(&self) -> &str {
        &self.text
    }

    /// Appends a string.
    pub fn push(&mut self, string: &str, doing: &'static str) -> Result<()> {
        memory::reserve(&mut self.ends, 1, doing)?;
        memory::reserve_text(&mut self.text, string.len(), doing)?;
        self.text.push_str(string);
        self.ends.push(self.text.len());
        Ok(())
    }

    /// Returns the number of bytes on the heap.
    pub fn bytes(&self) -> usize {
        self.text.capacity() + memory::bytes(&self.ends)
    }
}

/// Returns the start of each bucket in a sequence of items that are ordered by bucket, followed by
/// the end of the last bucket. `of` yields the bucket of each item.
pub fn starts(buckets: usize, of: impl Iterator<Item = usize>, doing: &'static str) -> Result<Vec<usize>> {
    let mut starts = memory::filled(0, buckets + 1, doing)?;
    of.for_each(|bucket| starts[bucket + 1] += 1);
    (1..starts.len()).for_each(|bucket| starts[bucket] += starts[bucket - 1]);
    Ok(starts)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn rows_come_back(rows in prop::collection::vec(prop::collection::vec(any::<u8>(), 0..4), 0..9)) {
            let mut ragged = Ragged::default();
            prop_assert!(ragged.is_empty() && ragged.last().is_empty() && ragged.end() == 0);
            for row in &rows {
                ragged.push(row, "testing").unwrap();
                prop_assert_eq!(ragged.last(), row);
            }
            prop_assert!(ragged.iter().eq(rows.iter()) && ragged.len() == rows.len());
            prop_assert!(rows.iter().enumerate().all(|(n, row)| ragged.get(n) == row));

            let items = || rows.iter().enumerate().flat_map(|(n, row)| row.iter().map(move |&value| (n, value)));
            let dealt = Ragged::dealt(rows.len(), items, "testing").unwrap();
            prop_assert!(dealt.iter().eq(rows.iter()));

            if !rows.is_empty() {
                ragged.pop();
                prop_assert!(ragged.iter().eq(rows[..rows.len() - 1].iter()));
            }
            ragged.clear();
            prop_assert!(ragged.is_empty() && ragged.values.is_empty());
        }

        #[test]
        fn strings_come_back(strings in prop::collection::vec("[a字]{0,3}", 0..9)) {
            let mut all = RaggedText::default();
            strings.iter().for_each(|string| all.push(string, "testing").unwrap());
            prop_assert_eq!(all.len(), strings.len());
            prop_assert!(strings.iter().enumerate().all(|(n, string)| all.get(n) == string));
        }
    }
}
