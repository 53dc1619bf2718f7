//! Steps on whole tables.

use pgrx::pg_sys::panic::ErrorReport;
use pgrx::{PgLogLevel, PgSqlErrorCode};

use super::work::Work;
use crate::pg::jobs::statements::definitions;
use crate::pg::jobs::tables::all::Tables;
use crate::pg::query::as_user::as_user;
use crate::pg::query::names::type_name;
use crate::pg::server::error::Result;

/// Gives the tables, which are emptied, the type that ids have now.
pub(crate) fn retype(work: &mut Work<'_>) -> Result<()> {
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
        tables.lists.iter().try_for_each(|lists| definitions::empty(lists).run().map(|_| ()))
    })?;
    let message =
        format!("ids of {shown} are of type {} now: all of its pairs are made anew", type_name(id_type));
    ErrorReport::new(PgSqlErrorCode::ERRCODE_SUCCESSFUL_COMPLETION, message, "neardup")
        .report(PgLogLevel::NOTICE);
    let tables = Tables::open(work.entry, shown, relation.owner)?;
    tables.check(shown, id_type)?;
    work.names.tables = tables;
    work.state.emptied();
    Ok(())
}

/// Lets the server count the tables.
pub(crate) fn analyze(work: &mut Work<'_>) -> Result<()> {
    let Tables { pairs, clusters, state, .. } = &work.names.tables;
    definitions::analyze([state, pairs, clusters]).run().map(|_| ())
}
