//! Makes a segment of rows in any order: of the pending ones, or of those of a table.

use super::group_order::GroupOrder;
use super::maintenance::{Change, Maintenance, budget, sure};
use super::pending::{self, PendingPages};
use super::sort::PairSorter;
use super::writer::SegmentWriter;
use super::{merge, order};
use crate::pg::index::families::keys::ClassKeys;
use crate::pg::index::families::options;
use crate::pg::index::families::sets::item::SetItem;
use crate::pg::index::families::sets::keys::Settled;
use crate::pg::index::families::values::Posted;
use crate::pg::index::layout::format::{Descriptor, MOST_SEGMENTS, Meta, NONE};
use crate::pg::index::layout::items::{HeapRow, Item};
use crate::pg::index::layout::meta::Directory;
use crate::pg::index::pages::buffer::OpenIndex;
use crate::pg::index::pages::record::Logging;
use crate::pg::server::error::Result;
use neardup_core::error;
use neardup_core::search::sample::TokenSample;

impl Maintenance {
    /// Makes a segment from the pending pages. The last pending page is left out unless `all` is
    /// true.
    pub(crate) fn flush(&self, all: bool) -> Result<()> {
        let index = self.index;
        if all {
            pending::rotate(index);
        }
        if Directory::read(index).segments.len() >= MOST_SEGMENTS {
            self.merge_some(&mut |directory| merge::smallest(&directory.segments))?;
        }
        let directory = Directory::read(index);
        let meta = directory.meta;
        if meta.head == NONE || meta.head == meta.tail {
            return Ok(());
        }
        let mut keys = ClassKeys::open(index, &meta);
        let settled = settle(index, &meta, &keys)?;
        if let Some(settled) = &settled {
            keys = ClassKeys::open(index, settled);
        }
        let budgets = [budget() / 4, budget() / 2];
        let mut segment = SegmentBuilder::new(index, Logging::Now, self.reserve(), &keys, budgets);
        let mut blocks = Vec::new();
        let mut pages = PendingPages::full(index, &meta);
        while let Some((block, contents)) = sure(index, pages.next()) {
            for item in pending::items(index, block, &contents) {
                if !item.row.has(HeapRow::DEAD) {
                    keys.check(index, block, &item);
                    segment.add(&keys, &item)?;
                }
            }
            blocks.push(block);
        }
        let (added, head) = (segment.finish(&keys, |_, _| ())?, Some((meta.tail, meta.tail_sequence)));
        if added.is_none() {
            // If no rows are left, the order that was just settled is dropped.
            blocks.extend(settled.iter().flat_map(|settled| order::blocks(index, settled)));
        }
        let settled = settled.filter(|_| added.is_some());
        self.publish(&[], Change { added, head, settled }, &blocks);
        Ok(())
    }
}

/// Flushes the pending area if it is full, and merges small segments. Called after an insert that
/// made the area larger.
pub(crate) fn after_insert(index: OpenIndex) -> Result<()> {
    let limit = options::pending_pages(index);
    let is_full = || Directory::read(index).pending_pages() > limit;
    if !is_full() {
        return Ok(());
    }
    // Another backend may be flushing the area, or may just have done it.
    let Some(maintenance) = Maintenance::begin_if_free(index).filter(|_| is_full()) else { return Ok(()) };
    maintenance.flush(false)?;
    maintenance.merge_some(&mut |directory| merge::of_insert(&directory.segments, limit))
}

/// The number of sets after which no more pages are counted to settle an order.
const COUNTED: u64 = 30_000;

/// Settles an index of sets by its pending rows if nothing was settled before. Returns the
/// metapage, which is published with the first segment. Until then nothing refers to the pages of
/// the order.
fn settle(index: OpenIndex, meta: &Meta, keys: &ClassKeys) -> Result<Option<Meta>> {
    let Some(sets) = keys.sets().filter(|sets| sets.settled.is_none()) else { return Ok(None) };
    let mut sample = TokenSample::new()?;
    let mut counted = 0;
    let mut tokens = Vec::new();
    let mut pages = PendingPages::full(index, meta);
    while counted < COUNTED
        && let Some((block, contents)) = sure(index, pages.next())
    {
        for item in pending::items(index, block, &contents) {
            keys.check(index, block, &item);
            if item.row.has(HeapRow::WHOLE)
                && let Some(set) = SetItem::read(item.row, keys.sketch(item.bytes))
            {
                set.tokens(&mut tokens)?;
                sample.add(&tokens)?;
                counted += 1;
            }
        }
    }
    let settled = Settled::from_sample(&sets.spec, sample, None)?;
    let (order, hash) = order::write(index, &settled.order, Logging::Now)?;
    Ok(Some(settled.put(*meta, order, hash)))
}

/// A segment that is being made.
pub(crate) struct SegmentBuilder {
    writer: SegmentWriter,
    sorter: PairSorter,
    posted: Posted,
    /// The items of an index with group columns, until all are known.
    waiting: Option<GroupOrder>,
}

impl SegmentBuilder {
    /// Starts a segment with this id. Its lists, before them what waits for the order of its
    /// groups, and the sorter of its signatures use at most so many bytes of memory.
    pub(crate) fn new(
        index: OpenIndex,
        logging: Logging,
        id: u64,
        keys: &ClassKeys,
        [lists, sorter]: [usize; 2],
    ) -> Self {
        Self {
            writer: SegmentWriter::new(index, logging, id, keys.layout(), lists),
            sorter: PairSorter::new(sorter),
            posted: Posted::default(),
            waiting: (keys.meta.groups > 0).then(|| GroupOrder::new(lists)),
        }
    }

    /// Returns the number of rows so far.
    pub(crate) fn rows(&self) -> u32 {
        self.waiting.as_ref().map_or(self.writer.rows(), |waiting| waiting.items)
    }

    /// Adds the row of an item.
    pub(crate) fn add(&mut self, keys: &ClassKeys, item: &Item<'_>) -> error::Result<()> {
        match &mut self.waiting {
            Some(waiting) => waiting.push(item),
            None => self.add_next(keys, item),
        }
    }

    fn add_next(&mut self, keys: &ClassKeys, item: &Item<'_>) -> error::Result<()> {
        let row = keys.post(item, &mut self.posted)?;
        let number = self.writer.add(row, &self.posted.sketch)?;
        self.posted.signatures.iter().try_for_each(|&signature| self.sorter.push(signature, number))
    }

    /// Writes the segment, unless it has no rows. Calls `progress` now and then with the number of
    /// signatures that are written and the number of all.
    pub(crate) fn finish(
        mut self,
        keys: &ClassKeys,
        mut progress: impl FnMut(u64, u64),
    ) -> error::Result<Option<Descriptor>> {
        if let Some(waiting) = self.waiting.take() {
            waiting.each(|item| self.add_next(keys, item))?;
        }
        let Self { mut writer, sorter, .. } = self;
        if writer.rows() == 0 {
            return Ok(None);
        }
        let (mut done, total) = (0_u64, sorter.len());
        progress(done, total);
        writer.end_rows(total)?;
        let mut sorted = sorter.finish()?;
        while let Some((signature, row)) = sorted.next()? {
            writer.pair(signature, row)?;
            done += 1;
            if done.trailing_zeros() >= 14 {
                progress(done, total);
            }
        }
        progress(done, total);
        writer.finish().map(Some)
    }
}
