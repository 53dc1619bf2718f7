//! The sets of the documents: how the documents are read, and what is asked of their ids and sizes.
//!
//! Documents are read with the search path of the caller, as in any query of the caller, so these
//! queries qualify all names with their schemas.

use pgrx::pg_sys::{self, Oid};

use super::citus;
use super::definitions::{first_number, size_of_row};
use crate::into::state::{CheckedIds, SetSizes};
use crate::into::step::WorkingTable::{self, Changes, Ids, Seen, Sets, Slots};
use crate::pg::into::nodes::Nodes;
use crate::pg::into::statements::citus::{CitusLayout, Sharding};
use crate::pg::into::statements::join::DocumentColumns;
use crate::pg::into::work::CallWork;
use crate::pg::procedure::table::Table;
use crate::pg::query::as_user::as_user;
use crate::pg::query::names::equality;
use crate::pg::query::{Parameter, Query};
use crate::pg::request::example::literal;
use crate::pg::server::error::Result;

/// Runs a query of the caller, which reads the documents.
pub(super) fn query(work: &CallWork, sql: &str, parameters: &[Parameter], tables: &[Table]) -> Result<i64> {
    let tables = tables.iter().map(|table| table.oid);
    let relations: Vec<Oid> = [work.call.asked.docs].into_iter().chain(tables).collect();
    Ok(Query { sql, parameters, relations: &relations, read_only: false }.run([])?.rows as i64)
}

/// Reads the documents, or those that are new or have changed since the result was made.
pub(crate) fn read(work: &mut CallWork) -> Result<i64> {
    let caller = work.call.caller;
    let first = work.first_new()?;
    let (sql, tables) = as_user(caller, || {
        let documents = &work.in_parts()?.documents;
        let [sets] = work.open([Sets])?;
        delete_new(work, Sets)?;
        let (mut others, mut wanted) = (Vec::new(), String::new());
        if first > 0 {
            let ([changes], eq) = (work.open([Changes])?, equality(work.call.asked.id_oid)?);
            wanted = format!(
                " WHERE {} {eq} ANY (SELECT c.id FROM {changes} AS c WHERE NOT c.gone)",
                documents.id
            );
            others.push(changes);
        }
        let sql = match work.nodes()? {
            Nodes::Citus(layout) => {
                others.extend(slots(work, layout)?);
                let shares = others.last().filter(|_| layout.how == Sharding::Reference);
                Some(in_citus(work, layout, &sets, shares, &wanted)?)
            }
            Nodes::Fdw(_) if first > 0 => None,
            Nodes::Home(Some(parts)) => {
                let (number, of) = in_part(work, parts)?;
                Some(insert(&sets, documents, &number, &of))
            }
            _ => Some(insert(&sets, documents, &numbered(first), &wanted)),
        };
        others.insert(0, sets);
        Ok((sql, others))
    })?;
    match (sql, &tables[..]) {
        (None, [sets, ..]) => read_batches(work, sets),
        (sql, _) => {
            work.give_turn();
            query(work, &sql.unwrap_or_default(), &[], &tables)
        }
    }
}

/// Deletes the rows that a call left which did not come to the end of a step: those of new
/// documents on servers, which may have committed them.
pub(super) fn delete_new(work: &CallWork, table: WorkingTable) -> Result<()> {
    if !work.is_update() || work.nodes()?.servers().is_empty() {
        return Ok(());
    }
    let first = work.first_new()?;
    work.execute(&format!("DELETE FROM {table} t WHERE t.n >= {first}::int8")).map(|_| ())
}

/// Returns the SQL expression for the number of the document that is read as number `s.i`.
fn numbered(first: i64) -> String {
    format!("{first}::pg_catalog.int8 OPERATOR(pg_catalog.+) s.i")
}

