//! The join against its specification: all pairs, one by one.

use std::collections::BTreeSet;

use neardup_core::executor::PlainThreads;
use neardup_core::features::FeatureSpec;
use neardup_core::joins::Algorithm;
use neardup_core::joins::Counts;
use neardup_core::methods::corpus::Corpus;
use neardup_core::methods::sets::Sets;
use neardup_core::verify::measure::Measure;
use neardup_core::verify::predicate::Predicate;
use proptest::prelude::*;

use crate::common::cases;
use crate::common::run::{ENOUGH, Found, find};
use crate::common::sets::set;

const SELF_MEASURES: [Measure; 4] = [Measure::Jaccard, Measure::Cosine, Measure::Dice, Measure::Overlap];

const ALGORITHMS: [Algorithm; 4] =
    [Algorithm::Auto, Algorithm::AllPairs, Algorithm::PpJoin, Algorithm::PpJoinPlus(2)];

/// Joins sets of numbers in every way, with rows from `right_from` on as a second table.
fn join(
    sets: &[Vec<i64>],
    right_from: Option<usize>,
    predicate: Predicate,
    threads: usize,
) -> (Found, Vec<Counts>) {
    let by = |algorithm, budget| {
        let spec = FeatureSpec { multiset: false, ..FeatureSpec::WORDS };
        let corpus = Corpus::of_sets(sets).split(right_from);
        let (found, account) = find(
            &Sets { spec, predicate, algorithm, weights: Default::default() },
            corpus,
            &PlainThreads(threads),
            budget,
        );
        let counts = account.counts;
        assert_eq!(counts.candidates, counts.pruned_by_position + counts.pruned_by_suffix + counts.verified);
        (found, counts)
    };
    let mut ways = ALGORITHMS.map(|algorithm| by(algorithm, ENOUGH)).into_iter();
    let (found, counts) = ways.next().unwrap();
    let mut all = vec![counts];
    for (other, counts) in ways {
        assert_eq!(other, found, "all algorithms find the same pairs");
        all.push(counts);
    }
    // Where there is hardly any memory, all documents are long, and all sets go through files; with
    // more, some.
    let budgets: &[usize] = if sets.len() < 100 { &[0, 3000] } else { &[64 << 10] };
    for &budget in budgets {
        let (small, _) = by(Algorithm::Auto, budget);
        assert_eq!(small, found, "{budget} bytes find the same pairs");
    }
    assert!(all[1].verified >= all[2].verified && all[2].verified >= all[3].verified, "filters only remove");
    (found, all)
}

/// The specification.
fn naive(sets: &[Vec<i64>], right_from: Option<usize>, predicate: Predicate) -> Found {
    let sets: Vec<BTreeSet<i64>> = sets.iter().map(|set| set.iter().copied().collect()).collect();
    let mut found = Vec::new();
    for left in 0..right_from.unwrap_or(sets.len()) {
        for right in right_from.unwrap_or(left + 1)..sets.len() {
            let shared = sets[left].intersection(&sets[right]).count() as u32;
            let (x, y) = (sets[left].len() as u32, sets[right].len() as u32);
            if shared > 0 && predicate.passes(shared, x, y) {
                found.push((left as u32, right as u32, predicate.similarity(shared, x, y).to_bits()));
            }
        }
    }
    found
}

fn sets() -> impl Strategy<Value = Vec<Vec<i64>>> {
    prop::collection::vec(set(), 0..60)
}

fn predicates() -> impl Strategy<Value = (f64, Option<u32>)> {
    let ratio = (1..=20u32, 1..=20u32).prop_map(|(a, b)| f64::from(a.min(b)) / f64::from(a.max(b)));
    let threshold = prop_oneof![ratio, 0.01..1.0f64, Just(0.8), Just(1.0), Just(1e-12)];
    (threshold, prop::option::weighted(0.2, 1..8u32))
}

