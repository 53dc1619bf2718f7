//! What the table of lists has, read again.

use pgrx::pg_sys::{self, Datum};
use pgrx::{PgMemoryContexts, check_for_interrupts};

use crate::candidates::delta::order::Order;
use crate::candidates::delta::segment::Documents;
use crate::memory;
use crate::pg::call::varlena_bytes;
use crate::pg::cursor::Cursor;
use crate::pg::error::{Result, SqlError};
use crate::pg::query::Query;

/// What takes memory here.
pub const DOING: &str = "outlining documents";

/// The error where the order of tokens is of no use.
pub fn no_order() -> SqlError {
    SqlError::parameter("the lists of the job are of another version")
}

/// The order of tokens that a table of lists has; none if it has none of use.
pub fn read_order(lists: &str) -> Result<Option<Order>> {
    let sql = format!("SELECT data FROM {lists} WHERE kind = 'o' LIMIT 1");
    match Query::new(&sql).run([pg_sys::BYTEAOID])?.first {
        // SAFETY: a bytea, as was checked.
        Some([Some(data)]) => Ok(Order::from_bytes(unsafe { varlena_bytes(data) })?),
        _ => Ok(None),
    }
}

/// Calls `each` with the rows that a query gives, which have no NULL.
pub fn read<const N: usize>(
    sql: &str,
    types: [pg_sys::Oid; N],
    mut each: impl FnMut([Datum; N]) -> Result<()>,
) -> Result<()> {
    const ROWS_A_FETCH: usize = 64;
    let mut cursor = Cursor::open(&Query::new(sql), types)?;
    // Detoasted copies live here until their row is done.
    let mut context = PgMemoryContexts::new("neardup: reading lists");
    loop {
        check_for_interrupts!();
        let mut fetched = 0;
        for row in cursor.fetch(ROWS_A_FETCH)? {
            fetched += 1;
            let row = row.map(|value| value.unwrap_or(Datum::null()));
            // SAFETY: what is kept of a row are copies.
            unsafe {
                context.switch_to(|_| each(row))?;
                context.reset();
            }
        }
        if fetched == 0 {
            return Ok(());
        }
    }
}

/// A segment as its row of kind `s` says.
#[derive(Debug, Clone, Copy)]
pub struct Header {
    /// Its number.
    pub segment: i64,
    /// How many parts it has, empty ones as well.
    pub parts: usize,
    /// How many documents it has.
    pub documents: usize,
}

/// All segments, by number.
pub fn headers(lists: &str) -> Result<Vec<Header>> {
    let mut headers = Vec::new();
    let sql = format!("SELECT segment, part, documents FROM {lists} WHERE kind = 's' ORDER BY segment");
    read(&sql, [pg_sys::INT8OID, pg_sys::INT4OID, pg_sys::INT4OID], |[segment, parts, documents]| {
        let (parts, documents) = (parts.value(), documents.value());
        Ok(memory::push(&mut headers, Header { segment: segment.value() as i64, parts, documents }, DOING)?)
    })?;
    Ok(headers)
}

/// The documents of a segment.
pub fn documents(lists: &str, Header { segment, documents, .. }: Header, words: usize) -> Result<Documents> {
    let mut documents = Documents::new(words, documents)?;
    let sql = format!("SELECT data FROM {lists} WHERE kind = 'd' AND segment = {segment} ORDER BY part");
    read(&sql, [pg_sys::BYTEAOID], |[data]| {
        // SAFETY: a bytea.
        Ok(documents.push(unsafe { varlena_bytes(data) })?)
    })?;
    Ok(documents)
}

/// Calls `each` with the ids of a segment's documents, by block: its number, and text datums.
pub fn ids(
    lists: &str,
    segment: i64,
    blocks: Option<&[u32]>,
    mut each: impl FnMut(usize, &[Datum]) -> Result<()>,
) -> Result<()> {
    let only = blocks.map_or_else(String::new, among);
    let sql =
        format!("SELECT part, ids FROM {lists} WHERE kind = 'i' AND segment = {segment}{only} ORDER BY part");
    read(&sql, [pg_sys::INT4OID, pg_sys::TEXTARRAYOID], |[block, ids]| {
        let (mut values, mut nulls, mut count) = (std::ptr::null_mut(), std::ptr::null_mut(), 0);
        // SAFETY: a text[] without NULLs; the values live as long as the row.
        let values = unsafe {
            pg_sys::deconstruct_array(
                pg_sys::pg_detoast_datum(ids.cast_mut_ptr()).cast(),
                pg_sys::TEXTOID,
                -1,
                false,
                pg_sys::TYPALIGN_INT as std::ffi::c_char,
                &raw mut values,
                &raw mut nulls,
                &raw mut count,
            );
            std::slice::from_raw_parts(values, count as usize)
        };
        each(block.value(), values)
    })
}

/// Calls `each` with parts of a segment that are not empty: with `parts` of them, in any order, or with all.
pub fn parts(
    lists: &str,
    segment: i64,
    parts: Option<&[u32]>,
    mut each: impl FnMut(Vec<u8>) -> Result<()>,
) -> Result<()> {
    let only = parts.map_or_else(String::new, among);
    let sql = format!("SELECT data FROM {lists} WHERE kind = 'l' AND segment = {segment}{only}");
    read(&sql, [pg_sys::BYTEAOID], |[data]| {
        let mut part = Vec::new();
        // SAFETY: a bytea.
        memory::extend(&mut part, unsafe { varlena_bytes(data) }, DOING)?;
        each(part)
    })
}

/// The condition that a part is one of these.
fn among(parts: &[u32]) -> String {
    let list: Vec<String> = parts.iter().map(u32::to_string).collect();
    format!(" AND part = ANY ('{{{}}}'::int[])", list.join(","))
}
