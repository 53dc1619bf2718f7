//! The limited keys that do not count, by the rules of the join in memory: signatures of sentences
//! that say nothing about the texts which have them.

use super::records::{CarriedRecords, each_unit};
use crate::error::Result;
use crate::executor::{self, Stop};
use crate::joins::Counts;
use crate::joins::keys::KeyPosting;
use crate::joins::sentences::lister::{StopRules, Verdict, count_sites, most_common};
use crate::joins::sentences::trials::{LEAST, trial_pairs};
use crate::memory;
use crate::methods::carrier::{Carrier, LeftOut};
use crate::storage::files::Resources;
use crate::storage::rows::Ragged;
use crate::storage::sort::Groups;

const DOING: &str = "trying signatures";

/// Returns the hashes of the keys that do not count, ascending.
pub(super) fn stop_keys(
    carrier: &dyn Carrier,
    rules: StopRules,
    postings: &mut Groups<KeyPosting>,
    records: &mut CarriedRecords,
    Resources { executor, .. }: Resources<'_>,
    counts: &mut Counts,
) -> Result<Vec<u64>> {
    let (mut dropped, mut group) = (Vec::new(), Vec::new());
    let of_sites = count_sites(&records.sites)?;
    while postings.next(&mut group, KeyPosting::hash, |_, _| false, executor)? {
        if !group[0].is_limited() {
            continue;
        }
        executor.check_interrupts()?;
        // The records of the right table come last. Numbers of records have 32 bits.
        let mut of_key: Vec<u32> = memory::collect(group.iter().map(|own| own.record() as u32), DOING)?;
        executor::sort(executor, &mut of_key, Ord::cmp)?;
        let documents = of_key.iter().map(|&record| records.rows(record).len() as u64).sum();
        let lefts = records.split().map(|split| of_key.partition_point(|&record| record < split));
        let count = of_key.len() as u64;
        let pairs =
            lefts.map_or(count * count.saturating_sub(1) / 2, |lefts| lefts as u64 * (count - lefts as u64));
        let verdict = rules.verdict([documents, records.texts, pairs], || {
            if records.sites.is_empty() {
                return Ok(None);
            }
            let rows = of_key.iter().flat_map(|&record| records.rows(record));
            let site = most_common(rows.map(|&row| records.sites[row as usize]), documents)?;
            Ok(site.map(|site| of_sites[site]))
        })?;
        let is_dropped = match verdict {
            Verdict::Kept => false,
            Verdict::Dropped => true,
            Verdict::Tried => !try_some(carrier, &of_key, lefts, records, executor)?,
        };
        if is_dropped {
            counts.stop_signatures += 1;
            counts.stop_documents += documents;
            memory::push(&mut dropped, group[0].hash(), DOING)?;
        }
    }
    Ok(dropped)
}

/// Compares some pairs of the records of a key. Returns true if enough of them are similar.
fn try_some(
    carrier: &dyn Carrier,
    of_key: &[u32],
    lefts: Option<usize>,
    records: &mut CarriedRecords,
    executor: &dyn executor::Executor,
) -> Result<bool> {
    let mut hashed = Vec::new();
    for &record in of_key {
        memory::push(&mut hashed, (records.hash(record)?, record), DOING)?;
    }
    let (of_left, of_right) = hashed.split_at_mut(lefts.unwrap_or(of_key.len()));
    executor::sort(executor, of_left, Ord::cmp)?;
    executor::sort(executor, of_right, Ord::cmp)?;
    let pairs = trial_pairs(of_left, lefts.map(|_| &*of_right))?;
    let mut loaded = Ragged::default();
    for &record in pairs.iter().flatten() {
        records.load(record, carrier, &mut loaded)?;
    }
    let made = each_unit(pairs.len(), executor, |similar: &mut u32, n, stop: &Stop| {
        let pair = [loaded.get(2 * n), loaded.get(2 * n + 1)];
        *similar += u32::from(carrier.similarity(pair, LeftOut::default(), stop)?.is_some());
        Ok(())
    })?;
    Ok(made.iter().sum::<u32>() >= LEAST)
}
