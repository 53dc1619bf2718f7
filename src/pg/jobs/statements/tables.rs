//! Steps on whole tables.

use super::work::RefreshWork;
use crate::pg::jobs::home;
use crate::pg::jobs::tables::JobTables;
use crate::pg::procedure::definition::drop_tables;
use crate::pg::procedure::statement::{Statement, on};
use crate::pg::query::as_user::as_user;
use crate::pg::query::names::type_name;
use crate::pg::server::error::Result;
use crate::pg::server::notices::notice;

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
            table.empty()?;
            let alter: Vec<String> =
                columns.iter().map(|column| format!("ALTER {column} TYPE {to} USING NULL::{to}")).collect();
            Statement::new(format!("ALTER TABLE {table} {}", alter.join(", "))).run()?;
        }
        tables.lists.iter().try_for_each(|lists| lists.empty().map(|_| ()))?;
        // A column by which Citus distributes a table keeps its type, so the table is dropped and
        // made again.
        drop_tables(tables.hashes.iter().map(|hashes| &*hashes.name))
    })?;
    if work.names.tables.hashes.is_some() {
        home::keep(work.job, work.entry, None)?;
        work.state.job.misplaced = work.home.is_some();
    }
    notice(format!("ids of {shown} are of type {} now: all of its pairs are made anew", type_name(id_type)));
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
    let (old, state) = (tables.hashes.take(), &tables.state);
    let (moved, new) = as_user(job.relation.owner, || {
        let mut moved = 0;
        if let Some(old) = &old {
            let copy = format!("INSERT INTO {state} (id, hash) SELECT id, hash FROM {old}");
            moved = on([old, state], copy).run()?;
            drop_tables([&*old.name])?;
        }
        let new = home.map(|home| home::make(job, home, id_type)).transpose()?;
        if let Some(new) = &new {
            let seen = format!("FROM {state} WHERE change IS NULL");
            on([new, state], format!("INSERT INTO {new} (id, hash) SELECT id, hash {seen}")).run()?;
            moved = on([state], format!("DELETE {seen}")).run()?;
        }
        Ok((moved, new))
    })?;
    home::keep(job, work.entry, new.as_ref())?;
    if moved > 0 {
        let place = match &new {
            Some(new) => format!("in {new}, spread as these are"),
            None => format!("in {}", tables.state),
        };
        notice(format!(
            "what was seen of the rows of {shown} is not where it is to be: {moved} hashes are put {place}"
        ));
    }
    tables.hashes = new;
    work.state.job.misplaced = false;
    Ok(())
}

/// Analyzes the tables.
pub(crate) fn analyze(work: &mut RefreshWork<'_>) -> Result<()> {
    let JobTables { pairs, clusters, state, .. } = &work.names.tables;
    Statement::new(format!("ANALYZE {state}, {pairs}, {clusters}")).run().map(|_| ())
}
