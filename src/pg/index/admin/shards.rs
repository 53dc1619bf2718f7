//! Indexes of tables that Citus distributes. The local index is empty and says nothing about the
//! shards.

use pgrx::PgSqlErrorCode;

use crate::pg::index::am::user_index::UserIndex;
use crate::pg::query::citus::is_spread;
use crate::pg::query::names::name_of;
use crate::pg::request::example::literal;
use crate::pg::server::error::{Result, SqlError};

/// Fails for an index of a table that Citus distributes, with a hint that shows how to query all
/// shards. The query in the hint calls the function in `call` for each index `c`, names the rows of
/// its result `s`, and selects the expression `shown`.
pub(super) fn refuse(opened: &UserIndex, call: &str, shown: &str) -> Result<()> {
    // SAFETY: an open relation.
    let table = unsafe { (*opened.table).rd_id };
    if !is_spread(table)? {
        return Ok(());
    }
    let name = opened.index.name();
    let (table, begin) = (name_of(table)?, literal(&format!("{name}_")));
    let message = format!("index \"{name}\" is of a table that Citus spreads, and has no rows here");
    let hint = format!(
        "Ask all shards: SELECT shardid, result FROM run_command_on_shards({}, $$SELECT {shown} FROM pg_index i \
         JOIN pg_class c ON c.oid = i.indexrelid, {call} s \
         WHERE i.indrelid = '%s'::regclass AND starts_with(c.relname, {begin})$$);",
        literal(&table)
    );
    Err(SqlError::new(PgSqlErrorCode::ERRCODE_FEATURE_NOT_SUPPORTED, message).hint(hint))
}
