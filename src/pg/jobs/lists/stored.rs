//! Reads the table of lists. Its owner can write anything into it, so all of it is checked.

use pgrx::PgSqlErrorCode;
use pgrx::pg_sys::{self, Datum};

use crate::pg::jobs::hints::ANEW;
use crate::pg::jobs::queries;
use crate::pg::jobs::tables::LIST_COLUMNS;
use crate::pg::procedure::table::Table;
use crate::pg::query::Query;
use crate::pg::query::cursor::OpenCursor;
use crate::pg::query::decode::elements;
use crate::pg::server::call::varlena_bytes;
use crate::pg::server::error::{Result, SqlError};
use crate::pg::server::values::value;
use neardup_core::incremental::digest::OutlineOrder;
use neardup_core::incremental::segment::{BLOCK, MOST_BITS, SegmentDocuments};
use neardup_core::memory;

/// The number of columns of the table of lists.
pub(crate) const COLUMNS: usize = LIST_COLUMNS.len();
/// The approximate number of bytes of documents that are read at a time: most reads are small, and
/// some documents are compared while others are read.
pub(crate) const BATCH: usize = 1 << 18;
/// The purpose of memory that is allocated here, for messages.
pub(crate) const DOING: &str = "outlining documents";

/// Returns the error for lists that this version did not write.
pub(crate) fn damaged(why: &str) -> SqlError {
    let message = format!("lists of the job are damaged: {why}");
    SqlError::new(PgSqlErrorCode::ERRCODE_DATA_CORRUPTED, message).hint(ANEW)
}

/// Returns the result, or None if it is the error for damaged lists. No other code here returns an
/// error with this code: the server's own errors are another variant.
pub(crate) fn unless_damaged<T>(result: Result<T>) -> Result<Option<T>> {
    match result {
        Ok(value) => Ok(Some(value)),
        Err(SqlError::Own { code: PgSqlErrorCode::ERRCODE_DATA_CORRUPTED, .. }) => Ok(None),
        Err(error) => Err(error),
    }
}

/// Reads the order of tokens from a table of lists. Returns None if the table has no usable order.
pub(crate) fn read_order(lists: &Table) -> Result<Option<OutlineOrder>> {
    let Table { oid, name, .. } = lists;
    let sql = queries::of_lists(name, &["data"], &format!("{} LIMIT 2", queries::in_segment('o', 0)));
    let done = Query { relations: &[*oid], ..Query::new(&sql) }.run([pg_sys::BYTEAOID])?;
    match done.first {
        Some(_) if done.rows > 1 => Err(damaged("they have two orders of tokens")),
        // SAFETY: a bytea; this was checked.
        Some([Some(data)]) => Ok(OutlineOrder::from_bytes(unsafe { varlena_bytes(data) })?),
        _ => Ok(None),
    }
}

/// Calls `each` with every row of a table of lists that `rest` selects. `rest` is a condition,
/// which may be followed by an ORDER BY clause.
fn read<const N: usize>(
    lists: &Table,
    columns: [(&str, pg_sys::Oid); N],
    rest: &str,
    mut each: impl FnMut([Datum; N]) -> Result<()>,
) -> Result<()> {
    const ROWS_A_FETCH: usize = 64;
    let Table { oid, name, .. } = lists;
    let sql = queries::of_lists(name, &columns.map(|(name, _)| name), rest);
    let query = Query { relations: &[*oid], ..Query::new(&sql) };
    OpenCursor::open(&query, columns.map(|(_, of)| of))?.for_each(ROWS_A_FETCH, |row| {
        if row.contains(&None) {
            return Err(damaged("something is missing in them"));
        }
        each(row.map(|value| value.unwrap_or(Datum::null())))
    })
}

/// Checks that the numbers of successive rows follow each other, starting at 0.
fn expect(next: &mut usize, part: Datum) -> Result<()> {
    // SAFETY: an int; the cursor checked this.
    let part = unsafe { value::<i32>(part) };
    if part.and_then(|part| usize::try_from(part).ok()) != Some(*next) {
        return Err(damaged("a block is missing"));
    }
    *next += 1;
    Ok(())
}

/// A segment, as described by its row of kind `s`.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Header {
    /// The number of the segment.
    pub segment: i64,
    /// The number of parts, including empty ones: a power of two.
    pub parts: usize,
    /// The number of documents.
    pub documents: usize,
}

