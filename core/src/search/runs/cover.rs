//! The choice of the anchors whose lists a search follows.

use std::collections::VecDeque;
use std::ops::Range;

use super::signature::{Accepted, AnchorSignatures};
use crate::error::Result;
use crate::features::runs::anchors::Anchor;
use crate::memory;

const DOING: &str = "choosing the anchors to follow";

/// The anchors of a query.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct QueryAnchors {
    /// The anchors, in the order of the text.
    pub anchors: Vec<Anchor>,
    /// The signature of each anchor.
    pub signatures: Vec<u64>,
    /// The rule by which signatures are made.
    pub rule: AnchorSignatures,
    /// The number of windows that have these anchors.
    pub windows: u32,
    /// The number of consecutive windows whose anchors a text that the query finds has all of: the
    /// windows of a run.
    pub shared: u32,
    /// The number of tokens of a run.
    pub min_run: u32,
}

/// Runs of the query that have the same anchors.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct QueryRuns {
    /// The numbers of the first tokens of these runs.
    pub starts: Range<u32>,
    /// The numbers of their anchors.
    pub anchors: Range<usize>,
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

    /// Returns all runs of the query, by their anchors: each text that the query finds has all
    /// anchors of some of them. Both ends of the ranges ascend. O(anchors).
    pub fn runs(&self) -> Result<Vec<QueryRuns>> {
        let mut all: Vec<QueryRuns> = Vec::new();
        let Some(last) = self.windows.checked_sub(self.shared) else { return Ok(all) };
        let (mut first, mut end, mut start) = (0, 0, 0);
        // The number of windows before the end of the anchor with a number.
        let before = |n: usize| self.anchors.get(n).map_or(u32::MAX, |anchor| anchor.first + anchor.windows);
        while start <= last && first < self.anchors.len() {
            while before(end) < start + self.shared {
                end += 1;
            }
            // The next run that loses the first anchor, or that gains another one.
            let next = before(first).min(before(end) - self.shared + 1).min(last + 1);
            let anchors = first..(end + 1).min(self.anchors.len());
            memory::push(&mut all, QueryRuns { starts: start..next, anchors }, DOING)?;
            start = next;
            while before(first) <= start {
                first += 1;
            }
        }
        Ok(all)
    }

    /// Returns which sides of an anchor a text with one of these runs has in common with the query.
    pub fn accepted(&self, runs: &QueryRuns, anchor: usize) -> Accepted {
        let mut accepted = Accepted::default();
        let Some(anchor) = self.anchors.get(anchor) else { return Accepted::ANY };
        let of = |n: usize| i64::try_from(n).unwrap_or(i64::MAX / 4);
        let (place, gram, width) = (i64::from(anchor.place), of(self.rule.gram), of(self.rule.width));
        // A run that begins here or before has the left side, and a run that begins here or later
        // the right one.
        let (left, right) = (place - width, place + gram + width - i64::from(self.min_run));
        let (first, last) = (i64::from(runs.starts.start), i64::from(runs.starts.end) - 1);
        if first.max(right) <= last.min(left) {
            accepted.add(true, true);
        }
        if first <= last.min(left).min(right - 1) {
            accepted.add(true, false);
        }
        if first.max(left + 1).max(right) <= last {
            accepted.add(false, true);
        }
        if first.max(left + 1) <= last.min(right - 1) {
            accepted.add(false, false);
        }
        accepted
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
            let query = query(anchors, window, shared);
            let chosen = query.cheapest(&costs).unwrap();
            prop_assert_eq!(chosen.is_some(), window >= shared);
            // Each run is among those of its anchors.
            let here = |window: u32| query.anchors.partition_point(|anchor| anchor.first <= window) - 1;
            let runs = query.runs().unwrap();
            let each = runs.iter().flat_map(|runs| runs.starts.clone().map(|start| (start, runs.anchors.clone())));
            let expected = (shared..=window).map(|end| (end - shared, here(end - shared)..here(end - 1) + 1));
            prop_assert!(each.eq(expected));
            prop_assert!(runs.windows(2).all(|two| two[0].anchors != two[1].anchors));
            let Some(chosen) = chosen else { return Ok(()) };
            prop_assert!(covers(&query, &chosen) && chosen.is_sorted_by(|a, b| a < b));
            let sum = |chosen: &[usize]| chosen.iter().fold(0, |sum: u64, &n| sum.saturating_add(costs[n]));
            for set in 0..1_u32 << costs.len() {
                let other: Vec<usize> = (0..costs.len()).filter(|n| set >> n & 1 == 1).collect();
                prop_assert!(!covers(&query, &other) || sum(&other) >= sum(&chosen));
            }
        }
    }

    fn query(anchors: Vec<Anchor>, windows: u32, shared: u32) -> QueryAnchors {
        let (signatures, rule) = (Vec::new(), AnchorSignatures { gram: 2, width: 2 });
        QueryAnchors { anchors, signatures, rule, windows, shared, min_run: shared + 3 }
    }

    proptest! {
        #[test]
        fn sides_of_the_runs(place in 0..20_u32, first in 0..20_u32, more in 1..20_u32, shared in 1..9_u32) {
            let query = query(vec![Anchor { hash: 0, place, first: 0, windows: 1 }], 1, shared);
            let runs = QueryRuns { starts: first..first + more, anchors: 0..1 };
            let mut expected = Accepted::default();
            for start in runs.starts.clone() {
                expected.add(start + 2 <= place, place + 2 + 2 <= start + query.min_run);
            }
            prop_assert_eq!(query.accepted(&runs, 0), expected);
        }
    }

    #[test]
    fn a_query_without_a_window_finds_nothing() {
        let query = query(Vec::new(), 0, 1);
        assert_eq!((query.cheapest(&[]), query.runs()), (Ok(None), Ok(Vec::new())));
    }
}
