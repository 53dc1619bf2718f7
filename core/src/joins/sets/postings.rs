//! Posting lists: for each token, the records that have it in their prefix. They are built by
//! reordering the postings from record order into token order.
//!
//! Writing each posting directly to its list would mean random writes to memory that is larger than
//! the caches, and the writes of several threads would collide. So postings first go to *pieces*,
//! each for a range of consecutive tokens. Each thread takes some of the records and appends their
//! postings to each piece. Then each piece, which fits into a cache, is sorted by one thread.

use std::ops::Range;

use super::inputs::Inputs;
use super::posting::{Posting, share};
use crate::error::{Error, Result};
use crate::executor::{self, Executor, Stop};
use crate::features::dictionary::weights::TokenWeights;
use crate::features::sets::records::Records;
use crate::memory;
use crate::simd::prefetch::prefetch;

const DOING: &str = "building the posting lists";

/// For each token, the records that have it in their prefix, smallest record first.
#[derive(Debug)]
pub struct Postings {
    /// The heads of the lists by token, and one more head after the last list.
    heads: Vec<Head>,
    /// All lists, concatenated.
    pub postings: Vec<Posting>,
}

impl Postings {
    /// Builds the lists of the indexed records.
    pub fn of_indexed(inputs: &Inputs, executor: &dyn Executor) -> Result<Self> {
        let prefix = |record| (inputs.indexing_prefix(record), 0);
        lists(inputs.indexed(), &inputs.weights, inputs.shared_tokens, prefix, executor).map(Self::new)
    }

    /// Builds the lists of the records that probe. In a self-join they contain only the tokens that
    /// [`Postings::of_indexed`] does not have: a record probes with the tokens it is indexed under,
    /// and with some more.
    pub fn of_probing(inputs: &Inputs, executor: &dyn Executor) -> Result<Self> {
        let prefix = |record| {
            let tokens = inputs.probing_prefix(record);
            let known = if inputs.is_self_join() { inputs.indexing_prefix(record).len() } else { 0 };
            (tokens, known.min(tokens.len()))
        };
        lists(inputs.left(), &inputs.weights, inputs.shared_tokens, prefix, executor).map(Self::new)
    }

    fn new((heads, postings): (Vec<Head>, Vec<Posting>)) -> Self {
        Self { heads, postings }
    }

    /// Returns the range of the list of a token.
    #[inline]
    pub fn range(&self, token: usize) -> Range<usize> {
        self.start(token)..self.start(token + 1)
    }

    /// Returns the range of the list of a token if the first record of the list comes before `end`.
    #[inline]
    pub fn range_before(&self, token: u32, end: u32) -> Option<Range<usize>> {
        let token = token as usize;
        (self.heads[token].first < end).then(|| self.range(token))
    }

    /// Prefetches what [`Self::range_before`] reads.
    #[inline]
    pub fn prefetch_head(&self, token: u32) {
        prefetch(&self.heads, token as usize);
    }

    /// Returns the list of a token.
    #[inline]
    pub fn list(&self, token: u32) -> &[Posting] {
        &self.postings[self.range(token as usize)]
    }

    /// Returns the start of the list of a token. `token` may also be the number after the last
    /// token.
    #[inline]
    pub fn start(&self, token: usize) -> usize {
        self.heads[token].start as usize
    }

    /// Returns the number of bytes on the heap.
    pub fn bytes(&self) -> usize {
        memory::bytes(&self.heads) + memory::bytes(&self.postings)
    }
}

/// The start of a posting list, and its first record. Probes whose possible partners end before
/// that record skip the list.
#[derive(Debug, Clone, Copy)]
struct Head {
    /// The index of the first posting among all postings.
    pub start: u32,
    /// The first record; [`u32::MAX`] if the list is empty.
    pub first: u32,
}

impl Head {
    const EMPTY: Self = Self { start: 0, first: u32::MAX };
}

