//! Reads the signatures of a segment in ascending order and the rows of each signature, or finds
//! the rows of one signature.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::collections::binary_heap::PeekMut;

use super::list_reader::PartReader;
use super::lists::bits_of_parts;
use super::segment::Segment;
use crate::pg::index::layout::format::List;
use crate::pg::index::layout::items::SignaturePair;
use crate::pg::index::pages::buffer::Looked;

/// The rows of a signature.
#[derive(Debug)]
pub(crate) enum SignatureRows {
    /// The only row. Most signatures have just one row, and this variant allocates nothing.
    One(u32),
    /// The row numbers, in ascending order.
    Few(Vec<u32>),
    /// A list.
    Many(List),
}

impl SignatureRows {
    /// Returns the number of rows.
    pub(crate) fn count(&self) -> u64 {
        match self {
            Self::One(_) => 1,
            Self::Few(rows) => rows.len() as u64,
            Self::Many(list) => list.rows.into(),
        }
    }
}

/// Iterates over the signatures of a segment. In a segment of lists, a frequent signature comes
/// several times, each time with the next of its rows.
pub(crate) enum SegmentCursor<'a> {
    /// A segment of pairs.
    Pairs(PairCursor<'a>),
    /// A segment of lists.
    Lists(ListCursor<'a>),
}

impl<'a> SegmentCursor<'a> {
    /// Starts at the first signature.
    pub(crate) fn new(segment: &'a Segment) -> Self {
        match segment.layout.class_bits {
            None => Self::Pairs(PairCursor { segment, page: 0, pairs: Vec::new(), at: 0, last: None }),
            Some(bits) => Self::Lists(ListCursor { segment, bits, number: 0, part: None }),
        }
    }

    /// Returns the next signature with its rows.
    pub(crate) fn next(&mut self) -> Looked<Option<(u64, SignatureRows)>> {
        match self {
            Self::Pairs(pairs) => pairs.next(),
            Self::Lists(lists) => {
                let mut rows = Vec::new();
                let next = lists.next_of_few(u64::MAX, &mut rows)?;
                Ok(next.map(|(signature, _)| (signature, SignatureRows::Few(rows))))
            }
        }
    }

    /// Returns the next signature with the number of its rows.
    pub(crate) fn next_count(&mut self) -> Looked<Option<(u64, u64)>> {
        match self {
            Self::Pairs(pairs) => Ok(pairs.next()?.map(|(signature, rows)| (signature, rows.count()))),
            Self::Lists(lists) => lists.next_of_few(0, &mut Vec::new()),
        }
    }
}

/// Iterates over the lists of a segment.
pub(crate) struct ListCursor<'a> {
    segment: &'a Segment,
    bits: u32,
    /// The number of the next part.
    number: u32,
    part: Option<PartReader<'a>>,
}

impl ListCursor<'_> {
    /// Returns the signature of the next class with the number of its next rows, as
    /// [`PartReader::next_of_few`] does.
    fn next_of_few(&mut self, most: u64, rows: &mut Vec<u32>) -> Looked<Option<(u64, u64)>> {
        loop {
            if let Some(part) = &mut self.part
                && let Some((class, count)) = part.next_of_few(most, rows)?
            {
                return Ok(Some((class << (u64::BITS - self.bits), count)));
            }
            if bits_of_parts(self.segment.about.lists, self.bits).is_none_or(|bits| self.number >> bits > 0) {
                return Ok(None);
            }
            self.part = Some(PartReader::open(self.segment, self.number)?);
            self.number += 1;
        }
    }
}

/// Iterates over the pairs of a segment.
pub(crate) struct PairCursor<'a> {
    segment: &'a Segment,
    page: u32,
    pairs: Vec<u8>,
    at: usize,
    last: Option<u64>,
}

impl PairCursor<'_> {
    fn peek(&mut self) -> Looked<Option<SignaturePair>> {
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
        Ok(Some(SignaturePair::read(&self.pairs, self.at / SignaturePair::SIZE)))
    }

    fn next(&mut self) -> Looked<Option<(u64, SignatureRows)>> {
        let Some(first) = self.peek()? else { return Ok(None) };
        let segment = self.segment;
        if self.last.is_some_and(|last| last >= first.signature) {
            segment.index.corrupted(segment.about.root, "signatures of the segment are not in order");
        }
        self.last = Some(first.signature);
        if let Some(list) = first.list() {
            self.at += SignaturePair::SIZE;
            return Ok(Some((first.signature, SignatureRows::Many(segment.list(list)?))));
        }
        let corrupted = || {
            segment.index.corrupted(segment.about.root, "a signature has rows that the segment has not");
        };
        if first.row >= segment.about.rows {
            corrupted();
        }
        self.at += SignaturePair::SIZE;
        if self.peek()?.is_none_or(|next| next.signature != first.signature) {
            return Ok(Some((first.signature, SignatureRows::One(first.row))));
        }
        let mut few = vec![first.row];
        while let Some(pair) = self.peek()?.filter(|pair| pair.signature == first.signature) {
            if pair.row >= segment.about.rows || few.last().is_some_and(|&last| last >= pair.row) {
                corrupted();
            }
            few.push(pair.row);
            self.at += SignaturePair::SIZE;
        }
        Ok(Some((first.signature, SignatureRows::Few(few))))
    }
}

