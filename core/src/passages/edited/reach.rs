//! How far a common run of two texts can be continued over edits, in both directions.
//!
//! For each number of edits and each diagonal, the furthest cell is found (Landau, Vishkin, *Fast
//! parallel and serial approximate string matching*, 1989). O(k²), and the words that are equal.
//! This is a bound that rules out most runs that two texts have by chance; it may be computed of
//! codes of words: equal words have equal codes. A continuation ends at the last two equal words
//! before such a cell, since along a diagonal the edits never become fewer.

use std::ops::Range;

use super::EditedWords;
use crate::error::Result;
use crate::executor::Stop;
use crate::memory;

const DOING: &str = "comparing edited passages";
/// A cell that no such number of edits reaches.
const NONE: i64 = i64::MIN / 2;

/// A longest common run of two texts: its first words, and the words after it.
#[derive(Debug, Clone, Copy)]
pub(super) struct SeedRun {
    pub from: [usize; 2],
    pub to: [usize; 2],
}

impl SeedRun {
    /// Returns the run that has two places, which may be empty.
    pub(super) fn around<T: Eq>([left, right]: [&[T]; 2], [i, j]: [usize; 2]) -> Self {
        let after = left[i..].iter().zip(&right[j..]).take_while(|(a, b)| a == b).count();
        let before = left[..i].iter().rev().zip(right[..j].iter().rev()).take_while(|(a, b)| a == b).count();
        Self { from: [i - before, j - before], to: [i + after, j + after] }
    }

    /// Returns the number of words.
    pub(super) fn length(&self) -> usize {
        self.to[0] - self.from[0]
    }

    /// Returns the number of words of both texts that the two continuations need to have.
    pub(super) fn needed(&self, edits: EditedWords) -> usize {
        (2 * edits.min_length as usize).saturating_sub(2 * self.length())
    }

    /// Returns the words after the run and before it.
    pub(super) fn ways<'a, T>(&self, [left, right]: [&'a [T]; 2]) -> [[Way<'a, T>; 2]; 2] {
        let [after, before] =
            [[&left[self.to[0]..], &right[self.to[1]..]], [&left[..self.from[0]], &right[..self.from[1]]]];
        [
            after.map(|words| Way { words, backwards: false }),
            before.map(|words| Way { words, backwards: true }),
        ]
    }
}

/// The words of a text after a run, or before it from the last one on.
#[derive(Debug, Clone, Copy)]
pub(super) struct Way<'a, T> {
    pub words: &'a [T],
    backwards: bool,
}

impl<T: Copy> Way<'_, T> {
    #[inline]
    pub(super) fn word(&self, n: usize) -> T {
        self.words[if self.backwards { self.words.len() - 1 - n } else { n }]
    }
}

/// The continuations of a run in both directions.
#[derive(Debug, Default)]
pub(super) struct RunReach {
    ahead: Furthest,
    behind: Furthest,
}

impl RunReach {
    /// Reports whether a run may be continued to enough words by not too many edits, whatever the
    /// last words of its continuations.
    pub(super) fn suffices<T: Copy + Eq>(
        &mut self,
        words: [&[T]; 2],
        run: &SeedRun,
        edits: EditedWords,
    ) -> Result<bool> {
        let ([forth, back], needed) = (run.ways(words), run.needed(edits) as i64);
        self.ahead.find(forth, edits.most())?;
        self.behind.find(back, edits.most())?;
        let behind = self.behind.longest.iter().rev();
        Ok(self.ahead.longest.iter().zip(behind).any(|(ahead, behind)| ahead + behind >= needed))
    }

    /// Returns the places of a run that [`Self::suffices`] with all its continuations of enough
    /// words, if there are any.
    pub(super) fn stretch<T: Copy + Eq>(
        &mut self,
        words: [&[T]; 2],
        run: &SeedRun,
        edits: EditedWords,
        stop: &Stop,
    ) -> Result<Option<[Range<usize>; 2]>> {
        let ([forth, back], needed) = (run.ways(words), run.needed(edits) as i64);
        self.ahead.end(forth, stop)?;
        self.behind.end(back, stop)?;
        let both = self.ahead.with(&self.behind, needed).zip(self.behind.with(&self.ahead, needed));
        Ok(both
            .map(|(forth, back)| [0, 1].map(|side| run.from[side] - back[side]..run.to[side] + forth[side])))
    }
}

/// The furthest cells in one direction.
#[derive(Debug, Default)]
struct Furthest {
    /// For each number of edits and each diagonal, the words of the left text up to the furthest
    /// cell of at most so many edits. A diagonal on each side stays empty.
    cells: Vec<i64>,
    /// For each number of edits, the greatest number of words of both texts.
    longest: Vec<i64>,
}

