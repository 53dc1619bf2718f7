//! Replaces the numbers of tokens by ranks in place: the tokens of a set are written when the set
//! is made, and are not copied to other memory later. Only sets with counted tokens are copied: a
//! rank takes half of the memory of a hash.

use super::number_sets::Sets;
use super::token_blocks::NextTokens;
use crate::error::Result;
use crate::executor::{self, Executor, Stop};
use crate::features::dictionary::rank::{LONE, Ranks};
use crate::memory;
use crate::simd::sorting_network;

const DOING: &str = "ordering token sets";

/// The sets of a worker, while the numbers of their tokens are replaced by ranks.
#[derive(Debug)]
pub(super) struct Translated {
    /// The sets, if tokens of them are counted, and the next of these tokens: they are not in
    /// `tokens` until they are translated.
    counted: Option<(Sets, NextTokens)>,
    tokens: Vec<u32>,
    /// The end of each set, until the sets are [`packed`](pack); after that, the start of each set.
    places: Vec<usize>,
    /// The number of tokens of each set that several documents have, until the sets are packed;
    /// after that, the number of those that can be shared, and 0 for a set that is not kept.
    lengths: Vec<u32>,
    /// The number of tokens of each set, until the sets are packed.
    counts: Vec<u32>,
    /// The progress of translating counted tokens, and then of packing: the number of sets that are
    /// done, and the old and the new start of the next set.
    done: (usize, usize, usize),
}

/// Some consecutive sets of a worker.
struct TranslatedSets<'a> {
    tokens: &'a mut [u32],
    /// The place of the first of these tokens among all tokens of the worker.
    base: usize,
    ends: &'a [usize],
    lengths: &'a mut [u32],
    /// The progress: the number of sets that are done, and the number of tokens of the next set
    /// that are done.
    sets: usize,
    tokens_of_next: usize,
}

impl Translated {
    pub(super) fn new(sets: Sets) -> Result<Self> {
        // The tokens of a document are counted with 32 bits.
        let counts = memory::collect((0..sets.rows.len()).map(|set| sets.count(set) as u32), DOING)?;
        let lengths = memory::filled(0, counts.len(), DOING)?;
        let (counted, tokens, places) = if sets.numbers.is_empty() {
            (None, sets.tokens, sets.ends)
        } else {
            (Some((sets, NextTokens::default())), Vec::new(), memory::filled(0, counts.len(), DOING)?)
        };
        Ok(Self { counted, tokens, places, lengths, counts, done: (0, 0, 0) })
    }

    /// Returns the tokens of a set, unless it has tokens that no other document has. The sets must
    /// be translated, but not packed.
    pub(super) fn whole(&self, set: u32) -> Option<&[u32]> {
        Some(self.tokens(set)).filter(|tokens| tokens.len() == self.counts[set as usize] as usize)
    }

    /// Returns the tokens of a set that several documents have.
    fn tokens(&self, set: u32) -> &[u32] {
        let set = set as usize;
        let start = set.checked_sub(1).map_or(0, |before| self.places[before]);
        &self.tokens[start..start + self.lengths[set] as usize]
    }

    /// Returns the start of a set and its number of tokens.
    #[inline]
    pub(super) fn place(&self, set: u32) -> (usize, u32) {
        (self.places[set as usize], self.lengths[set as usize])
    }

    /// Returns the tokens of all sets.
    pub(super) fn into_tokens(self) -> Vec<u32> {
        self.tokens
    }

