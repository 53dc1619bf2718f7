//! Flushes pending pages to a segment, and merges several segments into one.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::collections::binary_heap::PeekMut;

use pgrx::pg_sys;
use roaring::RoaringBitmap;

use super::cursor::{Cursor, Rows};
use super::pending::{self, Pages};
use super::segment::Segment;
use super::sort::Sorter;
use super::writer::Writer;
use super::{choice, order};
use crate::pg::index::layout::format::{Descriptor, MOST_SEGMENTS, Meta, NONE};
use crate::pg::index::layout::items::Row;
use crate::pg::index::layout::meta::{Directory, Lock};
use crate::pg::index::opclass::keys::Keys;
use crate::pg::index::opclass::options;
use crate::pg::index::opclass::posted::Posted;
use crate::pg::index::opclass::sets::Settled;
use crate::pg::index::opclass::sets::item::SetItem;
use crate::pg::index::pages::buffer::{Index, Looked};
use crate::pg::index::pages::record::{Logging, Record};
use crate::pg::server::error::Result;
use neardup_core::joins::search::sample::TokenSample;

/// Returns the result of a read under the maintenance lock. Pages cannot move while this backend
/// holds the lock, so a moved page is corrupted.
pub(crate) fn sure<T>(index: Index, looked: Looked<T>) -> T {
    looked.unwrap_or_else(|moved| index.corrupted(moved.block, "this page is not what refers to it says"))
}

/// Returns the number of bytes of memory for a flush or a merge.
pub(crate) fn budget() -> usize {
    // SAFETY: an int that only this thread writes.
    let kilobytes = unsafe { pg_sys::maintenance_work_mem };
    (kilobytes.max(1024) as usize) << 10
}

/// Makes a segment from the pending pages. The last pending page is left out unless `all` is true.
pub(crate) fn flush(index: Index, _lock: &Lock, all: bool) -> Result<()> {
    if all {
        pending::rotate(index);
    }
    if Directory::read(index).segments.len() >= MOST_SEGMENTS {
        merge_some(index, _lock, &mut |directory| choice::smallest(&directory.segments))?;
    }
    let directory = Directory::read(index);
    let meta = directory.meta;
    if meta.head == NONE || meta.head == meta.tail {
        return Ok(());
    }
    let mut keys = Keys::of(index, &meta);
    let settled = settle(index, &meta, &keys)?;
    if let Some(settled) = &settled {
        keys = Keys::of(index, settled);
    }
    let mut writer = Writer::new(index, Logging::Now, reserve(index), keys.layout(), budget() / 4);
    let mut sorter = Sorter::new(budget() / 2);
    let mut posted = Posted::default();
    let mut blocks = Vec::new();
    let mut pages = Pages::full(index, &meta);
    while let Some((block, contents)) = sure(index, pages.next()) {
        for item in pending::items(index, block, &contents) {
            if item.row.has(Row::DEAD) {
                continue;
            }
            let number = writer.rows();
            keys.check(index, block, &item);
            let row = keys.post(&item, &mut posted)?;
            writer.row(row, &posted.sketch)?;
            for &signature in &posted.signatures {
                sorter.push(signature, number)?;
            }
        }
        blocks.push(block);
    }
    writer.end_rows(sorter.len())?;
    let mut sorted = sorter.finish()?;
    while let Some((signature, row)) = sorted.next()? {
        writer.pair(signature, row)?;
    }
    let head = Some((meta.tail, meta.tail_sequence));
    if writer.rows() == 0 {
        // If no rows are left, the order that was just settled is dropped.
        blocks.extend(settled.iter().flat_map(|settled| order::blocks(index, settled)));
        publish(index, &[], Change { head, ..Change::default() }, &blocks);
    } else {
        let added = Some(writer.finish()?);
        publish(index, &[], Change { added, head, settled }, &blocks);
    }
    Ok(())
}

/// The number of sets after which no more pages are counted to settle an order.
const COUNTED: u64 = 30_000;

/// Settles an index of sets by its pending rows if nothing was settled before. Returns the
/// metapage, which is published with the first segment. Until then nothing refers to the pages of
/// the order.
fn settle(index: Index, meta: &Meta, keys: &Keys) -> Result<Option<Meta>> {
    let Some(sets) = keys.sets.as_ref().filter(|sets| sets.settled.is_none()) else { return Ok(None) };
    let mut sample = TokenSample::new()?;
    let mut counted = 0;
    let mut tokens = Vec::new();
    let mut pages = Pages::full(index, meta);
    while counted < COUNTED
        && let Some((block, contents)) = sure(index, pages.next())
    {
        for item in pending::items(index, block, &contents) {
            keys.check(index, block, &item);
            if item.row.has(Row::WHOLE)
                && let Some(set) = SetItem::read(item.row, item.bytes)
            {
                set.tokens(&mut tokens)?;
                sample.add(&tokens)?;
                counted += 1;
            }
        }
    }
    let settled = Settled::of(&sets.spec, sample, None)?;
    let order = order::write(index, &settled.order, Logging::Now)?;
    Ok(Some(settled.put(*meta, order)))
}

/// Returns an id that no segment has had.
fn reserve(index: Index) -> u64 {
    let page = index.write(0);
    let mut directory = Directory::of(index, &page);
    let id = directory.meta.next_id;
    directory.meta.next_id += 1;
    let mut record = Record::new(index);
    record.change(&page, |image| directory.put(image));
    record.commit();
    id
}

/// A change of the directory.
#[derive(Default)]
struct Change {
    added: Option<Descriptor>,
    /// The new first page of the pending area, and its sequence number.
    head: Option<(u32, u64)>,
    /// The metapage with the settled parameters of an index of sets.
    settled: Option<Meta>,
}

