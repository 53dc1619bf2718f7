//! The weakest links of clusters: the pairs that hold together what would fall apart without them.

use super::components::Components;
use super::edge::Edge;
use super::graph::Graph;
use super::strongest::unite;
use crate::error::Result;
use crate::executor::Executor;
use crate::memory;

const DOING: &str = "finding weak links";

/// A pair that connects two parts; every other connection between them is no stronger.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Link {
    /// The pair.
    pub edge: Edge,
    /// The sizes of the parts on its left and its right, which more similar pairs hold together.
    pub parts: [u32; 2],
}

/// The links of a spanning forest of greatest similarity (Kruskal), the strongest first: at any
/// threshold, the components are those that the links of at least that similarity connect. A component
/// of n vertices has n - 1. O(edges · log edges).
pub fn links(graph: &mut Graph<'_>, executor: &dyn Executor) -> Result<Vec<Link>> {
    let mut components = Components::new(graph.vertices)?;
    let mut links = Vec::new();
    unite(graph, &mut components, u32::MAX, executor, |edge, parts| {
        memory::push(&mut links, Link { edge, parts }, DOING)
    })?;
    Ok(links)
}
