//! Reads both sides of a join: each row is kept, and its document goes to the join. If the
//! documents have no room in memory, both sides are scanned once more. If the join has equalities,
//! all rows are read first, and then the rows with equal keys are a group: documents of different
//! groups never meet. The groups are given some at a time, so that the first pairs are known before
//! the last groups are compared.

use std::ops::Range;

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
use neardup_core::executor::{self, Executor};
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

/// A row that has a key.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct KeyedRow {
    /// The hash of the key.
    key: u64,
    /// The number of the row, as it was read.
    pub row: u32,
}

/// The two sides of a join as documents: the values of rows, and the middles of balls.
pub(super) struct JoinSides {
    node: *mut NearJoin,
    side: Side,
    /// The form in which texts are compared.
    normalization: Option<Normalization>,
    /// The rows that were read. Of a side whose rows are not wanted they are empty.
    pub rows: [Blobs; 2],
    /// About so many bytes of the rows of each side are held in memory.
    kept: usize,
    /// The sides that are scanned once more, from their first row on.
    anew: [bool; 2],
    files: ServerFiles,
    /// The rows of each side that have a key, by the hashes of their keys, if there are keys.
    pub order: Option<[Vec<KeyedRow>; 2]>,
    /// The places of the current group among these, and of the next document.
    group: Option<[Range<usize>; 2]>,
    at: usize,
    /// The places after those of the groups so far, and of the groups before the last pause.
    next: [usize; 2],
    paused: [usize; 2],
    /// The number of rows after which the groups pause, and how many of these are still to come.
    pause: usize,
    room: usize,
    /// A row that was read again.
    again: Vec<u64>,
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
        // SAFETY: the caller's promise.
        let order = unsafe { !(*node).keys.is_null() }.then(Default::default);
        /// The number of rows of the first groups.
        const FIRST: usize = 1 << 12;
        let (side, group, again) = (Side::Left, None, Vec::new());
        Self {
            node,
            side,
            normalization,
            rows,
            kept,
            anew: [false; 2],
            files,
            order,
            group,
            at: 0,
            next: [0; 2],
            paused: [0; 2],
            pause: FIRST,
            room: FIRST,
            again,
            noted,
            ended: false,
            failed: None,
        }
    }

    /// Reads all rows and orders them by their keys, if there are keys.
    ///
    /// # Safety
    /// A node that the server has initialized.
    pub(super) unsafe fn read_keys(&mut self, executor: &dyn Executor) -> Result<()> {
        let Some(mut order) = self.order.take() else { return Ok(()) };
        for (side, rows) in [Side::Left, Side::Right].into_iter().zip(&mut order) {
            self.side = side;
            // SAFETY: the caller's promise.
            while let Some(row) = unsafe { self.next_row()? } {
                check_for_interrupts!();
                // SAFETY: the node shows the row.
                if let Some(key) = unsafe { key::hash(self.node, side as usize)? } {
                    memory::push(rows, KeyedRow { key, row }, "reading rows of a join")?;
                }
            }
            executor::sort(executor, rows, Ord::cmp)?;
        }
        self.order = Some(order);
        Ok(())
    }

    /// Goes on to the groups after a pause. Returns false if there are none.
    pub(super) fn resume(&mut self) -> bool {
        let is_paused = self.is_grouped() && self.room == 0;
        self.pause = self.pause.saturating_mul(2);
        (self.room, self.paused) = (self.pause, self.next);
        is_paused
    }

    /// Shows the next row of the current group again. Returns its number in the group.
    ///
    /// # Safety
    /// A node that the server has initialized.
    unsafe fn next_of_group(&mut self) -> Result<Option<u32>> {
        let side = self.side as usize;
        let (Some(order), Some(group)) = (&self.order, &self.group) else { return Ok(None) };
        let Some(place) = Some(self.at).filter(|at| group[side].contains(at)) else { return Ok(None) };
        self.at += 1;
        self.rows[side].read(order[side][place].row as usize, &mut self.again)?;
        // SAFETY: the caller's promise. The tuple is one that was kept, and lives until the next
        // one is read.
        unsafe {
            let slot = (*self.node).slots[side];
            pg_sys::ExecStoreMinimalTuple(self.again.as_mut_ptr().cast(), slot, false);
            let context = (*self.node).scan.ss.ps.ps_ExprContext;
            pg_sys::MemoryContextReset((*context).ecxt_per_tuple_memory);
            (*self.node).show(side, slot)?;
        }
        Ok(Some((place - group[side].start) as u32))
    }

    /// Reads the next row, and shows it. Returns its number, or None after the last row.
    ///
    /// # Safety
    /// A node that the server has initialized.
    unsafe fn next_row(&mut self) -> Result<Option<u32>> {
        let (node, side) = (self.node, self.side as usize);
        // SAFETY: the caller's promise. The tuple is copied before the next row is read.
        unsafe {
            let child = (*node).children[side];
            let anew = std::mem::take(&mut self.anew[side]);
            let slot = catch(|| {
                if anew || !(*child).chgParam.is_null() {
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
            Ok(Some(row))
        }
    }

    /// Reads the next row. Returns its number and its document, if it has one, or None after the
    /// last row.
    ///
    /// # Safety
    /// A node that the server has initialized.
    unsafe fn next(&mut self) -> Result<Option<(u32, Option<SourceDocument>)>> {
        let (node, side) = (self.node, self.side as usize);
        // SAFETY: the caller's promise. The document is copied before the memory of the row is
        // freed.
        unsafe {
            let next = if self.is_grouped() { self.next_of_group()? } else { self.next_row()? };
            let Some(row) = next else { return Ok(None) };
            let Some(value) = evaluate((*node).documents[side], node)? else { return Ok(Some((row, None))) };
            let context = (*node).scan.ss.ps.ps_ExprContext;
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
    fn again(&mut self) {
        if self.is_grouped() {
            (self.group, self.next, self.room) = (None, self.paused, self.pause);
        } else {
            (self.rows, self.anew) = ([Blobs::new(self.kept), Blobs::new(self.kept)], [true; 2]);
        }
    }

    fn has_right(&self) -> bool {
        true
    }

    fn begin(&mut self, side: Side) -> CoreResult<()> {
        (self.side, self.ended) = (side, false);
        self.at = self.group.as_ref().map_or(0, |group| group[side as usize].start);
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
        let side = side as usize;
        match (&self.group, &self.order) {
            (Some(group), _) => group[side].len(),
            (None, Some(order)) => order[side].len(),
            (None, None) => self.rows[side].len(),
        }
    }

    fn is_grouped(&self) -> bool {
        self.order.is_some()
    }

    fn next_group(&mut self) -> CoreResult<Option<[u32; 2]>> {
        let Some(order) = &self.order else { return Ok(None) };
        self.group = None;
        let from = &mut self.next;
        while self.room > 0
            && let (Some(left), Some(right)) = (order[0].get(from[0]), order[1].get(from[1]))
        {
            let key = left.key.max(right.key);
            if left.key == right.key {
                let end = |side: usize| {
                    from[side] + order[side][from[side]..].partition_point(|row| row.key == key)
                };
                let first = std::mem::replace(from, [end(0), end(1)]);
                let group = [0, 1].map(|side| first[side]..from[side]);
                self.room = self.room.saturating_sub(group.iter().map(Range::len).sum());
                self.group = Some(group);
                // Rows are numbered with 32 bits.
                return Ok(Some(first.map(|place| place as u32)));
            }
            let side = usize::from(right.key < key);
            from[side] += order[side][from[side]..].partition_point(|row| row.key < key);
        }
        Ok(None)
    }

    fn ids_bytes(&self) -> usize {
        let of_side = |side: usize| {
            let rows = &self.rows[side];
            rows.bytes() + if self.noted[side] { RowSet::bytes_of(rows.len()) } else { 0 }
        };
        let order = self.order.iter().flatten().map(memory::bytes).sum::<usize>();
        of_side(0) + of_side(1) + order
    }
}
