//! The nearest of each among rows of other sources, against its specification: all rows of other
//! sources, sorted by similarity and then by id.

use std::collections::BTreeSet;

use neardup_core::error::Result;
use neardup_core::executor::{Executor, PlainThreads};
use neardup_core::features::FeatureSpec;
use neardup_core::features::dictionary::weights::Weighing;
use neardup_core::features::source_document::SourceDocument;
use neardup_core::joins::nearest::found::NearestRow;
use neardup_core::joins::nearest::pieces::NearestSearch;
use neardup_core::methods::corpus::Corpus;
use neardup_core::methods::documents::{Documents, Quiet, Side};
use neardup_core::methods::nearest;
use neardup_core::methods::reading::Reading;
use neardup_core::storage::files::{MemoryFiles, Resources};
use neardup_core::verify::measure::Measure;
use proptest::prelude::*;

use crate::common::cases;
use crate::common::run::{ENOUGH, Interrupted};
use crate::common::sets::set;
use crate::nearest::naive_among;

const MEASURES: [Measure; 3] = [Measure::Jaccard, Measure::Overlap, Measure::Cosine];
const SETS: FeatureSpec = FeatureSpec { multiset: false, ..FeatureSpec::WORDS };

/// Rows that have sources.
pub struct Sourced<'c>(pub Corpus<'c>, pub Vec<u32>);

impl Documents for Sourced<'_> {
    fn has_right(&self) -> bool {
        false
    }

    fn begin(&mut self, side: Side) -> Result<()> {
        self.0.begin(side)
    }

    fn fetch(&mut self, documents: &mut Vec<(u32, SourceDocument)>) -> Result<usize> {
        self.0.fetch(documents)
    }

    fn ended(&self) -> bool {
        self.0.ended()
    }

    fn is_ready(&self) -> bool {
        self.0.is_ready()
    }

    fn rows(&self, side: Side) -> usize {
        self.0.rows(side)
    }

    fn across(&self) -> Option<&[u32]> {
        Some(&self.1)
    }
}

fn found(
    rows: &[(Vec<i64>, u32)],
    measure: Measure,
    k: usize,
    short: u64,
    executor: &dyn Executor,
) -> Vec<NearestRow> {
    let resources = Resources { files: &MemoryFiles, budget: ENOUGH, executor };
    let sets: Vec<Vec<i64>> = rows.iter().map(|(set, _)| set.clone()).collect();
    let sources = rows.iter().map(|&(_, source)| source).collect();
    let (mut documents, mut quiet) = (Sourced(Corpus::of_sets(&sets), sources), Quiet);
    let mut reading = Reading::new(&mut documents, &mut quiet, resources);
    let ordered = nearest::ordered(SETS, Weighing::default(), &mut reading).unwrap();
    let mut search =
        nearest::of_ordered(ordered, NearestSearch { measure, k, short, sources: None }, &mut reading)
            .unwrap();
    let mut found = Vec::new();
    search
        .for_each(executor, |row| {
            found.push(row);
            Ok(())
        })
        .unwrap();
    found.sort_by_key(|near| (near.row, near.rank));
    found
}

fn expected(rows: &[(Vec<i64>, u32)], measure: Measure, k: usize) -> Vec<NearestRow> {
    let sets: Vec<BTreeSet<i64>> = rows.iter().map(|(set, _)| set.iter().copied().collect()).collect();
    let of_row =
        |row: usize| naive_among(&sets, row, measure, k, |other| rows[other as usize].1 != rows[row].1);
    (0..rows.len()).flat_map(of_row).collect()
}

/// Sets of which many are equal, and sources of which one has most rows.
fn rows() -> impl Strategy<Value = Vec<(Vec<i64>, u32)>> {
    let sources = || prop_oneof![Just(1u32), 0..3u32, 0..40u32];
    let sets = prop::collection::vec(prop_oneof![set(), prop::collection::vec(0..6i64, 0..5)], 1..30);
    (sets, prop::collection::vec((any::<prop::sample::Index>(), sources()), 0..120))
        .prop_map(|(sets, rows)| rows.iter().map(|(set, source)| (set.get(&sets).clone(), *source)).collect())
}

proptest! {
    #![proptest_config(cases::cases(200))]

    #[test]
    fn nearest_of_other_sources_equal_all_rows_sorted(
        rows in rows(),
        k in prop_oneof![1..4usize, 4..80usize],
        threads in 1..4usize,
    ) {
        for measure in MEASURES {
            let expected = expected(&rows, measure, k);
            for short in [0, u64::MAX] {
                prop_assert_eq!(&found(&rows, measure, k, short, &PlainThreads(threads)), &expected);
            }
            prop_assert_eq!(&found(&rows, measure, k, 8000, &Interrupted::default()), &expected);
        }
    }
}

/// More than one block of records, of which those of one source are equal to each other.
#[test]
fn sources_of_many_blocks() {
    let row = |n: i64| (vec![n % 3, 10 + n % 7, 20 + n / 4], (n % 4 + n % 5 / 4) as u32);
    let rows: Vec<_> = (0..3_000).map(row).collect();
    for (k, short) in [(1, 0), (7, u64::MAX), (700, 8000)] {
        assert_eq!(
            found(&rows, Measure::Jaccard, k, short, &PlainThreads(2)),
            expected(&rows, Measure::Jaccard, k)
        );
    }
}
