//! CREATE INDEX: takes rows in the order of the heap scan, sorts their signatures, and writes a
//! segment.

use std::ffi::{CStr, c_char, c_void};

use pgrx::{PgBox, PgSqlErrorCode, pg_sys};

use super::sample;
use super::table::{row_of_scan, scan_table};
use super::useless::refuse_useless;
use crate::pg::index::layout::format::Descriptor;
use crate::pg::index::layout::items::{HeapRow, Item, SignaturePair};
use crate::pg::index::layout::meta::Directory;
use crate::pg::index::families::keys::ClassKeys;
use crate::pg::index::families::posted::Posted;
use crate::pg::index::families::sets::Settled;
use crate::pg::index::families::sets::keep::Cutter;
use crate::pg::index::families::texts::WaitingTexts;
use crate::pg::index::families::values::{StoredValue, text_of};
use crate::pg::index::pages::buffer::OpenIndex;
use crate::pg::index::pages::record::Logging;
use crate::pg::index::storage::maintenance::budget;
use crate::pg::index::storage::order;
use crate::pg::index::storage::sort::PairSorter;
use crate::pg::index::storage::writer::SegmentWriter;
use crate::pg::server::error::{Result, SqlError};
use crate::pg::server::guard::guard;
use neardup_core::executor::Stop;
use neardup_core::features::tokens::Document;
use neardup_core::joins::search::sample::TokenSample;

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
    writer: SegmentWriter,
    sorter: PairSorter,
    texts: WaitingTexts,
    posted: Posted,
    rows: u64,
    memory: pg_sys::MemoryContext,
}

impl Build {
    fn writer(index: OpenIndex, directory: &mut Directory, keys: &ClassKeys) -> SegmentWriter {
        let id = directory.meta.next_id;
        directory.meta.next_id += 1;
        SegmentWriter::new(index, Logging::AtEnd, id, keys.layout(), budget() / 8)
    }

    /// # Safety
    /// `value` is of the type of the index's column.
    unsafe fn add(&mut self, tid: u64, value: Option<pg_sys::Datum>) -> Result<()> {
        self.rows += 1;
        self.settle()?;
        let class = self.keys.class;
        if class.has_lists() {
            let ClassKeys { sets, grams, runs, .. } = &self.keys;
            let form = runs.as_ref().and_then(|runs| runs.normalization);
            // SAFETY: the caller's promise.
            let document = |value| unsafe {
                match (sets, grams) {
                    (Some(sets), _) => sets.document(class, value),
                    (None, Some(grams)) => grams.document(class, value),
                    (None, None) => text_of(value, form).map(Document::Text),
                }
            };
            self.texts.push(tid, value.map(document).transpose()?)?;
            return if self.texts.are_enough() { self.add_texts() } else { Ok(()) };
        }
        // SAFETY: the caller's promise.
        let kept = value.map(|value| unsafe { self.keys.keep(value) }).transpose()?;
        self.append(tid, kept)
    }

    /// Adds the rows whose texts are waiting.
    fn add_texts(&mut self) -> Result<()> {
        let keys = &self.keys;
        let kept = match (&keys.sets, &keys.runs, &keys.grams) {
            (None, Some(runs), _) => self.texts.keep(|| runs.cutter())?,
            (None, None, Some(grams)) => self.texts.keep(|| grams.cutter())?,
            (Some(sets), ..) => {
                let (spec, settled) = (&sets.spec, sets.settled.as_ref().expect("with the first row"));
                let (order, words) = (&*settled.order, settled.words);
                self.texts.keep(|| {
                    let mut cutter = Cutter::new(spec, Some((order, words)));
                    move |document: &Document, stop: &Stop| cutter.keep(document, stop)
                })?
            }
            (None, None, None) => return Ok(()),
        };
        for (tid, kept) in kept {
            self.append(tid, kept)?;
        }
        Ok(())
    }

    /// Settles an index of sets by an empty sample if it is not settled yet, because no row of the
    /// sample had tokens.
    fn settle(&mut self) -> Result<()> {
        match &self.keys.sets {
            Some(sets) if sets.settled.is_none() => {
                let settled = Settled::from_sample(&sets.spec, TokenSample::new()?, None)?;
                self.settle_by(&settled)
            }
            _ => Ok(()),
        }
    }

