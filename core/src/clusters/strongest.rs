//! The union of rows by pairs, from the most similar pair down, without examining pairs that cannot
//! unite anything.
//!
//! This is Kruskal's algorithm over all pairs of rows; equally similar pairs are ordered by their
//! rows ([`Edge::strongest_first`]). An edge between two groups represents many pairs. They are
//! walked in the order of their left rows, and for each left row in the order of the right rows.
//! Most pairs unite nothing, and it is known in advance which ones: two parts that were too large
//! to be united remain so, and rows that are in one part remain in one part. A part that accepts no
//! more rows is full. So if all rows of a group from some place on are in full parts or in one
//! other part, only one of these rows is examined.
//!
//! Connected components of bounded size follow from it, and the weakest links of clusters: the
//! pairs without which clusters would fall apart.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::components::Components;
use super::edges::Edge;
use super::graph::{CHECK_EVERY, EqualRows, Graph};
use super::leaders::Degrees;
use crate::error::Result;
use crate::executor::{self, Executor};
use crate::memory;

const DOING: &str = "connecting pairs";
const DOING_LINKS: &str = "finding weak links";

/// Unites rows by all pairs, the strongest first, unless that makes a part larger than `largest`.
/// Calls `united` with each pair that united two parts, and with the sizes of these parts. O(edges
/// · log edges + rows · log rows) if nearly all parts are full or are whole groups.
pub fn unite(
    graph: &mut Graph<'_>,
    components: &mut Components,
    largest: u32,
    executor: &dyn Executor,
    mut united: impl FnMut(Edge, [u32; 2]) -> Result<()>,
) -> Result<()> {
    let Graph { edges, equal, .. } = graph;
    if equal.is_empty() {
        return edges.for_each_in_order(executor, Edge::strongest_first, |edge| {
            match components.unite(edge.left, edge.right, largest) {
                Some(sizes) => united(edge, sizes),
                None => Ok(()),
            }
        });
    }
    let mut walk = StrongestWalk::new(equal, components, largest, executor, &mut united)?;
    let mut loops = memory::collect(equal.loops(), DOING)?;
    executor::sort(executor, &mut loops, |a, b| a.strongest_first().cmp(&b.strongest_first()))?;
    let mut loops = loops.into_iter().peekable();
    edges.for_each_in_order(executor, Edge::strongest_first, |edge| {
        while let Some(first) = loops.next_if(|first| first.strongest_first() < edge.strongest_first()) {
            walk.edge(first)?;
        }
        walk.edge(edge)
    })?;
    loops.try_for_each(|edge| walk.edge(edge))?;
    walk.go(None)
}

/// The pairs whose left rows are in one group, and whose right rows are greater rows of another
/// group or of the same group.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct StrongestTask {
    /// The next left row. `place` is its place among the rows of its group, and `other` is the
    /// first row of the group of the right rows.
    left: u32,
    place: usize,
    other: u32,
}

/// The right rows of one task for the left row that is being walked.
struct Rights {
    task: StrongestTask,
    /// The place of the first right row.
    from: usize,
    /// The place of the next right row.
    next: usize,
    /// True if a pair united nothing because its parts are too large.
    too_large: bool,
}

struct StrongestWalk<'a, F> {
    equal: &'a EqualRows,
    components: &'a mut Components,
    largest: u32,
    executor: &'a dyn Executor,
    united: F,
    /// The similarity of all tasks.
    similarity: f64,
    tasks: BinaryHeap<Reverse<StrongestTask>>,
    /// For each place among the rows of all groups: the place of a later row if the row there is in
    /// a full part, else the place itself.
    open: Vec<u32>,
    /// For each group, a place from which on all its rows are in one part, except rows in full
    /// parts.
    one_from: Vec<usize>,
    steps: usize,
}

impl<'a, F: FnMut(Edge, [u32; 2]) -> Result<()>> StrongestWalk<'a, F> {
    fn new(
        equal: &'a EqualRows,
        components: &'a mut Components,
        largest: u32,
        executor: &'a dyn Executor,
        united: F,
    ) -> Result<Self> {
        let open = memory::collect(0..equal.len() as u32, DOING)?;
        let one_from = equal.each_group(|rows| rows.len() - 1)?;
        let tasks = BinaryHeap::new();
        Ok(Self {
            equal,
            components,
            largest,
            executor,
            united,
            similarity: 1.0,
            tasks,
            open,
            one_from,
            steps: 0,
        })
    }

