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
use super::reading::Reading;
use crate::error::Result;
use crate::joins::grouped::{GroupFound, GroupedPairs};
use crate::joins::pairs::Pairs;
use each::{GroupWork, each_group};
use group::HeldGroup;

/// Finds the pairs of a method: those of each group, and of rows of different sources, if the
/// documents have groups and sources.
pub fn pairs(method: &dyn Method, reading: &mut Reading<'_>) -> Result<Pairs> {
    let pairs = if reading.is_grouped() {
        let has_right = reading.has_right();
        let found = GroupedPairs::new(has_right, reading.memory / 4);
        let mut work = PairsOfGroups { method, found };
        let small = |reading: &mut Reading<'_>| GroupFound::new(method.pairs(reading)?, reading.executor);
        each_group(reading, &small, &mut work)?;
        let PairsOfGroups { found, .. } = work;
        reading.held(found.bytes());
        found.finish(reading.left_rows())
    } else {
        method.pairs(reading)?
    };
    let executor = reading.executor;
    match reading.across() {
        None => Ok(pairs),
        Some(numbers) => pairs.across(numbers, executor),
    }
}

/// Returns what the row numbers of a group differ by from those of the tables, modulo 2³². In the
/// group, the rows of the right table follow the `left_rows` of the left one.
fn offsets([left, right]: [u32; 2], left_rows: usize) -> [u32; 2] {
    [left, right.wrapping_sub(left_rows as u32)]
}

/// The pairs of all groups.
struct PairsOfGroups<'m> {
    method: &'m dyn Method,
    found: GroupedPairs,
}

impl GroupWork<GroupFound> for PairsOfGroups<'_> {
    fn keep(&mut self, found: &GroupFound, group: &HeldGroup, reading: &Reading<'_>) -> Result<()> {
        self.found.add(found, offsets(group.first, group.rows[0]), reading.files)
    }

    fn large(&mut self, reading: &mut Reading<'_>, first: [u32; 2]) -> Result<()> {
        let pairs = self.method.pairs(reading)?;
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
