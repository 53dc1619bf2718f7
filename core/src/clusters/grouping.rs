//! Clusters: the rows that belong together, the representative of each cluster, and the similarity
//! of each row to the representative.
//!
//! Finds the clusters that contain each row, or each group of equal rows.

use std::ops::Range;

use super::edges::Edge;
use super::graph::{EqualRows, Graph};
use super::leaders::{Degrees, leaders};
use super::perhaps_similar::of_pairs::perhaps_similar;
use super::strongest::connected;
use super::{Clustering, LARGEST_COUNTED};
use crate::error::Result;
use crate::executor::{self, Executor};
use crate::memory;
use crate::storage::rows::Ragged;

const DOING: &str = "making clusters";
const DOING_HOMES: &str = "describing clusters";

/// The clusters of two or more rows, in the order of their first member, or of their representative
/// if they are perhaps-similar sets.
///
/// Made by [`cluster_pairs`](crate::cluster_pairs).
///
/// ```
/// use neardup_core::{Clustering, Pair, cluster_pairs};
///
/// let pairs = [Pair { left: 1, right: 2, similarity: 0.9 }];
/// let clusters = cluster_pairs(&pairs, 4, Clustering::Connected)?;
/// assert_eq!((clusters.len(), clusters.get(0).members), (1, &[1, 2][..]));
/// # Ok::<(), neardup_core::Error>(())
/// ```
#[derive(Debug, Default)]
pub struct Clusters {
    members: Ragged<u32>,
    /// The similarities of all members.
    similarity: Vec<f64>,
    representatives: Vec<u32>,
    by_representative: bool,
}

/// A cluster.
///
/// ```
/// use neardup_core::{Clustering, Pair, cluster_pairs};
///
/// let pair = |left, right, similarity| Pair { left, right, similarity };
/// let clusters = cluster_pairs(&[pair(0, 1, 0.9), pair(1, 2, 0.8)], 3, Clustering::Star)?;
/// let cluster = clusters.get(0);
/// assert_eq!((cluster.id, cluster.representative, cluster.members), (0, 1, &[0, 1, 2][..]));
/// assert_eq!(cluster.similarity, [0.9, 1.0, 0.8]);
/// # Ok::<(), neardup_core::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Cluster<'a> {
    /// The id of the cluster: its first member, or its representative if it is a perhaps-similar
    /// set.
    pub id: u32,
    /// The row that represents the cluster.
    pub representative: u32,
    /// The rows of the cluster, in ascending order.
    pub members: &'a [u32],
    /// The similarity of each row to the representative: 1 for the representative itself, NaN if
    /// the two rows are not a pair.
    pub similarity: &'a [f64],
}

impl Clusters {
    /// Builds clusters from the pairs of a graph. `largest` bounds the size of connected clusters.
    /// O(edges · log edges).
    #[cfg_attr(not(feature = "internals"), doc(hidden))]
    pub fn new(
        graph: &mut Graph<'_>,
        clustering: Clustering,
        largest: Option<u32>,
        executor: &dyn Executor,
    ) -> Result<Self> {
        let vertices = graph.vertices;
        let mut degrees = Degrees::new(graph, executor)?;
        let memberships = match clustering {
            Clustering::Connected => {
                let mut components = connected(graph, &degrees, largest, executor)?;
                degrees.forget_large(&mut components, LARGEST_COUNTED);
                let least = components.least()?;
                let mut representative: Vec<u32> = memory::filled(u32::MAX, vertices, DOING)?;
                for (vertex, &least) in (0..).zip(&least) {
                    let best = &mut representative[least as usize];
                    if *best == u32::MAX || degrees.is_before(vertex, *best) {
                        *best = vertex;
                    }
                }
                let joined = (0..).zip(least).filter(|&(vertex, _)| components.size(vertex) > 1);
                memory::collect(
                    joined.map(|(vertex, least)| (representative[least as usize], vertex)),
                    DOING,
                )?
            }
            Clustering::Star => {
                let mut connected = connected(graph, &degrees, None, executor)?;
                degrees.forget_large(&mut connected, LARGEST_COUNTED);
                let found = leaders(graph, &degrees.rank(executor)?, executor)?;
                let mut followed = memory::filled(false, vertices, DOING)?;
                for (vertex, &leader) in (0..).zip(&found.of) {
                    followed[leader as usize] |= leader != vertex;
                }
                let members = found.of.into_iter().zip(0..);
                memory::collect(members.filter(|&(leader, _)| followed[leader as usize]), DOING)?
            }
            Clustering::PerhapsSimilar => perhaps_similar(graph, &degrees, executor)?,
        };
        let mut clusters = Self::group(memberships, clustering == Clustering::PerhapsSimilar, executor)?;
        clusters.measure(graph, executor)?;
        Ok(clusters)
    }

