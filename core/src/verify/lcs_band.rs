//! The longest common subsequence of two texts, bit-parallel: 64 cells of a column of the table are
//! stored in a machine word (Crochemore, Iliopoulos, Pinzon, Reid, IPL 80, 2001; Hyyrö, 2004). Only
//! the cells near the diagonal that a path with few enough insertions and deletions can pass
//! through are computed.
//!
//! A set bit of a column means that the value of its cell equals the value of the cell above. A
//! clear bit means that the value is one more, so each clear bit adds one to the length.
//! O(|x|·d/64) for texts at distance d. Rows above the band stay as they were, and a row below the
//! band is taken to be equal to the row above it. So the result is the length of some common
//! subsequence, and of the longest one whenever a shortest edit script stays within the band.

use std::ops::Range;

use super::column::{DOING, SymbolPage, SymbolPages, WORD};
use crate::error::Result;
use crate::executor::Stop;
use crate::memory;

/// The number of columns that advance together, so that the work on one column does not wait for
/// the previous one.
const COLUMNS: usize = 8;

/// The state of a comparison. Its space is reused.
#[derive(Debug, Default)]
pub struct Band {
    pages: SymbolPages,
    /// The bits of a column.
    flat: Vec<u64>,
    kept: Vec<u64>,
    /// The places of the kept columns, for each batch of columns that advance together.
    places: Vec<KeptColumns>,
}

/// The words of the current column that are in the band.
#[derive(Debug, Clone, Copy, Default)]
struct WordRange {
    first: usize,
    end: usize,
}

/// Kept columns: their first word, their width in words, and the place of the first column in
/// `Band::kept`.
#[derive(Debug, Clone, Copy)]
struct KeptColumns {
    first: usize,
    width: usize,
    place: usize,
}

/// A saved column, from which the computation can start again.
#[derive(Debug)]
struct Saved {
    column: usize,
    words: WordRange,
    flat: Vec<u64>,
}

/// An alignment that is read from its end.
struct Trace<'a> {
    /// The current row.
    row: usize,
    /// The number of words that kept columns may take.
    budget: usize,
    stop: &'a Stop,
    /// Receives the places of each pair of matched symbols.
    each: &'a mut dyn FnMut(usize, usize),
}

/// Two texts, which are the rows and the columns of the table, and the diagonals of the band.
#[derive(Debug, Clone, Copy)]
struct Matrix<'a> {
    a: &'a [u32],
    b: &'a [u32],
    /// The least and the greatest difference row - column in the band.
    diagonals: (i64, i64),
    limit: usize,
}

impl<'a> Matrix<'a> {
    fn new(a: &'a [u32], b: &'a [u32], limit: usize) -> Self {
        let apart = a.len() as i64 - b.len() as i64;
        let spare = (limit as i64 - apart.abs()) / 2;
        Self { a, b, diagonals: (apart.min(0) - spare, apart.max(0) + spare), limit }
    }

    /// Returns the words that the columns after `column` up to `to` need.
    fn words(&self, column: usize, to: usize) -> WordRange {
        let row = |column: usize, diagonal: i64| (column as i64 + diagonal).clamp(1, self.a.len() as i64);
        let word = |row: i64| (row as usize - 1) / WORD;
        WordRange {
            first: word(row(column + 1, self.diagonals.0)),
            end: word(row(to.min(self.b.len()), self.diagonals.1)) + 1,
        }
    }
}

impl Band {
    /// Returns the number of insertions and deletions between two texts, if it is at most `limit`.
    /// The limit is not less than the difference of their lengths. Neither text is empty. With
    /// `KEEP` it keeps all columns, so that [`Band::read`] can read an alignment from them.
    pub fn distance<const KEEP: bool>(
        &mut self,
        a: &[u32],
        b: &[u32],
        limit: usize,
        stop: &Stop,
    ) -> Result<Option<usize>> {
        let table = Matrix::new(a, b, limit);
        self.begin(&table)?;
        let mut words = WordRange::default();
        if !self.advance::<KEEP>(&table, 0, b.len(), &mut words, stop)? {
            return Ok(None);
        }
        let length: usize = self.flat.iter().map(|word| word.count_zeros() as usize).sum();
        let distance = a.len() + b.len() - 2 * length;
        Ok((distance <= limit).then_some(distance))
    }

    /// Returns the greatest number of words that the columns of a band take.
    pub fn words(a: &[u32], b: &[u32], limit: usize) -> usize {
        let width = (limit / WORD + 2).min(a.len() / WORD + 1);
        width.saturating_mul(b.len().next_multiple_of(COLUMNS))
    }

