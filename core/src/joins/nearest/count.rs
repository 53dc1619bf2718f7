//! The search by counting, for the records whose nearest ones have little in common with them.
//! Nearly all records share a few tokens with them, and prefixes do not rule many out. So the
//! tokens that are shared with each record are counted, for a block of records at a time: the lists
//! of the rare tokens are read, and the columns of the frequent ones are added ([`super::lists`],
//! [`crate::simd::columns`]). The sum is exact, so that no record has to be looked at again
//! ([`super::best`]). Some records are searched for together in a window of some blocks, whose
//! columns then stay in a cache.

use std::ops::Range;

use super::best::{ColumnsToAdd, RecordSearch, WindowCounts};
use super::index::RecordIndex;
use super::probe::RecordProbe;
use crate::error::Result;
use crate::executor::Stop;
use crate::joins::Counts;
use crate::memory;
use crate::simd::columns::{BitColumn, LEAST_PLANES, RECORDS, add, increment, planes};
use crate::simd::prefetch::prefetch;
use crate::storage::rows::Ragged;

const DOING: &str = "finding the nearest";

/// How many blocks of records are counted at a time, at most.
const BLOCKS: usize = 32;

/// How many of them are searched first, which makes the condition for the others stricter: at least
/// and at most, and if there are more, those of similar sizes.
const FIRST: [usize; 2] = [4, 16];

/// The bytes of the columns of a window.
const CACHE: usize = 1 << 21;

/// So many entries of lists for each block are many.
const MANY: usize = 64;

/// How many lists in advance their records are fetched.
const AHEAD: usize = 8;

/// How many records are searched for together, and how many tokens they have, at most: the more,
/// the more records use the columns of a window in turn.
const CHUNK: usize = 1 << 10;
const TOKENS: usize = 1 << 18;

/// The records of a block that wait for the search by counting.
#[derive(Debug, Default)]
pub struct BlockCounting {
    /// The numbers of these records in the block.
    waiting: Vec<u32>,
    /// The first of those that are searched for together.
    chunk: usize,
    /// How many are searched for together.
    together: usize,
    /// How many windows were counted for them.
    windows: usize,
    /// How many of them are done with the next window.
    done: usize,
    has_begun: bool,
    /// The places in the lists of their rare tokens.
    cursors: Vec<TokenCursor>,
    /// The columns of their frequent tokens: see [`ColumnsToAdd`].
    columns: Vec<u32>,
    of_bits: Vec<(u8, u32)>,
    /// For each of them the ranges of its cursors, its columns and their bits.
    starts: Vec<[usize; 3]>,
    /// For each of them the number of entries of the lists of its rare tokens.
    entries: Vec<usize>,
}

/// A place in the list of a token.
#[derive(Debug, Clone, Copy)]
struct TokenCursor {
    /// The place among the records of all lists.
    at: usize,
    /// How many records of the list are left.
    left: u32,
    /// The record at this place, or `u32::MAX` at the end of the list.
    record: u32,
}

/// Buffers that are used again.
#[derive(Debug, Default)]
struct CountScratch {
    /// The counts of the rare tokens that are shared with each record.
    rare: Vec<u8>,
    /// The planes of the counts.
    sums: Vec<BitColumn>,
    near: Vec<BitColumn>,
    /// The blocks of a window that the record reaches.
    blocks: Vec<usize>,
    /// See [`RecordSearch::usual`].
    usual: u32,
}

impl BlockCounting {
    /// Creates the search for these records of a block, which have so many tokens.
    pub fn new(waiting: Vec<u32>, tokens: usize) -> Self {
        let chunks = waiting.len().div_ceil(CHUNK).max(tokens.div_ceil(TOKENS)).max(1);
        Self { together: waiting.len().div_ceil(chunks), waiting, ..Self::default() }
    }

