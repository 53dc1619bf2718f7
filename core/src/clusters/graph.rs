//! A graph of rows. Each edge represents the pairs between two groups of equal rows.
//!
//! Equal rows are one record of a join: if another row forms a pair with one of them, it forms a
//! pair with each of them. A group of n such rows has n · (n - 1) / 2 pairs of its own, and two
//! similar groups have as many pairs as the product of their sizes. None of these pairs is stored.
//! A graph has one edge between the first rows of the two groups, and code that walks the graph
//! counts this edge as that many pairs.

use super::edges::{Edge, Edges};
use crate::error::{Error, Result};
use crate::executor::Executor;
use crate::memory;
use crate::row_set::RowSet;
use crate::storage::rows::Ragged;

/// The number of edges or rows that are walked between two checks for interrupts.
pub(super) const CHECK_EVERY: usize = 1 << 14;

/// The pairs of rows.
#[derive(Debug)]
pub struct Graph<'f> {
    /// The number of rows.
    pub vertices: usize,
    /// The edges between the first rows of groups, each once.
    pub edges: Edges<'f>,
    /// The groups of two or more rows.
    pub equal: EqualRows,
}

impl<'f> Graph<'f> {
    /// Creates a graph in which each edge is one pair, listed once.
    pub fn new(edges: Edges<'f>, vertices: usize) -> Self {
        Self { vertices, edges, equal: EqualRows::default() }
    }

    /// Creates the graph of the pairs of a join, whose vertices are the rows that are in a pair or
    /// equal another row; those are few rows of many tables. With `whole`, all rows are vertices.
    ///
    /// `edges` are pairs of rows of groups, and `groups` are those of two or more rows, with their
    /// similarity as for [`EqualRows::push`]. `order` puts rows, which ascend, in the order of the
    /// vertices. Also returns the row of each vertex. O(rows + edges).
    pub fn of_rows<'g, E: From<Error>>(
        mut edges: Edges<'f>,
        groups: impl Iterator<Item = (&'g [u32], Option<f64>)> + Clone,
        rows: usize,
        whole: bool,
        order: impl FnOnce(&mut Vec<u32>) -> std::result::Result<(), E>,
        executor: &dyn Executor,
    ) -> std::result::Result<(Self, Vec<u32>), E> {
        let mut kept = RowSet::new(rows)?;
        if whole {
            (0..rows).for_each(|row| kept.insert(row));
        }
        for (rows, _) in groups.clone() {
            executor.check_interrupts()?;
            rows.iter().for_each(|&row| kept.insert(row as usize));
        }
        edges.for_each(executor, |edge| {
            [edge.left, edge.right].iter().for_each(|&row| kept.insert(row as usize));
            Ok(())
        })?;
        // Rows are numbered with 32 bits.
        let is_kept = |row: &u32| kept.contains(*row as usize);
        let mut of_vertices: Vec<u32> = memory::collect((0..rows as u32).filter(is_kept), DOING)?;
        let kept = kept.numbered()?;
        order(&mut of_vertices)?;
        let mut vertices = memory::filled(0, of_vertices.len(), DOING)?;
        for (&row, vertex) in of_vertices.iter().zip(0..) {
            vertices[kept.up_to(row) as usize - 1] = vertex;
        }
        let vertex = |row: u32| vertices[kept.up_to(row) as usize - 1];
        let mut equal = EqualRows::new(of_vertices.len())?;
        for (rows, similarity) in groups {
            executor.check_interrupts()?;
            equal.push(rows.iter().map(|&row| vertex(row)), similarity)?;
        }
        let edges = edges.renumbered(|row| equal.first(vertex(row)), executor)?;
        Ok((Self { vertices: of_vertices.len(), edges, equal }, of_vertices))
    }

    /// Calls `each` with a similarity and a number of pairs that have it, until all pairs are
    /// counted. The same similarity may come several times. O(edges + groups).
    pub fn for_each_similarity(
        &mut self,
        executor: &dyn Executor,
        mut each: impl FnMut(f64, u64),
    ) -> Result<()> {
        let Self { edges, equal, .. } = self;
        equal.loops().for_each(|Edge { left, similarity, .. }| {
            let rows = equal.count(left);
            each(similarity, rows * (rows - 1) / 2);
        });
        edges.for_each(executor, |Edge { left, right, similarity }| {
            each(similarity, equal.count(left) * equal.count(right));
            Ok(())
        })
    }
}