/// Changes the directory, then frees `blocks`, to which the directory no longer refers.
fn publish(index: Index, removed: &[u64], Change { added, head, settled }: Change, blocks: &[u32]) {
    let removal = Lock::removal(index);
    let page = index.write(0);
    let mut directory = Directory::of(index, &page);
    directory.segments.retain(|segment| !removed.contains(&segment.id));
    directory.segments.extend(added);
    directory.meta.generation += 1;
    if let Some((block, sequence)) = head {
        directory.meta.head = block;
        directory.meta.head_sequence = sequence;
    }
    if let Some(Meta { width, bands, seed, payload, order, .. }) = settled {
        directory.meta = Meta { width, bands, seed, payload, order, ..directory.meta };
    }
    let mut record = Record::new(index);
    record.change(&page, |image| directory.put(image));
    record.commit();
    drop(page);
    index.free(blocks.iter().copied());
    drop(removal);
    index.tidy_map();
}

/// Stores the number of dead rows of segments.
pub(crate) fn count_dead(index: Index, dead: &[(u64, u32)]) {
    let page = index.write(0);
    let mut directory = Directory::of(index, &page);
    let before = directory.clone();
    for segment in &mut directory.segments {
        if let Some((_, dead)) = dead.iter().find(|(id, _)| *id == segment.id) {
            segment.dead = *dead;
        }
    }
    if directory != before {
        let mut record = Record::new(index);
        record.change(&page, |image| directory.put(image));
        record.commit();
    }
}

/// Flushes the pending area if it is full, and merges small segments. Called after an insert.
pub(crate) fn after_insert(index: Index) -> Result<()> {
    let Some(lock) = Lock::maintenance_if_free(index) else { return Ok(()) };
    // Another backend may just have flushed the pending area.
    let limit = options::pending_pages(index);
    if Directory::read(index).pending_pages() <= limit {
        return Ok(());
    }
    flush(index, &lock, false)?;
    merge_some(index, &lock, &mut |directory| choice::of_insert(&directory.segments, limit))
}

/// Merges the segments that are due and rewrites segments with many dead rows, for VACUUM.
pub(crate) fn merge_due(index: Index, lock: &Lock) -> Result<()> {
    merge_some(index, lock, &mut |directory| choice::of_vacuum(&directory.segments))
}

/// Merges all segments into one without dead rows.
pub(crate) fn merge_all(index: Index, lock: &Lock) -> Result<()> {
    let mut done = false;
    merge_some(index, lock, &mut |directory| {
        let all = choice::of_all(&directory.segments)?;
        (!std::mem::replace(&mut done, true)).then_some(all)
    })
}

/// Merges the segments that `choose` chooses, again and again until it chooses none.
fn merge_some(
    index: Index,
    _lock: &Lock,
    choose: &mut dyn FnMut(&Directory) -> Option<Vec<Descriptor>>,
) -> Result<()> {
    loop {
        let directory = Directory::read(index);
        match choose(&directory) {
            Some(chosen) if !chosen.is_empty() => merge(index, &directory, &chosen)?,
            _ => return Ok(()),
        }
    }
}

fn merge(index: Index, directory: &Directory, chosen: &[Descriptor]) -> Result<()> {
    let keys = Keys::of(index, &directory.meta);
    let reading = index.in_bulk();
    let mut writer = Writer::new(index, Logging::Now, reserve(index), keys.layout(), budget() / 4);
    let mut sources = Vec::new();
    for &about in chosen {
        let segment = sure(index, Segment::open(reading, about, keys.layout()));
        let base = writer.rows();
        let mut dead = RoaringBitmap::new();
        for n in 0..about.row_pages {
            let (first, contents) = sure(index, segment.row_page(n));
            for (row, bytes) in (first..).zip(contents.chunks_exact(Row::SIZE + keys.payload())) {
                let head = Row::read(bytes);
                if head.has(Row::DEAD) {
                    dead.insert(row);
                } else {
                    writer.row(head, &bytes[Row::SIZE..])?;
                }
            }
        }
        sources.push((segment, base, dead));
    }
    if writer.rows() > 0 {
        writer.end_rows(chosen.iter().map(|segment| segment.postings).sum())?;
        let mut cursors: Vec<_> = sources.iter().map(|(segment, ..)| Cursor::new(segment)).collect();
        let mut heads = BinaryHeap::new();
        let mut groups: Vec<Option<Rows>> = Vec::new();
        for (n, cursor) in cursors.iter_mut().enumerate() {
            groups.push(None);
            if let Some((signature, rows)) = sure(index, cursor.next()) {
                heads.push(Reverse((signature, n)));
                groups[n] = Some(rows);
            }
        }
        while let Some(mut head) = heads.peek_mut() {
            let Reverse((signature, n)) = *head;
            let (_, base, dead) = &sources[n];
            let mut result = Ok(());
            let rows = groups[n].take().expect("every head has its rows");
            rows.each(|row| {
                if result.is_ok() && !dead.contains(row) {
                    result = writer.pair(signature, base + row - dead.rank(row) as u32);
                }
            });
            result?;
            if let Some((signature, rows)) = sure(index, cursors[n].next()) {
                *head = Reverse((signature, n));
                groups[n] = Some(rows);
            } else {
                PeekMut::pop(head);
            }
        }
    }
    let added = if writer.rows() == 0 { None } else { Some(writer.finish()?) };
    let removed: Vec<u64> = chosen.iter().map(|segment| segment.id).collect();
    let blocks: Vec<u32> = sources.iter().flat_map(|(segment, ..)| segment.blocks()).collect();
    publish(index, &removed, Change { added, ..Change::default() }, &blocks);
    Ok(())
}