    /// Divides the sets into pieces of about equal work.
    fn pieces(&mut self) -> Vec<TranslatedSets<'_>> {
        const TOKENS_A_PIECE: usize = 1 << 19;
        let mut pieces = Vec::new();
        if self.counted.is_some() {
            return pieces;
        }
        let (mut tokens, mut lengths) = (self.tokens.as_mut_slice(), self.lengths.as_mut_slice());
        let (mut ends, mut base) = (self.places.as_slice(), 0);
        while let Some(&first) = ends.first() {
            let sets = ends.partition_point(|&end| end <= first.max(base + TOKENS_A_PIECE));
            let (ends_here, ends_after) = ends.split_at(sets);
            let end = ends_here[sets - 1];
            let (tokens_here, tokens_after) = tokens.split_at_mut(end - base);
            let (lengths_here, lengths_after) = lengths.split_at_mut(sets);
            pieces.push(TranslatedSets {
                tokens: tokens_here,
                base,
                ends: ends_here,
                lengths: lengths_here,
                sets: 0,
                tokens_of_next: 0,
            });
            (tokens, lengths, ends, base) = (tokens_after, lengths_after, ends_after, end);
        }
        pieces
    }

    /// Writes the ranks of the sets if tokens of them are counted. After a stop, the next call goes
    /// on from there.
    fn rank(&mut self, ranks: &Ranks, sort: sorting_network::Kernel, stop: &Stop) -> Result<()> {
        let Some((sets, next)) = &mut self.counted else { return Ok(()) };
        let set = &mut self.done.0;
        while let Some(length) = self.lengths.get_mut(*set) {
            stop.check()?;
            let start = self.tokens.len();
            memory::fill(&mut self.tokens, LONE, self.counts[*set] as usize, DOING)?;
            let words = sets.tokens[sets.range(*set)].iter().map(|&token| ranks.rank(token));
            let numbers = next.of_set(&sets.numbers, *set)?.map(|(_, rank)| rank as u32);
            // Many tokens are in one document only; there is no branch.
            let mut end = start;
            words.chain(numbers).for_each(|rank| {
                self.tokens[end] = rank;
                end += usize::from(rank != LONE);
            });
            let kept = order_ranks(&mut self.tokens[start..end], LONE, sort, stop);
            self.tokens.truncate(kept.as_ref().map_or(start, |_| end));
            if kept.is_err() {
                next.back(&sets.numbers, *set)?;
            }
            *length = kept?;
            self.places[*set] = end;
            next.drop_before(&mut sets.numbers);
            *set += 1;
        }
        self.counted = None;
        *set = 0;
        Ok(())
    }

    /// Keeps the marked sets, and removes the tokens that are not kept. After a stop, the next call
    /// goes on from there.
    fn pack(&mut self, stop: &Stop) -> Result<()> {
        const CHECK_EVERY: usize = 1 << 10;
        let kept: usize = self.lengths.iter().map(|&length| length as usize).sum();
        // Moving tokens means reading and writing them, so a few tokens that are not needed may
        // stay.
        let moves = kept < self.tokens.len() / 8 * 7;
        let (set, began, begins) = &mut self.done;
        while let Some(place) = self.places.get_mut(*set) {
            stop.check_every(*set, CHECK_EVERY)?;
            let (end, length) = (*place, self.lengths[*set] as usize);
            *place = if moves { *begins } else { *began };
            if moves {
                self.tokens.copy_within(*began..*began + length, *begins);
            }
            (*set, *began, *begins) = (*set + 1, end, *begins + length);
        }
        if moves {
            self.tokens.truncate(kept);
        }
        self.tokens.shrink_to_fit();
        Ok(())
    }
}

impl TranslatedSets<'_> {
    /// Replaces numbers by ranks, and sorts the ranks. After a stop, the next call goes on from
    /// there.
    fn translate(&mut self, ranks: &Ranks, sort: sorting_network::Kernel, stop: &Stop) -> Result<()> {
        const CHECK_EVERY: usize = 1 << 16;
        while let Some(&end) = self.ends.get(self.sets) {
            stop.check()?;
            let start = self.sets.checked_sub(1).map_or(self.base, |before| self.ends[before]);
            let set = &mut self.tokens[start - self.base..end - self.base];
            while self.tokens_of_next < set.len() {
                stop.check()?;
                let to = set.len().min(self.tokens_of_next + CHECK_EVERY);
                set[self.tokens_of_next..to].iter_mut().for_each(|token| *token = ranks.rank(*token));
                self.tokens_of_next = to;
            }
            self.lengths[self.sets] = order_ranks(set, LONE, sort, stop)?;
            (self.sets, self.tokens_of_next) = (self.sets + 1, 0);
        }
        Ok(())
    }
}

/// Sorts the ranks of a set and returns how many of them are less than `end`. After a stop, the
/// ranks are in any order.
pub(super) fn order_ranks(
    set: &mut [u32],
    end: u32,
    sort: sorting_network::Kernel,
    stop: &Stop,
) -> Result<u32> {
    /// The greatest length of sets that are sorted at once; longer sets are sorted in slices.
    const SHORT: usize = 1 << 12;
    if set.len() <= SHORT {
        sort(set);
    } else {
        executor::sort_unstable_by(set, stop, &Ord::cmp)?;
    }
    // The number of tokens of a set always fits in 32 bits.
    Ok(set.partition_point(|&rank| rank < end) as u32)
}

/// Replaces numbers by ranks in all sets, and sorts these sets. The tokens that are counted must be
/// replaced by their ranks. O(N log n) for N tokens in sets of n tokens.
pub(super) fn translate(parts: &mut [Translated], ranks: &Ranks, executor: &dyn Executor) -> Result<()> {
    let mut pieces: Vec<TranslatedSets<'_>> = parts.iter_mut().flat_map(Translated::pieces).collect();
    let sort = sorting_network::kernel();
    executor::each(executor, &mut pieces, |piece, stop| piece.translate(ranks, sort, stop))?;
    drop(pieces);
    executor::each(executor, parts, |part, stop| part.rank(ranks, sort, stop))
}

/// Drops all sets but those that are kept, which are given by part and number, and of these all
/// tokens but the `shared` first ones.
pub(super) fn pack(
    parts: &mut [Translated],
    kept: impl Iterator<Item = (usize, u32)>,
    shared: u32,
    executor: &dyn Executor,
) -> Result<()> {
    parts.iter_mut().for_each(|part| part.counts.fill(0));
    for (part, set) in kept {
        let part = &mut parts[part];
        // From here on, how many tokens are kept.
        part.counts[set as usize] = part.tokens(set).partition_point(|&rank| rank < shared) as u32;
    }
    parts.iter_mut().for_each(|part| part.lengths = std::mem::take(&mut part.counts));
    executor::each(executor, parts, Translated::pack)
}
