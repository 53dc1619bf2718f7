//! The result of a comparison of two texts, and its cost.

use std::ops::Range;

use crate::verify::lcs::{containment, resemblance};

/// A part of both texts that counts as shared.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Part {
    /// The range in the left text, in characters from 0.
    pub left: Range<usize>,
    /// The range in the right text.
    pub right: Range<usize>,
    /// The number of characters that both have in common there.
    pub length: usize,
}

/// The common parts of two texts.
#[derive(Debug, Clone, PartialEq)]
pub struct Found {
    /// The number of characters that the texts share.
    pub shared: usize,
    /// The number of characters of the left text that counted. A run of white space counts as one.
    pub left: usize,
    /// The number of characters of the right text that counted.
    pub right: usize,
    /// The parts that count, in the order in which they were found.
    pub parts: Vec<Part>,
}

impl Found {
    /// Returns 2·|TLCS| / (|A| + |B|).
    pub fn resemblance(&self) -> f64 {
        resemblance(self.shared, self.left, self.right)
    }

    /// Returns the share of the right text that is in the TLCS.
    pub fn containment(&self) -> f64 {
        containment(self.shared, self.right)
    }

    /// Adds a part.
    pub(super) fn take(&mut self, length: usize, left: Range<usize>, right: Range<usize>) {
        self.shared += length;
        self.parts.push(Part { left, right, length });
    }
}

/// Counters of comparisons.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Steps {
    /// The number of pairs whose sketches are too short or hold too little that is trustable. No
    /// LCS was computed for them.
    pub filtered: u64,
    /// The number of pairs whose LCS was computed.
    pub aligned: u64,
    /// The number of characters of all pairs. `kept` counts those of them that are in the sketches.
    pub characters: u64,
    /// See `characters`.
    pub kept: u64,
}
