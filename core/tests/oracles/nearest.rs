//! The nearest of each against its specification: all rows, sorted by similarity and then by id.

use std::collections::BTreeSet;
use std::time::Duration;

use neardup_core::error::Result;
use neardup_core::executor::{Executor, PlainThreads, Stop, Task};
use neardup_core::features::FeatureSpec;
use neardup_core::features::dictionary::weights::{Weighing, Weights};
use neardup_core::joins::nearest::found::NearestRow;
use neardup_core::joins::nearest::pieces::NearestSearch;
use neardup_core::methods;
use neardup_core::methods::corpus::Corpus;
use neardup_core::methods::documents::Quiet;
use neardup_core::methods::reading::Reading;
use neardup_core::storage::files::{MemoryFiles, Resources};
use neardup_core::verify::measure::Measure;
use proptest::prelude::*;

use crate::common::cases;
use crate::common::run::{ENOUGH, Interrupted};
use crate::common::sets::set;

const MEASURES: [Measure; 5] =
    [Measure::Jaccard, Measure::Cosine, Measure::Dice, Measure::Overlap, Measure::Containment];
const SETS: FeatureSpec = FeatureSpec { multiset: false, ..FeatureSpec::WORDS };

fn nearest(
    sets: &[Vec<i64>],
    measure: Measure,
    k: usize,
    executor: &dyn Executor,
    budget: usize,
) -> Result<Vec<NearestRow>> {
    let resources = Resources { files: &MemoryFiles, budget, executor };
    Corpus::of_sets(sets).nearest_with(SETS, measure, &Weights::Equal, k, resources)
}

/// The same by lists, before anything is counted. Counting takes less time in all small tables.
fn nearest_by_lists(
    sets: &[Vec<i64>],
    measure: Measure,
    k: usize,
    executor: &dyn Executor,
) -> Result<Vec<NearestRow>> {
    let resources = Resources { files: &MemoryFiles, budget: ENOUGH, executor };
    let (mut corpus, mut quiet) = (Corpus::of_sets(sets), Quiet);
    let mut reading = Reading::new(&mut corpus, &mut quiet, resources);
    let ordered = methods::nearest::ordered(SETS, Weighing::default(), &mut reading)?;
    let mut rows = methods::nearest::of_ordered(
        ordered,
        NearestSearch { measure, k, short: 0, sources: None },
        &mut reading,
    )?;
    let mut found = Vec::new();
    loop {
        found.extend(std::iter::from_fn(|| rows.take()));
        if !rows.advance(executor)? {
            break;
        }
    }
    found.sort_by_key(|near| (near.row, near.rank));
    Ok(found)
}

/// The rows in the order in which they are given: during the search, as a server takes them, or
/// after each part of it.
fn in_order(
    sets: &[Vec<i64>],
    k: usize,
    budget: usize,
    executor: &dyn Executor,
    beside: bool,
) -> Result<Vec<NearestRow>> {
    let resources = Resources { files: &MemoryFiles, budget, executor };
    let (mut corpus, mut quiet) = (Corpus::of_sets(sets), Quiet);
    let mut reading = Reading::new(&mut corpus, &mut quiet, resources);
    let mut rows = methods::nearest::search(SETS, Measure::Jaccard, &Weights::Equal, k, &mut reading)?;
    let (mut found, mut shares) = (Vec::new(), vec![0.0]);
    loop {
        let more = rows.advance_beside(executor, &mut |share, take| {
            shares.push(share);
            // The server stops taking when it is interrupted.
            let some = if beside { 1 + shares.len() % 40 } else { 0 };
            found.extend(std::iter::from_fn(take).take(some));
        })?;
        if !beside || !more {
            found.extend(std::iter::from_fn(|| rows.take()));
        }
        if !more {
            break;
        }
    }
    assert_eq!(rows.given(), found.len() as u64);
    assert_eq!(rows.progress(), 1.0);
    assert!(shares.is_sorted() && shares.iter().all(|share| (0.0..=1.0).contains(share)));
    Ok(found)
}

/// Calls `beside` again and again while its threads work, as the leader of a server does.
struct Leading(usize);

impl Executor for Leading {
    fn count(&self) -> usize {
        self.0
    }

