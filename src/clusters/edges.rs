//! Edges of a graph, more than memory may hold: in memory up to a budget, then in temporary files.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use crate::error::Result;
use crate::files::{TempFile, TempFiles};
use crate::memory;
use crate::workers::{self, Workers};

const DOING: &str = "keeping pairs";

/// A pair of vertices and its similarity.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Edge {
    /// The lesser vertex.
    pub left: u32,
    /// The greater vertex.
    pub right: u32,
    /// Their similarity, from 0 to 1.
    pub similarity: f64,
}

/// An edge in a file and in memory: the vertices, and the bits of the similarity.
type Packed = [u64; 2];

/// Where an edge stands in an order: by the first number, then by the second.
pub type Key = (u64, u64);

impl Edge {
    /// The edge between two vertices, in either order.
    pub fn new(a: u32, b: u32, similarity: f64) -> Self {
        Self { left: a.min(b), right: a.max(b), similarity }
    }

    fn pack(self) -> Packed {
        [self.vertices(), self.similarity.to_bits()]
    }

    fn unpack([vertices, similarity]: Packed) -> Self {
        let similarity = f64::from_bits(similarity);
        Self { left: (vertices >> 32) as u32, right: vertices as u32, similarity }
    }

    /// The vertices as one number, in the order of left and right.
    pub fn vertices(self) -> u64 {
        u64::from(self.left) << 32 | u64::from(self.right)
    }

    /// The similarity as a whole number of which sums do not depend on the order: in 2⁻⁵³.
    pub fn weight(self) -> u64 {
        (self.similarity * (1u64 << 53) as f64) as u64
    }

    /// The order from the greatest similarity to the least; equal ones by their vertices.
    pub fn strongest_first(self) -> Key {
        // Not negative, so that their bits are in their order.
        (!self.similarity.to_bits(), self.vertices())
    }
}

/// Edges, of which no more than a budget is held in memory.
pub struct Edges<'f> {
    files: &'f dyn TempFiles,
    /// How many fit.
    room: usize,
    held: Vec<Packed>,
    file: Option<Box<dyn TempFile>>,
    written: u64,
}

impl std::fmt::Debug for Edges<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} edges", self.len())
    }
}

const SIZE: u64 = size_of::<Packed>() as u64;
/// Edges that are read, written or walked through at one time.
const PIECE: usize = 1 << 14;

impl<'f> Edges<'f> {
    /// No edges yet, of which about `budget` bytes may be held.
    pub fn new(files: &'f dyn TempFiles, budget: usize) -> Self {
        let room = (budget / SIZE as usize).max(2 * PIECE);
        Self { files, room, held: Vec::new(), file: None, written: 0 }
    }