    /// Searches until all records are done. `first` is the first record of the block.
    pub fn work(
        &mut self,
        index: &RecordIndex,
        first: usize,
        probes: &mut [RecordProbe],
        counts: &mut Counts,
        stop: &Stop,
    ) -> Result<()> {
        let mut scratch = CountScratch::default();
        let window = RECORDS * index.frequent.blocks_of(CACHE).min(BLOCKS);
        let all = index.records.len().div_ceil(window);
        while self.chunk < self.waiting.len() {
            let end = self.waiting.len().min(self.chunk + self.together);
            if !self.has_begun {
                self.begin(index, first, end, probes, stop)?;
            }
            // Records that are as large as these come first: they are the most similar.
            let own = (first + self.waiting[self.chunk] as usize) / window;
            while self.windows < all {
                let start = (own + self.windows) % all * window;
                let window = start..index.records.len().min(start + window);
                while self.chunk + self.done < end {
                    stop.check()?;
                    let number = self.waiting[self.chunk + self.done] as usize;
                    self.search(index, first + number, &mut probes[number], &window, &mut scratch, counts)?;
                    self.done += 1;
                }
                (self.windows, self.done) = (self.windows + 1, 0);
            }
            (self.chunk, self.windows, self.has_begun) = (end, 0, false);
        }
        (self.cursors, self.columns, self.of_bits) = (Vec::new(), Vec::new(), Vec::new());
        (self.starts, self.entries) = (Vec::new(), Vec::new());
        Ok(())
    }

    /// Places the cursors of the records up to `end`.
    fn begin(
        &mut self,
        index: &RecordIndex,
        first: usize,
        end: usize,
        probes: &mut [RecordProbe],
        stop: &Stop,
    ) -> Result<()> {
        self.cursors.clear();
        self.columns.clear();
        self.of_bits.clear();
        self.starts.clear();
        memory::reserve(&mut self.starts, self.together + 1, DOING)?;
        self.starts.push([0; 3]);
        self.entries.clear();
        memory::reserve(&mut self.entries, self.together, DOING)?;
        for &number in &self.waiting[self.chunk..end] {
            stop.check()?;
            let tokens = index.records.tokens(first + number as usize);
            let (rare, frequent) = tokens.split_at(index.frequent.rare(tokens));
            let cursors = rare.iter().map(|&token| TokenCursor::new(token, &index.lists));
            memory::append(&mut self.cursors, cursors, DOING)?;
            add_columns(index, frequent, &mut self.columns, &mut self.of_bits)?;
            self.starts.push([self.cursors.len(), self.columns.len(), self.of_bits.len()]);
            self.entries.push(rare.iter().map(|&token| index.lists.range(token as usize).len()).sum());
        }
        for &number in &self.waiting[self.chunk..end] {
            let record = first + number as usize;
            let (left, own) = (index.tokens_left(record), index.equal_rows(record)?);
            probes[number as usize].again(left, &own, index.measure, index.largest)?;
        }
        self.has_begun = true;
        Ok(())
    }