/// A posting that is not yet in its list.
#[derive(Debug, Clone, Copy)]
struct UnlistedPosting {
    token: u32,
    posting: Posting,
}

/// Some consecutive records, and their postings.
struct RecordRange {
    /// The records that are still to be processed.
    todo: Range<usize>,
    /// The entries by piece, and within a piece in the order of the records.
    entries: Vec<Vec<UnlistedPosting>>,
}

/// The lists of some consecutive tokens, while they are built.
struct ListingPiece<'a> {
    first_token: usize,
    heads: &'a mut [Head],
    postings: &'a mut [Posting],
    /// The number of postings in the pieces before this one.
    before: usize,
    /// The entries that each share has for this piece.
    entries: Vec<Vec<UnlistedPosting>>,
}

/// Builds the lists of all tokens below `tokens`, concatenated, and the head of each list, with one
/// more head after the last. `prefix` returns the prefix of a record, and the position in it from
/// which on its tokens are listed. The postings of each list are in the order of the records. Takes
/// 12 bytes per posting and 8 bytes per token, and about 18 more bytes per posting while the lists
/// are built. O(tokens + postings).
fn lists<'a>(
    records: &Records,
    weights: &TokenWeights,
    tokens: usize,
    prefix: impl Fn(usize) -> (&'a [u32], usize) + Sync,
    executor: &dyn Executor,
) -> Result<(Vec<Head>, Vec<Posting>)> {
    /// Postings are numbered with 32 bits.
    const MOST: usize = u32::MAX as usize;
    /// How many records in advance the tokens of a record are prefetched.
    const AHEAD: usize = 8;
    let count = |record: usize| {
        let (prefix, from) = prefix(record);
        prefix.len() - from
    };
    let all: usize = (0..records.len()).map(count).sum();
    if all > MOST {
        return Err(Error::TooMany { what: "postings", limit: MOST as u64 });
    }
    let cut = TokenCut::new(records.len(), tokens, all, &prefix);
    let mut shares = shares(records.len(), all, count, &cut, executor)?;
    executor::each(executor, &mut shares, |RecordRange { todo, entries }, stop| {
        while let Some(record) = todo.clone().next() {
            let (prefix, from) = prefix(record);
            records.prefetch(record + AHEAD, prefix.len());
            let size = records.size(record);
            let mut before = size - weights.sum(records.tokens(record)) + weights.sum(&prefix[..from]);
            for (n, &token) in prefix.iter().enumerate().skip(from) {
                let place = if weights.each().is_some() { share(before, size) } else { before };
                before += weights.weight(token);
                // Records and tokens are numbered with 32 bits.
                let posting = Posting::new(record as u32, prefix, n, place);
                memory::push(&mut entries[cut.piece_of(token)], UnlistedPosting { token, posting }, DOING)?;
            }
            todo.start += 1;
            stop.check()?;
        }
        Ok(())
    })?;

    let mut heads = memory::filled(Head::EMPTY, tokens + 1, DOING)?;
    let mut postings = memory::zeroed(all, DOING)?;
    heads[tokens].start = all as u32;
    let mut pieces = Vec::new();
    let (mut heads_left, mut postings_left, mut from, mut before) =
        (&mut heads[..tokens], &mut postings[..], 0, 0);
    for (number, &end) in cut.ends.iter().enumerate() {
        let entries: Vec<_> =
            shares.iter_mut().map(|share| std::mem::take(&mut share.entries[number])).collect();
        let count = entries.iter().map(Vec::len).sum();
        let (heads, postings);
        (heads, heads_left) = heads_left.split_at_mut(end - from);
        (postings, postings_left) = postings_left.split_at_mut(count);
        pieces.push(ListingPiece { first_token: from, heads, postings, before, entries });
        (from, before) = (end, before + count);
    }
    executor::each(executor, &mut pieces, ListingPiece::fill)?;
    Ok((heads, postings))
}

