//! The recall of minhash bands, measured: the similar pairs of a sample of documents are found exactly, by counting
//! shared tokens with all others, and looked up among those that the bands find.

use std::sync::Mutex;

use hashbrown::HashTable;

use super::buckets::windows::Windows;
use super::buckets::{Buckets, MostNeighbours};
use super::record_sets::{first_row, for_each_part};
use super::technique::{MinhashBands, Technique, Verify};
use crate::error::{Error, Result};
use crate::features::hash_sets::{HashSets, Loaded};
use crate::features::signatures::Signatures;
use crate::hash::mix;
use crate::memory;
use crate::workers::{self, Workers};

const DOING: &str = "measuring the recall";

/// The documents of a sample that have a token.
struct SamplePostings {
    /// Token, and its range in `records`.
    table: HashTable<(u64, u32, u32)>,
    /// Numbers within the sample.
    records: Vec<u32>,
    /// One bit for a few tokens each: most tokens are in no document of the sample.
    bits: Vec<u64>,
}

impl SamplePostings {
    fn new(sample: &[&[u64]]) -> Result<Self> {
        let mut all = Vec::new();
        memory::reserve(&mut all, sample.iter().map(|set| set.len()).sum(), DOING)?;
        for (n, set) in (0u32..).zip(sample) {
            all.extend(set.iter().map(|&token| (token, n)));
        }
        all.sort_unstable();
        let bits = (all.len() * 16).next_power_of_two().max(64) / 64;
        let mut postings =
            Self { table: HashTable::new(), records: Vec::new(), bits: memory::filled(0, bits, DOING)? };
        postings
            .table
            .try_reserve(all.len(), |&(token, ..)| mix(token))
            .map_err(|_| Error::OutOfMemory { doing: DOING })?;
        let mut from = 0;
        while from < all.len() {
            let token = all[from].0;
            let count = all[from..].iter().take_while(|(other, _)| *other == token).count();
            postings.table.insert_unique(
                mix(token),
                (token, from as u32, (from + count) as u32),
                |&(token, ..)| mix(token),
            );
            let (word, bit) = postings.bit(token);
            postings.bits[word] |= bit;
            from += count;
        }
        memory::reserve(&mut postings.records, all.len(), DOING)?;
        postings.records.extend(all.iter().map(|&(_, n)| n));
        Ok(postings)
    }

    fn bit(&self, token: u64) -> (usize, u64) {
        let hash = mix(token);
        ((hash >> 32) as usize % self.bits.len(), 1 << (hash % 64))
    }

    /// The documents that have a token.
    #[inline]
    fn of(&self, token: u64) -> &[u32] {
        let (word, bit) = self.bit(token);
        if self.bits[word] & bit == 0 {
            return &[];
        }
        match self.table.find(mix(token), |(other, ..)| *other == token) {
            Some(&(_, from, to)) => &self.records[from as usize..to as usize],
            None => &[],
        }
    }
}

/// The share of the similar pairs of `sample` records with any others that share a band and are compared there; none
/// where there is no such pair. Pairs are of distinct documents, those of different tables where there are two.
/// O(all tokens), and a sort of each band where buckets may be cut.
pub fn measured_recall(
    signatures: &Signatures,
    sets: &mut HashSets,
    minhash: MinhashBands,
    sample: usize,
    most: MostNeighbours,
    budget: usize,
    workers: &dyn Workers,
) -> Result<Option<f64>> {
    let Verify::Sets(predicate) = minhash.verify else { return Ok(None) };
    let records = signatures.len() as u32;
    let two_tables = signatures.right.is_some();
    // Those of the left table are asked, in even steps.
    let lefts = if two_tables { signatures.split } else { records };
    let count = (sample as u64).min(lefts.into());
    let asked: Vec<u32> = (0..count).map(|n| (n * u64::from(lefts) / count) as u32).collect();
    let row = |record| first_row(signatures, record);
    let own: Vec<Vec<u64>> = {
        let mut rows: Vec<u32> = asked.iter().map(|&record| row(record)).collect();
        let loaded = sets.load(&mut rows)?;
        asked.iter().map(|&record| loaded.get(row(record)).to_vec()).collect()
    };
    let own: Vec<&[u64]> = own.iter().map(Vec::as_slice).collect();
    let postings = SamplePostings::new(&own)?;
    let technique = Technique::Minhash(minhash);
    let windows = match technique.keys(signatures, None) {
        Some(keys) if most.is_some_and(|most| records > most) => {
            let buckets = Buckets::new(records, lefts, !two_tables, most, budget / 4);
            buckets.windows_of(asked.clone(), &*keys, workers)?
        }
        _ => Windows::default(),
    };
    let is_found = |asked: u32, record: u32| {
        let own = |record| &signatures.get(record)[minhash.at..][..minhash.bands];
        let mut bands = own(asked).iter().zip(own(record)).zip(0..);
        bands.any(|((a, b), band)| a == b && windows.compare(asked, record, band))
    };
    let (mut similar, mut found) = (0u64, 0u64);
    let others = if two_tables { signatures.split } else { 0 }..records;
    for_each_part(signatures, sets, others, budget, |part, loaded| {
        let count_in = |range: std::ops::Range<u32>, totals: &mut (u64, u64), loaded: &Loaded<'_>| {
            let mut counts = vec![0u32; asked.len()];
            let mut touched = Vec::new();
            for record in range {
                let set = loaded.get(row(record));
                for &token in set {
                    for &n in postings.of(token) {
                        if counts[n as usize] == 0 {
                            touched.push(n);
                        }
                        counts[n as usize] += 1;
                    }
                }
                for n in touched.drain(..) {
                    let shared = std::mem::take(&mut counts[n as usize]);
                    let (asked, size) = (asked[n as usize], own[n as usize].len() as u32);
                    if asked != record && predicate.passes(shared, size, set.len() as u32) {
                        totals.0 += 1;
                        totals.1 += u64::from(is_found(asked, record));
                    }
                }
            }
        };
        const RECORDS_A_UNIT: usize = 1 << 8;
        let totals = Mutex::new((0, 0));
        let mut units: Vec<u32> = part.clone().step_by(RECORDS_A_UNIT).collect();
        workers::each(workers, &mut units, |start, stop| {
            stop.check()?;
            let mut own = (0, 0);
            count_in(*start..part.end.min(*start + RECORDS_A_UNIT as u32), &mut own, loaded);
            if let Ok(mut totals) = totals.lock() {
                *totals = (totals.0 + own.0, totals.1 + own.1);
            }
            Ok(())
        })?;
        let totals = totals.into_inner().unwrap_or_default();
        (similar, found) = (similar + totals.0, found + totals.1);
        Ok(())
    })?;
    Ok((similar > 0).then(|| found as f64 / similar as f64))
}