    fn settle_by(&mut self, settled: &Settled) -> Result<()> {
        let (order, hash) = order::write(self.index, &settled.order, Logging::AtEnd)?;
        self.directory.meta = settled.put(self.directory.meta, order, hash);
        self.keys = ClassKeys::open(self.index, &self.directory.meta);
        self.writer = Self::writer(self.index, &mut self.directory, &self.keys);
        Ok(())
    }

    fn append(&mut self, tid: u64, kept: Option<StoredValue>) -> Result<()> {
        if self.writer.rows() == SignaturePair::LIST - 1 {
            self.close()?;
        }
        let Some(StoredValue { flags, bytes }) = kept else {
            self.writer.add(HeapRow::new(tid, HeapRow::NULL), &[])?;
            return Ok(());
        };
        let row = self.keys.post(&Item { row: HeapRow::new(tid, flags), bytes: &bytes }, &mut self.posted)?;
        let number = self.writer.add(row, &self.posted.sketch)?;
        for &signature in &self.posted.signatures {
            self.sorter.push(signature, number)?;
        }
        Ok(())
    }

    /// Finishes the current segment and starts the next.
    fn close(&mut self) -> Result<()> {
        let next = Self::writer(self.index, &mut self.directory, &self.keys);
        let writer = std::mem::replace(&mut self.writer, next);
        let sorter = std::mem::replace(&mut self.sorter, new_sorter());
        if writer.rows() > 0 {
            self.directory.segments.push(write_signatures(writer, sorter)?);
        }
        Ok(())
    }
}

fn new_sorter() -> PairSorter {
    PairSorter::new(budget() / 4 * 3)
}

fn write_signatures(mut writer: SegmentWriter, sorter: PairSorter) -> Result<Descriptor> {
    let total = sorter.len();
    progress(pg_sys::PROGRESS_CREATEIDX_SUBPHASE, SORTING);
    progress(pg_sys::PROGRESS_CREATEIDX_TUPLES_TOTAL, total as i64);
    writer.end_rows(total)?;
    let mut sorted = sorter.finish()?;
    let mut done = 0_i64;
    while let Some((signature, row)) = sorted.next()? {
        writer.pair(signature, row)?;
        done += 1;
        if done.trailing_zeros() >= 14 {
            progress(pg_sys::PROGRESS_CREATEIDX_TUPLES_DONE, done);
        }
    }
    progress(pg_sys::PROGRESS_CREATEIDX_TUPLES_DONE, done);
    Ok(writer.finish()?)
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
    let memory = pgrx::PgMemoryContexts::new("neardup row of an index build");
    let writer = Build::writer(index, &mut directory, &keys);
    let mut build = Build {
        index,
        keys,
        directory,
        writer,
        sorter: new_sorter(),
        texts: WaitingTexts::default(),
        posted: Posted::default(),
        rows: 0,
        memory: memory.value(),
    };
    progress(pg_sys::PROGRESS_CREATEIDX_SUBPHASE, SCANNING);
    if let Some(sets) = &build.keys.sets {
        // SAFETY: the caller's promise.
        let settled = unsafe { sample::settle(heap, index, info, sets, build.keys.class)? };
        if let Some(settled) = settled {
            build.settle_by(&settled)?;
        }
    }
    // SAFETY: the callback gets the state that is passed here.
    let heap_rows = unsafe {
        let state: *mut c_void = (&raw mut build).cast();
        scan_table([heap, index.relation()], info, true, add_row, state, std::ptr::null_mut(), None)?
    };
    if build.rows > 0 && build.keys.class.has_lists() {
        build.add_texts()?;
    }
    build.close()?;
    let metapage = index.write(0);
    index.rewrite(&metapage, &build.directory.to_bytes());
    drop(metapage);
    progress(pg_sys::PROGRESS_CREATEIDX_SUBPHASE, LOGGING);
    index.log_all();
    Ok((heap_rows, build.rows))
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
            let build = &mut *state.cast::<Build>();
            row_of_scan(build.memory, address, values, nulls, |tid, value| build.add(tid, value))
        });
    }
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
