//! Makes a segment of the pending pages.

use super::maintenance::{Change, Maintenance, budget, sure};
use super::pending::{self, PendingPages};
use super::sort::PairSorter;
use super::writer::SegmentWriter;
use super::{merge, order};
use crate::pg::index::layout::format::{MOST_SEGMENTS, Meta, NONE};
use crate::pg::index::layout::items::HeapRow;
use crate::pg::index::layout::meta::Directory;
use crate::pg::index::families::keys::ClassKeys;
use crate::pg::index::families::options;
use crate::pg::index::families::posted::Posted;
use crate::pg::index::families::sets::Settled;
use crate::pg::index::families::sets::item::SetItem;
use crate::pg::index::pages::buffer::OpenIndex;
use crate::pg::index::pages::record::Logging;
use crate::pg::server::error::Result;
use neardup_core::joins::search::sample::TokenSample;

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
        let mut writer = SegmentWriter::new(index, Logging::Now, self.reserve(), keys.layout(), budget() / 4);
        let mut sorter = PairSorter::new(budget() / 2);
        let mut posted = Posted::default();
        let mut blocks = Vec::new();
        let mut pages = PendingPages::full(index, &meta);
        while let Some((block, contents)) = sure(index, pages.next()) {
            for item in pending::items(index, block, &contents) {
                if item.row.has(HeapRow::DEAD) {
                    continue;
                }
                keys.check(index, block, &item);
                let row = keys.post(&item, &mut posted)?;
                let number = writer.add(row, &posted.sketch)?;
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
            self.publish(&[], Change { head, ..Change::default() }, &blocks);
        } else {
            let added = Some(writer.finish()?);
            self.publish(&[], Change { added, head, settled }, &blocks);
        }
        Ok(())
    }
}

/// Flushes the pending area if it is full, and merges small segments. Called after an insert.
pub(crate) fn after_insert(index: OpenIndex) -> Result<()> {
    let Some(maintenance) = Maintenance::begin_if_free(index) else { return Ok(()) };
    // Another backend may just have flushed the pending area.
    let limit = options::pending_pages(index);
    if Directory::read(index).pending_pages() <= limit {
        return Ok(());
    }
    maintenance.flush(false)?;
    maintenance.merge_some(&mut |directory| merge::of_insert(&directory.segments, limit))
}

/// The number of sets after which no more pages are counted to settle an order.
const COUNTED: u64 = 30_000;

/// Settles an index of sets by its pending rows if nothing was settled before. Returns the
/// metapage, which is published with the first segment. Until then nothing refers to the pages of
/// the order.
fn settle(index: OpenIndex, meta: &Meta, keys: &ClassKeys) -> Result<Option<Meta>> {
    let Some(sets) = keys.sets.as_ref().filter(|sets| sets.settled.is_none()) else { return Ok(None) };
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
                && let Some(set) = SetItem::read(item.row, item.bytes)
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
