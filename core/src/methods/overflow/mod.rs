//! Finds the pairs of a method in any memory. A call whose method has no room for its documents
//! reads them again, and keeps what is carried of them ([`Carrier`]), their keys and their
//! candidates in temporary files.
//!
//! The pairs are those that the method finds in memory. They are all found before the first one is
//! returned. In memory are the rows of each record, and otherwise what the budget allows. The cost
//! is that of sorting keys and candidates in files, and of reading the carried bytes of candidates
//! again.

mod blocks;
mod candidates;
mod comparison;
mod hot_keys;
mod records;
mod skew;
mod stop_keys;

use super::carrier::{Carrier, LeftOut, Meeting};
use super::method::Method;
use super::reading::{Reading, places};
use crate::allowance;
use crate::error::{Error, Result};
use crate::joins::Counts;
use crate::joins::grouped::LoggedJoin;
use crate::joins::pairs::Pairs;
use crate::memory;
use crate::storage::files::Resources;
use blocks::by_blocks;
use candidates::CandidateFinder;
use comparison::{CandidateComparison, PairRule};
use records::CarriedRecords;

/// However little memory there is, so many bytes are used.
const LEAST: usize = 1 << 14;

/// Returns the description of a method that finds the same pairs by it as in memory.
pub(in crate::methods) fn of_method(method: &dyn Method) -> Option<&dyn Carrier> {
    method.carrier().or_else(|| method.of_two()).filter(|carrier| carrier.overflows())
}

/// Finds the pairs of all rows that are read.
pub(in crate::methods) type FindPairs<'s> = dyn Fn(&mut Reading<'_>) -> Result<Pairs> + Sync + 's;

/// Finds the pairs of a method in memory, with `by`. If the documents have no room there, they are
/// read once more, and kept in temporary files.
pub(in crate::methods) fn in_any_memory(
    method: &dyn Method,
    reading: &mut Reading<'_>,
    by: &dyn Fn(&FindPairs<'_>, &mut Reading<'_>) -> Result<Pairs>,
) -> Result<Pairs> {
    let found = by(&|reading| in_memory(method, reading), reading);
    match (found, of_method(method)) {
        (Err(Error::BeyondAllowance { .. }), Some(carrier)) => {
            reading.again();
            by(&|reading| pairs(method, carrier, reading), reading)
        }
        (found, _) => found,
    }
}

/// Finds the pairs in memory. Fails if too little memory is left for the join that follows.
fn in_memory(method: &dyn Method, reading: &mut Reading<'_>) -> Result<Pairs> {
    let pairs = method.pairs(reading)?;
    let enough = reading.memory.min(allowance::slack()) / 8;
    allowance::has_room(enough, "joining documents").map(|()| pairs)
}

/// Reads all documents, and finds the pairs of a method by this description of it.
pub fn pairs(method: &dyn Method, carrier: &dyn Carrier, reading: &mut Reading<'_>) -> Result<Pairs> {
    let prepared = carrier.prepared()?;
    let carrier = prepared.as_deref().unwrap_or(carrier);
    let mut records = CarriedRecords::read(carrier, reading)?;
    reading.account.distinct_sets = records.len().into();
    let held = records.bytes();
    let Resources { files, budget, executor } = reading.resources_after(held);
    let resources = Resources { files, budget: budget.max(LEAST), executor };
    let left_out = candidates::left_out(carrier, &mut records, reading.texts(), resources)?;
    let left_out = LeftOut::parse(&left_out)?;
    let ranks = ranks(carrier, &records, reading)?;
    let exact = skew::taken_over(carrier, &mut records, resources)?;
    reading.account.handed_over = exact.is_some();
    let mut comparison = CandidateComparison::new(PairRule { carrier, left_out, exact, ranks }, resources);
    let mut report = |done: &str| reading.report(|| format!("in temporary files: {done}"));
    comparison.compare_equal(&mut records, resources)?;
    let mut counts = Counts::default();
    if carrier.in_blocks() {
        let mut found = |pair, similarity| comparison.found(pair, similarity, executor);
        counts = by_blocks(method, carrier, &mut records, resources, &mut report, &mut found)?;
    } else {
        let meeting = exact.map_or_else(|| carrier.meeting(), Meeting::Sets);
        let (report, counts) = (&mut report, &mut counts);
        let mut finder = CandidateFinder { carrier, meeting, left_out, resources, report, counts };
        finder.find(&mut records, &mut |pair, records| comparison.add(pair, records, resources))?;
    }
    report("comparing candidates");
    let (found, equal, compared) = comparison.finish(&mut records, resources)?;
    counts.add(&compared);
    reading.held(held + resources.budget);
    let CarriedRecords { left, right, .. } = records;
    let join = Box::new(LoggedJoin::new(found, counts));
    Ok(Pairs::of_records(join, left, right, equal.records).with_similarities(equal.similarities))
}

/// Returns the place of the first row of each record in the order of ids, or nothing if the order
/// of two documents does not matter.
fn ranks(carrier: &dyn Carrier, records: &CarriedRecords, reading: &mut Reading<'_>) -> Result<Vec<u32>> {
    if !carrier.is_ordered() || records.right.is_some() {
        return Ok(Vec::new());
    }
    let of_rows = places(&reading.order()?)?;
    let first = |record| records.rows(record).iter().map(|&row| of_rows[row as usize]).min().unwrap_or(0);
    memory::collect((0..records.len()).map(first), "ordering documents")
}
