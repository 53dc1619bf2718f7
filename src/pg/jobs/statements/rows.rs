//! Statements on the table of states: which rows have changed, and what is known of them.

use super::names::Names;
use super::statement::{Statement, int8, oid};

/// Whether no row has been seen.
pub(crate) fn is_unseen(names: &Names) -> Statement {
    let state = &names.tables.state;
    Statement::new(format!("SELECT NOT EXISTS (SELECT FROM {} WHERE change IS NULL)", state.name))
        .about([state.oid])
}

/// How many rows the relation has, counted up to a limit.
pub(crate) fn count(names: &Names, limit: i64) -> Statement {
    let docs = &names.docs_name;
    // Of a column, as Citus reads no rows without any.
    Statement::new(format!("SELECT count(*) FROM (SELECT 1 FROM {docs} d LIMIT $1) d"))
        .with([int8(limit)])
        .about([names.docs])
}

/// Deletes the marks of rows that wait or are in doubt.
pub(crate) fn forget_waiting(names: &Names) -> Statement {
    let state = &names.tables.state;
    Statement::new(format!("DELETE FROM {} WHERE change > 0", state.name)).about([state.oid])
}

/// Puts all rows in as seen.
pub(crate) fn take_all(names: &Names) -> Statement {
    let (state, source) = (&names.tables.state, &names.source);
    Statement::new(format!("INSERT INTO {} (id, hash) SELECT id, hash FROM {source} d", state.name))
        .about([state.oid, names.docs])
}

/// The mark of what is set aside within a transaction.
const ASIDE: i16 = 3;

/// Sets the marks of rows that wait or are in doubt aside, where [`compare_all`] cannot take them away itself.
pub(crate) fn set_aside(names: &Names) -> Statement {
    let state = &names.tables.state;
    Statement::new(format!("UPDATE {} SET change = {ASIDE} WHERE change > 0", state.name)).about([state.oid])
}

/// Deletes the marks that were set aside.
pub(crate) fn forget_aside(names: &Names) -> Statement {
    let state = &names.tables.state;
    Statement::new(format!("DELETE FROM {} WHERE change = {ASIDE}", state.name)).about([state.oid])
}

/// Marks the rows that are not as they were seen, and those that waited or were in doubt, even where there is no such row: at most `limit` as
/// of the batch, the others as waiting.
pub(crate) fn compare_all(names: &Names, limit: i64) -> Statement {
    let Names { tables, equals, source, is_spread, .. } = names;
    let waiting = if *is_spread {
        format!("SELECT id FROM {} WHERE change = {ASIDE}", tables.state.name)
    } else {
        format!("DELETE FROM {} WHERE change > 0 RETURNING id", tables.state.name)
    };
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

/// Makes waiting rows those of the batch, up to a limit of marks.
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

/// A limit, if the server estimates that far more rows than that are known.
pub(crate) fn far_more_than(names: &Names, limit: i64) -> Statement {
    let sql = "SELECT CASE WHEN reltuples > $1 * 4 THEN $1 END FROM pg_class WHERE oid = $2";
    Statement::new(sql).with([int8(limit), oid(names.tables.state.oid)])
}

/// How many rows are known, counted up to a limit.
pub(crate) fn count_known(names: &Names, limit: i64) -> Statement {
    let state = &names.tables.state;
    let sql = format!("SELECT count(*) FROM (SELECT FROM {} WHERE change IS NULL LIMIT $1) s", state.name);
    Statement::new(sql).with([int8(limit)]).about([state.oid])
}

/// Deletes what was known of the rows of the batch.
pub(crate) fn forget_known(names: &Names) -> Statement {
    let (state, equals) = (&names.tables.state, &names.equals);
    let sql = format!(
        "DELETE FROM {name} WHERE change IS NULL AND id {equals} ANY (ARRAY(SELECT id FROM {name} WHERE change = 0))",
        name = state.name
    );
    Statement::new(sql).about([state.oid])
}

/// Puts the rows of the batch that are there in as seen.
pub(crate) fn reread(names: &Names) -> Statement {
    let Names { tables, equals, source, .. } = names;
    let sql = format!(
        "INSERT INTO {name} (id, hash) SELECT d.id, d.hash FROM {source} d JOIN {name} b ON b.change = 0 AND b.id {equals} d.id",
        name = tables.state.name
    );
    Statement::new(sql).about([tables.state.oid, names.docs])
}

/// Marks rows that have been seen as in doubt where they are not as they were seen, unless they wait.
pub(crate) fn doubt(names: &Names) -> Statement {
    let Names { tables, equals, source, .. } = names;
    let sql = format!(
        "INSERT INTO {name} (id, change) SELECT s.id, 2 FROM {name} s LEFT JOIN {source} d ON d.id {equals} s.id \
         WHERE s.change IS NULL AND (d.id IS NULL OR d.hash IS DISTINCT FROM s.hash) \
         AND NOT EXISTS (SELECT FROM {name} w WHERE w.change = 1 AND w.id {equals} s.id)",
        name = tables.state.name
    );
    Statement::new(sql).about([tables.state.oid, names.docs])
}

/// Marks rows, whose ids a query gives as `id`, as in doubt where they are not as they were seen, unless they wait.
pub(super) fn doubt_among(names: &Names, candidates: &str) -> String {
    let Names { tables, equals, source, .. } = names;
    format!(
        "INSERT INTO {name} (id, change) SELECT c.id, 2 FROM ({candidates}) c \
         LEFT JOIN {source} d ON d.id {equals} c.id \
         LEFT JOIN (SELECT id, hash FROM {name} WHERE change IS NULL) s ON s.id {equals} c.id \
         WHERE ((d.id IS NULL) <> (s.id IS NULL) OR d.hash IS DISTINCT FROM s.hash) \
         AND NOT EXISTS (SELECT FROM {name} w WHERE w.change = 1 AND w.id {equals} c.id)",
        name = tables.state.name
    )
}

/// Sets such rows aside, where they cannot be looked at in the same statement.
pub(super) fn set_among_aside(names: &Names, candidates: &str) -> String {
    format!("INSERT INTO {} (id, change) SELECT c.id, {ASIDE} FROM ({candidates}) c", names.tables.state.name)
}

/// Marks those of the rows that were set aside as in doubt that are not as they were seen, unless they wait.
pub(crate) fn doubt_aside(names: &Names) -> Statement {
    let state = &names.tables.state;
    let aside = format!("SELECT id FROM {} WHERE change = {ASIDE}", state.name);
    Statement::new(doubt_among(names, &aside)).about([state.oid, names.docs])
}

/// Deletes the marks of the batch.
pub(crate) fn end_batch(names: &Names) -> Statement {
    let state = &names.tables.state;
    Statement::new(format!("DELETE FROM {} WHERE change <= 0", state.name)).about([state.oid])
}

/// Whether rows wait.
pub(crate) fn is_waiting(names: &Names) -> Statement {
    let state = &names.tables.state;
    Statement::new(format!("SELECT EXISTS (SELECT FROM {} WHERE change = 1)", state.name)).about([state.oid])
}

/// How many rows wait: some are marked twice.
pub(crate) fn count_waiting(names: &Names) -> Statement {
    let state = &names.tables.state;
    Statement::new(format!("SELECT count(*) FROM {} WHERE change = 1", state.name)).about([state.oid])
}
