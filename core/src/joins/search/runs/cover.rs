//! The choice of the anchors whose lists a search follows.

use std::collections::VecDeque;
use std::ops::Range;

use crate::error::Result;
use crate::features::runs::anchors::Anchor;
use crate::memory;

const DOING: &str = "choosing the anchors to follow";

/// The anchors of a query.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct QueryAnchors {
    /// The anchors, in the order of the text.
    pub anchors: Vec<Anchor>,
    /// The number of windows that have these anchors.
    pub windows: u32,
    /// The number of consecutive windows whose anchors a text that the query finds has all of: the
    /// windows of a run.
    pub shared: u32,
}

impl QueryAnchors {
    /// Returns the numbers of anchors such that each text that the query finds has one of them, in
    /// ascending order. Of all such sets it is one with the least sum of `costs`, which has a cost
    /// for each anchor. None if no text can have a run in common with the query. O(anchors).
    pub fn cheapest(&self, costs: &[u64]) -> Result<Option<Vec<usize>>> {
        if self.windows < self.shared || self.anchors.is_empty() {
            return Ok(None);
        }
        let count = self.anchors.len();
        // A row of `shared` windows has anchors with consecutive numbers. `needs[n]`, for an anchor
        // or the end, is the least number that the chosen anchor before it may have: all rows that
        // begin after that one and end before this anchor would have no chosen anchor. 0 means that
        // no chosen anchor need come before it; otherwise numbers are counted from 1.
        let mut needs = Vec::new();
        memory::reserve(&mut needs, count + 1, DOING)?;
        needs.push(0);
        let mut first = 0;
        for n in 1..=count {
            // The last row of windows that ends before anchor `n` (or the end) begins here.
            let end = self.anchors.get(n).map_or(self.windows, |anchor| anchor.first);
            if let Some(start) = end.checked_sub(self.shared) {
                while self.anchors.get(first + 1).is_some_and(|next| next.first <= start) {
                    first += 1;
                }
                needs.push(first + 1);
            } else {
                needs.push(0);
            }
        }
        self.chain(costs, &needs).map(Some)
    }

    /// Returns ranges of anchors such that each text that the query finds has all anchors of one of
    /// them. No range contains another one, and both ends ascend. O(anchors).
    pub fn ranges(&self) -> Result<Vec<Range<usize>>> {
        let mut ranges: Vec<Range<usize>> = Vec::new();
        let mut first = 0;
        for (last, anchor) in self.anchors.iter().enumerate() {
            // Of the rows of windows that end with this anchor, the last has the fewest anchors.
            let Some(start) = (anchor.first + anchor.windows).checked_sub(self.shared) else { continue };
            while self.anchors.get(first + 1).is_some_and(|next| next.first <= start) {
                first += 1;
            }
            // Where the range before begins with the same anchor, it is part of this one.
            if ranges.last().is_none_or(|before| before.start < first) {
                memory::push(&mut ranges, first..last + 1, DOING)?;
            }
        }
        Ok(ranges)
    }

    /// Returns the cheapest chain of anchors, each of which has the one before it at or after the
    /// place that `needs` says.
    fn chain(&self, costs: &[u64], needs: &[usize]) -> Result<Vec<usize>> {
        let count = needs.len();
        // The least cost of a chain that ends with each anchor, counted from 1, and the anchor
        // before it. A chain begins with 0, and ends after the last anchor.
        let mut best: Vec<(u64, usize)> = memory::filled((0, 0), count + 1, DOING)?;
        // The numbers of the anchors that may come before the next one, with ascending costs.
        let mut open = VecDeque::from([0]);
        for n in 1..=count {
            while open.front().is_some_and(|&first| first < needs[n - 1]) {
                open.pop_front();
            }
            // The anchor before this one is always open, as `needs` is at most its number.
            let before = open.front().copied().unwrap_or(n - 1);
            let cost = costs.get(n - 1).copied().unwrap_or(0);
            best[n] = (best[before].0.saturating_add(cost), before);
            while open.back().is_some_and(|&last| best[last].0 >= best[n].0) {
                open.pop_back();
            }
            open.push_back(n);
        }
        let mut chosen = Vec::new();
        let mut at = best[count].1;
        while at > 0 {
            memory::push(&mut chosen, at - 1, DOING)?;
            at = best[at].1;
        }
        chosen.reverse();
        Ok(chosen)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Reports whether every row of `shared` windows has one of the anchors in `chosen`.
    fn covers(query: &QueryAnchors, chosen: &[usize]) -> bool {
        (0..=query.windows - query.shared).all(|start| {
            (start..start + query.shared).any(|window| {
                let here = query.anchors.partition_point(|anchor| anchor.first <= window) - 1;
                chosen.contains(&here)
            })
        })
    }

    proptest! {
        /// The choice covers all rows, and no other choice that does is cheaper.
        #[test]
        fn the_choice_is_the_cheapest_that_covers_all(
            (steps, costs) in prop::collection::vec((1..4_u32, prop_oneof![0..5_u64, Just(u64::MAX)]), 1..10)
                .prop_map(|all| all.into_iter().unzip::<u32, u64, Vec<_>, Vec<_>>()),
            shared in 1..9_u32,
        ) {
            let mut window = 0;
            let mut anchors = Vec::new();
            for step in steps {
                anchors.push(Anchor { hash: 0, place: window, first: window, windows: step });
                window += step;
            }
            let query = QueryAnchors { anchors, windows: window, shared };
            let chosen = query.cheapest(&costs).unwrap();
            prop_assert_eq!(chosen.is_some(), window >= shared);
            // Each row of windows has all anchors of a range, and no range has more than a row.
            let ranges = query.ranges().unwrap();
            let here = |window: u32| query.anchors.partition_point(|anchor| anchor.first <= window) - 1;
            let rows = (shared..=window).map(|end| here(end - shared)..here(end - 1) + 1);
            let rows: Vec<_> = rows.collect();
            let within = |a: &Range<usize>, b: &Range<usize>| b.start <= a.start && a.end <= b.end;
            prop_assert!(rows.iter().all(|row| ranges.iter().any(|range| within(range, row))));
            prop_assert!(ranges.iter().all(|range| rows.contains(range)));
            prop_assert!(ranges.windows(2).all(|two| two[0].start < two[1].start && two[0].end < two[1].end));
            let Some(chosen) = chosen else { return Ok(()) };
            prop_assert!(covers(&query, &chosen) && chosen.is_sorted_by(|a, b| a < b));
            let sum = |chosen: &[usize]| chosen.iter().fold(0, |sum: u64, &n| sum.saturating_add(costs[n]));
            for set in 0..1_u32 << costs.len() {
                let other: Vec<usize> = (0..costs.len()).filter(|n| set >> n & 1 == 1).collect();
                prop_assert!(!covers(&query, &other) || sum(&other) >= sum(&chosen));
            }
        }
    }

    #[test]
    fn a_query_without_a_window_finds_nothing() {
        let query = QueryAnchors { anchors: Vec::new(), windows: 0, shared: 1 };
        assert_eq!((query.cheapest(&[]), query.ranges()), (Ok(None), Ok(Vec::new())));
    }
}
