//! Connected components, and components that may not grow beyond a size.

use super::components::Components;
use super::edge::Edge;
use super::graph::{BREATH, Graph};
use super::leaders::Degrees;
use super::strongest::unite;
use crate::error::Result;
use crate::workers::Workers;

/// The connected components of at most `largest` vertices.
///
/// Where a component is larger, it is built from its most similar pairs down, and a pair that would
/// make a part too large connects nothing: so it breaks at its weakest links.
pub fn connected(
    graph: &mut Graph<'_>,
    degrees: &Degrees,
    largest: Option<u32>,
    workers: &dyn Workers,
) -> Result<Components> {
    let mut components = Components::new(graph.vertices)?;
    let Graph { edges, equal, .. } = graph;
    for (rows, _) in equal.groups() {
        // Also equal rows that are no pairs with each other are connected where they are pairs with another one.
        if degrees.pairs[rows[0] as usize] == 0 {
            continue;
        }
        for rows in rows.chunks(BREATH) {
            workers.breathe()?;
            rows.iter().for_each(|&row| {
                components.unite(equal.first(row), row, u32::MAX);
            });
        }
    }
    edges.for_each(workers, |Edge { left, right, .. }| {
        components.unite(left, right, u32::MAX);
        Ok(())
    })?;
    match largest {
        Some(largest) if components.largest() > largest => {
            let mut bounded = Components::new(graph.vertices)?;
            unite(graph, &mut bounded, largest, workers, |_, _| Ok(()))?;
            Ok(bounded)
        }
        _ => Ok(components),
    }
}
