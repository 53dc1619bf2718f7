//! The exact join that replaces a join by sketches. It takes over the sets that have already been
//! built.

use super::record_sets::{first_row, for_each_part};
use crate::error::Result;
use crate::executor;
use crate::features::FeatureSpec;
use crate::features::hash_sets::HashSets;
use crate::features::sets::builder::SetBuilder;
use crate::features::sets::collect::Collector;
use crate::features::sets::records::Members;
use crate::features::signatures::Signatures;
use crate::features::tokens::Document;
use crate::joins::Algorithm;
use crate::joins::pairs::Pairs;
use crate::memory;
use crate::storage::files::Resources;
use crate::verify::predicate::Predicate;

const DOING: &str = "taking sets over";

/// A range of records for one worker.
struct WorkerRange<'a> {
    collector: &'a mut Collector,
    records: std::ops::Range<u32>,
}

/// Prepares the search for all pairs of rows whose sets are similar. Also returns the most bytes
/// that were held at one time.
pub(super) fn exact_pairs(
    mut signatures: Signatures,
    mut sets: HashSets,
    predicate: Predicate,
    resources: Resources<'_>,
) -> Result<(Pairs, usize)> {
    let Resources { files, budget, executor } = resources;
    // The tokens are numbers.
    let spec = FeatureSpec { multiset: false, ..FeatureSpec::WORDS };
    let mut builder = SetBuilder::new(spec, executor.count()).within(budget).with_files(files);
    let long = builder.long();
    let two = signatures.right.is_some();
    let (split, all) = (signatures.split, signatures.len() as u32);
    let others = signatures.bytes() + sets.bytes();
    let (mut held, part) = (0, (budget / 8).min(64 << 20));
    let sides = [Some(0..if two { split } else { all }), two.then_some(split..all)];
    for (side, records) in sides.into_iter().flatten().enumerate() {
        if side == 1 {
            builder.go_right(split)?;
        }
        let mut done = records.start;
        while done < records.end {
            // As many records as `for_each_part` loads at one time.
            let mut bytes = 0;
            let fits = (done..records.end).take_while(|&record| {
                let fits = bytes < part;
                bytes += size_of::<u64>() * sets.size(first_row(&signatures, record)) as usize;
                fits
            });
            let to = done + fits.count() as u32;
            for_each_part(&signatures, &mut sets, done..to, usize::MAX, |records, loaded| {
                let document = |record| {
                    let set = loaded.get(first_row(&signatures, record));
                    let numbers = set.iter().map(|hash| hash.cast_signed());
                    Ok(Document::Numbers(memory::collect(numbers, DOING)?))
                };
                let is_long = |record| size_of_val(loaded.get(first_row(&signatures, record))) > long;
                let each = records.len().div_ceil(builder.collectors.len()) as u32;
                let mut shares: Vec<WorkerRange> = Vec::new();
                for (n, collector) in (0..).zip(&mut builder.collectors) {
                    let from = records.end.min(records.start + n * each);
                    shares.push(WorkerRange { collector, records: from..records.end.min(from + each) });
                }
                executor::each(executor, &mut shares, |share, stop| {
                    while let Some(record) = share.records.clone().next() {
                        stop.check()?;
                        if !is_long(record) {
                            share.collector.add(record, &document(record)?, stop)?;
                        }
                        share.records.start += 1;
                    }
                    Ok(())
                })?;
                held = held.max(builder.number(executor)?);
                for record in records.clone().filter(|&record| is_long(record)) {
                    builder.add_long(record, &document(record)?, executor)?;
                }
                held = held.max(builder.spill(others + bytes, budget)?);
                Ok(())
            })?;
            done = to;
        }
    }
    drop(sets);
    let left = budget.saturating_sub(signatures.bytes()).max(budget / 4);
    let mut ordered = builder.order(left, executor)?;
    let peak = others + held.max(ordered.peak_bytes);
    // The join was built of records; replace them by the rows that they represent.
    let (lefts, rights) = signatures.take_members();
    ordered.left.members = rows_of(&ordered.left.members, |record| lefts.rows(record as usize))?;
    if let (Some(table), Some(rights)) = (&mut ordered.right, rights) {
        table.members = rows_of(&table.members, |record| rights.rows((record - split) as usize))?;
    }
    Ok((Pairs::new(ordered, predicate, Algorithm::Auto, Resources { budget: left, ..resources })?, peak))
}

/// Replaces each record among the members by the rows of this record.
fn rows_of<'a>(members: &Members, rows: impl Fn(u32) -> &'a [u32]) -> Result<Members> {
    let (mut all, mut starts) = (Vec::new(), Vec::new());
    memory::reserve(&mut starts, members.len() + 1, DOING)?;
    for record in 0..members.len() {
        starts.push(all.len() as u32);
        for &of in members.rows(record) {
            memory::extend(&mut all, rows(of), DOING)?;
        }
    }
    starts.push(all.len() as u32);
    Ok(Members::new(all, starts))
}
