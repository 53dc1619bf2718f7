//! The entries of a partition: a token of a record's prefix, with what rules out most pairs without
//! the record's set.

use super::super::bitmap::Bitmap;
use super::super::posting::Posting;
use crate::error::Result;
use crate::executor::Stop;
use crate::memory;

const DOING: &str = "joining partitions";

/// The number of 64-bit words of an entry whose bitmap has this many words. The first word is the
/// token and the record, the second one is the rest of the posting, and the bitmap follows.
pub(super) const fn entry_words(bitmap: usize) -> usize {
    2 + bitmap
}

/// Appends an entry.
#[inline]
pub(super) fn push<const W: usize>(
    words: &mut Vec<u64>,
    token: u32,
    posting: Posting,
    bitmap: &Bitmap<W>,
) -> Result<()> {
    memory::reserve(words, entry_words(W), DOING)?;
    words.extend([u64::from(token) << 32 | u64::from(posting.record), posting.rest()]);
    words.extend(bitmap);
    Ok(())
}

fn token(entry: &[u64]) -> u32 {
    (entry[0] >> 32) as u32
}

fn posting(entry: &[u64]) -> Posting {
    Posting::of_rest(entry[0] as u32, entry[1])
}

/// Entries by token, and for each token in the order of the records.
#[derive(Debug, Default)]
pub(super) struct EntryLists<const W: usize> {
    first_token: u32,
    /// The start of the list of each token, and the end of the last list.
    starts: Vec<u32>,
    /// All lists, concatenated.
    pub(super) postings: Vec<Posting>,
    /// The bitmaps of all lists: for each list the first words of all bitmaps, then the second
    /// words, and so on.
    planes: Vec<u64>,
}

impl<const W: usize> EntryLists<W> {
    /// Sorts entries, which come in the order of the records, by token. The tokens are in `tokens`.
    /// O(entries + tokens).
    pub(super) fn new(entries: &[u64], tokens: &std::ops::Range<u32>, stop: &Stop) -> Result<Self> {
        const CHECK_EVERY: usize = 1 << 14;
        let all = entries.len() / entry_words(W);
        let chunks = || entries.chunks(CHECK_EVERY * entry_words(W));
        let place = |entry: &[u64]| (token(entry) - tokens.start) as usize;
        let mut starts: Vec<u32> = memory::zeroed(tokens.len() + 2, DOING)?;
        for chunk in chunks() {
            stop.check()?;
            chunk.chunks_exact(entry_words(W)).for_each(|entry| starts[place(entry) + 2] += 1);
        }
        (1..starts.len()).for_each(|n| starts[n] += starts[n - 1]);
        // From here on, the start after that of a token advances while its list is filled, and ends
        // as the start of the list after it. So the lengths of lists are not known any more, and
        // the first pass writes only the postings.
        let mut postings: Vec<Posting> = memory::zeroed(all, DOING)?;
        let mut places: Vec<u32> = memory::zeroed(all, DOING)?;
        for (n, chunk) in chunks().enumerate() {
            stop.check()?;
            for (entry, place_of) in chunk.chunks_exact(entry_words(W)).zip(&mut places[n * CHECK_EVERY..]) {
                let next = &mut starts[place(entry) + 1];
                postings[*next as usize] = posting(entry);
                *place_of = *next;
                *next += 1;
            }
        }
        starts.pop();
        let mut planes: Vec<u64> = memory::zeroed(all * W, DOING)?;
        for (n, chunk) in chunks().enumerate() {
            stop.check()?;
            for (entry, &at) in chunk.chunks_exact(entry_words(W)).zip(&places[n * CHECK_EVERY..]) {
                let list = starts[place(entry)] as usize..starts[place(entry) + 1] as usize;
                let first = list.start * W + (at as usize - list.start);
                (0..W).for_each(|w| planes[first + w * list.len()] = entry[2 + w]);
            }
        }
        Ok(Self { first_token: tokens.start, starts, postings, planes })
    }

    /// Returns the number of tokens.
    pub(super) fn tokens(&self) -> usize {
        self.starts.len().saturating_sub(1)
    }

    /// Returns the token with an index.
    pub(super) fn token(&self, index: usize) -> u32 {
        // Tokens are numbered with 32 bits.
        self.first_token + index as u32
    }

    /// Returns the start of the list of a token, or the end of the last list.
    pub(super) fn start(&self, index: usize) -> usize {
        self.starts[index] as usize
    }

    /// Returns the index of the token whose list has this posting.
    pub(super) fn index_of(&self, posting: usize) -> usize {
        self.starts.partition_point(|&start| start as usize <= posting) - 1
    }

    /// Returns the range of the list of a token among all postings.
    #[inline]
    pub(super) fn range(&self, index: usize) -> std::ops::Range<usize> {
        self.starts[index] as usize..self.starts[index + 1] as usize
    }

    /// Returns the planes of the bitmaps of a list.
    #[inline]
    pub(super) fn planes(&self, list: &std::ops::Range<usize>) -> [&[u64]; W] {
        let all = &self.planes[list.start * W..list.end * W];
        std::array::from_fn(|w| &all[w * list.len()..][..list.len()])
    }

    /// Returns the number of bytes on the heap.
    pub(super) fn bytes(&self) -> usize {
        memory::bytes(&self.starts) + memory::bytes(&self.postings) + memory::bytes(&self.planes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn lists_have_the_entries_of_their_token(tokens in prop::collection::vec(3..9u32, 0..40)) {
            let mut words = Vec::new();
            for (&token, record) in tokens.iter().zip(0..) {
                let posting = Posting::new(record, &[1, token], 1, 5);
                push(&mut words, token, posting, &[u64::from(record), u64::from(token)]).unwrap();
            }
            let lists = EntryLists::<2>::new(&words, &(3..9), &Stop::default()).unwrap();
            prop_assert_eq!(lists.tokens(), 6);
            for index in 0..6 {
                let token = lists.token(index);
                let range = lists.range(index);
                let records: Vec<u32> = lists.postings[range.clone()].iter().map(|p| p.record).collect();
                let expected: Vec<u32> =
                    tokens.iter().zip(0..).filter(|(other, _)| **other == token).map(|(_, n)| n).collect();
                prop_assert_eq!(&records, &expected);
                let [records, of] = lists.planes(&range);
                prop_assert!(records.iter().copied().eq(expected.iter().map(|&record| u64::from(record))));
                prop_assert!(of.iter().all(|&other| other == u64::from(token)));
                for at in range {
                    prop_assert_eq!(lists.index_of(at), index);
                    prop_assert_eq!(lists.postings[at], Posting::new(lists.postings[at].record, &[1, token], 1, 5));
                }
            }
        }
    }
}
