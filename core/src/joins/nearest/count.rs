//! The search by counting: how many tokens a record shares with each of all others.
//!
//! This is for records whose nearest have little in common with them. Nearly all records share a
//! few tokens with them, and neither prefixes nor bitmaps of differences rule many out. The lists
//! of the rare tokens are read and counted in an array; the frequent tokens are compared by
//! bitmaps ([`super::frequent`]). The sum is exact, so that no record has to be looked at again.
//! Some records are searched for together in a window of all records, whose bitmaps then stay in a
//! cache.

use std::ops::{Range, RangeInclusive};

use super::index::Index;
use super::lists::Lists;
use super::probe::Probe;
use super::top::Partner;
use crate::error::Result;
use crate::executor::Stop;
use crate::joins::Counts;
use crate::memory;
use crate::simd::overlaps::LANES;

const DOING: &str = "finding the nearest";

/// How many records are counted at a time.
const WINDOW: usize = 1 << 13;

/// How many records are searched for together.
const CHUNK: usize = 1 << 8;

/// The records of a block that wait for the search by counting.
#[derive(Debug, Default)]
pub struct Counting {
    /// The numbers of these records in the block.
    waiting: Vec<u32>,
    /// The first of those that are searched for together.
    chunk: usize,
    /// How many windows were counted for them.
    windows: usize,
    /// How many of them are done with the next window.
    done: usize,
    has_begun: bool,
    /// The places in the lists of their rare tokens.
    cursors: Vec<Cursor>,
    /// For each of them the range of its cursors.
    starts: Vec<usize>,
}

/// A place in the list of a token.
#[derive(Debug, Clone, Copy)]
struct Cursor {
    token: u32,
    at: u32,
    /// The record at this place, or `u32::MAX` at the end of the list.
    record: u32,
}

/// Buffers that are used again.
#[derive(Debug, Default)]
struct Scratch {
    counts: Vec<u32>,
    near: Vec<u32>,
}

impl Counting {
    /// Creates the search for these records of a block.
    pub fn new(waiting: Vec<u32>) -> Self {
        Self { waiting, ..Self::default() }
    }

    /// Searches until all records are done. `first` is the first record of the block.
    pub fn work<const W: usize>(
        &mut self,
        index: &Index<W>,
        first: usize,
        probes: &mut [Probe],
        counts: &mut Counts,
        stop: &Stop,
    ) -> Result<()> {
        let mut scratch = Scratch::default();
        memory::extend(&mut scratch.counts, &[0; WINDOW], DOING)?;
        let all = index.records.len().div_ceil(WINDOW);
        while self.chunk < self.waiting.len() {
            let end = self.waiting.len().min(self.chunk + CHUNK);
            if !self.has_begun {
                self.begin(index, first, end, probes, stop)?;
            }
            // Records that are as large as these come first: they are the most similar.
            let own = (first + self.waiting[self.chunk] as usize) / WINDOW;
            while self.windows < all {
                let start = (own + self.windows) % all * WINDOW;
                let window = start..index.records.len().min(start + WINDOW);
                while self.chunk + self.done < end {
                    stop.check()?;
                    let number = self.waiting[self.chunk + self.done] as usize;
                    let cursors = self.starts[self.done]..self.starts[self.done + 1];
                    let cursors = &mut self.cursors[cursors];
                    let search = Search { index, record: first + number, window: window.clone() };
                    search.run(&mut probes[number], cursors, &mut scratch, counts)?;
                    self.done += 1;
                }
                (self.windows, self.done) = (self.windows + 1, 0);
            }
            (self.chunk, self.windows, self.has_begun) = (end, 0, false);
        }
        (self.cursors, self.starts) = (Vec::new(), Vec::new());
        Ok(())
    }

    /// Places the cursors of the records up to `end`.
    fn begin<const W: usize>(
        &mut self,
        index: &Index<W>,
        first: usize,
        end: usize,
        probes: &mut [Probe],
        stop: &Stop,
    ) -> Result<()> {
        self.cursors.clear();
        self.starts.clear();
        memory::reserve(&mut self.starts, CHUNK + 1, DOING)?;
        self.starts.push(0);
        for &number in &self.waiting[self.chunk..end] {
            stop.check()?;
            let record = first + number as usize;
            let tokens = index.records.tokens(record);
            let rare = &tokens[..index.frequent.rare(tokens)];
            memory::reserve(&mut self.cursors, rare.len(), DOING)?;
            self.cursors.extend(rare.iter().map(|&token| Cursor::new(token, &index.lists)));
            self.starts.push(self.cursors.len());
        }
        for &number in &self.waiting[self.chunk..end] {
            let record = first + number as usize;
            let left = index.records.tokens(record).len() as u32;
            probes[number as usize].again(left, index.ranks.rows(record), index.measure, index.largest)?;
        }
        self.has_begun = true;
        Ok(())
    }
}

