//! Writes a segment from rows and sorted pairs.

use roaring::RoaringBitmap;

use super::lists::SegmentLists;
use super::sort::{Grouped, place_of_signature};
use super::spool::{ByteStore, Spool};
use crate::pg::index::layout::format::{
    CONTENTS, Descriptor, Extent, List, NONE, PageKind, Pieces, RootHead, SegmentLayout, Tail,
};
use crate::pg::index::layout::items::{HeapRow, SignaturePair};
use crate::pg::index::pages::buffer::OpenIndex;
use crate::pg::index::pages::record::Logging;
use neardup_core::error::Result;
use neardup_core::memory;

const DOING: &str = "writing a segment";

/// A writer for a segment. It takes first all rows and then, after [`SegmentWriter::end_rows`], all
/// pairs in order. [`SegmentWriter::finish`] completes the segment.
pub(crate) struct SegmentWriter {
    index: OpenIndex,
    logging: Logging,
    layout: SegmentLayout,
    budget: usize,
    segment: Descriptor,
    extents: Vec<Extent>,
    number: u32,
    page: Vec<u8>,
    firsts: Vec<u64>,
    signature: u64,
    few: Vec<u32>,
    many: RoaringBitmap,
    directory: Spool,
    lists: Spool,
    /// The lists of classes, if the segment has lists of classes.
    classes: Option<SegmentLists<Spool>>,
    /// The numbers of the rows that hold a part of a split set.
    split: Vec<u32>,
    /// The rows that are brought into the order of their groups, if the segment has such an order
    /// and they come in another one.
    grouped: Option<Grouped>,
    /// Where the numbers of these rows begin, once they are written.
    bases: Option<Vec<u32>>,
}

impl SegmentWriter {
    /// Starts a segment with this id. Its lists use at most `budget` bytes of memory.
    pub(crate) fn new(
        index: OpenIndex,
        logging: Logging,
        id: u64,
        layout: SegmentLayout,
        budget: usize,
    ) -> Self {
        Self {
            index,
            logging,
            layout,
            budget,
            segment: Descriptor { id, ..Descriptor::default() },
            extents: Vec::new(),
            number: 0,
            page: Vec::with_capacity(CONTENTS),
            firsts: Vec::new(),
            signature: 0,
            few: Vec::new(),
            many: RoaringBitmap::new(),
            directory: Spool::new(budget / 2),
            lists: Spool::new(budget / 2),
            classes: None,
            split: Vec::new(),
            // The files of the rows belong to the memory context that is current now.
            grouped: (layout.pieces == Pieces::Grouped).then(|| Grouped::new(layout, budget / 2)),
            bases: None,
        }
    }

    /// Returns the number of rows so far.
    pub(crate) fn rows(&self) -> u32 {
        self.segment.rows + self.grouped.as_ref().map_or(0, Grouped::rows)
    }

    /// Adds a row, which need not come in the order of the segment; a NULL has no sketch. Returns
    /// the number that the pairs of the row have. All rows are added in this way, or none.
    pub(crate) fn add(&mut self, row: HeapRow, sketch: &[u8]) -> Result<u32> {
        if let Some(grouped) = &mut self.grouped {
            return grouped.push(row, sketch);
        }
        let number = self.segment.rows;
        self.row(row, sketch)?;
        Ok(number)
    }

    /// Adds the next row of the segment; a NULL has no sketch.
    fn row(&mut self, row: HeapRow, sketch: &[u8]) -> Result<()> {
        let width = HeapRow::SIZE + self.layout.payload;
        if self.page.len() + width > CONTENTS {
            self.flush(PageKind::Rows)?;
        }
        self.page.extend_from_slice(&row.0.to_le_bytes());
        self.page.extend_from_slice(sketch);
        self.page.resize(self.page.len().next_multiple_of(width), 0);
        if row.has(HeapRow::SPLIT) {
            memory::push(&mut self.split, self.segment.rows, DOING)?;
        }
        self.segment.rows += 1;
        self.segment.nulls += u32::from(row.has(HeapRow::NULL));
        self.segment.continued += u32::from(row.has(HeapRow::CONTINUED));
        Ok(())
    }

    /// Writes the page that was being filled.
    fn flush(&mut self, kind: PageKind) -> Result<()> {
        if self.page.is_empty() {
            return Ok(());
        }
        let page = std::mem::take(&mut self.page);
        self.emit(kind, &page)?;
        self.page = page;
        self.page.clear();
        Ok(())
    }

    fn emit(&mut self, kind: PageKind, contents: &[u8]) -> Result<()> {
        pgrx::check_for_interrupts!();
        let block = self.index.add(Tail::new(kind, self.segment.id, self.number), contents, self.logging);
        self.number += 1;
        match self.extents.last_mut() {
            Some(last) if last.start + last.length == block => last.length += 1,
            _ => memory::push(&mut self.extents, Extent { start: block, length: 1 }, DOING)?,
        }
        Ok(())
    }

