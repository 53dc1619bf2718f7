//! Finds the rows of a signature in a segment.

use super::segment::Segment;
use crate::pg::index::layout::format::List;
use crate::pg::index::layout::items::SignaturePair;
use crate::pg::index::pages::buffer::Looked;

/// The rows of a signature.
#[derive(Debug)]
pub(crate) enum SignatureRows {
    /// The row numbers, in ascending order.
    Few(Vec<u32>),
    /// A list.
    Many(List),
}

impl SignatureRows {
    /// Returns the number of rows.
    pub(crate) fn count(&self) -> u64 {
        match self {
            Self::Few(rows) => rows.len() as u64,
            Self::Many(list) => list.rows.into(),
        }
    }
}

impl Segment {
    /// Finds the rows of a signature: some row numbers, or a list. Reads one or two pages, rarely
    /// more.
    pub(crate) fn find(&self, signature: u64) -> Looked<Option<SignatureRows>> {
        if self.about.signature_pages == 0 {
            return Ok(None);
        }
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
            let last = SignaturePair::read(pairs, pairs.len() / SignaturePair::SIZE - 1).signature;
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
            let count = pairs.len() / SignaturePair::SIZE;
            let start = partition(count, |i| SignaturePair::read(pairs, i).signature < signature);
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

    fn last_signature(&self, n: u32) -> Looked<u64> {
        let page = self.signature_page(n)?;
        let pairs = page.contents();
        Ok(SignaturePair::read(pairs, pairs.len() / SignaturePair::SIZE - 1).signature)
    }
}

/// Returns these rows, if there are any.
fn few(rows: Vec<u32>) -> Option<SignatureRows> {
    (!rows.is_empty()).then_some(SignatureRows::Few(rows))
}

/// Returns the first of `count` positions for which `before` is false, or `count` if there is none.
fn partition(count: usize, before: impl Fn(usize) -> bool) -> usize {
    let (mut low, mut high) = (0, count);
    while low < high {
        let middle = low + (high - low) / 2;
        if before(middle) { low = middle + 1 } else { high = middle }
    }
    low
}
