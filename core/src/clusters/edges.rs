//! The edges of a graph, which may be too many for memory: they are held in memory up to a budget,
//! then in temporary files.

use super::edge::{Edge, Key, Packed, SIZE};
use super::runs::{InOrder, PIECE, Runs};
use crate::error::Result;
use crate::executor::{self, Executor, Stop};
use crate::memory;
use crate::storage::files::{TempFile, TempFiles};

const DOING: &str = "keeping pairs";

/// Edges that are held in memory up to a budget, and then in temporary files.
pub struct Edges<'f> {
    files: &'f dyn TempFiles,
    /// The number of edges that fit in memory.
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

impl<'f> Edges<'f> {
    /// Starts without edges. About `budget` bytes of edges may be held in memory.
    pub fn new(files: &'f dyn TempFiles, budget: usize) -> Self {
        let room = (budget / SIZE as usize).max(2 * PIECE);
        Self { files, room, held: Vec::new(), file: None, written: 0 }
    }

    /// Returns the number of edges.
    pub fn len(&self) -> u64 {
        self.written + self.held.len() as u64
    }

    /// Reports whether all edges are in memory.
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
        executor: &dyn Executor,
        mut each: impl FnMut(Edge) -> Result<()>,
    ) -> Result<()> {
        if let Some(file) = &mut self.file {
            let mut buffer = memory::filled([0; 2], PIECE, DOING)?;
            let mut at = 0;
            while at < self.written {
                let piece = PIECE.min((self.written - at) as usize);
                file.read(at * SIZE, bytemuck::cast_slice_mut(&mut buffer[..piece]))?;
                at += piece as u64;
                executor.check_interrupts()?;
                buffer[..piece].iter().try_for_each(|&edge| each(Edge::unpack(edge)))?;
            }
        }
        walk(&self.held, executor, &mut each)
    }

    /// Calls `each` with every edge, in the order of their keys. O(edges · log edges). Edges that
    /// do not fit in memory are sorted in runs, which are written to a second file and merged.
    pub fn for_each_in_order(
        &mut self,
        executor: &dyn Executor,
        key: impl Fn(Edge) -> Key + Sync,
        mut each: impl FnMut(Edge) -> Result<()>,
    ) -> Result<()> {
        let Some(mut runs) = self.sort(executor, None::<fn(Edge) -> u32>, &key)? else {
            return walk(&self.held, executor, &mut each);
        };
        while let Some(edge) = runs.next(executor, &key)? {
            each(edge)?;
        }
        Ok(())
    }

    /// Returns the edges one at a time, in the order of their keys. The same function `key` has to
    /// be passed to each call of `next`. An edge of a greater group must have a greater key and a
    /// greater left end. So edges are first sorted by their left ends, and keys are computed only
    /// to sort the edges of a group.
    pub fn in_order(
        mut self,
        executor: &dyn Executor,
        group: impl Fn(Edge) -> u32 + Sync,
        key: impl Fn(Edge) -> Key + Sync,
    ) -> Result<InOrder> {
        let runs = self.sort(executor, Some(group), &key)?;
        Ok(InOrder::new(self.held, runs))
    }

    /// Sorts the edges in memory, or writes sorted runs to a file.
    fn sort(
        &mut self,
        executor: &dyn Executor,
        group: Option<impl Fn(Edge) -> u32 + Sync>,
        key: &(impl Fn(Edge) -> Key + Sync),
    ) -> Result<Option<Runs>> {
        let by_key = |edges: &mut [Packed], stop: &Stop| {
            executor::sort_unstable_by(edges, stop, &|a, b| key(Edge::unpack(*a)).cmp(&key(Edge::unpack(*b))))
        };
        let sort = |edges: &mut [Packed]| {
            executor::one(executor, &mut &mut *edges, |edges, stop| {
                let Some(group) = &group else { return by_key(edges, stop) };
                executor::sort_unstable_by(edges, stop, &|a: &Packed, b: &Packed| a[0].cmp(&b[0]))?;
                let is_one = |a: &Packed, b: &Packed| group(Edge::unpack(*a)) == group(Edge::unpack(*b));
                edges.chunk_by_mut(is_one).try_for_each(|edges| by_key(edges, stop))
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
        Runs::new(sorted, runs, self.room, executor, key).map(Some)
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

fn walk(edges: &[Packed], executor: &dyn Executor, each: &mut impl FnMut(Edge) -> Result<()>) -> Result<()> {
    for piece in edges.chunks(PIECE) {
        executor.check_interrupts()?;
        piece.iter().try_for_each(|&edge| each(Edge::unpack(edge)))?;
    }
    Ok(())
}

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
