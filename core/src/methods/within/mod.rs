//! Compares only rows of one group, and only rows of different sources: each group is a table of
//! its own for the method.
//!
//! Small groups are held, and each is the work of one thread; the threads work on many of them at
//! a time. A large group is read and joined by all threads together, like a table without groups
//! (`each.rs`). So nothing is compared across groups, and a method's memory is that of its largest
//! group.

mod accounts;
mod each;
mod group;
pub(crate) mod rows;

use super::method::Method;
use super::overflow::{self, FindPairs};
use super::reading::Reading;
use crate::error::Result;
use crate::joins::grouped::{GroupFound, GroupedPairs};
use crate::joins::pairs::Pairs;
use each::{GroupWork, each_group};
use group::HeldGroup;

/// Finds the pairs of a method: those of each group, and of rows of different sources, if the
/// documents have groups and sources. If the documents have no room in memory, they are read once
/// more, and kept in temporary files.
pub fn pairs(method: &dyn Method, reading: &mut Reading<'_>) -> Result<Pairs> {
    let pairs = overflow::in_any_memory(method, reading, &by)?;
    let executor = reading.executor;
    match reading.across() {
        None => Ok(pairs),
        Some(numbers) => pairs.across(numbers, executor),
    }
}

fn by(search: &FindPairs<'_>, reading: &mut Reading<'_>) -> Result<Pairs> {
    if !reading.is_grouped() {
        return search(reading);
    }
    let found = GroupedPairs::new(reading.has_right(), reading.memory / 4);
    let mut work = PairsOfGroups { search, found };
    let small = |reading: &mut Reading<'_>| GroupFound::new(search(reading)?, reading.executor);
    each_group(reading, &small, &mut work)?;
    let PairsOfGroups { found, .. } = work;
    reading.held(found.bytes());
    Ok(found.finish(reading.left_rows()))
}

/// Returns what the row numbers of a group differ by from those of the tables, modulo 2³². In the
/// group, the rows of the right table follow the `left_rows` of the left one.
fn offsets([left, right]: [u32; 2], left_rows: usize) -> [u32; 2] {
    [left, right.wrapping_sub(left_rows as u32)]
}

/// The pairs of all groups.
struct PairsOfGroups<'s> {
    search: &'s FindPairs<'s>,
    found: GroupedPairs,
}

impl GroupWork<GroupFound> for PairsOfGroups<'_> {
    fn keep(&mut self, found: &GroupFound, group: &HeldGroup, reading: &Reading<'_>) -> Result<()> {
        self.found.add(found, offsets(group.first, group.rows[0]), reading.files)
    }

    fn large(&mut self, reading: &mut Reading<'_>, first: [u32; 2]) -> Result<()> {
        let pairs = (self.search)(reading)?;
        let (resources, most) = (reading.resources_after(0), reading.most_pairs);
        let offsets = offsets(first, reading.left_rows() as usize);
        self.found.join(pairs, offsets, most, resources, &mut |share| {
            reading.report(|| format!("joining a large group, {:.0} %", 100.0 * share));
        })
    }

    fn is_enough(&self, most: Option<u64>) -> bool {
        most.is_some_and(|most| self.found.least_pairs() > most)
    }

    fn bytes(&self) -> usize {
        self.found.bytes()
    }
}
