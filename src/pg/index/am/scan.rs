//! The functions that the server calls to scan the index.

use pgrx::{PgMemoryContexts, pg_sys};

use super::ordered::{OrderedScan, work_memory};
use super::reading::FoundRow;
use super::search::undisturbed;
use super::state::Scan;
use super::table::Heap;
use crate::pg::compat;
use crate::pg::index::families::groups::GroupHashes;
use crate::pg::index::families::keys::ClassKeys;
use crate::pg::index::families::options::StorageOptions;
use crate::pg::index::families::probe::Probe;
use crate::pg::index::layout::group::MOST_COLUMNS;
use crate::pg::index::layout::items::Tid;
use crate::pg::index::layout::meta::address_of;
use crate::pg::index::pages::buffer::OpenIndex;
use crate::pg::index::storage::segment::COLLECTING;
use crate::pg::server::contexts::{in_context, new_context};
use crate::pg::server::error::{Result, or_raise};
use crate::pg::server::explaining::{self, Conflict};
use crate::pg::server::guard::guard;
use neardup_core::memory;

/// `ambeginscan`
pub(crate) unsafe extern "C-unwind" fn begin(
    relation: pg_sys::Relation,
    keys: i32,
    orders: i32,
) -> pg_sys::IndexScanDesc {
    // SAFETY: this is the outermost frame; the relation stays open during the scan. The state and
    // the context for arguments are freed with the memory context of the scan.
    unsafe {
        guard(|| {
            let scan = pg_sys::RelationGetIndexScan(relation, keys, orders);
            if orders > 0 {
                let count = orders as usize;
                (*scan).xs_orderbyvals = pg_sys::palloc0(count * size_of::<pg_sys::Datum>()).cast();
                (*scan).xs_orderbynulls = pg_sys::palloc0(count).cast();
            }
            let index = OpenIndex::new(relation);
            let state = Scan {
                index,
                keys: ClassKeys::read(index).1,
                probes: Vec::new(),
                ordered: OrderedScan::default(),
                memory: new_context(pg_sys::CurrentMemoryContext, c"neardup arguments of a scan"),
                home: pg_sys::CurrentMemoryContext,
                heap: Heap::default(),
                seen: None,
                no_columns: std::ptr::null_mut(),
                counted: false,
            };
            (*scan).opaque = PgMemoryContexts::CurrentMemoryContext.leak_and_drop_on_delete(state).cast();
            Ok(scan)
        })
    }
}

/// # Safety
/// `scan` was made by [`begin`].
pub(crate) unsafe fn state<'a>(scan: pg_sys::IndexScanDesc) -> &'a mut Scan {
    // SAFETY: the caller's promise.
    unsafe { &mut *(*scan).opaque.cast() }
}

/// `amrescan`
pub(crate) unsafe extern "C-unwind" fn rescan(
    scan: pg_sys::IndexScanDesc,
    keys: pg_sys::ScanKey,
    _key_count: i32,
    orders: pg_sys::ScanKey,
    _order_count: i32,
) {
    // SAFETY: this is the outermost frame; the server gives a scan of ours with as many keys as
    // when it began.
    unsafe {
        guard(|| {
            let copy = |from: pg_sys::ScanKey, to: pg_sys::ScanKey, count: i32| {
                if !from.is_null() && count > 0 {
                    std::ptr::copy(from, to, count as usize);
                }
            };
            copy(keys, (*scan).keyData, (*scan).numberOfKeys);
            copy(orders, (*scan).orderByData, (*scan).numberOfOrderBys);
            let state = state(scan);
            pg_sys::MemoryContextReset(state.memory);
            in_context(state.memory, || prepare(scan, state))
        });
    }
}

/// # Safety
/// `scan` was made by [`begin`] and has its keys.
unsafe fn prepare(scan: pg_sys::IndexScanDesc, state: &mut Scan) -> Result<()> {
    // SAFETY: the caller's promise; empty arrays may be null.
    let keys = |data: pg_sys::ScanKey, count: i32| unsafe {
        if count > 0 { std::slice::from_raw_parts(data, count as usize) } else { &[] }
    };
    let argument =
        |key: &pg_sys::ScanKeyData| (key.sk_flags as u32 & pg_sys::SK_ISNULL == 0).then_some(key.sk_argument);
    state.probes.clear();
    let columns = state.index.group_columns();
    let mut group = GroupHashes::new(state.index);
    // SAFETY: the operators take arguments of these types.
    unsafe {
        for key in keys((*scan).keyData, (*scan).numberOfKeys) {
            let column = usize::from(key.sk_attno.unsigned_abs()) - 1;
            state.probes.push(match argument(key) {
                None => Probe::Nothing,
                Some(value) if column >= columns => state.keys.probe(key.sk_strategy, value)?,
                Some(value) if group.add(column, key.sk_subtype, value) => continue,
                Some(_) => Probe::Nothing,
            });
        }
        // Without a value of each group column, no signature of a row is known.
        let is_grouped = state.keys.seek(group.group());
        if !is_grouped && state.probes.iter().all(|probe| !matches!(probe, Probe::Nothing)) {
            state.probes = vec![Probe::Everything];
        }
        let mut orders = Vec::new();
        for order in keys((*scan).orderByData, (*scan).numberOfOrderBys) {
            orders.push(argument(order).map(|value| state.keys.target(value)).transpose()?);
        }
        let stopped = StorageOptions::read(state.index).stop_limit() > 0;
        state.ordered = OrderedScan::new(&state.keys, orders, state.probes.is_empty(), stopped)?;
    }
    state.probes.sort_by_key(Probe::effort);
    state.counted = false;
    Ok(())
}

