//! Segments: how a signature, a list and a row of one are found.

use roaring::RoaringBitmap;

use crate::memory;
use crate::pg::index::am::search::COLLECTING;
use crate::pg::index::layout::format::{CONTENTS, Descriptor, Extent, Kind, List, NONE, RootHead};
use crate::pg::index::layout::items::{Pair, Row, number, rows_per_page};
use crate::pg::index::pages::buffer::{Index, Looked, Moved};
use crate::pg::index::pages::page::Page;
use crate::pg::server::error::or_raise;

/// A segment to read.
#[derive(Debug)]
pub struct Segment {
    /// The index.
    pub index: Index,
    /// What the directory says of it.
    pub about: Descriptor,
    /// The blocks of its root.
    pub roots: Vec<u32>,
    /// The runs of its numbered pages.
    pub extents: Vec<Extent>,
    payload: usize,
    /// The number of the first page in each extent.
    numbers: Vec<u32>,
    fences: Vec<u64>,
    step: u32,
}

/// The rows of a signature.
#[derive(Debug)]
pub enum Found {
    /// Their numbers, ascending.
    Few(Vec<u32>),
    /// A list.
    Many(List),
}

impl Found {
    /// How many they are.
    pub fn count(&self) -> u64 {
        match self {
            Self::Few(rows) => rows.len() as u64,
            Self::Many(list) => list.rows.into(),
        }
    }
}

impl Segment {
    /// Reads its root.
    pub fn open(index: Index, about: Descriptor, payload: usize) -> Looked<Self> {
        let blocks = index.blocks_now();
        let mut segment = Self {
            index,
            about,
            roots: Vec::new(),
            extents: Vec::new(),
            payload,
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
            let page = index.expect(block, Kind::Root, about.id, n as u32)?;
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
        let rows = u64::from(about.rows).div_ceil(rows_per_page(payload) as u64);
        if pages != expected || pages + segment.roots.len() as u64 != u64::from(about.pages) {
            index.corrupted(about.root, "a root and the directory disagree on the number of pages");
        }
        if segment.fences.len() != fences || rows != u64::from(about.row_pages) || !segment.fences.is_sorted()
        {
            index.corrupted(about.root, "a root and the directory disagree");
        }
        Ok(segment)
    }

    /// All its blocks.
    pub fn blocks(&self) -> impl Iterator<Item = u32> + '_ {
        let numbered = self.extents.iter().flat_map(|extent| extent.start..extent.start + extent.length);
        numbered.chain(self.roots.iter().copied())
    }

    fn block(&self, number: u32) -> u32 {
        let n = self.numbers.partition_point(|&first| first <= number) - 1;
        self.extents[n].start + (number - self.numbers[n])
    }

    fn page(&self, number: u32, kind: Kind) -> Looked<Page> {
        self.index.expect(self.block(number), kind, self.about.id, number)
    }

    /// Signature page `n`.
    pub fn signature_page(&self, n: u32) -> Looked<Page> {
        let page = self.page(self.about.row_pages + n, Kind::Signatures)?;
        let length = page.contents().len();
        if length == 0 || !length.is_multiple_of(Pair::SIZE) {
            self.index.corrupted(page.block(), "a signature page has no whole number of pairs");
        }
        Ok(page)
    }

    /// Ends the call if a fence is not the first signature of its page.
    pub fn check_fences(&self) -> Looked<()> {
        for (fence, n) in self.fences.iter().zip((0..).step_by(self.step as usize)) {
            let page = self.signature_page(n)?;
            if Pair::read(page.contents(), 0).signature != *fence {
                self.index.corrupted(page.block(), "a signature page does not begin where the root says");
            }
        }
        Ok(())
    }

