//! The exact join that replaces a join by sketches. It takes over the sets that have already been
//! built.

use super::record_sets::first_row;
use crate::error::Result;
use crate::features::FeatureSpec;
use crate::features::hash_sets::HashSets;
use crate::features::sets::builder::SetBuilder;
use crate::features::sets::members::Members;
use crate::features::signatures::Signatures;
use crate::features::tokens::Document;
use crate::joins::Algorithm;
use crate::joins::pairs::Pairs;
use crate::memory;
use crate::storage::files::Resources;
use crate::verify::predicate::Predicate;

const DOING: &str = "taking sets over";

/// Prepares the search for all pairs of rows whose sets are similar. Also returns the most bytes
/// that were held at one time.
pub(super) fn exact_pairs(
    mut signatures: Signatures,
    sets: HashSets,
    predicate: Predicate,
    resources: Resources<'_>,
) -> Result<(Pairs, usize)> {
    let Resources { files, budget, executor } = resources;
    // The tokens are numbers.
    let spec = FeatureSpec { multiset: false, ..FeatureSpec::WORDS };
    let mut builder = SetBuilder::new(spec, executor.count()).within(budget).with_files(files);
    let two = signatures.right.is_some();
    let (split, all) = (signatures.split, signatures.len() as u32);
    let others = signatures.bytes() + sets.bytes();
    let (mut held, part) = (0, (budget / 8).min(64 << 20));
    let sides = [Some(0..if two { split } else { all }), two.then_some(split..all)];
    for (side, records) in sides.into_iter().flatten().enumerate() {
        if side == 1 {
            builder.go_right(split);
        }
        let set = |record| sets.get(first_row(&signatures, record));
        let size = |record| size_of_val(set(record));
        let document = |record| {
            let numbers = set(record).iter().map(|hash| hash.cast_signed());
            memory::collect(numbers, DOING).map(Document::Numbers)
        };
        let mut from = records.start;
        while from < records.end {
            let (mut bytes, mut to) = (0, from);
            while to < records.end && bytes < part {
                bytes += size(to);
                to += 1;
            }
            held = held.max(builder.add_all(from..to, size, document, executor)?);
            held = held.max(builder.spill(others + bytes, budget)?);
            from = to;
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
    let (mut all, mut own) = (Members::default(), Vec::new());
    for record in 0..members.len() {
        own.clear();
        members.rows(record).iter().try_for_each(|&of| memory::extend(&mut own, rows(of), DOING))?;
        all.push(&own)?;
    }
    Ok(all)
}
