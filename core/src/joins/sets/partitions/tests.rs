//! The join in partitions against all pairs, one by one.

use std::collections::BTreeSet;

use proptest::prelude::*;

use super::PartitionJoin;
use crate::executor::{Executor, PlainThreads};
use crate::features::sets::records::Records;
use crate::features::sets::store::RecordStore;
use crate::joins::{Algorithm, Counts, JoinedSets, RecordJoin, RecordPair};
use crate::storage::files::MemoryFiles;
use crate::verify::measure::Measure;
use crate::verify::predicate::Predicate;

const TOKENS: u32 = 6_000;

/// A record: the number of tokens that no other record has, and the others.
type Set = (u32, BTreeSet<u32>);

/// A store of records, in memory or in a file.
fn store(sets: &[Set], in_file: bool) -> RecordStore {
    let mut starts = vec![0];
    sets.iter().for_each(|(_, tokens)| starts.push(starts[starts.len() - 1] + tokens.len()));
    let tokens: Vec<u32> = sets.iter().flat_map(|(_, tokens)| tokens.iter().copied()).collect();
    let sizes = sets.iter().map(|(lone, tokens)| lone + tokens.len() as u32).collect();
    let mut store = RecordStore::Memory(Records::new(tokens, &starts, sizes).unwrap());
    if in_file { store.part(|_| true, &MemoryFiles, 0).unwrap() } else { store.take_all() }
}

fn by_size(mut sets: Vec<Set>) -> Vec<Set> {
    sets.retain(|(lone, tokens)| *lone > 0 || !tokens.is_empty());
    sets.sort_by_key(|(lone, tokens)| *lone as usize + tokens.len());
    sets
}

/// Returns all pairs in the order in which the join finds them.
fn found(
    left: &[Set],
    right: Option<&[Set]>,
    predicate: Predicate,
    (words, budget, in_file): (usize, usize, bool),
    executor: &dyn Executor,
) -> (Vec<RecordPair>, Counts) {
    let [left, right] = [Some(left), right].map(|sets| sets.map(|sets| store(sets, in_file)));
    let (left, algorithm) = (left.unwrap(), Algorithm::Auto);
    let (shared_tokens, weights) = (TOKENS as usize, Default::default());
    let sets = JoinedSets { left, right, shared_tokens, weights, predicate, algorithm, budget };
    let mut join: Box<dyn RecordJoin> = match words {
        1 => Box::new(PartitionJoin::<1>::new(sets, &MemoryFiles).unwrap()),
        2 => Box::new(PartitionJoin::<2>::new(sets, &MemoryFiles).unwrap()),
        _ => Box::new(PartitionJoin::<4>::new(sets, &MemoryFiles).unwrap()),
    };
    let mut pairs = Vec::new();
    let mut progress = 0.0;
    while let Some(batch) = join.next_batch(executor).unwrap() {
        pairs.extend(batch);
        assert!((progress..=1.0).contains(&join.progress()), "{progress} {}", join.progress());
        progress = join.progress();
        assert!(join.bytes() > 0);
    }
    let counts = join.counts();
    assert_eq!(counts.candidates, counts.pruned_by_position + counts.verified);
    (pairs, counts)
}

/// The specification. Tokens that are in no other record are not shared.
fn naive(left: &[Set], right: Option<&[Set]>, predicate: Predicate) -> Vec<(u32, u32, u64)> {
    let size = |(lone, tokens): &Set| lone + tokens.len() as u32;
    let mut found = Vec::new();
    for (n, a) in left.iter().enumerate() {
        for (m, b) in right.unwrap_or(&left[..n]).iter().enumerate() {
            let shared = a.1.intersection(&b.1).count() as u32;
            if shared > 0 && predicate.passes(shared, size(a), size(b)) {
                found.push((n as u32, m as u32, predicate.similarity(shared, size(a), size(b)).to_bits()));
            }
        }
    }
    found
}

fn sorted(pairs: &[RecordPair]) -> Vec<(u32, u32, u64)> {
    let mut pairs: Vec<_> =
        pairs.iter().map(|pair| (pair.left, pair.right, pair.similarity.to_bits())).collect();
    pairs.sort_unstable();
    pairs
}

