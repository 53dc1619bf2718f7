//! Sets are the same in any memory.

use crate::executor::{self, PlainThreads};
use crate::features::FeatureSpec;
use crate::features::dictionary::weights::{Weighing, Weights};
use crate::features::sets::builder::SetBuilder;
use crate::features::sets::order::Ordered;
use crate::features::sets::store::RecordTable;
use crate::features::tokens::Document;
use crate::storage::files::MemoryFiles;
use proptest::prelude::*;
use std::collections::BTreeMap;

/// Builds the sets of documents, a batch of some documents at a time, within so much memory.
fn ordered(
    documents: &[Document],
    spec: FeatureSpec,
    weighing: Weighing,
    right: Option<u32>,
    memory: usize,
) -> Ordered {
    let executor = PlainThreads(2);
    let mut builder = SetBuilder::new(spec, 2).within(memory).with_files(&MemoryFiles).weighed(weighing);
    for (row, document) in (0..).zip(documents) {
        if right == Some(row) {
            builder.number(&executor).unwrap();
            builder.go_right(row);
        }
        if row % 5 == 4 {
            builder.number(&executor).unwrap();
            builder.add_long(row, document, &executor).unwrap();
        } else {
            builder.collectors[row as usize % 2].add(row, document, &executor::Stop::default()).unwrap();
        }
        if row % 3 == 2 {
            builder.number(&executor).unwrap();
            builder.spill(0, memory).unwrap();
        }
    }
    builder.number(&executor).unwrap();
    builder.spill(0, memory).unwrap();
    builder.order(memory, &executor).unwrap()
}

/// Returns for each row the size of its set, and the ranks of the tokens that can be shared.
fn by_row(table: &mut RecordTable) -> BTreeMap<u32, (u32, Vec<u32>)> {
    let mut rows = BTreeMap::new();
    let members = &table.members;
    table
        .store
        .for_each(1 << 10, |record, size, tokens| {
            for &row in members.rows(record) {
                assert!(tokens.is_sorted_by(|a, b| a < b), "{tokens:?}");
                assert_eq!(rows.insert(row, (size, tokens.to_vec())), None);
            }
            Ok(())
        })
        .unwrap();
    rows
}

proptest! {
    /// Ranks may differ, but not which rows share how many tokens, nor how often a token is.
    #[test]
    fn sets_are_the_same_in_any_memory(
        texts in prop::collection::vec("([a-e]|[a-z]{2}|[ab]{17,18})( ([a-e]|[a-z]{2}|[ab]{17,18})){0,12}", 1..30),
        shingle in 1..3usize, multiset: bool, weigh: bool, squares: bool,
        right in prop::option::of(0..30u32), memory in 0..4000usize,
    ) {
        let documents: Vec<Document> = texts.into_iter().map(Document::Text).collect();
        let right = right.filter(|&right| (right as usize) < documents.len());
        let spec = FeatureSpec { shingle, multiset, ..FeatureSpec::WORDS };
        let describe = |memory| {
            let weights = if weigh { Weights::Idf } else { Weights::Equal };
            let mut ordered = ordered(&documents, spec, Weighing { weights, squares }, right, memory);
            let mut rows = by_row(&mut ordered.left);
            if let Some(right) = &mut ordered.right {
                rows.extend(by_row(right));
            }
            let mut frequencies = vec![0; ordered.shared_tokens];
            rows.values().flat_map(|(_, ranks)| ranks).for_each(|&rank| frequencies[rank as usize] += 1);
            assert!(frequencies.is_sorted(), "{frequencies:?}");
            let shared = |a: &[u32], b: &[u32]| {
                a.iter().filter(|rank| b.contains(rank)).map(|&rank| ordered.weights.weight(rank)).sum::<u32>()
            };
            let all: Vec<_> = rows.values().map(|(_, ranks)| ranks).collect();
            let overlaps: Vec<u32> =
                all.iter().flat_map(|a| all.iter().map(move |b| shared(a, b))).collect();
            let sizes: Vec<(u32, u32)> = rows.iter().map(|(&row, &(size, _))| (row, size)).collect();
            (sizes, overlaps, frequencies, ordered.distinct_tokens, ordered.is_in_files())
        };
        let (large, small) = (describe(1 << 30), describe(memory));
        prop_assert_eq!(&large.0, &small.0);
        prop_assert_eq!(&large.1, &small.1);
        prop_assert_eq!(&large.2, &small.2);
        prop_assert_eq!(large.3, small.3);
        prop_assert!(!large.4);
    }
}
