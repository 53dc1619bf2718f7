//! What a comparison of two texts finds, and what it took.

use std::ops::Range;

use crate::verify::lcs::{containment, resemblance};

/// A part of both texts that counts as shared.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Part {
    /// Where it is in the left text, in characters from 0.
    pub left: Range<usize>,
    /// Where it is in the right one.
    pub right: Range<usize>,
    /// The characters that both have in common there.
    pub length: usize,
}

/// What two texts have in common.
#[derive(Debug, Clone, PartialEq)]
pub struct Found {
    /// The characters that they share.
    pub shared: usize,
    /// The characters of the left text that counted, runs of white space as one.
    pub left: usize,
    /// Those of the right one.
    pub right: usize,
    /// The parts that count, in the order in which they were found.
    pub parts: Vec<Part>,
}

impl Found {
    /// 2·|TLCS| / (|A| + |B|).
    pub fn resemblance(&self) -> f64 {
        resemblance(self.shared, self.left, self.right)
    }

    /// The share of the right text that is in the TLCS.
    pub fn containment(&self) -> f64 {
        containment(self.shared, self.right)
    }

    /// Adds a part.
    pub(super) fn take(&mut self, length: usize, left: Range<usize>, right: Range<usize>) {
        self.shared += length;
        self.parts.push(Part { left, right, length });
    }
}

/// Counts what became of comparisons.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Steps {
    /// Pairs whose sketches are too short, or hold too little that is trustable: no LCS was computed.
    pub filtered: u64,
    /// Pairs whose LCS was computed.
    pub aligned: u64,
    /// Characters of pairs, and those of them in their sketches.
    pub characters: u64,
    /// See `characters`.
    pub kept: u64,
}