    fn run(&self, threads: usize, work: &Task<'_>) -> Result<()> {
        self.run_beside(threads, work, &mut || {})
    }

    fn run_beside(&self, threads: usize, work: &Task<'_>, beside: &mut dyn FnMut()) -> Result<()> {
        let stop = Stop::default();
        std::thread::scope(|scope| {
            let workers: Vec<_> = (0..threads)
                .map(|n| {
                    let stop = &stop;
                    scope.spawn(move || work(n, stop))
                })
                .collect();
            while workers.iter().any(|worker| !worker.is_finished()) {
                beside();
                std::thread::park_timeout(Duration::from_millis(1));
            }
            workers.into_iter().try_for_each(|worker| worker.join().expect("no panic"))
        })
    }
}

fn distinct(sets: &[Vec<i64>]) -> Vec<BTreeSet<i64>> {
    sets.iter().map(|set| set.iter().copied().collect()).collect()
}

/// The specification for one row.
fn naive_of(sets: &[BTreeSet<i64>], row: usize, measure: Measure, k: usize) -> Vec<NearestRow> {
    naive_among(sets, row, measure, k, |other| other as usize != row)
}

/// The specification for one row, which is compared with some of the others.
pub fn naive_among(
    sets: &[BTreeSet<i64>],
    row: usize,
    measure: Measure,
    k: usize,
    is_compared: impl Fn(u32) -> bool,
) -> Vec<NearestRow> {
    let own = &sets[row];
    let mut others: Vec<(f64, u32)> = (0u32..)
        .zip(sets)
        .filter(|&(other, _)| is_compared(other))
        .map(|(other, set)| {
            let shared = own.intersection(set).count() as u32;
            let (x, y) = (own.len().max(set.len()), own.len().min(set.len()));
            (measure.similarity(shared, x as u32, y as u32), other)
        })
        .filter(|&(similarity, _)| similarity > 0.0)
        .collect();
    others.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
    let ranked = (1..).zip(others.into_iter().take(k));
    let row = row as u32;
    ranked.map(|(rank, (similarity, nearest))| NearestRow { row, nearest, similarity, rank }).collect()
}

/// The specification.
fn naive(sets: &[Vec<i64>], measure: Measure, k: usize) -> Vec<NearestRow> {
    let sets = distinct(sets);
    (0..sets.len()).flat_map(|row| naive_of(&sets, row, measure, k)).collect()
}

fn check(sets: &[Vec<i64>], k: usize, threads: usize) {
    for measure in MEASURES {
        let expected = naive(sets, measure, k);
        let found = nearest_by_lists(sets, measure, k, &PlainThreads(threads)).unwrap();
        assert_eq!(found, expected, "{measure:?}, {k} of {}, {threads} threads, by lists", sets.len());
        // The pieces of a search become many.
        let budgets: &[usize] = if sets.len() < 40 { &[ENOUGH, 3000, 0] } else { &[ENOUGH, 6000] };
        for &budget in budgets {
            let found = nearest(sets, measure, k, &PlainThreads(threads), budget).unwrap();
            assert_eq!(
                found,
                expected,
                "{measure:?}, {k} of {}, {threads} threads, {budget} bytes",
                sets.len()
            );
        }
    }
}

/// Pages of one template: nearly all of their tokens are those of most others.
fn pages() -> impl Strategy<Value = Vec<Vec<i64>>> {
    let frame = |kind: i64| (0..40i64).map(move |n| 1000 * (kind % 2) + n);
    let page = (0..3i64, prop::collection::btree_set(0..40i64, 0..6), prop::collection::vec(0..60i64, 0..5))
        .prop_map(move |(kind, without, own)| {
            let own = own.into_iter().map(|n| 5000 + n * n / 9);
            frame(kind).filter(|n| !without.contains(&(n % 1000))).chain(own).collect::<Vec<i64>>()
        });
    // Many of them are equal.
    (prop::collection::vec(page, 1..30), prop::collection::vec(any::<prop::sample::Index>(), 0..50)).prop_map(
        |(pages, which)| which.iter().map(|index| index.get(&pages).clone()).chain(pages.clone()).collect(),
    )
}

