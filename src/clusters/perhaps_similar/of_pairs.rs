//! Perhaps-similar sets (Huang et al., TLCS (CIKM 2008); docs/design/algorithms.md section 5), made of pairs.
//!
//! Each pair is a list of two rows, and the weight of a row is the number of its pairs; its key is
//! the weight, then its place in the order of ids. In each list the row of the largest key is the
//! representative, and lists of the same representative are one. In descending order of the
//! representatives, each list takes in those whose representative is a member of it, also of
//! members that came so. What remains are the sets; a row may be in several.

use crate::clusters::edges::Edges;
use crate::clusters::leaders::{Degrees, in_order, later_first, rank_by};
use crate::error::Result;
use crate::memory;
use crate::workers::Workers;

const DOING: &str = "making perhaps-similar sets";

/// The sets as (representative, member), the representatives themselves included, in no particular
/// order. O(edges · log edges).
///
/// A set holds what is reached from its representative by going from larger keys to smaller ones, and
/// a row's list is taken by the first set that reaches the row. So in the order of keys, each row's
/// list belongs to the first of the sets that hold one of the larger rows it is a pair with.
pub fn perhaps_similar(
    edges: &mut Edges<'_>,
    degrees: &Degrees,
    workers: &dyn Workers,
) -> Result<Vec<(u32, u32)>> {
    let vertices = degrees.pairs.len();
    let key = |vertex: u32| (u32::MAX - degrees.pairs[vertex as usize], u32::MAX - vertex);
    let rank = rank_by(vertices, key, workers)?;
    // The set that took the list of each row: its own at first.
    let mut owner: Vec<u32> = Vec::new();
    memory::reserve(&mut owner, vertices, DOING)?;
    owner.extend(0..vertices as u32);
    let mut members = Vec::new();
    let mut current = None;
    // The sets that hold the row that is dealt with.
    let mut sets: Vec<u32> = Vec::new();
    edges.for_each_in_order(workers, later_first(&rank), |edge| {
        let (earlier, later) = in_order(edge, &rank);
        if current.replace(later) != Some(later) {
            sets.clear();
        }
        let set = owner[earlier as usize];
        if !sets.contains(&set) {
            memory::push(&mut sets, set, DOING)?;
            memory::push(&mut members, (set, later), DOING)?;
        }
        let own = &mut owner[later as usize];
        if *own == later || rank[set as usize] < rank[*own as usize] {
            *own = set;
        }
        Ok(())
    })?;
    for vertex in 0..vertices as u32 {
        if owner[vertex as usize] == vertex && degrees.pairs[vertex as usize] > 0 {
            memory::push(&mut members, (vertex, vertex), DOING)?;
        }
    }
    Ok(members)
}
