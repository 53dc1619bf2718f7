//! The choice of bands and rows of minhash LSH so that a given recall is reached
//! (docs/design/algorithms.md section 2).
//!
//! A sketch is cut into b bands of r values. Two documents of resemblance s share a band, and so
//! are found, with probability 1 - (1 - s^r)^b. The plan guarantees that this probability is at
//! least the requested recall at the threshold, hence above it too. Most tools choose b and r
//! differently, by the areas under the curve of this probability left and right of the threshold,
//! and find only about half of the pairs whose similarity is exactly at the threshold.

use crate::error::{Error, Result};
use crate::joins::sets::bounds::partition;
use crate::sketches::minhash::MOST_PERMUTATIONS;

/// A number of bands that all have the same number of rows.
///
/// Two documents of resemblance s share a band with the probability 1 - (1 - s^rows)^bands (Broder,
/// SEQUENCES 1997; Leskovec, Rajaraman, Ullman, *Mining of Massive Datasets*, section 3.4).
///
/// ```
/// let plan = neardup_core::parameters::Banding { bands: 14, rows: 8 };
/// assert_eq!(plan.values(), 112);
/// assert!(plan.detection(0.9) > 0.99 && plan.detection(0.5) < 0.06);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Banding {
    /// The number of bands.
    pub bands: usize,
    /// The number of values in a band.
    pub rows: usize,
}

impl Banding {
    /// The greatest number of values of a sketch that a plan may require.
    pub const MOST_VALUES: usize = MOST_PERMUTATIONS;

    /// Returns a plan with the given numbers of bands and rows. Fails unless both are at least 1
    /// and their product is at most [`Banding::MOST_VALUES`].
    ///
    /// ```
    /// use neardup_core::parameters::Banding;
    ///
    /// assert_eq!(Banding::new(20, 5)?.values(), 100);
    /// assert!(Banding::new(0, 5).is_err() && Banding::new(1000, 5).is_err());
    /// # Ok::<(), neardup_core::Error>(())
    /// ```
    pub fn new(bands: u64, rows: u64) -> Result<Self> {
        let most = Self::MOST_VALUES as u64;
        for (name, value) in [("bands", bands), ("rows", rows)] {
            if !(1..=most).contains(&value) {
                return Err(Error::Parameter { name, value: value.to_string(), allowed: "from 1 to 2048" });
            }
        }
        if bands * rows > most {
            let value = (bands * rows).to_string();
            return Err(Error::Parameter { name: "bands times rows", value, allowed: "at most 2048" });
        }
        Ok(Self { bands: bands as usize, rows: rows as usize })
    }

    /// Returns the cheapest plan that finds a pair of resemblance `threshold` with probability at
    /// least `recall`, which is below 1. The cost is made up of the values that are computed for
    /// each shingle and the pairs that are found but not similar.
    ///
    /// Fails if no plan of at most 2048 values reaches the recall, if `recall` is outside (0, 1),
    /// or if `threshold` is outside (0, 1].
    ///
    /// ```
    /// use neardup_core::parameters::Banding;
    ///
    /// let plan = Banding::for_recall(0.8, 0.95)?;
    /// assert!(plan.detection(0.8) >= 0.95 && plan.values() < 300);
    /// assert!(Banding::for_recall(0.001, 0.999).is_err());
    /// # Ok::<(), neardup_core::Error>(())
    /// ```
    pub fn for_recall(threshold: f64, recall: f64) -> Result<Self> {
        if !(recall > 0.0 && recall < 1.0) {
            let value = recall.to_string();
            return Err(Error::Parameter {
                name: "recall",
                value,
                allowed: "greater than 0 and less than 1",
            });
        }
        crate::verify::measure::check_threshold(threshold)?;
        let mut best: Option<(f64, Self)> = None;
        for rows in 1..=Self::MOST_VALUES {
            let Some(plan) = Self::with_rows(rows, threshold, recall) else { break };
            let work = plan.work(threshold);
            if best.is_none_or(|(least, _)| work < least) {
                best = Some((work, plan));
            }
        }
        best.map(|(_, plan)| plan).ok_or_else(|| Error::Parameter {
            name: "recall",
            value: recall.to_string(),
            allowed: "one that 2048 values of a sketch can keep at this threshold",
        })
    }

