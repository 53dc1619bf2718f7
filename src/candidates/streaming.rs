//! Probing by streaming through posting lists that carry bitmaps.
//!
//! PPJoin's time goes into records met in a list once and never again: each costs random reads of
//! its counter and its size, and most of those that pass cost a look at their tokens. Here every
//! posting has its record's parity bitmap beside it, so that a list is read from front to end and
//! nearly all of it is ruled out on the way; only what is left is looked at, once a pair.

use super::bitmap::{Bitmap, Comparer, of_record};
use super::positional::list_starts;
use super::prefix_join::{Counts, Prober, RecordPair, Scratch};
use super::sides::Sides;
use crate::error::Result;
use crate::memory;
use crate::verify::overlap::shared_at_least;
use crate::workers::{self, Stop, Workers};

const DOING: &str = "building the posting lists";

/// A token of a record's prefix: the record, and the tokens from this one on.
#[derive(Debug, Clone, Copy)]
struct Posting {
    record: u32,
    rest: u32,
}

/// Posting lists with bitmaps of `W` words. 8 + 8·W bytes a posting and 8 a token.
#[derive(Debug)]
pub struct Streaming<const W: usize> {
    comparer: Comparer<W>,
    starts: Vec<usize>,
    postings: Vec<Posting>,
    bitmaps: Vec<Bitmap<W>>,
}

impl<const W: usize> Streaming<W> {
    /// Lists the indexing prefixes of all indexed records. O(all tokens + postings).
    pub fn new(sides: &Sides, workers: &dyn Workers) -> Result<Self> {
        let starts = list_starts(sides, workers)?;
        let count = starts[sides.shared_tokens];
        let mut next = Vec::new();
        memory::extend(&mut next, &starts, DOING)?;
        let empty = Posting { record: 0, rest: 0 };
        let (postings, bitmaps) =
            (memory::filled(empty, count, DOING)?, memory::filled([0; W], count, DOING)?);
        let mut filling = (postings, bitmaps, next, 0..sides.indexed().len());
        workers::one(workers, &mut filling, |(postings, bitmaps, next, todo), stop| {
            for record in todo {
                stop.check()?;
                let tokens = sides.indexing_prefix(record).tokens;
                if tokens.is_empty() {
                    continue;
                }
                let bitmap = of_record(sides.indexed(), record);
                let rests = (0..=sides.indexed().tokens(record).len() as u32).rev();
                for (&token, rest) in tokens.iter().zip(rests) {
                    let place = &mut next[token as usize];
                    postings[*place] = Posting { record: record as u32, rest };
                    bitmaps[*place] = bitmap;
                    *place += 1;
                }
            }
            Ok(())
        })?;
        Ok(Self { comparer: Comparer::new(), starts, postings: filling.0, bitmaps: filling.1 })
    }
}

impl<const W: usize> Prober for Streaming<W> {
    fn probe(
        &self,
        sides: &Sides,
        probe: usize,
        scratch: &mut Scratch,
        stop: &Stop,
        pairs: &mut Vec<RecordPair>,
        counts: &mut Counts,
    ) -> Result<()> {
        /// Postings compared with one bound, that of the largest record among them.
        const BLOCK: usize = 64;
        let Some(partners) = sides.partners(probe) else { return Ok(()) };
        let size = sides.left().size(probe);
        scratch.needs.of(sides, size, &partners);
        scratch.next_stamp();
        let Scratch { needs, marks, touched: near, stamp, .. } = scratch;
        memory::reserve(near, BLOCK, DOING)?;
        let bitmap = of_record(sides.left(), probe);
        let tokens = sides.left().tokens(probe);
        for (n, &token) in sides.probing_prefix(probe, &partners).tokens.iter().enumerate() {
            let list = self.starts[token as usize]..self.starts[token as usize + 1];
            let postings = &self.postings[list.clone()];
            let from = postings.partition_point(|posting| posting.record < partners.start);
            let to = from + postings[from..].partition_point(|posting| posting.record < partners.end);
            counts.pruned_by_size += from as u64;
            let postings = &postings[from..to];
            let bitmaps = &self.bitmaps[list][from..to];
            let tokens = &tokens[n..];
            for (postings, bitmaps) in postings.chunks(BLOCK).zip(bitmaps.chunks(BLOCK)) {
                stop.check()?;
                let largest = postings[postings.len() - 1].record;
                let allowed = needs.differ[sides.size_of[largest as usize] as usize];
                near.clear();
                self.comparer.near(&bitmap, bitmaps, allowed, 0, near);
                counts.pruned_by_bitmap += (postings.len() - near.len()) as u64;
                for &place in near.iter() {
                    let Posting { record, rest } = postings[place as usize];
                    // Met before: then by a rarer token, from which on all was compared.
                    if std::mem::replace(&mut marks[record as usize], *stamp) == *stamp {
                        continue;
                    }
                    counts.candidates += 1;
                    let least = needs.least[sides.size_of[record as usize] as usize];
                    if (tokens.len() as u32).min(rest) < least {
                        counts.pruned_by_position += 1;
                        continue;
                    }
                    counts.verified += 1;
                    let others = sides.indexed().tokens(record as usize);
                    let others = &others[others.len() - rest as usize..];
                    if let Some(shared) = shared_at_least(tokens, others, least as usize) {
                        let other = sides.indexed().size(record as usize);
                        let similarity = sides.bounds().predicate().similarity(shared as u32, size, other);
                        let pair = RecordPair { left: probe as u32, right: record, similarity };
                        memory::push(pairs, pair, DOING)?;
                    }
                }
            }
        }
        near.clear();
        Ok(())
    }

    fn bytes(&self) -> usize {
        memory::bytes(&self.starts) + memory::bytes(&self.postings) + memory::bytes(&self.bitmaps)
    }
}
