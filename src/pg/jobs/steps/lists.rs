//! Steps on the lists that rows are looked up in.

use super::work::Work;
use crate::jobs::step::Rows;
use crate::joins::incremental::token_order::VERSION;
use crate::pg::jobs::statements::{definitions, lists};
use crate::pg::server::error::Result;

/// The number of the segment that the batch becomes.
pub(crate) fn next_segment(work: &mut Work<'_>, rows: i64) -> Result<()> {
    work.state.segment = Some(lists::next_segment(work.lists()?, rows, VERSION.into()).number()?);
    Ok(())
}

/// Puts the batch in.
pub(crate) fn outline(work: &mut Work<'_>, segment: i64) -> Result<()> {
    lists::outline(&work.names, work.lists()?, Some(Rows::Batch), true, segment).run().map(|_| ())
}

/// Merges small segments.
pub(crate) fn merge(work: &mut Work<'_>) -> Result<()> {
    let table = work.lists()?;
    lists::merge(&work.names, table).run()?;
    lists::forget_merged(table).run()?;
    work.state.damaged = Some(lists::are_damaged(table).holds()?);
    Ok(())
}

/// Makes the lists anew.
pub(crate) fn make(work: &mut Work<'_>, rows: Option<Rows>) -> Result<()> {
    let table = work.lists()?;
    definitions::empty(table).run()?;
    lists::outline(&work.names, table, rows, false, 1).run().map(|_| ())
}
