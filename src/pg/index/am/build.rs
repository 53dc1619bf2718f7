//! CREATE INDEX: takes rows in the order of the heap scan, sorts their signatures, and writes a
//! segment. An index of sets is settled first, by rows from all over the table. The choice of these
//! depends on the table alone, so the same table gives the same index.

use std::ffi::{CStr, c_char};

use pgrx::{PgBox, PgSqlErrorCode, pg_sys};

use super::placeholder_ball::refuse_useless;
use super::table::{ScannedRows, scan_table};
use crate::pg::index::families::groups::IndexedRow;
use crate::pg::index::families::keys::ClassKeys;
use crate::pg::index::families::sets::keys::{SetKeys, Settled};
use crate::pg::index::families::values::{ColumnValue, KeptRow, StoredValue, WaitingTexts};
use crate::pg::index::layout::items::{HeapRow, Item, SignaturePair};
use crate::pg::index::layout::meta::Directory;
use crate::pg::index::pages::buffer::OpenIndex;
use crate::pg::index::pages::record::Logging;
use crate::pg::index::storage::flush::SegmentBuilder;
use crate::pg::index::storage::maintenance::budget;
use crate::pg::index::storage::order;
use crate::pg::server::contexts::in_context;
use crate::pg::server::error::{Result, SqlError};
use crate::pg::server::guard::guard;
use neardup_core::search::sample::TokenSample;

/// The phases after the server's own initialisation, which has number 1.
const SCANNING: i64 = 2;
const SORTING: i64 = 3;
const LOGGING: i64 = 4;

/// `ambuildphasename`
#[pgrx::pg_guard]
pub unsafe extern "C-unwind" fn phase_name(phase: i64) -> *mut c_char {
    let name: &'static CStr = match phase {
        1 => c"initializing",
        SCANNING => c"scanning table",
        SORTING => c"writing signatures",
        LOGGING => c"logging pages",
        _ => return std::ptr::null_mut(),
    };
    name.as_ptr().cast_mut()
}

fn progress(index: u32, value: i64) {
    // SAFETY: writes to this backend's own entry.
    unsafe { pg_sys::pgstat_progress_update_param(index as i32, value) };
}

/// The state of a build, to which the scan of the table adds rows.
struct Build {
    index: OpenIndex,
    keys: ClassKeys,
    directory: Directory,
    segment: SegmentBuilder,
    texts: WaitingTexts,
    rows: u64,
    home: pg_sys::MemoryContext,
}

impl Build {
    /// Starts a segment, whose temporary files belong to the context of the build, and not to that
    /// of a row.
    fn segment(
        home: pg_sys::MemoryContext,
        index: OpenIndex,
        directory: &mut Directory,
        keys: &ClassKeys,
    ) -> SegmentBuilder {
        let id = directory.meta.next_id;
        directory.meta.next_id += 1;
        let budgets = [budget() / 8, budget() / 4 * 3];
        // SAFETY: a context that lives as long as the build.
        unsafe { in_context(home, || SegmentBuilder::new(index, Logging::AtEnd, id, keys, budgets)) }
    }

    /// # Safety
    /// The values are of the types of the index's columns.
    unsafe fn add(&mut self, tid: u64, IndexedRow { group, value }: IndexedRow) -> Result<()> {
        self.rows += 1;
        // If nothing is settled yet, no row of the sample had tokens.
        if let Some(sets) = self.keys.sets().filter(|sets| sets.settled.is_none()) {
            let settled = Settled::from_sample(&sets.spec, TokenSample::new()?, None)?;
            self.settle(&settled)?;
        }
        // SAFETY: the caller's promise.
        match value.map(|value| unsafe { self.keys.read(value) }).transpose()? {
            Some(ColumnValue::Kept(kept)) => return self.append(tid, group, kept),
            Some(ColumnValue::Document(document)) => self.texts.push(tid, group, Some(document))?,
            // Rows come in the order of the heap.
            None if self.texts.is_empty() => return self.append(tid, group, StoredValue::null()),
            None => self.texts.push(tid, group, None)?,
        }
        if self.texts.are_enough() { self.add_texts() } else { Ok(()) }
    }

    /// Adds the rows that wait for their texts to be cut.
    fn add_texts(&mut self) -> Result<()> {
        let keys = &self.keys;
        let kept = self.texts.keep(|| keys.cutter())?;
        kept.into_iter().try_for_each(|KeptRow { tid, group, kept }| self.append(tid, group, kept))
    }

    fn settle(&mut self, settled: &Settled) -> Result<()> {
        let (order, hash) = order::write(self.index, &settled.order, Logging::AtEnd)?;
        self.directory.meta = settled.put(self.directory.meta, order, hash);
        self.keys = ClassKeys::open(self.index, &self.directory.meta);
        self.segment = Self::segment(self.home, self.index, &mut self.directory, &self.keys);
        Ok(())
    }

    fn append(&mut self, tid: u64, group: u64, StoredValue { flags, bytes }: StoredValue) -> Result<()> {
        if self.segment.rows() == SignaturePair::LIST - 1 {
            self.close()?;
        }
        let bytes = self.keys.with_group(group, bytes)?;
        Ok(self.segment.add(&self.keys, &Item { row: HeapRow::new(tid, flags), bytes: &bytes })?)
    }

    /// Finishes the current segment and starts the next.
    fn close(&mut self) -> Result<()> {
        let next = Self::segment(self.home, self.index, &mut self.directory, &self.keys);
        let segment = std::mem::replace(&mut self.segment, next);
        progress(pg_sys::PROGRESS_CREATEIDX_SUBPHASE, SORTING);
        let written = segment.finish(&self.keys, |done, total| {
            progress(pg_sys::PROGRESS_CREATEIDX_TUPLES_TOTAL, total as i64);
            progress(pg_sys::PROGRESS_CREATEIDX_TUPLES_DONE, done as i64);
        })?;
        self.directory.segments.extend(written);
        Ok(())
    }
}

