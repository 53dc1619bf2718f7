//! Which partition a token belongs to.

use std::ops::Range;

/// The tokens in bins: the most frequent tokens one by one, all others in bins that have a
/// thousandth or less of the tokens that are more frequent. Tokens are numbered by ascending
/// frequency, so no bin has many more entries than the others, unless one token has.
#[derive(Debug, Clone, Copy, Default)]
struct Bins {
    tokens: u32,
}

impl Bins {
    /// The number of bits of a token's number, counted from the most frequent token, that choose
    /// the bin, apart from the leading one.
    const BITS: u32 = 11;

    #[inline]
    fn bin(self, token: u32) -> usize {
        let rank = self.tokens - 1 - token;
        let shift = (u32::BITS - rank.leading_zeros()).saturating_sub(Self::BITS + 1);
        ((shift << Self::BITS) + (rank >> shift)) as usize
    }

    /// Returns the number of tokens that are more frequent than those of a bin.
    fn before(self, bin: usize) -> u32 {
        let shift = (bin as u32 >> Self::BITS).saturating_sub(1);
        let rank = u64::from(bin as u32 - (shift << Self::BITS)) << shift;
        u32::try_from(rank).map_or(self.tokens, |rank| rank.min(self.tokens))
    }

    fn count(self) -> usize {
        if self.tokens == 0 { 0 } else { self.bin(0) + 1 }
    }
}

/// How often the tokens of a sample occur, by bins.
#[derive(Debug)]
pub(super) struct Histogram {
    bins: Bins,
    entries: Vec<u64>,
    /// The number of tokens and of entries of the records of the sample.
    pub(super) sampled: [u64; 2],
}

impl Histogram {
    /// Creates an empty histogram of the tokens below `tokens`.
    pub(super) fn new(tokens: usize) -> Self {
        // Tokens are numbered with 32 bits.
        let bins = Bins { tokens: tokens as u32 };
        Self { bins, entries: vec![0; bins.count()], sampled: [0; 2] }
    }

    /// Counts the entries of a record that has this many tokens.
    pub(super) fn add(&mut self, tokens: usize, prefix: &[u32]) {
        prefix.iter().for_each(|&token| self.entries[self.bins.bin(token)] += 1);
        self.sampled[0] += tokens as u64;
        self.sampled[1] += prefix.len() as u64;
    }
}

/// The partitions of the tokens.
#[derive(Debug, Default)]
pub(super) struct PartitionCut {
    bins: Bins,
    /// The partition of each bin.
    partitions: Vec<u16>,
    /// The tokens of each partition.
    pub(super) tokens: Vec<Range<u32>>,
    /// The number of bytes that most partitions are expected to take at most.
    pub(super) target: usize,
}

impl PartitionCut {
    /// The greatest number of partitions.
    pub(super) const MOST: usize = 256;

    /// Cuts the tokens into partitions of about `target` bytes, or of more if there would be too
    /// many of them. A partition takes `entry` bytes for each of its entries, of which there are
    /// `scale` times as many as in the sample, and 4 bytes for each token.
    pub(super) fn new(histogram: &Histogram, scale: f64, entry: usize, target: usize) -> Self {
        const TOKEN: u64 = 4;
        let bins = histogram.bins;
        let tokens_of = |bin: usize| bins.before(bin + 1) - bins.before(bin);
        let cost = |bin: usize, entries: u64| {
            (entries as f64 * scale) as u64 * entry as u64 + u64::from(tokens_of(bin)) * TOKEN
        };
        let all: u64 = histogram.entries.iter().enumerate().map(|(bin, &entries)| cost(bin, entries)).sum();
        let target = (target as u64).max(all / Self::MOST as u64 + 1);
        let mut cut = Self { bins, partitions: Vec::new(), tokens: Vec::new(), target: target as usize };
        let (mut bytes, mut from) = (0, 0);
        for (bin, &entries) in histogram.entries.iter().enumerate() {
            cut.partitions.push(cut.tokens.len() as u16);
            bytes += cost(bin, entries);
            if bytes >= target || bin + 1 == histogram.entries.len() {
                let to = bins.before(bin + 1);
                cut.tokens.push(bins.tokens - to..bins.tokens - from);
                (bytes, from) = (0, to);
            }
        }
        cut
    }

    /// Returns the partition of a token.
    #[inline]
    pub(super) fn partition(&self, token: u32) -> usize {
        usize::from(self.partitions[self.bins.bin(token)])
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn each_token_is_in_the_range_of_its_partition(
            tokens in prop_oneof![0..30usize, 4_000..5_000usize, 60_000..70_000usize],
            sample in prop::collection::vec(any::<prop::sample::Index>(), 0..60),
            target in prop_oneof![Just(1usize), Just(300), Just(100_000)],
        ) {
            let mut histogram = Histogram::new(tokens);
            if tokens > 0 {
                sample.iter().for_each(|index| histogram.add(2, &[index.index(tokens) as u32]));
            }
            let cut = PartitionCut::new(&histogram, 2.5, 24, target);
            prop_assert!(cut.tokens.len() <= PartitionCut::MOST + 1);
            for token in (0..tokens as u32).step_by(1 + tokens / 3_000) {
                prop_assert!(cut.tokens[cut.partition(token)].contains(&token));
            }
            let mut ranges = cut.tokens.clone();
            ranges.sort_unstable_by_key(|range| range.start);
            let ends: Vec<u32> = ranges.iter().map(|range| range.end).collect();
            let starts: Vec<u32> = ranges.iter().map(|range| range.start).collect();
            prop_assert_eq!(ends.last().copied().unwrap_or(0) as usize, tokens);
            prop_assert!(starts.iter().skip(1).eq(ends.iter().take(ends.len().saturating_sub(1))));
        }
    }

    #[test]
    fn bins_are_consecutive() {
        let bins = Bins { tokens: u32::MAX };
        for bin in 0..bins.count() {
            let first = bins.tokens - 1 - bins.before(bin);
            assert_eq!(bins.bin(first), bin);
            let last = bins.tokens - bins.before(bin + 1);
            assert_eq!(bins.bin(last), bin);
        }
    }
}