    /// Ends the rows. About this many pairs follow.
    pub(crate) fn end_rows(&mut self, pairs: u64) -> Result<()> {
        if let Some(grouped) = self.grouped.take().filter(|grouped| grouped.rows() > 0) {
            self.bases = Some(grouped.each(|row, sketch| self.row(row, sketch))?);
        }
        self.flush(PageKind::Rows)?;
        self.segment.row_pages = self.number;
        let lists = |bits| {
            SegmentLists::new(
                self.layout.pieces,
                bits,
                pairs,
                [Spool::new(self.budget / 2), Spool::new(self.budget / 2)],
            )
        };
        self.classes = self.layout.class_bits.map(lists);
        Ok(())
    }

    /// Adds a pair. Pairs must come in order.
    pub(crate) fn pair(&mut self, signature: u64, row: u32) -> Result<()> {
        if let Some(classes) = &mut self.classes {
            let row = self.bases.as_ref().map_or(row, |bases| bases[place_of_signature(signature)] + row);
            return classes.push(signature, row, &mut self.segment);
        }
        if signature != self.signature {
            self.close_signature()?;
        }
        self.signature = signature;
        if !self.many.is_empty() {
            self.many.insert(row);
        } else if self.few.last() != Some(&row) {
            self.few.push(row);
            if self.few.len() == SignaturePair::LISTED {
                self.many.extend(self.few.drain(..));
            }
        }
        Ok(())
    }

    /// Writes the rows of the signature that was being collected.
    fn close_signature(&mut self) -> Result<()> {
        let rows = if self.many.is_empty() { self.few.len() as u64 } else { self.many.len() };
        if rows == 0 {
            return Ok(());
        }
        self.segment.signatures += 1;
        self.segment.postings += rows;
        self.segment.longest = self.segment.longest.max(rows as u32);
        if self.many.is_empty() {
            let few = std::mem::take(&mut self.few);
            for &row in &few {
                self.write_pair(row)?;
            }
            self.few = few;
            self.few.clear();
        } else {
            let mut bytes = Vec::with_capacity(self.many.serialized_size());
            self.many.serialize_into(&mut bytes).expect("a vector takes all bytes");
            let list = List { offset: self.lists.len(), length: bytes.len() as u32, rows: rows as u32 };
            self.directory.push(&list.to_bytes())?;
            self.lists.push(&bytes)?;
            self.many.clear();
            self.write_pair(self.segment.lists | SignaturePair::LIST)?;
            self.segment.lists += 1;
        }
        Ok(())
    }

    fn write_pair(&mut self, row: u32) -> Result<()> {
        if self.page.len() + SignaturePair::SIZE > CONTENTS {
            self.flush(PageKind::Signatures)?;
        }
        if self.page.is_empty() {
            memory::push(&mut self.firsts, self.signature, DOING)?;
        }
        SignaturePair { signature: self.signature, row }.write(&mut self.page);
        self.segment.pairs += 1;
        Ok(())
    }

    /// Writes the remaining pages, and returns the descriptor of the segment for the directory.
    pub(crate) fn finish(mut self) -> Result<Descriptor> {
        self.close_signature()?;
        self.flush(PageKind::Signatures)?;
        if let Some(mut classes) = self.classes.take() {
            self.segment.lists = classes.finish(&self.split, &mut self.segment)?;
            (self.directory, self.lists) = (classes.directory, classes.bytes);
        }
        self.segment.signature_pages = self.number - self.segment.row_pages;
        self.segment.list_bytes = self.lists.len();
        let mut directory = std::mem::replace(&mut self.directory, Spool::new(0));
        directory.for_each(List::PER_PAGE * List::SIZE, |bytes| self.emit(PageKind::ListDirectory, bytes))?;
        let mut lists = std::mem::replace(&mut self.lists, Spool::new(0));
        lists.for_each(CONTENTS, |bytes| self.emit(PageKind::Lists, bytes))?;
        self.write_root();
        Ok(self.segment)
    }

    /// Writes the root, its last page first, because each page names the next one.
    fn write_root(&mut self) {
        let step = (self.firsts.len().div_ceil(RootHead::MOST_FENCES)).max(1);
        let fences: Vec<u64> = self.firsts.iter().copied().step_by(step).collect();
        let (first, rest) = self.extents.split_at(self.extents.len().min(RootHead::room(fences.len())));
        let mut pages = vec![(fences.as_slice(), first)];
        pages.extend(rest.chunks(RootHead::room(0)).map(|extents| (&[][..], extents)));
        let mut next = NONE;
        for (n, (fences, extents)) in pages.iter().enumerate().rev() {
            let head = RootHead {
                extents: extents.len() as u32,
                fences: fences.len() as u32,
                step: step as u32,
                unused: 0,
            };
            let mut bytes = head.to_bytes().to_vec();
            bytes.extend(fences.iter().flat_map(|fence| fence.to_le_bytes()));
            bytes.extend(extents.iter().copied().flat_map(Extent::to_bytes));
            let tail = Tail { next, ..Tail::new(PageKind::Root, self.segment.id, n as u32) };
            next = self.index.add(tail, &bytes, self.logging);
        }
        self.segment.root = next;
        self.segment.pages = self.number + pages.len() as u32;
    }
}
