//! Statements on the table of states: the changed rows, and the stored data about rows. Rows as
//! they were seen are also in that table, or in a table next to the documents
//! ([`home`](crate::pg::jobs::home)), where Citus compares them.

use super::names::Names;
use crate::pg::procedure::statement::{Statement, int8, oid};
use crate::pg::procedure::table::Table;

/// Returns the table of rows as they were seen.
fn seen(names: &Names) -> &Table {
    names.tables.hashes.as_ref().unwrap_or(&names.tables.state)
}

/// Reports whether no row has been seen.
pub(crate) fn is_unseen(names: &Names) -> Statement {
    let Table { name, oid, .. } = seen(names);
    let sql = if names.tables.hashes.is_some() {
        // Each shard sends one row.
        format!("SELECT NOT EXISTS (SELECT 1 FROM {name} LIMIT 1)")
    } else {
        format!("SELECT NOT EXISTS (SELECT FROM {name} WHERE change IS NULL)")
    };
    Statement::new(sql).about([*oid])
}

/// Counts the rows of the relation, up to a limit.
pub(crate) fn count(names: &Names, limit: i64) -> Statement {
    let docs = &names.docs_name;
    // Selects a column, because Citus reads no rows without columns.
    Statement::new(format!("SELECT count(*) FROM (SELECT 1 FROM {docs} d LIMIT $1) d"))
        .with([int8(limit)])
        .about([names.docs])
}

/// Deletes the marks of rows that wait or are in doubt.
pub(crate) fn forget_waiting(names: &Names) -> Statement {
    let state = &names.tables.state;
    Statement::new(format!("DELETE FROM {} WHERE change > 0", state.name)).about([state.oid])
}

/// Inserts all rows as seen.
pub(crate) fn take_all(names: &Names) -> Statement {
    let (seen, source) = (seen(names), names.source());
    Statement::new(format!("INSERT INTO {} (id, hash) SELECT id, hash FROM {source} d", seen.name))
        .about([seen.oid, names.docs])
}

/// The mark of rows that are set aside within a transaction.
const ASIDE: i16 = 3;

/// Sets aside the marks of rows that wait or are in doubt, for a relation for which [`compare_all`]
/// cannot delete the marks itself.
pub(crate) fn set_aside(names: &Names) -> Statement {
    let state = &names.tables.state;
    Statement::new(format!("UPDATE {} SET change = {ASIDE} WHERE change > 0", state.name)).about([state.oid])
}

/// Deletes the marks that were set aside.
pub(crate) fn forget_aside(names: &Names) -> Statement {
    let state = &names.tables.state;
    Statement::new(format!("DELETE FROM {} WHERE change = {ASIDE}", state.name)).about([state.oid])
}

/// Selects the ids of rows that are not as they were seen. The nodes have both versions of a row,
/// so only these ids are sent to the coordinator. With the join `FULL`, compares all rows that
/// exist or were seen; with `RIGHT`, the rows that were seen. If there is a query `among`, compares
/// only rows whose ids it returns.
fn differing(names: &Names, hashes: &Table, join: &str, among: Option<&str>) -> String {
    let (source, equals) = (names.source(), &names.equals);
    let among = |id: &str| match among {
        None => String::new(),
        Some(ids) => format!(" WHERE {id} {equals} ANY (ARRAY({ids}))"),
    };
    format!(
        "SELECT COALESCE(d.id, s.id) AS id FROM (SELECT id, hash FROM {source} d{}) d \
         {join} JOIN (SELECT id, hash FROM {} s{}) s ON d.id {equals} s.id \
         WHERE d.id IS NULL OR s.id IS NULL OR d.hash IS DISTINCT FROM s.hash",
        among("d.id"),
        hashes.name,
        among("s.id"),
    )
}

