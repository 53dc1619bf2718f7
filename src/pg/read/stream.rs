//! Reads documents through a cursor of SPI, with the same privileges and policies as any query.
//!
//! A call that needs more memory says how much more data is to come than was read. The planner
//! knows the number of rows only if the tables were analysed, and one document may be longer than
//! all others together. So the size of the tables says how much there is at most: what was read of
//! them is counted as they store it.

use pgrx::pg_sys;
use pgrx::{IntoDatum, check_for_interrupts, direct_function_call};

use super::sites::ReadSites;
use super::source::{DocumentSource, ValueOrder};
use crate::pg::query::Query;
use crate::pg::query::catalog::class;
use crate::pg::query::cursor::OpenCursor;
use crate::pg::query::ids::RowIds;
use crate::pg::server::call::varlena_bytes;
use crate::pg::server::contexts::RowMemory;
use crate::pg::server::error::Result;
use neardup_core::error::Error;
use neardup_core::features::source_document::SourceDocument;
use neardup_core::memory;
use neardup_core::methods::documents::Side;
use neardup_core::sketches::stored::SketchReader;

const DOING: &str = "reading documents";

impl DocumentSource {
    /// Starts to read.
    pub(crate) fn stream(&self) -> Result<DocumentStream<'_>> {
        let Self { parameters, relations, .. } = self;
        let sql = self.sql();
        let query = Query { parameters, relations, ..Query::new(&sql) };
        let type_of = |equality: Option<ValueOrder>| equality.map_or(pg_sys::TEXTOID, |(of, _)| of);
        let of_sites = [pg_sys::TEXTOID, pg_sys::TEXTOID, type_of(self.site_equality)];
        let across = self.across.as_ref().and_then(|column| column.equality);
        let of_groups = [type_of(self.group), pg_sys::TEXTOID, type_of(across)];
        let [site, url, site_value] = of_sites;
        let [group, source, source_value] = of_groups;
        let types = [self.id_type, self.kind.type_oid(), site, url, site_value, group, source, source_value];
        let cursor = OpenCursor::open(&query, types)?;
        let memory = RowMemory::new("neardup: documents");
        Ok(DocumentStream { source: self, memory, cursor, rows: 16, stored: 0, ended: false })
    }
}

/// What is kept of the rows of a table while they are read.
pub(super) struct ReadRows<'r> {
    /// The table.
    pub(super) side: Side,
    pub(super) ids: &'r mut RowIds,
    /// The sites, if there is a column of sites.
    pub(super) sites: &'r mut Option<ReadSites>,
    /// The sources, if only rows of different sources are compared.
    pub(super) across: &'r mut Option<ReadSites>,
    /// The reader of sketches, which must be comparable with those that it read before.
    pub(super) sketches: &'r mut SketchReader,
}

/// The documents of a source in the order in which they arrive.
pub(crate) struct DocumentStream<'a> {
    source: &'a DocumentSource,
    /// The memory of detoasted copies.
    memory: RowMemory,
    cursor: OpenCursor<8>,
    rows: usize,
    /// The number of bytes that the documents so far take where they are stored.
    stored: usize,
    /// Set if there are no more documents.
    pub ended: bool,
}

