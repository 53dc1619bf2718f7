//! From pending pages to a segment, and from several segments to one.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use pgrx::pg_sys;
use roaring::RoaringBitmap;

use super::pending::{self, Pages};
use super::segment::{Found, Segment};
use super::sort::Sorter;
use super::writer::Writer;
use crate::pg::index::layout::format::{Descriptor, MOST_SEGMENTS, NONE, PAGE};
use crate::pg::index::layout::items::{Pair, Row};
use crate::pg::index::layout::meta::{Directory, Lock};
use crate::pg::index::opclass::keys::Keys;
use crate::pg::index::opclass::options;
use crate::pg::index::pages::buffer::{Index, Logging, Looked};
use crate::pg::index::pages::record::Record;
use crate::pg::server::error::Result;

/// Segments of one order of magnitude that become one.
const FAN: usize = 8;
/// Segments from which on an insert merges even what is large.
const CROWDED: usize = MOST_SEGMENTS - 2 * FAN;
/// The most rows of a segment.
const MOST_ROWS: u64 = (Pair::LIST - 1) as u64;

/// What cannot move because nobody else has the maintenance lock has moved: the page is corrupted.
pub fn sure<T>(index: Index, looked: Looked<T>) -> T {
    looked.unwrap_or_else(|moved| index.corrupted(moved.block, "this page is not what refers to it says"))
}

/// Bytes of memory for this.
pub fn budget() -> usize {
    // SAFETY: an int that only this thread writes.
    let kilobytes = unsafe { pg_sys::maintenance_work_mem };
    (kilobytes.max(1024) as usize) << 10
}

/// Makes a segment of the pending pages but the last one, or of all.
pub fn flush(index: Index, _lock: &Lock, all: bool) -> Result<()> {
    if all {
        pending::rotate(index);
    }
    if Directory::read(index).segments.len() >= MOST_SEGMENTS {
        merge_some(index, _lock, &mut |directory| smallest(&directory.segments))?;
    }
    let directory = Directory::read(index);
    let meta = directory.meta;
    if meta.head == NONE || meta.head == meta.tail {
        return Ok(());
    }
    let keys = Keys::of(index, &meta);
    let mut writer = Writer::new(index, Logging::Now, reserve(index), keys.payload(), budget() / 4);
    let mut sorter = Sorter::new(budget() / 2);
    let mut signatures = Vec::new();
    let mut blocks = Vec::new();
    let mut pages = Pages::full(index, &meta);
    while let Some((block, contents)) = sure(index, pages.next()) {
        for item in pending::items(index, block, &contents) {
            if item.row.has(Row::DEAD) {
                continue;
            }
            let number = writer.rows();
            keys.check(index, block, &item);
            writer.row(item.row, keys.sketch_of(item.bytes))?;
            keys.signatures_of(item.row, item.bytes, &mut signatures);
            for &signature in &signatures {
                sorter.push(signature, number)?;
            }
        }
        blocks.push(block);
    }
    let mut sorted = sorter.finish()?;
    while let Some((signature, row)) = sorted.next()? {
        writer.pair(signature, row)?;
    }
    let segment = if writer.rows() == 0 { None } else { Some(writer.finish()?) };
    publish(index, &[], segment, Some((meta.tail, meta.tail_sequence)), &blocks);
    Ok(())
}

/// An id that no segment has had.
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

/// Changes the directory, then frees the blocks that it does not name any more.
fn publish(
    index: Index,
    removed: &[u64],
    added: Option<Descriptor>,
    head: Option<(u32, u64)>,
    blocks: &[u32],
) {
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
    let mut record = Record::new(index);
    record.change(&page, |image| directory.put(image));
    record.commit();
    drop(page);
    index.free(blocks.iter().copied());
    drop(removal);
    index.tidy_map();
}

