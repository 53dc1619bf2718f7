//! Bounds that are known before a longest common subsequence is computed. They limit the number of
//! insertions and deletions between the texts.

/// The required and the known length of a longest common subsequence.
///
/// The bounds save time and do not change any length that is returned.
///
/// ```
/// use neardup_core::Stop;
/// use neardup_core::compare::{Lcs, LcsBounds};
///
/// let bounds = LcsBounds { least: 2, known: 1 };
/// assert_eq!(Lcs::default().length(&[1, 2, 3], &[1, 3], bounds, &Stop::default())?, Some(2));
/// # Ok::<(), neardup_core::Error>(())
/// ```
#[derive(Debug, Clone, Copy, Default)]
pub struct LcsBounds {
    /// The least length that the caller wants.
    pub least: usize,
    /// A length that the subsequence certainly has at least; 0 if nothing is known.
    pub known: usize,
}

impl LcsBounds {
    /// Requires `least` characters; nothing is known.
    ///
    /// ```
    /// use neardup_core::compare::LcsBounds;
    ///
    /// let bounds = LcsBounds::least(9);
    /// assert_eq!((bounds.least, bounds.known), (9, 0));
    /// ```
    pub fn least(least: usize) -> Self {
        Self { least, known: 0 }
    }

    /// Returns the greatest number of insertions and deletions to look for between texts of `total`
    /// characters together.
    pub(super) fn most(self, total: usize) -> usize {
        total.saturating_sub(2 * self.least.max(self.known))
    }
}
