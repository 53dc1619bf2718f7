//! `signature_index_check`: whether the index is in order, and has every row of the table.

use std::ffi::c_void;

use pgrx::{PgMemoryContexts, PgSqlErrorCode, pg_sys};
use roaring::RoaringTreemap;

use crate::hash;
use crate::pg::index::am::opened::{Opened, on_index};
use crate::pg::index::am::search::undisturbed;
use crate::pg::index::layout::format::{Descriptor, NONE};
use crate::pg::index::layout::items::Row;
use crate::pg::index::layout::meta::{Directory, Lock};
use crate::pg::index::opclass::keys::{Kept, Keys};
use crate::pg::index::opclass::values::{row_of_scan, scan_table};
use crate::pg::index::pages::buffer::{Index, Looked, Moved};
use crate::pg::index::storage::merge::{Cursor, budget};
use crate::pg::index::storage::pending::{self, Pages};
use crate::pg::index::storage::segment::Segment;
use crate::pg::server::call::sql_function;
use crate::pg::server::error::{Result, SqlError, guard};
use crate::{error, memory};

sql_function! {
    /// `signature_index_check(regclass, heapallindexed bool) → void`
    neardup_signature_index_check, pg_finfo_neardup_signature_index_check, |call| {
        let heap = call.need::<bool>(1, "heapallindexed")?;
        on_index(call, pg_sys::AccessShareLock, |opened| check(opened, heap))?;
        Ok(pg_sys::Datum::from(0))
    }
}

fn check(opened: Opened, heap: bool) -> Result<()> {
    let index = opened.index;
    // Taken before the index is read: what it shows is in the index.
    let snapshot = heap.then(|| Snapshot::new(index)).transpose()?;
    // On a standby the pages go their own way, and a check that they overtake begins again.
    // SAFETY: looks at the state of the server.
    let lock = (!unsafe { pg_sys::RecoveryInProgress() }).then(|| Lock::maintenance(index));
    let mut seen = Seen::default();
    let mut failed = None;
    undisturbed(index, || {
        seen = match heap.then(|| Filter::new(index)).transpose() {
            Ok(filter) => Seen { filter, ..Seen::default() },
            Err(error) => {
                failed = Some(error);
                return Ok(());
            }
        };
        look(index, &mut seen)
    });
    drop(lock);
    if let Some(error) = failed {
        return Err(error.into());
    }
    match (snapshot, seen.filter) {
        (Some(snapshot), Some(filter)) => compare(opened, snapshot, filter),
        _ => Ok(()),
    }
}

/// What was seen of the index.
#[derive(Default)]
struct Seen {
    rows: RoaringTreemap,
    filter: Option<Filter>,
}

/// Looks at every page.
fn look(index: Index, seen: &mut Seen) -> Looked<()> {
    let directory = Directory::read(index);
    let keys = Keys::of(index, &directory.meta);
    look_at_pending(index, &directory, &keys, seen)?;
    // Pending rows may be in a segment by now, on a standby.
    let directory = Directory::read(index);
    let mut ids: Vec<u64> = directory.segments.iter().map(|segment| segment.id).collect();
    ids.sort_unstable();
    ids.dedup();
    if ids.len() != directory.segments.len() || ids.last().is_some_and(|&id| id >= directory.meta.next_id) {
        index.corrupted(0, "segments have the same id, or one that was not given yet");
    }
    let bulk = index.in_bulk();
    for &about in &directory.segments {
        look_at_segment(&Segment::open(bulk, about, keys.payload())?, &keys, seen)?;
    }
    Ok(())
}

fn look_at_pending(index: Index, directory: &Directory, keys: &Keys, seen: &mut Seen) -> Looked<()> {
    let meta = &directory.meta;
    if (meta.head == NONE) != (meta.tail == NONE) || meta.head_sequence > meta.tail_sequence + 1 {
        index.corrupted(0, "the pending area has a beginning without an end");
    }
    let mut pages = Pages::all(index, meta);
    let mut signatures = Vec::new();
    let (mut count, mut last) = (0, meta.head == NONE);
    while let Some((block, contents)) = pages.next()? {
        count += 1;
        last |= block == meta.tail;
        if block == meta.tail && count != directory.pending_pages() {
            index.corrupted(block, "the pending area has another length than it says");
        }
        for item in pending::items(index, block, &contents) {
            keys.check(index, block, &item);
            if item.row.has(Row::DEAD) {
                continue;
            }
            add_row(index, block, item.row, seen);
            if let Some(filter) = &mut seen.filter {
                if item.row.has(Row::NULL) {
                    filter.add(item.row.tid(), NULL);
                } else if keys.payload() > 0 {
                    filter.add(item.row.tid(), hash::hash_bytes(item.bytes));
                } else {
                    keys.signatures_of(item.row, item.bytes, &mut signatures);
                    signatures.iter().for_each(|&signature| filter.add(item.row.tid(), signature));
                }
            }
        }
    }
    if !last {
        return Err(Moved { block: meta.tail });
    }
    Ok(())
}