    /// The rows of a signature: some by number, or a list. One or two pages are read, rarely more.
    pub fn find(&self, signature: u64) -> Looked<Option<Found>> {
        if self.about.signature_pages == 0 {
            return Ok(None);
        }
        // The first page whose last signature is not less is between these, and these are the
        // signatures that they begin with.
        let fence = self.fences.partition_point(|&first| first < signature);
        let mut low = (fence.saturating_sub(1) as u32) * self.step;
        let mut low_key = if fence > 0 { self.fences[fence - 1] } else { 0 };
        let mut high = (fence as u32).saturating_mul(self.step).min(self.about.signature_pages - 1);
        let mut high_key = self.fences.get(fence).copied().unwrap_or(u64::MAX);
        let mut reads = 0;
        let (mut n, page) = loop {
            let span = high - low;
            let guess = if reads >= 4 {
                low + span / 2
            } else {
                let (part, whole) = (signature.saturating_sub(low_key), high_key.saturating_sub(low_key));
                let at = u128::from(part) * u128::from(span) / u128::from(whole.max(1));
                low + (at as u32).min(span)
            };
            reads += 1;
            let page = self.signature_page(guess)?;
            let pairs = page.contents();
            let first = Pair::read(pairs, 0).signature;
            let last = Pair::read(pairs, pairs.len() / Pair::SIZE - 1).signature;
            if last < signature {
                if guess >= high {
                    return Ok(None);
                }
                (low, low_key) = (guess + 1, last);
            } else if first < signature || guess == low {
                break (guess, page);
            } else {
                (high, high_key) = (guess - 1, first);
                // The page before may end below the signature: then it is this one after all.
                let before = self.last_signature(high)?;
                if before < signature {
                    break (guess, page);
                }
            }
        };
        let mut rows = Vec::new();
        let mut page = Some(page);
        while let Some(here) = page.take() {
            let pairs = here.contents();
            let count = pairs.len() / Pair::SIZE;
            let start = partition(count, |i| Pair::read(pairs, i).signature < signature);
            for i in start..count {
                let pair = Pair::read(pairs, i);
                if pair.signature != signature {
                    return self.found(rows);
                }
                if let Some(list) = pair.list() {
                    drop(here);
                    return self.list(list).map(|list| Some(Found::Many(list)));
                }
                if pair.row >= self.about.rows || rows.len() >= Pair::LISTED {
                    self.index.corrupted(here.block(), "a signature has rows that the segment has not");
                }
                rows.push(pair.row);
            }
            n += 1;
            drop(here);
            if n < self.about.signature_pages {
                page = Some(self.signature_page(n)?);
            }
        }
        self.found(rows)
    }

    #[allow(clippy::unnecessary_wraps)] // The type of its caller's answers.
    fn found(&self, rows: Vec<u32>) -> Looked<Option<Found>> {
        Ok((!rows.is_empty()).then_some(Found::Few(rows)))
    }

    fn last_signature(&self, n: u32) -> Looked<u64> {
        let page = self.signature_page(n)?;
        let pairs = page.contents();
        Ok(Pair::read(pairs, pairs.len() / Pair::SIZE - 1).signature)
    }

    /// Where list `n` is.
    pub fn list(&self, n: u32) -> Looked<List> {
        let first = self.about.row_pages + self.about.signature_pages;
        if n >= self.about.lists {
            self.index.corrupted(self.about.root, "a signature has a list that the segment has not");
        }
        let page = self.page(first + n / List::PER_PAGE as u32, Kind::ListDirectory)?;
        let at = (n as usize % List::PER_PAGE) * List::SIZE;
        let Some(entry) = page.contents().get(at..at + List::SIZE) else {
            self.index.corrupted(page.block(), "a list is missing in the list directory");
        };
        let list = List::read(entry);
        if list.offset.saturating_add(list.length.into()) > self.about.list_bytes
            || list.rows > self.about.rows
        {
            self.index.corrupted(page.block(), "a list is longer than the segment");
        }
        Ok(list)
    }

    /// The rows of a list.
    pub fn rows_of(&self, list: List) -> Looked<RoaringBitmap> {
        let directory = (self.about.lists as usize).div_ceil(List::PER_PAGE) as u32;
        let first = self.about.row_pages + self.about.signature_pages + directory;
        let mut bytes = Vec::new();
        or_raise(memory::reserve(&mut bytes, list.length as usize, COLLECTING));
        let mut number = first + (list.offset / CONTENTS as u64) as u32;
        let mut at = (list.offset % CONTENTS as u64) as usize;
        let mut block = self.about.root;
        while bytes.len() < list.length as usize {
            pgrx::check_for_interrupts!();
            let page = self.page(number, Kind::Lists)?;
            block = page.block();
            let contents = page.contents();
            let end = contents.len().min(at + list.length as usize - bytes.len());
            if end <= at {
                self.index.corrupted(block, "a list has no end");
            }
            bytes.extend_from_slice(&contents[at..end]);
            (number, at) = (number + 1, 0);
        }
        match RoaringBitmap::deserialize_from(bytes.as_slice()) {
            Ok(rows)
                if rows.len() == u64::from(list.rows)
                    && rows.max().is_some_and(|row| row < self.about.rows) =>
            {
                Ok(rows)
            }
            _ => self.index.corrupted(block, "a list cannot be read"),
        }
    }

