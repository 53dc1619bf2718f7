//! Connected components by union-find.

use crate::error::Result;
use crate::memory;

const DOING: &str = "connecting pairs";

/// Disjoint sets of vertices (Tarjan: union by size, path halving). An operation takes nearly O(1).
#[derive(Debug)]
pub struct Components {
    parent: Vec<u32>,
    size: Vec<u32>,
}

impl Components {
    /// Starts with `vertices` sets of one vertex each.
    pub fn new(vertices: usize) -> Result<Self> {
        let parent = memory::collect(0..vertices as u32, DOING)?;
        Ok(Self { parent, size: memory::filled(1, vertices, DOING)? })
    }

    /// Returns the vertex that represents the set of `vertex`. It depends on the order of earlier
    /// unions.
    pub fn root(&mut self, mut vertex: u32) -> u32 {
        while self.parent[vertex as usize] != vertex {
            let above = self.parent[vertex as usize];
            self.parent[vertex as usize] = self.parent[above as usize];
            vertex = above;
        }
        vertex
    }

    /// Returns the size of the set of a vertex.
    pub fn size(&mut self, vertex: u32) -> u32 {
        let root = self.root(vertex);
        self.size[root as usize]
    }

    /// Returns the greatest size of a set.
    pub fn largest(&self) -> u32 {
        self.size.iter().copied().max().unwrap_or(0)
    }

    /// Unites the sets of two vertices unless the result would be larger than `largest`. Returns
    /// the sizes that the sets had, or `None` if nothing was united.
    pub fn unite(&mut self, a: u32, b: u32, largest: u32) -> Option<[u32; 2]> {
        let (a, b) = (self.root(a), self.root(b));
        let sizes = [a, b].map(|root| self.size[root as usize]);
        let size = sizes[0].saturating_add(sizes[1]);
        if a == b || size > largest {
            return None;
        }
        let (root, other) = if sizes[0] < sizes[1] { (b, a) } else { (a, b) };
        self.parent[other as usize] = root;
        self.size[root as usize] = size;
        Some(sizes)
    }

    /// Returns the number of bytes on the heap.
    pub fn bytes(&self) -> usize {
        memory::bytes(&self.parent) + memory::bytes(&self.size)
    }

    /// Returns the least vertex of the set of every vertex. O(vertices).
    pub fn least(&mut self) -> Result<Vec<u32>> {
        let vertices = self.parent.len();
        let mut least = memory::filled(u32::MAX, vertices, DOING)?;
        // Vertices come in ascending order, so the first one is the least.
        let least_of = |vertex: u32| {
            let root = self.root(vertex) as usize;
            least[root] = least[root].min(vertex);
            least[root]
        };
        memory::collect((0..vertices as u32).map(least_of), DOING)
    }
}
