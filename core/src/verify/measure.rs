//! Similarity of two sets from their sizes and the number of shared tokens
//! (docs/design/algorithms.md section 8).
//!
//! Each measure is computed by one correctly rounded division (for cosine, by a correctly rounded
//! square root), so that its float8 is the same everywhere. A pair is similar exactly if that
//! float8 is >= the float8 of the threshold: [`Predicate`](super::predicate::Predicate) never
//! decides by anything else.

use std::ops::RangeInclusive;

use crate::error::{Error, Result};

/// A similarity measure of sets.
///
/// If both sets of a pair are from one collection, the larger one counts as the left set.
///
/// ```
/// use neardup_core::{Corpus, Measure, Sets};
///
/// let mut corpus = Corpus::of_texts(&["red crane", "the red crane left"]);
/// let mut of = |measure| {
///     corpus.pairs(&Sets::of_words(measure, 0.1)?).map(|pairs| pairs[0].similarity)
/// };
/// assert_eq!((of(Measure::Jaccard)?, of(Measure::Cosine)?), (0.5, 2.0 / 8f64.sqrt()));
/// assert_eq!((of(Measure::Overlap)?, of(Measure::Containment)?), (1.0, 0.5));
/// # Ok::<(), neardup_core::Error>(())
/// ```
///
/// The numbers of the variants are part of stored formats.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub enum Measure {
    /// Shared / all: |x∩y| / |x∪y|.
    Jaccard = 1,
    /// |x∩y| / √(|x|·|y|).
    Cosine = 2,
    /// 2·|x∩y| / (|x|+|y|).
    Dice = 3,
    /// The share of the smaller set: |x∩y| / min(|x|,|y|), the greater of the two containments.
    Overlap = 4,
    /// The share of the left set that the right one contains: |x∩y| / |x|.
    Containment = 5,
    /// The share of the right set that the left one contains: |x∩y| / |y|. It is containment in the
    /// other direction.
    Coverage = 6,
}

impl Measure {
    /// All measures, by their numbers.
    #[cfg_attr(not(feature = "internals"), doc(hidden))]
    pub const ALL: [Self; 6] =
        [Self::Jaccard, Self::Cosine, Self::Dice, Self::Overlap, Self::Containment, Self::Coverage];

    /// Reports whether it does not matter which of two sets is the left one.
    pub fn is_symmetric(self) -> bool {
        !matches!(self, Self::Containment | Self::Coverage)
    }

    /// Returns the similarity, 0 to 1, of a left and a right set that share `shared` tokens; 0 if a
    /// set is empty. It never falls when `shared` grows, and never grows when a set grows.
    ///
    /// ```
    /// assert_eq!(neardup_core::Measure::Dice.similarity(2, 3, 5), 0.5);
    /// ```
    #[inline]
    pub fn similarity(self, shared: u32, left: u32, right: u32) -> f64 {
        let (o, x, y) = (f64::from(shared), f64::from(left), f64::from(right));
        let divisor = match self {
            Self::Jaccard => x + y - o,
            Self::Cosine => (x * y).sqrt(),
            Self::Dice => (x + y) / 2.0,
            Self::Overlap => x.min(y),
            Self::Containment => x,
            Self::Coverage => y,
        };
        if shared == 0 { 0.0 } else { o / divisor }
    }

    /// Returns the least overlap for threshold `t` as a real number, exact except for rounding. A
    /// search starts at this value.
    pub(super) fn estimate(self, t: f64, left: u32, right: u32) -> f64 {
        let (x, y) = (f64::from(left), f64::from(right));
        match self {
            Self::Jaccard => t / (1.0 + t) * (x + y),
            Self::Cosine => t * (x * y).sqrt(),
            Self::Dice => t / 2.0 * (x + y),
            Self::Overlap => t * x.min(y),
            Self::Containment => t * x,
            Self::Coverage => t * y,
        }
    }
}

/// Returns the least number of a range that passes, where all greater ones pass, or the last one of
/// the range if no other passes. The search starts at a guess, which may be rounded either way.
#[inline]
pub fn least_near(guess: usize, range: RangeInclusive<usize>, passes: impl Fn(usize) -> bool) -> usize {
    let (first, last) = range.into_inner();
    let mut least = guess.clamp(first, last);
    while least < last && !passes(least) {
        least += 1;
    }
    while least > first && passes(least - 1) {
        least -= 1;
    }
    least
}

/// Checks that a threshold that a user gave is in (0, 1].
pub fn check_threshold(threshold: f64) -> Result<()> {
    if threshold > 0.0 && threshold <= 1.0 {
        return Ok(());
    }
    let allowed = "greater than 0 and at most 1";
    Err(Error::Parameter { name: "threshold", value: threshold.to_string(), allowed })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn similarities_are_single_divisions() {
        assert_eq!(Measure::Jaccard.similarity(4, 5, 5), 4.0 / 6.0);
        assert_eq!(Measure::Containment.similarity(3, 4, 6), 0.75);
        assert_eq!(Measure::Coverage.similarity(3, 4, 6), 0.5);
        assert_eq!(Measure::Overlap.similarity(3, 6, 4), 0.75);
        assert_eq!(Measure::Jaccard.similarity(0, 0, 0), 0.0);
    }

    #[test]
    fn thresholds_outside_the_range_are_refused() {
        for t in [0.0, -1.0, 1.000_000_1, f64::NAN, f64::INFINITY] {
            assert!(check_threshold(t).is_err(), "{t}");
        }
    }
}
