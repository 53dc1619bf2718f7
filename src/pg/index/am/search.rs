//! Finds rows: first in the pending pages, then in the segments.

use pgrx::{PgSqlErrorCode, pg_sys};
use roaring::RoaringBitmap;

use super::reading::{FoundRow, SearchEnd, Taker, WantedRows, in_segments, read_pending};
use super::search_grams::search_grams;
use super::search_runs::search_runs;
use super::search_sets::search_sets;
use super::search_values::{SoughtSketch, search_values};
use crate::pg::index::families::keys::ClassKeys;
use crate::pg::index::families::options::StorageOptions;
use crate::pg::index::families::probe::Probe;
use crate::pg::index::layout::items::HeapRow;
use crate::pg::index::layout::meta::{Directory, Lock};
use crate::pg::index::pages::buffer::{Looked, Moved, OpenIndex};
use crate::pg::index::storage::cursor::SignatureRows;
use crate::pg::index::storage::list_reader::PartReader;
use crate::pg::index::storage::segment::{COLLECTING, Segment};
use crate::pg::server::error::{SqlError, or_raise};
use neardup_core::memory;

/// The number of restarts after which a scan takes a lock that prevents removals.
const RESTARTS: u32 = 3;
/// The number of restarts after which a scan on a standby gives up. On a standby, no lock prevents
/// removals.
const RESTARTS_ON_STANDBY: u32 = 100;
/// Any rows of a group are looked at so many at a time.
const TOGETHER: usize = 64;

