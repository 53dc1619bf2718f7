//! What an index stores of an anchor: some bits of its hash, and some of the hashes of a few tokens
//! before it and after it, its *sides*.
//!
//! Many texts have a gram of an anchor without the run: legal texts have the same turns of phrase.
//! A run of `m` tokens around an anchor of `gram` tokens has `m - gram` tokens beside it, so at
//! least one of the sides belongs to the run if it has at most half of them. Then it is the same in
//! both texts.

use crate::features::runs::anchors::{Anchor, Anchors};
use crate::hash;

/// The number of bits of a signature, its upper ones. The others are 0.
pub const BITS: u32 = HASH_BITS + 2 * SIDE_BITS;
/// The number of bits of the anchor's hash. With 32 bits a million texts of 60 words, which have 14
/// million anchors, give one wrong row for each 300 anchors that are looked up.
const HASH_BITS: u32 = 32;
/// The number of bits of each side.
const SIDE_BITS: u32 = 5;
/// The greatest number of tokens of a side.
const WIDEST: usize = 8;

/// Makes the signatures of anchors of windows of a given length.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AnchorSignatures {
    /// The number of tokens of an anchor.
    pub gram: usize,
    /// The number of tokens of a side.
    pub width: usize,
}

impl AnchorSignatures {
    /// Makes the rule for windows of `least` tokens.
    pub fn new(least: usize) -> Self {
        let gram = Anchors::gram(least);
        // For most runs that are a little longer than a window, one of the sides is in the run.
        Self { gram, width: (least.saturating_sub(gram) / 2 + 1).min(WIDEST) }
    }

    /// Returns the signature of an anchor of a text. At an end of the text, a side has fewer
    /// tokens; no run has it.
    pub fn signature(&self, tokens: &[u64], anchor: &Anchor) -> u64 {
        let begin = anchor.place as usize;
        let end = begin + self.gram;
        let left = bits(&tokens[begin.saturating_sub(self.width)..begin]);
        let right = bits(&tokens[end..tokens.len().min(end + self.width)]);
        let sides = left << SIDE_BITS | right;
        of_anchor(anchor.hash) | sides << (u64::BITS - BITS)
    }
}

/// Returns the bits of a side.
fn bits(tokens: &[u64]) -> u64 {
    tokens.iter().fold(0, |all: u64, &token| hash::mix(all ^ token)) >> (u64::BITS - SIDE_BITS)
}

/// Returns the part of a hash or of a signature that the anchor alone decides: the least signature
/// that it can have.
pub fn of_anchor(hash: u64) -> u64 {
    hash & u64::MAX << (u64::BITS - HASH_BITS)
}

/// Returns the greatest signature of the anchor of a signature.
pub fn greatest(signature: u64) -> u64 {
    of_anchor(signature) | (u64::MAX >> HASH_BITS & u64::MAX << (u64::BITS - BITS))
}

/// The sides that two signatures of the same anchor have in common: bit 0 for the left one, and bit
/// 1 for the right one.
pub fn common_sides(a: u64, b: u64) -> usize {
    let differences = (a ^ b) >> (u64::BITS - BITS);
    let (left, right) = (differences >> SIDE_BITS, differences & ((1 << SIDE_BITS) - 1));
    usize::from(left == 0) | usize::from(right == 0) << 1
}

/// A set of sides in common: a bit for each value of [`common_sides`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Accepted(pub u8);

impl Accepted {
    /// Any sides.
    pub const ANY: Self = Self(0b1111);

    /// Adds the values of runs that have some of the sides.
    pub fn add(&mut self, has_left: bool, has_right: bool) {
        self.0 |= match (has_left, has_right) {
            (false, false) => 0b1111,
            (true, false) => 0b1010,
            (false, true) => 0b1100,
            (true, true) => 0b1000,
        };
    }

    /// Reports whether the set has a value.
    pub fn has(self, common: usize) -> bool {
        self.0 >> common & 1 == 1
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn signatures_stay_as_they_are() {
        let rule = AnchorSignatures::new(12);
        assert_eq!((rule.gram, rule.width), (6, 4));
        assert_eq!(AnchorSignatures::new(1), AnchorSignatures { gram: 1, width: 1 });
        assert_eq!(AnchorSignatures::new(1000).width, WIDEST);
        let tokens: Vec<u64> = (0..14).map(hash::mix).collect();
        let anchor = Anchor { hash: u64::MAX / 7, place: 4, first: 0, windows: 3 };
        let signature = rule.signature(&tokens, &anchor);
        assert_eq!(signature, GOLDEN, "{signature:#x}");
        assert!(of_anchor(anchor.hash) <= signature && signature <= greatest(anchor.hash));
        assert_eq!((signature << BITS, greatest(signature) << BITS), (0, 0));
        // Three tokens more on each side belong to no side.
        let longer: Vec<u64> = [&[1, 2, 3], &tokens[..], &[4, 5, 6]].concat();
        assert_eq!(rule.signature(&longer, &Anchor { place: 7, ..anchor }), signature);
        for (changed, common) in [(0, 2), (3, 2), (4, 3), (9, 3), (10, 1), (13, 1)] {
            let mut tokens = tokens.clone();
            tokens[changed] = 9;
            assert_eq!(common_sides(signature, rule.signature(&tokens, &anchor)), common, "{changed}");
        }
        // At the ends of a text.
        rule.signature(&tokens[4..10], &Anchor { place: 0, ..anchor });
    }

    #[test]
    fn what_runs_accept() {
        let mut accepted = Accepted::default();
        assert!((0..4).all(|common| !accepted.has(common)));
        accepted.add(true, true);
        assert_eq!([0, 1, 2, 3].map(|common| accepted.has(common)), [false, false, false, true]);
        accepted.add(true, false);
        assert_eq!([0, 1, 2, 3].map(|common| accepted.has(common)), [false, true, false, true]);
        accepted.add(false, false);
        assert_eq!(accepted, Accepted::ANY);
    }

    const GOLDEN: u64 = 0x2492_4924_2300_0000;
}
