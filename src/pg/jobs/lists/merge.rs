//! Merges small segments of lists into one.

use pgrx::{check_for_interrupts, pg_sys};

use super::stored::{COLUMNS, Header, damaged, documents, headers, ids, parts, read_order, unless_damaged};
use super::writer::ListWriter;
use crate::pg::procedure::table::Table;
use crate::pg::query::ids::RowIds;
use crate::pg::server::error::Result;
use crate::pg::server::executor::BackendExecutor;
use crate::pg::server::set_returning::RowStore;
use crate::pg::server::settings;
use neardup_core::error::Error;
use neardup_core::joins::incremental::digest::Digests;
use neardup_core::joins::incremental::segment::{ListSegment, PART};
use neardup_core::memory;

/// Stores the last segments as one segment if that is worthwhile, and a row of kind `x` for each of
/// the merged segments. If the lists are damaged, stores one row of kind `!` instead.
pub(in crate::pg::jobs) fn merged(lists: &Table, store: &mut RowStore) -> Result<()> {
    if unless_damaged(merge(lists, store))?.is_none() {
        store.clear();
        ListWriter::<COLUMNS>::new(store, 0).put(b'!', [0, 0], None, None, None)?;
    }
    Ok(())
}

fn merge(lists: &Table, store: &mut RowStore) -> Result<()> {
    let headers = headers(lists)?;
    let memory = settings::memory();
    let count = worth_merging(&headers, memory);
    let mut writer = ListWriter::<COLUMNS>::new(store, headers.last().map_or(0, |last| last.segment + 1));
    let merged = &headers[headers.len() - count..];
    if merged.is_empty() {
        return Ok(());
    }
    let order = read_order(lists)?.ok_or_else(|| damaged("they are of another version"))?;
    let executor = BackendExecutor::new();
    let (mut all, mut names) = (Digests::default(), RowIds::new(pg_sys::TEXTOID));
    for &header in merged {
        let segment = header.segment;
        let (mut kept, mut bytes) = (Vec::new(), 0);
        parts(lists, segment, None, |part| {
            bytes += part.len();
            if bytes > memory {
                return Err(damaged("a segment is larger than it says"));
            }
            Ok(memory::push(&mut kept, part, "merging segments")?)
        })?;
        let from = names.len();
        ids(lists, segment, None, |_, ids| {
            // SAFETY: texts.
            ids.iter().try_for_each(|&id| unsafe { names.push(id) })
        })?;
        let documents = documents(lists, header, order.words)?;
        if names.len() - from != documents.sizes.len() {
            return Err(damaged("an id is missing"));
        }
        let from =
            u32::try_from(from).map_err(|_| Error::TooMany { what: "documents", limit: u32::MAX.into() })?;
        let parts = kept.iter().map(|part| {
            check_for_interrupts!();
            part.as_slice()
        });
        all.append(&documents.digests(from, parts)?, |row| row)?;
        writer.put(b'x', [segment, 0], None, None, None)?;
    }
    writer.write(ListSegment::new(&all, order.words, &executor)?)?;
    writer.ids(|row| names.show(row))
}

/// Returns how many of the last segments to merge: so many that each remaining segment is more than
/// twice as large as the next one. Then the number of merges that a row takes part in and the
/// number of segments to search both grow logarithmically. Excludes segments that would not fit
/// into memory.
fn worth_merging(headers: &[Header], memory: usize) -> usize {
    /// The number of bytes in memory for each stored byte.
    const TIMES: usize = 8;
    let (mut count, mut documents, mut parts) = (0, 0, 0);
    for header in headers.iter().rev() {
        parts += header.parts;
        if (count > 0 && header.documents > 2 * documents) || parts * PART * TIMES > memory {
            break;
        }
        documents += header.documents;
        count += 1;
    }
    if count > 1 { count } else { 0 }
}