/// The assignment of tokens to pieces.
struct TokenCut {
    /// The number of low token bits to ignore. The remaining bits are the token's bin.
    shift: u32,
    /// The piece of each bin.
    piece_of: Vec<u16>,
    /// For each piece, the end of its range of tokens.
    ends: Vec<usize>,
    /// The estimated number of postings of each piece.
    postings: Vec<usize>,
}

impl TokenCut {
    /// Cuts the tokens into pieces, according to a sample of the prefixes. A piece should fit into
    /// a cache, but there must not be more pieces than the processor can write to at the same time.
    fn new<'a>(
        records: usize,
        tokens: usize,
        all: usize,
        prefix: &impl Fn(usize) -> (&'a [u32], usize),
    ) -> Self {
        const BINS: usize = 1 << 12;
        const MOST_PIECES: usize = 1 << 8;
        const PIECE: usize = 1 << 18;
        const SAMPLE: usize = 1 << 11;
        let bits = usize::BITS - tokens.saturating_sub(1).leading_zeros();
        let shift = bits.saturating_sub(BINS.ilog2());
        let mut bins = vec![0usize; (tokens >> shift) + 1];
        let mut seen = 0;
        for record in (0..records).step_by(records.div_ceil(SAMPLE).max(1)) {
            let (prefix, from) = prefix(record);
            prefix[from..].iter().for_each(|&token| bins[token as usize >> shift] += 1);
            seen += prefix.len() - from;
        }
        let of_bin = |seen_there: usize| (seen_there * all).div_ceil(seen.max(1));
        let bytes = all * size_of::<Posting>() + tokens * size_of::<Head>();
        let enough = PIECE.max(bytes / MOST_PIECES);
        let mut cut = Self { shift, piece_of: Vec::new(), ends: Vec::new(), postings: Vec::new() };
        let mut postings = 0;
        let mut tokens_in = 0;
        for (bin, &seen_there) in bins.iter().enumerate() {
            postings += of_bin(seen_there);
            tokens_in += 1 << shift;
            cut.piece_of.push(cut.ends.len() as u16);
            let is_last = bin + 1 == bins.len();
            if is_last || postings * size_of::<Posting>() + tokens_in * size_of::<Head>() >= enough {
                cut.ends.push(((bin + 1) << shift).min(tokens));
                cut.postings.push(postings);
                (postings, tokens_in) = (0, 0);
            }
        }
        cut
    }

    #[inline]
    fn piece_of(&self, token: u32) -> usize {
        usize::from(self.piece_of[token as usize >> self.shift])
    }
}

/// Splits the records into shares with about the same number of postings, and reserves memory for
/// their entries.
fn shares(
    records: usize,
    all: usize,
    count: impl Fn(usize) -> usize,
    cut: &TokenCut,
    executor: &dyn Executor,
) -> Result<Vec<RecordRange>> {
    /// With fewer postings a second thread is not worth it.
    const FEW: usize = 1 << 14;
    // More than one share for each thread, because other work takes some of the threads' time.
    let some = if executor.count() == 1 { 1 } else { (2 * executor.count()).min(all / FEW + 1) };
    let mut shares = Vec::new();
    let (mut from, mut postings) = (0, 0);
    for record in 0..records {
        postings += count(record);
        if postings >= all.div_ceil(some) || record + 1 == records {
            let mut entries = Vec::new();
            for &all in &cut.postings {
                let mut of_piece = Vec::new();
                // When shares are equal, nearly all of them need no more than this.
                memory::reserve(&mut of_piece, all / some + all / some / 8, DOING)?;
                entries.push(of_piece);
            }
            shares.push(RecordRange { todo: from..record + 1, entries });
            (from, postings) = (record + 1, 0);
        }
    }
    Ok(shares)
}