proptest! {
    #![proptest_config(cases::cases(400))]

    #[test]
    fn self_join_equals_all_pairs(sets in sets(), (threshold, least) in predicates(), threads in 1..4usize) {
        for measure in SELF_MEASURES {
            let mut predicate = Predicate::new(measure, threshold).unwrap();
            if let Some(least) = least {
                predicate = predicate.and_shared(least);
            }
            let (found, counts) = join(&sets, None, predicate, threads);
            prop_assert_eq!(&found, &naive(&sets, None, predicate), "{:?}", predicate);
            prop_assert_eq!(join(&sets, None, predicate, 1).1, counts, "counts do not depend on threads");
        }
        let least = least.unwrap_or(3);
        for absolute in [Predicate::shared(Measure::Overlap, least), Predicate::shared(Measure::Dice, 1).and_within(least)] {
            prop_assert_eq!(join(&sets, None, absolute, threads).0, naive(&sets, None, absolute));
        }
    }

    #[test]
    fn join_of_two_tables_equals_all_pairs(
        sets in sets(),
        (threshold, least) in predicates(),
        threads in 1..4usize,
        at in 0..60usize,
    ) {
        let from = Some(at.min(sets.len()));
        for measure in SELF_MEASURES.into_iter().chain([Measure::Containment]) {
            let mut predicate = Predicate::new(measure, threshold).unwrap();
            if let Some(least) = least {
                predicate = predicate.and_shared(least);
            }
            let (found, _) = join(&sets, from, predicate, threads);
            prop_assert_eq!(found, naive(&sets, from, predicate), "{:?}", predicate);
        }
        let least = least.unwrap_or(3);
        for absolute in [Predicate::shared(Measure::Overlap, least), Predicate::shared(Measure::Dice, 1).and_within(least)] {
            prop_assert_eq!(join(&sets, from, absolute, threads).0, naive(&sets, from, absolute));
        }
    }

    #[test]
    fn the_order_of_rows_does_not_matter(sets in sets(), seed in any::<u64>()) {
        let mut order: Vec<usize> = (0..sets.len()).collect();
        order.sort_by_key(|&row| neardup_core::hash::mix(seed ^ row as u64));
        let shuffled: Vec<Vec<i64>> = order.iter().map(|&row| sets[row].clone()).collect();
        let predicate = Predicate::new(Measure::Jaccard, 0.6).unwrap();
        let mut back: Found = join(&shuffled, None, predicate, 2)
            .0
            .into_iter()
            .map(|(a, b, s)| (order[a as usize] as u32, order[b as usize] as u32, s))
            .map(|(a, b, s)| (a.min(b), a.max(b), s))
            .collect();
        back.sort_unstable();
        prop_assert_eq!(back, join(&sets, None, predicate, 1).0);
    }
}

#[test]
fn many_equal_sets() {
    let mut sets = vec![vec![1, 2, 3]; 300];
    sets.extend(vec![vec![1, 2, 3, 4]; 200]);
    sets.extend(vec![vec![]; 100]);
    sets.extend(vec![vec![7]; 50]);
    for measure in SELF_MEASURES {
        for threshold in [0.75, 0.76, 1.0] {
            let predicate = Predicate::new(measure, threshold).unwrap();
            assert_eq!(join(&sets, None, predicate, 2).0, naive(&sets, None, predicate));
        }
    }
}

/// Records that share only tokens everybody has, and long records that nearly agree.
#[test]
fn hubs_and_long_records() {
    let mut sets: Vec<Vec<i64>> = (0..400).map(|n| vec![-1, n * 10, n * 10 + 1, n * 10 + 2]).collect();
    for shift in 0..10 {
        sets.push((10_000 + shift * 50..15_000 + shift * 60).collect());
    }
    for threshold in [0.1, 0.5, 0.9, 0.99] {
        for measure in SELF_MEASURES {
            let predicate = Predicate::new(measure, threshold).unwrap();
            assert_eq!(join(&sets, None, predicate, 3).0, naive(&sets, None, predicate), "{predicate:?}");
        }
    }
}
