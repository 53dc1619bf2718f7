//! Reads both sides of a join once: each row is kept, and its document goes to the join.

use pgrx::{check_for_interrupts, pg_sys};

use super::key;
use super::state::{NearJoin, evaluate};
use crate::pg::query::decode::decode;
use crate::pg::read::packed::source_document;
use crate::pg::server::contexts::in_context;
use crate::pg::server::error::{Result, SqlError, catch};
use crate::pg::server::normalization::normalized_document;
use crate::pg::server::temp_file::ServerFiles;
use neardup_core::error::{Error, Result as CoreResult};
use neardup_core::executor::Executor;
use neardup_core::features::normalization::Normalization;
use neardup_core::features::source_document::SourceDocument;
use neardup_core::memory;
use neardup_core::methods::documents::{Documents, Side};
use neardup_core::row_set::RowSet;
use neardup_core::storage::blobs::Blobs;

// The plans of both sides run user-defined functions, whose errors must be returned with all
// details.
unsafe extern "C-unwind" {
    fn ExecReScan(node: *mut pg_sys::PlanState);
    fn ExecFetchSlotMinimalTuple(
        slot: *mut pg_sys::TupleTableSlot,
        is_new: *mut bool,
    ) -> pg_sys::MinimalTuple;
}

/// The two sides of a join as documents: the values of rows, and the middles of balls.
pub(super) struct JoinSides {
    node: *mut NearJoin,
    side: Side,
    /// The form in which texts are compared.
    normalization: Option<Normalization>,
    /// The rows that were read. Of a side whose rows are not wanted they are empty.
    pub rows: [Blobs; 2],
    files: ServerFiles,
    /// The hashes of the keys of all rows, if there are keys: first those of the first side.
    pub keys: Vec<u64>,
    /// The sides of which each row's match will be noted.
    noted: [bool; 2],
    ended: bool,
    /// Why the last row could not be read.
    pub failed: Option<SqlError>,
}

impl JoinSides {
    /// Begins to read the sides of a node. About `kept` bytes of the rows of each side are held in
    /// memory.
    ///
    /// # Safety
    /// A node that the server has initialized, and that outlives the reading.
    pub(super) unsafe fn new(
        node: *mut NearJoin,
        normalization: Option<Normalization>,
        files: ServerFiles,
        kept: usize,
        noted: [bool; 2],
    ) -> Self {
        let rows = [Blobs::new(kept), Blobs::new(kept)];
        let (side, keys) = (Side::Left, Vec::new());
        Self { node, side, normalization, rows, files, keys, noted, ended: false, failed: None }
    }

    /// Reads the next row. Returns its number and its document, if it has one, or None after the
    /// last row.
    ///
    /// # Safety
    /// A node that the server has initialized.
    unsafe fn next(&mut self) -> Result<Option<(u32, Option<SourceDocument>)>> {
        let (node, side) = (self.node, self.side as usize);
        // SAFETY: the caller's promise. The document is copied before the memory of the row is
        // freed, and the tuple before the next row is read.
        unsafe {
            let child = (*node).children[side];
            let slot = catch(|| {
                if !(*child).chgParam.is_null() {
                    ExecReScan(child);
                }
                (*child).ExecProcNode.map_or(std::ptr::null_mut(), |next| next(child))
            })?;
            if slot.is_null() || u32::from((*slot).tts_flags) & pg_sys::TTS_FLAG_EMPTY != 0 {
                return Ok(None);
            }
            let row = u32::try_from(self.rows[side].len())
                .map_err(|_| Error::TooMany { what: "rows in a join", limit: u32::MAX.into() })?;
            if (*node).wanted[side] {
                let mut is_new = false;
                let tuple = catch(|| ExecFetchSlotMinimalTuple(slot, &raw mut is_new))?;
                let bytes = std::slice::from_raw_parts(tuple.cast::<u8>(), (*tuple).t_len as usize);
                self.rows[side].push(bytes, &self.files)?;
                if is_new {
                    pg_sys::pfree(tuple.cast());
                }
            } else {
                self.rows[side].push(&[], &self.files)?;
            }
            let context = (*node).scan.ss.ps.ps_ExprContext;
            pg_sys::MemoryContextReset((*context).ecxt_per_tuple_memory);
            (*node).show(side, slot)?;
            if !(*node).keys.is_null() {
                let key = key::hash(node, side)?;
                memory::push(&mut self.keys, key.unwrap_or_default(), "reading rows of a join")?;
                if key.is_none() {
                    return Ok(Some((row, None)));
                }
            }
            let Some(value) = evaluate((*node).documents[side], node)? else { return Ok(Some((row, None))) };
            let document = in_context((*context).ecxt_per_tuple_memory, || match self.normalization {
                None => source_document((*node).kind, value),
                form => decode((*node).kind, value).and_then(|document| {
                    let normalize =
                        |document| normalized_document(form, document).map(SourceDocument::Document);
                    document.map(normalize).transpose()
                }),
            });
            let not_text = || SqlError::from(Error::NotText);
            Ok(Some((row, Some(document?.ok_or_else(not_text)?))))
        }
    }
}

impl Documents for JoinSides {
    fn has_right(&self) -> bool {
        true
    }

    fn begin(&mut self, side: Side) -> CoreResult<()> {
        (self.side, self.ended) = (side, false);
        Ok(())
    }

    fn fetch(&mut self, documents: &mut Vec<(u32, SourceDocument)>) -> CoreResult<usize> {
        const ROWS: usize = 64;
        const BYTES: usize = 1 << 16;
        check_for_interrupts!();
        let mut bytes = 0;
        for _ in 0..ROWS {
            // SAFETY: the node of `Sides::new` is one that the server has initialized.
            let next = unsafe { self.next() };
            match next {
                Ok(None) => {
                    self.ended = true;
                    break;
                }
                Ok(Some((row, document))) => {
                    if let Some(document) = document {
                        bytes += document.bytes();
                        memory::push(documents, (row, document), "reading rows of a join")?;
                    }
                }
                Err(error) => {
                    self.failed = Some(error);
                    return Err(Error::Source);
                }
            }
            if bytes >= BYTES {
                break;
            }
        }
        Ok(bytes)
    }

    fn ended(&self) -> bool {
        self.ended
    }

    fn is_ready(&self) -> bool {
        false
    }

    fn rows(&self, side: Side) -> usize {
        self.rows[side as usize].len()
    }

    fn ids_bytes(&self) -> usize {
        let of_side = |side: usize| {
            let rows = &self.rows[side];
            rows.bytes() + if self.noted[side] { RowSet::bytes_of(rows.len()) } else { 0 }
        };
        of_side(0) + of_side(1) + memory::bytes(&self.keys)
    }

    fn order(&mut self, side: Side, _executor: &dyn Executor) -> CoreResult<Vec<u32>> {
        memory::collect(0..self.rows(side) as u32, "ordering rows")
    }
}