/// Inserts the sets of documents with their numbers. A document of which nothing is carried is
/// similar to no other one.
fn insert(sets: &Table, documents: &DocumentColumns, number: &str, of: &str) -> String {
    let DocumentColumns { table, id, set, are_ordered, .. } = documents;
    let order = if *are_ordered { format!("ORDER BY {id}") } else { String::new() };
    // Equal documents are found by a digest for which nobody can construct a collision. Documents
    // that are not similar to those with the same bytes have digests of their own.
    format!(
        "INSERT INTO {sets} SELECT {number}, s.id, pg_catalog.octet_length(s.set), \
             CASE WHEN pg_catalog.octet_length(s.set) OPERATOR(pg_catalog.>) 0 THEN pg_catalog.sha256(CASE WHEN pg_catalog.get_byte(s.set, 0) OPERATOR(pg_catalog.=) 1 THEN s.set \
                 ELSE s.set OPERATOR(pg_catalog.||) pg_catalog.uuid_send(pg_catalog.gen_random_uuid()) END) END, s.set \
         FROM (SELECT pg_catalog.row_number() OVER ({order}) AS i, {id} AS id, {set} AS set FROM {table} AS d{of} OFFSET 0) s"
    )
}

/// Returns the SQL expression for the numbers of the documents in the part that was taken, and the
/// condition for these documents: they are a range of the ids, and their numbers are in the part;
/// or they are all documents, whose numbers are in all parts in turn.
fn in_part(work: &CallWork, parts: usize) -> Result<(String, String)> {
    let (ranges, part) = (&work.log()?.ranges, usize::from(work.claimed.part()));
    let Some(key) = work.in_parts()?.key.as_deref().filter(|_| !ranges.is_empty()) else {
        let length = first_number(1);
        let first = format!(
            "(s.i OPERATOR(pg_catalog.%) {parts}::pg_catalog.int8) OPERATOR(pg_catalog.*) {length}::pg_catalog.int8"
        );
        return Ok((format!("({first}) OPERATOR(pg_catalog.+) s.i"), String::new()));
    };
    let bound = |how: &str, at: Option<&i64>| {
        at.map(|at| format!("{key} OPERATOR(pg_catalog.{how}) '{at}'::pg_catalog.int8"))
    };
    let from = part.checked_sub(1).and_then(|before| ranges.get(before));
    let bounds: Vec<String> = bound(">=", from).into_iter().chain(bound("<", ranges.get(part))).collect();
    let of = if bounds.is_empty() { String::new() } else { format!(" WHERE {}", bounds.join(" AND ")) };
    Ok((numbered(first_number(part as i64)), of))
}

/// Reads changed documents from servers, for which their ids are parameters: some at a time.
fn read_batches(work: &CallWork, sets: &Table) -> Result<i64> {
    let (caller, first) = (work.call.caller, work.first_new()?);
    let documents = &work.in_parts()?.documents;
    let of =
        format!(" WHERE {} {} ANY ($1)", documents.id, as_user(caller, || equality(work.call.asked.id_oid))?);
    // SAFETY: any OID may be looked up; a type that has ids has arrays.
    let array = unsafe { pg_sys::get_array_type(work.call.asked.id_oid) };
    let mut rows = 0;
    let count = format!("SELECT COALESCE(max(c.batch) + 1, 0)::int8 FROM {Changes} c");
    for batch in 0..as_user(caller, || work.number(&count))? {
        pgrx::check_for_interrupts!();
        let ids =
            format!("SELECT array_agg(c.id) FROM {Changes} c WHERE c.batch = {batch}::int8 AND NOT c.gone");
        let [ids] = as_user(caller, || work.statement(&ids)?.row([array]))?.unwrap_or_default();
        let Some(ids) = ids else { continue };
        let sql = insert(sets, documents, &numbered(first + rows), &of);
        rows += query(work, &sql, &[(array, Some(ids))], std::slice::from_ref(sets))?;
    }
    Ok(rows)
}

/// Opens the table that says which shard reads which documents, if all nodes have them.
fn slots(work: &CallWork, layout: &CitusLayout) -> Result<Option<Table>> {
    if layout.how != Sharding::Reference {
        return Ok(None);
    }
    work.open([Slots]).map(|[slots]| Some(slots))
}

/// Makes that table, with the keys of the shards, after the table of sets was made.
pub(crate) fn make_slots(work: &CallWork, layout: &CitusLayout) -> Result<()> {
    if layout.how != Sharding::Reference {
        return Ok(());
    }
    let slots = work.spread()?.made(Slots)?;
    let keys = literal(&layout.keys(slots.oid, layout.shards)?.unwrap_or_else(|| "{0}".to_owned()));
    let sql = format!(
        "INSERT INTO {Slots} SELECT k.key, k.nth - 1 FROM unnest({keys}::int8[]) WITH ORDINALITY k(key, nth)"
    );
    work.execute(&sql).map(|_| ())
}

