//! A graph of rows. Each edge represents the pairs between two groups of equal rows.

use super::edges::{Edge, Edges};
use super::equal_rows::EqualRows;
use crate::error::Result;
use crate::executor::Executor;

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
