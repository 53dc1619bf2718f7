//! Steps on the lists in which rows are looked up.

use super::work::RefreshWork;
use crate::jobs::step::RowSelection;
use crate::pg::jobs::lists::outline;
use crate::pg::jobs::lists::stored::TYPES;
use crate::pg::jobs::lists::writer::merged;
use crate::pg::jobs::statements::{definitions, lists};
use crate::pg::procedure::rows::supplying;
use crate::pg::server::error::Result;
use crate::pg::server::set_returning::RowStore;
use neardup_core::joins::incremental::digest::OUTLINE_VERSION;

/// Determines the number of the segment that the batch becomes.
pub(crate) fn next_segment(work: &mut RefreshWork<'_>, rows: i64) -> Result<()> {
    work.state.segment = Some(lists::next_segment(work.lists()?, rows, OUTLINE_VERSION.into()).number()?);
    Ok(())
}

/// Adds the batch to the lists.
pub(crate) fn outline(work: &mut RefreshWork<'_>, segment: i64) -> Result<()> {
    let table = work.lists()?;
    store(work, |store| outline::in_order(&work.names, table, segment, RowSelection::Batch, store))
}

/// Merges small segments.
pub(crate) fn merge(work: &mut RefreshWork<'_>) -> Result<()> {
    let table = work.lists()?;
    store(work, |store| merged(table, store))?;
    lists::forget_merged(table).run()?;
    work.state.damaged = Some(lists::are_damaged(table).holds()?);
    Ok(())
}

/// Rebuilds the lists from scratch.
pub(crate) fn make(work: &mut RefreshWork<'_>, rows: Option<RowSelection>) -> Result<()> {
    let table = work.lists()?;
    definitions::empty(table).run()?;
    store(work, |store| outline::with_order(&work.names, rows, store))
}

/// Runs `supply`, and stores the rows from it in the table of lists.
fn store(work: &RefreshWork<'_>, mut supply: impl FnMut(&mut RowStore) -> Result<()>) -> Result<()> {
    let statement = lists::store(&work.names, work.lists()?);
    supplying(&TYPES, &mut |_, store| supply(store), || statement.run()).map(|_| ())
}
