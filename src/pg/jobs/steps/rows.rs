//! Steps on the rows of a batch, which are marked in the table of states.

use super::work::RefreshWork;
use crate::jobs::state::{KnownRows, Present};
use crate::pg::jobs::statements::rows;
use crate::pg::server::error::Result;

/// Checks whether rows have been seen; if not, counts the rows of the relation up to one more than
/// the limit.
pub(crate) fn look(work: &mut RefreshWork<'_>, limit: i64) -> Result<()> {
    work.state.contents = Some(if rows::is_unseen(&work.names).holds()? {
        let count = rows::count(&work.names, limit + 1).number()?;
        KnownRows::Unseen { fits: count.unwrap_or_default() <= limit }
    } else {
        KnownRows::Seen
    });
    Ok(())
}

/// Deletes the marks of waiting rows. Rows that change from now on wait for the next time.
pub(crate) fn forget_waiting(work: &mut RefreshWork<'_>) -> Result<()> {
    rows::forget_waiting(&work.names).run().map(|_| ())
}

/// Takes all rows.
pub(crate) fn take_all(work: &mut RefreshWork<'_>) -> Result<()> {
    work.state.rows = Some(rows::take_all(&work.names).run()?);
    Ok(())
}

/// Takes the rows that are not as they were seen, or that waited.
pub(crate) fn compare_all(work: &mut RefreshWork<'_>, limit: i64) -> Result<()> {
    let names = &work.names;
    if names.is_spread {
        rows::set_aside(names).run()?;
    }
    work.state.rows = Some(rows::compare_all(names, limit).run()?.min(limit));
    if names.is_spread {
        rows::forget_aside(names).run()?;
    }
    Ok(())
}

/// Takes rows whose changes were noted.
pub(crate) fn take_marks(work: &mut RefreshWork<'_>, limit: i64) -> Result<()> {
    work.state.rows = Some(rows::take_marks(&work.names, limit).run()?);
    Ok(())
}

/// Determines the number of known rows: by the server's estimate if the estimate is far more than
/// the limit.
pub(crate) fn count_known(work: &mut RefreshWork<'_>, limit: i64) -> Result<()> {
    // The server has no estimate of the rows in shards.
    let here = work.names.tables.hashes.is_none();
    let estimate = if here { rows::far_more_than(&work.names, limit).number()? } else { None };
    let known = match estimate {
        Some(many) => many,
        None => rows::count_known(&work.names, limit).number()?.unwrap_or_default(),
    };
    work.state.known = Some(known);
    Ok(())
}

/// Reads the rows of the batch again.
pub(crate) fn reread(work: &mut RefreshWork<'_>) -> Result<()> {
    rows::forget_known(&work.names).run()?;
    let alone = rows::is_unseen(&work.names).holds()?;
    let rows = rows::reread(&work.names).run()?;
    work.state.present = Some(Present { alone, rows });
    Ok(())
}

/// Marks as in doubt the rows that are not as they were seen.
pub(crate) fn doubt(work: &mut RefreshWork<'_>) -> Result<()> {
    rows::doubt(&work.names).run().map(|_| ())
}

/// Ends the batch. Rows that were noted meanwhile also wait.
pub(crate) fn end_batch(work: &mut RefreshWork<'_>) -> Result<()> {
    rows::end_batch(&work.names).run()?;
    let more = rows::is_waiting(&work.names).holds()?;
    if more && work.state.job.first {
        work.waiting = rows::count_waiting(&work.names).number()?.unwrap_or_default();
    }
    work.state.more = Some(more);
    Ok(())
}
