//! What the table of lists has, read again. Its owner can write anything into it, so all is checked.

use pgrx::PgSqlErrorCode;
use pgrx::pg_sys::{self, Datum};

use crate::joins::incremental::outline_order::OutlineOrder;
use crate::joins::incremental::segment::{BLOCK, MOST_BITS, SegmentDocuments};
use crate::memory;
use crate::pg::jobs::hints::ANEW;
use crate::pg::jobs::queries;
use crate::pg::jobs::tables::columns::LIST_COLUMNS;
use crate::pg::procedure::table::Table;
use crate::pg::query::Query;
use crate::pg::query::cursor::Cursor;
use crate::pg::query::decode::elements;
use crate::pg::server::call::varlena_bytes;
use crate::pg::server::error::{Result, SqlError};
use crate::pg::server::values::value;

/// How many columns the table of lists has, and their types.
pub(crate) const COLUMNS: usize = LIST_COLUMNS.len();
pub(crate) const TYPES: [pg_sys::Oid; COLUMNS] = {
    let [a, b, c, d, e, f] = LIST_COLUMNS;
    [a.1, b.1, c.1, d.1, e.1, f.1]
};
/// About how many bytes of documents are read at one time: most have few, and some are to be compared while others are
/// read.
pub(crate) const BATCH: usize = 1 << 18;
/// What takes memory here.
pub(crate) const DOING: &str = "outlining documents";

/// The error where lists are not what this version wrote.
pub(crate) fn damaged(why: &str) -> SqlError {
    let message = format!("lists of the job are damaged: {why}");
    SqlError::new(PgSqlErrorCode::ERRCODE_DATA_CORRUPTED, message).hint(ANEW)
}

/// None where lists are damaged. Nothing else here gives an error of this kind: those of the server are not ours.
pub(crate) fn unless_damaged<T>(result: Result<T>) -> Result<Option<T>> {
    match result {
        Ok(value) => Ok(Some(value)),
        Err(SqlError::Own { code: PgSqlErrorCode::ERRCODE_DATA_CORRUPTED, .. }) => Ok(None),
        Err(error) => Err(error),
    }
}

/// The order of tokens that a table of lists has; none if it has none of use.
pub(crate) fn read_order(lists: &Table) -> Result<Option<OutlineOrder>> {
    let Table { oid, name, .. } = lists;
    let sql = queries::of_lists(name, &["data"], &format!("{} LIMIT 2", queries::in_segment('o', 0)));
    let done = Query { relations: &[*oid], ..Query::new(&sql) }.run([pg_sys::BYTEAOID])?;
    match done.first {
        Some(_) if done.rows > 1 => Err(damaged("they have two orders of tokens")),
        // SAFETY: a bytea, as was checked.
        Some([Some(data)]) => Ok(OutlineOrder::from_bytes(unsafe { varlena_bytes(data) })?),
        _ => Ok(None),
    }
}

/// Calls `each` with what a condition and an order say of a table of lists.
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
    Cursor::open(&query, columns.map(|(_, of)| of))?.for_each(ROWS_A_FETCH, |row| {
        if row.contains(&None) {
            return Err(damaged("something is missing in them"));
        }
        each(row.map(|value| value.unwrap_or(Datum::null())))
    })
}

/// Counts numbers that follow each other from 0.
fn expect(next: &mut usize, part: Datum) -> Result<()> {
    // SAFETY: an int, as the cursor checked.
    let part = unsafe { value::<i32>(part) };
    if part.and_then(|part| usize::try_from(part).ok()) != Some(*next) {
        return Err(damaged("a block is missing"));
    }
    *next += 1;
    Ok(())
}

/// A segment as its row of kind `s` says.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Header {
    /// Its number.
    pub segment: i64,
    /// How many parts it has, empty ones as well: a power of two.
    pub parts: usize,
    /// How many documents it has.
    pub documents: usize,
}

/// All segments, by number.
pub(crate) fn headers(lists: &Table) -> Result<Vec<Header>> {
    let mut headers: Vec<Header> = Vec::new();
    let columns = [("segment", pg_sys::INT8OID), ("part", pg_sys::INT4OID), ("documents", pg_sys::INT4OID)];
    read(
        lists,
        columns,
        &format!("{} ORDER BY segment", queries::is_kind('s')),
        |[segment, parts, documents]| {
            // SAFETY: numbers of these types, as the cursor checked.
            let (segment, parts, documents) =
                unsafe { (value::<i64>(segment), value::<i32>(parts), value::<i32>(documents)) };
            let parts = parts.and_then(|parts| usize::try_from(parts).ok());
            let parts = parts.filter(|parts| parts.is_power_of_two() && *parts <= 1 << MOST_BITS);
            let documents = documents.and_then(|documents| usize::try_from(documents).ok());
            // The next one needs a number, too.
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

/// The documents of a segment.
pub(crate) fn documents(lists: &Table, header: Header, words: usize) -> Result<SegmentDocuments> {
    let mut documents = SegmentDocuments::new(words);
    let mut next = 0;
    let rest = format!("{} ORDER BY part", queries::in_segment('d', header.segment));
    read(lists, [("part", pg_sys::INT4OID), ("data", pg_sys::BYTEAOID)], &rest, |[block, data]| {
        expect(&mut next, block)?;
        // SAFETY: a bytea, as the cursor checked.
        Ok(documents.push(unsafe { varlena_bytes(data) })?)
    })?;
    if documents.sizes.len() != header.documents {
        return Err(damaged("a segment has not as many documents as it says"));
    }
    Ok(documents)
}

/// Calls `each` with the ids of a segment's documents, by block: its number, and text datums.
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
            // SAFETY: an int, as the cursor checked.
            Some(Some(&wanted)) if unsafe { value::<i32>(block) } == i32::try_from(wanted).ok() => next += 1,
            None => expect(&mut next, block)?,
            Some(_) => return Err(damaged("a block is missing")),
        }
        let block = blocks.map_or(next - 1, |blocks| blocks[next - 1] as usize);
        // SAFETY: a text[], as the cursor checked; the values live as long as the row.
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

/// Calls `each` with parts of a segment that are not empty: with `parts` of them, in any order, or with all.
pub(crate) fn parts(
    lists: &Table,
    segment: i64,
    parts: Option<&[u32]>,
    mut each: impl FnMut(Vec<u8>) -> Result<()>,
) -> Result<()> {
    let rest = format!("{}{}", queries::in_segment('l', segment), queries::is_among(parts));
    read(lists, [("data", pg_sys::BYTEAOID)], &rest, |[data]| {
        let mut part = Vec::new();
        // SAFETY: a bytea, as the cursor checked.
        memory::extend(&mut part, unsafe { varlena_bytes(data) }, DOING)?;
        each(part)
    })
}
