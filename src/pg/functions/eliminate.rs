//! `eliminate`: which rows to remove, and for which kept row (docs/reference/functions.md).

use pgrx::pg_sys::{self, Datum};
use pgrx::{PgMemoryContexts, check_for_interrupts};

use super::clusters::{ARGUMENTS_OF_JOIN, Joined, value};
use super::near_duplicates;
use crate::clusters::leaders::{Leaders, leaders, rank_by};
use crate::memory;
use crate::pg::query::Query;
use crate::pg::query::cursor::Cursor;
use crate::pg::query::ids::Ids;
use crate::pg::query::relation::Relation;
use crate::pg::read::source::Source;
use crate::pg::request::example::literal;
use crate::pg::request::{Form, Request, such_as};
use crate::pg::server::call::{Call, sql_function};
use crate::pg::server::error::{Result, SqlError};
use crate::pg::server::set_returning::{self, Rows};
use crate::pg::server::temp_file::ServerFiles;

sql_function! {
    /// `eliminate(docs, threshold, …)`
    neardup_eliminate, pg_finfo_neardup_eliminate, |call| answer(call, false)
}
sql_function! {
    /// `eliminate(docs, threshold, id_type, …)`
    neardup_eliminate_typed, pg_finfo_neardup_eliminate_typed, |call| answer(call, true)
}

fn answer(call: Call, typed: bool) -> Result<Datum> {
    set_returning::answer(call, || {
        let request = Request::new(call, Form { name: "eliminate", relations: 1, typed })?;
        let order = order_to_keep(call, typed, &request)?;
        if keeps_longest(call, typed)?
            && let Some((ids, order, leaders)) = near_duplicates::eliminated(&request)?
        {
            return Ok(Eliminated { ids, order, leaders, next: 0 });
        }
        let files = ServerFiles::in_current_context();
        let mut joined = Joined::new(&request, &files)?;
        let vertices = joined.order.len();
        // Vertices are in the order of ids already: that is the rule where no other is given.
        let mut best = memory::filled(0i64, vertices, "ranking documents")?;
        if let Some(order) = order {
            let sql = format!(
                "SELECT {}, pg_catalog.dense_rank() OVER (ORDER BY {order} NULLS LAST) FROM {} AS d",
                request.left.id, request.left.table
            );
            read_ranks(&sql, &request.left, &joined.ids, &joined.order, &mut best)?;
        }
        let rank = rank_by(vertices, |vertex| (best[vertex as usize], vertex), &joined.workers)?;
        let leaders = leaders(&mut joined.edges, &rank, &joined.workers)?;
        Ok(Eliminated { ids: joined.ids, order: joined.order, leaders, next: 0 })
    })
}

/// Whether the longest documents are to stay.
fn keeps_longest(call: Call, typed: bool) -> Result<bool> {
    let keep = call.text(ARGUMENTS_OF_JOIN + usize::from(typed))?;
    Ok(keep.is_none_or(|keep| keep == "longest"))
}

/// What rows are ordered by so that the ones to keep come first; none for the order of ids.
fn order_to_keep(call: Call, typed: bool, request: &Request) -> Result<Option<String>> {
    let keep = call.text(ARGUMENTS_OF_JOIN + usize::from(typed))?;
    let (column, direction) = match keep.as_deref() {
        None | Some("longest") => {
            return Ok(Some(format!("pg_catalog.length({}::pg_catalog.text) DESC", request.left.column)));
        }
        Some("first") => return Ok(None),
        Some(keep) => match keep.split_once(':') {
            Some(("min", column)) => (column, "ASC"),
            Some(("max", column)) => (column, "DESC"),
            _ => {
                let example = request.example.with("keep", literal("first"));
                return Err(SqlError::parameter(format!("unknown keep rule \"{keep}\""))
                    .hint(format!("Rules: longest, first, min:column, max:column. {}", such_as(&example))));
            }
        },
    };
    let relation = Relation::open(call.need(0, "docs")?)?;
    let column = relation.named(column, "keep").map_err(|error| {
        let example = request.example.with("keep", literal("first"));
        error.hint(format!("{} Columns: {}.", such_as(&example), relation.column_names()))
    })?;
    Ok(Some(format!("d.{} {direction}", column.quoted()?)))
}

/// Reads numbers of rows from a query on a source that gives these with their ids.
pub fn read_ranks(sql: &str, source: &Source, ids: &Ids, order: &[u32], best: &mut [i64]) -> Result<()> {
    const ROWS_A_FETCH: usize = 1 << 10;
    let query = Query { relations: &[source.oid], ..Query::new(sql) };
    let mut cursor = Cursor::open(&query, [ids.type_oid(), pg_sys::INT8OID])?;
    let mut context = PgMemoryContexts::new("neardup: ranks");
    loop {
        check_for_interrupts!();
        let mut fetched = 0;
        for [id, rank] in cursor.fetch(ROWS_A_FETCH)? {
            fetched += 1;
            let (Some(id), Some(rank)) = (id, rank) else { continue };
            // SAFETY: the cursor checked that ids are of their type, and ranks bigint.
            unsafe {
                let vertex = context.switch_to(|_| ids.find(order, id));
                context.reset();
                if let Some(vertex) = vertex {
                    best[vertex] = value(rank).unwrap_or(i64::MAX);
                }
            }
        }
        if fetched == 0 {
            return Ok(());
        }
    }
}

/// The rows that would be removed, in the order of their ids.
struct Eliminated {
    ids: Ids,
    order: Vec<u32>,
    leaders: Leaders,
    next: u32,
}

impl Rows<3> for Eliminated {
    fn next(&mut self) -> Result<Option<[Datum; 3]>> {
        const CHECK_EVERY: u32 = 1 << 16;
        while let Some(&leader) = self.leaders.of.get(self.next as usize) {
            let vertex = self.next;
            self.next += 1;
            if self.next.is_multiple_of(CHECK_EVERY) {
                check_for_interrupts!();
            }
            if leader != vertex {
                let id = |vertex: u32| self.ids.datum(self.order[vertex as usize]);
                let similarity = self.leaders.similarity[vertex as usize];
                return Ok(Some([id(vertex), id(leader), Datum::from(similarity.to_bits())]));
            }
        }
        Ok(None)
    }
}
