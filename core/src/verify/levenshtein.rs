//! Levenshtein distance up to a limit: insertions, deletions and substitutions of characters; and,
//! if asked for, swaps of two neighbours, of which neither is edited again (the restricted distance
//! of Damerau, or optimal string alignment).
//!
//! Bit-parallel: 64 cells of a column of the table are stored in a few machine words (Myers, JACM
//! 1999; Hyyrö, Nordic J. Computing 2003). Only the cells near the diagonal that a path with a
//! distance within the limit can pass through are computed (Ukkonen, 1985), and only between the
//! common prefix and the common suffix. O(|x|·d/64) for texts at distance d, since the limit
//! doubles until it is enough. Memory is needed for one column of the table, and for the text of
//! the rows with the places of its symbols.
//!
//! Neither a common prefix nor the bounds of the band depend on swaps: a swap stays on its
//! diagonal. It skips a column, but the cell between has no greater value than the cell after it.
//!
//! This is our own code because we know no crate that can be stopped: rapidfuzz (MIT, last release
//! 2023) works in much the same way, but takes minutes for two texts of some megabytes, and a
//! server has to end such a call within a second after a request to cancel it.

use std::ops::Range;

use super::column::{Carry, ColumnBefore, DOING, SymbolPage, SymbolPages, WORD, step, swapping_step};
use crate::error::Result;
use crate::executor::Stop;
use crate::memory;

/// A part of the table.
#[derive(Debug)]
struct Inner {
    rows: Range<usize>,
    columns: Range<usize>,
}

/// A text that other texts are compared with. Its characters are the rows of the table.
#[derive(Debug, Default)]
pub struct Pattern {
    symbols: Vec<u32>,
    /// The rows of each symbol. A page is built when the band first reaches it.
    pages: SymbolPages,
    /// The rows whose value is one more than that of the row above; in `less`, one less.
    more: Vec<u64>,
    less: Vec<u64>,
    /// Whether two neighbours that change places are one edit, and the rows whose value is that of
    /// the row above in the column before.
    swaps: bool,
    diagonal: Vec<u64>,
}

impl Pattern {
    /// Sets the pattern to this text. `swaps` says whether a swap of two neighbours is one edit.
    pub fn set(&mut self, text: &str, swaps: bool) -> Result<()> {
        self.swaps = swaps;
        let Self { symbols, pages, more, less, diagonal, .. } = self;
        memory::reserve(symbols, text.chars().count(), DOING)?;
        memory::refill(symbols, text.chars().map(u32::from), DOING)?;
        let words = symbols.len().div_ceil(WORD);
        for column in [more, less, diagonal].into_iter().take(if swaps { 3 } else { 2 }) {
            column.clear();
            memory::fill(column, 0, words, DOING)?;
        }
        pages.begin(words)
    }

    /// Returns the distance of a text of `characters` characters, if it is at most `most`. It is
    /// fastest if the distance is not much greater than `guess`. After a stop, call it again.
    pub fn distance(
        &mut self,
        text: &str,
        characters: u32,
        most: u32,
        guess: u32,
        stop: &Stop,
    ) -> Result<Option<u32>> {
        let columns = characters as usize;
        let (rows, most, guess) = (self.symbols.len(), most as usize, guess as usize);
        let apart = rows.abs_diff(columns);
        // No distance is greater than the length of the longer text.
        let most = most.min(rows.max(columns));
        if apart > most {
            return Ok(None);
        }
        if rows == 0 || columns == 0 {
            return Ok(Some(apart as u32));
        }
        let ascii = text.len() == columns;
        if rows <= WORD {
            let (bytes, symbols) = (text.bytes().map(u32::from), text.chars().map(u32::from));
            let found = match (ascii, self.swaps) {
                (true, false) => self.within_word::<false>(bytes, columns, most)?,
                (true, true) => self.within_word::<true>(bytes, columns, most)?,
                (false, false) => self.within_word::<false>(symbols, columns, most)?,
                (false, true) => self.within_word::<true>(symbols, columns, most)?,
            };
            return Ok(found.map(|distance| distance as u32));
        }
        let inner = self.inner(text, columns);
        if inner.rows.is_empty() || inner.columns.is_empty() {
            return Ok(Some(apart as u32));
        }
        let mut limit = guess.max(apart) + WORD;
        loop {
            // A pass with a limit close to the greatest one would save nothing.
            limit = if limit + limit / 2 >= most { most } else { limit };
            let found = match ascii {
                true => {
                    let text = text.bytes().skip(inner.columns.start).map(u32::from);
                    self.within_band(text, &inner, limit, stop)?
                }
                false => {
                    let text = text.chars().skip(inner.columns.start).map(u32::from);
                    self.within_band(text, &inner, limit, stop)?
                }
            };
            if found.is_some() || limit == most {
                return Ok(found.map(|distance| distance as u32));
            }
            limit *= 2;
        }
    }