/// A method of [`SegmentCursor`] that reads something of the next signature.
type ReadNext<'a, T> = fn(&mut SegmentCursor<'a>) -> Looked<Option<(u64, T)>>;

/// Iterates over the signatures of several segments, in ascending order.
pub(crate) struct MergedCursor<'a, T> {
    cursors: Vec<SegmentCursor<'a>>,
    read: ReadNext<'a, T>,
    /// The next signature of each segment, and what was read of it.
    heads: BinaryHeap<Reverse<(u64, usize)>>,
    waiting: Vec<Option<T>>,
}

impl<'a, T> MergedCursor<'a, T> {
    /// Starts at the first signature.
    pub(crate) fn new(
        segments: impl IntoIterator<Item = &'a Segment>,
        read: ReadNext<'a, T>,
    ) -> Looked<Self> {
        let cursors: Vec<_> = segments.into_iter().map(SegmentCursor::new).collect();
        let mut merged = Self { cursors, read, heads: BinaryHeap::new(), waiting: Vec::new() };
        for (n, cursor) in merged.cursors.iter_mut().enumerate() {
            let first = read(cursor)?;
            merged.heads.extend(first.iter().map(|&(signature, _)| Reverse((signature, n))));
            merged.waiting.push(first.map(|(_, rows)| rows));
        }
        Ok(merged)
    }

    /// Returns the next signature, the number of the segment that has it, and what was read of it.
    pub(crate) fn next(&mut self) -> Looked<Option<(u64, usize, T)>> {
        let Some(mut head) = self.heads.peek_mut() else { return Ok(None) };
        let Reverse((signature, n)) = *head;
        let (next, rows) = (self.read)(&mut self.cursors[n])?.unzip();
        match next {
            Some(next) => *head = Reverse((next, n)),
            None => drop(PeekMut::pop(head)),
        }
        Ok(std::mem::replace(&mut self.waiting[n], rows).map(|rows| (signature, n, rows)))
    }
}

impl Segment {
    /// Calls `each` with the rows of a signature.
    pub(crate) fn each_row(&self, rows: &SignatureRows, mut each: impl FnMut(u32)) -> Looked<()> {
        match rows {
            SignatureRows::One(row) => each(*row),
            SignatureRows::Few(rows) => rows.iter().copied().for_each(each),
            SignatureRows::Many(list) => self.rows_of(*list)?.iter().for_each(each),
        }
        Ok(())
    }

    /// Finds the rows of a signature: some row numbers, or a list. Reads one or two pages, rarely
    /// more.
    pub(crate) fn find(&self, signature: u64) -> Looked<Option<SignatureRows>> {
        if self.about.signature_pages == 0 {
            return Ok(None);
        }
        let signature = signature ^ self.salt();
        // The search looks for the first page whose last signature is not less than `signature`.
        // The number of this page is between `low` and `high`, and `low_key` and `high_key` bound
        // its signatures.
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
            let first = SignaturePair::read(pairs, 0).signature;
            let last = last_signature(pairs);
            if last < signature {
                if guess >= high {
                    return Ok(None);
                }
                (low, low_key) = (guess + 1, last);
            } else if first < signature || guess == low {
                break (guess, page);
            } else {
                (high, high_key) = (guess - 1, first);
                // If the page before this one ends below `signature`, this page is the right one.
                let before = last_signature(self.signature_page(high)?.contents());
                if before < signature {
                    break (guess, page);
                }
            }
        };
        let mut rows = Vec::new();
        let mut page = Some(page);
        while let Some(here) = page.take() {
            let pairs = here.contents();
            let count = pairs.len() / SignaturePair::SIZE;
            let (all, _) = pairs.as_chunks::<{ SignaturePair::SIZE }>();
            let start = all.partition_point(|pair| SignaturePair::read(pair, 0).signature < signature);
            for i in start..count {
                let pair = SignaturePair::read(pairs, i);
                if pair.signature != signature {
                    return Ok(few(rows));
                }
                if let Some(list) = pair.list() {
                    drop(here);
                    return self.list(list).map(|list| Some(SignatureRows::Many(list)));
                }
                if pair.row >= self.about.rows || rows.len() >= SignaturePair::LISTED {
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
        Ok(few(rows))
    }
}

/// Returns the last signature of a page.
fn last_signature(pairs: &[u8]) -> u64 {
    SignaturePair::read(pairs, pairs.len() / SignaturePair::SIZE - 1).signature
}

/// Returns these rows, if there are any.
fn few(rows: Vec<u32>) -> Option<SignatureRows> {
    (!rows.is_empty()).then_some(SignatureRows::Few(rows))
}
