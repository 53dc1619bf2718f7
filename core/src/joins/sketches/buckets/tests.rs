//! Tests that all pairs are emitted, each once, however buckets are cut.

use super::*;
use crate::executor::PlainThreads;
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

    fn meet(&self, a: u32, b: u32, band: usize) -> bool {
        self.key(a, band) == self.key(b, band)
    }

    fn is_near(&self, _: u32, _: u32) -> bool {
        true
    }
}

fn pairs(table: &Table, split: Option<u32>, most: MostNeighbours, threads: usize) -> (Vec<(u32, u32)>, Met) {
    let n = table.0.len() as u32;
    all_of(Buckets::new(n, split.unwrap_or(n), split.is_none(), most, threads << 20), table, threads)
}

fn all_of(mut buckets: Buckets, table: &Table, threads: usize) -> (Vec<(u32, u32)>, Met) {
    let mut all = Vec::new();
    while let Some(batch) = buckets.next_batch(table, &PlainThreads(threads)).unwrap() {
        all.extend(batch);
    }
    all.sort_unstable();
    (all, buckets.met())
}

fn naive(table: &Table, split: Option<u32>) -> Vec<(u32, u32)> {
    let n = table.0.len() as u32;
    let right = |a: u32| split.unwrap_or(a + 1).max(a + 1);
    (0..split.unwrap_or(n))
        .flat_map(|a| (right(a)..n).map(move |b| (a, b)))
        .filter(|&(a, b)| table.met_before(a, b, table.1))
        .collect()
}

/// Returns the pairs that are near in the bucket of a band.
fn in_part(table: &Table, split: Option<u32>, most: usize) -> Vec<(u32, u32)> {
    let n = table.0.len() as u32;
    let near = |a: u32, b: u32, band: usize| {
        let bucket: Vec<u32> = (0..n).filter(|&c| table.meet(a, c, band)).collect();
        let place = |list: &[u32], record| list.iter().position(|&other| other == record).unwrap();
        let Some(split) = split else { return place(&bucket, b) - place(&bucket, a) <= most };
        let (lefts, rights): (Vec<u32>, Vec<u32>) = bucket.iter().partition(|&&record| record < split);
        let middle = place(&lefts, a) * rights.len() / lefts.len();
        let first = middle.saturating_sub(most / 2).min(rights.len().saturating_sub(most));
        (first..first + most).contains(&place(&rights, b)) || rights.len() <= most
    };
    let met = naive(table, split);
    met.into_iter()
        .filter(|&(a, b)| (0..table.1).any(|band| table.meet(a, b, band) && near(a, b, band)))
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
        // Expansion in part yields the pairs that are near in some band by the definition, whatever
        // they share in other bands, and the same pairs for any number of threads.
        let (part, met) = pairs(&table, split, Some(2), threads);
        prop_assert_eq!(&part, &pairs(&table, split, Some(2), 1).0);
        prop_assert_eq!(&part, &in_part(&table, split, 2));
        prop_assert!(met.hot_buckets > 0 || part == found);
    }

    #[test]
    fn classes_are_cut_as_records_of_their_own_are(
        keys in prop::collection::vec(prop::collection::vec(0..4u64, 2), 1..20),
        classes in prop::collection::vec(0..20u32, 1..60),
        most in 1..4u32,
    ) {
        // Records of one class have the keys of one record of the small table.
        let mut classes: Vec<u32> = classes.into_iter().map(|class| class % keys.len() as u32).collect();
        let of_class = Table(keys.clone(), 2);
        let of_record = Table(classes.iter().map(|&class| keys[class as usize].clone()).collect(), 2);
        let n = classes.len() as u32;
        // Renumber the classes so that each has a record and both tables have the same classes.
        let mut present = classes.clone();
        present.sort_unstable();
        present.dedup();
        classes.iter_mut().for_each(|class| *class = present.binary_search(class).unwrap() as u32);
        let small = Table(present.iter().map(|&class| of_class.0[class as usize].clone()).collect(), 2);
        let alone = pairs(&small, None, Some(most), 1).0;
        let buckets = Buckets::new(n, n, true, Some(most), 1 << 20).with_classes(Some(classes.clone()));
        let found = all_of(buckets, &of_record, 2).0;
        let expected: Vec<(u32, u32)> = (0..n)
            .flat_map(|a| (a + 1..n).map(move |b| (a, b)))
            .filter(|&(a, b)| {
                let (x, y) = (classes[a as usize], classes[b as usize]);
                x == y || alone.contains(&(x.min(y), x.max(y)))
            })
            .collect();
        prop_assert_eq!(found, expected);
    }
}

#[test]
fn large_buckets_are_cut_into_tiles() {
    let n = 6_000;
    let table = Table((0..n).map(|row| vec![u64::from(row % 1000 != 0)]).collect(), 1);
    let split = n as u32 / 2;
    let buckets = |self_join, most| {
        let hot = HotDocuments::new(vec![2; n]).unwrap();
        let mut buckets = Buckets::new(n as u32, split, self_join, most, 1 << 30).counting(hot);
        let mut count = 0u64;
        while let Some(batch) = buckets.next_batch(&table, &PlainThreads(3)).unwrap() {
            assert!(batch.len() < 1 << 18);
            count += batch.len() as u64;
        }
        (count, buckets.met())
    };
    let (rare, often) = (n as u64 / 1000, n as u64 - n as u64 / 1000);
    assert_eq!(buckets(true, None).0, often * (often - 1) / 2 + rare * (rare - 1) / 2);
    assert_eq!(buckets(false, None).0, often * often / 4 + rare * rare / 4);
    let (count, met) = buckets(true, Some(100));
    assert_eq!(count, (often - 100) * 100 + 99 * 100 / 2 + rare * (rare - 1) / 2);
    assert_eq!((met.hot_buckets, met.hot_documents, met.compared), (1, 2 * often, count));
    assert_eq!(buckets(false, Some(100)).0, often / 2 * 100 + rare * rare / 4);
}
