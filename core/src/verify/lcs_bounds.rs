//! Bounds that are known before a longest common subsequence is computed: how far apart the texts
//! are at most.

/// The required and the known length of a longest common subsequence.
#[derive(Debug, Clone, Copy, Default)]
pub struct Bounds {
    /// The least length that the caller wants.
    pub least: usize,
    /// A length that the subsequence reaches for certain; 0 if nothing is known.
    pub known: usize,
}

impl Bounds {
    /// Requires `least` characters; nothing is known.
    pub fn least(least: usize) -> Self {
        Self { least, known: 0 }
    }

    /// Returns the greatest number of insertions and deletions to look for between texts of `total`
    /// characters together.
    pub(super) fn most(self, total: usize) -> usize {
        total.saturating_sub(2 * self.least.max(self.known))
    }
}