    /// Returns the plan with the fewest bands of `rows` rows that reaches the recall.
    fn with_rows(rows: usize, threshold: f64, recall: f64) -> Option<Self> {
        // There are at most 2048 values.
        let most = (Self::MOST_VALUES / rows) as u32;
        let plan = |bands: u32| Self { bands: bands as usize, rows };
        let bands = partition(1, most, |bands| plan(bands).detection(threshold) < recall);
        (bands <= most).then(|| plan(bands))
    }

    /// Estimates the cost of a plan, in values computed for a document. Most pairs of documents
    /// have little in common, and the more a pair has in common, the fewer such pairs there are. So
    /// the detection probability at a resemblance has more weight the further the resemblance is
    /// below the threshold.
    fn work(&self, threshold: f64) -> f64 {
        /// The weight of the pairs that are compared in vain, given how many such pairs there may
        /// be.
        const IN_VAIN: f64 = 3e4;
        const STEPS: u32 = 100;
        let step = threshold / f64::from(STEPS);
        let in_vain: f64 = (0..STEPS)
            .map(|n| {
                let s = (f64::from(n) + 0.5) * step;
                self.detection(s) * (-8.0 * s / threshold).exp() * step
            })
            .sum();
        self.values() as f64 + IN_VAIN * in_vain
    }

    /// Returns the number of values of a sketch.
    ///
    /// ```
    /// assert_eq!(neardup_core::parameters::Banding { bands: 26, rows: 11 }.values(), 286);
    /// ```
    pub fn values(&self) -> usize {
        self.bands * self.rows
    }

    /// Returns the probability that a pair of this resemblance is found.
    ///
    /// ```
    /// let plan = neardup_core::parameters::Banding { bands: 2, rows: 1 };
    /// assert!((plan.detection(0.5) - 0.75).abs() < 1e-12);
    /// ```
    pub fn detection(&self, resemblance: f64) -> f64 {
        let band = resemblance.powi(self.rows as i32);
        // 1 - (1 - p)^b, accurate also for tiny p.
        -f64::exp_m1(self.bands as f64 * f64::ln_1p(-band))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_plan_keeps_its_recall() {
        for t in 1..=20 {
            for recall in [0.5, 0.9, 0.95, 0.99, 0.999] {
                let t = f64::from(t) / 20.0;
                let Ok(plan) = Banding::for_recall(t, recall) else {
                    assert!(t <= 0.05, "{t} {recall}");
                    continue;
                };
                assert!(plan.detection(t) >= recall, "{plan:?} {t} {recall}");
                assert!(plan.values() <= Banding::MOST_VALUES);
                // The plan has no more bands than needed.
                let fewer = Banding { bands: plan.bands - 1, ..plan };
                assert!(plan.bands == 1 || fewer.detection(t) < recall, "{plan:?} {t} {recall}");
            }
        }
    }

    #[test]
    fn detection_is_the_formula() {
        let plan = Banding::new(14, 8).unwrap();
        let expected = 1.0 - (1.0 - 0.8f64.powi(8)).powi(14);
        assert!((plan.detection(0.8) - expected).abs() < 1e-12);
        assert_eq!((plan.detection(0.0), plan.detection(1.0)), (0.0, 1.0));
    }

    #[test]
    fn refuses_what_has_no_meaning() {
        for recall in [0.0, 1.0, -1.0, f64::NAN] {
            assert!(Banding::for_recall(0.8, recall).is_err());
        }
        assert!(Banding::for_recall(0.0, 0.9).is_err() && Banding::for_recall(1.5, 0.9).is_err());
        assert!(Banding::new(0, 1).is_err() && Banding::new(33, 64).is_err() && Banding::new(32, 64).is_ok());
    }
}
