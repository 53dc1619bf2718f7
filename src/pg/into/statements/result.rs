//! The tables that the caller named, made from working tables: pairs of documents from pairs of
//! numbers.

use super::join::JoinStatements;
use super::members;
use super::stars::counts;
use crate::into::step::WorkingTable::{self, Counted, Known, Members, Named, Pairs};
use crate::pg::into::work::CallWork;
use crate::pg::procedure::statement::Statement;
use crate::pg::procedure::statement::on;
use crate::pg::procedure::table::Table;
use crate::pg::query::as_user::set;
use crate::pg::request::example::literal;
use crate::pg::server::error::Result;

/// Returns the table that has the documents, by the numbers of their sets. What is brought up to
/// date has all documents in the table of known ones.
fn documents(work: &CallWork) -> Result<WorkingTable> {
    let by_numbers = work.is_update() && work.nodes()?.citus().is_none();
    Ok(if by_numbers { Known } else { Members })
}

/// Returns a query for all pairs, with the lesser id first. Documents with equal sets have
/// similarity 1; the greater number of two of them is not that of the document that represents
/// them, so that few documents are joined with all others. If passages are found, each document is
/// a record, and the one with the lesser number has the lesser id.
fn all(join: &JoinStatements, members: WorkingTable) -> String {
    if join.passages {
        let (found, rows) = join.found("p.similarity");
        return format!(
            "SELECT a.id AS left_id, b.id AS right_id, {found} FROM {Pairs} p JOIN {members} a ON a.r = p.l JOIN {members} b ON b.r = p.r{rows}"
        );
    }
    format!(
        "WITH m AS MATERIALIZED (SELECT m.n, m.r, m.id FROM {members} m) \
         SELECT LEAST(a.id, b.id) AS left_id, GREATEST(a.id, b.id) AS right_id, p.similarity FROM {Pairs} p JOIN m a ON a.r = p.l JOIN m b ON b.r = p.r \
         UNION ALL SELECT LEAST(a.id, b.id), GREATEST(a.id, b.id), 1::float8 FROM m a JOIN m b ON b.r = a.r WHERE b.n <> b.r AND a.n < b.n"
    )
}

/// Counts all pairs; the count may stop at one more than the caller wants.
pub(crate) fn count_pairs(work: &mut CallWork) -> Result<()> {
    work.nodes()?.reach(None);
    set(c"enable_nestloop", c"off");
    let join = work.join()?;
    work.state.total = Some(if work.nodes()?.citus().is_some() {
        count_in_citus(work, join.passages)?
    } else {
        let most = work.state.call.max_pairs.unwrap_or(i64::MAX).saturating_add(1);
        let all = all(&join, documents(work)?);
        work.number(&format!("SELECT count(*) FROM (SELECT FROM ({all}) p LIMIT {most}) p"))?
    });
    Ok(())
}

/// Counts all pairs in Citus: first those of sets, with the number of documents that have the right
/// set, or with the number of passages, for which each document is a record.
fn count_in_citus(work: &CallWork, passages: bool) -> Result<i64> {
    let spread = work.spread()?;
    spread.make(Counted)?;
    let (count, counts) = (if passages { "octet_length(p.similarity) / 36" } else { "b.count" }, counts());
    work.execute(&format!(
        "INSERT INTO {Counted} SELECT p.l, {count} FROM {Pairs} p JOIN {counts} b ON b.n = p.r"
    ))?;
    let unequal = work.number(&format!(
        "SELECT LEAST(COALESCE(sum(x.count::numeric * a.count::numeric), 0), 9223372036854775807)::int8 \
         FROM {Counted} x JOIN {counts} a ON a.n = x.l"
    ))?;
    spread.drop(Counted)?;
    Ok(unequal.saturating_add(members::count_equal(work)?))
}

/// Fills the table of pairs, and returns the number of pairs.
pub(crate) fn fill_pairs(work: &CallWork, result: &Table) -> Result<i64> {
    work.nodes()?.reach(None);
    let join = work.join()?;
    if work.nodes()?.citus().is_some() {
        return fill_in_citus(work, &join, result);
    }
    let all = all(&join, documents(work)?);
    work.statement(&format!("INSERT INTO {result} {all}"))?.about([result.oid]).run()
}

/// Fills the table of pairs in Citus: the right documents of pairs are found where they are, then
/// the left ones.
fn fill_in_citus(work: &CallWork, join: &JoinStatements, result: &Table) -> Result<i64> {
    let spread = work.spread()?;
    spread.make(Named)?;
    work.execute(&format!(
        "INSERT INTO {Named} SELECT p.l, b.id, p.similarity FROM {Pairs} p JOIN {Members} b ON b.n = p.r"
    ))?;
    let (found, rows) = join.found("u.similarity");
    // Documents with equal texts are compared for their passages; other ones that have equal sets
    // are pairs. Both queries have the number by which they are where the rows are.
    let equal = if join.passages {
        String::new()
    } else {
        format!(
            " UNION ALL SELECT a.n, a.id, b.id, 1::float8 FROM {Members} a JOIN {Members} b ON b.n = a.n WHERE b.r > 1::int8 AND a.r < b.r"
        )
    };
    let both = format!(
        "INSERT INTO {result} SELECT LEAST(u.a, u.b), GREATEST(u.a, u.b), {found} \
         FROM (SELECT a.n, a.id AS a, x.id AS b, x.similarity FROM {Named} x JOIN {Members} a ON a.n = x.l{equal}) u{rows}"
    );
    let rows = work.statement(&both)?.about([result.oid]).run()?;
    spread.drop(Named)?;
    Ok(rows)
}

/// Fills a table with rows that the library supplies. Runs with the search path of the caller, like
/// all reading of documents, and so qualifies all names with their schemas.
pub(crate) fn supply(table: &Table, rows: &str) -> String {
    format!("INSERT INTO {table} SELECT f.* FROM {rows}")
}

/// Fills a table with rows that the library supplies.
pub(crate) fn fill(table: &Table, rows: &str) -> Statement {
    on([table], supply(table, rows))
}

/// Returns the query for all pairs of a result, as an SQL expression.
pub(crate) fn every_pair(result: &Table) -> String {
    literal(&format!("SELECT p.left_id, p.right_id, p.similarity FROM {result} p"))
}

/// Makes a table equal to another one with the same columns, changing only rows that differ.
/// `is_same` compares a row `p` of the table with a row `f` of the other one.
pub(crate) fn become_equal(table: &Table, other: &Table, is_same: &str) -> Result<()> {
    let delete = format!("DELETE FROM {table} p WHERE NOT EXISTS (SELECT 1 FROM {other} f WHERE {is_same})");
    on([table, other], delete).run()?;
    let insert = format!(
        "INSERT INTO {table} SELECT f.* FROM {other} f WHERE NOT EXISTS (SELECT 1 FROM {table} p WHERE {is_same})"
    );
    on([table, other], insert).run().map(|_| ())
}
