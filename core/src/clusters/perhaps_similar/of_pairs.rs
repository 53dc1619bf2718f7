//! Perhaps-similar sets (Huang et al., TLCS (CIKM 2008); docs/design/algorithms.md section 5),
//! built from pairs.
//!
//! Each pair is a list of two rows, and the weight of a row is the number of its pairs. The key of
//! a row is its weight, then its place in the order of ids. In each list, the row with the largest
//! key is the representative. Lists with the same representative are merged into one list. In
//! descending order of the representatives, each list absorbs the lists whose representative is one
//! of its members, including members that it gained in this way. The remaining lists are the sets.
//! A row may be in several sets.

use std::collections::BTreeMap;

use crate::clusters::edges::Edge;
use crate::clusters::graph::{EqualRows, Graph};
use crate::clusters::leaders::{Degrees, in_order, later_first, rank_by};
use crate::error::Result;
use crate::executor::{self, Executor};
use crate::memory;

const DOING: &str = "making perhaps-similar sets";

/// Returns the sets as pairs of a representative and a member, in no particular order. A
/// representative is also a member of its set. O(edges · log edges + memberships).
///
/// A set contains the rows that are reached from its representative through pairs, each time from a
/// larger key to a smaller one. The first set that reaches a row takes the row's list. So rows are
/// processed in descending order of their keys: of the sets that contain a row with a larger key
/// that forms a pair with the current row, the first set takes the current row's list.
///
/// Equal rows have the same weight; among them, the row with the greatest number comes first. Rows
/// of other groups may come between them. Then each of the groups adds the sets that take its lists
/// to the other groups that are similar to it.
pub fn perhaps_similar(
    graph: &mut Graph<'_>,
    degrees: &Degrees,
    executor: &dyn Executor,
) -> Result<Vec<(u32, u32)>> {
    let Graph { vertices, edges, equal } = graph;
    let key = |vertex: u32| (u32::MAX - degrees.pairs[vertex as usize], u32::MAX - vertex);
    let rank = rank_by(*vertices, key, executor)?;
    // The last row of a group comes first in the order of keys.
    let head = |vertex: u32| equal.rows(&vertex).last().copied().unwrap_or(vertex);
    let of_heads = |edge: Edge| Edge { left: head(edge.left), right: head(edge.right), ..edge };
    let mut sets = PairSets::new(equal, degrees, &rank)?;
    edges.for_each_in_order(
        executor,
        |edge| later_first(&rank)(of_heads(edge)),
        |edge| {
            let (earlier, later) = in_order(of_heads(edge), &rank);
            sets.go(rank[later as usize], executor)?;
            sets.meet(earlier, later)
        },
    )?;
    sets.go(*vertices as u32, executor)?;
    let PairSets { mut members, owner, .. } = sets;
    let own =
        (0..).zip(&owner).filter(|&(vertex, owner)| *owner == vertex && degrees.pairs[vertex as usize] > 0);
    memory::append(&mut members, own.map(|(vertex, _)| (vertex, vertex)), DOING)?;
    Ok(members)
}

/// A group of equal rows, or a single row that is processed next.
#[derive(Default)]
struct RowGroup {
    /// The sets that contain an earlier row that forms pairs with the rows of this group.
    around: Vec<u32>,
    /// The sets that took the lists of the group's own rows.
    own: Vec<u32>,
    /// The similar groups of the same weight, to whose `around` every further set in `own` is
    /// added.
    told: Vec<u32>,
}

struct PairSets<'a> {
    equal: &'a EqualRows,
    degrees: &'a Degrees,
    rank: &'a [u32],
    /// The vertices in the order of their ranks. The first `done` vertices are processed.
    order: Vec<u32>,
    done: usize,
    /// For each row, the set that took its list. At first, this is the row's own set.
    owner: Vec<u32>,
    members: Vec<(u32, u32)>,
    /// The groups, by their first rows.
    groups: BTreeMap<u32, RowGroup>,
}

fn add(sets: &mut Vec<u32>, set: u32) -> Result<bool> {
    let is_new = !sets.contains(&set);
    if is_new {
        memory::push(sets, set, DOING)?;
    }
    Ok(is_new)
}

impl<'a> PairSets<'a> {
    fn new(equal: &'a EqualRows, degrees: &'a Degrees, rank: &'a [u32]) -> Result<Self> {
        let owner: Vec<u32> = memory::collect(0..rank.len() as u32, DOING)?;
        let mut order = memory::filled(0u32, rank.len(), DOING)?;
        owner.iter().zip(rank).for_each(|(&vertex, &rank)| order[rank as usize] = vertex);
        Ok(Self { equal, degrees, rank, order, done: 0, owner, members: Vec::new(), groups: BTreeMap::new() })
    }

    /// Processes the vertices whose ranks are smaller than `rank`. All edges whose later group
    /// begins at one of these vertices must have been passed to `meet`.
    fn go(&mut self, rank: u32, executor: &dyn Executor) -> Result<()> {
        while self.done < rank as usize {
            executor::breathe(executor, self.done, 1 << 10)?;
            let vertex = self.order[self.done];
            self.done += 1;
            let rows = self.equal.rows(&vertex);
            let first = rows[0];
            let mut group = match self.groups.remove(&first) {
                Some(group) => group,
                None if rows.len() == 1 => continue,
                None => RowGroup::default(),
            };
            for &set in &group.around {
                memory::push(&mut self.members, (set, vertex), DOING)?;
                let own = &mut self.owner[vertex as usize];
                if *own == vertex || self.rank[set as usize] < self.rank[*own as usize] {
                    *own = set;
                }
            }
            let set = self.owner[vertex as usize];
            if add(&mut group.own, set)? {
                if self.equal.similarity(first).is_some() {
                    add(&mut group.around, set)?;
                }
                for other in &group.told {
                    // The first row of the other group is the last one to be processed in that
                    // group.
                    if self.rank[*other as usize] as usize >= self.done {
                        add(&mut self.groups.entry(*other).or_default().around, set)?;
                    }
                }
            }
            if rows.len() > 1 {
                // The group is done. Only `own` is kept, because later groups read it.
                if vertex == first {
                    group = RowGroup { own: group.own, ..RowGroup::default() };
                }
                self.groups.insert(first, group);
            }
        }
        Ok(())
    }

    /// Records that two groups are similar. This is called when the group of `later` is about to
    /// begin.
    fn meet(&mut self, earlier: u32, later: u32) -> Result<()> {
        let [first, other] = [earlier, later].map(|vertex| self.equal.first(vertex));
        let mut around = std::mem::take(&mut self.groups.entry(other).or_default().around);
        if self.equal.count(earlier) == 1 {
            add(&mut around, self.owner[earlier as usize])?;
        } else {
            let group = self.groups.entry(first).or_default();
            for &set in &group.own {
                add(&mut around, set)?;
            }
            // The remaining rows of the earlier group are processed between the rows of the later
            // group or after them.
            if self.degrees.pairs[earlier as usize] == self.degrees.pairs[later as usize] {
                memory::push(&mut group.told, other, DOING)?;
                let group = self.groups.entry(other).or_default();
                memory::push(&mut group.told, first, DOING)?;
            }
        }
        self.groups.entry(other).or_default().around = around;
        Ok(())
    }
}