    /// Returns the table without the common prefix and suffix, which do not change the distance. If
    /// the prefix and the suffix are all of one text, the table has no rows or no columns.
    fn inner(&self, text: &str, columns: usize) -> Inner {
        let rows = self.symbols.len();
        let is_equal = |(row, symbol): &(&u32, char)| **row == u32::from(*symbol);
        let first = self.symbols.iter().zip(text.chars()).take_while(is_equal).count();
        let behind = self.symbols[first..].iter().rev().zip(text.chars().rev().take(columns - first));
        let last = behind.take_while(is_equal).count();
        // The range begins at the first row of a word, unless nothing is left of the shorter text.
        let begin = if first + last == rows.min(columns) { first } else { first - first % WORD };
        Inner { rows: begin..rows - last, columns: begin..columns - last }
    }

    /// Returns the distance of a text of `columns` symbols from at most 64 rows, if it is at most
    /// `most`.
    fn within_word<const SWAPS: bool>(
        &mut self,
        text: impl Iterator<Item = u32>,
        columns: usize,
        most: usize,
    ) -> Result<Option<usize>> {
        self.pages.make(0, &self.symbols)?;
        let last = self.symbols.len() - 1;
        let (mut more, mut less) = (u64::MAX, 0u64);
        let (mut score, mut before) = (self.symbols.len(), ColumnBefore::NOTHING);
        for (symbol, left) in text.zip((0..columns).rev()) {
            let equal = self.pages.0[0].rows_of(symbol)[0];
            let carry = match SWAPS {
                true => swapping_step(equal, &mut before, &mut more, &mut less, Carry::TOP, &mut 0, last),
                false => step(equal, &mut more, &mut less, Carry::TOP, last),
            };
            score = score + carry.more as usize - carry.less as usize;
            // The value of the last row falls by at most one per column.
            if score > most + left {
                return Ok(None);
            }
        }
        Ok(Some(score))
    }

    /// Returns the distance of a text whose symbols begin with the first column of `inner`, if it
    /// is at most `most`. `most` must not be less than the difference between the numbers of rows
    /// and columns. The first row of `inner` must be the first of a word.
    ///
    /// Cells outside the band have the values that insertions or deletions along the edge of the
    /// band would give: never too small, and right for every path that stays inside the band.
    fn within_band(
        &mut self,
        text: impl Iterator<Item = u32>,
        inner: &Inner,
        most: usize,
        stop: &Stop,
    ) -> Result<Option<usize>> {
        match self.swaps {
            true => self.within_band_by::<true>(text, inner, most, stop),
            false => self.within_band_by::<false>(text, inner, most, stop),
        }
    }

    fn within_band_by<const SWAPS: bool>(
        &mut self,
        mut text: impl Iterator<Item = u32>,
        inner: &Inner,
        most: usize,
        stop: &Stop,
    ) -> Result<Option<usize>> {
        const COLUMNS: usize = 4;
        const CHECK_EVERY: usize = 1 << 18;
        const LOOK_EVERY: usize = 64;
        let (rows, columns) = (inner.rows.len(), inner.columns.len());
        let begin = inner.rows.start / WORD;
        // A path through a cell costs at least the sum of the cell's distances from the diagonals
        // of both corners.
        let (below, above) = ((most + rows - columns) / 2, (most + columns - rows) / 2);
        let word_of = |row: usize| begin + (row - 1) / WORD;
        // The words of the band, and the value of the last row of the last word.
        let (mut first, mut end, mut score) = (begin, begin, 0);
        let (mut steps, mut column, mut last) = (0, 0, SymbolPage::NONE);
        while column < columns {
            // Several columns advance at a time, within the bounds of the first and the last of
            // them, so that the work on one column does not wait for the previous one.
            let symbols: [u32; COLUMNS] = std::array::from_fn(|_| text.next().unwrap_or(SymbolPage::NONE));
            let to = columns.min(column + COLUMNS);
            while end <= word_of((to + below).min(rows)) {
                if end % SymbolPage::WORDS == 0 || end == begin {
                    stop.check()?;
                    self.pages.make(end / SymbolPage::WORDS, &self.symbols)?;
                }
                (self.more[end], self.less[end]) = (u64::MAX, 0);
                if SWAPS {
                    self.diagonal[end] = ColumnBefore::NOTHING.diagonal;
                }
                score += WORD;
                end += 1;
            }
            // A swap of the first row of the band begins in the row above.
            let from = word_of((column + 1).saturating_sub(above + usize::from(SWAPS)).max(1));
            if from / SymbolPage::WORDS > first / SymbolPage::WORDS {
                self.leave_page(first / SymbolPage::WORDS);
            }
            first = from;
            let mut count = |carry: Carry| score = score + carry.more as usize - carry.less as usize;
            if to - column == COLUMNS {
                self.advance::<COLUMNS, SWAPS>(symbols, last, first..end).into_iter().for_each(&mut count);
                last = symbols[COLUMNS - 1];
            } else {
                for &symbol in &symbols[..to - column] {
                    let last = std::mem::replace(&mut last, symbol);
                    count(self.advance::<1, SWAPS>([symbol], last, first..end)[0]);
                }
            }
            column = to;
            steps += COLUMNS * (end - first);
            if steps >= CHECK_EVERY {
                stop.work(std::mem::take(&mut steps));
                stop.check()?;
            }
            if column % LOOK_EVERY == 0
                && self.least(first..end, score, inner.rows.end, columns - column) > most
            {
                return Ok(None);
            }
        }
        let under = !(u64::MAX >> (WORD - 1 - (rows - 1) % WORD));
        let rise = (self.more[end - 1] & under).count_ones() as usize;
        let score = score + (self.less[end - 1] & under).count_ones() as usize - rise;
        Ok((score <= most).then_some(score))
    }

