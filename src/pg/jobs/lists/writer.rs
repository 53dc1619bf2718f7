//! Writes segments as rows of the table of lists, and merges small ones.

use pgrx::pg_sys::{self, Datum};
use pgrx::{IntoDatum, PgMemoryContexts, check_for_interrupts};

use super::stored::{
    COLUMNS, DOING, Header, damaged, documents, headers, ids, parts, read_order, unless_damaged,
};
use crate::pg::procedure::table::Table;
use crate::pg::query::ids::RowIds;
use crate::pg::server::error::Result;
use crate::pg::server::executor::BackendExecutor;
use crate::pg::server::set_returning::RowStore;
use crate::pg::server::values::text_array;
use crate::pg::server::{encoding, settings};
use neardup_core::error::Error;
use neardup_core::incremental::digest::Digests;
use neardup_core::incremental::segment::{BLOCK, ListSegment, PART};
use neardup_core::memory;
use neardup_core::storage::rows::Ragged;

/// Writes segments as rows of `N` columns. The last six columns are those of the table; the columns
/// before them are NULL.
pub(crate) struct ListWriter<'a, const N: usize> {
    store: &'a mut RowStore,
    segment: i64,
    /// The segments whose ids are still to be written: their numbers, and their rows in order.
    rows: Vec<(i64, Vec<u32>)>,
    context: PgMemoryContexts,
}

impl<'a, const N: usize> ListWriter<'a, N> {
    /// Starts a writer that has written nothing; its segments are numbered from `segment`.
    pub(crate) fn new(store: &'a mut RowStore, segment: i64) -> Self {
        let context = PgMemoryContexts::new("neardup: lists");
        Self { store, segment, rows: Vec::new(), context }
    }

    /// Writes a row.
    pub(crate) fn put(
        &mut self,
        kind: u8,
        [segment, part]: [i64; 2],
        documents: Option<i32>,
        data: Option<&[u8]>,
        ids: Option<&Ragged<u8>>,
    ) -> Result<()> {
        let Self { store, context, .. } = self;
        // SAFETY: values that are made inside are copied before the context is reset.
        unsafe {
            context.switch_to(|_| -> Result<()> {
                let row = [
                    Some(Datum::from(kind.cast_signed())),
                    Some(Datum::from(segment)),
                    Some(Datum::from(part as i32)),
                    documents.map(Datum::from),
                    data.and_then(IntoDatum::into_datum),
                    ids.map(text_array).transpose()?,
                ];
                let mut columns = [None; N];
                columns[N - row.len()..].copy_from_slice(&row);
                store.put(columns);
                Ok(())
            })?;
            context.reset();
        }
        Ok(())
    }

    /// Writes the next segment without its ids.
    pub(crate) fn write(&mut self, segment: ListSegment<'_>) -> Result<()> {
        let number = self.segment;
        let documents = i32::try_from(segment.documents()).unwrap_or(i32::MAX);
        self.put(b's', [number, segment.parts.len() as i64], Some(documents), None, None)?;
        for (block, n) in segment.blocks().zip(0..) {
            self.put(b'd', [number, n], None, Some(&block?), None)?;
        }
        for (part, n) in segment.parts.iter().zip(0..).filter(|(part, _)| !part.is_empty()) {
            self.put(b'l', [number, n], None, Some(part), None)?;
        }
        memory::push(&mut self.rows, (number, segment.into_rows()), DOING)?;
        self.segment += 1;
        Ok(())
    }

    /// Writes, as rows of kind `c`, the ids of rows that may be similar to changed rows. Rows of
    /// kind `c` are not stored in any table.
    pub(crate) fn candidates(&mut self, ids: &RowIds) -> Result<()> {
        let rows = ids.len() as u32;
        (0..rows).step_by(BLOCK).try_for_each(|from| {
            let block = from..rows.min(from + BLOCK as u32);
            self.put_ids(b'c', [0, 0], block, |row| ids.show(row))
        })
    }

    /// Writes the ids of all segments that were written.
    pub(crate) fn ids(&mut self, show: impl Fn(u32) -> String) -> Result<()> {
        for (segment, rows) in std::mem::take(&mut self.rows) {
            for (block, n) in rows.chunks(BLOCK).zip(0..) {
                self.put_ids(b'i', [segment, n], block.iter().copied(), &show)?;
            }
        }
        Ok(())
    }

    /// Writes the ids of some rows.
    fn put_ids(
        &mut self,
        kind: u8,
        at: [i64; 2],
        mut rows: impl Iterator<Item = u32>,
        show: impl Fn(u32) -> String,
    ) -> Result<()> {
        let mut ids = Ragged::default();
        let mut collect = || -> Result<()> {
            rows.try_for_each(|row| Ok(ids.push(encoding::to_server(&show(row))?.to_bytes(), DOING)?))
        };
        // SAFETY: memory that the server allocates for ids is freed when the row is put.
        unsafe { self.context.switch_to(|_| collect()) }?;
        self.put(kind, at, None, None, Some(&ids))
    }
}

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
