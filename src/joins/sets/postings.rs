//! Posting lists: for each token the records that have it in their prefix.

use std::ops::Range;

use bytemuck::Zeroable;

use super::inputs::Inputs;
use crate::error::{Error, Result};
use crate::features::sets::records::Records;
use crate::memory;
use crate::workers::{self, Workers};

const DOING: &str = "building the posting lists";

/// A token of a record's prefix: the record, how many tokens it has from this one on, and the token
/// before it.
#[derive(Debug, Clone, Copy, Zeroable)]
pub struct Posting {
    /// The record.
    pub record: u32,
    /// Its tokens from this one on.
    pub rest: u32,
    /// The token before this one, or a number that no token has.
    pub before: u32,
}

/// Stands for the token before the first one; no token has this number.
const NONE_BEFORE: u32 = u32::MAX;

impl Posting {
    /// Whether a probe and a posting of the same list surely share the token before, too, and so are found there.
    #[inline]
    pub fn met_before(&self, posting: &Self) -> bool {
        self.before == posting.before && self.before != NONE_BEFORE
    }
}

/// For each token the records that have it in their prefix, smallest record first.
#[derive(Debug)]
pub struct Postings {
    /// By token, and one after the last.
    heads: Vec<Head>,
    /// All lists, concatenated.
    pub postings: Vec<Posting>,
}

/// Where a list starts, and its first record, so that a probe that comes before that need not look.
#[derive(Debug, Clone, Copy, Zeroable)]
struct Head {
    start: u32,
    first: u32,
}

/// The postings of some consecutive tokens, while they are made.
struct Piece<'a> {
    tokens: Range<usize>,
    /// Their heads: in the first pass a count in `start`, then where the next posting goes.
    heads: &'a mut [Head],
    postings: &'a mut [Posting],
    /// Where `postings` begins among all.
    base: usize,
    /// The records still to be walked.
    todo: Range<usize>,
}

/// Cuts heads, and the postings if there are any yet, into pieces of `size` tokens.
fn pieces_of<'a>(
    heads: &'a mut [Head],
    mut postings: &'a mut [Posting],
    size: usize,
    records: usize,
) -> Vec<Piece<'a>> {
    let mut rest = heads;
    let mut pieces = Vec::new();
    let mut from = 0;
    while let Some(base) = rest.first().map(|head| head.start as usize) {
        let (heads, after) = rest.split_at_mut(size.min(rest.len()));
        let length = after.first().map_or(postings.len(), |next| next.start as usize - base);
        let (here, behind) = postings.split_at_mut(length);
        let tokens = from..from + heads.len();
        from = tokens.end;
        pieces.push(Piece { tokens, heads, postings: here, base, todo: 0..records });
        (rest, postings) = (after, behind);
    }
    pieces
}

impl Postings {
    /// The most postings there can be: they are numbered with 32 bits.
    pub const MOST: usize = u32::MAX as usize;

    /// Those of the records that are found.
    pub fn of_indexed(inputs: &Inputs, workers: &dyn Workers) -> Result<Self> {
        let prefix = |record| (inputs.indexing_prefix(record).tokens, 0);
        Self::new(inputs.indexed(), inputs.shared_tokens, prefix, workers)
    }

    /// Those of the records that probe. In a self-join only what [`Postings::of_indexed`] has not: a record probes with
    /// the tokens that it is found under, and some more.
    pub fn of_probing(inputs: &Inputs, workers: &dyn Workers) -> Result<Self> {
        let prefix = |record| {
            let tokens = inputs.probing_prefix(record).tokens;
            let known = if inputs.is_self_join() { inputs.indexing_prefix(record).tokens.len() } else { 0 };
            (tokens, known.min(tokens.len()))
        };
        Self::new(inputs.left(), inputs.shared_tokens, prefix, workers)
    }

