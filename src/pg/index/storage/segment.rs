//! Segments: their pages, lists and rows.

use super::lists;
use crate::pg::compat::vacuum_delay;
use crate::pg::index::layout::format::{
    CONTENTS, Descriptor, Extent, List, NONE, PageKind, RootHead, SegmentLayout,
};
use crate::pg::index::layout::group::SoughtGroup;
use crate::pg::index::layout::items::{HeapRow, SignaturePair, number, rows_per_page};
use crate::pg::index::pages::buffer::{Looked, Moved, OpenIndex};
use crate::pg::index::pages::page::LockedPage;
use crate::pg::index::pages::record::Record;
use crate::pg::server::error::or_raise;
use neardup_core::memory;
use neardup_core::sketches::simhash;

/// The activity that an error names when memory runs out while rows are collected.
pub(crate) const COLLECTING: &str = "collecting rows of an index";

/// A segment to read.
#[derive(Debug)]
pub(crate) struct Segment {
    /// The index.
    pub index: OpenIndex,
    /// The descriptor of the segment in the directory.
    pub about: Descriptor,
    /// The blocks of the segment's root.
    pub roots: Vec<u32>,
    /// The runs of blocks that hold the segment's numbered pages.
    pub extents: Vec<Extent>,
    /// The layout of the segment.
    pub(super) layout: SegmentLayout,
    /// The only group whose rows are looked at, if a search asks for one.
    pub sought: Option<SoughtGroup>,
    /// The number of the first page in each extent.
    numbers: Vec<u32>,
    /// The first signature of every `step`-th signature page.
    pub(super) fences: Vec<u64>,
    pub(super) step: u32,
}

impl Segment {
    /// Reads the root of a segment.
    pub(crate) fn open(index: OpenIndex, about: Descriptor, layout: SegmentLayout) -> Looked<Self> {
        let blocks = index.blocks_now();
        let mut segment = Self {
            index,
            about,
            roots: Vec::new(),
            extents: Vec::new(),
            layout,
            sought: None,
            numbers: Vec::new(),
            fences: Vec::new(),
            step: 1,
        };
        let mut block = about.root;
        let mut pages = 0_u64;
        while block != NONE {
            pgrx::check_for_interrupts!();
            if block >= blocks {
                index.corrupted(0, &format!("it refers to block {block}, behind the end"));
            }
            let n = segment.roots.len();
            let page = index.expect(block, PageKind::Root, about.id, n as u32)?;
            let bytes = page.contents();
            let head = RootHead::read(bytes.get(..RootHead::SIZE).unwrap_or(&[0; RootHead::SIZE]));
            let (fences, extents) = (head.fences as usize, head.extents as usize);
            let length = RootHead::SIZE as u64
                + u64::from(head.fences) * 8
                + u64::from(head.extents) * Extent::SIZE as u64;
            if length != bytes.len() as u64 || head.step == 0 || (n > 0 && fences > 0) {
                index.corrupted(block, "a root has another length than it says");
            }
            let (fence_bytes, extent_bytes) = bytes[RootHead::SIZE..].split_at(fences * 8);
            if n == 0 {
                segment.step = head.step;
                segment.fences = fence_bytes.chunks_exact(8).map(number).collect();
            }
            for extent in extent_bytes.chunks_exact(Extent::SIZE).take(extents).map(Extent::read) {
                if u64::from(extent.start) + u64::from(extent.length) > blocks.into() || extent.length == 0 {
                    index.corrupted(block, "a root refers to blocks behind the end");
                }
                segment.numbers.push(pages as u32);
                segment.extents.push(extent);
                pages += u64::from(extent.length);
            }
            segment.roots.push(block);
            block = page.tail().next;
            if segment.roots.len() > about.pages as usize {
                index.corrupted(about.root, "the root has no end");
            }
        }
        let lists = u64::from(about.lists).div_ceil(List::PER_PAGE as u64)
            + about.list_bytes.div_ceil(CONTENTS as u64);
        let expected = u64::from(about.row_pages) + u64::from(about.signature_pages) + lists;
        let fences = about.signature_pages.div_ceil(segment.step) as usize;
        let rows = u64::from(about.rows).div_ceil(rows_per_page(layout.payload) as u64);
        if pages != expected || pages + segment.roots.len() as u64 != u64::from(about.pages) {
            index.corrupted(about.root, "a root and the directory disagree on the number of pages");
        }
        if segment.fences.len() != fences || rows != u64::from(about.row_pages) || !segment.fences.is_sorted()
        {
            index.corrupted(about.root, "a root and the directory disagree");
        }
        if let Some(bits) = layout.class_bits
            && (lists::bits_of_parts(about.lists, bits).is_none()
                || about.pairs > 0
                || about.signature_pages > 0)
        {
            index.corrupted(about.root, "the directory has another number of lists than there are");
        }
        Ok(segment)
    }

    /// Returns the number of bits of a class, if the segment has lists of classes, and else 0.
    pub(crate) fn class_bits(&self) -> u32 {
        self.layout.class_bits.unwrap_or(0)
    }