    /// Builds clusters from triples of a representative, a member and their similarity. A
    /// representative is also listed as a member of its own cluster. A vertex represents at most
    /// one cluster.
    #[cfg_attr(not(feature = "internals"), doc(hidden))]
    pub fn of_sets(members: Vec<(u32, u32, f64)>, executor: &dyn Executor) -> Result<Self> {
        let memberships = members.iter().map(|&(representative, member, _)| (representative, member));
        let memberships = memory::collect(memberships, DOING)?;
        let mut clusters = Self::group(memberships, true, executor)?;
        for (representative, member, similarity) in members {
            // Perhaps-similar sets are in the order of their representatives.
            if let Ok(cluster) = clusters.representatives.binary_search(&representative) {
                clusters.set(cluster, member, similarity);
            }
        }
        Ok(clusters)
    }

    /// Builds the clusters from pairs of a representative and a member.
    fn group(
        mut memberships: Vec<(u32, u32)>,
        by_representative: bool,
        executor: &dyn Executor,
    ) -> Result<Self> {
        let sort = |memberships: &mut Vec<(u32, u32)>| executor::sort(executor, memberships, Ord::cmp);
        sort(&mut memberships)?;
        let mut clusters = Self { by_representative, ..Self::default() };
        // The sort key and the range of each cluster. The key is the first member or, for
        // perhaps-similar sets, the representative.
        let mut order: Vec<(u32, Range<usize>)> = Vec::new();
        let mut at = 0;
        for cluster in memberships.chunk_by(|a, b| a.0 == b.0) {
            let range = at..at + cluster.len();
            at = range.end;
            let name = if by_representative { cluster[0].0 } else { cluster[0].1 };
            memory::push(&mut order, (name, range), DOING)?;
        }
        order.sort_unstable_by_key(|(name, _)| *name);
        clusters.members.reserve(order.len(), DOING)?;
        memory::reserve(&mut clusters.representatives, order.len(), DOING)?;
        memory::reserve(&mut clusters.members.values, memberships.len(), DOING)?;
        for (_, range) in order {
            clusters.representatives.push(memberships[range.start].0);
            clusters.members.values.extend(memberships[range].iter().map(|(_, member)| member));
            clusters.members.close(DOING)?;
        }
        clusters.similarity = memory::filled(f64::NAN, memberships.len(), DOING)?;
        Ok(clusters)
    }

    /// Looks up the similarity of every member to its representative.
    fn measure(&mut self, graph: &mut Graph<'_>, executor: &dyn Executor) -> Result<()> {
        let Graph { vertices, edges, equal } = graph;
        let represented = || {
            let all = self.representatives.iter().zip(0u32..);
            all.map(|(&representative, cluster)| (equal.first(representative) as usize, cluster))
        };
        // The clusters by the first row of the group of equal rows that contains the
        // representative.
        let represented = Ragged::dealt(*vertices, represented, DOING)?;
        for cluster in 0..self.len() {
            let representative = self.representatives[cluster];
            if let Some(similarity) = equal.similarity(representative) {
                executor.check_interrupts()?;
                self.set_equal(cluster, equal.rows(&representative), similarity);
            }
            self.set(cluster, representative, 1.0);
        }
        edges.for_each(executor, |Edge { left, right, similarity }| {
            for (one, other) in [(left, right), (right, left)] {
                for &cluster in represented.get(one as usize) {
                    self.set_equal(cluster as usize, equal.rows(&other), similarity);
                }
            }
            Ok(())
        })
    }

