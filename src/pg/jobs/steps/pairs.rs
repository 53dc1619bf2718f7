//! Steps on the pairs of a batch.

use pgrx::pg_sys;

use super::work::RefreshWork;
use crate::jobs::state::{BatchPairs, Removed};
use crate::jobs::step::JoinSelection;
use crate::pg::jobs::pairs::{self as found, ListLookup, columns};
use crate::pg::jobs::statements::{definitions, pairs, rows};
use crate::pg::procedure::rows::supplying;
use crate::pg::procedure::statement::read_bool;
use crate::pg::server::error::Result;

/// Removes all pairs.
pub(crate) fn remove_all(work: &mut RefreshWork<'_>) -> Result<()> {
    let removed = definitions::empty(&work.names.tables.pairs).run()?;
    work.state.removed = Some(Removed { pairs: removed, had_pairs: true });
    Ok(())
}

/// Removes the pairs of the batch, if it can have any.
pub(crate) fn remove(work: &mut RefreshWork<'_>, by_clusters: bool) -> Result<()> {
    let had_pairs = !by_clusters || pairs::are_in_clusters(&work.names).holds()?;
    let mut removed = 0;
    if had_pairs {
        for statement in pairs::remove(&work.names) {
            removed += statement.run()?;
        }
    }
    work.state.removed = Some(Removed { pairs: removed, had_pairs });
    Ok(())
}

/// Looks up the rows of the batch in the lists. Keeps the ids in the pairs that were found if the
/// clusters are updated from these ids.
pub(crate) fn look_up(work: &mut RefreshWork<'_>, segment: Option<i64>, doubts: bool) -> Result<()> {
    let keep = work.state.job.whole_clusters;
    let array = work.names.array_oid();
    let (names, lists) = (&work.names, work.lists()?);
    let lookup = ListLookup { lists, segment, candidates: doubts };
    let statement = pairs::look_up(names, lists, [keep, doubts]);
    let row =
        supplying(&columns(names.id_oid), &mut |_, store| found::look_up(names, lookup, store), || {
            statement.row([pg_sys::INT8OID, array, pg_sys::BOOLOID])
        })?;
    let [added, near, listed] = row.unwrap_or_default();
    if doubts && work.names.is_spread {
        rows::doubt_aside(&work.names).run()?;
        rows::forget_aside(&work.names).run()?;
    }
    work.near = keep.then_some((array, near));
    let pairs = added.map_or(0, |added| added.value() as i64);
    work.state.found = Some(BatchPairs { pairs, listed: read_bool(listed) });
    Ok(())
}

/// Joins rows.
pub(crate) fn join(work: &mut RefreshWork<'_>, rows: JoinSelection) -> Result<()> {
    let names = &work.names;
    let pairs = supplying(&columns(names.id_oid), &mut |_, store| found::join(names, rows, store), || {
        pairs::store(names).run()
    })?;
    work.state.found = Some(BatchPairs { pairs, listed: false });
    Ok(())
}
