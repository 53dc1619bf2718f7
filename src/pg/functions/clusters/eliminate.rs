//! `eliminate`: lists the rows to remove, and for each of them the row that is kept instead
//! (docs/reference/functions.md).

use pgrx::check_for_interrupts;
use pgrx::pg_sys::Datum;

use super::near_duplicate_clusters::Joining;
use crate::pg::functions::pairs::near_duplicates;
use crate::pg::query::ids::{OrderedIds, RowIds, RowPlaces};
use crate::pg::query::relation::Relation;
use crate::pg::read::documents::read_ranks;
use crate::pg::request::example::{did_you_mean, literal, named};
use crate::pg::request::form::{Argument, ELIMINATE, Named};
use crate::pg::request::{Request, such_as};
use crate::pg::server::call::{FunctionCall, sql_functions};
use crate::pg::server::error::{Result, SqlError};
use crate::pg::server::executor::BackendExecutor;
use crate::pg::server::set_returning::{self, RowSource, Rows, float};
use crate::pg::server::temp_file::ServerFiles;
use neardup_core::clusters::leaders::{Leaders, leaders};
use neardup_core::clusters::needed::Purpose;
use neardup_core::memory;

sql_functions! {
    /// `eliminate(docs, threshold, …)`
    neardup_eliminate: answer;
}

fn answer(call: FunctionCall) -> Result<Datum> {
    set_returning::answer(call, || {
        let arguments = ELIMINATE.bind(call);
        let request = Request::new(arguments)?;
        let keep = arguments.text(Argument::Keep)?;
        let order = order_to_keep(arguments, keep.as_deref(), &request)?;
        // `longest` is also the rule if the caller names no rule.
        if keep.is_none_or(|keep| keep == "longest")
            && let Some((vertices, leaders)) = near_duplicates::eliminated(&request)?
        {
            return Ok(eliminated(vertices, leaders));
        }
        let files = ServerFiles::in_current_context();
        let mut joining = Joining::new(&request)?;
        let of_rows = |ids: &RowIds, executor: &BackendExecutor| {
            let by_id = ids.order_if_any(executor)?;
            let ranks = ranks(ids, &by_id, order.as_deref(), &request)?;
            if by_id.is_empty() {
                return Ok(RowPlaces(ranks));
            }
            let mut of_rows = memory::filled(0, ranks.len(), RANKING)?;
            by_id.iter().zip(ranks).for_each(|(&row, rank)| of_rows[row as usize] = rank);
            Ok(RowPlaces(of_rows))
        };
        let known = joining.needed(&files, Purpose::Leaders, of_rows)?;
        let (mut joined, rows) = joining.graph(&files, false)?;
        let OrderedIds { ids, order: by_id } = &joined.vertices;
        let rank = match known {
            Some(ranks) => memory::collect(rows.iter().map(|&row| ranks.place_of(row)), RANKING)?,
            None => ranks(ids, by_id, order.as_deref(), &request)?,
        };
        drop(rows);
        let leaders = leaders(&mut joined.graph, &rank, &joined.executor)?;
        Ok(eliminated(joined.vertices, leaders))
    })
}

const RANKING: &str = "ranking documents";

/// Returns the ranks, from 0, of rows that are listed in the order of their ids; none are all rows,
/// which are in this order. A row to keep first has a lesser rank. The ids decide between equals,
/// and alone if there is no `order`.
fn ranks(ids: &RowIds, rows: &[u32], order: Option<&str>, request: &Request) -> Result<Vec<u32>> {
    let count = if rows.is_empty() { ids.len() } else { rows.len() };
    let Some(order) = order else { return Ok(memory::collect(0..count as u32, RANKING)?) };
    let mut ranks = memory::filled(0u32, count, RANKING)?;
    let sql = format!(
        "SELECT {}, pg_catalog.dense_rank() OVER (ORDER BY {order} NULLS LAST) FROM {} AS d",
        request.left.id, request.left.table
    );
    read_ranks(&sql, &request.left, ids, rows, |place, rank| {
        ranks[place] = rank.clamp(0, u32::MAX.into()) as u32
    })?;
    // The number of rows of each rank, and then the place of the next one.
    let greatest = ranks.iter().copied().max().unwrap_or(0);
    let mut next = memory::filled(0u32, greatest as usize + 2, RANKING)?;
    ranks.iter().for_each(|&rank| next[rank as usize + 1] += 1);
    (1..next.len()).for_each(|rank| next[rank] += next[rank - 1]);
    for rank in &mut ranks {
        let place = &mut next[*rank as usize];
        *rank = *place;
        *place += 1;
    }
    Ok(ranks)
}

/// Returns the SQL expression that orders the rows so that the rows to keep come first, or `None`
/// if the order of the ids decides.
fn order_to_keep(arguments: Named<'_>, keep: Option<&str>, request: &Request) -> Result<Option<String>> {
    let is_sketch = request.left.kind.sketches().is_some();
    let (column, direction) = match keep {
        // All sketches have the same length.
        None | Some("longest") if is_sketch => return Ok(None),
        None | Some("longest") => {
            return Ok(Some(format!("pg_catalog.length({}::pg_catalog.text) DESC", request.left.column)));
        }
        Some("first") => return Ok(None),
        Some(keep) => match keep.split_once(':') {
            Some(("min", column)) => (column, "ASC"),
            Some(("max", column)) => (column, "DESC"),
            _ => {
                let example = request.example.with("keep", literal("first"));
                return Err(SqlError::parameter(format!("unknown keep rule \"{keep}\"")).hint(format!(
                    "{}Rules: longest, first, min:column, max:column. {}",
                    did_you_mean(keep, ["longest", "first"]),
                    such_as(&example)
                )));
            }
        },
    };
    let relation = Relation::open(arguments.need(Argument::Docs)?)?;
    let column = named(&relation, column, "keep", &request.example.with("keep", literal("first")))?;
    Ok(Some(format!("d.{} {direction}", column.quoted()?)))
}

/// Returns the rows that would be removed, in the order of their ids.
fn eliminated(vertices: OrderedIds, leaders: Leaders) -> impl RowSource<3> {
    const CHECK_EVERY: u32 = 1 << 16;
    let row = move |(vertex, (leader, similarity)): (u32, (u32, f64))| {
        if vertex.is_multiple_of(CHECK_EVERY) {
            check_for_interrupts!();
        }
        (leader != vertex).then(|| Ok([vertices.at(vertex), vertices.at(leader), float(similarity)]))
    };
    let all = leaders.of.into_iter().zip(leaders.similarity);
    Rows(["id", "kept_id", "similarity"], (0..).zip(all).filter_map(row))
}
