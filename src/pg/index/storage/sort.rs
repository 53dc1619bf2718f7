//! Sorts pairs of signature and row within a memory budget, and in temporary files beyond it.
//!
//! The sorter of the core has one vector for all records. Here each part of the signatures has its
//! own, because parts that fit into a cache are sorted sooner, and on several threads.
//!
//! The rows of a segment of strings are in the order of the groups of their strings. So the rows of
//! a list, which all belong to one group, are near to one another.
//!
//! The rows of a group keep their order. First come rows without grams, which belong to no group.

use std::ops::Range;
use std::vec::IntoIter;

use super::spool::{ByteStore, Spool};
use crate::pg::index::layout::format::SegmentLayout;
use crate::pg::index::layout::items::{HeapRow, short};
use crate::pg::server::executor::BackendExecutor;
use crate::pg::server::temp_file::ServerFiles;
use neardup_core::error::Result;
use neardup_core::executor::{self, Executor, PlainThreads};
use neardup_core::memory;
use neardup_core::search::grams;
use neardup_core::storage::log::Log;
use neardup_core::storage::sort::Merge;

const DOING: &str = "sorting signatures";

/// The number of parts. Signatures are hashes, so their upper bits divide them into parts of about
/// the same size, which are sorted separately and follow one another.
const PARTS: usize = 1 << PART_BITS;
const PART_BITS: u32 = 8;
/// The memory for each pair: a growing vector has up to twice the room that it needs.
const BYTES: usize = 2 * size_of::<(u64, u32)>();
/// Sorting fewer pairs than this takes less time than starting a thread.
const FEW: usize = 1 << 16;
/// The number of pairs that are written at a time.
const WRITE: usize = 1 << 12;

/// A pair in a file, as its numbers compare: the halves of the signature, and the row.
type WrittenPair = [u32; 3];

/// A sorter that takes pairs in any order.
pub(crate) struct PairSorter {
    files: ServerFiles,
    parts: Vec<Vec<(u64, u32)>>,
    in_memory: usize,
    most: usize,
    log: Log<WrittenPair>,
    /// The sorted blocks of the log.
    blocks: Vec<Range<u64>>,
}

impl PairSorter {
    /// Makes a sorter that uses at most `budget` bytes.
    pub(crate) fn new(budget: usize) -> Self {
        Self {
            files: ServerFiles::in_current_context(),
            parts: vec![Vec::new(); PARTS],
            in_memory: 0,
            most: (budget / BYTES).max(FEW),
            log: Log::default(),
            blocks: Vec::new(),
        }
    }

    /// Adds a pair.
    pub(crate) fn push(&mut self, signature: u64, row: u32) -> Result<()> {
        if self.in_memory == self.most {
            self.spill()?;
        }
        self.in_memory += 1;
        memory::push(
            &mut self.parts[(signature >> (u64::BITS - PART_BITS)) as usize],
            (signature, row),
            DOING,
        )
    }

    /// Returns the number of pairs.
    pub(crate) fn len(&self) -> u64 {
        self.log.len() + self.in_memory as u64
    }

    fn sort(&mut self) -> Result<()> {
        let several = BackendExecutor::new();
        let executor: &dyn Executor = if self.in_memory < FEW { &PlainThreads(1) } else { &several };
        executor::each(executor, &mut self.parts, |part, stop| {
            executor::sort_unstable_by(part, stop, &Ord::cmp)
        })
    }

    fn spill(&mut self) -> Result<()> {
        self.sort()?;
        let from = self.log.len();
        let mut written: Vec<WrittenPair> = Vec::with_capacity(WRITE);
        for part in &mut self.parts {
            for pairs in part.chunks(WRITE) {
                pgrx::check_for_interrupts!();
                written.clear();
                written.extend(
                    pairs.iter().map(|&(signature, row)| [(signature >> 32) as u32, signature as u32, row]),
                );
                self.log.extend(&written, &self.files)?;
            }
            part.clear();
        }
        self.in_memory = 0;
        memory::push(&mut self.blocks, from..self.log.len(), DOING)
    }

