//! The bitmaps of the most frequent tokens: which of them each record has.
//!
//! The lists of these tokens hold a large share of all records, so that a few instructions for each
//! record take less time than the lists.

use std::ops::Range;

use super::lists::Lists;
use crate::error::Result;
use crate::executor::{self, Executor};
use crate::features::sets::records::Records;
use crate::memory;
use crate::simd::overlaps::{LANES, MOST_WORDS};

const DOING: &str = "preparing the search for the nearest";

/// A bitmap for each record, in groups of [`LANES`] records: the first words of the group, then the
/// second words, and so on.
#[derive(Debug)]
pub struct Frequent {
    /// The number of words of a bitmap.
    words: usize,
    /// The number of all tokens. The last token, which is the most frequent one, has the first bit.
    tokens: usize,
    groups: Vec<u64>,
}

impl Frequent {
    /// Makes the bitmaps. O(records + their frequent tokens).
    /// This many comparisons of words take as long as an entry of a list.
    pub fn new(
        records: &Records,
        lists: &Lists,
        tokens: usize,
        comparisons: u32,
        executor: &dyn Executor,
    ) -> Result<Self> {
        const GROUPS: usize = 1 << 9;
        let words = words(records.len(), lists, tokens, comparisons);
        let all = records.len().div_ceil(LANES) * LANES * words;
        let mut frequent = Self { words, tokens, groups: Vec::new() };
        let mut groups: Vec<u64> = memory::zeroed(all, DOING)?;
        let mut pieces: Vec<_> = groups.chunks_mut((GROUPS * LANES * words).max(1)).enumerate().collect();
        executor::each(executor, &mut pieces, |(piece, groups), stop| {
            let first = *piece * GROUPS * LANES;
            for record in first..records.len().min(first + GROUPS * LANES) {
                stop.check()?;
                records.prefetch(record + LANES, usize::MAX);
                let (group, lane) = ((record - first) / LANES, record % LANES);
                let own = frequent.bitmap(records.tokens(record));
                (0..words).for_each(|w| groups[(group * words + w) * LANES + lane] = own[w]);
            }
            Ok(())
        })?;
        frequent.groups = groups;
        Ok(frequent)
    }

    /// Returns the first of the tokens that have a bit.
    fn first(&self) -> usize {
        self.tokens.saturating_sub(64 * self.words)
    }

    /// Returns how many tokens of a record have no bit. They come first.
    pub fn rare(&self, tokens: &[u32]) -> usize {
        tokens.partition_point(|&token| (token as usize) < self.first())
    }

    /// Returns the bitmap of a record with these tokens.
    pub fn bitmap(&self, tokens: &[u32]) -> [u64; MOST_WORDS] {
        let mut bitmap = [0; MOST_WORDS];
        for &token in &tokens[self.rare(tokens)..] {
            let bit = self.tokens - 1 - token as usize;
            bitmap[bit / 64] |= 1 << (bit % 64);
        }
        bitmap
    }

    /// Returns the number of words of a bitmap.
    pub fn words(&self) -> usize {
        self.words
    }

    /// Returns the bitmaps of some groups.
    #[inline]
    pub fn groups(&self, groups: Range<usize>) -> &[u64] {
        let each = LANES * self.words;
        &self.groups[groups.start * each..groups.end * each]
    }

    /// Returns how many frequent tokens a record shares with the record that has this bitmap.
    #[inline]
    pub fn shared(&self, bitmap: &[u64], record: usize) -> u32 {
        let group = &self.groups[record / LANES * LANES * self.words..];
        (0..self.words).map(|w| (bitmap[w] & group[w * LANES + record % LANES]).count_ones()).sum()
    }

    /// Returns the number of bytes on the heap.
    pub fn bytes(&self) -> usize {
        memory::bytes(&self.groups)
    }
}

/// Returns how many words of 64 tokens take less time than the lists of these tokens. A record has
/// a token of a list of *n* records with a probability in proportion to *n*, and then *n* entries
/// are read.
fn words(records: usize, lists: &Lists, tokens: usize, comparisons: u32) -> usize {
    let all = records as u128;
    (0..tokens.div_ceil(64))
        .take(MOST_WORDS)
        .take_while(|&word| {
            let end = tokens - 64 * word;
            let square = |token: usize| (lists.of(token as u32).0.len() as u128).pow(2);
            u128::from(comparisons) * (end.saturating_sub(64)..end).map(square).sum::<u128>() > all * all
        })
        .count()
}
