//! What is known of a longest common subsequence before it is looked for: how far apart the texts are at most.

/// What is asked of a longest common subsequence, and what is known of it.
#[derive(Debug, Clone, Copy, Default)]
pub struct Bounds {
    /// Shorter ones are not wanted.
    pub least: usize,
    /// It is no shorter than this; 0 where nothing is known.
    pub known: usize,
}

impl Bounds {
    /// Nothing is known.
    pub fn least(least: usize) -> Self {
        Self { least, known: 0 }
    }

    /// The most insertions and deletions that are looked for between texts of so many characters.
    pub(super) fn most(self, total: usize) -> usize {
        total.saturating_sub(2 * self.least.max(self.known))
    }
}
