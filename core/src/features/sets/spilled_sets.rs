//! The sets of a spill file, as they are read again: pieces that consist of whole sets, which
//! workers weigh and translate.

use super::distinct::{HEAD, SizeRanges, sets_in};
use super::set_weights::{SetSize, SetWeights};
use super::shared_tokens::SetRank;
use super::translate::order_ranks;
use crate::error::Result;
use crate::executor::Stop;
use crate::features::dictionary::rank::{ByNumber, Ranks};
use crate::memory;
use crate::simd::sorting_network;
use crate::storage::log::Log;

const DOING: &str = "spilling token sets";

/// Appends a set to the words of a file.
pub(super) fn push_set(
    words: &mut Vec<u32>,
    row: u32,
    fingerprint: u64,
    size: u32,
    tokens: impl Iterator<Item = u32>,
) -> Result<()> {
    let start = words.len();
    memory::append(words, [row, fingerprint as u32, (fingerprint >> 32) as u32, size, 0], DOING)?;
    words.extend(tokens);
    let written = words.len() - start - HEAD;
    words[start + HEAD - 1] = written as u32;
    Ok(())
}

/// Reads a part of a file in pieces that consist of whole sets.
pub(super) struct SpillReader {
    at: u64,
    left: usize,
    share: usize,
    words: Vec<u32>,
    /// The end of the last complete set in `words`.
    whole: usize,
    /// The number of complete sets in `words`.
    pub(super) sets: u32,
}

impl SpillReader {
    /// Reads so many words from a place on, a share of them at a time.
    pub(super) fn new(at: u64, length: usize, share: usize) -> Self {
        Self { at, left: length, share, words: Vec::new(), whole: 0, sets: 0 }
    }

    /// Reads on until `words` has at least one complete set. Returns false at the end.
    pub(super) fn fill(&mut self, log: &mut Log<u32>) -> Result<bool> {
        while self.whole == 0 && self.left > 0 {
            let more = self.share.min(self.left);
            log.append(self.at, more, &mut self.words)?;
            self.at += more as u64;
            self.left -= more;
            (self.whole, self.sets) = sets_in(&self.words).fold((0, 0), |(_, sets), set| (set.end, sets + 1));
        }
        Ok(self.whole > 0)
    }

    /// Returns the complete sets.
    pub(super) fn whole(&self) -> &[u32] {
        &self.words[..self.whole]
    }

    /// Returns the complete sets in about equal shares, with memory for their output.
    /// The first set has the number `first`, and `overflow` has the ranks of further tokens of all
    /// of them.
    pub(super) fn split<'a>(
        &'a self,
        shares: usize,
        ranges: usize,
        first: u32,
        overflow: &'a [SetRank],
        space: &mut Vec<Vec<Vec<u32>>>,
    ) -> Vec<SpilledSets<'a>> {
        let most = self.whole.div_ceil(shares);
        let mut pieces = Vec::new();
        let (mut from, mut begun) = (0, first);
        for (set, number) in sets_in(&self.words[..self.whole]).zip(first..) {
            if set.end - from >= most || set.end == self.whole {
                let out = space.pop().unwrap_or_else(|| vec![Vec::new(); ranges]);
                let after = overflow.partition_point(|rank| rank.set < begun);
                let (words, overflow) = (&self.words[from..set.end], &overflow[after..]);
                pieces.push(SpilledSets { words, set: begun, overflow, out });
                (from, begun) = (set.end, number + 1);
            }
        }
        pieces
    }

    /// Drops the complete sets.
    pub(super) fn forget(&mut self) {
        self.words.drain(..self.whole);
        self.whole = 0;
    }
}

/// Some sets, and their output for each size range.
pub(super) struct SpilledSets<'a> {
    words: &'a [u32],
    /// The number of the first set.
    set: u32,
    /// The ranks of further tokens of these sets, and of later sets.
    overflow: &'a [SetRank],
    pub(super) out: Vec<Vec<u32>>,
}

impl SpilledSets<'_> {
    /// Adds the weights of the tokens of the dictionary to what the sets weigh, and lists the sizes
    /// of the sets. After a stop, the next call goes on.
    pub(super) fn weigh(
        &mut self,
        by_number: &ByNumber<u16>,
        of_sets: &SetWeights,
        right_from: Option<u32>,
        sizes: &mut Vec<SetSize>,
        stop: &Stop,
    ) -> Result<()> {
        let Self { words, set: number, overflow: _, out: _ } = self;
        while let Some(set) = sets_in(words).next() {
            stop.check()?;
            memory::reserve(sizes, 1, DOING)?;
            let (head, tokens) = words[set.clone()].split_at(HEAD);
            of_sets.add(*number, tokens.iter().map(|&token| u64::from(by_number.get(token))).sum());
            let is_right = right_from.is_some_and(|from| head[0] >= from);
            sizes.push(SetSize { is_right, size: of_sets.weight(*number)?, tokens: head[3] });
            (*words, *number) = (&words[set.end..], *number + 1);
        }
        Ok(())
    }

    /// Writes each set, with ranks instead of tokens, to the output of its size range.
    pub(super) fn translate(
        &mut self,
        ranges: &SizeRanges,
        ranks: &Ranks,
        right_from: Option<u32>,
        of_sets: Option<&SetWeights>,
        sort: sorting_network::Kernel,
        stop: &Stop,
    ) -> Result<()> {
        let Self { words, set: number, overflow, out } = self;
        while let Some(set) = sets_in(words).next() {
            stop.check()?;
            let (head, tokens) = words[set.clone()].split_at(HEAD);
            let row = head[0];
            let size = of_sets.map_or(Ok(head[3]), |of_sets| of_sets.weight(*number))?;
            let fingerprint = u64::from(head[1]) | u64::from(head[2]) << 32;
            let right = right_from.is_some_and(|from| row >= from);
            let out = &mut out[ranges.range(right, size, fingerprint)];
            let start = out.len();
            let own = overflow.iter().take_while(|rank| rank.set == *number).count();
            let others = overflow[..own].iter().map(|rank| rank.rank);
            let shared = ranks.shared as u32;
            let ranks = tokens.iter().map(|&token| ranks.rank(token)).chain(others);
            push_set(out, row, fingerprint, size, ranks)?;
            // After a stop, the set is written again.
            let kept = order_ranks(&mut out[start + HEAD..], shared, sort, stop);
            out.truncate(kept.as_ref().map_or(start, |&kept| start + HEAD + kept as usize));
            let kept = kept?;
            out[start + HEAD - 1] = kept;
            (*words, *overflow) = (&words[set.end..], &overflow[own..]);
            *number += 1;
        }
        Ok(())
    }
}
