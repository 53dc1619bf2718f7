//! Large star and small star, as SQL statements apply them to tables, and the number of rounds that
//! they take.

use proptest::prelude::*;
use std::collections::{BTreeMap, BTreeSet};

use super::world::Row;
use crate::into::state::MOST_STARS;
use neardup_core::hash::mix;

/// Returns each first number of the rows with the second numbers that belong to it.
fn by_first(rows: &[Row]) -> BTreeMap<i64, BTreeSet<i64>> {
    let mut by: BTreeMap<i64, BTreeSet<i64>> = BTreeMap::new();
    for &(u, v) in rows {
        by.entry(u).or_default().insert(v);
    }
    by
}

/// Returns edges from both ends.
pub(super) fn edges(pairs: &[Row]) -> Vec<Row> {
    pairs.iter().flat_map(|&(u, v)| [(u, v), (v, u)]).collect()
}

/// Large star: each greater neighbour of a number is connected with the least neighbour, or with
/// the number itself if that is less.
pub(super) fn larger(edges: &[Row]) -> Vec<Row> {
    let to_least = |(u, vs): (i64, BTreeSet<i64>)| {
        let least = vs.first().map_or(u, |&v| v.min(u));
        vs.into_iter().filter(move |&v| v > u).map(move |v| (v, least))
    };
    by_first(edges).into_iter().flat_map(to_least).collect()
}

/// Small star: a number and its lesser neighbours are connected with the least of these.
pub(super) fn smaller(larger: &[Row]) -> Vec<Row> {
    let to_least = |(u, vs): (i64, BTreeSet<i64>)| {
        let least = vs.first().copied().unwrap_or(u);
        let ends = vs.into_iter().map(move |v| if v == least { u } else { v });
        ends.flat_map(move |end| [(end, least), (least, end)])
    };
    by_first(larger).into_iter().flat_map(to_least).collect()
}

/// Counts the numbers that have a lesser neighbour and also another one.
pub(super) fn unsettled(edges: &[Row]) -> i64 {
    by_first(edges).iter().filter(|(u, vs)| vs.first() < Some(u) && vs.len() > 1).count() as i64
}

/// Returns the least number of the component of each number that has an edge.
pub(super) fn components(pairs: &[Row]) -> BTreeMap<i64, i64> {
    let mut of: BTreeMap<i64, i64> = pairs.iter().flat_map(|&(a, b)| [(a, a), (b, b)]).collect();
    while let Some(&(a, b)) = pairs.iter().find(|(a, b)| of[a] != of[b]) {
        let (least, other) = (of[&a].min(of[&b]), of[&a].max(of[&b]));
        of.values_mut().filter(|root| **root == other).for_each(|root| *root = least);
    }
    of
}

/// Returns the number of rounds until everything is settled, and the remaining edges.
fn settle(pairs: &[Row]) -> (usize, Vec<Row>) {
    let mut edges = edges(pairs);
    for round in 0.. {
        let count = edges.len();
        if unsettled(&edges) == 0 {
            return (round, edges);
        }
        edges = smaller(&larger(&edges));
        assert!(edges.len() <= count, "there are never more");
    }
    unreachable!()
}

/// Returns a chain whose links are named by a function.
fn chain(length: i64, name: impl Fn(i64) -> i64) -> Vec<Row> {
    (1..length).map(|n| (name(n - 1), name(n))).collect()
}

#[test]
fn a_chain_takes_as_many_rounds_as_its_length_has_digits() {
    for digits in [4, 7, 10, 13] {
        let length = 1 << digits;
        let names: [fn(i64) -> i64; 4] =
            [|n| n, |n| -n, |n| (mix(n as u64) >> 1) as i64, |n| if n % 2 == 0 { n } else { 1_000_000 - n }];
        for name in names {
            let (rounds, edges) = settle(&chain(length, name));
            let least = (0..length).map(name).min();
            assert!(edges.iter().all(|&(u, v)| Some(u.min(v)) == least));
            assert_eq!(by_first(&edges).len() as i64, length);
            assert!(rounds <= digits as usize + 2, "{rounds} rounds for 2^{digits}");
            assert!(rounds * 4 < MOST_STARS);
        }
    }
}

proptest! {
    #[test]
    fn edges_end_as_stars_of_the_components(pairs in prop::collection::vec((0..60i64, 0..60i64), 0..80)) {
        let pairs: Vec<Row> = pairs.into_iter().filter(|(a, b)| a != b).collect();
        let (rounds, edges) = settle(&pairs);
        let expected = components(&pairs);
        let found: BTreeMap<i64, i64> = edges.iter().map(|&(u, v)| (u, u.min(v))).collect();
        prop_assert_eq!(found, expected);
        prop_assert!(rounds <= 8, "{}", rounds);
    }
}