    /// Searches for a record, the next one, in a window.
    fn search(
        &mut self,
        index: &RecordIndex,
        record: usize,
        probe: &mut RecordProbe,
        window: &Range<usize>,
        scratch: &mut CountScratch,
        counts: &mut Counts,
    ) -> Result<()> {
        let [from, to] = [self.starts[self.done], self.starts[self.done + 1]];
        let (cursors, tokens) = (&mut self.cursors[from[0]..to[0]], index.records.tokens(record));
        if window.start == 0 {
            // The windows went round.
            cursors
                .iter_mut()
                .zip(tokens)
                .for_each(|(cursor, &token)| *cursor = TokenCursor::new(token, &index.lists));
        }
        // The window before this one may have raised the condition.
        probe.follow(index.largest);
        let reach = index.reach(probe);
        let reach = reach.start.max(window.start)..reach.end.min(window.end);
        if reach.is_empty() {
            return Ok(());
        }
        let (numbers, of_bits) = (&self.columns[from[1]..to[1]], &self.of_bits[from[2]..to[2]]);
        let columns = ColumnsToAdd { numbers, of_bits };
        // The columns of each bit are added to as many planes as the kernel takes.
        let of_bit = of_bits.first().map_or(0, |&(bit, _)| usize::from(bit) + LEAST_PLANES);
        let planes = planes(index.weights.sum(tokens) as usize).max(of_bit);
        let count = window.len().div_ceil(RECORDS) * planes;
        let CountScratch { rare, sums, near, blocks, usual } = scratch;
        // Of many entries, counts in bytes take less time than planes, which they fill afterwards.
        let are_many = self.entries[self.done] / MANY >= index.records.len() / RECORDS;
        let in_bytes = are_many && cursors.len() <= u8::MAX.into() && index.weights.each().is_none();
        sums.clear();
        memory::fill(sums, BitColumn::NONE, count, DOING)?;
        rare.clear();
        if in_bytes {
            memory::fill(rare, 0, window.len().next_multiple_of(RECORDS), DOING)?;
        }
        let all = &index.lists.values;
        for n in 0..cursors.len() {
            if let Some(next) = cursors.get(n + AHEAD).filter(|next| (next.record as usize) < window.end) {
                prefetch(all, next.at);
            }
            let cursor = &mut cursors[n];
            if (cursor.record as usize) < window.end {
                if in_bytes {
                    cursor.pass(all, window, |place| rare[place] += 1);
                } else {
                    let planes_of = |place| place / RECORDS * planes..(place / RECORDS + 1) * planes;
                    match index.weights.each().map(|weights| weights[tokens[n] as usize]) {
                        None => cursor.pass(all, window, |place| {
                            increment(&mut sums[planes_of(place)], place % RECORDS)
                        }),
                        Some(weight) => cursor.pass(all, window, |place| {
                            add(&mut sums[planes_of(place)], place % RECORDS, weight.into());
                        }),
                    }
                }
            }
        }
        for (rare, planes) in rare.as_chunks().0.iter().zip(sums.chunks_exact_mut(planes)) {
            (index.spread)(rare, planes);
        }
        // Records that are as large as this one come first, as the windows do.
        let places = reach.start / RECORDS..reach.end.div_ceil(RECORDS);
        let first = index.first_blocks(record, &places, FIRST);
        let mut sums = WindowCounts { first: window.start / RECORDS, planes, all: sums };
        let mut search = RecordSearch { index, record, probe, columns, counts, usual };
        let others = [places.start..first.start, first.end..places.end];
        for some in [&[first][..], &others] {
            memory::refill(blocks, some.iter().cloned().flatten(), DOING)?;
            search.blocks(blocks, &mut sums, near)?;
        }
        Ok(())
    }
}

/// Adds the columns of the frequent tokens of a record, and the number of those of each bit: see
/// [`ColumnsToAdd`].
fn add_columns(
    index: &RecordIndex,
    frequent: &[u32],
    columns: &mut Vec<u32>,
    of_bits: &mut Vec<(u8, u32)>,
) -> Result<()> {
    let Some(weights) = index.weights.each() else {
        let all = frequent.iter().map(|&token| index.frequent.number(token));
        return memory::append(columns, all, DOING);
    };
    for bit in (0..u16::BITS as u8).rev() {
        let before = columns.len();
        for &token in frequent.iter().filter(|&&token| weights[token as usize] >> bit & 1 == 1) {
            memory::push(columns, index.frequent.number(token), DOING)?;
        }
        if bit > 0 && columns.len() > before {
            memory::push(of_bits, (bit, (columns.len() - before) as u32), DOING)?;
        }
    }
    Ok(())
}

impl TokenCursor {
    /// Returns the first place of the list of a token.
    fn new(token: u32, lists: &Ragged<u32>) -> Self {
        let Range { start, end } = lists.range(token as usize);
        let record = lists.values[start..end].first().copied().unwrap_or(u32::MAX);
        // Records are numbered with 32 bits.
        Self { at: start, left: (end - start) as u32, record }
    }

    /// Calls `add` with the places in a window of those records of the list that are in it. `all`
    /// are the records of all lists.
    #[inline]
    fn pass(&mut self, all: &[u32], window: &Range<usize>, mut add: impl FnMut(usize)) {
        let list = &all[self.at..][..self.left as usize];
        // The windows go round once.
        let mut at = match self.record as usize {
            record if record < window.start => {
                list.partition_point(|&record| (record as usize) < window.start)
            }
            _ => 0,
        };
        while let Some(&record) = list.get(at).filter(|&&record| (record as usize) < window.end) {
            add(record as usize - window.start);
            at += 1;
        }
        self.record = list.get(at).copied().unwrap_or(u32::MAX);
        (self.at, self.left) = (self.at + at, self.left - at as u32);
    }
}
