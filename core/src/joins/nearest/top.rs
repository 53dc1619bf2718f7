//! The best partners of a record: the rows of the greatest similarity, and of equally similar rows
//! those whose ids come first.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use crate::error::Result;
use crate::memory;

/// A row that is similar to a record. The worst of some rows is the greatest.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Partner {
    /// The bits of the similarity, which is above 0: they are in the order of the similarities.
    similarity: Reverse<u64>,
    /// The place of the row in the order of the ids.
    pub rank: u32,
}

impl Partner {
    /// Returns a row with its similarity.
    pub fn new(similarity: f64, rank: u32) -> Self {
        Self { similarity: Reverse(similarity.to_bits()), rank }
    }

    /// Returns the similarity.
    pub fn similarity(self) -> f64 {
        f64::from_bits(self.similarity.0)
    }
}

/// The best of the rows that were pushed.
#[derive(Debug)]
pub struct Top {
    most: usize,
    partners: BinaryHeap<Partner>,
}

impl Top {
    /// Creates a collection of the best `most` rows, at least one.
    pub fn new(most: usize) -> Self {
        Self { most: most.max(1), partners: BinaryHeap::new() }
    }

    /// Adds a row if it is one of the best, and reports whether it is. Each row must be added once
    /// only. O(log most).
    pub fn push(&mut self, partner: Partner) -> Result<bool> {
        /// For so many rows there is room from the beginning.
        const FEW: usize = 32;
        if self.partners.len() < self.most {
            let more = if self.partners.is_empty() { self.most.min(FEW) } else { 1 };
            memory::attempt("keeping the nearest", || self.partners.try_reserve(more))?;
            self.partners.push(partner);
            return Ok(true);
        }
        let Some(mut worst) = self.partners.peek_mut() else { return Ok(false) };
        let better = partner < *worst;
        if better {
            *worst = partner;
        }
        Ok(better)
    }

    /// Returns the worst row, if there are as many rows as are wanted: only better rows can be
    /// added.
    pub fn worst(&self) -> Option<Partner> {
        self.partners.peek().copied().filter(|_| self.partners.len() == self.most)
    }

    /// Removes all rows.
    pub fn clear(&mut self) {
        self.partners.clear();
    }

    /// Takes the rows, in any order.
    pub fn take(&mut self) -> Vec<Partner> {
        std::mem::take(&mut self.partners).into_vec()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn the_best_are_kept(
            similarities in prop::collection::vec(prop::sample::select(vec![0.25, 0.5, 1.0]), 0..40),
            most in 1..12usize,
        ) {
            let mut top = Top::new(most);
            let all: Vec<(f64, u32)> =
                similarities.into_iter().zip((0..).map(|n: u32| n * 7 % 41)).collect();
            let mut expected = all.clone();
            expected.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
            expected.truncate(most);
            for (similarity, rank) in all {
                top.push(Partner::new(similarity, rank)).unwrap();
            }
            prop_assert_eq!(top.worst().is_some(), expected.len() == most);
            let mut kept = top.take();
            kept.sort_unstable();
            let kept: Vec<_> =
                kept.into_iter().map(|partner| (partner.similarity(), partner.rank)).collect();
            prop_assert_eq!(kept, expected);
        }
    }
}