    /// How many there are.
    pub fn len(&self) -> u64 {
        self.written + self.held.len() as u64
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Whether all are in memory.
    pub fn fit(&self) -> bool {
        self.file.is_none()
    }

    /// Adds an edge. O(1).
    pub fn push(&mut self, edge: Edge) -> Result<()> {
        if self.held.len() >= self.room {
            let file = match &mut self.file {
                Some(file) => file,
                none => none.insert(self.files.create()?),
            };
            file.write(bytemuck::cast_slice(&self.held))?;
            self.written += self.held.len() as u64;
            self.held.clear();
        }
        memory::push(&mut self.held, edge.pack(), DOING)
    }

    /// Calls `each` with every edge, in no particular order. O(edges).
    pub fn for_each(
        &mut self,
        workers: &dyn Workers,
        mut each: impl FnMut(Edge) -> Result<()>,
    ) -> Result<()> {
        if let Some(file) = &mut self.file {
            let mut buffer = memory::filled([0; 2], PIECE, DOING)?;
            let mut at = 0;
            while at < self.written {
                let piece = PIECE.min((self.written - at) as usize);
                file.read(at * SIZE, bytemuck::cast_slice_mut(&mut buffer[..piece]))?;
                at += piece as u64;
                workers.breathe()?;
                buffer[..piece].iter().try_for_each(|&edge| each(Edge::unpack(edge)))?;
            }
        }
        walk(&self.held, workers, &mut each)
    }

    /// Calls `each` with every edge, in the order of their keys. O(edges · log edges); what does not
    /// fit is sorted in runs that go through a file of their own.
    pub fn for_each_in_order(
        &mut self,
        workers: &dyn Workers,
        key: impl Fn(Edge) -> Key + Sync,
        mut each: impl FnMut(Edge) -> Result<()>,
    ) -> Result<()> {
        let Some(mut runs) = self.sort(workers, &key)? else { return walk(&self.held, workers, &mut each) };
        while let Some(edge) = runs.next(workers, &key)? {
            each(edge)?;
        }
        Ok(())
    }

    /// The edges one after the other, in the order of their keys; the same key is to be given for each.
    pub fn in_order(mut self, workers: &dyn Workers, key: impl Fn(Edge) -> Key + Sync) -> Result<InOrder> {
        let runs = self.sort(workers, &key)?;
        Ok(InOrder { held: self.held, next: 0, runs })
    }

    /// Sorts what is in memory, or runs that go to a file.
    fn sort(&mut self, workers: &dyn Workers, key: &(impl Fn(Edge) -> Key + Sync)) -> Result<Option<Runs>> {
        let sort = |edges: &mut [Packed]| {
            workers::one(workers, &mut &mut *edges, |edges, stop| {
                workers::sort_unstable_by(edges, stop, &|a, b| {
                    key(Edge::unpack(*a)).cmp(&key(Edge::unpack(*b)))
                })
            })
        };
        let Some(file) = &mut self.file else {
            sort(&mut self.held)?;
            return Ok(None);
        };
        file.write(bytemuck::cast_slice(&self.held))?;
        self.written += self.held.len() as u64;
        self.held = Vec::new();
        let mut sorted = self.files.create()?;
        let mut runs = Vec::new();
        let mut run = memory::filled([0; 2], self.room, DOING)?;
        let mut at = 0;
        while at < self.written {
            let length = self.room.min((self.written - at) as usize);
            file.read(at * SIZE, bytemuck::cast_slice_mut(&mut run[..length]))?;
            sort(&mut run[..length])?;
            sorted.write(bytemuck::cast_slice(&run[..length]))?;
            runs.push(at..at + length as u64);
            at += length as u64;
        }
        drop(run);
        // As many of each run as share the room; at least some, however many runs there are.
        let piece = (self.room / runs.len()).clamp(64, PIECE) as u64;
        let buffers = vec![(Vec::new(), 0); runs.len()];
        let mut runs = Runs { file: sorted, runs, piece, buffers, heads: BinaryHeap::new() };
        for run in 0..runs.buffers.len() {
            runs.refill(run, workers, key)?;
        }
        Ok(Some(runs))
    }

    /// The edges without repeats and loops: of equal ones the strongest.
    pub fn distinct(mut self, workers: &dyn Workers) -> Result<Self> {
        let mut distinct = Self::new(self.files, self.room * SIZE as usize / 2);
        let mut last = None;
        let key = |edge: Edge| (edge.vertices(), !edge.similarity.to_bits());
        self.for_each_in_order(workers, key, |edge| {
            if edge.left != edge.right && last.replace(edge.vertices()) != Some(edge.vertices()) {
                distinct.push(edge)?;
            }
            Ok(())
        })?;
        Ok(distinct)
    }
}

/// Sorted runs of edges in a file, to be merged.
struct Runs {
    file: Box<dyn TempFile>,
    /// What is left of each run in the file.
    runs: Vec<std::ops::Range<u64>>,
    /// Edges that are read at one time.
    piece: u64,
    /// What was read of each run, and the next of it.
    buffers: Vec<(Vec<Packed>, usize)>,
    /// The next edge of each run by its key.
    heads: BinaryHeap<Reverse<(Key, usize)>>,
}

impl Runs {
    /// Brings the next edge of a run among the heads, if there is one.
    fn refill(&mut self, run: usize, workers: &dyn Workers, key: &impl Fn(Edge) -> Key) -> Result<()> {
        let (buffer, next) = &mut self.buffers[run];
        if *next == buffer.len() {
            let range = &mut self.runs[run];
            let length = self.piece.min(range.end - range.start);
            buffer.resize(length as usize, [0; 2]);
            self.file.read(range.start * SIZE, bytemuck::cast_slice_mut(buffer))?;
            range.start += length;
            *next = 0;
            workers.breathe()?;
        }
        self.heads.extend(buffer.get(*next).map(|&edge| Reverse((key(Edge::unpack(edge)), run))));
        Ok(())
    }

