//! The parameters of a comparison of two texts, and the thresholds of near duplicates.

use crate::error::{Error, Result};
use crate::verify::lcs::{containment, resemblance};
use crate::verify::measure::least_near;
use crate::verify::region::BLOCKS;

/// The parameters of a comparison.
///
/// The defaults suit pages of the web.
///
/// ```
/// use neardup_core::Stop;
/// use neardup_core::compare::TlcsComparer;
/// use neardup_core::parameters::TlcsParameters;
///
/// // The plain longest common subsequence.
/// let plain = TlcsParameters { window: 0, trustable: false, first: 0, ..Default::default() };
/// let found = TlcsComparer::new(plain)?.compare("abcabba", "cbabac", None, &Stop::default())?;
/// assert_eq!(found.map(|found| found.shared), Some(4));
/// # Ok::<(), neardup_core::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Parameters {
    /// The width of the windows of filtered sketches; 0 compares whole texts.
    pub window: u32,
    /// True if only the part of the LCS in the trustable region counts.
    pub trustable: bool,
    /// The greatest number of insertions and deletions per character of the region.
    pub slope: f64,
    /// The number of blocks that the text is cut into to find the region.
    pub blocks: u32,
    /// The part of the shorter text that the region must touch, as shares of the text's length.
    pub centre: [f64; 2],
    /// The number of display columns at the start of each text that count; 0 for all.
    pub first: u64,
    /// The least number of matched characters of a further region. Further regions are searched in
    /// the characters that earlier regions leave of the texts, by the same rules; 0 if only one
    /// region is searched.
    pub least_part: u32,
}

impl Default for Parameters {
    fn default() -> Self {
        Self {
            window: 16,
            trustable: true,
            slope: 0.1,
            blocks: BLOCKS as u32,
            centre: [0.4, 0.6],
            first: 10 << 10,
            least_part: 0,
        }
    }
}

impl Parameters {
    /// Fails for values outside their ranges.
    ///
    /// ```
    /// use neardup_core::parameters::TlcsParameters;
    ///
    /// assert!(TlcsParameters::default().check().is_ok());
    /// assert!(TlcsParameters { blocks: 0, ..Default::default() }.check().is_err());
    /// ```
    pub fn check(&self) -> Result<()> {
        const WIDEST: u32 = 1000;
        let wrong = |name, value: String, allowed| Err(Error::Parameter { name, value, allowed });
        if self.window > WIDEST {
            return wrong("window", self.window.to_string(), "between 0 and 1000");
        }
        if !(0.0..1.0).contains(&self.slope) {
            return wrong("slope", self.slope.to_string(), "at least 0 and less than 1");
        }
        if !(1..=1000).contains(&self.blocks) {
            return wrong("blocks", self.blocks.to_string(), "between 1 and 1000");
        }
        let [from, to] = self.centre;
        if !(0.0 <= from && from <= to && to <= 1.0) {
            return wrong("centre", format!("{from} to {to}"), "two ascending shares between 0 and 1");
        }
        Ok(())
    }
}

/// The thresholds of near duplicates: a pair must reach one of the two.
///
/// ```
/// use neardup_core::parameters::TlcsThresholds;
///
/// let thresholds = TlcsThresholds { resemblance: 0.28, containment: Some(0.7) };
/// assert!(thresholds.pass(70, 1000, 100) && !thresholds.pass(69, 1000, 100));
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Thresholds {
    /// The threshold of the resemblance, above 0.
    pub resemblance: f64,
    /// The threshold of the greater of both containments, above 0; `None` if containment does not
    /// count.
    pub containment: Option<f64>,
}

impl Thresholds {
    /// Reports whether texts of `left` and `right` characters that share `shared` are near
    /// duplicates.
    ///
    /// ```
    /// use neardup_core::parameters::TlcsThresholds;
    ///
    /// let thresholds = TlcsThresholds { resemblance: 0.5, containment: None };
    /// assert!(thresholds.pass(2, 4, 4) && !thresholds.pass(1, 4, 4));
    /// ```
    pub fn pass(&self, shared: usize, left: usize, right: usize) -> bool {
        resemblance(shared, left, right) >= self.resemblance
            || self.containment.is_some_and(|least| containment(shared, left.min(right)) >= least)
    }

    /// Returns the least number of shared characters with which two texts pass. If no number
    /// passes, returns a number that is greater than the length of the shorter text.
    #[cfg_attr(not(feature = "internals"), doc(hidden))]
    pub fn least(&self, left: usize, right: usize) -> usize {
        let most = left.min(right);
        // The result is close to these products. The exact number is found by trying.
        let of_resemblance = self.resemblance * (left + right) as f64 / 2.0;
        let of_containment = self.containment.map_or(f64::INFINITY, |least| least * most as f64);
        let guess = of_resemblance.min(of_containment).ceil() as usize;
        least_near(guess, 1..=most + 1, |shared| self.pass(shared, left, right))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn least_is_least() {
        for (resemblance, containment) in [(0.28, Some(0.7)), (1.0, None), (0.3, Some(0.3)), (1e-9, None)] {
            let thresholds = Thresholds { resemblance, containment };
            for left in 0..60 {
                for right in 0..60 {
                    let all = (1..=left.min(right)).find(|&n| thresholds.pass(n, left, right));
                    assert_eq!(thresholds.least(left, right), all.unwrap_or(left.min(right) + 1));
                }
            }
        }
    }

    #[test]
    fn parameters_outside_their_ranges_are_refused() {
        let good = Parameters::default();
        for bad in [
            Parameters { window: 1001, ..good },
            Parameters { slope: 1.0, ..good },
            Parameters { slope: f64::NAN, ..good },
            Parameters { centre: [0.6, 0.4], ..good },
            Parameters { centre: [-0.1, 0.4], ..good },
        ] {
            assert!(bad.check().is_err(), "{bad:?}");
        }
    }
}