/// Writes down how many rows of segments are dead.
pub fn count_dead(index: Index, dead: &[(u64, u32)]) {
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

/// What an insert does when the pending area is full: flushes it, and merges what is small.
pub fn after_insert(index: Index) -> Result<()> {
    let Some(lock) = Lock::maintenance_if_free(index) else { return Ok(()) };
    // Somebody else may just have done it.
    let limit = options::pending_pages(index);
    if Directory::read(index).pending_pages() <= limit {
        return Ok(());
    }
    flush(index, &lock, false)?;
    merge_some(index, &lock, &mut |directory| {
        if directory.segments.len() >= CROWDED {
            return smallest(&directory.segments);
        }
        let due = tier(&directory.segments)?;
        let pages: u64 = due.iter().map(|segment| u64::from(segment.pages)).sum();
        (pages <= 16 * limit).then_some(due)
    })
}

/// What VACUUM does: merges whatever is due, and rewrites what has many dead rows.
pub fn merge_due(index: Index, lock: &Lock) -> Result<()> {
    merge_some(index, lock, &mut |directory| {
        let decaying =
            directory.segments.iter().find(|segment| segment.dead > 0 && segment.dead >= segment.rows / 5);
        tier(&directory.segments).or_else(|| decaying.map(|&segment| vec![segment]))
    })
}

/// Makes one segment of all, without dead rows.
pub fn merge_all(index: Index, lock: &Lock) -> Result<()> {
    let mut done = false;
    merge_some(index, lock, &mut |directory| {
        let segments = &directory.segments;
        let worth = segments.len() > 1 || segments.iter().any(|segment| segment.dead > 0);
        (worth && !std::mem::replace(&mut done, true)).then(|| fitting(segments.clone()))
    })
}

/// Merges what `choose` chooses until that is nothing.
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

/// The smallest segments, to make room in the directory.
fn smallest(segments: &[Descriptor]) -> Option<Vec<Descriptor>> {
    let mut sorted = segments.to_vec();
    sorted.sort_by_key(|segment| segment.pages);
    sorted.truncate(2 * FAN);
    let chosen = fitting(sorted);
    (chosen.len() > 1).then_some(chosen)
}

/// The segments of the lowest order of magnitude of which there are enough.
fn tier(segments: &[Descriptor]) -> Option<Vec<Descriptor>> {
    let of = |segment: &Descriptor| segment.pages.max(1).ilog2() / 3;
    (0..=10).find_map(|tier| {
        let chosen: Vec<_> = segments.iter().copied().filter(|segment| of(segment) == tier).collect();
        let chosen = if chosen.len() >= FAN { fitting(chosen) } else { Vec::new() };
        (chosen.len() > 1).then_some(chosen)
    })
}

/// The first of these whose rows can be numbered in one segment.
fn fitting(segments: Vec<Descriptor>) -> Vec<Descriptor> {
    let mut rows = 0;
    let fits = |segment: &Descriptor| {
        rows += u64::from(segment.rows);
        rows <= MOST_ROWS
    };
    segments.into_iter().take_while(fits).collect()
}

fn merge(index: Index, directory: &Directory, chosen: &[Descriptor]) -> Result<()> {
    let keys = Keys::of(index, &directory.meta);
    let reading = index.in_bulk();
    let mut writer = Writer::new(index, Logging::Now, reserve(index), keys.payload(), budget() / 4);
    let mut sources = Vec::new();
    for &about in chosen {
        let segment = sure(index, Segment::open(reading, about, keys.payload()));
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
        let mut cursors: Vec<_> = sources.iter().map(|(segment, ..)| Cursor::new(segment)).collect();
        let mut heads = BinaryHeap::new();
        let mut groups: Vec<Option<RoaringOrFew>> = Vec::new();
        for (n, cursor) in cursors.iter_mut().enumerate() {
            groups.push(None);
            if let Some((signature, rows)) = sure(index, cursor.next()) {
                heads.push(Reverse((signature, n)));
                groups[n] = Some(rows);
            }
        }
        while let Some(Reverse((signature, n))) = heads.pop() {
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
                heads.push(Reverse((signature, n)));
                groups[n] = Some(rows);
            }
        }
    }
    let segment = if writer.rows() == 0 { None } else { Some(writer.finish()?) };
    let removed: Vec<u64> = chosen.iter().map(|segment| segment.id).collect();
    let blocks: Vec<u32> = sources.iter().flat_map(|(segment, ..)| segment.blocks()).collect();
    publish(index, &removed, segment, None, &blocks);
    Ok(())
}

