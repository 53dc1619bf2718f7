//! Loads the sets of records, only a few at a time if they are in a file.

use std::ops::Range;

use crate::error::Result;
use crate::features::hash_sets::{HashSets, Loaded};
use crate::features::signatures::Signatures;
use crate::memory;

/// Returns the row that represents a record.
pub(super) fn first_row(signatures: &Signatures, record: u32) -> u32 {
    match signatures.right.as_ref().filter(|_| record >= signatures.split) {
        Some(right) => right.rows((record - signatures.split) as usize)[0],
        None => signatures.left.rows(record as usize)[0],
    }
}

/// Samples `most` records of the only or left table in even steps. Long documents make the sample
/// smaller, so that its sets have no more than `tokens` tokens together. The sample does not depend
/// on threads, memory or the order of rows.
pub(super) fn sampled(signatures: &Signatures, sets: &HashSets, most: u64, tokens: u64) -> Result<Vec<u32>> {
    let lefts = if signatures.right.is_some() { signatures.split } else { signatures.len() as u32 };
    let count = most.min(lefts.into());
    let mut sampled: Vec<u32> = Vec::new();
    // At most as many records are sampled as there are.
    memory::reserve(&mut sampled, count as usize, "taking a sample")?;
    sampled.extend((0..count).map(|n| (n * u64::from(lefts) / count) as u32));
    let size = |&record: &u32| u64::from(sets.size(first_row(signatures, record)));
    while sampled.iter().map(size).sum::<u64>() > tokens {
        let mut every_second = sampled.len() == 1;
        sampled.retain(|_| {
            every_second = !every_second;
            every_second
        });
    }
    Ok(sampled)
}

/// Calls `work` with successive ranges of records and their sets, which take about a quarter of
/// `budget`.
pub(super) fn for_each_part(
    signatures: &Signatures,
    sets: &mut HashSets,
    records: Range<u32>,
    budget: usize,
    mut work: impl FnMut(Range<u32>, &Loaded<'_>) -> Result<()>,
) -> Result<()> {
    let row = |record| first_row(signatures, record);
    let mut from = records.start;
    while from < records.end {
        let mut hashes = 0;
        let fits = (from..records.end).take_while(|&record| {
            let fits = hashes == 0 || hashes < budget / 4 / size_of::<u64>();
            hashes += sets.size(row(record)) as usize;
            fits
        });
        let to = from + fits.count() as u32;
        let mut rows = Vec::new();
        if sets.is_in_file() {
            memory::reserve(&mut rows, (to - from) as usize, "loading sets")?;
            rows.extend((from..to).map(row));
        }
        work(from..to, &sets.load(&mut rows)?)?;
        from = to;
    }
    Ok(())
}