    /// Of each record the tokens of `prefix`, from some place on. 12 bytes a posting and 8 a token. O(tokens + postings);
    /// each thread makes the lists of some tokens.
    fn new<'a>(
        records: &Records,
        tokens: usize,
        prefix: impl Fn(usize) -> (&'a [u32], usize) + Sync,
        workers: &dyn Workers,
    ) -> Result<Self> {
        // Every piece goes through all records, so there are no more of them than keep all threads busy.
        const FEW: usize = 1 << 12;
        /// How many records before its turn the tokens of one are asked for.
        const AHEAD: usize = 8;
        let pieces = if workers.count() == 1 || records.len() < FEW { 1 } else { 2 * workers.count() };
        let size = tokens.div_ceil(pieces).max(1 << 12);
        // Prefixes are in ascending order: what a piece is about stands together.
        let part = |record: usize, tokens: &Range<usize>| {
            let (prefix, from) = prefix(record);
            records.prefetch(record + AHEAD, prefix.len());
            let others = match tokens.start {
                0 => 0,
                start => prefix[from..].partition_point(|&token| (token as usize) < start),
            };
            (prefix, from + others)
        };

        // First the length of each list, …
        let mut heads: Vec<Head> = memory::zeroed(tokens + 1, DOING)?;
        let mut pieces = pieces_of(&mut heads[..tokens], &mut [], size, records.len());
        workers::each(workers, &mut pieces, |piece, stop| {
            while let Some(record) = piece.todo.clone().next() {
                let (prefix, from) = part(record, &piece.tokens);
                let here = prefix[from..].iter().take_while(|&&token| (token as usize) < piece.tokens.end);
                here.for_each(|&token| piece.heads[token as usize - piece.tokens.start].start += 1);
                piece.todo.start += 1;
                stop.check()?;
            }
            Ok(())
        })?;
        let mut end = 0usize;
        for head in &mut heads {
            let length = head.start as usize;
            *head = Head { start: end as u32, first: u32::MAX };
            end += length;
            if end > Self::MOST {
                return Err(Error::TooMany { what: "postings", limit: Self::MOST as u64 });
            }
        }

        // … then the postings, in order of records and so of sizes. `start` runs along and is put back.
        let mut postings: Vec<Posting> = memory::zeroed(end, DOING)?;
        let mut pieces = pieces_of(&mut heads[..tokens], &mut postings, size, records.len());
        workers::each(workers, &mut pieces, |piece, stop| {
            let base = piece.base;
            while let Some(record) = piece.todo.clone().next() {
                let (prefix, from) = part(record, &piece.tokens);
                let rests = (0..=(records.tokens(record).len() - from) as u32).rev();
                let mut before = if from == 0 { NONE_BEFORE } else { prefix[from - 1] };
                for (&token, rest) in prefix[from..].iter().zip(rests) {
                    let Some(head) = piece.heads.get_mut(token as usize - piece.tokens.start) else { break };
                    if head.first == u32::MAX {
                        head.first = record as u32;
                    }
                    piece.postings[head.start as usize - base] =
                        Posting { record: record as u32, rest, before };
                    head.start += 1;
                    before = token;
                }
                piece.todo.start += 1;
                stop.check()?;
            }
            Ok(())
        })?;
        // Now each start is where the list ends, and so where the next one begins.
        for token in (1..=tokens).rev() {
            heads[token].start = heads[token - 1].start;
        }
        heads[0].start = 0;
        Ok(Self { heads, postings })
    }

    /// Where the list of a token is.
    #[inline]
    pub fn range(&self, token: usize) -> Range<usize> {
        self.start(token)..self.start(token + 1)
    }

    /// The list of a token if its first record comes before `end`.
    #[inline]
    pub fn range_before(&self, token: u32, end: u32) -> Option<Range<usize>> {
        let token = token as usize;
        (self.heads[token].first < end).then(|| self.range(token))
    }

    /// The list of a token.
    #[inline]
    pub fn list(&self, token: u32) -> &[Posting] {
        &self.postings[self.range(token as usize)]
    }

    /// Where the list of a token starts; also of the number after the last token.
    #[inline]
    pub fn start(&self, token: usize) -> usize {
        self.heads[token].start as usize
    }

    /// Bytes on the heap.
    pub fn bytes(&self) -> usize {
        memory::bytes(&self.heads) + memory::bytes(&self.postings)
    }
}
