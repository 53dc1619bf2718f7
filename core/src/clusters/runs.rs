//! Sorted edges, read one at a time from memory or from runs in a file.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::ops::Range;

use super::edge::{Edge, Key, Packed, SIZE};
use crate::error::Result;
use crate::executor::Executor;
use crate::memory;
use crate::storage::files::TempFile;

/// The number of edges that are read, written or walked at one time.
pub(super) const PIECE: usize = 1 << 14;

/// Sorted runs of edges in a file, to be merged.
pub(super) struct Runs {
    file: Box<dyn TempFile>,
    /// The remaining range of each run in the file.
    runs: Vec<Range<u64>>,
    /// The number of edges that are read at one time.
    piece: u64,
    /// For each run, the edges that were read last, and the index of the next edge among them.
    buffers: Vec<(Vec<Packed>, usize)>,
    /// The next edge of each run, by its key.
    heads: BinaryHeap<Reverse<(Key, usize)>>,
}

impl Runs {
    /// Prepares to merge the runs of a file, with about `room` edges in memory.
    pub(super) fn new(
        file: Box<dyn TempFile>,
        runs: Vec<Range<u64>>,
        room: usize,
        executor: &dyn Executor,
        key: &impl Fn(Edge) -> Key,
    ) -> Result<Self> {
        // The runs share the room equally, but each gets at least some edges, however many runs
        // there are.
        let piece = (room / runs.len()).clamp(64, PIECE) as u64;
        let buffers = vec![(Vec::new(), 0); runs.len()];
        let mut merged = Self { file, runs, piece, buffers, heads: BinaryHeap::new() };
        for run in 0..merged.buffers.len() {
            merged.refill(run, executor, key)?;
        }
        Ok(merged)
    }

    /// Adds the next edge of a run to the heads, if there is one.
    fn refill(&mut self, run: usize, executor: &dyn Executor, key: &impl Fn(Edge) -> Key) -> Result<()> {
        let (buffer, next) = &mut self.buffers[run];
        if *next == buffer.len() {
            let range = &mut self.runs[run];
            let length = self.piece.min(range.end - range.start);
            buffer.resize(length as usize, [0; 2]);
            self.file.read(range.start * SIZE, bytemuck::cast_slice_mut(buffer))?;
            range.start += length;
            *next = 0;
            executor.check_interrupts()?;
        }
        self.heads.extend(buffer.get(*next).map(|&edge| Reverse((key(Edge::unpack(edge)), run))));
        Ok(())
    }

    /// Returns the next edge of all runs, or `None` after the last.
    pub(super) fn next(
        &mut self,
        executor: &dyn Executor,
        key: &impl Fn(Edge) -> Key,
    ) -> Result<Option<Edge>> {
        let Some(Reverse((_, run))) = self.heads.pop() else { return Ok(None) };
        let (buffer, next) = &mut self.buffers[run];
        let edge = buffer[*next];
        *next += 1;
        self.refill(run, executor, key)?;
        Ok(Some(Edge::unpack(edge)))
    }
}

/// Sorted edges, which are returned one at a time.
pub struct InOrder {
    held: Vec<Packed>,
    next: usize,
    runs: Option<Runs>,
}

impl std::fmt::Debug for InOrder {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "edges in order, {} given of those in memory", self.next)
    }
}

impl InOrder {
    /// Takes sorted edges from memory, or from a file if there are runs.
    pub(super) fn new(held: Vec<Packed>, runs: Option<Runs>) -> Self {
        Self { held, next: 0, runs }
    }

    /// Returns the next edge, or `None` after the last.
    pub fn next(&mut self, executor: &dyn Executor, key: impl Fn(Edge) -> Key) -> Result<Option<Edge>> {
        if let Some(runs) = &mut self.runs {
            return runs.next(executor, &key);
        }
        let edge = self.held.get(self.next).map(|&edge| Edge::unpack(edge));
        self.next += 1;
        Ok(edge)
    }

    /// Returns the number of bytes on the heap.
    pub fn bytes(&self) -> usize {
        let buffered =
            self.runs.iter().flat_map(|runs| &runs.buffers).map(|(buffer, _)| memory::bytes(buffer));
        memory::bytes(&self.held) + buffered.sum::<usize>()
    }
}
