//! The tables that the caller named, made from working tables: pairs of documents from pairs of
//! numbers.

use super::join::JoinStatements;
use super::members;
use crate::into::step::WorkingTable;
use crate::pg::into::work::CallWork;
use crate::pg::procedure::statement::Statement;
use crate::pg::procedure::statement::on;
use crate::pg::procedure::table::Table;
use crate::pg::query::as_user::set;
use crate::pg::request::example::literal;
use crate::pg::server::error::Result;

/// Opens the table that has the documents, by the numbers of their sets, and the pairs of numbers.
/// What is brought up to date has all documents in the table of known ones.
fn sources(work: &CallWork) -> Result<[Table; 2]> {
    let by_numbers = work.is_update() && work.nodes()?.citus().is_none();
    work.open([if by_numbers { WorkingTable::Known } else { WorkingTable::Members }, WorkingTable::Pairs])
}

/// Returns a query for all pairs, with the lesser id first. Documents with equal sets have
/// similarity 1; the greater number of two of them is not that of the document that represents
/// them, so that few documents are joined with all others. If passages are found, each document is
/// a record, and the one with the lesser number has the lesser id.
fn all(join: &JoinStatements, members: &Table, pairs: &Table) -> String {
    if join.passages {
        let (found, rows) = join.found("p.similarity");
        return format!(
            "SELECT a.id AS left_id, b.id AS right_id, {found} FROM {pairs} p JOIN {members} a ON a.r = p.l JOIN {members} b ON b.r = p.r{rows}"
        );
    }
    format!(
        "WITH m AS MATERIALIZED (SELECT m.n, m.r, m.id FROM {members} m) \
         SELECT LEAST(a.id, b.id) AS left_id, GREATEST(a.id, b.id) AS right_id, p.similarity FROM {pairs} p JOIN m a ON a.r = p.l JOIN m b ON b.r = p.r \
         UNION ALL SELECT LEAST(a.id, b.id), GREATEST(a.id, b.id), 1::float8 FROM m a JOIN m b ON b.r = a.r WHERE b.n <> b.r AND a.n < b.n"
    )
}

/// Counts all pairs; the count may stop at one more than the caller wants.
pub(crate) fn count_pairs(work: &mut CallWork) -> Result<()> {
    work.nodes()?.reach(None);
    set(c"enable_nestloop", c"off");
    let [members, pairs] = sources(work)?;
    let join = work.join()?;
    if work.nodes()?.citus().is_some() {
        work.state.total = Some(count_in_citus(work, join.passages, &members, &pairs)?);
        return Ok(());
    }
    let most = work.state.call.max_pairs.unwrap_or(i64::MAX).saturating_add(1);
    let all = all(&join, &members, &pairs);
    let sql = format!("SELECT count(*) FROM (SELECT FROM ({all}) p LIMIT {most}) p");
    work.state.total = on([&members, &pairs], sql).number()?.or(Some(0));
    Ok(())
}

/// Counts all pairs in Citus: first those of sets, with the number of documents that have the right
/// set, or with the number of passages, for which each document is a record.
fn count_in_citus(work: &CallWork, passages: bool, members: &Table, pairs: &Table) -> Result<i64> {
    let spread = work.spread()?;
    let counted = spread.made(WorkingTable::Counted)?;
    let count = if passages { "octet_length(p.similarity) / 36" } else { "b.count" };
    let right = format!(
        "INSERT INTO {counted} SELECT p.l, {count} FROM {pairs} p JOIN (SELECT m.n, count(*) AS count FROM {members} m GROUP BY m.n) b ON b.n = p.r"
    );
    on([&counted, pairs, members], right).run()?;
    let both = format!(
        "SELECT LEAST(COALESCE(sum(x.count::numeric * a.count::numeric), 0), 9223372036854775807)::int8 \
         FROM {counted} x JOIN (SELECT m.n, count(*) AS count FROM {members} m GROUP BY m.n) a ON a.n = x.l"
    );
    let unequal = on([&counted, members], both).number()?.unwrap_or_default();
    spread.drop(WorkingTable::Counted)?;
    Ok(unequal.saturating_add(members::count_equal(work, members)?))
}

/// Fills the table of pairs, and returns the number of pairs.
pub(crate) fn fill_pairs(work: &CallWork, result: &Table) -> Result<i64> {
    work.nodes()?.reach(None);
    let [members, pairs] = sources(work)?;
    let join = work.join()?;
    if work.nodes()?.citus().is_some() {
        return fill_in_citus(work, &join, result, [&members, &pairs]);
    }
    let all = all(&join, &members, &pairs);
    on([result, &members, &pairs], format!("INSERT INTO {result} {all}")).run()
}

/// Fills the table of pairs in Citus: the right documents of pairs are found where they are, then
/// the left ones.
fn fill_in_citus(
    work: &CallWork,
    join: &JoinStatements,
    result: &Table,
    [members, pairs]: [&Table; 2],
) -> Result<i64> {
    let spread = work.spread()?;
    let named = spread.made(WorkingTable::Named)?;
    let right = format!(
        "INSERT INTO {named} SELECT p.l, b.id, p.similarity FROM {pairs} p JOIN {members} b ON b.n = p.r"
    );
    on([&named, pairs, members], right).run()?;
    let (found, rows) = join.found("u.similarity");
    // Documents with equal texts are compared for their passages; other ones that have equal sets
    // are pairs. Both queries have the number by which they are where the rows are.
    let equal = if join.passages {
        String::new()
    } else {
        format!(
            " UNION ALL SELECT a.n, a.id, b.id, 1::float8 FROM {members} a JOIN {members} b ON b.n = a.n WHERE b.r > 1::int8 AND a.r < b.r"
        )
    };
    let both = format!(
        "INSERT INTO {result} SELECT LEAST(u.a, u.b), GREATEST(u.a, u.b), {found} \
         FROM (SELECT a.n, a.id AS a, x.id AS b, x.similarity FROM {named} x JOIN {members} a ON a.n = x.l{equal}) u{rows}"
    );
    let rows = on([result, &named, members], both).run()?;
    spread.drop(WorkingTable::Named)?;
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