    fn next(&mut self, workers: &dyn Workers, key: &impl Fn(Edge) -> Key) -> Result<Option<Edge>> {
        let Some(Reverse((_, run))) = self.heads.pop() else { return Ok(None) };
        let (buffer, next) = &mut self.buffers[run];
        let edge = buffer[*next];
        *next += 1;
        self.refill(run, workers, key)?;
        Ok(Some(Edge::unpack(edge)))
    }
}

/// Edges in an order, given one after the other.
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
    /// The next edge; none after the last.
    pub fn next(&mut self, workers: &dyn Workers, key: impl Fn(Edge) -> Key) -> Result<Option<Edge>> {
        if let Some(runs) = &mut self.runs {
            return runs.next(workers, &key);
        }
        let edge = self.held.get(self.next).map(|&edge| Edge::unpack(edge));
        self.next += 1;
        Ok(edge)
    }

    /// Bytes on the heap.
    pub fn bytes(&self) -> usize {
        let buffered =
            self.runs.iter().flat_map(|runs| &runs.buffers).map(|(buffer, _)| memory::bytes(buffer));
        memory::bytes(&self.held) + buffered.sum::<usize>()
    }
}

fn walk(edges: &[Packed], workers: &dyn Workers, each: &mut impl FnMut(Edge) -> Result<()>) -> Result<()> {
    for piece in edges.chunks(PIECE) {
        workers.breathe()?;
        piece.iter().try_for_each(|&edge| each(Edge::unpack(edge)))?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::files::MemoryFiles;
    use crate::hash::mix;
    use crate::workers::PlainThreads;

    #[test]
    fn files_keep_what_memory_would() {
        let workers = &PlainThreads(1);
        let all: Vec<Edge> = (0..150_000u64)
            .map(|n| {
                let (a, b) = (mix(n) % 900, mix(n ^ 7) % 900);
                Edge::new(a as u32, b as u32, (mix(n + 3) % 100) as f64 / 99.0)
            })
            .collect();
        let mut seen = Vec::new();
        for budget in [0, 1 << 30] {
            let mut edges = Edges::new(&MemoryFiles, budget);
            all.iter().for_each(|&edge| edges.push(edge).unwrap());
            assert_eq!(edges.fit(), budget > 0);
            let (mut unsorted, mut sorted, mut distinct) = (Vec::new(), Vec::new(), Vec::new());
            edges
                .for_each(workers, |edge| {
                    unsorted.push(edge.pack());
                    Ok(())
                })
                .unwrap();
            unsorted.sort_unstable();
            edges
                .for_each_in_order(workers, Edge::strongest_first, |edge| {
                    sorted.push(edge);
                    Ok(())
                })
                .unwrap();
            assert!(sorted.is_sorted_by_key(|edge| edge.strongest_first()));
            let mut copy = Edges::new(&MemoryFiles, budget);
            all.iter().for_each(|&edge| copy.push(edge).unwrap());
            let mut in_order = copy.in_order(workers, Edge::strongest_first).unwrap();
            let one_by_one = std::iter::from_fn(|| in_order.next(workers, Edge::strongest_first).unwrap());
            assert!(one_by_one.eq(sorted.iter().copied()));
            let mut edges = edges.distinct(workers).unwrap();
            edges
                .for_each(workers, |edge| {
                    distinct.push(edge.pack());
                    Ok(())
                })
                .unwrap();
            distinct.sort_unstable();
            seen.push((unsorted, sorted, distinct));
        }
        assert_eq!(seen[0], seen[1]);
        let (unsorted, sorted, distinct) = &seen[0];
        assert_eq!((unsorted.len(), sorted.len()), (all.len(), all.len()));
        assert!(distinct.is_sorted_by(|a, b| a[0] < b[0]));
    }
}
