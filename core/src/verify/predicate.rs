//! The condition that a pair of sets must meet, and the shared tokens that it requires
//! (docs/design/algorithms.md section 8).

use super::edit::GramBound;
use super::measure::{Measure, check_threshold, least_near};
use crate::error::Result;

/// The condition that a pair of sets must meet.
///
/// Similarities are compared as they are reported, so that no pair is lost by rounding.
///
/// ```
/// use neardup_core::Measure;
/// use neardup_core::parameters::Predicate;
///
/// let predicate = Predicate::new(Measure::Jaccard, 0.5)?.and_shared(3);
/// assert!(predicate.passes(3, 4, 5) && !predicate.passes(2, 3, 3));
/// # Ok::<(), neardup_core::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Predicate {
    /// The similarity and the shared tokens reach their thresholds.
    #[cfg_attr(not(feature = "internals"), doc(hidden))]
    Sets(SetPredicate),
    /// The sets of grams of two texts share as many grams as similar texts do. The texts of such
    /// pairs are compared later.
    #[cfg_attr(not(feature = "internals"), doc(hidden))]
    Grams(GramBound),
}

/// The least similarity and the least number of shared tokens of a pair, and the greatest Hamming
/// distance.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SetPredicate {
    measure: Measure,
    /// The least similarity; 0 if shared tokens alone decide.
    similarity: f64,
    shared: u32,
    /// The greatest number of tokens that only one of the two sets has.
    distance: u64,
}

/// No limit of the distance.
const ANY_DISTANCE: u64 = u64::MAX;

impl SetPredicate {
    #[inline]
    fn pass(&self, shared: u32, left: u32, right: u32) -> bool {
        shared >= self.shared
            && self.measure.similarity(shared, left, right) >= self.similarity
            && (self.distance == ANY_DISTANCE || hamming(shared, left, right) <= self.distance)
    }

    /// Implements [`Predicate::least_overlap`]. The result is exact: the float is only the start of
    /// the search.
    #[inline]
    fn least_overlap(&self, left: u32, right: u32) -> Option<u32> {
        let most = left.min(right);
        if !self.pass(most, left, right) {
            return None;
        }
        // The conversion saturates at both ends; NaN cannot occur.
        let by_measure = self.measure.estimate(self.similarity, left, right).ceil() as u32;
        let by_distance = (u64::from(left) + u64::from(right)).saturating_sub(self.distance).div_ceil(2);
        // No set has more tokens than 32 bits can count.
        let start = by_measure.max(by_distance as u32);
        let range = self.shared as usize..=most as usize;
        Some(least_near(start as usize, range, |least| self.pass(least as u32, left, right)) as u32)
    }
}

/// Returns the Hamming distance of two sets: the number of tokens that only one of them has.
#[inline]
fn hamming(shared: u32, left: u32, right: u32) -> u64 {
    u64::from(left) + u64::from(right) - 2 * u64::from(shared)
}

impl Predicate {
    /// Reports whether it does not matter which of two sets is the left one.
    #[cfg_attr(not(feature = "internals"), doc(hidden))]
    pub fn is_symmetric(&self) -> bool {
        match self {
            Self::Sets(sets) => sets.measure.is_symmetric(),
            Self::Grams(_) => true,
        }
    }

    /// Reports whether a token that weighs more than others counts with the square of its weight: a
    /// cosine is that of two vectors.
    #[cfg_attr(not(feature = "internals"), doc(hidden))]
    pub fn squares_weights(&self) -> bool {
        matches!(self, Self::Sets(SetPredicate { measure: Measure::Cosine, .. }))
    }

    /// Accepts pairs whose similarity by `measure` is at least `threshold`, which is in (0, 1].
    ///
    /// Fails if the threshold is not above 0 and at most 1.
    ///
    /// ```
    /// use neardup_core::Measure;
    /// use neardup_core::parameters::Predicate;
    ///
    /// assert_eq!(Predicate::new(Measure::Cosine, 0.7)?.threshold(), 0.7);
    /// assert!(Predicate::new(Measure::Cosine, 0.0).is_err());
    /// # Ok::<(), neardup_core::Error>(())
    /// ```
    pub fn new(measure: Measure, threshold: f64) -> Result<Self> {
        check_threshold(threshold)?;
        Ok(Self::Sets(SetPredicate { measure, similarity: threshold, shared: 1, distance: ANY_DISTANCE }))
    }

    /// Accepts pairs with at least `min_overlap` shared tokens, and at least 1. Their similarity by
    /// `measure` does not matter.
    ///
    /// ```
    /// use neardup_core::Measure;
    /// use neardup_core::parameters::Predicate;
    ///
    /// let predicate = Predicate::shared(Measure::Jaccard, 2);
    /// assert!(predicate.passes(2, 2, 900) && !predicate.passes(1, 1, 1));
    /// ```
    pub fn shared(measure: Measure, min_overlap: u32) -> Self {
        let (similarity, shared) = (0.0, min_overlap.max(1));
        Self::Sets(SetPredicate { measure, similarity, shared, distance: ANY_DISTANCE })
    }