/// Sets, a few of them large.
fn sets() -> impl Strategy<Value = Vec<Vec<i64>>> {
    let large = (0..300i64, 100..400i64).prop_map(|(from, size)| (from..from + size).collect());
    prop::collection::vec(prop_oneof![7 => set(), 1 => large], 0..60)
}

proptest! {
    #![proptest_config(cases::cases(300))]

    #[test]
    fn nearest_equal_all_rows_sorted(sets in sets(), k in prop_oneof![1..4usize, 4..80usize], threads in 1..4usize) {
        check(&sets, k, threads);
    }

    #[test]
    fn nearest_of_pages_equal_all_rows_sorted(
        pages in pages(),
        k in prop_oneof![1..4usize, 4..80usize],
        threads in 1..4usize,
    ) {
        check(&pages, k, threads);
    }

    #[test]
    fn interruptions_change_nothing(sets in prop_oneof![sets(), pages()], k in 1..12usize) {
        let expected = naive(&sets, Measure::Jaccard, k);
        let found = nearest(&sets, Measure::Jaccard, k, &Interrupted::default(), ENOUGH).unwrap();
        prop_assert_eq!(&found, &expected);
        let found = nearest_by_lists(&sets, Measure::Jaccard, k, &Interrupted::default()).unwrap();
        prop_assert_eq!(found, expected);
    }
}

proptest! {
    #![proptest_config(cases::cases(60))]

    #[test]
    fn rows_come_in_one_order(sets in prop_oneof![sets(), pages()], k in 1..12usize, threads in 1..4usize) {
        let mut expected = in_order(&sets, k, ENOUGH, &PlainThreads(1), false).unwrap();
        prop_assert_eq!(&in_order(&sets, k, ENOUGH, &Leading(threads), true).unwrap(), &expected);
        prop_assert_eq!(&in_order(&sets, k, ENOUGH, &PlainThreads(threads), true).unwrap(), &expected);
        prop_assert_eq!(&in_order(&sets, k, ENOUGH, &Interrupted::default(), true).unwrap(), &expected);
        expected.sort_by_key(|near| (near.row, near.rank));
        prop_assert_eq!(&expected, &naive(&sets, Measure::Jaccard, k));
        // Sets of equal sizes come from files in any order. Many of them would be many pieces.
        for executor in [&Leading(threads) as &dyn Executor, &Interrupted::default()] {
            if sets.len() > 30 {
                break;
            }
            let mut found = in_order(&sets, k, 6000, executor, true).unwrap();
            found.sort_by_key(|near| (near.row, near.rank));
            prop_assert_eq!(&found, &expected);
        }
    }
}

#[test]
fn none_one_and_empty() {
    for executor in [&Leading(2) as &dyn Executor, &PlainThreads(1)] {
        assert_eq!(in_order(&[], 3, ENOUGH, executor, true), Ok(Vec::new()));
    }
    check(&[], 3, 2);
    check(&[vec![1, 2]], 3, 2);
    check(&[vec![], vec![], vec![1], vec![1], vec![2]], 3, 2);
    assert_eq!(in_order(&[vec![]], 1, 0, &PlainThreads(1), true), Ok(Vec::new()));
}

/// Of many equal rows those of the first ids are the nearest, whether a row is one of them or not.
#[test]
fn many_equal_rows() {
    let mut sets = vec![vec![1, 2, 3]; 40];
    sets.extend([vec![1, 2], vec![1, 2, 3, 4], vec![9]]);
    sets.rotate_left(7);
    check(&sets, 3, 2);
    check(&sets, 39, 1);
    check(&sets, 100, 2);
    let many = vec![vec![1, 2, 3]; 10_000];
    let found = nearest(&many, Measure::Jaccard, 2, &PlainThreads(2), ENOUGH).unwrap();
    assert_eq!(found.len(), 20_000);
    assert!(found.iter().all(|near| near.similarity == 1.0));
    let of = |row: usize| [found[2 * row].nearest, found[2 * row + 1].nearest];
    assert_eq!([of(0), of(1), of(2), of(9_999)], [[1, 2], [0, 2], [0, 1], [0, 1]]);
}