/// Counts a scan in the statistics, once.
///
/// # Safety
/// `scan` was made by [`begin`].
unsafe fn count(scan: pg_sys::IndexScanDesc) {
    // SAFETY: the caller's promise.
    unsafe {
        if !std::mem::replace(&mut state(scan).counted, true) {
            compat::count_index_scan(scan);
        }
    }
}

/// `amgetbitmap`
pub(crate) unsafe extern "C-unwind" fn get_bitmap(
    scan: pg_sys::IndexScanDesc,
    bitmap: *mut pg_sys::TIDBitmap,
) -> i64 {
    // SAFETY: this is the outermost frame; the scan is ours.
    unsafe {
        guard(|| {
            count(scan);
            Ok(fill_bitmap(state(scan), bitmap))
        })
    }
}

/// Adds the rows that a scan finds to a bitmap of the server and returns their number.
fn fill_bitmap(state: &mut Scan, bitmap: *mut pg_sys::TIDBitmap) -> i64 {
    if state.is_empty() {
        return 0;
    }
    let most = work_memory() / size_of::<Tid>();
    let recheck = state.recheck();
    let mut found = 0;
    let mut tids: Vec<Tid> = Vec::new();
    let (index, mut heap) = (state.index, Heap::default());
    let mut add = |tids: &mut Vec<Tid>| {
        tids.sort_unstable();
        tids.dedup();
        if let Some(&last) = tids.last() {
            heap.check(index, last);
        }
        found += tids.len() as i64;
        for chunk in tids.chunks(1024) {
            let mut addresses: Vec<_> = chunk.iter().map(|&tid| address_of(tid)).collect();
            // SAFETY: the bitmap is the server's, which copies the addresses.
            unsafe {
                pg_sys::tbm_add_tuples(bitmap, addresses.as_mut_ptr(), addresses.len() as i32, recheck)
            };
        }
        tids.clear();
    };
    let full = &mut add;
    undisturbed(state.index, || {
        // Rows that were added to the bitmap stay there. A row that was found once and has since
        // been removed is visible to no snapshot.
        tids.clear();
        let mut take = |found: FoundRow<'_>| {
            or_raise(memory::push(&mut tids, found.row.tid(), COLLECTING));
            if tids.len() >= most {
                full(&mut tids);
            }
            u64::MAX
        };
        state.search(&mut take)
    });
    add(&mut tids);
    found
}

/// `amgettuple`: puts the next row into a scan. Returns false after the last row.
pub(crate) unsafe extern "C-unwind" fn get_tuple(
    scan: pg_sys::IndexScanDesc,
    _direction: pg_sys::ScanDirection::Type,
) -> bool {
    // SAFETY: this is the outermost frame; the scan is ours and has its keys. The server calls this
    // for forward scans only, as we declare that we support no others.
    unsafe {
        guard(|| {
            count(scan);
            explaining::found(None);
            let state = state(scan);
            // A snapshot that is not an MVCC snapshot may see another row, which has been stored at
            // the same address since.
            let snapshot = (*scan).xs_snapshot;
            let mvcc = !snapshot.is_null()
                && matches!(
                    (*snapshot).snapshot_type,
                    pg_sys::SnapshotType::SNAPSHOT_MVCC | pg_sys::SnapshotType::SNAPSHOT_HISTORIC_MVCC
                );
            state.seen = Some(((*scan).heapRelation, snapshot)).filter(|(table, _)| mvcc && !table.is_null());
            let Some((tid, distances, recheck)) = state.next() else { return Ok(false) };
            state.heap.check(state.index, tid);
            (*scan).xs_heaptid = address_of(tid);
            (*scan).xs_recheck = state.recheck() || !mvcc;
            // Only a check of a constraint sees rows of transactions in progress.
            if !snapshot.is_null()
                && (*snapshot).snapshot_type == pg_sys::SnapshotType::SNAPSHOT_DIRTY
                && !(*scan).heapRelation.is_null()
            {
                let table = (*(*scan).heapRelation).rd_id;
                explaining::found(Some(Conflict { table, row: (*scan).xs_heaptid, is_refused: true }));
            }
            if (*scan).xs_want_itup {
                // An index-only scan for a query that needs no column at all, such as count(*).
                if state.no_columns.is_null() {
                    let descriptor = (*state.index.relation()).rd_att;
                    let mut values = [pg_sys::Datum::null(); 1 + MOST_COLUMNS];
                    let mut nulls = [true; 1 + MOST_COLUMNS];
                    state.no_columns = in_context(state.home, || {
                        pg_sys::index_form_tuple(descriptor, values.as_mut_ptr(), nulls.as_mut_ptr())
                    });
                }
                (*scan).xs_itup = state.no_columns;
                (*scan).xs_itupdesc = (*state.index.relation()).rd_att;
            }
            if !distances.is_empty() {
                let mut types = vec![pg_sys::FLOAT8OID; distances.len()];
                let mut values: Vec<_> = distances
                    .iter()
                    .map(|distance| pg_sys::IndexOrderByDistance {
                        value: distance.unwrap_or(0.0),
                        isnull: distance.is_none(),
                    })
                    .collect();
                pg_sys::index_store_float8_orderby_distances(
                    scan,
                    types.as_mut_ptr(),
                    values.as_mut_ptr(),
                    recheck,
                );
            }
            Ok(true)
        })
    }
}

/// `amendscan`
#[pgrx::pg_guard]
pub unsafe extern "C-unwind" fn end(scan: pg_sys::IndexScanDesc) {
    // SAFETY: the scan is ours; the rest of its state is freed with its memory context.
    unsafe {
        explaining::found(None);
        let state = state(scan);
        state.probes = Vec::new();
        state.ordered = OrderedScan::default();
        pg_sys::MemoryContextReset(state.memory);
    }
}
