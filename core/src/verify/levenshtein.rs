//! Levenshtein distance up to a limit: insertions, deletions and substitutions of characters.
//!
//! Bit-parallel: 64 cells of a column of the table are stored in a few machine words (Myers, JACM
//! 1999; Hyyrö, Nordic J. Computing 2003). Only the cells near the diagonal that a path with a
//! distance within the limit can pass through are computed (Ukkonen, 1985), and only between the
//! common prefix and the common suffix. O(|x|·d/64) for texts at distance d, since the limit
//! doubles until it is enough. Memory is needed for one column of the table, and for the text of
//! the rows with the places of its symbols.
//!
//! This is our own code because we know no crate that can be stopped: rapidfuzz (MIT, last release
//! 2023) works in much the same way, but takes minutes for two texts of some megabytes, and a
//! server has to end such a call within a second after a request to cancel it.

use std::ops::Range;

use super::column::{Carry, DOING, SymbolPage, SymbolPages, WORD, step};
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
}

impl Pattern {
    /// Sets the pattern to this text.
    pub fn set(&mut self, text: &str) -> Result<()> {
        let Self { symbols, pages, more, less } = self;
        memory::reserve(symbols, text.chars().count(), DOING)?;
        memory::refill(symbols, text.chars().map(u32::from), DOING)?;
        let words = symbols.len().div_ceil(WORD);
        for column in [more, less] {
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
            let found = match ascii {
                true => self.within_word(text.bytes().map(u32::from), columns, most)?,
                false => self.within_word(text.chars().map(u32::from), columns, most)?,
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
    fn within_word(
        &mut self,
        text: impl Iterator<Item = u32>,
        columns: usize,
        most: usize,
    ) -> Result<Option<usize>> {
        self.pages.make(0, &self.symbols)?;
        let last = self.symbols.len() - 1;
        let (mut more, mut less) = (u64::MAX, 0u64);
        let mut score = self.symbols.len();
        for (symbol, left) in text.zip((0..columns).rev()) {
            let carry = step(self.pages.0[0].rows_of(symbol)[0], &mut more, &mut less, Carry::TOP, last);
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
        let mut steps = 0;
        let mut column = 0;
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
                score += WORD;
                end += 1;
            }
            let from = word_of((column + 1).saturating_sub(above).max(1));
            if from / SymbolPage::WORDS > first / SymbolPage::WORDS {
                self.leave_page(first / SymbolPage::WORDS);
            }
            first = from;
            let mut count = |carry: Carry| score = score + carry.more as usize - carry.less as usize;
            if to - column == COLUMNS {
                self.advance(symbols, first, end).into_iter().for_each(&mut count);
            } else {
                let rest = &symbols[..to - column];
                rest.iter().for_each(|&symbol| count(self.advance([symbol], first, end)[0]));
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

    /// Advances the words `first..end` by `N` columns, which have these symbols. Returns the carry
    /// of the last row in each column.
    #[inline]
    fn advance<const N: usize>(&mut self, symbols: [u32; N], first: usize, end: usize) -> [Carry; N] {
        let mut carries = [Carry::TOP; N];
        let mut at = first;
        while at < end {
            let page = at / SymbolPage::WORDS;
            let to = end.min((page + 1) * SymbolPage::WORDS);
            let words = at % SymbolPage::WORDS..at % SymbolPage::WORDS + to - at;
            let rows = symbols.map(|symbol| &self.pages.0[page].rows_of(symbol)[words.clone()]);
            let column = self.more[at..to].iter_mut().zip(&mut self.less[at..to]);
            for (word, (more, less)) in column.enumerate() {
                let (mut now_more, mut now_less) = (*more, *less);
                for n in 0..N {
                    carries[n] = step(rows[n][word], &mut now_more, &mut now_less, carries[n], WORD - 1);
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
mod tests {
    use super::*;
    use crate::error::Error;
    use crate::tests::edited_texts::edited;
    use proptest::prelude::*;

    /// Fills in the table cell by cell, as in the definition.
    fn table(x: &[char], y: &[char]) -> u32 {
        let mut row: Vec<u32> = (0..=y.len() as u32).collect();
        for (i, a) in x.iter().enumerate() {
            let mut diagonal = row[0];
            row[0] = i as u32 + 1;
            for (j, b) in y.iter().enumerate() {
                let cost = (diagonal + u32::from(a != b)).min(row[j] + 1).min(row[j + 1] + 1);
                diagonal = std::mem::replace(&mut row[j + 1], cost);
            }
        }
        row[y.len()]
    }

    fn check(x: &[char], y: &[char], limits: impl IntoIterator<Item = u32>) {
        let expected = table(x, y);
        let stop = Stop::default();
        let around = [0, expected.saturating_sub(1), expected, expected + 1, u32::MAX];
        let limits: Vec<u32> = limits.into_iter().chain(around).collect();
        for (x, y) in [(x, y), (y, x)] {
            let text: String = y.iter().collect();
            let mut pattern = Pattern::default();
            pattern.set(&x.iter().collect::<String>()).unwrap();
            for &most in &limits {
                let wanted = (expected <= most).then_some(expected);
                for guess in [0, expected / 2, expected, u32::MAX >> 1] {
                    let found = pattern.distance(&text, y.len() as u32, most, guess, &stop).unwrap();
                    assert_eq!(found, wanted, "at most {most}");
                }
                // Checks the band itself, without a narrower one before it.
                let most = (most as usize).min(x.len().max(y.len()));
                if !x.is_empty() && !y.is_empty() && x.len().abs_diff(y.len()) <= most {
                    let whole = Inner { rows: 0..x.len(), columns: 0..y.len() };
                    let found =
                        pattern.within_band(y.iter().map(|&c| c.into()), &whole, most, &stop).unwrap();
                    assert_eq!(found, wanted.filter(|&d| d as usize <= most).map(|d| d as usize), "{most}");
                }
            }
        }
    }

    proptest! {
        #![proptest_config(crate::cases::cases(400))]

        #[test]
        fn equals_the_table((x, y) in edited(400, 40), limits in prop::collection::vec(0..300u32, 4)) {
            check(&x, &y, limits);
        }

        #[test]
        fn equals_the_table_for_unrelated_texts(
            x in prop::collection::vec(prop::char::range('a', 'c'), 0..300),
            y in prop::collection::vec(prop::char::range('a', 'c'), 0..300),
            limits in prop::collection::vec(0..300u32, 4),
        ) {
            check(&x, &y, limits);
        }
    }

    fn distance(x: &str, y: &str) -> u32 {
        let mut pattern = Pattern::default();
        pattern.set(x).unwrap();
        let characters = y.chars().count() as u32;
        pattern.distance(y, characters, u32::MAX, 0, &Stop::default()).unwrap().unwrap()
    }

    #[test]
    fn small_texts() {
        let known =
            [("kitten", "sitting", 3), ("", "", 0), ("", "abc", 3), ("aaac", "aabc", 1), ("é字", "e字字", 2)];
        for (x, y, expected) in known {
            assert_eq!((distance(x, y), distance(y, x)), (expected, expected));
        }
    }

    #[test]
    fn edges_of_words_and_pages() {
        let letters = |n: u32, of: u32| -> Vec<char> {
            (0..n).map(|i| char::from_u32(97 + i * i % of).unwrap()).collect()
        };
        for n in [1, 2, 63, 64, 65, 127, 128, 129, 192, 200] {
            let (x, y) = (letters(n, 7), letters(n, 5));
            check(&x, &y, 0..n);
            check(&x, &y[n as usize / 3..], 0..n);
            // These symbols share one slot of the hash table.
            let z: Vec<char> = (0..n).map(|i| char::from_u32((i % 16) << 14).unwrap_or('z')).collect();
            check(&z, &x, [n / 2]);
        }
        for n in [1023, 1024, 1025, 2500] {
            let mut y = letters(n, 7);
            y.drain(500..530);
            y.splice(900..900, "inserted".chars());
            check(&letters(n, 7), &y, [20, 38, 600]);
        }
    }

    #[test]
    fn answers_to_stop() {
        let text = |seed: u64| -> String {
            (0..100_000).map(|n| char::from(b'a' + (crate::hash::mix(seed + n) % 26) as u8)).collect()
        };
        let (x, y) = (text(0), text(1 << 32));
        let stop = Stop::default();
        stop.request();
        let mut pattern = Pattern::default();
        pattern.set(&x).unwrap();
        assert_eq!(pattern.distance(&y, 100_000, u32::MAX, 0, &stop), Err(Error::Stopped));
        assert_eq!(pattern.distance(&y[..99_000], 99_000, 20_000, 0, &Stop::default()), Ok(None));
    }
}
