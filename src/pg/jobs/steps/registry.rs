//! Steps on the registry, run as its owner.

use super::work::RefreshWork;
use crate::pg::jobs::registry::BatchCounts;
use crate::pg::jobs::{definition, dependency};
use crate::pg::query::moment::Moment;
use crate::pg::server::error::Result;

/// Removes the record that rows changed without a note by a trigger.
pub(crate) fn take_unnoted(work: &mut RefreshWork<'_>) -> Result<()> {
    work.state.unnoted = Some(work.job.registry.take_unnoted(work.job.relation.oid)?);
    Ok(())
}

/// Takes the snapshot of the relation, and only then reads the noted changes and the definition of
/// the relation. So every change in the snapshot is covered, and a later change may be noticed,
/// too.
pub(crate) fn look(work: &mut RefreshWork<'_>) -> Result<()> {
    work.moment = Some(Moment::of_transaction());
    let told = work.state.job.told && work.state.job.same_definition;
    work.state.noted = Some(told && Moment::latest().during(|| is_still_told(work))?);
    Ok(())
}

/// Reports whether triggers still see every change as they did when the transaction began, and no
/// change was recorded without its id.
fn is_still_told(work: &RefreshWork<'_>) -> Result<bool> {
    let RefreshWork { job, settings, seen, .. } = work;
    let same = definition::read(job)?.if_told(settings) == *seen;
    Ok(same && !job.registry.is_unnoted(job.relation.oid)?)
}

/// Writes the new data about the relation into the registry. Also adds the dependencies, which a
/// restored dump lacks.
pub(crate) fn write_entry(work: &mut RefreshWork<'_>) -> Result<()> {
    let docs = work.job.relation.oid;
    let tables = &work.names.tables;
    tables.all().for_each(|table| dependency::depend(table.oid, docs));
    tables.hashes.iter().for_each(|hashes| dependency::depend_with_shards(hashes.oid, docs));
    work.entry.settings = Ok(work.settings.clone());
    if work.state.job.first {
        work.entry.seen = work.seen.take();
    }
    work.job.registry.put(docs, work.entry)
}

/// Logs the batch.
pub(crate) fn log(work: &mut RefreshWork<'_>, more: bool) -> Result<()> {
    let counts = BatchCounts {
        rows: work.state.rows.unwrap_or_default(),
        removed: work.state.removed.unwrap_or_default().pairs,
        added: work.state.found.unwrap_or_default().pairs,
        waiting: work.waiting,
    };
    work.job.registry.log(&work.job.extension, work.job.relation.oid, work.started, more, counts)
}
