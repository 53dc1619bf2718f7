//! The rows of the parts in which candidates are found, with each distinct set once.

use super::join::JoinStatements;
use super::sets::delete_new;
use super::{IS_FIRST, citus};
use crate::into::step::WorkingTable::{Members, Ranks, Routes, Sets};
use crate::pg::into::nodes::Nodes;
use crate::pg::into::statements::citus::CitusLayout;
use crate::pg::into::statements::parts;
use crate::pg::into::work::CallWork;
use crate::pg::procedure::statement::on;
use crate::pg::request::example::literal;
use crate::pg::server::error::Result;
use crate::pg::server::settings;

/// Fills the table.
pub(crate) fn fill(work: &mut CallWork) -> Result<i64> {
    match work.nodes()? {
        Nodes::Home(Some(_)) => return pack(work),
        Nodes::Citus(layout) => {
            let (rows, bytes) = in_citus(work, layout)?;
            work.moved += bytes;
            return Ok(rows);
        }
        Nodes::Home(None) | Nodes::Fdw(_) => {}
    }
    // Sets and members are distributed alike, so that the servers join them.
    delete_new(work, Routes)?;
    let rows = work.join()?.rows("s.set");
    work.execute(&format!(
        "INSERT INTO {Routes} SELECT g.part, s.n, g.size, g.bitmap, g.prefix \
         FROM (SELECT s.n, s.set FROM {Sets} s JOIN {Members} m ON m.n = s.n WHERE m.r = m.n OFFSET 0) s, {Ranks} o, {rows} g"
    ))
}

/// Makes the rows of all parts from the sets of one part: of as many sets at a time as fit into the
/// memory with their rows, which are there three times while they are stored. Many rows of a part
/// are one row.
fn pack(work: &mut CallWork) -> Result<i64> {
    const SHARE: usize = 8;
    /// The bytes of a row of a part besides the tokens, and a bit more.
    const ROW: i64 = 64;
    let (spread, part) = (work.spread()?, work.claimed.part());
    let sets = spread.open_part(Sets, part)?;
    let members = spread.open_part(Members, part)?;
    let [to, ranks] = work.open([Routes, Ranks])?;
    let packed = work.join()?.packed();
    let bytes = i64::try_from(settings::memory() / SHARE).unwrap_or(i64::MAX);
    // The last numbers of blocks of sets, each of which has about this number of bytes, or one set.
    let blocks = format!(
        "SELECT COALESCE(array_agg(b.last ORDER BY b.last), '{{}}'::int8[])::text \
         FROM (SELECT max(s.n) AS last \
             FROM (SELECT s.n, (sum(s.bytes + {ROW}::int8) OVER (ORDER BY s.n))::int8 / {bytes}::int8 AS block FROM {sets} s) s GROUP BY s.block) b"
    );
    work.give_turn();
    let blocks = on([&sets], blocks).text()?.unwrap_or_default();
    let (mut rows, mut before) = (0, -1);
    for last in parts::numbers(&blocks) {
        let sql = format!(
            "INSERT INTO {to} \
             SELECT (get_byte(r.rows, 0) << 16) + (get_byte(r.rows, 1) << 8) + get_byte(r.rows, 2), r.rows \
             FROM (SELECT {packed} AS packed FROM {sets} s JOIN {members} m ON m.n = s.n, {ranks} o \
                 WHERE m.r = m.n AND s.n > {before}::int8 AND s.n <= {last}::int8 AND m.n > {before}::int8 AND m.n <= {last}::int8) g, \
                 unnest(g.packed) AS r(rows)"
        );
        rows += on([&to, &sets, &members, &ranks], sql).run()?;
        before = last;
    }
    Ok(rows)
}

/// Makes the rows in Citus, where each part has a key, which determines its shard. Returns the
/// number of rows, and of their bytes.
fn in_citus(work: &CallWork, layout: &CitusLayout) -> Result<(i64, i64)> {
    let (sets, join) = (work.spread()?.of_sets(), work.join()?);
    let parts = count_parts(work, join.parts)?;
    let [routes] = work.open([Routes])?;
    let part = match layout.keys(routes.oid, parts)? {
        Some(keys) => format!("({}::int4[])[g.part + 1]", literal(&keys)),
        None => "g.part".to_owned(),
    };
    let rows = JoinStatements { parts, ..join }.rows("m.set");
    let rows = work.execute(&format!(
        "INSERT INTO {Routes} SELECT {part}, m.n, g.size, g.bitmap, g.prefix FROM {sets} m, {Ranks} o, {rows} g WHERE m.{IS_FIRST}"
    ))?;
    Ok((rows, work.bytes_in(Routes)?))
}

/// Returns the number of parts, which is `usual` if the caller wants so many or rows of parts are
/// kept.
fn count_parts(work: &CallWork, usual: i64) -> Result<i64> {
    if work.is_update() || work.call.arguments.names_parts() {
        return Ok(usual);
    }
    let nodes = citus::count_nodes()?;
    Ok(few_parts(usual, nodes, work.log()?.progress.expected(Sets)))
}

/// Returns the number of parts for this number of documents in Citus. Each part costs every
/// document up to a row, so few documents have only a part for each node.
pub(crate) fn few_parts(usual: i64, nodes: i64, documents: i64) -> i64 {
    /// The number of documents for which a part more is made.
    const EACH: i64 = 50_000;
    usual.min(nodes.max(1).max(documents / EACH))
}
