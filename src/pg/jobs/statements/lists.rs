//! Steps on the lists in which rows are looked up.

use super::work::RefreshWork;
use crate::jobs::step::RowSelection;
use crate::pg::jobs::lists::outline;
use crate::pg::jobs::lists::writer::merged;
use crate::pg::jobs::tables::LIST_COLUMNS;
use crate::pg::procedure::rows::supplying;
use crate::pg::procedure::statement::{int8, on};
use crate::pg::server::error::Result;
use crate::pg::server::set_returning::RowStore;
use neardup_core::incremental::digest::OUTLINE_VERSION;

/// The columns of the table of lists.
pub(super) const COLUMNS: &str = "kind, segment, part, documents, data, ids";

/// Determines the number of the segment that the batch becomes, which has this many documents.
/// There is none if it is better to rebuild the lists, with an order that fits the tokens that are
/// rare now and without rows that no longer exist, or if the order of the lists is of another
/// version.
pub(crate) fn next_segment(work: &mut RefreshWork<'_>, rows: i64) -> Result<()> {
    let lists = work.lists()?;
    let sql = format!(
        "SELECT max(segment) + 1 FROM {lists} WHERE $1 + (SELECT sum(documents) FROM {lists} WHERE kind = 's') \
         <= (SELECT 1000 + 3 * documents::int8 FROM {lists} WHERE segment = 0 AND kind = 'o' AND part = $2)"
    );
    work.state.segment = Some(on([lists], sql).with([int8(rows), int8(OUTLINE_VERSION.into())]).number()?);
    Ok(())
}

/// Adds the batch to the lists.
pub(crate) fn outline(work: &mut RefreshWork<'_>, segment: i64) -> Result<()> {
    let lists = work.lists()?;
    store(work, |store| outline::in_order(&work.names, lists, segment, RowSelection::Batch, store))
}

/// Merges small segments.
pub(crate) fn merge(work: &mut RefreshWork<'_>) -> Result<()> {
    let lists = work.lists()?;
    store(work, |store| merged(lists, store))?;
    let forget = format!(
        "DELETE FROM {lists} WHERE segment = ANY (ARRAY(SELECT segment FROM {lists} WHERE kind = 'x'))"
    );
    on([lists], forget).run()?;
    let damaged = format!("SELECT EXISTS (SELECT FROM {lists} WHERE segment = 0 AND kind = '!')");
    work.state.damaged = Some(on([lists], damaged).holds()?);
    Ok(())
}

/// Rebuilds the lists from scratch.
pub(crate) fn make(work: &mut RefreshWork<'_>, rows: Option<RowSelection>) -> Result<()> {
    work.lists()?.empty()?;
    store(work, |store| outline::outlines(&work.names, rows, None, outline::FIRST, store))
}

/// Runs `supply`, and stores the rows from it in the table of lists.
fn store(work: &RefreshWork<'_>, mut supply: impl FnMut(&mut RowStore) -> Result<()>) -> Result<()> {
    let lists = work.lists()?;
    let supplied = work.names.supplied(None, LIST_COLUMNS);
    supplying(supplied, &mut |_, store| supply(store), |rows| {
        // The row for damaged lists may already be there.
        let sql =
            format!("INSERT INTO {lists} ({COLUMNS}) SELECT {COLUMNS} FROM {rows} ON CONFLICT DO NOTHING");
        on([lists], sql).run()
    })
    .map(|_| ())
}