impl DocumentStream<'_> {
    /// Frees what the last fetch left in the server.
    pub(super) fn free(&mut self) {
        self.cursor.free();
    }

    /// Returns how many times the documents of the source are those of the `rows` that were read.
    pub(super) fn times_read(&self, rows: usize) -> f64 {
        let by_rows = self.cursor.expected_rows() / rows.max(1) as f64;
        let mut tables = TableSizes { bytes: 0.0, are_analysed: true, are_here: true };
        self.cursor.for_each_relation(|oid| tables.add(oid));
        // A view may return more than its tables store.
        let is_view = !matches!(kind(self.source.oid), b'r' | b'p' | b'm');
        if !tables.are_here || is_view && tables.are_analysed {
            return by_rows;
        }
        by_rows.min(tables.bytes / (self.stored + ROW * rows).max(1) as f64)
    }

    /// Reads a few more documents and the number of each document's row within this source, and
    /// returns the approximate size of the documents in bytes. A NULL document is not added to
    /// `documents`, but its row is added to `rows`. A NULL id is an error. Calls `each_group` with
    /// the number of each row and the value of its group.
    pub(super) fn fetch(
        &mut self,
        documents: &mut Vec<(u32, SourceDocument)>,
        rows: &mut ReadRows<'_>,
        each_group: &mut dyn FnMut(u32, pg_sys::Datum) -> Result<()>,
    ) -> Result<usize> {
        /// The range of the number of rows that the server fetches at a time. A fetch should fill
        /// about a megabyte.
        const ROWS_A_FETCH: std::ops::RangeInclusive<usize> = 1..=256;
        check_for_interrupts!();
        let Self { source, cursor, memory, stored, .. } = self;
        let ReadRows { side, ids, sites, across, sketches } = rows;
        let (mut fetched, mut bytes) = (0, 0);
        for [id, value, site, url, site_value, group, other, other_value] in cursor.fetch(self.rows)? {
            fetched += 1;
            let row = u32::try_from(ids.len())
                .map_err(|_| Error::TooMany { what: "documents", limit: u32::MAX.into() })?;
            let id = id.ok_or_else(|| source.null_id())?;
            if source.is_listed && id.value() != row as usize + 1 {
                return Err(source.double_id());
            }
            // SAFETY: the cursor checked that ids are of their type and documents of their kind;
            // both are copied before the next row.
            let document = unsafe {
                memory.make(|| {
                    ids.push(id)?;
                    if let Some(sites) = sites {
                        sites.push(*side, source.place(source.site_column.as_deref(), site)?, site_value)?;
                    }
                    if let Some(across) = across {
                        let column = source.across.as_ref().map(|column| &*column.name);
                        across.push(*side, source.place(column, other)?, other_value)?;
                    }
                    if let (Some(_), Some(group)) = (source.group, group) {
                        each_group(row, group)?;
                    }
                    let Some(value) = value else { return Ok(None) };
                    *stored += pg_sys::toast_datum_size(value);
                    match source.kind.sketches() {
                        None => source.document(value, url).map(Some),
                        Some(kind) => match sketches.read(kind, varlena_bytes(value)) {
                            Ok(document) => Ok(Some(Some(SourceDocument::Document(document)))),
                            Err(error) => Err(source.not_comparable(error, &ids.show(row))),
                        },
                    }
                })?
            };
            match document {
                Some(Some(document)) => {
                    bytes += document.bytes();
                    memory::push(documents, (row, document), DOING)?;
                }
                Some(None) => return Err(source.not_text(&ids.show(row))),
                None => {}
            }
        }
        self.ended = fetched == 0;
        let each = bytes + fetched * size_of::<(u32, SourceDocument)>() + 1;
        self.rows = (fetched * (1 << 20) / each).clamp(*ROWS_A_FETCH.start(), *ROWS_A_FETCH.end());
        Ok(bytes)
    }
}

/// The bytes of a row that are not in its values: its header, its pointer, and its id.
const ROW: usize = 36;

/// The size of the tables of a query.
struct TableSizes {
    bytes: f64,
    /// Set if the planner knows how many rows they have.
    are_analysed: bool,
    /// Set if all of them are stored here.
    are_here: bool,
}

fn kind(relation: pg_sys::Oid) -> u8 {
    // SAFETY: any OID may be looked up.
    unsafe { pg_sys::get_rel_relkind(relation).cast_unsigned() }
}

impl TableSizes {
    /// Adds a relation that a query reads.
    fn add(&mut self, relation: pg_sys::Oid) {
        match kind(relation) {
            // A view, or the parent of partitions, stores nothing itself.
            b'v' | b'p' => {}
            b'r' | b'm' | b't' => {
                // SAFETY: the relation is locked by the query; nothing is returned if it is gone.
                let bytes: Option<i64> =
                    unsafe { direct_function_call(pg_sys::pg_table_size, &[relation.into_datum()]) };
                self.bytes += bytes.unwrap_or_default() as f64;
                self.are_analysed &= class(relation, |row| row.reltuples).is_some_and(|rows| rows >= 0.0);
            }
            _ => self.are_here = false,
        }
    }
}
