//! The windows of a text that other texts have too: how many tokens two texts say word for word.
//!
//! Windows of `least` tokens are compared by their contents ([`Contents`]). Most of another text
//! has nothing in common, which the grams of a few tokens tell first; contents are computed of the
//! stretches whose grams the text has.

use std::ops::Range;

use crate::error::Result;
use crate::executor::{self, Stop};
use crate::features::runs::contents::Contents;
use crate::memory;

const DOING: &str = "comparing runs of tokens";
const CHECK_EVERY: usize = 1 << 12;
/// The place of a window that does not count.
const LEFT_OUT: u32 = u32::MAX;

/// The windows of a text, for comparisons with other texts.
#[derive(Debug)]
pub struct SharedWindows {
    least: usize,
    grams: Grams,
    /// The distinct contents of the windows that count, in ascending order.
    contents: Vec<u128>,
    /// For the upper bits of contents, the first of `contents` that has no lesser ones.
    directory: Vec<u32>,
    /// The number of bits that are not the upper ones.
    shift: u32,
    /// For each window, the number of its content.
    windows: Vec<u32>,
    /// For each content, the last comparison in which the other text has it.
    seen: Vec<u32>,
    comparisons: u32,
    /// Of a stretch of another text.
    stretch: Contents,
}

impl SharedWindows {
    /// Reads the windows of `least` tokens of a text. Those of the contents that `left_out` names
    /// in ascending order do not count. O(tokens · log tokens).
    pub fn new(tokens: &[u64], least: usize, left_out: &[u128], stop: &Stop) -> Result<Self> {
        let mut of_text = Contents::new(least);
        of_text.set(tokens, stop)?;
        let count = of_text.windows();
        // A text has fewer tokens than 32 bits can count.
        let windows = (0..count).map(|first| (of_text.content(first), first as u32));
        let mut sorted = memory::collect(windows, DOING)?;
        executor::sort_unstable_by(&mut sorted, stop, &Ord::cmp)?;
        let mut windows = memory::filled(LEFT_OUT, count, DOING)?;
        let mut contents: Vec<u128> = Vec::new();
        for (n, &(content, first)) in sorted.iter().enumerate() {
            stop.check_every(n, CHECK_EVERY)?;
            if contents.last() != Some(&content) {
                if left_out.binary_search(&content).is_ok() {
                    continue;
                }
                memory::push(&mut contents, content, DOING)?;
            }
            windows[first as usize] = (contents.len() - 1) as u32;
        }
        let bits = contents.len().max(1).ilog2() + 1;
        let shift = u128::BITS - bits;
        let mut directory = memory::filled(0u32, (1 << bits) + 1, DOING)?;
        for contents in contents.chunks(CHECK_EVERY) {
            stop.check()?;
            contents.iter().for_each(|content| directory[(content >> shift) as usize + 1] += 1);
        }
        for n in 1..directory.len() {
            directory[n] += directory[n - 1];
        }
        let seen = memory::filled(0u32, contents.len(), DOING)?;
        let grams = Grams::new(tokens, least, stop)?;
        Ok(Self { least, grams, contents, directory, shift, windows, seen, comparisons: 0, stretch: of_text })
    }

    /// Returns the number of tokens of this text and of another one that are in a run of at least
    /// `least` tokens which both texts have. O(tokens).
    pub fn shared_tokens(&mut self, other: &[u64], stop: &Stop) -> Result<[u32; 2]> {
        if self.comparisons == u32::MAX {
            self.seen.fill(0);
            self.comparisons = 0;
        }
        self.comparisons += 1;
        let mut covered = Covered::new(self.least);
        let mut from = 0;
        while let Some(stretch) = self.grams.next_stretch(other, &mut from, self.least, stop)? {
            self.stretch.set(&other[stretch.clone()], stop)?;
            for n in 0..self.stretch.windows() {
                stop.check_every(n, CHECK_EVERY)?;
                if let Some(number) = self.number(self.stretch.content(n)) {
                    self.seen[number] = self.comparisons;
                    covered.add((stretch.start + n) as u32);
                }
            }
        }
        if covered.tokens == 0 {
            return Ok([0; 2]);
        }
        let mut own = Covered::new(self.least);
        for (windows, from) in self.windows.chunks(CHECK_EVERY).zip((0u32..).step_by(CHECK_EVERY)) {
            stop.check()?;
            for (&number, first) in windows.iter().zip(from..) {
                if number != LEFT_OUT && self.seen[number as usize] == self.comparisons {
                    own.add(first);
                }
            }
        }
        Ok([own.tokens, covered.tokens])
    }

