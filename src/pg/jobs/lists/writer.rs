//! Writes segments as rows of the table of lists.

use pgrx::IntoDatum;
use pgrx::PgMemoryContexts;
use pgrx::pg_sys::Datum;

use super::stored::DOING;
use crate::pg::query::ids::RowIds;
use crate::pg::server::encoding;
use crate::pg::server::error::Result;
use crate::pg::server::set_returning::RowStore;
use crate::pg::server::values::{Strings, text_array};
use neardup_core::joins::incremental::segment::{BLOCK, ListSegment};
use neardup_core::memory;

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
        ids: Option<&Strings>,
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
                store.put(
                    columns.map(|value| value.unwrap_or(Datum::null())),
                    columns.map(|value| value.is_none()),
                );
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
        let mut ids = Strings::default();
        let mut collect = || -> Result<()> {
            rows.try_for_each(|row| Ok(ids.push(encoding::to_server(&show(row))?.to_bytes())?))
        };
        // SAFETY: memory that the server allocates for ids is freed when the row is put.
        unsafe { self.context.switch_to(|_| collect()) }?;
        self.put(kind, at, None, None, Some(&ids))
    }
}
