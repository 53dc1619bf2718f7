//! All pairs, each once, whatever is cut how.

use super::*;
use crate::workers::PlainThreads;
use proptest::prelude::*;

#[derive(Debug)]
struct Table(Vec<Vec<u64>>, usize);

impl Keys for Table {
    fn bands(&self) -> usize {
        self.1
    }

    fn key(&self, record: u32, band: usize) -> u64 {
        self.0[record as usize][band]
    }

    fn met_before(&self, a: u32, b: u32, band: usize) -> bool {
        (0..band).any(|band| self.key(a, band) == self.key(b, band))
    }

    fn near(
        &self,
        _: &KeyEntry,
        _: &[KeyEntry],
        others: Range<usize>,
        _: &[u64],
        near: &mut Vec<u32>,
    ) -> Result<()> {
        near.extend(others.start as u32..others.end as u32);
        Ok(())
    }
}

fn pairs(table: &Table, split: Option<u32>, most: MostNeighbours, threads: usize) -> (Vec<(u32, u32)>, Met) {
    let n = table.0.len() as u32;
    let mut sharing = Buckets::new(n, split.unwrap_or(n), split.is_none(), most, threads << 20);
    let mut all = Vec::new();
    while let Some(batch) = sharing.next_batch(table, &PlainThreads(threads)).unwrap() {
        all.extend(batch);
    }
    all.sort_unstable();
    (all, sharing.met())
}

fn naive(table: &Table, split: Option<u32>) -> Vec<(u32, u32)> {
    let n = table.0.len() as u32;
    let right = |a: u32| split.unwrap_or(a + 1).max(a + 1);
    (0..split.unwrap_or(n))
        .flat_map(|a| (right(a)..n).map(move |b| (a, b)))
        .filter(|&(a, b)| table.met_before(a, b, table.1))
        .collect()
}

proptest! {
    #[test]
    fn each_pair_that_shares_a_key_comes_once(
        rows in prop::collection::vec(prop::collection::vec(0..6u64, 3), 0..60),
        bands in 0..=3usize,
        split in prop::option::of(0..60u32),
        threads in 1..4usize,
    ) {
        let split = split.map(|split| split.min(rows.len() as u32));
        let table = Table(rows, bands);
        let (found, met) = pairs(&table, split, None, threads);
        prop_assert_eq!(&found, &naive(&table, split));
        prop_assert_eq!(met.hot_buckets, 0);
        // Expanded in part: fewer pairs, the same for any number of threads.
        let (part, met) = pairs(&table, split, Some(2), threads);
        prop_assert_eq!(&part, &pairs(&table, split, Some(2), 1).0);
        prop_assert!(part.iter().all(|pair| found.contains(pair)));
        prop_assert!(met.hot_buckets > 0 || part == found);
    }
}

#[test]
fn large_buckets_are_cut_into_tiles() {
    let n = 18_000;
    let table = Table((0..n).map(|row| vec![u64::from(row % 1000 != 0)]).collect(), 1);
    let split = n as u32 / 2;
    let sharing = |self_join, most| {
        let mut sharing = Buckets::new(n as u32, split, self_join, most, 1 << 30);
        let mut count = 0u64;
        while let Some(batch) = sharing.next_batch(&table, &PlainThreads(3)).unwrap() {
            assert!(batch.len() < 1 << 18);
            count += batch.len() as u64;
        }
        (count, sharing.met())
    };
    let (rare, often) = (n as u64 / 1000, n as u64 - n as u64 / 1000);
    assert_eq!(sharing(true, None).0, often * (often - 1) / 2 + rare * (rare - 1) / 2);
    assert_eq!(sharing(false, None).0, often * often / 4 + rare * rare / 4);
    let (count, met) = sharing(true, Some(100));
    assert_eq!(count, (often - 100) * 100 + 99 * 100 / 2 + rare * (rare - 1) / 2);
    assert_eq!((met.hot_buckets, met.hot_records, met.compared), (1, often, count));
    assert_eq!(sharing(false, Some(100)).0, often / 2 * 100 + rare * rare / 4);
}
