//! The recall of minhash bands, measured: the similar pairs of a sample of documents are found exactly, by counting
//! shared tokens with all others, and looked up among those that the bands find.

use std::sync::Mutex;

use hashbrown::HashTable;

use super::buckets::windows::Windows;
use super::buckets::{Buckets, MostNeighbours};
use super::record_sets::{first_row, for_each_part, sampled};
use super::technique::{MinhashBands, Technique, Verify};
use crate::error::{Error, Result};
use crate::features::hash_sets::HashSets;
use crate::features::signatures::Signatures;
use crate::hash::mix;
use crate::memory;
use crate::ragged::Ragged;
use crate::workers::{self, Workers};

const DOING: &str = "measuring the recall";
/// Tokens of a sample, all documents together: of long documents fewer are taken.
const MOST_TOKENS: u64 = 1 << 20;
/// Tokens that are looked up without looking for a stop; each may be in all documents of a sample.
const TOKENS_A_CHECK: usize = 16;

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
    fn new(sample: &Ragged<u64>, workers: &dyn Workers) -> Result<Self> {
        let mut all = Vec::new();
        memory::reserve(&mut all, sample.values.len(), DOING)?;
        for (n, set) in (0u32..).zip(sample.iter()) {
            all.extend(set.iter().map(|&token| (token, n)));
        }
        workers::one(workers, &mut all, |all, stop| workers::sort_unstable_by(all, stop, &Ord::cmp))?;
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

    /// Bytes on the heap, with what they are made of.
    fn bytes(&self) -> usize {
        let table = self.table.capacity() * (size_of::<(u64, u32, u32)>() + 1);
        table + memory::bytes(&self.bits) + self.records.len() * (size_of::<(u64, u32)>() + size_of::<u32>())
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

/// What a sample says of the recall.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Measured {
    /// The similar pairs of the sample, at least one.
    pub similar: u64,
    /// Those of them that the bands find.
    pub found: u64,
}

impl Measured {
    /// The share that is found.
    pub fn recall(&self) -> f64 {
        self.found as f64 / self.similar as f64
    }
}

/// How many similar pairs the records of a sample have with any others, and how many of these share a band and are
/// compared there; none where there is no such pair. Pairs are of distinct documents, those of different tables where
/// there are two. Gives the most bytes that were held at one time, too. O(all tokens), and a sort of each band where
/// buckets may be cut.
pub fn measured_recall(
    signatures: &Signatures,
    sets: &mut HashSets,
    minhash: MinhashBands,
    sample: usize,
    most: MostNeighbours,
    budget: usize,
    workers: &dyn Workers,
) -> Result<(Option<Measured>, usize)> {
    let Verify::Sets(predicate) = minhash.verify else { return Ok((None, 0)) };
    let records = signatures.len() as u32;
    let two_tables = signatures.right.is_some();
    // Those of the left table are asked.
    let lefts = if two_tables { signatures.split } else { records };
    let asked = sampled(signatures, sets, sample as u64, MOST_TOKENS)?;
    let row = |record| first_row(signatures, record);
    let mut own: Ragged<u64> = Ragged::default();
    {
        let mut rows = Vec::new();
        memory::reserve(&mut rows, asked.len(), DOING)?;
        rows.extend(asked.iter().map(|&record| row(record)));
        let loaded = sets.load(&mut rows)?;
        for &record in &asked {
            own.push(loaded.get(row(record)), DOING)?;
        }
    }
    let postings = SamplePostings::new(&own, workers)?;
    let technique = Technique::Minhash(minhash);
    let windows = match technique.keys(signatures, None) {
        Some(keys) if most.is_some_and(|most| records > most) => {
            let mut wanted = Vec::new();
            memory::extend(&mut wanted, &asked, DOING)?;
            let buckets = Buckets::new(records, lefts, !two_tables, most, budget / 4);
            buckets.windows_of(wanted, &*keys, workers)?
        }
        _ => Windows::default(),
    };
    let held = own.bytes() + postings.bytes() + windows.bytes();
    let is_found = |asked: u32, record: u32| {
        let own = |record| &signatures.get(record)[minhash.at..][..minhash.bands];
        let mut bands = own(asked).iter().zip(own(record)).zip(0..);
        bands.any(|((a, b), band)| a == b && windows.compare(asked, record, band))
    };
    let mut measured = Measured { similar: 0, found: 0 };
    let others = if two_tables { signatures.split } else { 0 }..records;
    let left = budget.saturating_sub(held).max(budget / 4);
    for_each_part(signatures, sets, others, left, |part, loaded| {
        const RECORDS_A_UNIT: usize = 1 << 8;
        let totals = Mutex::new((0, 0));
        let mut units: Vec<u32> = part.clone().step_by(RECORDS_A_UNIT).collect();
        workers::each(workers, &mut units, |start, stop| {
            let (mut similar, mut found) = (0, 0);
            let mut counts = memory::filled(0u32, asked.len(), DOING)?;
            let mut touched = Vec::new();
            memory::reserve(&mut touched, asked.len(), DOING)?;
            for record in *start..part.end.min(*start + RECORDS_A_UNIT as u32) {
                let set = loaded.get(row(record));
                for tokens in set.chunks(TOKENS_A_CHECK) {
                    stop.check()?;
                    for &n in tokens.iter().flat_map(|&token| postings.of(token)) {
                        if counts[n as usize] == 0 {
                            touched.push(n);
                        }
                        counts[n as usize] += 1;
                    }
                }
                for n in touched.drain(..) {
                    let shared = std::mem::take(&mut counts[n as usize]);
                    // No document has more tokens than 32 bits count.
                    let size = own.get(n as usize).len() as u32;
                    let asked = asked[n as usize];
                    if asked != record && predicate.passes(shared, size, set.len() as u32) {
                        similar += 1;
                        found += u64::from(is_found(asked, record));
                    }
                }
            }
            if let Ok(mut totals) = totals.lock() {
                *totals = (totals.0 + similar, totals.1 + found);
            }
            Ok(())
        })?;
        let totals = totals.into_inner().unwrap_or_default();
        measured.similar += totals.0;
        measured.found += totals.1;
        Ok(())
    })?;
    Ok(((measured.similar > 0).then_some(measured), held))
}