const DOING: &str = "grouping equal rows";

/// The groups of equal vertices. A vertex that equals no other is its own group.
#[derive(Debug, Default)]
pub struct EqualRows {
    /// The number of each vertex's group, or [`ALONE`]. Empty if all vertices are alone.
    group: Vec<u32>,
    /// The vertices of each group, in ascending order.
    rows: Ragged<u32>,
    /// For each group, the similarity of its vertices to each other, or [`NO_PAIRS`].
    similarity: Vec<f64>,
}

const ALONE: u32 = u32::MAX;
/// The similarity of equal vertices that are no pairs with each other. Pairs have a greater one.
const NO_PAIRS: f64 = 0.0;

impl EqualRows {
    /// Starts with `vertices` vertices, each alone.
    pub fn new(vertices: usize) -> Result<Self> {
        Ok(Self { group: memory::filled(ALONE, vertices, DOING)?, ..Self::default() })
    }

    /// Adds a group of two or more vertices, which are in no other group. `similarity` is that of
    /// each pair of them, or `None` if they are no pairs with each other.
    pub fn push(&mut self, rows: impl IntoIterator<Item = u32>, similarity: Option<f64>) -> Result<()> {
        let (number, from) = (self.rows.len() as u32, self.rows.end());
        for vertex in rows {
            self.group[vertex as usize] = number;
            memory::push(&mut self.rows.values, vertex, DOING)?;
        }
        self.rows.values[from..].sort_unstable();
        self.rows.close(DOING)?;
        memory::push(&mut self.similarity, similarity.unwrap_or(NO_PAIRS), DOING)
    }

    /// Reports whether all vertices are alone.
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// Returns the number of rows in groups.
    pub fn len(&self) -> usize {
        self.rows.values.len()
    }

    /// Returns the number of a vertex's group, or `None` if the vertex is alone.
    #[inline]
    pub fn number(&self, vertex: u32) -> Option<usize> {
        self.group.get(vertex as usize).filter(|&&group| group != ALONE).map(|&group| group as usize)
    }

    /// Returns the vertices of a vertex's group in ascending order. If the vertex is alone, this is
    /// the vertex itself.
    #[inline]
    pub fn rows<'a>(&'a self, vertex: &'a u32) -> &'a [u32] {
        self.number(*vertex).map_or(std::slice::from_ref(vertex), |number| self.rows.get(number))
    }

    /// Returns the place where the rows of a vertex's group begin among the rows of all groups, or
    /// `None` if the vertex is alone.
    #[inline]
    pub fn place(&self, vertex: u32) -> Option<usize> {
        self.number(vertex).map(|number| self.rows.range(number).start)
    }

    /// Returns the vertex that represents the group of a vertex: the first vertex of the group.
    #[inline]
    pub fn first(&self, vertex: u32) -> u32 {
        self.rows(&vertex)[0]
    }

    /// Returns the number of vertices in the group of a vertex.
    #[inline]
    pub fn count(&self, vertex: u32) -> u64 {
        self.rows(&vertex).len() as u64
    }

    /// Returns how similar the vertices of a vertex's group are to each other, or `None` if they
    /// are no pairs or the vertex is alone.
    pub fn similarity(&self, vertex: u32) -> Option<f64> {
        self.number(vertex).map(|number| self.similarity[number]).filter(|&similarity| similarity > NO_PAIRS)
    }

    /// Returns the groups of two or more vertices.
    pub fn groups(&self) -> impl Iterator<Item = &[u32]> {
        self.rows.iter()
    }

    /// Returns the groups whose vertices are pairs with each other, each as the edge from its first
    /// vertex to itself.
    pub fn loops(&self) -> impl Iterator<Item = Edge> {
        let all = self.rows.iter().zip(&self.similarity).filter(|(_, similarity)| **similarity > NO_PAIRS);
        all.map(|(rows, &similarity)| Edge::new(rows[0], rows[0], similarity))
    }

    /// Computes a value for each group of two or more vertices. Returns the values in the order of
    /// the groups' numbers.
    pub fn each_group<T>(&self, of: impl Fn(&[u32]) -> T) -> Result<Vec<T>> {
        memory::collect(self.rows.iter().map(of), DOING)
    }
}
