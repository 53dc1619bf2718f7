//! Steps on the rows of a batch, which are marked in the table of states, and on the stored data
//! about rows. Rows as they were seen are also in that table, or in a table next to the documents
//! ([`home`](crate::pg::jobs::home)), where Citus compares them.

use super::work::{Names, RefreshWork};
use crate::jobs::state::{KnownRows, Present};
use crate::pg::procedure::statement::{Statement, int8, oid, on};
use crate::pg::procedure::table::Table;
use crate::pg::server::error::Result;

/// Returns the table of rows as they were seen.
fn seen(names: &Names) -> &Table {
    names.tables.hashes.as_ref().unwrap_or(&names.tables.state)
}

/// Reports whether no row has been seen.
fn is_unseen(names: &Names) -> Result<bool> {
    let seen = seen(names);
    // Each shard sends one row.
    let rows = match names.tables.hashes {
        Some(_) => format!("SELECT 1 FROM {seen} LIMIT 1"),
        None => format!("SELECT FROM {seen} WHERE change IS NULL"),
    };
    on([seen], format!("SELECT NOT EXISTS ({rows})")).holds()
}

/// Checks whether rows have been seen; if not, counts the rows of the relation up to one more than
/// the limit.
pub(crate) fn look(work: &mut RefreshWork<'_>, limit: i64) -> Result<()> {
    let Names { docs, docs_name, .. } = &work.names;
    work.state.contents = Some(if is_unseen(&work.names)? {
        // Selects a column, because Citus reads no rows without columns.
        let count = Statement::new(format!("SELECT count(*) FROM (SELECT 1 FROM {docs_name} d LIMIT $1) d"));
        let count = count.with([int8(limit + 1)]).about([*docs]).number()?;
        KnownRows::Unseen { fits: count.unwrap_or_default() <= limit }
    } else {
        KnownRows::Seen
    });
    Ok(())
}

/// Deletes the marks of rows that wait or are in doubt. Rows that change from now on wait for the
/// next time.
pub(crate) fn forget_waiting(work: &mut RefreshWork<'_>) -> Result<()> {
    let state = &work.names.tables.state;
    on([state], format!("DELETE FROM {state} WHERE change > 0")).run().map(|_| ())
}

/// Takes all rows as seen.
pub(crate) fn take_all(work: &mut RefreshWork<'_>) -> Result<()> {
    let (seen, source) = (seen(&work.names), work.names.source());
    let take = on([seen], format!("INSERT INTO {seen} (id, hash) SELECT id, hash FROM {source} d"));
    work.state.rows = Some(take.about([work.names.docs]).run()?);
    Ok(())
}

/// The mark of rows that are set aside within a transaction.
const ASIDE: i16 = 3;

/// Deletes the marks that were set aside.
pub(super) fn forget_aside(names: &Names) -> Result<()> {
    let state = &names.tables.state;
    on([state], format!("DELETE FROM {state} WHERE change = {ASIDE}")).run().map(|_| ())
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
         {join} JOIN (SELECT id, hash FROM {hashes} s{}) s ON d.id {equals} s.id \
         WHERE d.id IS NULL OR s.id IS NULL OR d.hash IS DISTINCT FROM s.hash",
        among("d.id"),
        among("s.id"),
    )
}

