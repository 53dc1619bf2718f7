//! The sample that CREATE INDEX takes before it builds an index of sets. Its rows come from all
//! over the table and settle the order of tokens. The choice of rows depends on the table alone, so
//! the same table gives the same index.

use std::ffi::c_void;

use pgrx::pg_sys;

use super::table::{Range, row_of_scan, scan_table};
use crate::pg::index::families::class::OperatorClass;
use crate::pg::index::families::sets::{SetKeys, Settled};
use crate::pg::index::pages::buffer::OpenIndex;
use crate::pg::server::error::Result;
use crate::pg::server::guard::guard;
use neardup_core::features::tokens::Document;
use neardup_core::joins::search::sample::TokenSample;

/// The number of page ranges that are read, at equal distances, and the number of pages in a range.
const RANGES: u64 = 64;
const PAGES: u64 = 24;
/// The number of rows of a range that are tokenized, and the number of bytes after which tokenizing
/// stops in this range.
const ROWS: u64 = 470;
const BYTES: usize = 1 << 20;

/// The rows of the table that were read.
struct TableSample<'a> {
    keys: &'a SetKeys,
    class: OperatorClass,
    tokens: TokenSample,
    /// The number of tokenized rows in the current range and of their bytes. Then, for all ranges,
    /// the number of rows that were read and the number of tokenized rows that have tokens.
    rows: u64,
    bytes: usize,
    all: u64,
    cut: u64,
    memory: pg_sys::MemoryContext,
}

impl TableSample<'_> {
    /// # Safety
    /// `value` is of the type of the index's column.
    unsafe fn add(&mut self, value: Option<pg_sys::Datum>) -> Result<()> {
        self.all += 1;
        let Some(value) = value.filter(|_| self.rows < ROWS && self.bytes < BYTES) else { return Ok(()) };
        // SAFETY: the caller's promise.
        let document: Document = unsafe { self.keys.document(self.class, value)? };
        self.rows += 1;
        self.bytes += document.bytes();
        let tokens = self.keys.tokens(&document)?;
        self.cut += u64::from(!tokens.is_empty());
        Ok(self.tokens.add(&tokens)?)
    }
}

/// Settles the order of tokens for a new index of sets. Returns None if no row of the sample has
/// tokens.
///
/// # Safety
/// Both relations are open, and `info` describes the index.
pub(super) unsafe fn settle(
    heap: pg_sys::Relation,
    index: OpenIndex,
    info: *mut pg_sys::IndexInfo,
    keys: &SetKeys,
    class: OperatorClass,
) -> Result<Option<Settled>> {
    // SAFETY: an open relation.
    let pages =
        u64::from(unsafe { pg_sys::RelationGetNumberOfBlocksInFork(heap, pg_sys::ForkNumber::MAIN_FORKNUM) });
    let memory = pgrx::PgMemoryContexts::new("neardup row of a sample");
    let tokens = TokenSample::new()?;
    let memory_of_rows = memory.value();
    let mut sample =
        TableSample { keys, class, tokens, rows: 0, bytes: 0, all: 0, cut: 0, memory: memory_of_rows };
    let ranges = pages.div_ceil(PAGES).min(RANGES);
    let mut seen = 0;
    for n in 0..ranges {
        let (first, next) = (n * pages / ranges, (n + 1) * pages / ranges);
        let count = (next - first).min(PAGES);
        (sample.rows, sample.bytes) = (0, 0);
        seen += count;
        // Page numbers have 32 bits.
        let range = Range { first: first as u32, count: count as u32 };
        // SAFETY: the callback gets the state that is passed here.
        unsafe {
            let state: *mut c_void = (&raw mut sample).cast();
            let tables = [heap, index.relation()];
            scan_table(tables, info, false, add_row, state, std::ptr::null_mut(), Some(range))?;
        }
    }
    if sample.cut == 0 {
        return Ok(None);
    }
    let rows = sample.all as f64 * pages as f64 / seen as f64;
    Ok(Some(Settled::from_sample(&keys.spec, sample.tokens, Some(rows))?))
}

unsafe extern "C-unwind" fn add_row(
    _index: pg_sys::Relation,
    address: pg_sys::ItemPointer,
    values: *mut pg_sys::Datum,
    nulls: *mut bool,
    _alive: bool,
    state: *mut c_void,
) {
    // SAFETY: this is the outermost frame; the server gives one value of the index's only column,
    // the row's address, and our state.
    unsafe {
        guard(|| {
            let sample = &mut *state.cast::<TableSample<'_>>();
            row_of_scan(sample.memory, address, values, nulls, |_, value| sample.add(value))
        });
    }
}
