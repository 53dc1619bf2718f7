//! The candidates among carried documents: pairs of records that may be similar.

use super::hot_keys::HotKeys;
use super::records::{CarriedRecords, TakeCandidate, each_unit};
use super::stop_keys::stop_keys;
use crate::error::Result;
use crate::executor::{self, Stop};
use crate::features::FeatureSpec;
use crate::features::sets::builder::SetBuilder;
use crate::features::tokens::Document;
use crate::joins::keys::{Key, KeyPosting, for_each_meeting};
use crate::joins::pairs::Pairs;
use crate::joins::rare_keys::{WeighedKey, rare_postings};
use crate::joins::{Algorithm, Counts};
use crate::memory;
use crate::methods::carrier::{Carrier, LeftOut, Meeting};
use crate::storage::files::Resources;
use crate::storage::log::Log;
use crate::storage::sort::{Groups, Sorted, Sorter};
use crate::verify::predicate::Predicate;

const DOING: &str = "looking for candidates in temporary files";

/// Returns the bytes of the terms that do not count, if documents meet by terms. There are `texts`
/// documents.
pub(super) fn left_out(
    carrier: &dyn Carrier,
    records: &mut CarriedRecords,
    texts: u64,
    Resources { files, budget, executor }: Resources<'_>,
) -> Result<Vec<u8>> {
    let mut left_out = Vec::new();
    if !matches!(carrier.meeting(), Meeting::Terms { .. }) {
        return Ok(left_out);
    }
    let mut counted: Sorter<'_, [u64; 2]> = Sorter::new(files, budget / 4);
    let rows = (0..records.len()).map(|record| records.rows(record).len() as u32);
    let rows: Vec<u32> = memory::collect(rows, DOING)?;
    records.for_each(carrier, budget / 8, executor, |first, loaded| {
        let made = each_unit(loaded.len(), executor, |terms: &mut Vec<[u64; 2]>, n, stop| {
            let documents = u64::from(rows[first as usize + n]);
            let own = carrier.set(loaded.get(n), stop)?;
            memory::append(terms, own.into_iter().map(|term| [term, documents]), DOING)
        })?;
        // Most terms of some documents are terms of many of them.
        let mut terms: Vec<[u64; 2]> = memory::collect(made.into_iter().flatten(), DOING)?;
        executor::sort(executor, &mut terms, Ord::cmp)?;
        for term in terms.chunk_by(|a, b| a[0] == b[0]) {
            counted.push([term[0][0], term.iter().map(|[_, documents]| documents).sum()], executor)?;
        }
        Ok(())
    })?;
    let mut counted = Groups::new(counted.sorted(executor)?, executor)?;
    let mut term = Vec::new();
    while counted.next(&mut term, |[term, _]| *term, |_, _| false, executor)? {
        let having = term.iter().map(|[_, documents]| documents).sum();
        if !carrier.counts(having, texts) {
            memory::extend(&mut left_out, &term[0][0].to_le_bytes(), DOING)?;
        }
    }
    Ok(left_out)
}

/// The search for candidates.
pub(super) struct CandidateFinder<'a> {
    pub(super) carrier: &'a dyn Carrier,
    pub(super) meeting: Meeting,
    pub(super) left_out: LeftOut<'a>,
    pub(super) resources: Resources<'a>,
    pub(super) report: &'a mut dyn FnMut(&str),
    /// What is counted of the keys.
    pub(super) counts: &'a mut Counts,
}

