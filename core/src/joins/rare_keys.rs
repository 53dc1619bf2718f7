//! The keys by which records with heavy keys in common meet: a record offers all of its keys and
//! looks up the rarest ones, by the number of records that have each. Keys that no other record has
//! are left out.

use bytemuck::{Pod, Zeroable};

use super::keys::{KeyPosting, weighted_keys};
use crate::error::Result;
use crate::storage::files::Resources;
use crate::storage::sort::{Groups, Sorted, Sorter};

/// A key of a record and its weight. If a record has a key several times, the weights add up.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Zeroable, Pod)]
#[repr(C)]
pub(crate) struct WeighedKey {
    pub hash: u64,
    pub record: u32,
    pub weight: u32,
}

/// A key of a record, by the number of records that have it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Zeroable, Pod)]
#[repr(C)]
struct CountedKey {
    record: u32,
    records: u32,
    hash: u64,
    weight: u32,
    unused: u32,
}

/// Returns the entries of all records. With two tables, the records from `right_from` on are of the
/// right one. `needed` returns the least weight of the keys that a record shares with each record
/// that it has to meet; it is called for records in ascending order, but not for each.
pub(crate) fn rare_postings<'f>(
    keys: Sorted<WeighedKey>,
    right_from: Option<u32>,
    needed: impl FnMut(u32) -> Result<f64>,
    resources: Resources<'f>,
) -> Result<Sorter<'f, KeyPosting>> {
    let counted = counted(keys, right_from, resources)?.sorted(resources.executor)?;
    postings(counted, right_from, needed, resources)
}

/// Adds to each key the number of records that have it.
fn counted<'f>(
    keys: Sorted<WeighedKey>,
    right_from: Option<u32>,
    Resources { files, budget, executor }: Resources<'f>,
) -> Result<Sorter<'f, CountedKey>> {
    let mut counted = Sorter::new(files, budget / 4);
    let mut keys = Groups::new(keys, executor)?;
    let mut group: Vec<WeighedKey> = Vec::new();
    let join = |last: &mut WeighedKey, next: &WeighedKey| {
        let is_again = last.record == next.record;
        if is_again {
            last.weight = last.weight.saturating_add(next.weight);
        }
        is_again
    };
    while keys.next(&mut group, |key| key.hash, join, executor)? {
        let [first, last] = [&group[0], &group[group.len() - 1]].map(|key| key.record);
        let meet = right_from.map_or(first != last, |from| first < from && last >= from);
        let records = group.len() as u32;
        for WeighedKey { hash, record, weight } in group.drain(..).filter(|_| meet) {
            counted.push(CountedKey { record, records, hash, weight, unused: 0 }, executor)?;
        }
    }
    Ok(counted)
}

/// Decides which keys each record looks up: all but the most frequent ones, which weigh too little
/// to be all that it shares.
fn postings<'f>(
    counted: Sorted<CountedKey>,
    right_from: Option<u32>,
    mut needed: impl FnMut(u32) -> Result<f64>,
    Resources { files, budget, executor }: Resources<'f>,
) -> Result<Sorter<'f, KeyPosting>> {
    let mut postings = Sorter::new(files, budget / 4);
    let mut counted = Groups::new(counted, executor)?;
    let mut own: Vec<CountedKey> = Vec::new();
    while counted.next(&mut own, |key| key.record, |_, _| false, executor)? {
        let record = own[0].record;
        let is_right = right_from.is_some_and(|from| record >= from);
        // Keys are in the order of the number of records.
        let weighted = own.drain(..).rev().map(|key| (key.hash, key.weight));
        for key in weighted_keys(weighted, needed(record)?) {
            postings.push(key.posting(record.into(), is_right), executor)?;
        }
    }
    Ok(postings)
}
