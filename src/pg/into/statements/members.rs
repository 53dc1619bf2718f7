//! The members: each document whose set has tokens, by the number of its set.

use pgrx::PgSqlErrorCode;

use crate::into::step::WorkingTable;
use crate::pg::into::nodes::Nodes;
use crate::pg::into::statements::parts::OF_MEMBERS;
use crate::pg::into::work::CallWork;
use crate::pg::procedure::statement::Statement;
use crate::pg::procedure::statement::on;
use crate::pg::procedure::table::Table;
use crate::pg::server::error::{Result, SqlError};

/// Fills the table.
pub(crate) fn fill(work: &mut CallWork) -> Result<i64> {
    let [to, sets] = work.open([WorkingTable::Members, WorkingTable::Sets])?;
    match work.nodes()? {
        Nodes::Citus(_) if work.is_update() => fill_new_in_citus(work, &to, &sets),
        Nodes::Citus(_) => {
            let have_sets = work.spread()?.members_have_sets;
            let rows = in_citus(&to, &sets, have_sets).run()?;
            if !have_sets {
                keep_one_each(&sets, &to).run()?;
            }
            Ok(rows)
        }
        _ if work.is_update() => {
            let [known] = work.open([WorkingTable::Known])?;
            new(&to, [&sets, &known], work.first_new()?).run()
        }
        nodes => {
            let part = nodes.are_shared().then(|| work.claimed.part());
            work.run(&of_digests(&to, &sets, part))
        }
    }
}

/// Chooses, for all documents with an equal set, the document that represents them: for the
/// documents of one of some parts of the digests, or of all digests.
fn of_digests(members: &Table, sets: &Table, part: Option<u16>) -> Statement {
    let of =
        part.map_or_else(String::new, |part| format!(" AND get_byte(s.digest, 0) % {OF_MEMBERS} = {part}"));
    on(
        [members, sets],
        format!(
            "INSERT INTO {members} SELECT s.n, min(s.n) OVER (PARTITION BY s.digest), s.id FROM {sets} s WHERE s.digest IS NOT NULL{of}"
        ),
    )
}

/// Inserts the new documents, each with the number of the document that represents all with an
/// equal set: a known one, or the first of the new ones.
fn new(members: &Table, [sets, known]: [&Table; 2], first: i64) -> Statement {
    on(
        [members, sets, known],
        format!(
            "INSERT INTO {members} SELECT s.n, COALESCE(k.r, min(s.n) OVER (PARTITION BY s.digest)), s.id \
             FROM (SELECT s.n, s.digest, s.id FROM {sets} s WHERE s.n >= {first}::int8 AND s.digest IS NOT NULL) s \
                 LEFT JOIN (SELECT k.digest, min(k.r) AS r FROM {known} k WHERE k.digest IS NOT NULL GROUP BY k.digest) k ON k.digest = s.digest"
        ),
    )
}

/// In Citus, inserts all documents that have tokens. Documents with the same set are numbered in
/// the order of their ids; the first one has the set, if members have sets.
pub(super) fn in_citus(members: &Table, sets: &Table, have_sets: bool) -> Statement {
    let set = if have_sets { ", CASE WHEN row_number() OVER w = 1::int8 THEN s.set END" } else { "" };
    on(
        [members, sets],
        format!(
            "INSERT INTO {members} SELECT s.n, row_number() OVER w, s.id{set} \
             FROM {sets} s WHERE s.digest IS NOT NULL WINDOW w AS (PARTITION BY s.n ORDER BY s.id)"
        ),
    )
}

/// Removes the sets of all documents but the first one of those with the same set, so that each set
/// is there once. Ids are compared as arrays, whose operator is in `pg_catalog` for any type.
fn keep_one_each(sets: &Table, members: &Table) -> Statement {
    on(
        [sets, members],
        format!(
            "UPDATE {sets} s SET set = NULL FROM {members} m WHERE m.n = s.n AND ARRAY[m.id] = ARRAY[s.id] AND m.r > 1::int8"
        ),
    )
}

/// In Citus, inserts the new documents, of which the first of a new set has the set and number 1,
/// and stores these sets.
fn fill_new_in_citus(work: &CallWork, to: &Table, sets: &Table) -> Result<i64> {
    let spread = work.spread()?;
    let [stored] = work.open([WorkingTable::Stored])?;
    spread.drop(WorkingTable::Slots)?;
    let both_new = format!(
        "SELECT count(*) FROM (SELECT s.n FROM {sets} s WHERE s.digest IS NOT NULL GROUP BY s.n HAVING count(DISTINCT s.digest) > 1) s"
    );
    let one_stored = format!(
        "SELECT count(*) FROM {sets} s JOIN {stored} k ON k.n = s.n WHERE s.digest IS NOT NULL AND s.set <> k.set"
    );
    let collisions = [on([sets], both_new).number()?, on([sets, &stored], one_stored).number()?];
    if collisions.iter().flatten().any(|&count| count > 0) {
        let message = "two sets have one number by chance";
        let code = PgSqlErrorCode::ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE;
        return Err(
            SqlError::new(code, message).hint("Call it with resume => false: it takes other numbers.")
        );
    }
    let rows = on(
        [to, sets, &stored],
        format!(
            "INSERT INTO {to} SELECT s.n, row_number() OVER w + CASE WHEN k.n IS NULL THEN 0::int8 ELSE 1::int8 END, s.id, \
                 CASE WHEN k.n IS NULL AND row_number() OVER w = 1::int8 THEN s.set END \
             FROM {sets} s LEFT JOIN {stored} k ON k.n = s.n WHERE s.digest IS NOT NULL WINDOW w AS (PARTITION BY s.n ORDER BY s.id)"
        ),
    )
    .run()?;
    let new = format!("INSERT INTO {stored} SELECT m.n, m.r, NULL, m.set FROM {to} m WHERE m.r = 1::int8");
    on([&stored, to], new).run()?;
    spread.drop(WorkingTable::Sets)?;
    Ok(rows)
}

/// Counts the pairs of documents with equal sets.
pub(super) fn count_equal(work: &CallWork, members: &Table) -> Result<i64> {
    // In Citus, the set has the number.
    let by = if work.nodes()?.citus().is_some() { "n" } else { "r" };
    let sql = format!(
        "SELECT LEAST(COALESCE(sum(m.c * (m.c - 1) / 2), 0), 9223372036854775807)::int8 \
         FROM (SELECT count(*)::numeric AS c FROM {members} m GROUP BY m.{by} HAVING count(*) > 1) m"
    );
    Ok(on([members], sql).number()?.unwrap_or_default())
}

/// Counts the pairs of documents with equal sets, for the state.
pub(crate) fn count_pairs(work: &mut CallWork) -> Result<()> {
    let [members] = work.open([WorkingTable::Members])?;
    work.state.equal = Some(count_equal(work, &members)?);
    Ok(())
}
