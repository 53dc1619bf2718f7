//! Ranks of rows from a query.

use pgrx::pg_sys;

use super::source::DocumentSource;
use crate::pg::query::Query;
use crate::pg::query::cursor::OpenCursor;
use crate::pg::query::ids::RowIds;
use crate::pg::server::error::Result;
use crate::pg::server::values::value;

/// Reads the ranks of rows from the query `sql` on `source`, which returns ids and ranks. `order`
/// lists the rows in the order of their ids, and `best` receives the ranks in the same order.
pub(crate) fn read_ranks(
    sql: &str,
    source: &DocumentSource,
    ids: &RowIds,
    order: &[u32],
    best: &mut [i64],
) -> Result<()> {
    const ROWS_A_FETCH: usize = 1 << 10;
    let query = Query { relations: &[source.oid], ..Query::new(sql) };
    OpenCursor::open(&query, [ids.type_oid(), pg_sys::INT8OID])?.for_each(ROWS_A_FETCH, |[id, rank]| {
        let (Some(id), Some(rank)) = (id, rank) else { return Ok(()) };
        // SAFETY: the cursor checked that ids are of their type, and ranks bigint.
        unsafe {
            if let Some(vertex) = ids.find(order, id) {
                best[vertex] = value(rank).unwrap_or(i64::MAX);
            }
        }
        Ok(())
    })
}
