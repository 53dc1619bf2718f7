//! Similarity of two sets from their sizes and the number of shared tokens (docs/design/algorithms.md section 8).
//!
//! Each measure is one correctly rounded division (cosine: of a correctly rounded square root), so
//! that its float8 is the same everywhere. A pair is similar exactly when that float8 is >= the
//! threshold's: [`Predicate`] never decides by anything else.

use super::edit::GramBound;
use crate::error::{Error, Result};

/// What similarity means.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Measure {
    /// Shared / all: |x∩y| / |x∪y|.
    Jaccard,
    /// |x∩y| / √(|x|·|y|).
    Cosine,
    /// 2·|x∩y| / (|x|+|y|).
    Dice,
    /// The share of the smaller set: |x∩y| / min(|x|,|y|), the greater of the two containments.
    Overlap,
    /// The share of the left set that the right one contains: |x∩y| / |x|.
    Containment,
}

impl Measure {
    /// The similarity, 0 to 1, of a left and a right set that share `shared` tokens; 0 where a set
    /// is empty. Never falls when `shared` grows, never grows with a size.
    #[inline]
    pub fn similarity(self, shared: u32, left: u32, right: u32) -> f64 {
        let (o, x, y) = (f64::from(shared), f64::from(left), f64::from(right));
        let divisor = match self {
            Self::Jaccard => x + y - o,
            Self::Cosine => (x * y).sqrt(),
            Self::Dice => (x + y) / 2.0,
            Self::Overlap => x.min(y),
            Self::Containment => x,
        };
        if shared == 0 { 0.0 } else { o / divisor }
    }

    /// The real least overlap for threshold `t`, to within rounding: a place to start a search.
    fn estimate(self, t: f64, left: u32, right: u32) -> f64 {
        let (x, y) = (f64::from(left), f64::from(right));
        match self {
            Self::Jaccard => t / (1.0 + t) * (x + y),
            Self::Cosine => t * (x * y).sqrt(),
            Self::Dice => t / 2.0 * (x + y),
            Self::Overlap => t * x.min(y),
            Self::Containment => t * x,
        }
    }
}

/// Checks a threshold that a user gave: in (0, 1].
pub fn check_threshold(threshold: f64) -> Result<()> {
    if threshold > 0.0 && threshold <= 1.0 {
        return Ok(());
    }
    let allowed = "greater than 0 and at most 1";
    Err(Error::Parameter { name: "threshold", value: threshold.to_string(), allowed })
}

/// Which pairs are in: similarity and shared tokens reach their thresholds.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Predicate {
    measure: Measure,
    threshold: f64,
    min_overlap: u32,
    /// Where there is one, it decides instead.
    grams: Option<GramBound>,
}

impl Predicate {
    /// Pairs with `measure >= threshold`, in (0, 1].
    pub fn new(measure: Measure, threshold: f64) -> Result<Self> {
        check_threshold(threshold)?;
        Ok(Self { measure, threshold, min_overlap: 1, grams: None })
    }

    /// Pairs with at least `min_overlap` shared tokens (at least 1), whatever their similarity by
    /// `measure`.
    pub fn shared(measure: Measure, min_overlap: u32) -> Self {
        Self { measure, threshold: 0.0, min_overlap: min_overlap.max(1), grams: None }
    }

    /// Pairs that share as many grams as similar texts do; to be verified. What is reported is the
    /// Jaccard similarity of the grams.
    pub fn grams(bound: GramBound) -> Self {
        Self { grams: Some(bound), ..Self::shared(Measure::Jaccard, 1) }
    }

    /// This one, and at least `min_overlap` shared tokens.
    #[must_use]
    pub fn and_shared(self, min_overlap: u32) -> Self {
        Self { min_overlap: min_overlap.max(1), ..self }
    }

    /// The least similarity; 0 where shared tokens alone decide.
    pub fn threshold(&self) -> f64 {
        self.threshold
    }

