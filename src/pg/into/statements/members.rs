//! The members: each document whose set has tokens, by the number of its set.

use pgrx::PgSqlErrorCode;

use crate::into::step::WorkingTable::{Known, Members, Sets, Slots, Stored};
use crate::pg::into::nodes::Nodes;
use crate::pg::into::statements::parts::OF_MEMBERS;
use crate::pg::into::work::CallWork;
use crate::pg::server::error::{Result, SqlError};

/// Fills the table: chooses, for all documents with an equal set, the document that represents
/// them.
pub(crate) fn fill(work: &mut CallWork) -> Result<i64> {
    match work.nodes()? {
        Nodes::Citus(_) if work.is_update() => fill_new_in_citus(work),
        Nodes::Citus(_) => {
            let have_sets = work.spread()?.members_have_sets;
            let rows = in_citus(work, have_sets)?;
            if !have_sets {
                // The sets of all documents but the first one of those with the same set are
                // removed, so that each set is there once. Ids are compared as arrays, whose
                // operator is in `pg_catalog` for any type.
                work.execute(&format!(
                    "UPDATE {Sets} s SET set = NULL FROM {Members} m WHERE m.n = s.n AND ARRAY[m.id] = ARRAY[s.id] AND m.r > 1::int8"
                ))?;
            }
            Ok(rows)
        }
        _ if work.is_update() => {
            // A known document represents new ones, or else the first of the new ones does.
            let first = work.first_new()?;
            work.execute(&format!(
                "INSERT INTO {Members} SELECT s.n, COALESCE(k.r, min(s.n) OVER (PARTITION BY s.digest)), s.id \
                 FROM (SELECT s.n, s.digest, s.id FROM {Sets} s WHERE s.n >= {first}::int8 AND s.digest IS NOT NULL) s \
                     LEFT JOIN (SELECT k.digest, min(k.r) AS r FROM {Known} k WHERE k.digest IS NOT NULL GROUP BY k.digest) k ON k.digest = s.digest"
            ))
        }
        nodes => {
            let mut of = String::new();
            if nodes.are_shared() {
                of = format!(" AND get_byte(s.digest, 0) % {OF_MEMBERS} = {}", work.claimed.part());
            }
            let sql = format!(
                "INSERT INTO {Members} SELECT s.n, min(s.n) OVER (PARTITION BY s.digest), s.id FROM {Sets} s WHERE s.digest IS NOT NULL{of}"
            );
            work.run(&work.statement(&sql)?)
        }
    }
}

/// In Citus, inserts all documents that have tokens. Documents with the same set are numbered in
/// the order of their ids; the first one has the set, if members have sets.
pub(super) fn in_citus(work: &CallWork, have_sets: bool) -> Result<i64> {
    let set = if have_sets { ", CASE WHEN row_number() OVER w = 1::int8 THEN s.set END" } else { "" };
    work.execute(&format!(
        "INSERT INTO {Members} SELECT s.n, row_number() OVER w, s.id{set} \
         FROM {Sets} s WHERE s.digest IS NOT NULL WINDOW w AS (PARTITION BY s.n ORDER BY s.id)"
    ))
}

/// In Citus, inserts the new documents, of which the first of a new set has the set and number 1,
/// and stores these sets.
fn fill_new_in_citus(work: &CallWork) -> Result<i64> {
    let spread = work.spread()?;
    spread.drop(Slots)?;
    let both_new = format!(
        "SELECT count(*) FROM (SELECT s.n FROM {Sets} s WHERE s.digest IS NOT NULL GROUP BY s.n HAVING count(DISTINCT s.digest) > 1) s"
    );
    let one_stored = format!(
        "SELECT count(*) FROM {Sets} s JOIN {Stored} k ON k.n = s.n WHERE s.digest IS NOT NULL AND s.set <> k.set"
    );
    if work.number(&both_new)? > 0 || work.number(&one_stored)? > 0 {
        let message = "two sets have one number by chance";
        let code = PgSqlErrorCode::ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE;
        return Err(
            SqlError::new(code, message).hint("Call it with resume => false: it takes other numbers.")
        );
    }
    let rows = work.execute(&format!(
        "INSERT INTO {Members} SELECT s.n, row_number() OVER w + CASE WHEN k.n IS NULL THEN 0::int8 ELSE 1::int8 END, s.id, \
             CASE WHEN k.n IS NULL AND row_number() OVER w = 1::int8 THEN s.set END \
         FROM {Sets} s LEFT JOIN {Stored} k ON k.n = s.n WHERE s.digest IS NOT NULL WINDOW w AS (PARTITION BY s.n ORDER BY s.id)"
    ))?;
    work.execute(&format!(
        "INSERT INTO {Stored} SELECT m.n, m.r, NULL, m.set FROM {Members} m WHERE m.r = 1::int8"
    ))?;
    spread.drop(Sets)?;
    Ok(rows)
}

/// Counts the pairs of documents with equal sets.
pub(super) fn count_equal(work: &CallWork) -> Result<i64> {
    // In Citus, the set has the number.
    let by = if work.nodes()?.citus().is_some() { "n" } else { "r" };
    work.number(&format!(
        "SELECT LEAST(COALESCE(sum(m.c * (m.c - 1) / 2), 0), 9223372036854775807)::int8 \
         FROM (SELECT count(*)::numeric AS c FROM {Members} m GROUP BY m.{by} HAVING count(*) > 1) m"
    ))
}

/// Counts the pairs of documents with equal sets, for the state.
pub(crate) fn count_pairs(work: &mut CallWork) -> Result<()> {
    work.state.equal = Some(count_equal(work)?);
    Ok(())
}