    /// Lists all blocks of the segment.
    pub(crate) fn blocks(&self) -> impl Iterator<Item = u32> + '_ {
        let numbered = self.extents.iter().flat_map(|extent| extent.start..extent.start + extent.length);
        numbered.chain(self.roots.iter().copied())
    }

    fn block(&self, number: u32) -> u32 {
        let n = self.numbers.partition_point(|&first| first <= number) - 1;
        self.extents[n].start + (number - self.numbers[n])
    }

    pub(super) fn page(&self, number: u32, kind: PageKind) -> Looked<LockedPage> {
        self.index.expect(self.block(number), kind, self.about.id, number)
    }

    /// Returns signature page `n`.
    pub(crate) fn signature_page(&self, n: u32) -> Looked<LockedPage> {
        let page = self.page(self.about.row_pages + n, PageKind::Signatures)?;
        let length = page.contents().len();
        if length == 0 || !length.is_multiple_of(SignaturePair::SIZE) {
            self.index.corrupted(page.block(), "a signature page has no whole number of pairs");
        }
        Ok(page)
    }

    /// Fails if a fence is not the first signature of its page.
    pub(crate) fn check_fences(&self) -> Looked<()> {
        for (fence, n) in self.fences.iter().zip((0..).step_by(self.step as usize)) {
            let page = self.signature_page(n)?;
            if SignaturePair::read(page.contents(), 0).signature != *fence {
                self.index.corrupted(page.block(), "a signature page does not begin where the root says");
            }
        }
        Ok(())
    }

    /// Returns the place of list `n`.
    pub(crate) fn list(&self, n: u32) -> Looked<List> {
        let list = self.entry(n)?;
        if list.rows > self.about.rows {
            self.index.corrupted(self.about.root, "a list is longer than the segment");
        }
        Ok(list)
    }

    /// Returns an entry of the list directory.
    pub(crate) fn entry(&self, n: u32) -> Looked<List> {
        let first = self.about.row_pages + self.about.signature_pages;
        if n >= self.about.lists {
            self.index.corrupted(self.about.root, "a signature has a list that the segment has not");
        }
        let page = self.page(first + n / List::PER_PAGE as u32, PageKind::ListDirectory)?;
        let at = (n as usize % List::PER_PAGE) * List::SIZE;
        let Some(entry) = page.contents().get(at..at + List::SIZE) else {
            self.index.corrupted(page.block(), "a list is missing in the list directory");
        };
        let list = List::read(entry);
        if list.offset.saturating_add(list.length.into()) > self.about.list_bytes {
            self.index.corrupted(page.block(), "a list is longer than the segment");
        }
        Ok(list)
    }

    /// Returns the page that has the byte at `offset` of the lists.
    pub(super) fn list_page(&self, offset: u64) -> Looked<LockedPage> {
        let directory = (self.about.lists as usize).div_ceil(List::PER_PAGE) as u32;
        let first = self.about.row_pages + self.about.signature_pages + directory;
        self.page(first + (offset / CONTENTS as u64) as u32, PageKind::Lists)
    }

    /// Returns the number of bytes of a row with those next to it, and the number of rows on a
    /// page.
    fn shape_of_rows(&self) -> (usize, u32) {
        (HeapRow::SIZE + self.layout.payload, rows_per_page(self.layout.payload) as u32)
    }

    /// Returns the bits in which the signatures of the sought rows differ from those of their
    /// sketches alone.
    pub(crate) fn salt(&self) -> u64 {
        self.sought.map_or(0, |sought| sought.salt)
    }

    /// Returns the least signature of a sought row's sketch that has a class.
    pub(crate) fn signature(&self, class: u64) -> u64 {
        class << (u64::BITS - self.class_bits()) ^ self.salt()
    }

    /// Returns a signature's class among those of the sought rows.
    pub(crate) fn class(&self, signature: u64) -> u64 {
        (signature ^ self.salt()) >> (u64::BITS - self.class_bits())
    }

    /// Returns the sketch in the bytes next to a row.
    pub(crate) fn sketch<'a>(&self, bytes: &'a [u8]) -> &'a [u8] {
        &bytes[self.layout.group..]
    }

    /// Returns the sketch in the bytes next to a row, unless the row is of another group than the
    /// sought one.
    pub(crate) fn sought<'a>(&self, bytes: &'a [u8]) -> Option<&'a [u8]> {
        self.sought.is_none_or(|sought| number(bytes) == sought.group).then(|| self.sketch(bytes))
    }

    /// Takes a row of a row page apart.
    fn row<'a>(&self, page: &LockedPage, bytes: &'a [u8]) -> (HeapRow, &'a [u8]) {
        let (head, bytes) = bytes.split_at(HeapRow::SIZE);
        let head = HeapRow::read(head);
        if !head.is_valid() {
            self.index.corrupted(page.block(), "a row has no heap address");
        }
        (head, bytes)
    }

    /// Reads the rows with these numbers, which must ascend, and calls `each` with the number, the
    /// row and the sketch of each row that is sought. The page of the row is locked while `each`
    /// runs.
    pub(crate) fn look(
        &self,
        rows: impl IntoIterator<Item = u32>,
        mut each: impl FnMut(u32, HeapRow, &[u8]),
    ) -> Looked<()> {
        self.look_at_all(rows, |number, row, bytes| {
            if let Some(sketch) = self.sought(bytes) {
                each(number, row, sketch);
            }
        })
    }

    /// Does the same for all rows, and calls `each` with all bytes next to them.
    pub(crate) fn look_at_all(
        &self,
        rows: impl IntoIterator<Item = u32>,
        mut each: impl FnMut(u32, HeapRow, &[u8]),
    ) -> Looked<()> {
        let (width, per_page) = self.shape_of_rows();
        let mut here: Option<(u32, LockedPage)> = None;
        for row in rows {
            let wanted = row / per_page;
            if here.as_ref().is_none_or(|(n, _)| *n != wanted) {
                drop(here.take());
                pgrx::check_for_interrupts!();
                here = Some((wanted, self.page(wanted, PageKind::Rows)?));
            }
            let page = &here.as_ref().expect("just read").1;
            let at = (row % per_page) as usize * width;
            let Some(bytes) = page.contents().get(at..at + width) else {
                self.index.corrupted(page.block(), "a row is missing in a row page");
            };
            let (head, bytes) = self.row(page, bytes);
            each(row, head, bytes);
        }
        Ok(())
    }

    /// Returns row page `n` and the number of its rows.
    fn whole_row_page(&self, n: u32) -> Looked<(LockedPage, usize)> {
        pgrx::check_for_interrupts!();
        let page = self.page(n, PageKind::Rows)?;
        let (width, per_page) = self.shape_of_rows();
        let rows = (self.about.rows - n * per_page).min(per_page) as usize;
        if page.contents().len() != rows * width {
            self.index.corrupted(page.block(), "a row page does not have the rows that it should");
        }
        Ok((page, rows))
    }

    /// Returns a copy of row page `n`, and the number of its first row.
    pub(crate) fn row_page(&self, n: u32) -> Looked<(u32, Vec<u8>)> {
        let (page, _) = self.whole_row_page(n)?;
        let (width, per_page) = self.shape_of_rows();
        page.contents().chunks_exact(width).for_each(|bytes| _ = self.row(&page, bytes));
        Ok((n * per_page, page.contents().to_vec()))
    }

    /// Flags the rows for which `is_dead` returns true. Returns the number of rows that are dead
    /// now, and the number of newly flagged rows without continuations.
    pub(crate) fn mark(&self, mut is_dead: impl FnMut(HeapRow) -> bool) -> Looked<(u32, u32)> {
        let (width, _) = self.shape_of_rows();
        let (mut dead, mut marked, mut found) = (0, 0, Vec::new());
        for n in 0..self.about.row_pages {
            vacuum_delay();
            let block = self.block(n);
            let page = self.index.write(block);
            if !page.is(PageKind::Rows, self.about.id, n) {
                return Err(Moved { block });
            }
            for (bytes, at) in page.contents().chunks_exact(width).zip((0..).step_by(width)) {
                let (row, _) = self.row(&page, bytes);
                if row.has(HeapRow::DEAD) {
                    dead += 1;
                } else if is_dead(row) {
                    found.push(at);
                    dead += 1;
                    marked += u32::from(!row.has(HeapRow::CONTINUED));
                }
            }
            Record::flag_dead(self.index, &page, &mut found);
        }
        Ok((dead, marked))
    }

    /// Returns the row pages that have some rows, whose numbers ascend.
    pub(crate) fn pages_of(&self, mut rows: Vec<u32>) -> Vec<u32> {
        let (_, per_page) = self.shape_of_rows();
        rows.iter_mut().for_each(|row| *row /= per_page);
        rows.dedup();
        rows
    }

    /// Calls `each` with every row of some row pages whose sketch differs from `bits` in at most
    /// `wanted` bits, and with every row that has flags. `each` may change `wanted` for the rows
    /// that follow. Returns the number of rows that were left out.
    pub(crate) fn near_rows(
        &self,
        pages: impl IntoIterator<Item = u32>,
        bits: &[u8],
        wanted: &mut u32,
        each: &mut dyn FnMut(HeapRow, &[u8], &mut u32),
    ) -> Looked<u64> {
        let (width, per_page) = self.shape_of_rows();
        let mut near = or_raise(memory::filled(0, per_page as usize, "comparing the sketches of an index"));
        let mut left_out = 0;
        for n in pages {
            let (page, count) = self.whole_row_page(n)?;
            let contents = page.contents();
            // The flags of a row are its first two bytes.
            let found = simhash::near_rows(bits, contents, width, *wanted, &mut near);
            left_out += (count - found) as u64;
            for &row in &near[..found] {
                let (head, bytes) = self.row(&page, &contents[row as usize * width..][..width]);
                if let Some(sketch) = self.sought(bytes) {
                    each(head, sketch, wanted);
                }
            }
        }
        Ok(left_out)
    }
}
