//! Steps on whole tables.

use pgrx::pg_sys::panic::ErrorReport;
use pgrx::{PgLogLevel, PgSqlErrorCode};

use super::work::RefreshWork;
use crate::pg::jobs::home;
use crate::pg::jobs::statements::{definitions, rows};
use crate::pg::jobs::tables::all::JobTables;
use crate::pg::query::as_user::as_user;
use crate::pg::query::names::type_name;
use crate::pg::server::error::Result;

/// Empties the tables and changes their columns of ids to the current type of the ids.
pub(crate) fn retype(work: &mut RefreshWork<'_>) -> Result<()> {
    let relation = &work.job.relation;
    let shown = &relation.shown;
    let id_type = work.names.column_oid;
    as_user(relation.owner, || {
        let (tables, to) = (&work.names.tables, &work.names.column);
        for (table, columns) in [
            (&tables.pairs, &["left_id", "right_id"][..]),
            (&tables.clusters, &["cluster_id", "id"]),
            (&tables.state, &["id"]),
        ] {
            definitions::empty(table).run()?;
            definitions::retype(table, columns, to).run()?;
        }
        tables.lists.iter().try_for_each(|lists| definitions::empty(lists).run().map(|_| ()))?;
        // A column by which Citus distributes a table keeps its type, so the table is dropped and
        // made again.
        tables
            .hashes
            .iter()
            .try_for_each(|hashes| definitions::drop(std::slice::from_ref(&hashes.name)).run().map(|_| ()))
    })?;
    if work.names.tables.hashes.is_some() {
        home::keep(work.job, work.entry, None)?;
        work.state.job.misplaced = work.home.is_some();
    }
    let message =
        format!("ids of {shown} are of type {} now: all of its pairs are made anew", type_name(id_type));
    ErrorReport::new(PgSqlErrorCode::ERRCODE_SUCCESSFUL_COMPLETION, message, "neardup")
        .report(PgLogLevel::NOTICE);
    let tables = JobTables::open(work.entry, shown, relation.owner)?;
    tables.check(shown, id_type)?;
    work.names.tables = tables;
    work.state.emptied();
    Ok(())
}

/// Moves the data about rows as they were seen to its new place: to a table next to the documents,
/// where the documents are now, or back to the table of states.
pub(crate) fn move_hashes(work: &mut RefreshWork<'_>) -> Result<()> {
    let (job, home, id_type) = (work.job, work.home, work.names.column_oid);
    let shown = &job.relation.shown;
    let tables = &mut work.names.tables;
    let old = tables.hashes.take();
    let (moved, new) = as_user(job.relation.owner, || {
        let mut moved = 0;
        if let Some(old) = &old {
            moved = rows::bring_back(old, &tables.state).run()?;
            definitions::drop(std::slice::from_ref(&old.name)).run()?;
        }
        let new = home.map(|home| home::make(job, home, id_type)).transpose()?;
        if let Some(new) = &new {
            for statement in rows::move_out(&tables.state, new) {
                moved = statement.run()?;
            }
        }
        Ok((moved, new))
    })?;
    home::keep(job, work.entry, new.as_ref())?;
    if moved > 0 {
        let place = match &new {
            Some(new) => format!("in {}, spread as these are", new.name),
            None => format!("in {}", tables.state.name),
        };
        let message = format!(
            "what was seen of the rows of {shown} is not where it is to be: {moved} hashes are put {place}"
        );
        ErrorReport::new(PgSqlErrorCode::ERRCODE_SUCCESSFUL_COMPLETION, message, "neardup")
            .report(PgLogLevel::NOTICE);
    }
    tables.hashes = new;
    work.state.job.misplaced = false;
    Ok(())
}

/// Analyzes the tables.
pub(crate) fn analyze(work: &mut RefreshWork<'_>) -> Result<()> {
    let JobTables { pairs, clusters, state, .. } = &work.names.tables;
    definitions::analyze([state, pairs, clusters]).run().map(|_| ())
}