    /// Returns the number of a content.
    fn number(&self, content: u128) -> Option<usize> {
        let upper = (content >> self.shift) as usize;
        let [from, to] = [self.directory[upper], self.directory[upper + 1]].map(|n| n as usize);
        self.contents[from..to].binary_search(&content).ok().map(|n| from + n)
    }
}

/// Counts the tokens in windows, which are added in ascending order.
struct Covered {
    least: u32,
    tokens: u32,
    end: u32,
}

impl Covered {
    fn new(least: usize) -> Self {
        // No text has a window of more tokens than 32 bits can count.
        Self { least: u32::try_from(least).unwrap_or(u32::MAX), tokens: 0, end: 0 }
    }

    fn add(&mut self, first: u32) {
        let end = first + self.least;
        self.tokens += end - self.end.max(first);
        self.end = end;
    }
}

/// The grams of a text as bits that their hashes select. Another text may have a gram whose bit is
/// set and that this text does not have; never the other way round.
#[derive(Debug)]
struct Grams {
    tokens: usize,
    bits: Vec<u64>,
    shift: u32,
}

impl Grams {
    /// The number of tokens of a gram, where windows have as many.
    const TOKENS: usize = 4;
    /// Odd numbers, by which the tokens of a gram are multiplied.
    const FACTORS: [u64; Self::TOKENS] =
        [0x9e37_79b9_7f4a_7c15, 0xbf58_476d_1ce4_e5b9, 0x94d0_49bb_1331_11eb, 0xd6e8_feb8_6659_fd93];

    /// Reads the grams of a text: of most grams that it does not have, the bit is not set.
    fn new(tokens: &[u64], least: usize, stop: &Stop) -> Result<Self> {
        let size = (16 * tokens.len()).clamp(1 << 10, 1 << 24).next_power_of_two();
        let mut grams = Self {
            tokens: least.min(Self::TOKENS),
            bits: memory::filled(0u64, size / 64, DOING)?,
            shift: u64::BITS - size.ilog2(),
        };
        for (n, gram) in tokens.windows(grams.tokens).enumerate() {
            stop.check_every(n, CHECK_EVERY)?;
            let bit = grams.bit(gram);
            grams.bits[bit / 64] |= 1 << (bit % 64);
        }
        Ok(grams)
    }

    #[inline]
    fn bit(&self, gram: &[u64]) -> usize {
        let products = gram.iter().zip(Self::FACTORS).map(|(&token, factor)| token.wrapping_mul(factor));
        // Tokens may be small numbers, of which a product has even upper bits only if it is mixed.
        let sum = products.fold(0, |sum: u64, product| sum.rotate_left(23) ^ product);
        (sum.wrapping_mul(Self::FACTORS[0]) >> self.shift) as usize
    }

    #[inline]
    fn has(&self, gram: &[u64]) -> bool {
        let bit = self.bit(gram);
        self.bits[bit / 64] >> (bit % 64) & 1 == 1
    }

