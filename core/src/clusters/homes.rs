//! Finds the clusters that contain each row, or each group of equal rows.

use super::edge::Edge;
use super::equal_rows::EqualRows;
use super::grouping::Clusters;
use crate::error::Result;
use crate::memory;
use crate::storage::rows::Ragged;

const DOING: &str = "describing clusters";

/// A cluster that contains at least one row of a group of equal rows, and the number of rows of
/// this group that it contains. A row that equals no other is its own group.
#[derive(Debug, Clone, Copy, Default)]
pub struct RowHome {
    /// The number of the cluster.
    pub cluster: u32,
    /// The number of rows of the group that are in the cluster.
    pub rows: u32,
}

/// For each vertex, the clusters that contain it, in ascending order.
#[derive(Debug)]
pub struct Homes(pub(super) Ragged<RowHome>);

impl Homes {
    /// Looks up the clusters of all vertices. O(vertices + members).
    pub fn new(clusters: &Clusters, vertices: usize) -> Result<Self> {
        Self::of_groups(clusters, vertices, &EqualRows::default())
    }

    /// Looks up the clusters of groups of equal rows, each given by its first row.
    pub(super) fn of_groups(clusters: &Clusters, vertices: usize, equal: &EqualRows) -> Result<Self> {
        let members = || {
            let numbered = (0..).zip(clusters.iter());
            numbered.flat_map(|(cluster, of)| {
                of.members.iter().map(move |&row| (equal.first(row) as usize, RowHome { cluster, rows: 1 }))
            })
        };
        let all = Ragged::dealt(vertices, members, DOING)?;
        if equal.is_empty() {
            return Ok(Self(all));
        }
        let mut homes = Ragged::default();
        homes.reserve(vertices, DOING)?;
        for all in all.iter() {
            for of in all.chunk_by(|a, b| a.cluster == b.cluster) {
                memory::push(&mut homes.values, RowHome { rows: of.len() as u32, ..of[0] }, DOING)?;
            }
            homes.close(DOING)?;
        }
        Ok(Self(homes))
    }

    /// Calls `each` with every cluster that contains both ends of an edge, and with the number of
    /// pairs of the edge that are in the cluster.
    pub fn for_each_common(&self, edge: Edge, mut each: impl FnMut(u32, u64) -> Result<()>) -> Result<()> {
        let [mut a, mut b] = [edge.left, edge.right].map(|vertex| self.0.get(vertex as usize));
        while let (Some(x), Some(y)) = (a.first(), b.first()) {
            if x.cluster == y.cluster {
                each(x.cluster, u64::from(x.rows) * u64::from(y.rows))?;
            }
            (a, b) = (&a[usize::from(x.cluster <= y.cluster)..], &b[usize::from(y.cluster <= x.cluster)..]);
        }
        Ok(())
    }
}
