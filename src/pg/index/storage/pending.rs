//! The pending area: a chain of pages with items in order of insertion.

use crate::pg::compat::vacuum_delay;
use crate::pg::index::layout::format::{CONTENTS, Meta, NONE, PageKind, Tail};
use crate::pg::index::layout::items::{HeapRow, Item};
use crate::pg::index::layout::meta::Directory;
use crate::pg::index::pages::buffer::{Looked, Moved, OpenIndex};
use crate::pg::index::pages::page::{Image, LockedPage};
use crate::pg::index::pages::record::Record;

/// Appends an item. Reports whether a page was added to the area.
pub(crate) fn append(index: OpenIndex, meta: Meta, item: Item<'_>) -> bool {
    extend(index, meta, Some(item))
}

/// Adds an empty page after the last page if the last page has any items, so that a flush takes
/// these items, too.
pub(crate) fn rotate(index: OpenIndex) {
    let meta = Directory::read(index).meta;
    if meta.tail != NONE {
        extend(index, meta, None);
    }
}

/// Puts an item on the last page of the chain that `meta` describes, or if there is none makes sure
/// that the last page is empty. Reports whether a page was added.
fn extend(index: OpenIndex, mut meta: Meta, item: Option<Item<'_>>) -> bool {
    loop {
        pgrx::check_for_interrupts!();
        if meta.tail != NONE {
            check_tail(index, &meta);
            let page = index.write(meta.tail);
            let used = page.contents().len();
            if !is_last(&page, &meta) {
                drop(page);
                meta = moved_on(index, meta);
                continue;
            }
            match item {
                Some(item) if used + item.size() <= CONTENTS => {
                    let mut record = Record::new(index);
                    record.change(&page, |image| put(image, used, item));
                    record.commit();
                    return false;
                }
                None if used == 0 => return false,
                _ => {}
            }
        }
        match grow(index, &meta, item) {
            Ok(()) => return true,
            Err(now) => meta = now,
        }
    }
}

fn is_last(page: &LockedPage, meta: &Meta) -> bool {
    page.is(PageKind::Pending, meta.tail_sequence, 0) && page.tail().next == NONE
}

/// Fails if the last page is past the end of the index. Without this check, the server would look
/// for a file that does not exist.
fn check_tail(index: OpenIndex, meta: &Meta) {
    if !index.has(meta.tail) {
        index.corrupted(0, &format!("it refers to block {}, behind the end", meta.tail));
    }
}

/// Returns the current metapage, after the last page that `before` names turned out to be no longer
/// the last one.
fn moved_on(index: OpenIndex, before: Meta) -> Meta {
    let now = Directory::read(index).meta;
    if (now.tail, now.tail_sequence) == (before.tail, before.tail_sequence) {
        index.corrupted(now.tail, "this is not the last pending page");
    }
    now
}

fn put(image: &mut Image<'_>, used: usize, item: Item<'_>) {
    item.write(&mut image.contents()[used..]);
    image.set_used(used + item.size());
}

/// Adds a page to the chain that `seen` describes, with `item` if there is one. If the chain has
/// changed meanwhile, returns the current metapage instead.
fn grow(index: OpenIndex, seen: &Meta, item: Option<Item<'_>>) -> Result<(), Meta> {
    let metapage = index.write(0);
    let mut now = Directory::read_page(index, &metapage);
    if (now.meta.tail, now.meta.tail_sequence) != (seen.tail, seen.tail_sequence) {
        return Err(now.meta);
    }
    let last = (seen.tail != NONE).then(|| index.write(seen.tail));
    if last.as_ref().is_some_and(|page| !is_last(page, seen)) {
        index.corrupted(seen.tail, "this is not the last pending page");
    }
    let page = index.new_page();
    now.meta.tail = page.block();
    now.meta.tail_sequence += 1;
    if now.meta.head == NONE {
        now.meta.head = now.meta.tail;
        now.meta.head_sequence = now.meta.tail_sequence;
    }
    let mut record = Record::new(index);
    record.change(&metapage, |image| now.put(image));
    if let Some(last) = &last {
        record.change(last, |image| image.set_tail(Tail { next: now.meta.tail, ..last.tail() }));
    }
    record.initialise(&page, Tail::new(PageKind::Pending, now.meta.tail_sequence, 0), |image| {
        if let Some(item) = item {
            put(image, 0, item);
        }
    });
    record.commit();
    Ok(())
}

/// Visits the pages of the chain from the first one on: either only the pages before the last page
/// that the metapage names, or all pages, including those that are added meanwhile.
pub(crate) struct PendingPages {
    index: OpenIndex,
    next: u32,
    sequence: u64,
    end: Option<u32>,
}

impl PendingPages {
    /// Visits all pages.
    pub(crate) fn all(index: OpenIndex, meta: &Meta) -> Self {
        Self { index, next: meta.head, sequence: meta.head_sequence, end: None }
    }

    /// Visits all pages before the last one.
    pub(crate) fn full(index: OpenIndex, meta: &Meta) -> Self {
        Self { end: Some(meta.tail), ..Self::all(index, meta) }
    }

    /// Returns the block and the contents of the next page.
    pub(crate) fn next(&mut self) -> Looked<Option<(u32, Vec<u8>)>> {
        Ok(self.page(OpenIndex::read)?.map(|page| (page.block(), page.contents().to_vec())))
    }

    /// Moves to the next page, which `read` locks.
    fn page(&mut self, read: fn(OpenIndex, u32) -> LockedPage) -> Looked<Option<LockedPage>> {
        pgrx::check_for_interrupts!();
        if self.next == NONE || self.end == Some(self.next) {
            return Ok(None);
        }
        if self.next >= self.index.blocks_now() {
            return Err(Moved { block: 0 });
        }
        let page = read(self.index, self.next);
        if !page.is(PageKind::Pending, self.sequence, 0) {
            return Err(Moved { block: self.next });
        }
        self.next = page.tail().next;
        self.sequence += 1;
        Ok(Some(page))
    }

    /// Flags the rows of the next page for which `is_dead` returns true. Returns how many rows of
    /// the page are live, and how many are newly flagged, without continuations.
    pub(crate) fn mark_next(&mut self, mut is_dead: impl FnMut(HeapRow) -> bool) -> Looked<Option<[u64; 2]>> {
        vacuum_delay();
        let Some(page) = self.page(OpenIndex::write)? else { return Ok(None) };
        let (mut live, mut flagged, mut found, mut at) = (0, 0, Vec::new(), 0);
        for item in items(self.index, page.block(), page.contents()) {
            let (row, size) = (item.row, item.size());
            let dead = !row.has(HeapRow::DEAD) && is_dead(row);
            if dead {
                found.push(at);
            }
            if !row.has(HeapRow::CONTINUED) {
                live += u64::from(!dead && !row.has(HeapRow::DEAD));
                flagged += u64::from(dead);
            }
            at += size;
        }
        Record::flag_dead(self.index, &page, &mut found);
        Ok(Some([live, flagged]))
    }
}

/// Lists the items of a page.
pub(crate) fn items(index: OpenIndex, block: u32, contents: &[u8]) -> impl Iterator<Item = Item<'_>> {
    let mut rest = contents;
    std::iter::from_fn(move || {
        if rest.is_empty() {
            return None;
        }
        match Item::read(rest) {
            Some(item) if item.row.is_valid() => {
                rest = &rest[item.size()..];
                Some(item)
            }
            _ => index.corrupted(block, "a pending item cannot be read"),
        }
    })
}
