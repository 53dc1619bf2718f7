//! Posting lists: for each token the records that have it in their prefix.

use std::ops::Range;

use bytemuck::Zeroable;

use super::inputs::Inputs;
use crate::error::{Error, Result};
use crate::features::sets::records::Records;
use crate::memory;
use crate::workers::{self, Workers};

const DOING: &str = "building the posting lists";

/// A token of a record's prefix: the record, where the token stands in it, and which ones stand before, by the distances of
/// their numbers, as far as there is room.
#[derive(Debug, Clone, Copy, Default, Zeroable)]
pub struct Posting {
    /// The record.
    pub record: u32,
    /// In the upper bits its place, below the distance of the token before it.
    place_and_distance: u32,
    /// The distances of those before that.
    distances: [u16; 2],
}

/// How many tokens before its own a posting knows.
const KNOWN_BEFORE: usize = 3;

/// Of a posting, which tokens stand before its own, by their distances from that.
pub type Before = [u32; KNOWN_BEFORE];

impl Posting {
    const DISTANCE_BITS: u32 = 20;
    /// Stand for a place or a distance that is larger, or for no token.
    const FAR: u32 = (1 << Self::DISTANCE_BITS) - 1;
    const FAR_BEHIND: u32 = u32::MAX >> Self::DISTANCE_BITS;

    /// The token at `place` of a record, of `prefix` the `n`-th one.
    #[inline]
    fn new(record: u32, prefix: &[u32], n: usize, place: u32) -> Self {
        let distance = |back: usize, most: u32| match n.checked_sub(back) {
            Some(at) => (prefix[at + 1] - prefix[at]).min(most),
            None => most,
        };
        let none = u32::from(u16::MAX);
        Self {
            record,
            place_and_distance: place.min(Self::FAR_BEHIND) << Self::DISTANCE_BITS | distance(1, Self::FAR),
            distances: [distance(2, none) as u16, distance(3, none) as u16],
        }
    }

    /// How many tokens of the record stand before it, those too that no other record has. `token` is its own.
    #[inline]
    pub fn place(&self, records: &Records, token: u32) -> u32 {
        match self.place_and_distance >> Self::DISTANCE_BITS {
            Self::FAR_BEHIND => far_behind(records, self.record as usize, token),
            place => place,
        }
    }

    /// What is known of the tokens before; `unknown` stands for those that are not.
    #[inline]
    fn before(&self, unknown: u32) -> Before {
        let mut before = [unknown; KNOWN_BEFORE];
        let first = self.place_and_distance & Self::FAR;
        if first != Self::FAR {
            before[0] = first;
            let [second, third] = self.distances;
            if second != u16::MAX {
                before[1] = first + u32::from(second);
                if third != u16::MAX {
                    before[2] = before[1] + u32::from(third);
                }
            }
        }
        before
    }

    /// What is known of the tokens before that of a probe.
    #[inline]
    pub fn before_probe(&self) -> Before {
        self.before(u32::MAX)
    }

    /// Whether a probe of the same token surely shares one of those before, too, so that both are found there.
    #[inline]
    pub fn met_before(&self, probe: &Before) -> bool {
        let own = self.before(u32::MAX - 1);
        own.iter().fold(false, |met, token| probe.iter().fold(met, |met, other| met | (token == other)))
    }
}

/// The place of a token so far behind that a posting has no room for it.
#[cold]
fn far_behind(records: &Records, record: usize, token: u32) -> u32 {
    let tokens = records.tokens(record);
    let lone = records.size(record) - tokens.len() as u32;
    lone + tokens.partition_point(|&other| other < token) as u32
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
                let lone = records.size(record) - records.tokens(record).len() as u32;
                for (n, &token) in prefix.iter().enumerate().skip(from) {
                    let Some(head) = piece.heads.get_mut(token as usize - piece.tokens.start) else { break };
                    if head.first == u32::MAX {
                        head.first = record as u32;
                    }
                    piece.postings[head.start as usize - base] =
                        Posting::new(record as u32, prefix, n, lone + n as u32);
                    head.start += 1;
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

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Ascending numbers, some of them far apart.
    fn ascending() -> impl Strategy<Value = Vec<u32>> {
        let distance = prop_oneof![8 => 1..6u32, 1 => 65_530..65_540u32, 1 => 1_048_570..1_048_580u32];
        prop::collection::vec(distance, 0..30).prop_map(|distances| {
            let mut last = 0;
            distances
                .into_iter()
                .map(|distance| {
                    last += distance;
                    last
                })
                .collect()
        })
    }

    proptest! {
        #[test]
        fn met_before_is_sure(a in ascending(), b in ascending()) {
            let posting = |prefix: &[u32], n: usize| Posting::new(0, prefix, n, n as u32);
            let near = |prefix: &[u32], n: usize| prefix[n.saturating_sub(KNOWN_BEFORE)..=n].to_vec();
            for (n, token) in a.iter().enumerate() {
                let Some(m) = b.iter().position(|other| other == token) else { continue };
                let (probe, other) = (posting(&a, n), posting(&b, m));
                let (left, right) = (near(&a, n), near(&b, m));
                let shared = left.iter().filter(|token| right.contains(token)).count() > 1;
                let met = other.met_before(&probe.before_probe());
                prop_assert_eq!(met, posting(&a, n).met_before(&posting(&b, m).before_probe()));
                prop_assert!(shared || !met);
                // What is close is known.
                let close = |near: &[u32]| near.last().zip(near.first()).is_some_and(|(last, first)| last - first < 65_000);
                prop_assert!(met || !shared || !close(&left) || !close(&right));
            }
        }
    }

    #[test]
    fn places_are_known_however_far_behind() {
        let tokens: Vec<u32> = (0..10_000).map(|n| 3 * n).collect();
        let records = Records::new(tokens.clone(), &[0, tokens.len()], vec![tokens.len() as u32]).unwrap();
        for n in [0, 1, 4_094, 4_095, 4_096, 9_999] {
            assert_eq!(Posting::new(0, &tokens, n, n as u32).place(&records, tokens[n]), n as u32);
        }
    }
}