/// The rows of one signature.
pub enum RoaringOrFew {
    /// From a list.
    Many(RoaringBitmap),
    /// From pairs.
    Few(Vec<u32>),
}

impl RoaringOrFew {
    /// Calls `each` with every row.
    pub fn each(&self, mut each: impl FnMut(u32)) {
        match self {
            Self::Many(rows) => rows.iter().for_each(each),
            Self::Few(rows) => rows.iter().for_each(|&row| each(row)),
        }
    }

    /// How many rows these are.
    pub fn len(&self) -> u64 {
        match self {
            Self::Many(rows) => rows.len(),
            Self::Few(rows) => rows.len() as u64,
        }
    }
}

/// Goes through the signatures of a segment.
pub struct Cursor<'a> {
    segment: &'a Segment,
    page: u32,
    pairs: Vec<u8>,
    at: usize,
    last: Option<u64>,
}

impl<'a> Cursor<'a> {
    /// At the first signature.
    pub fn new(segment: &'a Segment) -> Self {
        Self { segment, page: 0, pairs: Vec::new(), at: 0, last: None }
    }

    fn peek(&mut self) -> Looked<Option<Pair>> {
        if self.at == self.pairs.len() {
            if self.page == self.segment.about.signature_pages {
                return Ok(None);
            }
            pgrx::check_for_interrupts!();
            let page = self.segment.signature_page(self.page)?;
            self.pairs.clear();
            self.pairs.extend_from_slice(page.contents());
            self.page += 1;
            self.at = 0;
        }
        Ok(Some(Pair::read(&self.pairs, self.at / Pair::SIZE)))
    }

    /// The next signature with its rows.
    pub fn next(&mut self) -> Looked<Option<(u64, RoaringOrFew)>> {
        let Some(first) = self.peek()? else { return Ok(None) };
        let segment = self.segment;
        if self.last.is_some_and(|last| last >= first.signature) {
            segment.index.corrupted(segment.about.root, "signatures of the segment are not in order");
        }
        self.last = Some(first.signature);
        if let Some(list) = first.list() {
            self.at += Pair::SIZE;
            let list = segment.list(list)?;
            return Ok(Some((first.signature, RoaringOrFew::Many(segment.rows_of(list)?))));
        }
        let mut few = Vec::new();
        while let Some(pair) = self.peek()?.filter(|pair| pair.signature == first.signature) {
            if pair.row >= segment.about.rows || few.last().is_some_and(|&last| last >= pair.row) {
                segment.index.corrupted(segment.about.root, "a signature has rows that the segment has not");
            }
            few.push(pair.row);
            self.at += Pair::SIZE;
        }
        Ok(Some((first.signature, RoaringOrFew::Few(few))))
    }

    /// The next signature with the number of its rows.
    pub fn next_count(&mut self) -> Looked<Option<(u64, u64)>> {
        let Some(first) = self.peek()? else { return Ok(None) };
        if let Some(list) = first.list() {
            self.at += Pair::SIZE;
            return Ok(Some((first.signature, Found::Many(self.segment.list(list)?).count())));
        }
        let mut count = 0;
        while self.peek()?.is_some_and(|pair| pair.signature == first.signature) {
            count += 1;
            self.at += Pair::SIZE;
        }
        Ok(Some((first.signature, count)))
    }
}

/// Pages of a size in kilobytes, at least one.
pub fn pages_of(kilobytes: i32) -> u64 {
    (u64::from(kilobytes.unsigned_abs()) << 10).div_ceil(PAGE as u64).max(1)
}