/// `ambuild`
pub(crate) unsafe extern "C-unwind" fn build(
    heap: pg_sys::Relation,
    relation: pg_sys::Relation,
    info: *mut pg_sys::IndexInfo,
) -> *mut pg_sys::IndexBuildResult {
    // SAFETY: this is the outermost frame; the server gives open relations. An all-zero result is
    // valid.
    unsafe {
        guard(|| {
            let (heap_rows, rows) = build_index(heap, OpenIndex::new(relation), info)?;
            let mut result = PgBox::<pg_sys::IndexBuildResult>::alloc0();
            result.heap_tuples = heap_rows;
            result.index_tuples = rows as f64;
            Ok(result.into_pg())
        })
    }
}

/// # Safety
/// Both relations are open, and `info` describes the index.
unsafe fn build_index(
    heap: pg_sys::Relation,
    index: OpenIndex,
    info: *mut pg_sys::IndexInfo,
) -> Result<(f64, u64)> {
    if index.blocks_now() != 0 {
        let message = format!("index \"{}\" already contains data", index.name());
        return Err(SqlError::new(PgSqlErrorCode::ERRCODE_INTERNAL_ERROR, message));
    }
    let mut directory = Directory::new(ClassKeys::choose(index)?);
    let keys = ClassKeys::open(index, &directory.meta);
    // SAFETY: the caller's promise.
    unsafe { refuse_useless(heap, info, &keys, index)? };
    // This page becomes block 0, the metapage. It is written again at the end.
    index.add(Directory::tail(), &directory.to_bytes(), Logging::AtEnd);
    // SAFETY: the context of this function.
    let home = unsafe { pg_sys::CurrentMemoryContext };
    let segment = Build::segment(home, index, &mut directory, &keys);
    let mut build = Build { index, keys, directory, segment, texts: WaitingTexts::default(), rows: 0, home };
    progress(pg_sys::PROGRESS_CREATEIDX_SUBPHASE, SCANNING);
    if let Some(sets) = build.keys.sets() {
        // SAFETY: the caller's promise.
        let settled = unsafe { settle(heap, index, info, sets)? };
        settled.map(|settled| build.settle(&settled)).transpose()?;
    }
    // SAFETY: the caller's promise.
    let heap_rows = unsafe {
        let tables = [heap, index.relation()];
        scan_table(tables, info, ScannedRows::All, |tid, row| build.add(tid, row))?
    };
    build.add_texts()?;
    build.close()?;
    let metapage = index.write(0);
    metapage.rewrite(None, &build.directory.to_bytes());
    drop(metapage);
    progress(pg_sys::PROGRESS_CREATEIDX_SUBPHASE, LOGGING);
    index.log_all();
    Ok((heap_rows, build.rows))
}

/// `ambuildempty`
pub(crate) unsafe extern "C-unwind" fn build_empty(relation: pg_sys::Relation) {
    // SAFETY: this is the outermost frame; the server gives an open relation.
    unsafe {
        guard(|| {
            let index = OpenIndex::new(relation);
            let meta = ClassKeys::choose(index)?;
            index.write_init_fork(Directory::tail(), &Directory::new(meta).to_bytes());
            Ok(())
        });
    }
}

/// The number of page ranges that are read, at equal distances, and the number of pages in a range.
const RANGES: u64 = 64;
const PAGES: u64 = 24;
/// The number of rows of a range that are tokenized, and the number of bytes after which tokenizing
/// stops in this range.
const ROWS: u64 = 470;
const BYTES: usize = 1 << 20;

/// Settles the order of tokens for a new index of sets. Returns None if no row of the sample has
/// tokens.
///
/// # Safety
/// Both relations are open, and `info` describes the index.
unsafe fn settle(
    heap: pg_sys::Relation,
    index: OpenIndex,
    info: *mut pg_sys::IndexInfo,
    keys: &SetKeys,
) -> Result<Option<Settled>> {
    // SAFETY: an open relation.
    let pages =
        u64::from(unsafe { pg_sys::RelationGetNumberOfBlocksInFork(heap, pg_sys::ForkNumber::MAIN_FORKNUM) });
    let mut sample = TokenSample::new()?;
    let ranges = pages.div_ceil(PAGES).min(RANGES);
    // The number of pages and rows that were read, and of the tokenized rows that have tokens.
    let (mut seen, mut all, mut cut) = (0, 0_u64, 0_u64);
    for n in 0..ranges {
        let (first, next) = (n * pages / ranges, (n + 1) * pages / ranges);
        let count = (next - first).min(PAGES);
        seen += count;
        let (mut rows, mut bytes) = (0, 0);
        let add = |_, row: IndexedRow| {
            all += 1;
            let Some(value) = row.value.filter(|_| rows < ROWS && bytes < BYTES) else { return Ok(()) };
            // SAFETY: a value of the index's column.
            let document = unsafe { keys.document(value)? };
            rows += 1;
            bytes += document.bytes();
            let tokens = keys.tokens(&document)?;
            cut += u64::from(!tokens.is_empty());
            Ok(sample.add(&tokens)?)
        };
        // Page numbers have 32 bits.
        let rows = ScannedRows::Pages(first as u32, count as u32);
        // SAFETY: the caller's promise.
        unsafe { scan_table([heap, index.relation()], info, rows, add)? };
    }
    if cut == 0 {
        return Ok(None);
    }
    let rows = all as f64 * pages as f64 / seen as f64;
    Ok(Some(Settled::from_sample(&keys.spec, sample, Some(rows))?))
}
