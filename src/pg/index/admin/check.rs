//! `signature_index_check`: checks that an index is sound and, on request, that it has every row of
//! its table.

use pgrx::pg_sys;
use roaring::RoaringTreemap;

use super::compare::{BloomFilter, RowMarks, compare, moment};
use crate::pg::index::am::search::undisturbed;
use crate::pg::index::am::user_index::{UserIndex, on_index, refuse_spread};
use crate::pg::index::families::keys::ClassKeys;
use crate::pg::index::families::values::Posted;
use crate::pg::index::layout::format::{Descriptor, List, NONE, Pieces};
use crate::pg::index::layout::items::{HeapRow, Item};
use crate::pg::index::layout::meta::Directory;
use crate::pg::index::pages::buffer::{Looked, Moved, OpenIndex};
use crate::pg::index::storage::cursor::SegmentCursor;
use crate::pg::index::storage::list_bytes::ListSource;
use crate::pg::index::storage::list_reader::PartReader;
use crate::pg::index::storage::maintenance::Maintenance;
use crate::pg::index::storage::order;
use crate::pg::index::storage::pending::{self, PendingPages};
use crate::pg::index::storage::segment::Segment;
use crate::pg::index::storage::sort::place_of_size;
use crate::pg::server::call::sql_functions;
use crate::pg::server::error::{Result, or_raise};
use neardup_core::hash;

sql_functions! {
    /// `signature_index_check(regclass, heapallindexed bool) → void`
    neardup_signature_index_check, within Maintenance: |call| {
        let heap = call.need::<bool>(1, "heapallindexed")?;
        on_index(call, pg_sys::AccessShareLock, |opened| {
            refuse_spread(&opened, if heap { "signature_index_check(c.oid, true)" } else { "signature_index_check(c.oid)" }, "count(*)")?;
            if heap {
                opened.check_code("signature_index_check('…', true)")?;
            }
            check(opened, heap)
        })?;
        Ok(pg_sys::Datum::from(0))
    };
}

fn check(opened: UserIndex, heap: bool) -> Result<()> {
    let index = opened.index;
    // The snapshot is taken before the index is read, so that every row it shows is in the index.
    let moment = heap.then(|| moment(index)).transpose()?;
    // On a standby, no lock keeps the pages in place. If replay removes pages that the check is
    // reading, the check starts over.
    // SAFETY: reads the state of the server.
    let lock = (!unsafe { pg_sys::RecoveryInProgress() }).then(|| Maintenance::begin(index));
    let seen = undisturbed(index, || {
        let filter = heap.then(|| or_raise(BloomFilter::new(index)));
        let mut seen = CheckedData { filter, ..CheckedData::default() };
        look(index, &mut seen).map(|()| seen)
    });
    drop(lock);
    match (moment, seen.filter, seen.keys) {
        (Some(moment), Some(filter), Some(keys)) => compare(opened, &keys, &moment, &filter),
        _ => Ok(()),
    }
}

/// The data that the check has collected from the index so far.
#[derive(Default)]
struct CheckedData {
    rows: RoaringTreemap,
    filter: Option<BloomFilter>,
    keys: Option<ClassKeys>,
}

/// Checks every page.
fn look(index: OpenIndex, seen: &mut CheckedData) -> Looked<()> {
    let (directory, keys) = ClassKeys::read(index);
    look_at_pending(index, &directory, &keys, seen)?;
    // On a standby, pending rows may have moved to a segment by now.
    let directory = Directory::read(index);
    if keys.now(index, &directory.meta).is_some() {
        return Err(Moved { block: 0 });
    }
    let mut ids: Vec<u64> = directory.segments.iter().map(|segment| segment.id).collect();
    ids.sort_unstable();
    ids.dedup();
    if ids.len() != directory.segments.len() || ids.last().is_some_and(|&id| id >= directory.meta.next_id) {
        index.corrupted(0, "segments have the same id, or one that was not given yet");
    }
    let bulk = index.in_bulk();
    for &about in &directory.segments {
        look_at_segment(&Segment::open(bulk, about, keys.layout())?, &keys, seen)?;
    }
    if directory.meta.order != NONE && keys.sets().is_some() {
        // This reads the order of tokens from the index and not from the copy in the backend's
        // cache.
        order::read(index, &directory.meta);
    }
    seen.keys = Some(keys);
    Ok(())
}

fn look_at_pending(
    index: OpenIndex,
    directory: &Directory,
    keys: &ClassKeys,
    seen: &mut CheckedData,
) -> Looked<()> {
    let meta = &directory.meta;
    if (meta.head == NONE) != (meta.tail == NONE) || meta.head_sequence > meta.tail_sequence + 1 {
        index.corrupted(0, "the pending area has a beginning without an end");
    }
    let mut pages = PendingPages::all(index, meta);
    let mut posted = Posted::default();
    let (mut count, mut last) = (0, meta.head == NONE);
    while let Some((block, contents)) = pages.next()? {
        count += 1;
        last |= block == meta.tail;
        if block == meta.tail && count != directory.pending_pages() {
            index.corrupted(block, "the pending area has another length than it says");
        }
        for item in pending::items(index, block, &contents) {
            keys.check(index, block, &item);
            if item.row.has(HeapRow::DEAD) {
                continue;
            }
            add_row(index, block, item.row, seen);
            if let Some(filter) = &mut seen.filter {
                let marks = RowMarks::new(keys, &item, &mut posted);
                marks.each(|mark| filter.add(item.row.tid(), mark));
            }
        }
    }
    if !last {
        return Err(Moved { block: meta.tail });
    }
    Ok(())
}