/// Inserts the sets of the documents, which are cut into tokens where they are stored. If all nodes
/// have the documents, each shard of `slots` reads a share of them.
///
/// The number `n` of a set is a hash of the set, so that equal sets are in one place, and all
/// numbers are known without a coordinator. Nobody knows the salt beforehand, so nobody can make
/// sets with the same number. A function whose result is needed more than once for a row is called
/// in a subquery that unnests an array of one value: the planner does not merge such a subquery
/// into its query, so the function is called once. Sets that are similar to no other one are stored
/// only if members have sets.
fn in_citus(
    work: &CallWork,
    layout: &CitusLayout,
    sets: &Table,
    slots: Option<&Table>,
    of: &str,
) -> Result<String> {
    let spread = work.spread()?;
    // The token has twelve hexadecimal digits, so it fits.
    let salt = i64::from_str_radix(spread.token, 16).unwrap_or_default();
    let DocumentColumns { table, id, set, .. } = &work.in_parts()?.documents;
    let has_some = "g.bytes OPERATOR(pg_catalog.>) 0";
    let (from, set) = match slots {
        None => (format!("{table} AS d"), format!("ARRAY[{set}]")),
        // The test of the slot comes first, so that only one shard cuts a document into tokens.
        Some(slots) => (
            format!("{slots} AS o, {table} AS d"),
            format!(
                "CASE WHEN (pg_catalog.hash_array_extended(ARRAY[{id}], 0::pg_catalog.int8) OPERATOR(pg_catalog.&) 9223372036854775807::pg_catalog.int8) \
                     OPERATOR(pg_catalog.%) {}::pg_catalog.int8 OPERATOR(pg_catalog.=) o.slot THEN ARRAY[{set}] END",
                layout.shards
            ),
        ),
    };
    // A salted hash is immutable, which a statement on a single shard has to be; types that have no
    // hash are told apart by the bytes that are sent.
    let id_bytes = if citus::is_hashable(work.call.asked.id_oid)? {
        format!("pg_catalog.int8send(pg_catalog.hash_array_extended(ARRAY[t.id], {salt}::pg_catalog.int8))")
    } else {
        "pg_catalog.array_send(ARRAY[t.id])".to_owned()
    };
    // A document that is not similar to those with the same bytes has a digest of its own, made
    // with the bytes of its id: volatile functions would pass all rows to the coordinator.
    let digest = format!(
        "CASE WHEN pg_catalog.octet_length(t.set) OPERATOR(pg_catalog.=) 0 THEN t.set \
             WHEN pg_catalog.get_byte(t.set, 0) OPERATOR(pg_catalog.=) 1 THEN pg_catalog.sha256(t.set) \
             ELSE pg_catalog.sha256(pg_catalog.decode('02', 'hex') OPERATOR(pg_catalog.||) pg_catalog.sha256(t.set) \
                 OPERATOR(pg_catalog.||) {id_bytes}) END"
    );
    let stored =
        if spread.members_have_sets { "g.set" } else { &format!("CASE WHEN {has_some} THEN g.set END") };
    Ok(format!(
        "INSERT INTO {sets} SELECT pg_catalog.hash_array_extended(ARRAY[g.digest], {salt}::pg_catalog.int8), g.id, \
             g.bytes, CASE WHEN {has_some} THEN g.digest END, {stored} \
         FROM (SELECT t.id, t.set, pg_catalog.octet_length(t.set) AS bytes, pg_catalog.unnest(ARRAY[{digest}]) AS digest \
             FROM (SELECT {id} AS id, pg_catalog.unnest({set}) AS set FROM {from}{of}) AS t) AS g"
    ))
}

/// Looks for ids that are NULL or in two rows.
pub(crate) fn check_ids(work: &mut CallWork) -> Result<()> {
    let update = work.is_update();
    let (nulls, double) = match work.nodes()? {
        Nodes::Citus(_) if !update => return check_in_citus(work),
        Nodes::Home(Some(_)) if work.in_parts()?.has_key => (0, None),
        _ => {
            let (read, rows) = if update { (Seen, "sum(s.rows)") } else { (Sets, "count(*)") };
            match work.number(&format!("SELECT count(*) FROM {read} s WHERE s.id IS NULL"))? {
                0 => (0, double_id(work, read, rows)?),
                nulls => (nulls, None),
            }
        }
    };
    work.state.ids = Some(match &double {
        _ if nulls > 0 => CheckedIds::Null,
        Some(_) => CheckedIds::Double,
        None => CheckedIds::Good,
    });
    work.double_id = double;
    Ok(())
}

