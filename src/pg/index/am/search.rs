//! Finds rows: first in the pending pages, then in the segments.

use pgrx::{PgSqlErrorCode, pg_sys};
use roaring::RoaringBitmap;

use super::gram_search::WantedRows;
use super::live_segments::living;
use super::search_grams::search_grams;
use super::search_runs::search_runs;
use super::search_sets::search_sets;
use super::search_values::{More, SketchTarget, search_values};
use crate::pg::index::layout::items::HeapRow;
use crate::pg::index::layout::meta::{Directory, Lock};
use crate::pg::index::families::keys::ClassKeys;
use crate::pg::index::families::options::StorageOptions;
use crate::pg::index::families::probe::Probe;
use crate::pg::index::pages::buffer::{Looked, Moved, OpenIndex};
use crate::pg::index::storage::cursor::SignatureRows;
use crate::pg::index::storage::pending::{self, PendingPages};
use crate::pg::index::storage::segment::Segment;
use crate::pg::server::error::SqlError;

/// The number of restarts after which a scan takes a lock that prevents removals.
const RESTARTS: u32 = 3;
/// The number of restarts after which a scan on a standby gives up. On a standby, no lock prevents
/// removals.
const RESTARTS_ON_STANDBY: u32 = 100;

/// Calls `read` until a call completes without meeting a page that was removed meanwhile. Every
/// call of `read` must start from the beginning.
pub(crate) fn undisturbed(index: OpenIndex, mut read: impl FnMut() -> Looked<()>) {
    let mut lock = None;
    let mut restarts = 0;
    loop {
        let before = Directory::read(index).meta.generation;
        let Err(Moved { block }) = read() else { break };
        if Directory::read(index).meta.generation == before {
            index.corrupted(block, "this page is not what refers to it says");
        }
        pgrx::check_for_interrupts!();
        restarts += 1;
        // SAFETY: reads the state of the server.
        let standby = unsafe { pg_sys::RecoveryInProgress() };
        if standby && restarts > RESTARTS_ON_STANDBY {
            SqlError::new(
                PgSqlErrorCode::ERRCODE_T_R_SERIALIZATION_FAILURE,
                "canceling statement due to conflict with recovery",
            )
            .hint(
                "Pages of the index were removed again and again while they were read. Run the query again.",
            )
            .raise();
        }
        if !standby && restarts >= RESTARTS && lock.is_none() {
            lock = Some(Lock::stay(index));
        }
    }
    drop(lock);
}

/// Calls `each` with every row that a probe finds and the sketch of the row, perhaps more than
/// once. A probe with a sketch finds exactly the rows that match.
pub(crate) fn search(
    index: OpenIndex,
    keys: &ClassKeys,
    probe: &Probe,
    each: &mut dyn FnMut(HeapRow, &[u8]),
) -> Looked<()> {
    if let Probe::Sets(sets) = probe {
        return search_sets(index, keys, sets, &mut |row, _| each(row, &[]));
    }
    if let Probe::Grams(grams) = probe {
        let mut each = |row: HeapRow, _: f64| {
            each(row, &[]);
            u64::MAX
        };
        return search_grams(index, keys, grams, WantedRows::All, &mut each);
    }
    if let Probe::Near { target, most, .. } = probe
        && keys.has_value_lists()
    {
        let sought = SketchTarget { target, most: *most, more: More::Nothing };
        let mut each = |row: HeapRow, sketch: &[u8], _| {
            each(row, sketch);
            u32::MAX
        };
        return search_values(index, keys, &sought, &mut each).map(|_| ());
    }
    // The pending pages are read before the directory, so that a row that is moving from the
    // pending pages to a segment is seen.
    let mut pages = PendingPages::all(index, &Directory::read(index).meta);
    while let Some((block, contents)) = pages.next()? {
        for item in pending::items(index, block, &contents) {
            keys.check(index, block, &item);
            if !item.row.has(HeapRow::DEAD) && keys.finds(probe, &item) {
                each(item.row, keys.sketch_of(item.bytes));
            }
        }
    }
    let directory = Directory::read(index);
    let now = keys.now(index, &directory.meta);
    let keys = now.as_ref().unwrap_or(keys);
    let segments = living(index, &directory, keys)?;
    let mut visit = |_, row: HeapRow, sketch: &[u8]| {
        if !row.has(HeapRow::DEAD) && keys.accepts(probe, row, sketch) {
            each(row, sketch);
        }
    };
    if let Probe::Runs { hashes, anchors } = probe {
        return search_runs(&segments, hashes, anchors, &mut visit);
    }
    match probe.signatures() {
        Some(signatures) => {
            for (segment, rows) in segments.iter().zip(candidates(index, &segments, signatures)?) {
                segment.look(rows, &mut visit)?;
            }
        }
        None => {
            let bulk = index.in_bulk();
            for mut segment in segments {
                segment.index = bulk;
                segment.look(0..segment.about.rows, &mut visit)?;
            }
        }
    }
    Ok(())
}