/// Calls `read` until a call completes without meeting a page that was removed meanwhile, and
/// returns its result. Every call of `read` must start from the beginning.
pub(crate) fn undisturbed<T>(index: OpenIndex, mut read: impl FnMut() -> Looked<T>) -> T {
    let mut lock = None;
    let mut restarts = 0;
    loop {
        let before = Directory::read(index).meta.generation;
        let Moved { block } = match read() {
            Ok(found) => return found,
            Err(moved) => moved,
        };
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
}

/// Gives every row that a probe finds to `taker`, perhaps more than once. A probe with a sketch
/// finds exactly the rows that match, unless others are wanted, too.
pub(super) fn search(
    index: OpenIndex,
    keys: &ClassKeys,
    probe: &Probe,
    wanted: WantedRows,
    taker: &mut dyn Taker,
) -> Looked<SearchEnd> {
    match probe {
        Probe::Sets(sets) => search_sets(index, keys, sets, taker)?,
        Probe::Grams(grams) => search_grams(index, keys, grams, wanted, taker)?,
        &Probe::Near { ref sketch, most, .. } if keys.has_value_lists() => {
            return search_values(index, keys, &SoughtSketch { sketch, most, wanted }, taker);
        }
        _ => search_signatures(index, keys, probe, taker)?,
    }
    Ok(SearchEnd::default())
}

fn search_signatures(index: OpenIndex, keys: &ClassKeys, probe: &Probe, taker: &mut dyn Taker) -> Looked<()> {
    read_pending(index, keys, |items| {
        for item in items.filter(|item| keys.finds(probe, item)) {
            taker.row(FoundRow::plain(item.row, item.bytes));
        }
        true
    })?;
    in_segments(index, keys, |keys, segments| {
        let mut visit = |_, row: HeapRow, sketch: &[u8]| {
            if !row.has(HeapRow::DEAD) && keys.accepts(probe, row, sketch) {
                taker.row(FoundRow::plain(row, sketch));
            }
        };
        if let Probe::Runs { hashes, anchors } = probe {
            return search_runs(&segments, hashes, anchors, &mut visit);
        }
        let Some(signatures) = probe.signatures() else {
            let bulk = index.in_bulk();
            return segments.into_iter().try_for_each(|mut segment| match sought_rows(&segment)? {
                Some(rows) => segment.look(rows, &mut visit),
                None => {
                    segment.index = bulk;
                    segment.look(0..segment.about.rows, &mut visit)
                }
            });
        };
        let candidates = candidates(index, &segments, signatures)?;
        segments.iter().zip(candidates).try_for_each(|(segment, rows)| segment.look(rows, &mut visit))
    })
}

/// Reports whether a probe looks at more rows of the segments than they have pages of rows, so that
/// reading these pages takes no longer.
pub(super) fn finds_many(index: OpenIndex, keys: &ClassKeys, probe: &Probe) -> Looked<bool> {
    let Some(signatures) = probe.signatures() else { return Ok(false) };
    in_segments(index, keys, |_, segments| {
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
    })
}

/// Gives every row to `taker` whose bits differ from `bits` in at most as many as are wanted, or
/// that has flags, perhaps more than once.
pub(super) fn near_bits(
    index: OpenIndex,
    keys: &ClassKeys,
    bits: &[u8],
    taker: &mut dyn Taker,
) -> Looked<SearchEnd> {
    /// Of an index with more bytes of rows than this share of the server's buffers, pages are read
    /// through a ring.
    const SHARE: u32 = 4;
    let mut wanted = u32::MAX;
    let mut give = |row, sketch: &[u8], wanted: &mut u32| {
        *wanted = taker.row(FoundRow::plain(row, sketch)).try_into().unwrap_or(u32::MAX);
    };
    read_pending(index, keys, |items| {
        items.for_each(|item| give(item.row, item.bytes, &mut wanted));
        true
    })?;
    in_segments(index, keys, |_, segments| {
        let pages: u64 = segments.iter().map(|segment| u64::from(segment.about.row_pages)).sum();
        // SAFETY: an int that does not change.
        let buffers = unsafe { pg_sys::NBuffers }.unsigned_abs() / SHARE;
        let bulk = index.in_bulk();
        let mut left_out = 0;
        for mut segment in segments {
            let mut each = |row: HeapRow, sketch: &[u8], wanted: &mut u32| {
                if !row.has(HeapRow::DEAD) {
                    give(row, sketch, wanted);
                }
            };
            let pages_of_group = sought_rows(&segment)?.map(|rows| segment.pages_of(rows));
            if pages > u64::from(buffers) && pages_of_group.is_none() {
                segment.index = bulk;
            }
            let all = 0..segment.about.row_pages;
            left_out += match pages_of_group {
                None => segment.near_rows(all, bits, &mut wanted, &mut each)?,
                Some(some) => segment.near_rows(some, bits, &mut wanted, &mut each)?,
            };
        }
        Ok(SearchEnd { reached: None, left_out: left_out > 0 })
    })
}

/// Calls `each` with one row after another, in no particular order and perhaps more than once,
/// until `each` returns false. NULLs are left out.
pub(super) fn some_rows(
    index: OpenIndex,
    keys: &ClassKeys,
    each: &mut dyn FnMut(HeapRow) -> bool,
) -> Looked<()> {
    let mut goes_on = |row: HeapRow| row.has(HeapRow::DEAD | HeapRow::NULL | HeapRow::CONTINUED) || each(row);
    if !read_pending(index, keys, |items| items.map(|item| item.row).all(&mut goes_on))? {
        return Ok(());
    }
    in_segments(index, keys, |keys, segments| {
        for segment in segments {
            if let Some(rows) = sought_rows(&segment)? {
                for some in rows.chunks(TOGETHER) {
                    let mut more = true;
                    segment.look(some.iter().copied(), |_, row, _| more = more && goes_on(row))?;
                    if !more {
                        return Ok(());
                    }
                }
                continue;
            }
            for n in 0..segment.about.row_pages {
                let (_, page) = segment.row_page(n)?;
                let rows = page.chunks_exact(HeapRow::SIZE + keys.payload());
                let mut sought = rows.filter(|row| segment.sought(&row[HeapRow::SIZE..]).is_some());
                if !sought.by_ref().map(HeapRow::read).all(&mut goes_on) {
                    return Ok(());
                }
            }
        }
        Ok(())
    })
}

/// Returns the rows of a segment that may be of the sought group, or None if no group is sought, or
/// the segment has no list of its rows.
fn sought_rows(segment: &Segment) -> Looked<Option<Vec<u32>>> {
    let Some(signature) = segment.sought.and_then(|sought| sought.of_all) else { return Ok(None) };
    let mut rows = Vec::new();
    if segment.class_bits() == 0 {
        if let Some(found) = segment.find(signature)? {
            segment.each_row(&found, |row| or_raise(memory::push(&mut rows, row, COLLECTING)))?;
        }
    } else if let Some(mut part) = PartReader::list_of(segment, segment.class(signature))? {
        part.rows_before(u32::MAX, &mut rows)?;
    }
    Ok(Some(rows))
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
                Some(SignatureRows::Many(list)) => *rows |= segment.rows_of(list)?,
                Some(few) => segment.each_row(&few, |row| _ = rows.insert(row))?,
            }
        }
    }
    Ok(rows)
}