/// Reads all segments in the order of their numbers.
pub(crate) fn headers(lists: &Table) -> Result<Vec<Header>> {
    let mut headers: Vec<Header> = Vec::new();
    let columns = [("segment", pg_sys::INT8OID), ("part", pg_sys::INT4OID), ("documents", pg_sys::INT4OID)];
    read(
        lists,
        columns,
        &format!("{} ORDER BY segment", queries::is_kind('s')),
        |[segment, parts, documents]| {
            // SAFETY: numbers of these types; the cursor checked this.
            let (segment, parts, documents) =
                unsafe { (value::<i64>(segment), value::<i32>(parts), value::<i32>(documents)) };
            let parts = parts.and_then(|parts| usize::try_from(parts).ok());
            let parts = parts.filter(|parts| parts.is_power_of_two() && *parts <= 1 << MOST_BITS);
            let documents = documents.and_then(|documents| usize::try_from(documents).ok());
            // The next segment needs a number, too.
            let segment = segment.filter(|&segment| segment < i64::MAX);
            let (Some(segment), Some(parts), Some(documents)) = (segment, parts, documents) else {
                return Err(damaged("a segment has impossible numbers"));
            };
            if headers.last().is_some_and(|last| last.segment == segment) {
                return Err(damaged("two segments have one number"));
            }
            Ok(memory::push(&mut headers, Header { segment, parts, documents }, DOING)?)
        },
    )?;
    Ok(headers)
}

/// Reads the documents of a segment.
pub(crate) fn documents(lists: &Table, header: Header, words: usize) -> Result<SegmentDocuments> {
    let mut documents = SegmentDocuments::new(words);
    let mut next = 0;
    let rest = format!("{} ORDER BY part", queries::in_segment('d', header.segment));
    read(lists, [("part", pg_sys::INT4OID), ("data", pg_sys::BYTEAOID)], &rest, |[block, data]| {
        expect(&mut next, block)?;
        // SAFETY: a bytea; the cursor checked this.
        Ok(documents.push(unsafe { varlena_bytes(data) })?)
    })?;
    if documents.sizes.len() != header.documents {
        return Err(damaged("a segment has not as many documents as it says"));
    }
    Ok(documents)
}

/// Calls `each` with every block of a segment's documents, or with the blocks in `blocks`: the
/// number of the block, and the ids of its documents as text datums.
pub(crate) fn ids(
    lists: &Table,
    segment: i64,
    blocks: Option<&[u32]>,
    mut each: impl FnMut(usize, &[Datum]) -> Result<()>,
) -> Result<()> {
    let mut next = 0;
    let rest = format!("{}{} ORDER BY part", queries::in_segment('i', segment), queries::is_among(blocks));
    read(lists, [("part", pg_sys::INT4OID), ("ids", pg_sys::TEXTARRAYOID)], &rest, |[block, ids]| {
        match blocks.map(|blocks| blocks.get(next)) {
            // SAFETY: an int; the cursor checked this.
            Some(Some(&wanted)) if unsafe { value::<i32>(block) } == i32::try_from(wanted).ok() => next += 1,
            None => expect(&mut next, block)?,
            Some(_) => return Err(damaged("a block is missing")),
        }
        let block = blocks.map_or(next - 1, |blocks| blocks[next - 1] as usize);
        // SAFETY: a text[]; the cursor checked this. The values live as long as the row.
        let (ids, nulls) = unsafe {
            let array = pg_sys::pg_detoast_datum(ids.cast_mut_ptr());
            (elements(Datum::from(array), pg_sys::TEXTOID)?, pg_sys::array_contains_nulls(array.cast()))
        };
        if nulls {
            return Err(damaged("an id is missing"));
        }
        if ids.len() > BLOCK {
            return Err(damaged("a block is too large"));
        }
        each(block, &ids)
    })?;
    if blocks.is_some_and(|blocks| next < blocks.len()) {
        return Err(damaged("a block is missing"));
    }
    Ok(())
}

/// Calls `each` with the parts of a segment that are not empty: the parts with the numbers in
/// `parts`, in any order, or all parts.
pub(crate) fn parts(
    lists: &Table,
    segment: i64,
    parts: Option<&[u32]>,
    mut each: impl FnMut(Vec<u8>) -> Result<()>,
) -> Result<()> {
    let rest = format!("{}{}", queries::in_segment('l', segment), queries::is_among(parts));
    read(lists, [("data", pg_sys::BYTEAOID)], &rest, |[data]| {
        let mut part = Vec::new();
        // SAFETY: a bytea; the cursor checked this.
        memory::extend(&mut part, unsafe { varlena_bytes(data) }, DOING)?;
        each(part)
    })
}