/// Marks the rows that are not as they were seen and the rows that waited or were in doubt, even if
/// they no longer exist: at most `limit` of these rows as part of the batch, and the rest as
/// waiting.
pub(crate) fn compare_all(names: &Names, limit: i64) -> Statement {
    let Names { tables, equals, is_spread, .. } = names;
    let waiting = if *is_spread {
        format!("SELECT id FROM {} WHERE change = {ASIDE}", tables.state.name)
    } else {
        format!("DELETE FROM {} WHERE change > 0 RETURNING id", tables.state.name)
    };
    if let Some(hashes) = &tables.hashes {
        let sql = format!(
            "WITH waiting AS ({waiting}), differ AS MATERIALIZED ({differ}) \
             INSERT INTO {name} (id, change) SELECT COALESCE(d.id, w.id), (row_number() OVER () > $1)::int::int2 \
             FROM differ d FULL JOIN (SELECT DISTINCT id FROM waiting) w ON w.id {equals} d.id",
            differ = differing(names, hashes, "FULL", None),
            name = tables.state.name
        );
        return Statement::new(sql).with([int8(limit)]).about([tables.state.oid, hashes.oid, names.docs]);
    }
    let source = names.source();
    let sql = format!(
        "WITH waiting AS ({waiting}) \
         INSERT INTO {name} (id, change) SELECT COALESCE(d.id, s.id, w.id), (row_number() OVER () > $1)::int::int2 \
         FROM {source} d FULL JOIN (SELECT id, hash FROM {name} WHERE change IS NULL) s ON d.id {equals} s.id \
         FULL JOIN (SELECT DISTINCT id FROM waiting) w ON w.id {equals} COALESCE(d.id, s.id) \
         WHERE d.id IS NULL OR s.id IS NULL OR d.hash IS DISTINCT FROM s.hash OR w.id IS NOT NULL",
        name = tables.state.name
    );
    Statement::new(sql).with([int8(limit)]).about([tables.state.oid, names.docs])
}

/// Moves waiting rows to the batch, up to a limit of marks.
pub(crate) fn take_marks(names: &Names, limit: i64) -> Statement {
    let state = &names.tables.state;
    let sql = format!(
        "WITH taken AS (DELETE FROM {name} \
             WHERE ctid = ANY (ARRAY(SELECT ctid FROM {name} WHERE change = 1 LIMIT $1)) RETURNING id) \
         INSERT INTO {name} (id, change) SELECT DISTINCT id, 0 FROM taken",
        name = state.name
    );
    Statement::new(sql).with([int8(limit)]).about([state.oid])
}

/// Returns `limit` if the server estimates that far more rows than `limit` are known.
pub(crate) fn far_more_than(names: &Names, limit: i64) -> Statement {
    let sql = "SELECT CASE WHEN reltuples > $1 * 4 THEN $1 END FROM pg_class WHERE oid = $2";
    Statement::new(sql).with([int8(limit), oid(names.tables.state.oid)])
}

/// Counts the known rows, up to a limit.
pub(crate) fn count_known(names: &Names, limit: i64) -> Statement {
    if let Some(hashes) = &names.tables.hashes {
        // Each shard sends a number.
        let sql = format!("SELECT LEAST(count(*), $1) FROM {}", hashes.name);
        return Statement::new(sql).with([int8(limit)]).about([hashes.oid]);
    }
    let state = &names.tables.state;
    let sql = format!("SELECT count(*) FROM (SELECT FROM {} WHERE change IS NULL LIMIT $1) s", state.name);
    Statement::new(sql).with([int8(limit)]).about([state.oid])
}

/// Deletes the stored data about the rows of the batch.
pub(crate) fn forget_known(names: &Names) -> Statement {
    let (state, equals) = (&names.tables.state, &names.equals);
    let Table { name, oid, .. } = seen(names);
    let of_seen = if names.tables.hashes.is_some() { "" } else { "change IS NULL AND " };
    let sql = format!(
        "DELETE FROM {name} WHERE {of_seen}id {equals} ANY (ARRAY(SELECT id FROM {} WHERE change = 0))",
        state.name
    );
    Statement::new(sql).about([*oid, state.oid])
}

/// Inserts the existing rows of the batch as seen.
pub(crate) fn reread(names: &Names) -> Statement {
    let Names { tables, equals, .. } = names;
    let source = names.source();
    if let Some(hashes) = &tables.hashes {
        // Each node inserts its own rows.
        let sql = format!(
            "INSERT INTO {} (id, hash) SELECT d.id, d.hash FROM {source} d \
             WHERE d.id {equals} ANY (ARRAY(SELECT id FROM {} WHERE change = 0))",
            hashes.name, tables.state.name
        );
        return Statement::new(sql).about([hashes.oid, tables.state.oid, names.docs]);
    }
    let sql = format!(
        "INSERT INTO {name} (id, hash) SELECT d.id, d.hash FROM {source} d JOIN {name} b ON b.change = 0 AND b.id {equals} d.id",
        name = tables.state.name
    );
    Statement::new(sql).about([tables.state.oid, names.docs])
}