impl Cursor {
    /// Returns the first place of the list of a token.
    fn new(token: u32, lists: &Lists) -> Self {
        Self { token, at: 0, record: lists.of(token).0.first().copied().unwrap_or(u32::MAX) }
    }

    /// Counts the records of the list that are in a window.
    #[inline]
    fn count(&mut self, list: &[u32], window: &Range<usize>, counts: &mut [u32]) {
        let at = self.at as usize;
        // The windows go round once.
        let mut at = match self.record as usize {
            record if record < window.start => {
                at + list[at..].partition_point(|&record| (record as usize) < window.start)
            }
            _ => at,
        };
        while let Some(&record) = list.get(at).filter(|&&record| (record as usize) < window.end) {
            counts[record as usize - window.start] += 1;
            at += 1;
        }
        self.at = at as u32;
        self.record = list.get(at).copied().unwrap_or(u32::MAX);
    }
}

/// The search for a record in a window.
struct Search<'a, const W: usize> {
    index: &'a Index<W>,
    record: usize,
    window: Range<usize>,
}

impl<const W: usize> Search<'_, W> {
    fn run(
        &self,
        probe: &mut Probe,
        cursors: &mut [Cursor],
        scratch: &mut Scratch,
        counts: &mut Counts,
    ) -> Result<()> {
        let Self { index, record, ref window } = *self;
        if window.start == 0 {
            // The windows went round.
            cursors.iter_mut().for_each(|cursor| *cursor = Cursor::new(cursor.token, &index.lists));
        }
        let reach = index.reach(probe);
        let reach = reach.start.max(window.start)..reach.end.min(window.end);
        if reach.start >= reach.end {
            return Ok(());
        }
        let counted = &mut scratch.counts[..window.len().next_multiple_of(LANES)];
        for cursor in cursors {
            if (cursor.record as usize) < window.end {
                cursor.count(index.lists.of(cursor.token).0, window, counted);
            }
        }
        let bitmap = index.frequent.bitmap(index.records.tokens(record));
        // Records that are as large as this one come first, as the windows do.
        let middle = if reach.contains(&record) { record } else { reach.start };
        let better = self.pieces(probe, middle..reach.end, &bitmap, scratch, counts)?
            | self.pieces(probe, reach.start..middle, &bitmap, scratch, counts)?;
        if better {
            probe.raise(index.measure, index.largest);
        }
        scratch.counts[..window.len()].fill(0);
        Ok(())
    }

    /// Compares the counts of some records with what is needed, in pieces of similar sizes, and
    /// reports whether better rows were found.
    fn pieces(
        &self,
        probe: &mut Probe,
        reach: Range<usize>,
        bitmap: &[u64],
        scratch: &mut Scratch,
        counts: &mut Counts,
    ) -> Result<bool> {
        /// The condition is raised after at most this many records, and more often at first.
        const PIECE: RangeInclusive<usize> = 64..=1024;
        let Self { index, ref window, .. } = *self;
        let Scratch { counts: counted, near } = scratch;
        let words = index.frequent.words();
        let (mut from, mut any) = (reach.start, false);
        while from < reach.end {
            let first = index.records.size(from);
            let similar = first.saturating_add(first / 8);
            let most = from + probe.counted.clamp(*PIECE.start(), *PIECE.end());
            let most = &index.records.sizes()[from..reach.end.min(most)];
            let piece = from..from + most.partition_point(|&size| size <= similar);
            from = piece.end;
            probe.counted += piece.len();
            let last = index.records.size(piece.end - 1);
            let Some(need) = probe.need_within(first, last, index.largest) else { continue };
            near.clear();
            let groups = piece.start / LANES..piece.end.div_ceil(LANES);
            let begin = groups.start * LANES;
            let counted_of = begin - window.start..groups.end * LANES - window.start;
            (index.overlaps.run)(
                &bitmap[..words],
                index.frequent.groups(groups),
                &counted[counted_of],
                need,
                begin as u32,
                near,
            );
            let mut better = false;
            for &other in near.iter() {
                let other = other as usize;
                if piece.contains(&other) && other != self.record {
                    let shared = counted[other - window.start] + index.frequent.shared(bitmap, other);
                    better |= self.offer(probe, other, shared)?;
                    counts.candidates += 1;
                }
            }
            if better {
                probe.raise_need(index.measure);
                any = true;
            }
        }
        Ok(any)
    }

    /// Adds the rows of a record if they are among the best, and reports whether one of them is.
    #[inline]
    fn offer(&self, probe: &mut Probe, other: usize, shared: u32) -> Result<bool> {
        let similarity = probe.similarity(shared, self.index.records.size(other));
        let mut better = false;
        for &rank in self.index.ranks.rows(other) {
            if !probe.top.push(Partner::new(similarity, rank))? {
                break;
            }
            better = true;
        }
        Ok(better)
    }
}
