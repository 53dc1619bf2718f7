//! Decides, as in memory, whether the exact join takes over from the bands of minhash.

use super::records::{CarriedRecords, each_unit};
use crate::error::Result;
use crate::executor::Stop;
use crate::joins::keys::Key;
use crate::joins::sets::bounds::Bounds;
use crate::joins::sketches::record_sets::{CountedKeys, shorten};
use crate::joins::sketches::skew;
use crate::memory;
use crate::methods::carrier::{BucketRules, Carrier, LeftOut, Meeting};
use crate::storage::files::Resources;
use crate::storage::rows::Ragged;
use crate::storage::sort::Sorter;
use crate::verify::predicate::Predicate;

const DOING: &str = "looking for a template of documents";

/// Returns the predicate by which the exact join finds the pairs, if it takes over.
pub(super) fn taken_over(
    carrier: &dyn Carrier,
    records: &mut CarriedRecords,
    resources: Resources<'_>,
) -> Result<Option<Predicate>> {
    let Meeting::Keys { filter: Some(predicate), .. } = carrier.meeting() else { return Ok(None) };
    let Some(BucketRules { hand_over: true, most }) = carrier.buckets() else { return Ok(None) };
    let Resources { budget, executor, .. } = resources;
    let sampled = sample(carrier, records, resources)?;
    // Records of the right table follow those of the left one.
    let others = records.split().unwrap_or(0);
    if sampled.is_empty() || records.len() - others < skew::FEW {
        return Ok(None);
    }
    let (mut sets, mut keys, mut loaded) = (Ragged::default(), Vec::new(), Ragged::default());
    for &record in &sampled {
        loaded.clear();
        records.load(record, carrier, &mut loaded)?;
        sets.push(&carrier.set(loaded.get(0), &Stop::default())?, DOING)?;
        keys_of(carrier, loaded.get(0), &mut keys, &Stop::default())?;
    }
    let tokens = CountedKeys::new(memory::collect(sets.values.iter().copied(), DOING)?, executor)?;
    let bands = CountedKeys::new(memory::collect(keys.iter().copied(), DOING)?, executor)?;
    let mut having = memory::filled(0u64, bands.len() + tokens.len(), DOING)?;
    records.for_each(carrier, budget / 8, executor, |first, loaded| {
        if first < others {
            return Ok(());
        }
        let made = each_unit(loaded.len(), executor, |places: &mut Vec<usize>, n, stop| {
            let mut own = Vec::new();
            keys_of(carrier, loaded.get(n), &mut own, stop)?;
            let of_bands = own.into_iter().filter_map(|key| bands.place(key));
            let of_set =
                carrier.set(loaded.get(n), stop)?.into_iter().filter_map(|token| tokens.place(token));
            memory::append(places, of_bands.chain(of_set.map(|place| bands.len() + place)), DOING)
        })?;
        made.into_iter().flatten().for_each(|place| having[place] += 1);
        Ok(())
    })?;
    // In one table, neighbours on both sides are compared.
    let sides = if records.split().is_some() { 1 } else { 2 };
    let most = most.map_or(u64::MAX, |most| sides * u64::from(most));
    let of_key = |key: &u64| bands.place(*key).map_or(0, |place| having[place].min(most));
    let meetings = keys.iter().map(of_key).sum();
    let bounds = Bounds::new(predicate);
    let entries = sets.iter().map(|set| {
        let of = |&token| tokens.place(token).map_or(0, |place| having[bands.len() + place]);
        skew::prefix_entries(set.iter().map(of).collect(), &bounds)
    });
    let takes_over =
        skew::may_take_over(meetings, sampled.len()) && skew::takes_over(entries.sum(), meetings);
    Ok(takes_over.then_some(predicate))
}

/// Adds the keys of the bands of a record.
fn keys_of(carrier: &dyn Carrier, carried: &[u8], keys: &mut Vec<u64>, stop: &Stop) -> Result<()> {
    let mut own = Vec::new();
    carrier.keys(carried, LeftOut::default(), &mut own, stop)?;
    memory::append(keys, own.into_iter().map(Key::hash), DOING)
}

/// Samples records in even steps of the order that they have in memory.
fn sample(
    carrier: &dyn Carrier,
    records: &mut CarriedRecords,
    Resources { files, budget, executor }: Resources<'_>,
) -> Result<Vec<u32>> {
    let lefts = records.split().unwrap_or(records.len());
    let mut order: Sorter<'_, [u64; 3]> = Sorter::new(files, budget / 4);
    records.for_each(carrier, budget / 8, executor, |first, loaded| {
        if first >= lefts {
            return Ok(());
        }
        let made = each_unit(loaded.len(), executor, |places: &mut Vec<[u64; 3]>, n, _| {
            let [a, b] = carrier.place(loaded.get(n))?;
            memory::push(places, [a, b, u64::from(first) + n as u64], DOING)
        })?;
        made.into_iter().flatten().try_for_each(|place| order.push(place, executor))
    })?;
    let (all, mut order, mut sampled) = (order.len(), order.sorted(executor)?, Vec::new());
    let count = skew::SAMPLE.min(all);
    let mut at = 0;
    while let Some([.., record]) = order.next(executor)? {
        if sampled.len() as u64 * all / count.max(1) == at && (sampled.len() as u64) < count {
            memory::push(&mut sampled, record as u32, DOING)?;
        }
        at += 1;
    }
    let mut sizes = Vec::new();
    let mut loaded = Ragged::default();
    for &record in &sampled {
        loaded.clear();
        records.load(record, carrier, &mut loaded)?;
        memory::push(&mut sizes, (record, carrier.set(loaded.get(0), &Stop::default())?.len()), DOING)?;
    }
    sizes.sort_unstable();
    let size =
        |record: &u32| sizes.binary_search_by_key(record, |size| size.0).map_or(0, |n| sizes[n].1 as u64);
    shorten(&mut sampled, skew::MOST_TOKENS, size);
    executor.check_interrupts()?;
    Ok(sampled)
}