fn check(left: &[Set], right: Option<&[Set]>, predicate: Predicate, words: usize) {
    let expected = naive(left, right, predicate);
    for (budget, in_file) in [(0, true), (400, false), (20_000, true), (1 << 22, true)] {
        let of = |executor: &dyn Executor| found(left, right, predicate, (words, budget, in_file), executor);
        let (one, counts) = of(&PlainThreads(1));
        assert_eq!(sorted(&one), expected, "{predicate:?} {words} {budget}");
        for threads in [2, 4] {
            assert_eq!(of(&PlainThreads(threads)), (one.clone(), counts), "{threads} threads");
        }
    }
}

/// Generates records of skewed tokens, many of them changed copies of others.
fn sets(most: usize) -> impl Strategy<Value = Vec<Set>> {
    // Tokens are numbered by ascending frequency.
    let token = prop_oneof![
        2 => 0..TOKENS,
        3 => (0..40u32).prop_map(|n| TOKENS - 1 - n * n / 8),
        1 => Just(TOKENS - 1),
    ];
    let fresh = (0..3u32, prop::collection::btree_set(token.clone(), 0..25));
    let copy = (any::<prop::sample::Index>(), prop::collection::vec(token, 0..4), 0..2u32);
    let one = prop_oneof![3 => fresh.prop_map(Ok), 3 => copy.prop_map(Err)];
    prop::collection::vec(one, 0..most).prop_map(|all| {
        let mut sets: Vec<Set> = Vec::new();
        for one in all {
            let set = match one {
                Ok(set) => set,
                Err((of, changes, lone)) if !sets.is_empty() => {
                    let mut tokens = sets[of.index(sets.len())].1.clone();
                    for token in changes {
                        if !tokens.remove(&token) {
                            tokens.insert(token);
                        }
                    }
                    (lone, tokens)
                }
                Err(_) => continue,
            };
            sets.push(set);
        }
        by_size(sets)
    })
}

fn predicates() -> impl Strategy<Value = Predicate> {
    let threshold = prop_oneof![Just(0.8), Just(1.0), 0.05..1.0f64];
    let distance = prop::option::weighted(0.3, 0..8u32);
    (0..Measure::ALL.len(), threshold, 0..4u32, distance).prop_map(
        |(measure, threshold, shared, distance)| {
            let predicate = Predicate::new(Measure::ALL[measure], threshold).unwrap().and_shared(shared);
            distance.map_or(predicate, |distance| predicate.and_within(distance))
        },
    )
}

proptest! {
    #![proptest_config(crate::cases::cases(60))]

    #[test]
    fn a_table_with_itself(sets in sets(60), predicate in predicates(), words in prop::sample::select(vec![1usize, 2, 4])) {
        // Containment has a direction, so it is for two tables.
        if predicate.is_symmetric() {
            check(&sets, None, predicate, words);
        }
    }

    #[test]
    fn two_tables(left in sets(40), right in sets(40), predicate in predicates(), words in prop::sample::select(vec![1usize, 2])) {
        check(&left, Some(&right), predicate, words);
    }
}

/// One token is in the prefix of each record, so that its entries are compared in pieces; half of
/// the records have the same size.
#[test]
fn one_token_that_all_records_have() {
    let token = |n: u32, m: u32| (crate::hash::mix(u64::from(n) << 32 | u64::from(m)) % 5_000) as u32;
    let set = |n: u32| {
        let others = (0..2 + n % 2 * (n % 5)).map(|m| token(n / 3, m + n % 3 / 2));
        (0, others.chain([TOKENS - 1]).collect())
    };
    let all = by_size((0..crate::cases::cases(600).cases.max(300)).map(set).collect());
    for threshold in [0.3, 0.6] {
        let predicate = Predicate::new(Measure::Jaccard, threshold).unwrap();
        check(&all, None, predicate, 1);
        check(&all[..200], Some(&all), predicate, 2);
    }
    check(&all, None, Predicate::shared(Measure::Overlap, 1), 1);
    check(&all, None, Predicate::shared(Measure::Overlap, 3), 1);
}