    /// Advances some words by `N` columns, which have these symbols; `last` is that of the column
    /// before. Returns the carry of the last row in each column.
    #[inline]
    fn advance<const N: usize, const SWAPS: bool>(
        &mut self,
        symbols: [u32; N],
        last: u32,
        words: Range<usize>,
    ) -> [Carry; N] {
        let mut swaps = [0; N];
        let mut carries = [Carry::TOP; N];
        let (mut at, end) = (words.start, words.end);
        while at < end {
            let page = at / SymbolPage::WORDS;
            let to = end.min((page + 1) * SymbolPage::WORDS);
            let words = at % SymbolPage::WORDS..at % SymbolPage::WORDS + to - at;
            let rows_of = |symbol| &self.pages.0[page].rows_of(symbol)[words.clone()];
            let (rows, rows_before) = (symbols.map(rows_of), if SWAPS { rows_of(last) } else { &[] });
            let column = self.more[at..to].iter_mut().zip(&mut self.less[at..to]);
            for (word, (more, less)) in column.enumerate() {
                let (mut now_more, mut now_less) = (*more, *less);
                if SWAPS {
                    let diagonal = &mut self.diagonal[at + word];
                    let mut before = ColumnBefore { equal: rows_before[word], diagonal: *diagonal };
                    for n in 0..N {
                        let (equal, above, swap) = (rows[n][word], carries[n], &mut swaps[n]);
                        carries[n] = swapping_step(
                            equal,
                            &mut before,
                            &mut now_more,
                            &mut now_less,
                            above,
                            swap,
                            WORD - 1,
                        );
                    }
                    *diagonal = before.diagonal;
                } else {
                    for n in 0..N {
                        carries[n] = step(rows[n][word], &mut now_more, &mut now_less, carries[n], WORD - 1);
                    }
                }
                (*more, *less) = (now_more, now_less);
            }
            at = to;
        }
        carries
    }

    /// Returns a lower bound of the cost of a path through some words to the end of `rows`, when
    /// `columns_left` columns are left. `score` is the value of the last row of the words.
    fn least(&self, words: Range<usize>, score: usize, rows: usize, columns_left: usize) -> usize {
        let mut bottom = score as i64;
        let mut least = i64::MAX;
        for word in words.rev() {
            let rise = i64::from(self.more[word].count_ones()) - i64::from(self.less[word].count_ones());
            let top = bottom - rise;
            // The value of the row that is n above the last row of the word differs from the value
            // of the last row by at most n, and from that of the row above the word by at most 64 -
            // n. The first bound falls with n and the second rises. The least cost is where they
            // meet. It includes the way to the end of the last column.
            let apart = rows as i64 - ((word + 1) * WORD) as i64 - columns_left as i64;
            let cost = |n: i64| (bottom - n).max(top - WORD as i64 + n) + (apart + n).abs();
            let meet = ((WORD as i64 + rise) / 2).clamp(0, WORD as i64 - 2);
            least = least.min(cost(meet)).min(cost(meet + 1));
            bottom = top;
        }
        least.max(0) as usize
    }

    /// Drops a page that the band has left, if the text is very long.
    fn leave_page(&mut self, number: usize) {
        const VERY_LONG: usize = 1 << 20;
        if self.symbols.len() > VERY_LONG {
            self.pages.0[number] = SymbolPage::default();
        }
    }
}

#[cfg(test)]
mod tests;