/// Marks as in doubt the rows that have been seen but are not as they were seen, unless they wait.
pub(crate) fn doubt(names: &Names) -> Statement {
    let Names { tables, equals, .. } = names;
    if let Some(hashes) = &tables.hashes {
        return doubt_differing(names, hashes, "RIGHT", None);
    }
    let source = names.source();
    let sql = format!(
        "INSERT INTO {name} (id, change) SELECT s.id, 2 FROM {name} s LEFT JOIN {source} d ON d.id {equals} s.id \
         WHERE s.change IS NULL AND (d.id IS NULL OR d.hash IS DISTINCT FROM s.hash) \
         AND NOT EXISTS (SELECT FROM {name} w WHERE w.change = 1 AND w.id {equals} s.id)",
        name = tables.state.name
    );
    Statement::new(sql).about([tables.state.oid, names.docs])
}

/// Marks as in doubt the rows that [`differing`] finds, unless they wait.
fn doubt_differing(names: &Names, hashes: &Table, join: &str, among: Option<&str>) -> Statement {
    let Names { tables, equals, .. } = names;
    let sql = format!(
        "WITH differ AS MATERIALIZED ({}) INSERT INTO {name} (id, change) SELECT c.id, 2 FROM differ c \
         WHERE NOT EXISTS (SELECT FROM {name} w WHERE w.change = 1 AND w.id {equals} c.id)",
        differing(names, hashes, join, among),
        name = tables.state.name
    );
    Statement::new(sql).about([tables.state.oid, hashes.oid, names.docs])
}

/// Marks as in doubt the rows whose ids the query `candidates` returns in its column `id`, if they
/// are not as they were seen and do not wait.
pub(super) fn doubt_among(names: &Names, candidates: &str) -> String {
    let Names { tables, equals, .. } = names;
    let source = names.source();
    format!(
        "INSERT INTO {name} (id, change) SELECT c.id, 2 FROM ({candidates}) c \
         LEFT JOIN {source} d ON d.id {equals} c.id \
         LEFT JOIN (SELECT id, hash FROM {name} WHERE change IS NULL) s ON s.id {equals} c.id \
         WHERE ((d.id IS NULL) <> (s.id IS NULL) OR d.hash IS DISTINCT FROM s.hash) \
         AND NOT EXISTS (SELECT FROM {name} w WHERE w.change = 1 AND w.id {equals} c.id)",
        name = tables.state.name
    )
}

/// Sets aside the rows whose ids the query `candidates` returns in its column `id`, because the
/// same statement cannot check them.
pub(super) fn set_among_aside(names: &Names, candidates: &str) -> String {
    format!("INSERT INTO {} (id, change) SELECT c.id, {ASIDE} FROM ({candidates}) c", names.tables.state.name)
}

/// Marks as in doubt the rows that were set aside, if they are not as they were seen and do not
/// wait.
pub(crate) fn doubt_aside(names: &Names) -> Statement {
    let state = &names.tables.state;
    let aside = format!("SELECT id FROM {} WHERE change = {ASIDE}", state.name);
    if let Some(hashes) = &names.tables.hashes {
        return doubt_differing(names, hashes, "FULL", Some(&aside));
    }
    Statement::new(doubt_among(names, &aside)).about([state.oid, names.docs])
}

/// Copies rows as they were seen from their separate table into the table of states.
pub(crate) fn bring_back(hashes: &Table, state: &Table) -> Statement {
    Statement::new(format!("INSERT INTO {} (id, hash) SELECT id, hash FROM {}", state.name, hashes.name))
        .about([hashes.oid, state.oid])
}

/// Copies rows as they were seen from the table of states into their separate table, and then
/// deletes them from the table of states.
pub(crate) fn move_out(state: &Table, hashes: &Table) -> [Statement; 2] {
    let seen = format!("FROM {} WHERE change IS NULL", state.name);
    [
        Statement::new(format!("INSERT INTO {} (id, hash) SELECT id, hash {seen}", hashes.name))
            .about([hashes.oid, state.oid]),
        Statement::new(format!("DELETE {seen}")).about([state.oid]),
    ]
}

/// Deletes the marks of the batch.
pub(crate) fn end_batch(names: &Names) -> Statement {
    let state = &names.tables.state;
    Statement::new(format!("DELETE FROM {} WHERE change <= 0", state.name)).about([state.oid])
}

/// Reports whether rows wait.
pub(crate) fn is_waiting(names: &Names) -> Statement {
    let state = &names.tables.state;
    Statement::new(format!("SELECT EXISTS (SELECT FROM {} WHERE change = 1)", state.name)).about([state.oid])
}

/// Counts the waiting rows; rows that are marked twice count twice.
pub(crate) fn count_waiting(names: &Names) -> Statement {
    let state = &names.tables.state;
    Statement::new(format!("SELECT count(*) FROM {} WHERE change = 1", state.name)).about([state.oid])
}
