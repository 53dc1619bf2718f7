//! Counts in how many sets of a sample each token occurs, and ranks the tokens: the rarer a token,
//! the lower its rank.

use crate::error::Result;
use crate::executor::{self, Stop};
use crate::memory;

const DOING: &str = "counting tokens";

/// Counts tokens by their keys or hashes, in bounded memory for any input.
///
/// When there are more distinct tokens than may be counted, the counter drops the rarest ones from
/// time to time. The counts of rare tokens are then too low; the counts of frequent tokens are
/// nearly right (Manku, Motwani: Approximate frequency counts over data streams, VLDB 2002).
#[derive(Debug)]
pub struct TokenCounts<K> {
    /// Tokens that are not counted yet.
    waiting: Vec<K>,
    /// Tokens and their counts, ascending by token.
    counts: Vec<(K, u32)>,
    /// A buffer for merging the counts.
    merged: Vec<(K, u32)>,
    /// The maximum number of counted tokens.
    most: usize,
}

impl<K: Copy + Ord> TokenCounts<K> {
    /// The maximum number of bytes per counted token: two tokens with their counts, and one waiting
    /// token.
    pub const ENTRY: usize = 2 * size_of::<(K, u32)>() + size_of::<K>();

    /// Creates a counter of at most `most` tokens. It takes no memory until tokens come.
    pub fn new(most: usize) -> Self {
        Self { waiting: Vec::new(), counts: Vec::new(), merged: Vec::new(), most: most.max(1 << 10) }
    }

    /// Counts one more set that has a token. After [`Error::Stopped`](crate::error::Error::Stopped)
    /// the token is not counted. O(1), apart from sorting and merging `most` tokens at a time.
    #[inline]
    pub fn add(&mut self, token: K, stop: &Stop) -> Result<()> {
        // Tokens are merged only when at least as many tokens wait as there are counts, so the work
        // of merging grows only with the number of tokens.
        if self.waiting.len() >= self.counts.len().clamp(1 << 10, self.most) {
            self.count(stop)?;
        }
        memory::push(&mut self.waiting, token, DOING)
    }

    /// Moves the counts of another counter into this one. After
    /// [`Error::Stopped`](crate::error::Error::Stopped) nothing is moved.
    pub fn absorb(&mut self, other: &mut Self, stop: &Stop) -> Result<()> {
        self.count(stop)?;
        other.count(stop)?;
        self.merge(other.counts.iter().copied())?;
        other.counts.clear();
        Ok(())
    }

    /// Returns the `keep` most frequent of the tokens that more than one set has, ascending by
    /// token, together with their ranks. The rarest of these tokens has rank 1. If two tokens are
    /// equally frequent, the greater token has the greater rank.
    pub fn ranks(&mut self, keep: usize, stop: &Stop) -> Result<Vec<(K, u32)>> {
        self.count(stop)?;
        let repeated = self.counts.iter().copied().filter(|(_, count)| *count > 1);
        let mut kept = memory::collect(repeated, DOING)?;
        let by_count = |a: &(K, u32), b: &(K, u32)| (a.1, a.0).cmp(&(b.1, b.0));
        if let Some(rest) = kept.len().checked_sub(keep).filter(|&rest| rest > 0 && rest < kept.len()) {
            kept.select_nth_unstable_by(rest, by_count);
            kept.drain(..rest);
        }
        kept.truncate(keep);
        executor::sort_unstable_by(&mut kept, stop, &by_count)?;
        (1..).zip(&mut kept).for_each(|(rank, token)| token.1 = rank);
        executor::sort_unstable_by(&mut kept, stop, &|a, b| a.0.cmp(&b.0))?;
        Ok(kept)
    }

    /// Counts the waiting tokens.
    fn count(&mut self, stop: &Stop) -> Result<()> {
        executor::sort_unstable_by(&mut self.waiting, stop, &K::cmp)?;
        let waiting = std::mem::take(&mut self.waiting);
        let merged = self.merge(waiting.chunk_by(|a, b| a == b).map(|same| (same[0], same.len() as u32)));
        self.waiting = waiting;
        merged?;
        self.waiting.clear();
        Ok(())
    }

    /// Adds tokens and their counts, ascending by token, and drops the rarest tokens if there are
    /// too many.
    fn merge(&mut self, more: impl Iterator<Item = (K, u32)>) -> Result<()> {
        let Self { counts, merged, most, .. } = self;
        merged.clear();
        let mut known = counts.iter().copied().peekable();
        for (token, count) in more {
            while let Some(before) = known.next_if(|(other, _)| *other < token) {
                memory::push(merged, before, DOING)?;
            }
            let before = known.next_if(|(other, _)| *other == token).map_or(0, |(_, count)| count);
            memory::push(merged, (token, before.saturating_add(count)), DOING)?;
        }
        memory::append(merged, known, DOING)?;
        std::mem::swap(counts, merged);
        let mut least = 1;
        while counts.len() > *most {
            counts.retain(|(_, count)| *count > least);
            least = least.saturating_mul(2);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hash::mix;
    use proptest::prelude::*;
    use std::collections::BTreeMap;

    /// Counts tokens in two counters and merges them.
    fn counted(tokens: &[u64], most: usize) -> TokenCounts<u64> {
        let stop = &Stop::default();
        let mut parts = [TokenCounts::new(most), TokenCounts::new(most)];
        for (n, &token) in tokens.iter().enumerate() {
            parts[n % 2].add(token, stop).unwrap();
        }
        let [mut counts, mut other] = parts;
        counts.absorb(&mut other, stop).unwrap();
        counts
    }

    proptest! {
        #[test]
        fn ranks_go_by_counts(tokens in proptest::collection::vec(0..40u64, 0..3000), keep in 0..50usize) {
            let mut naive = BTreeMap::new();
            tokens.iter().for_each(|&token| *naive.entry(token).or_insert(0u32) += 1);
            let mut frequent: Vec<(u32, u64)> = naive.iter().filter(|(_, n)| **n > 1).map(|(t, n)| (*n, *t)).collect();
            frequent.sort_unstable();
            let from = frequent.len().saturating_sub(keep);
            let mut expected: Vec<(u64, u32)> = frequent[from..].iter().zip(1..).map(|(f, rank)| (f.1, rank)).collect();
            expected.sort_unstable();
            prop_assert_eq!(counted(&tokens, 100).ranks(keep, &Stop::default()).unwrap(), expected);
        }
    }

    /// Adds far more distinct tokens than can be counted; the frequent ones are still found.
    #[test]
    fn memory_is_bounded() {
        const MOST: usize = 1 << 12;
        let stop = &Stop::default();
        let mut counts = TokenCounts::new(MOST);
        for n in 0..2400u64 {
            (0..100).for_each(|k| counts.add(mix(n * 100 + k) | 1, stop).unwrap());
            counts.add(2, stop).unwrap();
            if n % 2 == 0 {
                counts.add(4, stop).unwrap();
            }
            let bytes = memory::bytes(&counts.waiting)
                + memory::bytes(&counts.counts)
                + memory::bytes(&counts.merged);
            assert!(counts.counts.len() <= MOST && bytes <= 2 * MOST * TokenCounts::<u64>::ENTRY);
        }
        let ranks = counts.ranks(usize::MAX, stop).unwrap();
        assert_eq!(ranks[..2].iter().map(|token| token.0).collect::<Vec<_>>(), [2, 4]);
        assert_eq!([ranks[0].1, ranks[1].1], [ranks.len() as u32, ranks.len() as u32 - 1]);
    }
}