    /// Walks the pairs that come before those of an edge, and begins with these.
    fn edge(&mut self, edge: Edge) -> Result<()> {
        if edge.similarity != self.similarity {
            self.go(None)?;
            self.similarity = edge.similarity;
        }
        self.go(Some(edge.left))?;
        self.begin(edge.left, edge.right);
        // If both rows are alone, this is the only pair; a group has each of its pairs once.
        let is_more = self.equal.count(edge.left) + self.equal.count(edge.right) > 2;
        if edge.left != edge.right && is_more {
            self.begin(edge.right, edge.left);
        }
        Ok(())
    }

    fn begin(&mut self, first: u32, other: u32) {
        self.tasks.push(Reverse(StrongestTask { left: first, place: 0, other }));
    }

    /// Walks the pairs of all left rows less than `before`, or of all left rows if it is `None`.
    fn go(&mut self, before: Option<u32>) -> Result<()> {
        while let Some(&Reverse(task)) = self.tasks.peek()
            && before.is_none_or(|before| task.left < before)
        {
            let mut rights = Vec::new();
            while let Some(&Reverse(next)) = self.tasks.peek()
                && next.left == task.left
            {
                self.tasks.pop();
                let from = self.equal.rows(&next.other).partition_point(|&row| row <= next.left);
                memory::push(&mut rights, Rights { task: next, from, next: from, too_large: false }, DOING)?;
            }
            self.left(task.left, rights)?;
        }
        Ok(())
    }

    /// Walks the pairs of a left row.
    fn left(&mut self, left: u32, mut rights: Vec<Rights>) -> Result<()> {
        let mut nearest = BinaryHeap::new();
        for (n, right) in rights.iter().enumerate() {
            nearest.extend(
                self.open_row(right.task.other, right.from).map(|(row, place)| Reverse((row, n, place))),
            );
        }
        let mut is_full = false;
        while let Some(Reverse((row, n, place))) = nearest.pop() {
            self.steps += 1;
            executor::breathe(self.executor, self.steps, CHECK_EVERY)?;
            is_full = self.components.size(left) >= self.largest;
            if is_full {
                break;
            }
            let right = &mut rights[n];
            match self.components.unite(left, row, self.largest) {
                Some(sizes) => (self.united)(Edge::new(left, row, self.similarity), sizes)?,
                None => right.too_large |= self.components.root(left) != self.components.root(row),
            }
            right.next = place + 1;
            let other = right.task.other;
            if place < self.one_from(other) {
                let next = self.open_row(other, place + 1);
                nearest.extend(next.map(|(row, place)| Reverse((row, n, place))));
            }
        }
        for Rights { task, from, too_large, .. } in rights {
            let first = self.equal.first(left);
            let others = self.equal.rows(&task.other).len();
            if !is_full && !too_large {
                // All right rows are now in the part of the left row. If they are in the same group
                // as the left row, the rows of this group that are in one part begin with the left
                // row itself.
                let from = if first == task.other { task.place } else { from };
                if let Some(number) = self.equal.number(task.other) {
                    self.one_from[number] = from.min(self.one_from[number]);
                }
            }
            // The pairs of later left rows would be pairs of the same two parts.
            let is_done = !is_full && self.one_from(first) <= task.place && self.one_from(task.other) <= from;
            if from < others && !is_done {
                let next = self.open_row(first, task.place + 1);
                self.tasks.extend(
                    next.map(|(left, place)| Reverse(StrongestTask { left, place, other: task.other })),
                );
            }
        }
        Ok(())
    }

    fn one_from(&self, first: u32) -> usize {
        self.equal.number(first).map_or(0, |number| self.one_from[number])
    }

    /// Returns the first row of a group at or after the place `from` that is not in a full part,
    /// and the place of this row.
    fn open_row(&mut self, first: u32, from: usize) -> Option<(u32, usize)> {
        let equal = self.equal;
        let rows = equal.rows(&first);
        let Some(start) = equal.place(first) else { return rows.get(from).map(|&row| (row, from)) };
        let mut place = from;
        while let Some(&row) = rows.get(place) {
            // Paths are halved, as in Components::root.
            let next = self.open[start + place] as usize;
            if next == start + place {
                if self.components.size(row) < self.largest {
                    return Some((row, place));
                }
                self.open[start + place] += 1;
                place += 1;
            } else {
                if next - start < rows.len() {
                    self.open[start + place] = self.open[next];
                }
                place = next - start;
            }
            self.steps += 1;
        }
        None
    }
}

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
        memory::push(&mut links, Link { edge, parts }, DOING_LINKS)
    })?;
    Ok(links)
}

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