    /// Adds the condition that at most `distance` tokens are in one of the two sets alone: their
    /// Hamming distance (Xiao et al., PPJoin+, WWW 2008, section 2.1). Sets without a common token
    /// are no pair. A predicate for grams stays as it is.
    ///
    /// ```
    /// use neardup_core::Measure;
    /// use neardup_core::parameters::Predicate;
    ///
    /// let within = Predicate::shared(Measure::Dice, 1).and_within(2);
    /// assert!(within.passes(3, 4, 4) && !within.passes(3, 4, 5) && !within.passes(0, 1, 1));
    /// ```
    #[must_use]
    pub fn and_within(self, distance: u32) -> Self {
        match self {
            Self::Sets(sets) => Self::Sets(SetPredicate { distance: distance.into(), ..sets }),
            Self::Grams(_) => self,
        }
    }

    /// Adds the condition of at least `min_overlap` shared tokens. A predicate for grams stays as
    /// it is.
    ///
    /// ```
    /// use neardup_core::Measure;
    /// use neardup_core::parameters::Predicate;
    ///
    /// let both = Predicate::new(Measure::Overlap, 1.0)?.and_shared(2);
    /// assert!(both.passes(2, 2, 9) && !both.passes(1, 1, 9));
    /// # Ok::<(), neardup_core::Error>(())
    /// ```
    #[must_use]
    pub fn and_shared(self, min_overlap: u32) -> Self {
        match self {
            Self::Sets(sets) => Self::Sets(SetPredicate { shared: min_overlap.max(1), ..sets }),
            Self::Grams(_) => self,
        }
    }

    /// Returns the least similarity; 0 if shared tokens alone decide.
    ///
    /// ```
    /// use neardup_core::Measure;
    /// use neardup_core::parameters::Predicate;
    ///
    /// assert_eq!(Predicate::shared(Measure::Jaccard, 3).threshold(), 0.0);
    /// ```
    pub fn threshold(&self) -> f64 {
        match self {
            Self::Sets(sets) => sets.similarity,
            Self::Grams(_) => 0.0,
        }
    }

    /// Returns the similarity that is reported for a pair. For gram sets it is the Jaccard
    /// similarity.
    ///
    /// ```
    /// use neardup_core::Measure;
    /// use neardup_core::parameters::Predicate;
    ///
    /// assert_eq!(Predicate::new(Measure::Jaccard, 0.9)?.similarity(1, 2, 3), 0.25);
    /// # Ok::<(), neardup_core::Error>(())
    /// ```
    #[inline]
    pub fn similarity(&self, shared: u32, left: u32, right: u32) -> f64 {
        let measure = match self {
            Self::Sets(sets) => sets.measure,
            Self::Grams(_) => Measure::Jaccard,
        };
        measure.similarity(shared, left, right)
    }

    /// Reports whether a pair passes.
    ///
    /// ```
    /// use neardup_core::Measure;
    /// use neardup_core::parameters::Predicate;
    ///
    /// let predicate = Predicate::new(Measure::Containment, 0.75)?;
    /// assert!(predicate.passes(3, 4, 900) && !predicate.passes(3, 5, 3));
    /// # Ok::<(), neardup_core::Error>(())
    /// ```
    #[inline]
    pub fn passes(&self, shared: u32, left: u32, right: u32) -> bool {
        match self {
            Self::Sets(sets) => sets.pass(shared, left, right),
            Self::Grams(bound) => bound.least_overlap(left, right).is_some_and(|least| shared >= least),
        }
    }

    /// Returns the least number of shared tokens with which sets of these sizes pass, or `None` if
    /// the sets do not even pass if one is a subset of the other. O(1).
    ///
    /// ```
    /// use neardup_core::Measure;
    /// use neardup_core::parameters::Predicate;
    ///
    /// let predicate = Predicate::new(Measure::Jaccard, 0.5)?;
    /// assert_eq!((predicate.least_overlap(4, 5), predicate.least_overlap(1, 5)), (Some(3), None));
    /// # Ok::<(), neardup_core::Error>(())
    /// ```
    #[inline]
    pub fn least_overlap(&self, left: u32, right: u32) -> Option<u32> {
        match self {
            Self::Sets(sets) => sets.least_overlap(left, right),
            Self::Grams(bound) => bound.least_overlap(left, right),
        }
    }

    /// Returns the least number of shared tokens with which a set of size `left` and any set of
    /// size `right` or more pass. Returns `None` if sets of exactly these sizes do not pass. O(1).
    #[inline]
    #[cfg_attr(not(feature = "internals"), doc(hidden))]
    pub fn least_overlap_from(&self, left: u32, right: u32) -> Option<u32> {
        let least = self.least_overlap(left, right)?;
        Some(match self {
            // The least overlap never falls when a set grows.
            Self::Sets(_) => least,
            Self::Grams(bound) => bound.least_overlap_from(left, right),
        })
    }

