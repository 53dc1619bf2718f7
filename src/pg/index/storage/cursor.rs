//! The signatures of a segment in their order, each with its rows.

use roaring::RoaringBitmap;

use super::segment::Segment;
use crate::pg::index::layout::items::Pair;
use crate::pg::index::pages::buffer::Looked;

/// The rows of one signature.
pub(crate) enum Rows {
    /// From a list.
    Many(RoaringBitmap),
    /// From pairs.
    Few(Vec<u32>),
}

impl Rows {
    /// Calls `each` with every row.
    pub(crate) fn each(&self, mut each: impl FnMut(u32)) {
        match self {
            Self::Many(rows) => rows.iter().for_each(each),
            Self::Few(rows) => rows.iter().for_each(|&row| each(row)),
        }
    }

    /// How many rows these are.
    pub(crate) fn len(&self) -> u64 {
        match self {
            Self::Many(rows) => rows.len(),
            Self::Few(rows) => rows.len() as u64,
        }
    }
}

/// Goes through the signatures of a segment.
pub(crate) struct Cursor<'a> {
    segment: &'a Segment,
    page: u32,
    pairs: Vec<u8>,
    at: usize,
    last: Option<u64>,
}

impl<'a> Cursor<'a> {
    /// At the first signature.
    pub(crate) fn new(segment: &'a Segment) -> Self {
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
    pub(crate) fn next(&mut self) -> Looked<Option<(u64, Rows)>> {
        let Some(first) = self.peek()? else { return Ok(None) };
        let segment = self.segment;
        if self.last.is_some_and(|last| last >= first.signature) {
            segment.index.corrupted(segment.about.root, "signatures of the segment are not in order");
        }
        self.last = Some(first.signature);
        if let Some(list) = first.list() {
            self.at += Pair::SIZE;
            let list = segment.list(list)?;
            return Ok(Some((first.signature, Rows::Many(segment.rows_of(list)?))));
        }
        let mut few = Vec::new();
        while let Some(pair) = self.peek()?.filter(|pair| pair.signature == first.signature) {
            if pair.row >= segment.about.rows || few.last().is_some_and(|&last| last >= pair.row) {
                segment.index.corrupted(segment.about.root, "a signature has rows that the segment has not");
            }
            few.push(pair.row);
            self.at += Pair::SIZE;
        }
        Ok(Some((first.signature, Rows::Few(few))))
    }

    /// The next signature with the number of its rows.
    pub(crate) fn next_count(&mut self) -> Looked<Option<(u64, u64)>> {
        let Some(first) = self.peek()? else { return Ok(None) };
        if let Some(list) = first.list() {
            self.at += Pair::SIZE;
            return Ok(Some((first.signature, self.segment.list(list)?.rows.into())));
        }
        let mut count = 0;
        while self.peek()?.is_some_and(|pair| pair.signature == first.signature) {
            count += 1;
            self.at += Pair::SIZE;
        }
        Ok(Some((first.signature, count)))
    }
}