impl CandidateFinder<'_> {
    /// Finds all candidates.
    pub(super) fn find(&mut self, records: &mut CarriedRecords, take: &mut TakeCandidate<'_>) -> Result<()> {
        let Self { carrier, meeting, left_out, resources, .. } = *self;
        match meeting {
            // Without a right record there is no pair of two tables.
            Meeting::Sets(_) if records.split() == Some(records.len()) => Ok(()),
            Meeting::Sets(predicate) => {
                (self.report)("joining sets");
                by_sets(carrier, predicate, records, resources, take)
            }
            Meeting::Keys { most, .. } | Meeting::Terms { most } => {
                (self.report)("joining by keys");
                self.by_keys(most, records, take, |carried, keys, stop| {
                    carrier.keys(carried, left_out, keys, stop)
                })
            }
            Meeting::Rarest => {
                (self.report)("counting keys");
                let postings = rarest(carrier, records, resources)?.sorted(resources.executor)?;
                (self.report)("joining by keys");
                self.meet(postings, None, records, take)
            }
        }
    }

    /// Finds the records that share a key.
    fn by_keys(
        &mut self,
        most: Option<u64>,
        records: &mut CarriedRecords,
        take: &mut TakeCandidate<'_>,
        keys: impl Fn(&[u8], &mut Vec<Key>, &Stop) -> Result<()> + Sync,
    ) -> Result<()> {
        let Self { carrier, resources: Resources { files, budget, executor }, .. } = *self;
        let split = records.split();
        let mut postings = Sorter::new(files, budget / 4);
        records.for_each(carrier, budget / 16, executor, |first, loaded| {
            let is_second = split.is_some_and(|split| first >= split);
            let made = each_unit(loaded.len(), executor, |postings: &mut Vec<KeyPosting>, n, stop| {
                let (mut own, record) = (Vec::new(), u64::from(first) + n as u64);
                keys(loaded.get(n), &mut own, stop)?;
                executor::sort_unstable_by(&mut own, stop, &Ord::cmp)?;
                own.dedup_by(|later, kept| kept.unite(*later));
                memory::append(postings, own.into_iter().map(|key| key.posting(record, is_second)), DOING)
            })?;
            made.into_iter().flatten().try_for_each(|posting| postings.push(posting, executor))
        })?;
        self.meet(postings.sorted(executor)?, most, records, take)
    }

    /// Finds the records of which one offers a key that the other looks up.
    fn meet(
        &mut self,
        postings: Sorted<KeyPosting>,
        most: Option<u64>,
        records: &mut CarriedRecords,
        take: &mut TakeCandidate<'_>,
    ) -> Result<()> {
        let Self { carrier, resources, counts, .. } = self;
        let (carrier, resources) = (*carrier, *resources);
        let (executor, split) = (resources.executor, records.split());
        let (mut postings, mut dropped) = (Groups::new(postings, executor)?, Vec::new());
        if let Some(rules) = carrier.stop_rules() {
            dropped = stop_keys(carrier, rules, &mut postings, records, resources, counts)?;
            postings.rewind(executor)?;
        }
        let hot =
            carrier.buckets().and_then(|rules| rules.most).map(|most| HotKeys { most: most as usize, split });
        if let Some(hot) = &hot {
            hot.candidates(carrier, &mut postings, records, executor, counts, take)?;
            postings.rewind(executor)?;
        }
        let is_left_out = |group: &[KeyPosting]| {
            let is_stopped = || {
                let is_beyond = most.is_some_and(|most| group.len() as u64 > most);
                is_beyond || dropped.binary_search(&group[0].hash()).is_ok()
            };
            group[0].is_limited() && is_stopped() || hot.as_ref().is_some_and(|hot| hot.is_cut(group))
        };
        for_each_meeting(postings, split.is_none(), is_left_out, executor, |a, b| {
            take([a.record() as u32, b.record() as u32], records)
        })
    }
}

/// Returns the entries of records that look up the rarest of their keys.
fn rarest<'f>(
    carrier: &dyn Carrier,
    records: &mut CarriedRecords,
    resources: Resources<'f>,
) -> Result<Sorter<'f, KeyPosting>> {
    let Resources { files, budget, executor } = resources;
    let (mut all, mut needed) = (Sorter::new(files, budget / 4), Log::new(1 << 16));
    records.for_each(carrier, budget / 16, executor, |first, loaded| {
        let made = each_unit(loaded.len(), executor, |made: &mut RareKeys, n, stop| {
            let RareKeys { keys, needed, own } = made;
            let (least, record) = (carrier.weights(loaded.get(n), own, stop)?, first + n as u32);
            memory::reserve(needed, 1, DOING)?;
            memory::append(
                keys,
                own.iter().map(|&(hash, weight)| WeighedKey { hash, record, weight }),
                DOING,
            )?;
            needed.push(least);
            Ok(())
        })?;
        made.iter().try_for_each(|made| needed.extend(&made.needed, files))?;
        made.into_iter().flat_map(|made| made.keys).try_for_each(|key| all.push(key, executor))
    })?;
    let needed = |record: u32| {
        let mut least = [0.0];
        needed.read(record.into(), &mut least)?;
        Ok(least[0])
    };
    rare_postings(all.sorted(executor)?, records.split(), needed, resources)
}

/// The keys of some records, and the least weight that each shares with a similar one.
#[derive(Default)]
struct RareKeys {
    keys: Vec<WeighedKey>,
    needed: Vec<f64>,
    /// The keys of one record.
    own: Vec<(u64, u32)>,
}

/// Finds the records whose sets pass a predicate.
fn by_sets(
    carrier: &dyn Carrier,
    predicate: Predicate,
    records: &mut CarriedRecords,
    resources: Resources<'_>,
    take: &mut TakeCandidate<'_>,
) -> Result<()> {
    let Resources { budget, executor, .. } = resources;
    // The tokens are numbers.
    let spec = FeatureSpec { multiset: false, ..FeatureSpec::WORDS };
    let mut builder = SetBuilder::new(spec, executor.count()).within(budget).with_files(resources.files);
    let split = records.split();
    let mut is_right = false;
    records.for_each(carrier, budget / 16, executor, |first, loaded| {
        if let Some(split) = split.filter(|&split| first >= split && !is_right) {
            is_right = true;
            builder.go_right(split);
        }
        let carried = |record: u32| loaded.get((record - first) as usize);
        let document = |record| {
            let set = carrier.set(carried(record), &Stop::default())?.into_iter();
            memory::collect(set.map(u64::cast_signed), DOING).map(Document::Numbers)
        };
        builder.add_all(
            first..first + loaded.len() as u32,
            |record| carried(record).len(),
            document,
            executor,
        )?;
        builder.spill(loaded.bytes(), budget).map(drop)
    })?;
    let ordered = builder.order(budget, executor)?;
    let mut pairs = Pairs::new(ordered, predicate, Algorithm::Auto, resources)?;
    while let Some(pair) = pairs.next(executor)? {
        executor::breathe(executor, pairs.given(), 1 << 14)?;
        take([pair.left.min(pair.right), pair.left.max(pair.right)], records)?;
    }
    Ok(())
}
