//! What all searches read: the records with their bitmaps, and the records of every token.

use std::ops::Range;

use super::lists::Lists;
use super::probe::Probe;
use crate::error::Result;
use crate::executor::{self, Executor};
use crate::features::sets::records::{Members, Records};
use crate::features::sets::size_runs::SizeRuns;
use crate::joins::sets::bitmap::{Bitmap, of_record};
use crate::memory;
use crate::simd::planes::{self, Kernel};
use crate::simd::prefetch::prefetch;
use crate::verify::measure::Measure;

const DOING: &str = "preparing the search for the nearest";

/// The records of a table, with bitmaps of `W` words.
#[derive(Debug)]
pub struct Index<const W: usize> {
    /// The distinct sets.
    pub records: Records,
    /// For each record the ranks of its rows, ascending.
    pub ranks: Members,
    /// The measure.
    pub measure: Measure,
    /// The number of rows to find for a record, its own rows among them.
    pub wanted: usize,
    /// The greatest size of a record.
    pub largest: u32,
    /// The records of every token.
    pub lists: Lists,
    /// The bitmaps.
    pub bitmaps: Vec<Bitmap<W>>,
    /// The comparison of bitmaps.
    pub near: Kernel<W>,
    runs: SizeRuns,
}

/// What an index is made of.
#[derive(Debug)]
pub struct Parts {
    /// The distinct sets.
    pub records: Records,
    /// For each record the ranks of its rows, ascending.
    pub ranks: Members,
    /// The number of tokens that can be shared.
    pub tokens: usize,
    /// The measure.
    pub measure: Measure,
    /// The number of rows to find for a record, its own rows among them.
    pub wanted: usize,
}

impl<const W: usize> Index<W> {
    /// Makes the index. O(all tokens).
    pub fn new(parts: Parts, executor: &dyn Executor) -> Result<Self> {
        let Parts { records, ranks, tokens, measure, wanted } = parts;
        let lists = Lists::new(&records, tokens, executor)?;
        let bitmaps = bitmaps(&records, executor)?;
        let runs = SizeRuns::of(records.sizes())?;
        let largest = runs.sizes().last().copied().unwrap_or(0);
        Ok(Self { records, ranks, measure, wanted, largest, lists, bitmaps, near: planes::kernel(), runs })
    }

    /// Begins the search of a record.
    pub fn probe(&self, record: usize) -> Result<Probe> {
        let left = self.records.tokens(record).len() as u32;
        let own = self.ranks.rows(record);
        Probe::new(self.measure, self.records.size(record), left, own, self.wanted, self.largest)
    }

    /// Returns the part of a window of a list whose records have sizes that a probe reaches.
    pub fn within(&self, probe: &Probe, list: &[u32], window: Range<usize>) -> Range<usize> {
        if probe.is_done() {
            return window.start..window.start;
        }
        let sizes = self.runs.sizes();
        let first = sizes.partition_point(|&size| size < probe.least);
        let end = sizes.partition_point(|&size| size <= probe.most);
        if first >= end {
            return window.start..window.start;
        }
        let (first, end) = (self.runs.range(first).start, self.runs.range(end - 1).end);
        let inside = &list[window.clone()];
        let from = inside.partition_point(|&record| record < first);
        let to = from + inside[from..].partition_point(|&record| record < end);
        window.start + from..window.start + to
    }

    /// Gathers the bitmaps of these records: the first words of all, then the second words, and so
    /// on.
    pub fn gather(&self, records: &[u32], words: &mut Vec<u64>) -> Result<()> {
        const AHEAD: usize = 16;
        let length = records.len();
        if words.len() < length * W {
            let more = length * W - words.len();
            memory::reserve(words, more, DOING)?;
            words.resize(length * W, 0);
        }
        for (n, &record) in records.iter().enumerate() {
            if let Some(&next) = records.get(n + AHEAD) {
                prefetch(&self.bitmaps, next as usize);
            }
            let bitmap = self.bitmaps[record as usize];
            (0..W).for_each(|w| words[w * length + n] = bitmap[w]);
        }
        Ok(())
    }

    /// Returns the number of bytes on the heap.
    pub fn bytes(&self) -> usize {
        self.records.bytes() + self.ranks.bytes() + self.lists.bytes() + memory::bytes(&self.bitmaps)
    }
}

/// Computes the bitmaps of all records.
fn bitmaps<const W: usize>(records: &Records, executor: &dyn Executor) -> Result<Vec<Bitmap<W>>> {
    const PIECE: usize = 1 << 12;
    let mut bitmaps: Vec<Bitmap<W>> = memory::zeroed(records.len(), DOING)?;
    let mut pieces: Vec<_> = bitmaps.chunks_mut(PIECE).enumerate().collect();
    executor::each(executor, &mut pieces, |(piece, bitmaps), stop| {
        for (n, bitmap) in bitmaps.iter_mut().enumerate() {
            *bitmap = of_record(records, *piece * PIECE + n);
            stop.check()?;
        }
        Ok(())
    })?;
    Ok(bitmaps)
}