    /// Reads an alignment of two texts that are at most `limit` apart, by the rule of
    /// [`super::lcs::Lcs::matches`]. Columns are kept in about `budget` words; if that is too
    /// little, only some columns are kept and the rest are computed again.
    pub fn trace(
        &mut self,
        a: &[u32],
        b: &[u32],
        limit: usize,
        budget: usize,
        stop: &Stop,
        each: &mut dyn FnMut(usize, usize),
    ) -> Result<()> {
        let table = Matrix::new(a, b, limit);
        self.begin(&table)?;
        let start = Saved { column: 0, words: WordRange::default(), flat: Vec::new() };
        self.trace_part(&table, start, b.len(), &mut Trace { row: a.len(), budget, stop, each })
    }

    /// Prepares for the first column.
    fn begin(&mut self, table: &Matrix<'_>) -> Result<()> {
        let words = table.a.len().div_ceil(WORD);
        self.kept.clear();
        self.places.clear();
        self.flat.clear();
        memory::fill(&mut self.flat, u64::MAX, words, DOING)?;
        self.pages.begin(words)
    }

    /// Advances from one column to the column `to`. Returns false as soon as no script within the
    /// limit is possible. With `KEEP` it keeps all columns on the way.
    fn advance<const KEEP: bool>(
        &mut self,
        table: &Matrix<'_>,
        from: usize,
        to: usize,
        words: &mut WordRange,
        stop: &Stop,
    ) -> Result<bool> {
        const LOOK_EVERY: usize = 512;
        const CHECK_EVERY: usize = 1 << 16;
        let mut steps = 0;
        let mut column = from;
        while column < to {
            let symbols: [u32; COLUMNS] =
                std::array::from_fn(|n| table.b.get(column + n).copied().unwrap_or(SymbolPage::NONE));
            let next = table.words(column, column + COLUMNS);
            if words.end == 0 || (next.end - 1) / SymbolPage::WORDS > (words.end - 1) / SymbolPage::WORDS {
                for page in next.first / SymbolPage::WORDS..=(next.end - 1) / SymbolPage::WORDS {
                    stop.check()?;
                    self.pages.make(page, table.a)?;
                }
            }
            *words = next;
            let WordRange { first, end } = next;
            if KEEP {
                let (start, more) = (self.kept.len(), (end - first) * COLUMNS);
                let kept = KeptColumns { first, width: end - first, place: start };
                memory::push(&mut self.places, kept, DOING)?;
                memory::fill(&mut self.kept, 0, more, DOING)?;
                go_on::<KEEP>(&self.pages.0, &mut self.flat, symbols, next, &mut self.kept[start..]);
            } else {
                go_on::<KEEP>(&self.pages.0, &mut self.flat, symbols, next, &mut []);
            }
            column += COLUMNS;
            steps += COLUMNS * (end - first);
            stop.work(COLUMNS * (end - first));
            if steps >= CHECK_EVERY {
                stop.check()?;
                steps = 0;
            }
            if column.is_multiple_of(LOOK_EVERY) && self.is_far(table, column, next) {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Reports whether no path through the current column can end within the limit.
    fn is_far(&self, table: &Matrix<'_>, column: usize, words: WordRange) -> bool {
        let columns_left = table.b.len().saturating_sub(column);
        let mut length: usize = self.flat[..words.first].iter().map(|word| word.count_zeros() as usize).sum();
        let mut longest = 0;
        for word in words.first..words.end {
            length += self.flat[word].count_zeros() as usize;
            longest = longest.max(length + columns_left.min(table.a.len() - word * WORD));
        }
        table.a.len() + table.b.len() > 2 * longest + table.limit
    }

    /// Reads the part of an alignment from the column `to`, where the trace is now, back to the
    /// column of `start`.
    fn trace_part(
        &mut self,
        table: &Matrix<'_>,
        start: Saved,
        to: usize,
        trace: &mut Trace<'_>,
    ) -> Result<()> {
        /// The number of columns that are saved at each level, to start from again.
        const STARTS: usize = 16;
        let Saved { column: from, mut words, flat } = start;
        // Restores the column of the start. Rows below its words are as at the beginning.
        self.flat[words.end..].fill(u64::MAX);
        self.flat[words.first..words.end].copy_from_slice(&flat);
        if Self::words(table.a, &table.b[from..to], table.limit) <= trace.budget || to - from <= COLUMNS {
            self.kept.clear();
            self.places.clear();
            self.advance::<true>(table, from, to, &mut words, trace.stop)?;
            self.read(table.a, table.b, from..to, &mut trace.row, trace.each);
            return Ok(());
        }
        // Advances without checking whether the end can be reached.
        let on = Matrix { limit: usize::MAX / 2, ..*table };
        let step = (to - from).div_ceil(STARTS).next_multiple_of(COLUMNS);
        let mut starts = Vec::new();
        let mut column = from;
        while column < to {
            let mut flat = Vec::new();
            memory::extend(&mut flat, &self.flat[words.first..words.end], DOING)?;
            starts.push((Saved { column, words, flat }, to.min(column + step)));
            if column + step < to {
                self.advance::<false>(&on, column, column + step, &mut words, trace.stop)?;
            }
            column += step;
        }
        while let Some((start, to)) = starts.pop() {
            self.trace_part(table, start, to, trace)?;
        }
        Ok(())
    }

    /// Reads an alignment from the kept columns in `columns`, up to row `row`, by the rule of
    /// [`super::lcs::Lcs::matches`].
    pub fn read(
        &self,
        a: &[u32],
        b: &[u32],
        columns: Range<usize>,
        row: &mut usize,
        each: &mut dyn FnMut(usize, usize),
    ) {
        let mut column = columns.end;
        while *row > 0 && column > columns.start {
            if a[*row - 1] == b[column - 1] {
                (*row, column) = (*row - 1, column - 1);
                each(*row, column);
                continue;
            }
            let (batch, n) = ((column - 1 - columns.start) / COLUMNS, (column - 1 - columns.start) % COLUMNS);
            let KeptColumns { first, width, place } = self.places[batch];
            let (word, bit) = ((*row - 1) / WORD, (*row - 1) % WORD);
            if self.kept[place + n * width + word - first] >> bit & 1 == 1 {
                *row -= 1;
            } else {
                column -= 1;
            }
        }
    }
}

/// Advances some words by the columns that have these symbols. The symbol [`SymbolPage::NONE`]
/// leaves the words as they were. With `KEEP` it keeps the words of each column.
#[inline]
fn go_on<const KEEP: bool>(
    pages: &[SymbolPage],
    flat: &mut [u64],
    symbols: [u32; COLUMNS],
    WordRange { first, end }: WordRange,
    kept: &mut [u64],
) {
    let mut carries = [false; COLUMNS];
    let width = end - first;
    let mut at = first;
    while at < end {
        let page = at / SymbolPage::WORDS;
        let to = end.min((page + 1) * SymbolPage::WORDS);
        let from = at % SymbolPage::WORDS;
        for (n, &symbol) in symbols.iter().enumerate() {
            let rows = &pages[page].rows_of(symbol)[from..];
            let kept = if KEEP { &mut kept[n * width + at - first..][..to - at] } else { &mut [] };
            carries[n] = column::<KEEP>(rows, &mut flat[at..to], carries[n], kept);
        }
        at = to;
    }
}

/// Advances by one column, given the rows of its symbol, and returns the carry of the last word.
/// With `KEEP` it also keeps the column word by word, as most columns have few words.
#[inline]
fn column<const KEEP: bool>(rows: &[u64], flat: &mut [u64], mut carry: bool, kept: &mut [u64]) -> bool {
    // The additions of several words follow one another directly, so that nothing between them
    // changes the carry flag.
    const TOGETHER: usize = 4;
    let (rows, _) = rows.split_at(flat.len());
    let (row_chunks, row_rest) = rows.as_chunks::<TOGETHER>();
    let (flat_chunks, flat_rest) = flat.as_chunks_mut::<TOGETHER>();
    let (kept_chunks, kept_rest) = kept.as_chunks_mut::<TOGETHER>();
    for (at, (rows, flat)) in row_chunks.iter().zip(flat_chunks).enumerate() {
        let equal: [u64; TOGETHER] = std::array::from_fn(|n| flat[n] & rows[n]);
        let mut sums = [0; TOGETHER];
        for n in 0..TOGETHER {
            (sums[n], carry) = flat[n].carrying_add(equal[n], carry);
        }
        for n in 0..TOGETHER {
            flat[n] = sums[n] | (flat[n] ^ equal[n]);
        }
        if KEEP {
            kept_chunks[at] = *flat;
        }
    }
    for (at, (row, flat)) in row_rest.iter().zip(flat_rest).enumerate() {
        let equal = *flat & row;
        let sum;
        (sum, carry) = flat.carrying_add(equal, carry);
        *flat = sum | (*flat ^ equal);
        if KEEP {
            kept_rest[at] = *flat;
        }
    }
    carry
}
