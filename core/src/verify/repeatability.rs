//! Repeatability (Guo et al., section III.B; docs/design/algorithms.md section 7): the length of
//! the longest common substring of two feature codes, divided by the length of the code that may be
//! a part of the other code.
//!
//! ```
//! use neardup_core::Stop;
//! use neardup_core::compare::repeatability;
//!
//! let stop = Stop::default();
//! let [a, b] = ["王示一差站高只事就示对题最机给害严府形象", "在中哈服地统学责水造和海一七最座成架人"];
//! assert_eq!(repeatability(a, b, &stop)?, 1.0 / 19.0);
//! assert_eq!(repeatability(b, a, &stop)?, 1.0 / 20.0);
//! # Ok::<(), neardup_core::Error>(())
//! ```

use super::automaton::SuffixAutomaton;
use super::measure::least_near;
use crate::error::Result;
use crate::executor::Stop;

/// Returns the repeatability of code `contained` over code `container`: 0 to 1, and 0 if one is
/// empty. O(characters).
///
/// Repeatability is the length of the longest common substring of both codes, as a share of the
/// length of `contained` (Guo and others, section III.B). Fails only if memory is short, and after
/// a request to stop.
///
/// ```
/// use neardup_core::Stop;
/// use neardup_core::compare::repeatability;
///
/// let stop = Stop::default();
/// assert_eq!(repeatability("xabcx", "abc", &stop)?, 1.0);
/// assert_eq!(repeatability("abc", "xabcx", &stop)?, 0.6);
/// # Ok::<(), neardup_core::Error>(())
/// ```
pub fn repeatability(container: &str, contained: &str, stop: &Stop) -> Result<f64> {
    let lengths = [container, contained].map(|code| code.chars().count() as u32);
    let mut automaton = SuffixAutomaton::new()?;
    // The length of the common substring does not depend on which code is indexed.
    let (indexed, other, length) = if lengths[0] < lengths[1] {
        (container, contained, lengths[1])
    } else {
        (contained, container, lengths[0])
    };
    automaton.add(indexed, 0, stop)?;
    let common = automaton.longest_match(other, length, 1, stop)?.map_or(0, |found| found.length);
    Ok(share(common, lengths[1]))
}

/// Returns `common / length`, rounded once; 0 for an empty code.
#[inline]
pub fn share(common: u32, length: u32) -> f64 {
    if length == 0 { 0.0 } else { f64::from(common) / f64::from(length) }
}

/// Returns the least length of a common substring that makes a code of `length > 0` characters
/// reach `threshold`, which is above 0 and at most 1. It is exact: it agrees with [`share`].
pub fn least_common(length: u32, threshold: f64) -> u32 {
    // The result is close to the product, which may be rounded either way.
    let guess = (threshold * f64::from(length)) as usize;
    least_near(guess, 1..=length.max(1) as usize, |least| share(least as u32, length) >= threshold) as u32
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn least_common_is_exact() {
        for threshold in [0.01, 0.1, 0.3, 1.0 / 3.0, 0.55, 0.7, 0.75, 0.8, 0.8333333333333334, 0.99, 1.0] {
            for length in 1..2000 {
                let least = (1..=length).find(|&common| share(common, length) >= threshold);
                assert_eq!(Some(least_common(length, threshold)), least, "{threshold} {length}");
            }
        }
    }

    #[test]
    fn empty_codes() {
        let stop = &Stop::default();
        for (a, b) in [("", ""), ("a", ""), ("", "a"), ("a", "b")] {
            assert_eq!(repeatability(a, b, stop), Ok(0.0));
        }
        assert_eq!(repeatability("xabcx", "abc", stop), Ok(1.0));
        assert_eq!(repeatability("abc", "xabcx", stop), Ok(0.6));
    }
}
