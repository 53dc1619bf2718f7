//! The number of tokens that two sorted lists share.

use serde::Serialize;

use crate::features::hash_sets::shared;
use crate::simd::shared_blocks::{self, BlocksCompared};

/// The numbers of tokens that both texts share and that each text has.
///
/// ```
/// use neardup_core::explain::TokenOverlap;
///
/// let TokenOverlap { shared, left, .. } = TokenOverlap::from([2, 6, 3]);
/// assert_eq!((shared, left), (2, 6));
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
pub struct TokenOverlap {
    /// The tokens in both texts.
    pub shared: u32,
    /// The tokens in the left text.
    pub left: u32,
    /// The tokens in the right text.
    pub right: u32,
}

impl From<[u32; 3]> for TokenOverlap {
    fn from([shared, left, right]: [u32; 3]) -> Self {
        Self { shared, left, right }
    }
}

impl TokenOverlap {
    /// Compares two sets of hashes.
    #[cfg_attr(not(feature = "internals"), doc(hidden))]
    pub fn of_sets(a: &[u64], b: &[u64]) -> Self {
        // A document has at most `u32::MAX` tokens.
        Self::from([shared(a, b), a.len(), b.len()].map(|count| count as u32))
    }
}

/// What the words that both texts share weigh, and those of each text, in units of 1/4096 of the
/// heaviest word, or for cosine of its square.
///
/// ```
/// use neardup_core::explain::WeighedOverlap;
///
/// let weighed = WeighedOverlap { shared: 4096, left: 8192, right: 4096, words: Vec::new() };
/// assert_eq!(weighed.left - weighed.shared, 4096);
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
pub struct WeighedOverlap {
    /// The weight of the shared words.
    pub shared: u32,
    /// The weight of the words of the left text.
    pub left: u32,
    /// The weight of the words of the right text.
    pub right: u32,
    /// The heaviest words, at most a hundred.
    pub words: Vec<WeighedWord>,
}

/// A word, what it weighs, and how often each text has it.
///
/// ```
/// use neardup_core::explain::WeighedWord;
///
/// let word = WeighedWord { word: "limited".to_owned(), weight: 512, left: 1, right: 0 };
/// assert!(word.weight < 4096);
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct WeighedWord {
    /// The word, as texts are cut.
    pub word: String,
    /// Its weight.
    pub weight: u32,
    /// How often the left text has it; at most once if repeats do not count.
    pub left: u32,
    /// How often the right text has it.
    pub right: u32,
}

/// Returns the number of shared tokens of two ascending lists without repeats, or `None` as soon as
/// it is certain that they share fewer than `need` tokens. O(|a| + |b|), or O(|a|·log |b|) if one
/// list is far shorter.
#[inline]
pub fn shared_at_least(a: &[u32], b: &[u32], need: usize) -> Option<usize> {
    let (short, long) = if a.len() <= b.len() { (a, b) } else { (b, a) };
    if short.len() < need {
        return None;
    }
    let found = if short.len().saturating_mul(32) < long.len() {
        gallop(short, long)
    } else {
        return merge(short, long, need);
    };
    (found >= need).then_some(found)
}

/// Returns the weight of the shared tokens of two ascending lists without repeats, or `None` as
/// soon as it is certain that it is less than `need`, because tokens of one list alone weigh more
/// than `lost`. O(|a| + |b|).
#[inline]
pub fn shared_weight_at_least(
    a: &[u32],
    b: &[u32],
    need: u32,
    mut lost: u64,
    weights: &[u16],
) -> Option<u32> {
    let (mut i, mut j, mut shared) = (0, 0, 0);
    while i < a.len() && j < b.len() {
        let (x, y) = (a[i], b[j]);
        let weight = weights[x.min(y) as usize];
        if x == y {
            shared += u32::from(weight);
        } else {
            lost = lost.checked_sub(weight.into())?;
        }
        (i, j) = (i + usize::from(x <= y), j + usize::from(y <= x));
    }
    (shared >= need).then_some(shared)
}

