//! The edges of a graph, which may be too many for memory: they are held in memory up to a budget,
//! then in temporary files.
//!
//! An edge is a pair of rows and its similarity.

use crate::error::Result;
use crate::executor::{self, Executor, Stop};
use crate::storage::files::TempFiles;
use crate::storage::log::Log;
use crate::storage::sort::Merge;

/// The number of edges that are read or walked at one time.
const PIECE: usize = 1 << 14;

/// Edges that are held in memory up to a budget, and then in temporary files.
pub struct Edges<'f> {
    files: &'f dyn TempFiles,
    /// The number of edges that fit in memory.
    room: usize,
    log: Log<PackedEdge>,
}

impl std::fmt::Debug for Edges<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} edges", self.len())
    }
}

impl<'f> Edges<'f> {
    /// Starts without edges. About `budget` bytes of edges may be held in memory.
    pub fn new(files: &'f dyn TempFiles, budget: usize) -> Self {
        let room = (budget / SIZE as usize).max(2 * PIECE);
        Self { files, room, log: Log::new(room * SIZE as usize) }
    }

    /// Returns the number of edges.
    pub fn len(&self) -> u64 {
        self.log.len()
    }

    /// Reports whether all edges are in memory.
    pub fn fit(&self) -> bool {
        !self.log.is_in_file()
    }

    /// Adds an edge. O(1).
    pub fn push(&mut self, edge: Edge) -> Result<()> {
        self.log.push(edge.pack(), self.files)
    }

    /// Calls `each` with every edge, in no particular order. O(edges).
    pub fn for_each(
        &mut self,
        executor: &dyn Executor,
        mut each: impl FnMut(Edge) -> Result<()>,
    ) -> Result<()> {
        self.log
            .for_each(PIECE, executor, |edges| edges.iter().try_for_each(|&edge| each(Edge::unpack(edge))))
    }

    /// Calls `each` with every edge, in the order of their keys. O(edges · log edges). Edges that
    /// do not fit in memory are sorted in blocks, which are written to a second file and merged.
    pub fn for_each_in_order(
        &mut self,
        executor: &dyn Executor,
        key: impl Fn(Edge) -> EdgeKey + Sync,
        mut each: impl FnMut(Edge) -> Result<()>,
    ) -> Result<()> {
        match self.sort(executor, None::<fn(Edge) -> u32>, &key)? {
            None => self.for_each(executor, each),
            Some(mut blocks) => {
                while let Some(edge) = blocks.next(executor, &|&edge| key(Edge::unpack(edge)))? {
                    each(Edge::unpack(edge))?;
                }
                Ok(())
            }
        }
    }

    /// Returns the edges one at a time, in the order of their keys. The same function `key` has to
    /// be passed to each call of `next`. An edge of a greater group must have a greater key and a
    /// greater left end. So edges are first sorted by their left ends, and keys are computed only
    /// to sort the edges of a group.
    pub fn in_order(
        mut self,
        executor: &dyn Executor,
        group: impl Fn(Edge) -> u32 + Sync,
        key: impl Fn(Edge) -> EdgeKey + Sync,
    ) -> Result<InOrder> {
        let blocks = self.sort(executor, Some(group), &key)?;
        let held = if blocks.is_some() { Log::default() } else { self.log };
        Ok(InOrder { held, next: 0, blocks })
    }

    /// Sorts the edges in memory, or writes sorted blocks of them to a file.
    fn sort(
        &mut self,
        executor: &dyn Executor,
        group: Option<impl Fn(Edge) -> u32 + Sync>,
        key: &(impl Fn(Edge) -> EdgeKey + Sync),
    ) -> Result<Option<Blocks>> {
        let by_key = |edges: &mut [PackedEdge], stop: &Stop| {
            executor::sort_unstable_by(edges, stop, &|a, b| key(Edge::unpack(*a)).cmp(&key(Edge::unpack(*b))))
        };
        let sort = |edges: &mut [PackedEdge]| {
            executor::one(executor, &mut &mut *edges, |edges, stop| {
                let Some(group) = &group else { return by_key(edges, stop) };
                executor::sort_unstable_by(edges, stop, &|a: &PackedEdge, b: &PackedEdge| a[0].cmp(&b[0]))?;
                let is_one =
                    |a: &PackedEdge, b: &PackedEdge| group(Edge::unpack(*a)) == group(Edge::unpack(*b));
                edges.chunk_by_mut(is_one).try_for_each(|edges| by_key(edges, stop))
            })
        };
        if self.fit() {
            sort(self.log.held_mut())?;
            return Ok(None);
        }
        let (mut sorted, mut blocks, mut block) = (Log::default(), Vec::new(), Vec::new());
        while sorted.len() < self.len() {
            let at = sorted.len();
            block.clear();
            self.log.append(at, self.room.min((self.len() - at) as usize), &mut block)?;
            sort(&mut block)?;
            sorted.extend(&block, self.files)?;
            blocks.push(at..sorted.len());
        }
        drop(block);
        Merge::new(sorted, blocks, self.room, executor, &|&edge| key(Edge::unpack(edge))).map(Some)
    }

    /// Returns the edges with other numbers of their vertices.
    pub(super) fn renumbered(mut self, number: impl Fn(u32) -> u32, executor: &dyn Executor) -> Result<Self> {
        let mut renumbered = Self::new(self.files, self.room * SIZE as usize / 2);
        self.for_each(executor, |Edge { left, right, similarity }| {
            renumbered.push(Edge::new(number(left), number(right), similarity))
        })?;
        Ok(renumbered)
    }