impl Furthest {
    /// Finds the cells of at most `most` edits.
    fn find<T: Copy + Eq>(&mut self, [left, right]: [Way<'_, T>; 2], most: usize) -> Result<()> {
        let Self { cells, longest } = self;
        let (middle, width) = (most + 1, 2 * most + 3);
        memory::refill(cells, std::iter::repeat_n(NONE, middle * width), DOING)?;
        longest.clear();
        memory::reserve(longest, middle, DOING)?;
        let (rows, columns) = (left.words.len() as i64, right.words.len() as i64);
        for edits in 0..=most {
            let (fewer, cells) = cells[edits.saturating_sub(1) * width..].split_at_mut(width);
            let mut words = 0;
            for d in middle - edits..=middle + edits {
                let diagonal = d as i64 - middle as i64;
                let last = rows.min(columns - diagonal);
                let first = match edits {
                    0 => 0,
                    _ => (fewer[d] + 1).max(fewer[d - 1]).max(fewer[d + 1] + 1).min(last),
                };
                if first >= 0 && first + diagonal >= 0 {
                    let equal = (first..last)
                        .take_while(|&row| left.word(row as usize) == right.word((row + diagonal) as usize));
                    let cell = first + equal.count() as i64;
                    if edits == 0 {
                        fewer[d] = cell
                    } else {
                        cells[d] = cell
                    }
                    words = words.max(2 * cell + diagonal);
                }
            }
            longest.push(words);
        }
        Ok(())
    }

    /// Goes back from the cells to the furthest ends of continuations: after two equal words. With
    /// one, a chance word of the text around a passage would often be part of it.
    fn end<T: Copy + Eq>(&mut self, [left, right]: [Way<'_, T>; 2], stop: &Stop) -> Result<()> {
        let Self { cells, longest } = self;
        let (middle, width) = (longest.len(), 2 * longest.len() + 1);
        let is_end = |row: i64, column: i64| {
            row > 1
                && column > 1
                && (1..=2).all(|n| left.word((row - n) as usize) == right.word((column - n) as usize))
        };
        longest.fill(0);
        for d in 1..width - 1 {
            let diagonal = d as i64 - middle as i64;
            let mut end = 0;
            let mut before = 0;
            for (longest, cell) in longest.iter_mut().zip(cells[d..].iter_mut().step_by(width)) {
                let reached = *cell;
                let mut row = reached;
                while row > before && !is_end(row, row + diagonal) {
                    stop.check_every(row as usize, 1 << 8)?;
                    row -= 1;
                }
                if row > before {
                    end = row;
                }
                before = before.max(reached);
                *cell = end;
                if end > 0 {
                    *longest = (*longest).max(2 * end + diagonal);
                }
            }
        }
        Ok(())
    }

    /// Returns how far the continuations reach in both texts that together with one in the other
    /// direction have at least `needed` words and not too many edits, if there are any.
    fn with(&self, other: &Self, needed: i64) -> Option<[usize; 2]> {
        let (middle, width) = (self.longest.len(), 2 * self.longest.len() + 1);
        let ends =
            self.cells.chunks_exact(width).zip(other.longest.iter().rev()).flat_map(|(cells, other)| {
                let ends = cells.iter().enumerate().filter(|&(_, &row)| row > 0);
                let ends = ends.map(|(d, &row)| [row, row + d as i64 - middle as i64]);
                ends.chain([[0; 2]]).filter(move |end| end[0] + end[1] + other >= needed)
            });
        ends.reduce(|a, b| [a[0].max(b[0]), a[1].max(b[1])]).map(|end| end.map(|words| words as usize))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::edited_texts::{swapped, table};
    use proptest::prelude::*;

    proptest! {
        #![proptest_config(crate::cases::cases(300))]

        /// The furthest cells are those of the table, of words and of codes at least as far.
        #[test]
        fn cells_are_those_of_the_table((x, y) in swapped(14), most in 0..5_usize, backwards: bool) {
            let mut furthest = Furthest::default();
            furthest.find([&x, &y].map(|words| Way { words: words.as_slice(), backwards }), most).unwrap();
            let [x, y] = [x, y].map(|mut words| {
                if backwards {
                    words.reverse();
                }
                words
            });
            let mut expected = vec![0_i64; most + 1];
            for i in 0..=x.len() {
                for j in 0..=y.len() {
                    let edits = table(&x[..i], &y[..j], false) as usize;
                    expected.iter_mut().skip(edits).for_each(|longest| *longest = (*longest).max((i + j) as i64));
                }
            }
            prop_assert_eq!(&furthest.longest, &expected);
            let codes = [&x, &y].map(|words| words.iter().map(|&c| c as u8 % 3).collect::<Vec<u8>>());
            furthest.find([&codes[0], &codes[1]].map(|words| Way { words: words.as_slice(), backwards: false }), most).unwrap();
            prop_assert!(furthest.longest.iter().zip(&expected).all(|(codes, words)| codes >= words));
        }
    }
}