    /// Sets the similarity of those `rows` that are members of a cluster. `rows` are in ascending
    /// order.
    fn set_equal(&mut self, cluster: usize, rows: &[u32], similarity: f64) {
        let range = self.range(cluster);
        if rows.len() <= range.len() {
            rows.iter().for_each(|&row| self.set(cluster, row, similarity));
            return;
        }
        for place in range {
            if rows.binary_search(&self.members.values[place]).is_ok() {
                self.similarity[place] = similarity;
            }
        }
    }

    fn set(&mut self, cluster: usize, member: u32, similarity: f64) {
        if let Ok(place) = self.members.get(cluster).binary_search(&member) {
            let from = self.range(cluster).start;
            self.similarity[from + place] = similarity;
        }
    }

    /// Returns the range of a cluster's members among all members.
    #[cfg_attr(not(feature = "internals"), doc(hidden))]
    pub fn range(&self, cluster: usize) -> Range<usize> {
        self.members.range(cluster)
    }

    /// Returns the number of clusters.
    ///
    /// ```
    /// use neardup_core::{Clustering, cluster_pairs};
    ///
    /// assert_eq!(cluster_pairs(&[], 3, Clustering::Connected)?.len(), 0);
    /// # Ok::<(), neardup_core::Error>(())
    /// ```
    pub fn len(&self) -> usize {
        self.representatives.len()
    }

    /// Reports whether there are no clusters.
    ///
    /// ```
    /// use neardup_core::{Clustering, cluster_pairs};
    ///
    /// assert!(cluster_pairs(&[], 3, Clustering::Star)?.is_empty());
    /// # Ok::<(), neardup_core::Error>(())
    /// ```
    pub fn is_empty(&self) -> bool {
        self.representatives.is_empty()
    }

    /// Returns a cluster.
    ///
    /// Panics unless `cluster` is less than [`Clusters::len`]. O(1).
    ///
    /// ```
    /// use neardup_core::{Clustering, Pair, cluster_pairs};
    ///
    /// let pairs = [Pair { left: 0, right: 2, similarity: 0.9 }];
    /// let clusters = cluster_pairs(&pairs, 3, Clustering::Connected)?;
    /// assert_eq!((clusters.get(0).id, clusters.get(0).representative), (0, 0));
    /// # Ok::<(), neardup_core::Error>(())
    /// ```
    pub fn get(&self, cluster: usize) -> Cluster<'_> {
        let members = self.members.get(cluster);
        let representative = self.representatives[cluster];
        let id = if self.by_representative { representative } else { members[0] };
        Cluster { id, representative, members, similarity: &self.similarity[self.range(cluster)] }
    }

    /// Returns all clusters.
    ///
    /// ```
    /// use neardup_core::{Clustering, Pair, cluster_pairs};
    ///
    /// let pairs = [(0, 1), (2, 3)].map(|(left, right)| Pair { left, right, similarity: 1.0 });
    /// let clusters = cluster_pairs(&pairs, 4, Clustering::Connected)?;
    /// assert_eq!(clusters.iter().map(|cluster| cluster.id).collect::<Vec<_>>(), [0, 2]);
    /// # Ok::<(), neardup_core::Error>(())
    /// ```
    pub fn iter(&self) -> impl Iterator<Item = Cluster<'_>> {
        (0..self.len()).map(|cluster| self.get(cluster))
    }
}

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
        let all = Ragged::dealt(vertices, members, DOING_HOMES)?;
        if equal.is_empty() {
            return Ok(Self(all));
        }
        let mut homes = Ragged::default();
        homes.reserve(vertices, DOING_HOMES)?;
        for all in all.iter() {
            let clusters = all.chunk_by(|a, b| a.cluster == b.cluster);
            let own = clusters.map(|of| RowHome { rows: of.len() as u32, ..of[0] });
            memory::append(&mut homes.values, own, DOING_HOMES)?;
            homes.close(DOING_HOMES)?;
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