/// Takes the rows that are not as they were seen and the rows that waited or were in doubt, even if
/// they no longer exist: at most `limit` of these rows as part of the batch, and the rest as
/// waiting.
pub(crate) fn compare_all(work: &mut RefreshWork<'_>, limit: i64) -> Result<()> {
    let names = &work.names;
    let Names { tables, equals, is_spread, docs, .. } = names;
    let state = &tables.state;
    let waiting = if *is_spread {
        // This statement cannot delete the marks itself.
        on([state], format!("UPDATE {state} SET change = {ASIDE} WHERE change > 0")).run()?;
        format!("SELECT id FROM {state} WHERE change = {ASIDE}")
    } else {
        format!("DELETE FROM {state} WHERE change > 0 RETURNING id")
    };
    let compare = match &tables.hashes {
        Some(hashes) => {
            let differ = differing(names, hashes, "FULL", None);
            let sql = format!(
                "WITH waiting AS ({waiting}), differ AS MATERIALIZED ({differ}) \
                 INSERT INTO {state} (id, change) SELECT COALESCE(d.id, w.id), (row_number() OVER () > $1)::int::int2 \
                 FROM differ d FULL JOIN (SELECT DISTINCT id FROM waiting) w ON w.id {equals} d.id"
            );
            on([state, hashes], sql)
        }
        None => {
            let source = names.source();
            let sql = format!(
                "WITH waiting AS ({waiting}) \
                 INSERT INTO {state} (id, change) SELECT COALESCE(d.id, s.id, w.id), (row_number() OVER () > $1)::int::int2 \
                 FROM {source} d FULL JOIN (SELECT id, hash FROM {state} WHERE change IS NULL) s ON d.id {equals} s.id \
                 FULL JOIN (SELECT DISTINCT id FROM waiting) w ON w.id {equals} COALESCE(d.id, s.id) \
                 WHERE d.id IS NULL OR s.id IS NULL OR d.hash IS DISTINCT FROM s.hash OR w.id IS NOT NULL"
            );
            on([state], sql)
        }
    };
    work.state.rows = Some(compare.with([int8(limit)]).about([*docs]).run()?.min(limit));
    if *is_spread { forget_aside(names) } else { Ok(()) }
}

/// Takes rows whose changes were noted: moves waiting rows to the batch, up to a limit of marks.
pub(crate) fn take_marks(work: &mut RefreshWork<'_>, limit: i64) -> Result<()> {
    let state = &work.names.tables.state;
    let sql = format!(
        "WITH taken AS (DELETE FROM {state} \
             WHERE ctid = ANY (ARRAY(SELECT ctid FROM {state} WHERE change = 1 LIMIT $1)) RETURNING id) \
         INSERT INTO {state} (id, change) SELECT DISTINCT id, 0 FROM taken"
    );
    work.state.rows = Some(on([state], sql).with([int8(limit)]).run()?);
    Ok(())
}

/// Determines the number of known rows up to a limit, by the server's estimate if this is far more.
pub(crate) fn count_known(work: &mut RefreshWork<'_>, limit: i64) -> Result<()> {
    let tables = &work.names.tables;
    let state = &tables.state;
    let known = match &tables.hashes {
        // Each shard sends a number. The server has no estimate of the rows in shards.
        Some(hashes) => on([hashes], format!("SELECT LEAST(count(*), $1) FROM {hashes}")),
        None => {
            let far_more = "SELECT CASE WHEN reltuples > $1 * 4 THEN $1 END FROM pg_class WHERE oid = $2";
            work.state.known = Statement::new(far_more).with([int8(limit), oid(state.oid)]).number()?;
            if work.state.known.is_some() {
                return Ok(());
            }
            let sql = format!("SELECT count(*) FROM (SELECT FROM {state} WHERE change IS NULL LIMIT $1) s");
            on([state], sql)
        }
    };
    work.state.known = Some(known.with([int8(limit)]).number()?.unwrap_or_default());
    Ok(())
}

/// Reads the rows of the batch again: deletes the stored data about them, and inserts those that
/// exist as seen.
pub(crate) fn reread(work: &mut RefreshWork<'_>) -> Result<()> {
    let names = &work.names;
    let (seen, source) = (seen(names), names.source());
    let Names { tables, equals, docs, .. } = names;
    let state = &tables.state;
    let of_seen = if tables.hashes.is_some() { "" } else { "change IS NULL AND " };
    let batch = format!("id {equals} ANY (ARRAY(SELECT id FROM {state} WHERE change = 0))");
    on([seen, state], format!("DELETE FROM {seen} WHERE {of_seen}{batch}")).run()?;
    let alone = is_unseen(names)?;
    let of_batch = match tables.hashes {
        // Each node inserts its own rows.
        Some(_) => format!("WHERE d.{batch}"),
        None => format!("JOIN {state} b ON b.change = 0 AND b.id {equals} d.id"),
    };
    let sql = format!("INSERT INTO {seen} (id, hash) SELECT d.id, d.hash FROM {source} d {of_batch}");
    let rows = on([seen, state], sql).about([*docs]).run()?;
    work.state.present = Some(Present { alone, rows });
    Ok(())
}