    /// Returns the number by which |x| + |y| - 2·(least overlap), as a function of one size, may
    /// exceed the greater of its values at a smaller and at a greater size. For every measure the
    /// function is convex, except that the overlap is a whole number, which differs from its
    /// formula by at most one and a rounding error.
    #[cfg_attr(not(feature = "internals"), doc(hidden))]
    pub fn ripple(&self) -> u32 {
        const ROUNDED: u32 = 4;
        match self {
            Self::Sets(_) => ROUNDED,
            Self::Grams(bound) => ROUNDED + bound.ripple(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ties_at_the_threshold_are_in() {
        let jaccard = |t| Predicate::new(Measure::Jaccard, t).unwrap();
        assert!(jaccard(0.8).passes(4, 4, 5));
        assert!(jaccard(0.833_333_333_333_333_4).passes(5, 5, 6));
        assert!(!jaccard(0.833_333_333_333_333_5).passes(5, 5, 6));
        assert!(Predicate::new(Measure::Cosine, 0.8).unwrap().passes(4, 5, 5));
    }

    #[test]
    fn every_measure_says_what_it_reports_is_in() {
        for measure in Measure::ALL {
            for (x, y) in [(1, 1), (3, 7), (13, 29), (100, 63), (1_000_003, 999_983)] {
                for shared in 1..=x.min(y).min(40) {
                    let shared = x.min(y) - (shared - 1);
                    let t = measure.similarity(shared, x, y);
                    let p = Predicate::new(measure, t.min(1.0)).unwrap();
                    assert!(p.passes(shared, x, y), "{measure:?} {shared} of {x}, {y}");
                    assert!(p.least_overlap(x, y).unwrap() <= shared);
                }
            }
        }
    }

    #[test]
    fn least_overlap_is_least_for_every_size() {
        let mut thresholds: Vec<f64> = (1..=100).map(|n| f64::from(n) / 100.0).collect();
        thresholds.extend([
            1e-9,
            1.0 / 3.0,
            2.0 / 3.0,
            5.0 / 6.0,
            0.8f64.next_down(),
            0.8f64.next_up(),
            0.55,
        ]);
        for measure in Measure::ALL {
            for &t in &thresholds {
                let p = Predicate::new(measure, t).unwrap();
                for x in 1..=40 {
                    for y in 1..=40 {
                        let expected = (1..=x.min(y)).find(|&o| measure.similarity(o, x, y) >= t);
                        assert_eq!(p.least_overlap(x, y), expected, "{measure:?} {t} {x} {y}");
                        let expected = (5..=x.min(y)).find(|&o| measure.similarity(o, x, y) >= t);
                        assert_eq!(p.and_shared(5).least_overlap(x, y), expected);
                        let within = |o: &u32| measure.similarity(*o, x, y) >= t && x + y - 2 * o <= 7;
                        let expected = (1..=x.min(y)).find(within);
                        assert_eq!(p.and_within(7).least_overlap(x, y), expected);
                    }
                }
            }
        }
    }

    /// Checks the traps of docs/design/algorithms.md section 8: least overlaps of sizes up to some
    /// thousands against integers.
    #[test]
    fn least_overlap_agrees_with_integers() {
        for percent in [55u64, 64, 70, 80, 90, 95] {
            let t = percent as f64 / 100.0;
            for (x, y) in (1..4000u32).flat_map(|x| [(x, x), (x, x + x / 10), (x, x + 1)]) {
                let ceil = |n: u64, d: u64| u32::try_from(n.div_ceil(d)).unwrap();
                let sum = u64::from(x) + u64::from(y);
                let checks = [
                    (Measure::Jaccard, ceil(percent * sum, 100 + percent)),
                    (Measure::Dice, ceil(percent * sum, 200)),
                    (Measure::Overlap, ceil(percent * u64::from(x.min(y)), 100)),
                    (Measure::Containment, ceil(percent * u64::from(x), 100)),
                    (Measure::Coverage, ceil(percent * u64::from(y), 100)),
                ];
                for (measure, expected) in checks {
                    let found = Predicate::new(measure, t).unwrap().least_overlap(x, y);
                    assert_eq!(found, Some(expected).filter(|&o| o <= x.min(y)), "{measure:?} {t} {x} {y}");
                }
                let product = u128::from(x) * u128::from(y);
                let cosine = Predicate::new(Measure::Cosine, t).unwrap().least_overlap(x, y);
                let enough = |o: u32| u128::from(o).pow(2) * 10_000 >= u128::from(percent).pow(2) * product;
                if let Some(o) = cosine {
                    assert!(enough(o) && !enough(o - 1), "cosine {t} {x} {y}: {o}");
                } else {
                    assert!(!enough(x.min(y)));
                }
            }
        }
    }

    #[test]
    fn thresholds_outside_the_range_are_refused() {
        for t in [0.0, -1.0, 1.000_000_1, f64::NAN, f64::INFINITY] {
            assert!(Predicate::new(Measure::Jaccard, t).is_err(), "{t}");
        }
    }
}
