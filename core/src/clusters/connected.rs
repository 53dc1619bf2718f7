//! Connected components, and components of bounded size.

use super::components::Components;
use super::edges::Edge;
use super::graph::{CHECK_EVERY, Graph};
use super::leaders::Degrees;
use super::strongest::unite;
use crate::error::Result;
use crate::executor::Executor;

/// Computes the connected components, of at most `largest` vertices each.
///
/// If a component is larger, it is rebuilt from its most similar pairs downwards, and a pair that
/// would make a part too large connects nothing. So the component breaks at its weakest links.
pub fn connected(
    graph: &mut Graph<'_>,
    degrees: &Degrees,
    largest: Option<u32>,
    executor: &dyn Executor,
) -> Result<Components> {
    let mut components = Components::new(graph.vertices)?;
    let Graph { edges, equal, .. } = graph;
    for rows in equal.groups() {
        // Equal rows that are not pairs with each other are also connected if they form pairs with
        // another row.
        if degrees.pairs[rows[0] as usize] == 0 {
            continue;
        }
        for rows in rows.chunks(CHECK_EVERY) {
            executor.check_interrupts()?;
            rows.iter().for_each(|&row| {
                components.unite(equal.first(row), row, u32::MAX);
            });
        }
    }
    edges.for_each(executor, |Edge { left, right, .. }| {
        components.unite(left, right, u32::MAX);
        Ok(())
    })?;
    match largest {
        Some(largest) if components.largest() > largest => {
            let mut bounded = Components::new(graph.vertices)?;
            unite(graph, &mut bounded, largest, executor, |_, _| Ok(()))?;
            Ok(bounded)
        }
        _ => Ok(components),
    }
}