/// Marks as in doubt the rows that have been seen but are not as they were seen, unless they wait.
pub(crate) fn doubt(work: &mut RefreshWork<'_>) -> Result<()> {
    let names = &work.names;
    let Names { tables, equals, docs, .. } = names;
    let doubt = match &tables.hashes {
        Some(hashes) => doubt_differing(names, hashes, "RIGHT", None),
        None => {
            let (state, source) = (&tables.state, names.source());
            let sql = format!(
                "INSERT INTO {state} (id, change) SELECT s.id, 2 FROM {state} s LEFT JOIN {source} d ON d.id {equals} s.id \
                 WHERE s.change IS NULL AND (d.id IS NULL OR d.hash IS DISTINCT FROM s.hash) \
                 AND NOT EXISTS (SELECT FROM {state} w WHERE w.change = 1 AND w.id {equals} s.id)"
            );
            on([state], sql)
        }
    };
    doubt.about([*docs]).run().map(|_| ())
}

/// Marks as in doubt the rows that [`differing`] finds, unless they wait.
fn doubt_differing(names: &Names, hashes: &Table, join: &str, among: Option<&str>) -> Statement {
    let (state, equals) = (&names.tables.state, &names.equals);
    let sql = format!(
        "WITH differ AS MATERIALIZED ({}) INSERT INTO {state} (id, change) SELECT c.id, 2 FROM differ c \
         WHERE NOT EXISTS (SELECT FROM {state} w WHERE w.change = 1 AND w.id {equals} c.id)",
        differing(names, hashes, join, among),
    );
    on([state, hashes], sql)
}

/// Marks as in doubt the rows whose ids the query `candidates` returns in its column `id`, if they
/// are not as they were seen and do not wait.
pub(super) fn doubt_among(names: &Names, candidates: &str) -> String {
    let (state, equals, source) = (&names.tables.state, &names.equals, names.source());
    format!(
        "INSERT INTO {state} (id, change) SELECT c.id, 2 FROM ({candidates}) c \
         LEFT JOIN {source} d ON d.id {equals} c.id \
         LEFT JOIN (SELECT id, hash FROM {state} WHERE change IS NULL) s ON s.id {equals} c.id \
         WHERE ((d.id IS NULL) <> (s.id IS NULL) OR d.hash IS DISTINCT FROM s.hash) \
         AND NOT EXISTS (SELECT FROM {state} w WHERE w.change = 1 AND w.id {equals} c.id)"
    )
}

/// Sets aside the rows whose ids the query `candidates` returns in its column `id`, because the
/// same statement cannot check them.
pub(super) fn set_among_aside(names: &Names, candidates: &str) -> String {
    format!("INSERT INTO {} (id, change) SELECT c.id, {ASIDE} FROM ({candidates}) c", names.tables.state)
}

/// Marks as in doubt the rows that were set aside, if they are not as they were seen and do not
/// wait.
pub(super) fn doubt_aside(names: &Names) -> Result<()> {
    let state = &names.tables.state;
    let aside = format!("SELECT id FROM {state} WHERE change = {ASIDE}");
    let doubt = match &names.tables.hashes {
        Some(hashes) => doubt_differing(names, hashes, "FULL", Some(&aside)),
        None => on([state], doubt_among(names, &aside)),
    };
    doubt.about([names.docs]).run().map(|_| ())
}

/// Ends the batch. Rows that were noted meanwhile also wait.
pub(crate) fn end_batch(work: &mut RefreshWork<'_>) -> Result<()> {
    let state = &work.names.tables.state;
    on([state], format!("DELETE FROM {state} WHERE change <= 0")).run()?;
    let more = on([state], format!("SELECT EXISTS (SELECT FROM {state} WHERE change = 1)")).holds()?;
    if more && work.state.job.first {
        // Rows that are marked twice count twice.
        let count = on([state], format!("SELECT count(*) FROM {state} WHERE change = 1"));
        work.waiting = count.number()?.unwrap_or_default();
    }
    work.state.more = Some(more);
    Ok(())
}