fn add_row(index: OpenIndex, block: u32, row: HeapRow, seen: &mut CheckedData) {
    // SAFETY: reads the state of the server.
    let standby = unsafe { pg_sys::RecoveryInProgress() };
    if !row.has(HeapRow::CONTINUED) && !seen.rows.insert(row.tid()) && !standby {
        let tid = row.tid();
        index.corrupted(block, &format!("row ({},{}) is in the index twice", tid >> 16, tid & 0xffff));
    }
}

/// Returns the value that a pair of row and signature adds to the checksum.
fn pair(signature: u64, row: u32) -> u64 {
    hash::mix(signature ^ hash::mix(row.into()))
}

/// Reads and checks the row pages of a segment. Returns the sum over the pairs of a row and a
/// signature of its sketch; the rows, if they are needed; and the numbers of those that hold a part
/// of a split set.
fn look_at_rows(
    segment: &Segment,
    keys: &ClassKeys,
    seen: &mut CheckedData,
) -> Looked<(u64, Vec<HeapRow>, Vec<u32>)> {
    let (index, about) = (segment.index, segment.about);
    let (mut posted, has_sketches) = (Posted::default(), keys.class.has_sketches());
    let mut by_rows = 0_u64;
    let mut rows: Vec<HeapRow> = Vec::new();
    let (mut nulls, mut continued) = (0, 0);
    let keep_rows = !has_sketches && seen.filter.is_some();
    let by_groups = keys.layout().pieces == Pieces::Grouped;
    let (mut split, mut place) = (Vec::new(), 0);
    for n in 0..about.row_pages {
        let (first, contents) = segment.row_page(n)?;
        for (number, bytes) in (first..).zip(contents.chunks_exact(HeapRow::SIZE + keys.payload())) {
            let (head, sketch) = bytes.split_at(HeapRow::SIZE);
            let row = HeapRow::read(head);
            nulls += u32::from(row.has(HeapRow::NULL));
            continued += u32::from(row.has(HeapRow::CONTINUED));
            if keep_rows {
                rows.push(row);
            }
            if row.has(HeapRow::SPLIT) {
                split.push(number);
            }
            if let Some(fault) = keys.fault(row, segment.sketch(sketch)) {
                segment.corrupted(fault);
            }
            if by_groups && std::mem::replace(&mut place, place_of_size(segment.sketch(sketch))) > place {
                segment.corrupted("rows are not in the order of their groups");
            }
            if has_sketches {
                or_raise(keys.post(&Item { row, bytes: sketch }, &mut posted));
                let sums = posted.signatures.iter().map(|&signature| pair(signature, number));
                by_rows = sums.fold(by_rows, u64::wrapping_add);
            }
            if row.has(HeapRow::DEAD) {
                continue;
            }
            add_row(index, about.root, row, seen);
            if let (Some(filter), Some(mark)) = (&mut seen.filter, RowMarks::of_row(row, sketch)) {
                filter.add(row.tid(), mark);
            }
        }
    }
    if (nulls, continued) != (about.nulls, about.continued) || about.dead > about.rows {
        segment.corrupted("another number of rows than the directory says");
    }
    Ok((by_rows, rows, split))
}

fn look_at_segment(segment: &Segment, keys: &ClassKeys, seen: &mut CheckedData) -> Looked<()> {
    let about = segment.about;
    let mut by_signatures = 0_u64;
    let (by_rows, rows, split) = look_at_rows(segment, keys, seen)?;
    let mut cursor = SegmentCursor::new(segment);
    let (mut count, mut postings, mut longest) = (0, 0, 0);
    // The current signature, the number of its rows that were read so far, and the last of these
    // rows. The rows of a frequent signature may come in several pieces.
    let (mut current, mut rows_of, mut previous) = (None, 0, None);
    while let Some((signature, found)) = cursor.next()? {
        if current.replace(signature) != Some(signature) {
            count += 1;
            (rows_of, previous) = (0, None);
        }
        rows_of += found.count();
        postings += found.count();
        longest = longest.max(rows_of);
        segment.each_row(&found, |row| {
            if previous.replace(row).is_some_and(|previous| previous >= row) {
                segment.corrupted("rows of a signature are not in order");
            }
            by_signatures = by_signatures.wrapping_add(pair(signature, row));
            if let (Some(filter), Some(row)) = (&mut seen.filter, rows.get(row as usize)) {
                filter.add(row.tid(), signature);
            }
        })?;
    }
    let Descriptor { signatures, postings: all, longest: most, .. } = about;
    if (count, postings, longest) != (signatures, all, most.into()) {
        segment.corrupted("another number of signatures than the directory says");
    }
    if keys.class.has_sketches() && by_rows != by_signatures {
        segment.corrupted("signatures are not those of the sketches");
    }
    if keys.layout().class_bits.is_some() {
        return check_parts(segment, &split);
    }
    segment.check_fences()
}

/// Fails if the parts of the lists are not contiguous, or if the rows that are listed as holding a
/// part of a split set are not those in `split`.
fn check_parts(segment: &Segment, split: &[u32]) -> Looked<()> {
    let mut at = 0;
    for n in 0..segment.about.lists {
        pgrx::check_for_interrupts!();
        let List { offset, length, .. } = segment.entry(n)?;
        if offset != at {
            segment.corrupted("parts of lists do not follow one another");
        }
        at += u64::from(length);
    }
    if at != segment.about.list_bytes {
        segment.corrupted("lists have another length than the directory says");
    }
    let (mut part, mut rows, mut all) = (PartReader::of_split(segment)?, Vec::new(), Vec::new());
    while part.next(&mut rows)?.is_some() {
        all.append(&mut rows);
    }
    if all != split {
        segment.corrupted("rows of long documents are not those that are listed");
    }
    Ok(())
}
