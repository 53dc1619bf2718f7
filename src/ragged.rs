//! Rows of different lengths, or strings, concatenated: one vector of values, and where each row begins in it.

use std::ops::Range;

use crate::error::Result;
use crate::memory;
use crate::prefetch::prefetch;

/// Rows of different lengths.
#[derive(Debug, Clone)]
pub struct Ragged<T> {
    /// The values of all rows; those after the last row are the row that [`Ragged::close`] makes.
    pub values: Vec<T>,
    /// Where each row begins, and where the last one ends; empty before the first row.
    starts: Vec<usize>,
}

impl<T> Default for Ragged<T> {
    fn default() -> Self {
        Self { values: Vec::new(), starts: Vec::new() }
    }
}

impl<T> Ragged<T> {
    /// Rows of these values; `starts` says where each begins and where the last ends.
    pub fn new(values: Vec<T>, starts: Vec<usize>) -> Self {
        debug_assert!(starts.last().is_none_or(|&end| end <= values.len()));
        Self { values, starts }
    }

    /// How many rows there are.
    #[inline]
    pub fn len(&self) -> usize {
        self.starts.len().saturating_sub(1)
    }

    /// Whether there is no row.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Where the values of a row are among all.
    #[inline]
    pub fn range(&self, row: usize) -> Range<usize> {
        self.starts[row]..self.starts[row + 1]
    }

    /// Where the values of some consecutive rows are among all.
    pub fn range_of(&self, rows: Range<usize>) -> Range<usize> {
        self.starts[rows.start]..self.starts[rows.end]
    }

    /// Where a row that is made next begins.
    pub fn end(&self) -> usize {
        self.starts.last().copied().unwrap_or(0)
    }

    /// A row.
    #[inline]
    pub fn get(&self, row: usize) -> &[T] {
        &self.values[self.range(row)]
    }

    /// Asks for what says where a row is.
    #[inline]
    pub fn prefetch_range(&self, row: usize) {
        prefetch(&self.starts, row);
    }

    /// Asks for the first value of a row, if there is such a row.
    #[inline]
    pub fn prefetch(&self, row: usize) {
        if let Some(&start) = self.starts.get(row) {
            prefetch(&self.values, start);
        }
    }

    /// The last row; empty where there is none.
    pub fn last(&self) -> &[T] {
        self.len().checked_sub(1).map_or(&[], |last| self.get(last))
    }

    /// All rows.
    pub fn iter(&self) -> impl Iterator<Item = &[T]> {
        self.starts.windows(2).map(|ends| &self.values[ends[0]..ends[1]])
    }

    /// All rows, to be changed.
    pub fn iter_mut(&mut self) -> impl Iterator<Item = &mut [T]> {
        let mut rest = self.values.as_mut_slice();
        self.starts.windows(2).map(move |ends| {
            let (row, after) = std::mem::take(&mut rest).split_at_mut(ends[1] - ends[0]);
            rest = after;
            row
        })
    }

    /// Makes room for as many further rows, so that [`Ragged::close`] finds it.
    pub fn reserve(&mut self, rows: usize, doing: &'static str) -> Result<()> {
        // The first row has two ends.
        let ends = rows + usize::from(self.starts.is_empty());
        memory::reserve(&mut self.starts, ends, doing)
    }

    /// Makes a row of the values after the last one.
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

    /// Removes all rows; their space stays.
    pub fn clear(&mut self) {
        self.values.clear();
        self.starts.clear();
    }

    /// Bytes on the heap.
    pub fn bytes(&self) -> usize {
        memory::bytes(&self.values) + memory::bytes(&self.starts)
    }
}

impl<T: Copy> Ragged<T> {
    /// Adds a row.
    pub fn push(&mut self, row: &[T], doing: &'static str) -> Result<()> {
        self.reserve(1, doing)?;
        memory::extend(&mut self.values, row, doing)?;
        self.close(doing)
    }

    /// A copy of some consecutive rows.
    pub fn copy(&self, rows: Range<usize>, doing: &'static str) -> Result<Self> {
        let (mut values, mut starts) = (Vec::new(), Vec::new());
        let range = self.range_of(rows.clone());
        memory::extend(&mut starts, &self.starts[rows.start..=rows.end], doing)?;
        starts.iter_mut().for_each(|start| *start -= range.start);
        memory::extend(&mut values, &self.values[range], doing)?;
        Ok(Self { values, starts })
    }

    /// Deals items out to `rows` rows: `items` are the row of each and its value, the same when they are asked for
    /// again. Within a row they stay in order. O(rows + items).
    pub fn dealt<I>(rows: usize, items: impl Fn() -> I, doing: &'static str) -> Result<Self>
    where
        I: Iterator<Item = (usize, T)>,
        T: Default,
    {
        // The count of each row goes two places up, so that its start runs along one place up and ends where the next
        // row begins.
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
    /// Where each ends.
    ends: Vec<usize>,
}

impl RaggedText {
    /// How many there are.
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// One of them.
    #[inline]
    pub fn get(&self, string: usize) -> &str {
        let start = string.checked_sub(1).map_or(0, |before| self.ends[before]);
        &self.text[start..self.ends[string]]
    }

    /// Adds one.
    pub fn push(&mut self, string: &str, doing: &'static str) -> Result<()> {
        memory::reserve(&mut self.ends, 1, doing)?;
        memory::reserve_text(&mut self.text, string.len(), doing)?;
        self.text.push_str(string);
        self.ends.push(self.text.len());
        Ok(())
    }

    /// Bytes on the heap.
    pub fn bytes(&self) -> usize {
        self.text.capacity() + memory::bytes(&self.ends)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn rows_come_back(rows in prop::collection::vec(prop::collection::vec(any::<u8>(), 0..4), 0..9), cut: [usize; 2]) {
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
                let [a, b] = cut.map(|cut| cut % (rows.len() + 1));
                let some = a.min(b)..a.max(b);
                prop_assert!(ragged.copy(some.clone(), "testing").unwrap().iter().eq(rows[some].iter()));
                ragged.pop();
                prop_assert!(ragged.iter().eq(rows[..rows.len() - 1].iter()));
            }
            ragged.clear();
            prop_assert!(ragged.is_empty() && ragged.values.is_empty());
        }

        #[test]
        fn strings_come_back(strings in prop::collection::vec("[a字]{0,3}", 0..9)) {
            let mut all = RaggedText::default();
            prop_assert!(all.is_empty());
            strings.iter().for_each(|string| all.push(string, "testing").unwrap());
            prop_assert_eq!(all.len(), strings.len());
            prop_assert!(strings.iter().enumerate().all(|(n, string)| all.get(n) == string));
        }
    }
}