    /// Returns the next stretch of another text, from a token on, that has at least `least` tokens
    /// and whose grams this text has. The next one begins within the last gram at the earliest;
    /// they have no window in common.
    fn next_stretch(
        &self,
        other: &[u64],
        from: &mut usize,
        least: usize,
        stop: &Stop,
    ) -> Result<Option<Range<usize>>> {
        let mut start = *from;
        for (n, gram) in other[start..].windows(self.tokens).enumerate() {
            stop.check_every(n, CHECK_EVERY)?;
            if !self.has(gram) {
                let stretch = start..*from + n + self.tokens - 1;
                start = *from + n + 1;
                if stretch.len() >= least {
                    *from = start;
                    return Ok(Some(stretch));
                }
            }
        }
        *from = other.len();
        Ok((other.len() - start >= least).then_some(start..other.len()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// The definition: the tokens of all windows that the other text has and that count.
    fn by_definition(own: &[u64], other: &[u64], least: usize, left_out: &[&[u64]]) -> u32 {
        let of_other: Vec<&[u64]> = other.windows(least).collect();
        let counts = |window: &[u64]| of_other.contains(&window) && !left_out.contains(&window);
        let firsts: Vec<usize> = (0..own.len().saturating_sub(least - 1))
            .filter(|&first| counts(&own[first..first + least]))
            .collect();
        (0..own.len()).filter(|&n| firsts.iter().any(|&first| (first..first + least).contains(&n))).count()
            as u32
    }

    proptest! {
        #[test]
        fn tokens_are_those_of_the_definition(
            own in prop::collection::vec(0..3u64, 0..60),
            others in prop::collection::vec(prop::collection::vec(0..4u64, 0..60), 1..4),
            least in 1..8usize,
            out in prop::collection::vec(0..60usize, 0..4),
        ) {
            let stop = Stop::default();
            let mut of_text = Contents::new(least);
            of_text.set(&own, &stop).unwrap();
            let out: Vec<usize> = out.into_iter().filter(|&first| first < of_text.windows()).collect();
            let mut contents: Vec<u128> = out.iter().map(|&first| of_text.content(first)).collect();
            contents.sort_unstable();
            let left_out: Vec<&[u64]> = out.iter().map(|&first| &own[first..first + least]).collect();
            let mut windows = SharedWindows::new(&own, least, &contents, &stop).unwrap();
            for other in &others {
                let expected = [
                    by_definition(&own, other, least, &left_out),
                    by_definition(other, &own, least, &left_out),
                ];
                prop_assert_eq!(windows.shared_tokens(other, &stop).unwrap(), expected);
            }
        }
    }

    #[test]
    fn passages_in_long_texts() {
        let stop = Stop::default();
        let text = |from: u64| (from..from + 20_000).map(crate::hash::mix).collect::<Vec<u64>>();
        let (own, mut other) = (text(0), text(1 << 40));
        let mut windows = SharedWindows::new(&own, 12, &[], &stop).unwrap();
        assert_eq!(windows.shared_tokens(&other, &stop).unwrap(), [0, 0]);
        other[0..12].copy_from_slice(&own[100..112]);
        other[12..23].copy_from_slice(&own[200..211]);
        other[500..1000].copy_from_slice(&own[0..500]);
        other[19_988..].copy_from_slice(&own[19_988..]);
        assert_eq!(windows.shared_tokens(&other, &stop).unwrap(), [512, 524]);
        assert_eq!(windows.shared_tokens(&own, &stop).unwrap(), [20_000; 2]);
        assert_eq!(windows.shared_tokens(&own[..11], &stop).unwrap(), [0; 2]);
        assert_eq!(windows.shared_tokens(&[], &stop).unwrap(), [0; 2]);
        let equal = vec![7; 20_000];
        let mut windows = SharedWindows::new(&equal, 12, &[], &stop).unwrap();
        assert_eq!(windows.shared_tokens(&equal[..12], &stop).unwrap(), [20_000, 12]);
        let mut windows = SharedWindows::new(&[], 12, &[], &stop).unwrap();
        assert_eq!(windows.shared_tokens(&equal, &stop).unwrap(), [0; 2]);
        let mut windows = SharedWindows::new(&equal, usize::MAX, &[], &stop).unwrap();
        assert_eq!(windows.shared_tokens(&equal, &stop).unwrap(), [0; 2]);
    }

    #[test]
    fn few_grams_pass_by_chance() {
        let text = |from: u64| (from..from + 20_000).collect::<Vec<u64>>();
        for of in [text(0), text(0).into_iter().map(crate::hash::mix).collect()] {
            let grams = Grams::new(&of, 12, &Stop::default()).unwrap();
            assert!(of.windows(4).all(|gram| grams.has(gram)));
            let passed = |other: Vec<u64>| other.windows(4).filter(|gram| grams.has(gram)).count();
            assert!(passed(text(1 << 30)) < 2500);
            assert!(passed(text(1 << 30).into_iter().map(crate::hash::mix).collect()) < 2500);
        }
    }
}