/// Stands for the signatures of a NULL.
const NULL: u64 = 0x6e75_6c6c;

fn add_row(index: Index, block: u32, row: Row, seen: &mut Seen) {
    // SAFETY: looks at the state of the server.
    let standby = unsafe { pg_sys::RecoveryInProgress() };
    if !row.has(Row::CONTINUED) && !seen.rows.insert(row.tid()) && !standby {
        let tid = row.tid();
        index.corrupted(block, &format!("row ({},{}) is in the index twice", tid >> 16, tid & 0xffff));
    }
}

fn look_at_segment(segment: &Segment, keys: &Keys, seen: &mut Seen) -> Looked<()> {
    let (index, about) = (segment.index, segment.about);
    let wrong = |what: &str| -> ! { index.corrupted(about.root, &format!("segment {}: {what}", about.id)) };
    // The sum over all pairs of row and signature, as the rows have it and as the signatures have it.
    let pair = |signature: u64, row: u32| hash::mix(signature ^ hash::mix(row.into()));
    let (mut by_rows, mut by_signatures) = (0_u64, 0_u64);
    let mut signatures = Vec::new();
    let mut rows: Vec<Row> = Vec::new();
    let (mut nulls, mut continued) = (0, 0);
    let keep_rows = keys.payload() == 0 && seen.filter.is_some();
    for n in 0..about.row_pages {
        let (first, contents) = segment.row_page(n)?;
        for (number, bytes) in (first..).zip(contents.chunks_exact(Row::SIZE + keys.payload())) {
            let (head, sketch) = bytes.split_at(Row::SIZE);
            let row = Row::read(head);
            nulls += u32::from(row.has(Row::NULL));
            continued += u32::from(row.has(Row::CONTINUED));
            if keep_rows {
                rows.push(row);
            }
            if keys.payload() > 0 {
                keys.signatures_of(row, sketch, &mut signatures);
                by_rows = signatures
                    .iter()
                    .fold(by_rows, |sum, &signature| sum.wrapping_add(pair(signature, number)));
            }
            if row.has(Row::DEAD) {
                continue;
            }
            add_row(index, about.root, row, seen);
            if let Some(filter) = &mut seen.filter {
                if row.has(Row::NULL) {
                    filter.add(row.tid(), NULL);
                } else if keys.payload() > 0 {
                    filter.add(row.tid(), hash::hash_bytes(sketch));
                }
            }
        }
    }
    if (nulls, continued) != (about.nulls, about.continued) || about.dead > about.rows {
        wrong("another number of rows than the directory says");
    }
    let mut cursor = Cursor::new(segment);
    let (mut count, mut postings, mut longest) = (0, 0, 0);
    while let Some((signature, found)) = cursor.next()? {
        count += 1;
        postings += found.len();
        longest = longest.max(found.len());
        let mut previous = None;
        found.each(|row| {
            if previous.replace(row).is_some_and(|previous| previous >= row) {
                wrong("rows of a signature are not in order");
            }
            by_signatures = by_signatures.wrapping_add(pair(signature, row));
            if let (Some(filter), Some(row)) = (&mut seen.filter, rows.get(row as usize)) {
                filter.add(row.tid(), signature);
            }
        });
    }
    let Descriptor { signatures, postings: all, longest: most, .. } = about;
    if (count, postings, longest) != (signatures, all, most.into()) {
        wrong("another number of signatures than the directory says");
    }
    if keys.payload() > 0 && by_rows != by_signatures {
        wrong("signatures are not those of the sketches");
    }
    segment.check_fences()
}

/// A Bloom filter of pairs of row and signature.
struct Filter {
    bits: Vec<u64>,
}

impl Filter {
    const HASHES: u64 = 6;

    /// For an index, within `maintenance_work_mem`. Two bytes a pair make one in 400 that is not there
    /// look as if it was; a row has several.
    fn new(index: Index) -> error::Result<Self> {
        let pairs: u64 = Directory::read(index).segments.iter().map(|s| s.postings + u64::from(s.rows)).sum();
        let words = (pairs / 4 + (1 << 16)).min(budget() as u64 / 8).next_power_of_two() as usize;
        Ok(Self { bits: memory::filled(0, words, "checking an index")? })
    }

    fn places(&self, tid: u64, signature: u64) -> impl Iterator<Item = (usize, u64)> + use<> {
        let (first, step) =
            (hash::mix(signature ^ hash::mix(tid)), hash::mix(tid ^ hash::mix(signature)) | 1);
        let last = self.bits.len() as u64 * 64 - 1;
        (0..Self::HASHES).map(move |n| {
            let bit = first.wrapping_add(n.wrapping_mul(step)) & last;
            ((bit / 64) as usize, 1 << (bit % 64))
        })
    }

    fn add(&mut self, tid: u64, signature: u64) {
        self.places(tid, signature).for_each(|(word, bit)| self.bits[word] |= bit);
    }

    fn has(&self, tid: u64, signature: u64) -> bool {
        self.places(tid, signature).all(|(word, bit)| self.bits[word] & bit != 0)
    }
}