/// Returns, as text, an id that two documents have, or no row if there is no such id.
fn double_id(work: &CallWork, table: WorkingTable, rows: &str) -> Result<Option<String>> {
    let sql = format!("SELECT s.id::text FROM {table} s GROUP BY s.id HAVING {rows} > 1::int8 LIMIT 1");
    work.statement(&sql)?.text()
}

/// Checks the ids in Citus, where all that is to be known of the sets is asked for in one pass: the
/// number of documents without an id, the bytes of all rows, the bytes of all sets and of the
/// largest one, and the number of numbers that more than one set has. Digests are told apart by
/// another hash, whose 64 bits are as unlikely to be equal by chance as those of the numbers.
fn check_in_citus(work: &mut CallWork) -> Result<()> {
    let spread = work.spread()?;
    spread.drop(Slots)?;
    let moved = size_of_row(spread.columns(Sets));
    let digest = "(hash_array_extended(ARRAY[t.digest], 1::int8)) FILTER (WHERE t.digest IS NOT NULL)";
    let sql = format!(
        "SELECT COALESCE(sum(s.nulls), 0)::int8, COALESCE(sum(s.moved), 0)::int8, COALESCE(sum(s.bytes), 0)::int8, \
             COALESCE(max(s.largest), 0)::int8, count(*) FILTER (WHERE s.least <> s.greatest) \
         FROM (SELECT count(*) FILTER (WHERE t.id IS NULL) AS nulls, sum({moved}) AS moved, sum(t.bytes) AS bytes, \
             max(t.bytes) AS largest, bit_and{digest} AS least, bit_or{digest} AS greatest FROM {Sets} t GROUP BY t.n) s"
    );
    let [nulls, moved, bytes, largest, collisions] = work.statement(&sql)?.numbers()?;
    if nulls > 0 {
        work.state.ids = Some(CheckedIds::Null);
        return Ok(());
    }
    let is_unique = match work.in_parts()?.id_number {
        Some(number) => citus::is_unique(work.call.asked.docs, number)?,
        None => false,
    };
    let double = if is_unique {
        None
    } else if citus::is_hashable(work.call.asked.id_oid)? {
        spread.make(Ids)?;
        work.execute(&format!("INSERT INTO {Ids} SELECT s.id FROM {Sets} s"))?;
        let double = double_id(work, Ids, "count(*)")?;
        spread.drop(Ids)?;
        double
    } else {
        double_id(work, Sets, "count(*)")?
    };
    work.moved = moved;
    work.state.sizes = Some(SetSizes { bytes, largest });
    work.state.ids =
        Some(if double.is_some() || collisions > 0 { CheckedIds::Double } else { CheckedIds::Good });
    work.double_id = double;
    Ok(())
}

/// Determines the size of the sets that are new, so that not too many are fetched at a time.
pub(crate) fn measure(work: &mut CallWork) -> Result<()> {
    // Local sets are not fetched, so that their sizes do not matter.
    if work.state.call.shared {
        work.state.sizes = Some(SetSizes::default());
        return Ok(());
    }
    let spread = work.spread()?;
    let new = if spread.nodes.citus().is_some() {
        String::new()
    } else {
        format!(" WHERE s.n >= {}::int8", work.first_new()?)
    };
    let sql =
        format!("SELECT COALESCE(sum(s.bytes), 0)::int8, COALESCE(max(s.bytes), 0)::int8 FROM {Sets} s{new}");
    let [bytes, largest] = work.statement(&sql)?.numbers()?;
    // What is kept may have larger ones.
    let sizes = SetSizes { bytes, largest: largest.max(work.log()?.kept.largest) };
    spread.fetch_sets(sizes.rows_a_fetch(work.state.filled.unwrap_or_default()))?;
    work.state.sizes = Some(sizes);
    Ok(())
}