/// Pages of one template are equally similar to each other.
#[test]
fn pages_of_a_template() {
    let page = |n: i64| (0..40).chain([1000 + n % 7, 2000 + n, 3000 + n / 3]).collect::<Vec<i64>>();
    let pages: Vec<Vec<i64>> = (0..300).map(page).collect();
    check(&pages, 5, 2);
    // More than one window of a list, and more than 65,535 tokens from a token on.
    let pages: Vec<Vec<i64>> = (0..9_000).map(|n| vec![n % 3, 10 + n % 4_400, 5_000 + n]).collect();
    let expected = naive_some(&pages, 2);
    let found = nearest(&pages, Measure::Jaccard, 2, &PlainThreads(2), ENOUGH).unwrap();
    assert_eq!(found, expected);
    let found = nearest_by_lists(&pages, Measure::Jaccard, 2, &PlainThreads(2)).unwrap();
    assert_eq!(found, expected);
    let long: Vec<Vec<i64>> =
        [0, 1, 2, 70_000].map(|n| (n..n + 70_000).chain([-1 - n / 2]).collect()).into_iter().collect();
    check(&long, 2, 2);
}

/// Many rows of few sets, and many sets of the same similarity: the first ids of all of them are the
/// nearest, whatever is counted first.
#[test]
fn ties_in_several_blocks() {
    // Every set shares one token with 500 to 2,000 others, and half of the sets are equal to another.
    let set = |n: i64| vec![n % 3, 10 + n % 2, 20 + n / 2, 5_000 + n / 2];
    let mut sets: Vec<Vec<i64>> = (0..3_000).map(set).collect();
    // Row numbers are not in the order of the records.
    (0..3_000).for_each(|n| sets.swap(n, n * 7919 % 3_000));
    let all = distinct(&sets);
    for measure in MEASURES {
        for (k, threads) in [(1, 1), (7, 2), (700, 3)] {
            let found = nearest(&sets, measure, k, &PlainThreads(threads), ENOUGH).unwrap();
            for row in (0..sets.len()).step_by(271) {
                let found: Vec<NearestRow> =
                    found.iter().filter(|near| near.row as usize == row).copied().collect();
                assert_eq!(found, naive_of(&all, row, measure, k), "{measure:?}, {k} of row {row}");
            }
        }
    }
}

/// More than one window of records, with frequent and rare tokens, in which little is similar.
#[test]
fn little_in_common() {
    const SETS: u64 = 20_000;
    let set = |n: u64| {
        let mut state = n.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
        let mut token = || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            let (one, other) = (state >> 53, state >> 42 & 0x7ff);
            i64::try_from(one * other / 1024).unwrap()
        };
        let tokens: BTreeSet<i64> = (0..6 + n % 40).map(|_| token()).collect();
        tokens.into_iter().collect::<Vec<i64>>()
    };
    let sets: Vec<Vec<i64>> = (0..SETS).map(set).collect();
    let all = distinct(&sets);
    for (threads, by_lists) in [(1, false), (3, false), (2, true)] {
        let found = match by_lists {
            false => nearest(&sets, Measure::Jaccard, 10, &PlainThreads(threads), ENOUGH),
            true => nearest_by_lists(&sets, Measure::Jaccard, 10, &PlainThreads(threads)),
        };
        let found = found.unwrap();
        for row in (0..SETS as usize).step_by(997) {
            let found: Vec<NearestRow> =
                found.iter().filter(|near| near.row as usize == row).copied().collect();
            assert_eq!(found, naive_of(&all, row, Measure::Jaccard, 10), "{row}");
        }
    }
}

/// The specification for many small sets.
fn naive_some(sets: &[Vec<i64>], k: usize) -> Vec<NearestRow> {
    let mut all = Vec::new();
    for (row, own) in (0u32..).zip(sets) {
        let mut others: Vec<(f64, u32)> = (0u32..)
            .zip(sets)
            .filter(|&(other, _)| other != row)
            .map(|(other, set)| (own.iter().filter(|token| set.contains(token)).count() as u32, other))
            .filter(|&(shared, _)| shared > 0)
            .map(|(shared, other)| (Measure::Jaccard.similarity(shared, 3, 3), other))
            .collect();
        others.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
        let ranked = (1..).zip(others.into_iter().take(k));
        all.extend(ranked.map(|(rank, (similarity, nearest))| NearestRow { row, nearest, similarity, rank }));
    }
    all
}