    /// The similarity that is reported of a pair.
    #[inline]
    pub fn similarity(&self, shared: u32, left: u32, right: u32) -> f64 {
        self.measure.similarity(shared, left, right)
    }

    /// Whether a pair is in.
    #[inline]
    pub fn passes(&self, shared: u32, left: u32, right: u32) -> bool {
        if let Some(grams) = &self.grams {
            return grams.least_overlap(left, right).is_some_and(|least| shared >= least);
        }
        shared >= self.min_overlap && self.measure.similarity(shared, left, right) >= self.threshold
    }

    /// The least number of shared tokens with which sets of these sizes pass; none where not even
    /// a subset would. Exact: the float only says where the search starts. O(1).
    #[inline]
    pub fn least_overlap(&self, left: u32, right: u32) -> Option<u32> {
        if let Some(grams) = &self.grams {
            return grams.least_overlap(left, right);
        }
        let most = left.min(right);
        if !self.passes(most, left, right) {
            return None;
        }
        // Saturates at both ends; NaN cannot occur.
        let start = self.measure.estimate(self.threshold, left, right).ceil() as u32;
        let mut least = start.clamp(self.min_overlap, most);
        while !self.passes(least, left, right) {
            least += 1;
        }
        while least > self.min_overlap && self.passes(least - 1, left, right) {
            least -= 1;
        }
        Some(least)
    }

    /// The least number of shared tokens with which sets of these sizes pass, or one of these and any
    /// larger one; none where sets of these sizes do not. O(1).
    #[inline]
    pub fn least_overlap_from(&self, left: u32, right: u32) -> Option<u32> {
        // For measures it never falls when a set grows.
        let least = self.least_overlap(left, right)?;
        Some(self.grams.map_or(least, |grams| grams.least_overlap_from(left, right)))
    }

    /// By how much |x| + |y| - 2·(least overlap), as a function of one size, may lie over the greater
    /// of its values at two sizes about it. For every measure it is convex, apart from the overlap
    /// being a whole number that is at most one and a rounding away from its formula.
    pub fn ripple(&self) -> u32 {
        4 + self.grams.map_or(0, |grams| grams.ripple())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MEASURES: [Measure; 5] =
        [Measure::Jaccard, Measure::Cosine, Measure::Dice, Measure::Overlap, Measure::Containment];

    #[test]
    fn ties_at_the_threshold_are_in() {
        let jaccard = |t| Predicate::new(Measure::Jaccard, t).unwrap();
        assert!(jaccard(0.8).passes(4, 4, 5));
        assert!(jaccard(0.833_333_333_333_333_4).passes(5, 5, 6));
        assert!(!jaccard(0.833_333_333_333_333_5).passes(5, 5, 6));
        assert!(Predicate::new(Measure::Cosine, 0.8).unwrap().passes(4, 5, 5));
        assert_eq!(Measure::Jaccard.similarity(4, 5, 5), 4.0 / 6.0);
        assert_eq!(Measure::Containment.similarity(3, 4, 6), 0.75);
        assert_eq!(Measure::Overlap.similarity(3, 6, 4), 0.75);
        assert_eq!(Measure::Jaccard.similarity(0, 0, 0), 0.0);
    }

    #[test]
    fn every_measure_says_what_it_reports_is_in() {
        for measure in MEASURES {
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
        for measure in MEASURES {
            for &t in &thresholds {
                let p = Predicate::new(measure, t).unwrap();
                for x in 1..=40 {
                    for y in 1..=40 {
                        let expected = (1..=x.min(y)).find(|&o| measure.similarity(o, x, y) >= t);
                        assert_eq!(p.least_overlap(x, y), expected, "{measure:?} {t} {x} {y}");
                        let expected = (5..=x.min(y)).find(|&o| measure.similarity(o, x, y) >= t);
                        assert_eq!(p.and_shared(5).least_overlap(x, y), expected);
                    }
                }
            }
        }
    }

    /// The traps of docs/design/algorithms.md section 8: least overlaps of sizes up to some thousands against integers.
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