    /// Returns the pairs in order.
    pub(crate) fn finish(mut self) -> Result<SortedPairs> {
        let part = Vec::new().into_iter();
        if !self.log.is_in_file() {
            self.sort()?;
            return Ok(SortedPairs { parts: self.parts.into_iter(), part, merge: None });
        }
        self.spill()?;
        let Self { log, blocks, most, .. } = self;
        let merge = Merge::new(log, blocks, most, &BackendExecutor::single(), &|&pair| pair)?;
        Ok(SortedPairs { parts: Vec::new().into_iter(), part, merge: Some(merge) })
    }
}

/// Pairs in order.
pub(crate) struct SortedPairs {
    /// All pairs, if they are in memory, and the rest of the current part.
    parts: IntoIter<Vec<(u64, u32)>>,
    part: IntoIter<(u64, u32)>,
    /// All pairs otherwise.
    merge: Option<Merge<WrittenPair, WrittenPair>>,
}

impl SortedPairs {
    /// Returns the next pair.
    pub(crate) fn next(&mut self) -> Result<Option<(u64, u32)>> {
        if let Some(merge) = &mut self.merge {
            let next = merge.next(&BackendExecutor::single(), &|&pair| pair)?;
            return Ok(next.map(|[high, low, row]| (u64::from(high) << 32 | u64::from(low), row)));
        }
        loop {
            if let Some(pair) = self.part.next() {
                return Ok(Some(pair));
            }
            pgrx::check_for_interrupts!();
            let Some(part) = self.parts.next() else { return Ok(None) };
            self.part = part.into_iter();
        }
    }
}

/// The number of places: one for rows without grams, and one for each group.
const PLACES: usize = 1 + grams::GROUPS as usize;

/// Returns the place in the order of rows of a row with these sizes next to it.
pub(crate) fn place_of_size(size: &[u8]) -> usize {
    match size {
        [] => 0,
        size => match short(size) {
            0 => 0,
            size => 1 + grams::group(size) as usize,
        },
    }
}

/// Returns the place of the rows that have a signature.
pub(super) fn place_of_signature(signature: u64) -> usize {
    1 + grams::group_of(signature) as usize
}

/// Rows in the order in which they come.
pub(super) struct Grouped {
    payload: usize,
    /// The number of bytes next to a row that come before its sizes.
    before: usize,
    /// The rows of each place.
    places: Vec<Spool>,
    rows: u32,
    /// A buffer for a row.
    bytes: Vec<u8>,
}

impl Grouped {
    /// Starts without rows.
    pub(super) fn new(layout: SegmentLayout, budget: usize) -> Self {
        let places = (0..PLACES).map(|_| Spool::new(budget / PLACES)).collect();
        Self { payload: layout.payload, before: layout.group, places, rows: 0, bytes: Vec::new() }
    }

    /// Returns the number of rows.
    pub(super) fn rows(&self) -> u32 {
        self.rows
    }

    /// Adds a row, and returns its number within its place.
    pub(super) fn push(&mut self, row: HeapRow, sketch: &[u8]) -> Result<u32> {
        let width = HeapRow::SIZE + self.payload;
        let spool = &mut self.places[place_of_size(&sketch[self.before..])];
        let number = (spool.len() / width as u64) as u32;
        self.bytes.clear();
        self.bytes.extend(row.0.to_le_bytes());
        self.bytes.extend_from_slice(sketch);
        self.bytes.resize(width, 0);
        spool.push(&self.bytes)?;
        self.rows += 1;
        Ok(number)
    }

    /// Calls `each` with all rows, in the order of their places. Returns the first number of each
    /// place.
    pub(super) fn each(self, mut each: impl FnMut(HeapRow, &[u8]) -> Result<()>) -> Result<Vec<u32>> {
        let width = HeapRow::SIZE + self.payload;
        let mut bases = Vec::with_capacity(PLACES);
        let mut base = 0;
        for mut spool in self.places {
            bases.push(base);
            base += (spool.len() / width as u64) as u32;
            spool.for_each(width << 10, |rows| {
                rows.chunks_exact(width).try_for_each(|row| each(HeapRow::read(row), &row[HeapRow::SIZE..]))
            })?;
        }
        Ok(bases)
    }
}
