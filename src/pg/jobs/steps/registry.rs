//! Steps on the registry, as its owner.

use super::work::Work;
use crate::pg::jobs::dependency;
use crate::pg::jobs::registry::Counts;
use crate::pg::server::error::Result;

/// Forgets that rows changed unnoted.
pub(crate) fn take_unnoted(work: &mut Work<'_>) -> Result<()> {
    work.state.unnoted = Some(work.job.registry.take_unnoted(work.job.relation.oid)?);
    Ok(())
}

/// Writes what was learnt of the relation. A restored dump has no dependencies: they are made, too.
pub(crate) fn write_entry(work: &mut Work<'_>) -> Result<()> {
    let docs = work.job.relation.oid;
    work.names.tables.all().for_each(|table| dependency::depend(table.oid, docs));
    work.entry.settings = Ok(work.settings.clone());
    if work.state.job.first {
        work.entry.seen = work.seen.take();
    }
    work.job.registry.put(docs, work.entry)
}

/// Logs the batch.
pub(crate) fn log(work: &mut Work<'_>, more: bool) -> Result<()> {
    let counts = Counts {
        rows: work.state.rows.unwrap_or_default(),
        removed: work.state.removed.unwrap_or_default().pairs,
        added: work.state.found.unwrap_or_default().pairs,
        waiting: work.waiting,
    };
    work.job.registry.log(work.job.relation.oid, work.started, more, counts)
}