    /// Returns the edges without repeated edges and loops. Of several edges between the same two
    /// vertices, the strongest is kept.
    pub fn distinct(mut self, executor: &dyn Executor) -> Result<Self> {
        let mut distinct = Self::new(self.files, self.room * SIZE as usize / 2);
        let mut last = None;
        let key = |edge: Edge| (edge.vertices(), !edge.similarity.to_bits());
        self.for_each_in_order(executor, key, |edge| {
            if edge.left != edge.right && last.replace(edge.vertices()) != Some(edge.vertices()) {
                distinct.push(edge)?;
            }
            Ok(())
        })?;
        Ok(distinct)
    }
}

/// Sorted blocks of edges in a file.
type Blocks = Merge<PackedEdge, EdgeKey>;

/// Sorted edges, which are returned one at a time.
#[derive(Debug)]
pub struct InOrder {
    held: Log<PackedEdge>,
    next: usize,
    blocks: Option<Blocks>,
}

impl InOrder {
    /// Returns the next edge, or `None` after the last.
    pub fn next(&mut self, executor: &dyn Executor, key: impl Fn(Edge) -> EdgeKey) -> Result<Option<Edge>> {
        if let Some(blocks) = &mut self.blocks {
            return Ok(blocks.next(executor, &|&edge| key(Edge::unpack(edge)))?.map(Edge::unpack));
        }
        let edge = self.held.held_mut().get(self.next).map(|&edge| Edge::unpack(edge));
        self.next += 1;
        Ok(edge)
    }

    /// Returns the number of bytes on the heap.
    pub fn bytes(&self) -> usize {
        self.held.bytes() + self.blocks.as_ref().map_or(0, Merge::bytes)
    }
}

/// A pair of vertices and its similarity.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Edge {
    /// The smaller vertex.
    pub left: u32,
    /// The greater vertex.
    pub right: u32,
    /// The similarity of the two vertices, from 0 to 1.
    pub similarity: f64,
}

/// The stored form of an edge, in a file and in memory: the vertices, and the bits of the
/// similarity.
pub type PackedEdge = [u64; 2];

/// The sort key of an edge. Edges are ordered by the first number, then by the second.
pub type EdgeKey = (u64, u64);

impl Edge {
    /// Returns the edge between two vertices, given in either order.
    pub fn new(a: u32, b: u32, similarity: f64) -> Self {
        Self { left: a.min(b), right: a.max(b), similarity }
    }

    /// Returns the stored form.
    pub(super) fn pack(self) -> PackedEdge {
        [self.vertices(), self.similarity.to_bits()]
    }

    /// Restores an edge from the stored form.
    pub(super) fn unpack([vertices, similarity]: PackedEdge) -> Self {
        let similarity = f64::from_bits(similarity);
        Self { left: (vertices >> 32) as u32, right: vertices as u32, similarity }
    }

    /// Returns the vertices as one number, ordered by left and then by right.
    pub fn vertices(self) -> u64 {
        u64::from(self.left) << 32 | u64::from(self.right)
    }

    /// Returns the similarity as a whole number in units of 2⁻⁵³, so sums do not depend on the
    /// order of their terms.
    pub fn weight(self) -> u64 {
        (self.similarity * (1u64 << 53) as f64) as u64
    }

    /// Returns the key that orders edges from the greatest similarity to the least, and equally
    /// similar edges by their vertices.
    pub fn strongest_first(self) -> EdgeKey {
        // Similarities are not negative, so their bits are in the same order as their values.
        (!self.similarity.to_bits(), self.vertices())
    }
}

/// The number of bytes of an edge in a file.
pub(super) const SIZE: u64 = size_of::<PackedEdge>() as u64;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::executor::PlainThreads;
    use crate::hash::mix;
    use crate::storage::files::MemoryFiles;

    #[test]
    fn files_keep_what_memory_would() {
        let executor = &PlainThreads(1);
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
                .for_each(executor, |edge| {
                    unsorted.push(edge.pack());
                    Ok(())
                })
                .unwrap();
            unsorted.sort_unstable();
            edges
                .for_each_in_order(executor, Edge::strongest_first, |edge| {
                    sorted.push(edge);
                    Ok(())
                })
                .unwrap();
            assert!(sorted.is_sorted_by_key(|edge| edge.strongest_first()));
            let mut copy = Edges::new(&MemoryFiles, budget);
            all.iter().for_each(|&edge| copy.push(edge).unwrap());
            let group = |edge: Edge| edge.left / 10;
            let key = |edge: Edge| (group(edge).into(), u64::from(edge.right) << 32 | u64::from(edge.left));
            let mut in_order = copy.in_order(executor, group, key).unwrap();
            let mut one_by_one: Vec<_> =
                std::iter::from_fn(|| in_order.next(executor, key).unwrap()).collect();
            assert!(one_by_one.is_sorted_by_key(|&edge| key(edge)));
            one_by_one.sort_unstable_by_key(|edge| edge.pack());
            assert!(one_by_one.iter().map(|edge| edge.pack()).eq(unsorted.iter().copied()));
            let mut edges = edges.distinct(executor).unwrap();
            edges
                .for_each(executor, |edge| {
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