/// Reports whether two ascending lists share no token. It compares from the ends, because records
/// of a join have their more frequent tokens there, and so most of the tokens that they share.
/// O(|a| + |b|).
#[inline]
pub fn disjoint(a: &[u32], b: &[u32]) -> bool {
    let Some([mut i, mut j]) = shared_blocks::kernel_from_behind()(a, b) else { return false };
    while i > 0 && j > 0 {
        let (x, y) = (a[i - 1], b[j - 1]);
        if x == y {
            return false;
        }
        i -= usize::from(x > y);
        j -= usize::from(x < y);
    }
    true
}

/// Merges in blocks. After each block it checks whether `need` can still be reached.
fn merge(a: &[u32], b: &[u32], need: usize) -> Option<usize> {
    const BLOCK: usize = 16;
    let BlocksCompared { left: mut i, right: mut j, mut shared } = shared_blocks::kernel()(a, b, need)?;
    while i < a.len() && j < b.len() {
        if shared + (a.len() - i).min(b.len() - j) < need {
            return None;
        }
        let steps = (a.len() - i).min(b.len() - j).min(BLOCK);
        for _ in 0..steps {
            let (x, y) = (a[i], b[j]);
            // A branch on whether the tokens are equal can be predicted, because the answer is
            // mostly the same as in the previous step. A branch on which token is less cannot.
            if x == y {
                (i, j, shared) = (i + 1, j + 1, shared + 1);
            } else {
                i += usize::from(x < y);
                j += usize::from(y < x);
            }
        }
    }
    (shared >= need).then_some(shared)
}

/// Looks up the tokens of a short list in a long one, in steps that double.
fn gallop(short: &[u32], long: &[u32]) -> usize {
    let mut rest = long;
    let mut shared = 0;
    for &token in short {
        let mut step = 1;
        while step < rest.len() && rest[step] < token {
            step *= 2;
        }
        let at = rest[..rest.len().min(step + 1)].partition_point(|&t| t < token);
        rest = &rest[at..];
        match rest.first() {
            Some(&t) if t == token => shared += 1,
            Some(_) => {}
            None => break,
        }
    }
    shared
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::collection::btree_set;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn counts_what_both_have(
            a in btree_set(0..60u32, 0..50),
            b in prop_oneof![btree_set(0..60u32, 0..50), btree_set(0..5000u32, 0..1500)],
            need in 0..30usize,
        ) {
            let expected = a.intersection(&b).count();
            let (a, b): (Vec<_>, Vec<_>) = (a.into_iter().collect(), b.into_iter().collect());
            let wanted = (expected >= need).then_some(expected);
            prop_assert_eq!(shared_at_least(&a, &b, need), wanted);
            prop_assert_eq!(shared_at_least(&b, &a, need), wanted);
            prop_assert_eq!(disjoint(&a, &b), expected == 0);
        }

        #[test]
        fn weighs_what_both_have(
            a in btree_set(0..60u32, 0..50),
            b in btree_set(0..60u32, 0..50),
            weights in prop::collection::vec(1..4_097u16, 60),
            need in 0..60_000u32,
        ) {
            let weigh = |tokens: Vec<&u32>| tokens.iter().map(|&&token| u32::from(weights[token as usize])).sum::<u32>();
            let expected = weigh(a.intersection(&b).collect());
            let lost = u64::from(weigh(a.symmetric_difference(&b).collect()));
            let wanted = (expected >= need).then_some(expected);
            let (left, right): (Vec<_>, Vec<_>) = (a.iter().copied().collect(), b.iter().copied().collect());
            for lost in [lost, lost + 1, u64::MAX] {
                prop_assert_eq!(shared_weight_at_least(&left, &right, need, lost, &weights), wanted);
            }
        }
    }
}
