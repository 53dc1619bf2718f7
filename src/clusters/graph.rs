//! A graph of rows: its edges, each of which stands for the pairs of two groups of equal rows.

use super::edge::Edge;
use super::edges::Edges;
use super::equal_rows::EqualRows;
use crate::error::Result;
use crate::executor::Executor;

/// How many edges or rows are walked between two looks for requests to stop.
pub(super) const CHECK_EVERY: usize = 1 << 14;

/// The pairs of rows.
#[derive(Debug)]
pub struct Graph<'f> {
    /// How many rows there are.
    pub vertices: usize,
    /// Between the first rows of groups, each edge once.
    pub edges: Edges<'f>,
    /// The groups of two and more rows.
    pub equal: EqualRows,
}

impl<'f> Graph<'f> {
    /// The graph of pairs that are edges, each once.
    pub fn new(edges: Edges<'f>, vertices: usize) -> Self {
        Self { vertices, edges, equal: EqualRows::default() }
    }

    /// Calls `each` with a similarity and a number of pairs that have it, until that was done for all pairs. O(edges + groups).
    pub fn for_each_similarity(
        &mut self,
        executor: &dyn Executor,
        mut each: impl FnMut(f64, u64),
    ) -> Result<()> {
        let Self { edges, equal, .. } = self;
        equal.groups().filter(|(_, are_pairs)| *are_pairs).for_each(|(rows, _)| {
            let rows = rows.len() as u64;
            each(1.0, rows * (rows - 1) / 2);
        });
        edges.for_each(executor, |Edge { left, right, similarity }| {
            each(similarity, equal.count(left) * equal.count(right));
            Ok(())
        })
    }
}