/// Reports whether a probe looks at more rows of the segments than they have pages of rows, so that
/// reading these pages takes no longer.
pub(super) fn finds_many(index: OpenIndex, keys: &ClassKeys, probe: &Probe) -> Looked<bool> {
    let Some(signatures) = probe.signatures() else { return Ok(false) };
    let segments = living(index, &Directory::read(index), keys)?;
    let pages: u64 = segments.iter().map(|segment| u64::from(segment.about.row_pages)).sum();
    let mut rows = 0;
    for &signature in signatures {
        pgrx::check_for_interrupts!();
        for segment in &segments {
            rows += segment.find(signature)?.map_or(0, |found| found.count());
        }
        if rows > pages {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Calls `each` with every row whose bits differ from `bits` in at most as many as are wanted, or
/// that has flags, perhaps more than once. `each` may change what is wanted of the rows that
/// follow. Returns whether rows were left out.
pub(super) fn near_bits(
    index: OpenIndex,
    keys: &ClassKeys,
    bits: &[u8],
    each: &mut dyn FnMut(HeapRow, &[u8], &mut u32),
) -> Looked<bool> {
    /// Of an index with more bytes of rows than this share of the server's buffers, pages are read
    /// through a ring.
    const SHARE: u32 = 4;
    let mut wanted = u32::MAX;
    // The pending pages are read before the directory, so that a row that is moving from the
    // pending pages to a segment is seen.
    let mut pages = PendingPages::all(index, &Directory::read(index).meta);
    while let Some((block, contents)) = pages.next()? {
        for item in pending::items(index, block, &contents) {
            keys.check(index, block, &item);
            if !item.row.has(HeapRow::DEAD) {
                each(item.row, item.bytes, &mut wanted);
            }
        }
    }
    let segments = living(index, &Directory::read(index), keys)?;
    let pages: u64 = segments.iter().map(|segment| u64::from(segment.about.row_pages)).sum();
    // SAFETY: an int that does not change.
    let buffers = unsafe { pg_sys::NBuffers }.unsigned_abs() / SHARE;
    let bulk = index.in_bulk();
    let mut left_out = 0;
    for mut segment in segments {
        if pages > u64::from(buffers) {
            segment.index = bulk;
        }
        left_out += segment.near_rows(bits, &mut wanted, &mut |row, sketch, wanted: &mut u32| {
            if !row.has(HeapRow::DEAD) {
                each(row, sketch, wanted);
            }
        })?;
    }
    Ok(left_out > 0)
}

/// Calls `each` with one row after another, in no particular order and perhaps more than once,
/// until `each` returns false. NULLs are left out.
pub(super) fn some_rows(
    index: OpenIndex,
    keys: &ClassKeys,
    each: &mut dyn FnMut(HeapRow) -> bool,
) -> Looked<()> {
    let mut goes_on = |row: HeapRow| row.has(HeapRow::DEAD | HeapRow::NULL | HeapRow::CONTINUED) || each(row);
    // The pending pages are read before the directory, so that a row that is moving from the
    // pending pages to a segment is seen.
    let mut pages = PendingPages::all(index, &Directory::read(index).meta);
    while let Some((block, contents)) = pages.next()? {
        for item in pending::items(index, block, &contents) {
            if !goes_on(item.row) {
                return Ok(());
            }
        }
    }
    let directory = Directory::read(index);
    let now = keys.now(index, &directory.meta);
    let width = HeapRow::SIZE + now.as_ref().unwrap_or(keys).payload();
    for segment in living(index, &directory, now.as_ref().unwrap_or(keys))? {
        for n in 0..segment.about.row_pages {
            let (_, page) = segment.row_page(n)?;
            if !page.chunks_exact(width).map(HeapRow::read).all(&mut goes_on) {
                return Ok(());
            }
        }
    }
    Ok(())
}

/// Returns the rows of each segment that have one of these signatures.
fn candidates(index: OpenIndex, segments: &[Segment], signatures: &[u64]) -> Looked<Vec<RoaringBitmap>> {
    let limit = StorageOptions::read(index).stop_limit();
    let mut rows = vec![RoaringBitmap::new(); segments.len()];
    for &signature in signatures {
        pgrx::check_for_interrupts!();
        let found = segments.iter().map(|segment| segment.find(signature)).collect::<Looked<Vec<_>>>()?;
        if limit > 0 && found.iter().flatten().map(SignatureRows::count).sum::<u64>() > limit {
            continue;
        }
        for ((segment, rows), found) in segments.iter().zip(&mut rows).zip(found) {
            match found {
                None => {}
                Some(SignatureRows::Few(few)) => rows.extend(few),
                Some(SignatureRows::Many(list)) => *rows |= segment.rows_of(list)?,
            }
        }
    }
    Ok(rows)
}
