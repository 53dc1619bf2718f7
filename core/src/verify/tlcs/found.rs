//! The result of a comparison of two texts, and its cost.

use std::ops::Range;

use crate::verify::lcs::{containment, resemblance};

/// A part of both texts that counts as shared.
///
/// ```
/// use neardup_core::Stop;
/// use neardup_core::compare::{TlcsComparer, TlcsPart};
///
/// let mut comparer = TlcsComparer::new(Default::default())?;
/// let found = comparer.compare("quay", "quay", None, &Stop::default())?.expect("no threshold");
/// assert_eq!(found.parts, [TlcsPart { left: 0..4, right: 0..4, length: 4 }]);
/// # Ok::<(), neardup_core::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SharedPart {
    /// The range in the left text, in characters from 0.
    pub left: Range<usize>,
    /// The range in the right text.
    pub right: Range<usize>,
    /// The number of characters that both texts have in common in these ranges.
    pub length: usize,
}

/// The common parts of two texts.
///
/// ```
/// use neardup_core::compare::TlcsFound;
///
/// let found = TlcsFound { shared: 6, left: 12, right: 6, parts: Vec::new() };
/// assert_eq!((found.resemblance(), found.containment()), (12.0 / 18.0, 1.0));
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Found {
    /// The number of characters that the texts share.
    pub shared: usize,
    /// The number of characters of the left text that counted. A run of white space counts as one.
    pub left: usize,
    /// The number of characters of the right text that counted.
    pub right: usize,
    /// The parts that count, in the order in which they were found.
    pub parts: Vec<SharedPart>,
}

impl Found {
    /// Returns 2·|TLCS| / (|A| + |B|).
    ///
    /// It is from 0 to 1.
    ///
    /// ```
    /// use neardup_core::compare::TlcsFound;
    ///
    /// let found = TlcsFound { shared: 3, left: 4, right: 4, parts: Vec::new() };
    /// assert_eq!(found.resemblance(), 0.75);
    /// ```
    pub fn resemblance(&self) -> f64 {
        resemblance(self.shared, self.left, self.right)
    }

    /// Returns the share of the right text that is in the TLCS.
    ///
    /// It is from 0 to 1.
    ///
    /// ```
    /// use neardup_core::compare::TlcsFound;
    ///
    /// let found = TlcsFound { shared: 3, left: 9, right: 4, parts: Vec::new() };
    /// assert_eq!(found.containment(), 0.75);
    /// ```
    pub fn containment(&self) -> f64 {
        containment(self.shared, self.right)
    }

    /// Adds a part.
    pub(super) fn take(&mut self, length: usize, left: Range<usize>, right: Range<usize>) {
        self.shared += length;
        self.parts.push(SharedPart { left, right, length });
    }
}

/// Counters of comparisons.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Steps {
    /// The number of pairs whose sketches are too short, or cannot have a long enough trustable
    /// part. No LCS was computed for these pairs.
    pub filtered: u64,
    /// The number of pairs whose LCS was computed.
    pub aligned: u64,
    /// The number of characters of all pairs.
    pub characters: u64,
    /// The number of characters of all pairs that are in the sketches.
    pub kept: u64,
}