impl ListingPiece<'_> {
    /// Fills the lists of the piece. After a stop, the next call starts again from the beginning.
    fn fill(&mut self, stop: &Stop) -> Result<()> {
        const CHECK_EVERY: usize = 1 << 14;
        let entries = || self.entries.iter().flat_map(|entries| entries.chunks(CHECK_EVERY));
        self.heads.fill(Head::EMPTY);
        for entries in entries() {
            stop.check()?;
            for entry in entries {
                let head = &mut self.heads[entry.token as usize - self.first_token];
                head.start += 1;
                head.first = head.first.min(entry.posting.record);
            }
        }
        let mut next = self.before as u32;
        for head in self.heads.iter_mut() {
            next += std::mem::replace(&mut head.start, next);
        }
        // `start` advances while the list is filled, and is restored afterwards.
        for entries in entries() {
            stop.check()?;
            for entry in entries {
                let head = &mut self.heads[entry.token as usize - self.first_token];
                self.postings[head.start as usize - self.before] = entry.posting;
                head.start += 1;
            }
        }
        let mut start = self.before as u32;
        self.heads.iter_mut().for_each(|head| start = std::mem::replace(&mut head.start, start));
        // This frees memory for the pieces that come later.
        self.entries = Vec::new();
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::executor::PlainThreads;
    use proptest::prelude::*;

    /// Checks the lists of some sets of tokens against lists that are built one by one.
    fn check(sets: &[Vec<u32>], tokens: usize, skip: usize, threads: usize) {
        let mut starts = vec![0];
        starts.extend(sets.iter().scan(0, |end, set| {
            *end += set.len();
            Some(*end)
        }));
        let sizes = sets.iter().map(|set| set.len() as u32 + 1).collect();
        let records = Records::new(sets.concat(), &starts, sizes).unwrap();
        let prefix = |record: usize| (&sets[record][..], skip.min(sets[record].len()));
        let (heads, postings) =
            lists(&records, &TokenWeights::default(), tokens, prefix, &PlainThreads(threads)).unwrap();
        assert_eq!(heads.len(), tokens + 1);
        assert_eq!((heads[tokens].start as usize, heads[tokens].first), (postings.len(), u32::MAX));
        let mut expected = vec![Vec::new(); tokens];
        for (record, set) in sets.iter().enumerate() {
            let places = set.iter().enumerate().skip(skip);
            places.for_each(|(n, &token)| {
                expected[token as usize].push(Posting::new(record as u32, set, n, n as u32 + 1));
            });
        }
        for (token, expected) in expected.iter().enumerate() {
            let list = &postings[heads[token].start as usize..heads[token + 1].start as usize];
            assert_eq!(list, expected, "{token} of {tokens}");
            assert_eq!(heads[token].first, expected.first().map_or(u32::MAX, |posting| posting.record));
        }
    }

    proptest! {
        #![proptest_config(crate::cases::cases(100))]

        #[test]
        fn lists_are_those_made_one_by_one(
            sets in prop::collection::vec(prop::collection::btree_set(0..60u32, 0..12), 0..40),
            spread in prop_oneof![Just(1u32), Just(100), Just(1_000)],
            skip in 0..3usize,
            threads in 1..4usize,
        ) {
            let sets: Vec<Vec<u32>> =
                sets.iter().map(|set| set.iter().map(|token| token * spread).collect()).collect();
            check(&sets, 60 * spread as usize, skip, threads);
        }
    }

    #[test]
    fn many_postings_in_several_pieces() {
        let token = |record: u64, n: u64| 7 * n as u32 + (crate::hash::mix(record << 32 | n) % 7) as u32;
        let sets: Vec<Vec<u32>> =
            (0..4_000).map(|record| (0..20).map(|n| token(record, n * n)).collect()).collect();
        for threads in [1, 2, 5] {
            check(&sets, 3_000, 0, threads);
        }
        check(&[], 0, 0, 2);
        check(&[vec![], vec![]], 0, 0, 2);
        check(&vec![vec![0]; 50_000], 1, 0, 3);
    }
}
