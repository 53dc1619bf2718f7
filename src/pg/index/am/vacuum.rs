//! VACUUM: flags dead rows, flushes and merges, and frees pages.

use std::ffi::c_void;

use pgrx::pg_sys;
use roaring::RoaringBitmap;

use crate::pg::compat::vacuum_delay;
use crate::pg::index::families::keys::ClassKeys;
use crate::pg::index::layout::format::PageKind;
use crate::pg::index::layout::items::HeapRow;
use crate::pg::index::layout::meta::{Directory, address_of};
use crate::pg::index::pages::buffer::OpenIndex;
use crate::pg::index::storage::maintenance::{Maintenance, sure};
use crate::pg::index::storage::order;
use crate::pg::index::storage::pending::PendingPages;
use crate::pg::index::storage::segment::Segment;
use crate::pg::server::error::Result;
use crate::pg::server::guard::guard;

fn results(stats: *mut pg_sys::IndexBulkDeleteResult) -> *mut pg_sys::IndexBulkDeleteResult {
    if stats.is_null() {
        // SAFETY: an all-zero result is valid.
        unsafe { pg_sys::palloc0(size_of::<pg_sys::IndexBulkDeleteResult>()).cast() }
    } else {
        stats
    }
}

/// `ambulkdelete`
pub(crate) unsafe extern "C-unwind" fn bulk_delete(
    info: *mut pg_sys::IndexVacuumInfo,
    stats: *mut pg_sys::IndexBulkDeleteResult,
    callback: pg_sys::IndexBulkDeleteCallback,
    state: *mut c_void,
) -> *mut pg_sys::IndexBulkDeleteResult {
    // SAFETY: this is the outermost frame; the server gives an open relation and a function that
    // reports whether a row is dead; its errors become ours.
    unsafe {
        guard(|| {
            let stats = results(stats);
            let index = OpenIndex::new((*info).index).with((*info).strategy);
            let callback = callback.expect("VACUUM gives a callback");
            let mut is_dead = |row: HeapRow| {
                let mut address = address_of(row.tid());
                pg_sys::ffi::pg_guard_ffi_boundary(|| callback(&raw mut address, state))
            };
            let [alive, marked] = mark(index, &mut is_dead);
            (*stats).estimated_count = false;
            (*stats).num_index_tuples = alive as f64;
            (*stats).tuples_removed += marked as f64;
            (*stats).num_pages = index.blocks_now();
            Ok(stats)
        })
    }
}

/// Flags dead rows. Returns the number of live rows and the number of rows that it flagged.
fn mark(index: OpenIndex, is_dead: &mut dyn FnMut(HeapRow) -> bool) -> [u64; 2] {
    let maintenance = Maintenance::begin(index);
    let (directory, keys) = ClassKeys::read(index);
    let (mut alive, mut marked) = (0, 0);
    let mut pages = PendingPages::all(index, &directory.meta);
    while let Some([living, flagged]) = sure(index, pages.mark_next(&mut *is_dead)) {
        alive += living;
        marked += flagged;
    }
    let mut counts = Vec::new();
    for &about in &directory.segments {
        let segment = sure(index, Segment::open(index, about, keys.layout()));
        let (dead, flagged) = sure(index, segment.mark(&mut *is_dead));
        alive += u64::from(about.rows.saturating_sub(dead).saturating_sub(about.continued));
        marked += u64::from(flagged);
        counts.push((about.id, dead));
    }
    maintenance.count_dead(&counts);
    [alive, marked]
}

/// `amvacuumcleanup`
pub(crate) unsafe extern "C-unwind" fn cleanup(
    info: *mut pg_sys::IndexVacuumInfo,
    stats: *mut pg_sys::IndexBulkDeleteResult,
) -> *mut pg_sys::IndexBulkDeleteResult {
    // SAFETY: this is the outermost frame; the server gives an open relation.
    unsafe {
        guard(|| {
            if (*info).analyze_only {
                return Ok(stats);
            }
            let first = stats.is_null();
            let stats = results(stats);
            let index = OpenIndex::new((*info).index).with((*info).strategy);
            let free = tidy(index)?;
            if first {
                let directory = Directory::read(index);
                let dead: u64 = directory.segments.iter().map(|segment| u64::from(segment.dead)).sum();
                (*stats).estimated_count = true;
                (*stats).num_index_tuples = directory.rows().saturating_sub(dead) as f64;
            }
            (*stats).num_pages = index.blocks_now();
            (*stats).pages_free = free;
            Ok(stats)
        })
    }
}

/// Flushes the pending pages, merges the segments that are due, and frees pages. Returns the number
/// of free pages.
fn tidy(index: OpenIndex) -> Result<u32> {
    let maintenance = Maintenance::begin(index);
    maintenance.flush(true)?;
    maintenance.merge_due()?;
    Ok(sweep(index, &maintenance))
}

/// Frees all pages to which nothing refers and reports them to the free space map.
pub(crate) fn sweep(index: OpenIndex, _right: &Maintenance) -> u32 {
    // The number of blocks is read before the directory. Pages that are added later belong to
    // inserts, or nothing refers to them.
    let blocks = index.blocks();
    let directory = Directory::read(index);
    let used = used(index, &directory);
    let mut free = 0;
    for block in (0..blocks).filter(|&block| !used.contains(block)) {
        vacuum_delay();
        let page = index.read(block);
        // Inserts may add pages during the sweep.
        let added = page.has(PageKind::Pending) && page.tail().id > directory.meta.tail_sequence;
        if added {
            continue;
        }
        free += 1;
        if page.is_free() {
            drop(page);
            index.offer(block);
        } else {
            drop(page);
            index.free([block]);
        }
    }
    index.tidy_map();
    free
}

/// Returns the blocks that can be reached from the metapage, and block 0 itself.
pub(crate) fn used(index: OpenIndex, directory: &Directory) -> RoaringBitmap {
    let keys = ClassKeys::open(index, &directory.meta);
    let mut used = RoaringBitmap::from_iter([0]);
    if keys.sets().is_some() {
        used.extend(order::blocks(index, &directory.meta));
    }
    let mut pages = PendingPages::all(index, &directory.meta);
    while let Some((block, _)) = sure(index, pages.next()) {
        used.insert(block);
    }
    for &about in &directory.segments {
        let segment = sure(index, Segment::open(index, about, keys.layout()));
        used.extend(segment.blocks());
    }
    used
}