    /// Looks at rows whose numbers come in ascending order, each with its sketch. The page is locked
    /// meanwhile.
    pub fn look(
        &self,
        rows: impl IntoIterator<Item = u32>,
        mut each: impl FnMut(u32, Row, &[u8]),
    ) -> Looked<()> {
        let per_page = rows_per_page(self.payload) as u32;
        let width = Row::SIZE + self.payload;
        let mut here: Option<(u32, Page)> = None;
        for row in rows {
            let wanted = row / per_page;
            if here.as_ref().is_none_or(|(n, _)| *n != wanted) {
                drop(here.take());
                pgrx::check_for_interrupts!();
                here = Some((wanted, self.page(wanted, Kind::Rows)?));
            }
            let page = &here.as_ref().expect("just read").1;
            let at = (row % per_page) as usize * width;
            let Some(bytes) = page.contents().get(at..at + width) else {
                self.index.corrupted(page.block(), "a row is missing in a row page");
            };
            let (head, sketch) = bytes.split_at(Row::SIZE);
            let head = Row::read(head);
            if !head.is_valid() {
                self.index.corrupted(page.block(), "a row has no heap address");
            }
            each(row, head, sketch);
        }
        Ok(())
    }

    /// A copy of row page `n`, and the number of its first row.
    pub fn row_page(&self, n: u32) -> Looked<(u32, Vec<u8>)> {
        pgrx::check_for_interrupts!();
        let page = self.page(n, Kind::Rows)?;
        let (width, per_page) = (Row::SIZE + self.payload, rows_per_page(self.payload) as u32);
        let rows = (self.about.rows - n * per_page).min(per_page) as usize;
        let contents = page.contents();
        if contents.len() != rows * width
            || contents.chunks_exact(width).any(|row| !Row::read(row).is_valid())
        {
            self.index.corrupted(page.block(), "a row page does not have the rows that it should");
        }
        Ok((n * per_page, contents.to_vec()))
    }

    /// Flags rows as dead for which `is_dead` says so; says how many rows are dead now.
    pub fn mark(&self, mut is_dead: impl FnMut(Row) -> bool) -> Looked<(u32, u32)> {
        let width = Row::SIZE + self.payload;
        let (mut dead, mut marked) = (0, 0);
        for n in 0..self.about.row_pages {
            crate::pg::index::am::vacuum::delay();
            let block = self.block(n);
            let page = self.index.write(block);
            if !page.is(Kind::Rows, self.about.id, n) {
                return Err(Moved { block });
            }
            let mut record = crate::pg::index::pages::record::Record::new(self.index);
            let mut changed = false;
            record.change(&page, |image| {
                let used = page.contents().len() / width;
                for slot in image.contents().chunks_exact_mut(width).take(used) {
                    let row = Row::read(slot);
                    if !row.is_valid() {
                        self.index.corrupted(block, "a row has no heap address");
                    }
                    if row.has(Row::DEAD) {
                        dead += 1;
                    } else if is_dead(row) {
                        slot[..Row::SIZE].copy_from_slice(&row.with(Row::DEAD).0.to_le_bytes());
                        dead += 1;
                        marked += u32::from(!row.has(Row::CONTINUED));
                        changed = true;
                    }
                }
            });
            if changed {
                record.commit();
            }
        }
        Ok((dead, marked))
    }
}

/// The first of `count` for which `before` is false.
fn partition(count: usize, before: impl Fn(usize) -> bool) -> usize {
    let (mut low, mut high) = (0, count);
    while low < high {
        let middle = low + (high - low) / 2;
        if before(middle) { low = middle + 1 } else { high = middle }
    }
    low
}