/// A snapshot of the transaction's, registered as long as it is used; after an error the server lets it go.
struct Snapshot(pg_sys::Snapshot);

impl Snapshot {
    /// One whose rows are all in the index. A new one is such a snapshot; an old one may show versions of rows from
    /// before the index was made, which it need not have.
    fn new(index: Index) -> Result<Self> {
        // SAFETY: inside a transaction; an index has its row of pg_index, with the header of a table's row.
        unsafe {
            let snapshot = pg_sys::GetTransactionSnapshot();
            let relation = &*index.relation();
            let is_old = pg_sys::XactIsoLevel >= pg_sys::XACT_REPEATABLE_READ as i32;
            if is_old
                && (*relation.rd_index).indcheckxmin
                && !pg_sys::TransactionIdPrecedes(made_by(relation.rd_indextuple), (*snapshot).xmin)
            {
                let message = format!(
                    "index \"{}\" is too new to be checked with this transaction's snapshot",
                    index.name()
                );
                return Err(SqlError::new(PgSqlErrorCode::ERRCODE_T_R_SERIALIZATION_FAILURE, message)
                    .hint("Try again later in a new transaction, or at READ COMMITTED."));
            }
            Ok(Self(pg_sys::RegisterSnapshot(snapshot)))
        }
    }

    fn release(self) {
        // SAFETY: registered by us, once.
        unsafe { pg_sys::UnregisterSnapshot(self.0) };
    }
}

/// HeapTupleHeaderGetXmin of htup_details.h.
///
/// # Safety
/// `tuple` is a row of a table.
unsafe fn made_by(tuple: pg_sys::HeapTuple) -> pg_sys::TransactionId {
    // SAFETY: the caller's promise.
    unsafe {
        let header = &*(*tuple).t_data;
        let frozen = pg_sys::HEAP_XMIN_FROZEN as u16;
        if header.t_infomask & frozen == frozen {
            return pg_sys::FrozenTransactionId;
        }
        header.t_choice.t_heap.t_xmin
    }
}

/// What the scan of the table compares with.
struct Comparison {
    index: Index,
    keys: Keys,
    filter: Filter,
    signatures: Vec<u64>,
    memory: pg_sys::MemoryContext,
}

/// Looks whether the index has every row that the snapshot shows.
fn compare(Opened { index, table }: Opened, snapshot: Snapshot, filter: Filter) -> Result<()> {
    let keys = Keys::of(index, &Directory::read(index).meta);
    let memory = PgMemoryContexts::new("neardup row of an index check");
    let mut comparison = Comparison { index, keys, filter, signatures: Vec::new(), memory: memory.value() };
    // SAFETY: the table of an open index; what CREATE INDEX CONCURRENTLY does to learn which rows a snapshot shows.
    unsafe {
        let scan = pg_sys::table_beginscan_strat(table, snapshot.0, 0, std::ptr::null_mut(), true, true);
        let info = pg_sys::BuildIndexInfo(index.relation());
        (*info).ii_Concurrent = true;
        let state: *mut c_void = (&raw mut comparison).cast();
        scan_table([table, index.relation()], info, false, compare_row, state, scan)?;
    }
    snapshot.release();
    Ok(())
}

unsafe extern "C-unwind" fn compare_row(
    _index: pg_sys::Relation,
    address: pg_sys::ItemPointer,
    values: *mut pg_sys::Datum,
    nulls: *mut bool,
    _alive: bool,
    state: *mut c_void,
) {
    // SAFETY: the outermost frame; the server gives one value of the index's only column, the row's address, and our
    // state.
    unsafe {
        guard(|| {
            let comparison = &mut *state.cast::<Comparison>();
            row_of_scan(comparison.memory, address, values, nulls, |tid, value| comparison.row(tid, value))
        });
    }
}

impl Comparison {
    /// # Safety
    /// `value` is of the type of the index's column.
    unsafe fn row(&mut self, tid: u64, value: Option<pg_sys::Datum>) -> Result<()> {
        let there = match value {
            None => self.filter.has(tid, NULL),
            Some(value) => {
                // SAFETY: the caller's promise.
                let Kept { flags, bytes } = unsafe { self.keys.keep(value)? };
                if self.keys.payload() > 0 {
                    self.filter.has(tid, hash::hash_bytes(&bytes))
                } else {
                    self.keys.signatures_of(Row::new(tid, flags), &bytes, &mut self.signatures);
                    self.signatures.iter().all(|&signature| self.filter.has(tid, signature))
                }
            }
        };
        if there {
            return Ok(());
        }
        let (name, block, offset) = (self.index.name(), tid >> 16, tid & 0xffff);
        let message = format!("row ({block},{offset}) of the table is missing in index \"{name}\"");
        Err(SqlError::new(PgSqlErrorCode::ERRCODE_INDEX_CORRUPTED, message)
            .hint(format!("Please REINDEX it: REINDEX INDEX {};", self.index.quoted())))
    }
}
