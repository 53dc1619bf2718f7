//! Sorts pairs of signature and row within a memory budget, and in temporary files beyond it.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::iter::Enumerate;
use std::ops::Range;
use std::vec::IntoIter;

use crate::pg::index::layout::items::SignaturePair;
use crate::pg::server::executor::BackendExecutor;
use crate::pg::server::temp_file::ServerFiles;
use neardup_core::error::Result;
use neardup_core::executor::{self, Executor, PlainThreads};
use neardup_core::memory;
use neardup_core::storage::files::{TempFile, TempFiles};

const DOING: &str = "sorting signatures";

/// The number of parts. Signatures are hashes, so their upper bits divide them into parts of about
/// the same size, which are sorted separately and follow one another.
const PARTS: usize = 1 << PART_BITS;
const PART_BITS: u32 = 8;
/// The memory for each pair: a growing vector has up to twice the room that it needs.
const BYTES: usize = 2 * size_of::<(u64, u32)>();
/// The number of bytes that are read from a run at a time.
pub(crate) const READ: usize = SignaturePair::SIZE << 12;
/// Sorting fewer pairs than this takes less time than starting a thread.
const FEW: usize = 1 << 16;

/// A sorter that takes pairs in any order.
pub(crate) struct PairSorter {
    files: ServerFiles,
    parts: Vec<Vec<(u64, u32)>>,
    in_memory: usize,
    most: usize,
    file: Option<Box<dyn TempFile>>,
    written: u64,
    /// The places in the file of the sorted parts of each run.
    runs: Vec<Vec<Range<u64>>>,
}

impl PairSorter {
    /// Makes a sorter that uses at most `budget` bytes.
    pub(crate) fn new(budget: usize) -> Self {
        Self {
            files: ServerFiles::in_current_context(),
            parts: vec![Vec::new(); PARTS],
            in_memory: 0,
            most: (budget / BYTES).max(FEW),
            file: None,
            written: 0,
            runs: Vec::new(),
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
        self.written / SignaturePair::SIZE as u64 + self.in_memory as u64
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
        let file = match &mut self.file {
            Some(file) => file,
            none => none.insert(self.files.create()?),
        };
        let mut run = Vec::with_capacity(PARTS);
        let mut bytes = Vec::with_capacity(READ);
        for part in &mut self.parts {
            let start = self.written;
            for pairs in part.chunks(READ / SignaturePair::SIZE) {
                pgrx::check_for_interrupts!();
                bytes.clear();
                pairs.iter().for_each(|&(signature, row)| SignaturePair { signature, row }.write(&mut bytes));
                file.write(&bytes)?;
                self.written += bytes.len() as u64;
            }
            part.clear();
            run.push(start..self.written);
        }
        self.in_memory = 0;
        memory::push(&mut self.runs, run, DOING)
    }

    /// Returns the pairs in order.
    pub(crate) fn finish(mut self) -> Result<PairMerge> {
        self.sort()?;
        Ok(PairMerge {
            parts: self.parts.into_iter().enumerate(),
            runs: self.runs,
            file: self.file,
            part: Vec::new().into_iter(),
            sources: Vec::new(),
            heads: BinaryHeap::new(),
        })
    }
}

/// Pairs in order, part by part: the pairs in memory, merged with the pairs of the runs if there
/// are any runs.
pub(crate) struct PairMerge {
    parts: Enumerate<IntoIter<Vec<(u64, u32)>>>,
    runs: Vec<Vec<Range<u64>>>,
    file: Option<Box<dyn TempFile>>,
    /// The rest of the current part in memory.
    part: IntoIter<(u64, u32)>,
    sources: Vec<RestOfPart>,
    /// The next pair of each run and the next pair in memory, and for each of them the number of
    /// its source. The pairs in memory are the source after the last run.
    heads: BinaryHeap<Reverse<((u64, u32), usize)>>,
}

/// The rest of a part of a run, which is in the file.
struct RestOfPart {
    rest: Range<u64>,
    bytes: Vec<u8>,
    at: usize,
}

impl PairMerge {
    fn pull(&mut self, n: usize) -> Result<()> {
        let pair = match self.sources.get_mut(n) {
            None => self.part.next(),
            Some(RestOfPart { rest, bytes, at }) => {
                if *at == bytes.len() && !rest.is_empty() {
                    pgrx::check_for_interrupts!();
                    let length = (rest.end - rest.start).min(READ as u64);
                    bytes.resize(length as usize, 0);
                    self.file.as_mut().expect("runs are in a file").read(rest.start, bytes)?;
                    rest.start += length;
                    *at = 0;
                }
                (*at < bytes.len()).then(|| {
                    let pair = SignaturePair::read(bytes, *at / SignaturePair::SIZE);
                    *at += SignaturePair::SIZE;
                    (pair.signature, pair.row)
                })
            }
        };
        if let Some(pair) = pair {
            self.heads.push(Reverse((pair, n)));
        }
        Ok(())
    }

    /// Goes on to the next part; returns false after the last one.
    fn advance(&mut self) -> Result<bool> {
        pgrx::check_for_interrupts!();
        let Some((number, part)) = self.parts.next() else { return Ok(false) };
        self.part = part.into_iter();
        if !self.runs.is_empty() {
            let run =
                |run: &Vec<Range<u64>>| RestOfPart { rest: run[number].clone(), bytes: Vec::new(), at: 0 };
            self.sources = self.runs.iter().map(run).collect();
            for n in 0..=self.sources.len() {
                self.pull(n)?;
            }
        }
        Ok(true)
    }

    /// Returns the next pair.
    pub(crate) fn next(&mut self) -> Result<Option<(u64, u32)>> {
        loop {
            if let Some(Reverse((pair, n))) = self.heads.pop() {
                self.pull(n)?;
                return Ok(Some(pair));
            }
            // If there are runs, the pairs in memory come through the heads.
            if let Some(pair) = self.part.next() {
                return Ok(Some(pair));
            }
            if !self.advance()? {
                return Ok(None);
            }
        }
    }
}
