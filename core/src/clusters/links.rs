//! The weakest links of clusters: the pairs without which clusters would fall apart.

use super::components::Components;
use super::edge::Edge;
use super::graph::Graph;
use super::strongest::unite;
use crate::error::Result;
use crate::executor::Executor;
use crate::memory;

const DOING: &str = "finding weak links";

/// A pair that connects two parts. No other connection between these parts is stronger.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Link {
    /// The pair.
    pub edge: Edge,
    /// The sizes of the two parts that contain the left and the right row of the pair. Each part is
    /// held together by pairs that are more similar, or equally similar and earlier.
    pub parts: [u32; 2],
}

/// Returns the links of a spanning forest of greatest similarity (Kruskal), the strongest first. At
/// any threshold, the links of at least this similarity connect the same components as all pairs of
/// at least this similarity. A component of n vertices has n - 1 links. O(edges · log edges).
pub fn links(graph: &mut Graph<'_>, executor: &dyn Executor) -> Result<Vec<Link>> {
    let mut components = Components::new(graph.vertices)?;
    let mut links = Vec::new();
    unite(graph, &mut components, u32::MAX, executor, |edge, parts| {
        memory::push(&mut links, Link { edge, parts }, DOING)
    })?;
    Ok(links)
}
