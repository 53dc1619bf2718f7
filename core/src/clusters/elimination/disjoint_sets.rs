//! Disjoint sets of numbers that several threads unite concurrently.

use std::sync::atomic::{AtomicU32, Ordering};

use crate::error::Result;
use crate::memory;

/// Disjoint sets of the numbers below a bound.
#[derive(Debug)]
pub struct DisjointSets(
    /// The parent of each number: a lesser number of the same set, or the number itself.
    Vec<AtomicU32>,
);

impl DisjointSets {
    /// Starts with `numbers` sets of one number each.
    pub fn new(numbers: usize, doing: &'static str) -> Result<Self> {
        let parents = memory::collect((0..numbers as u32).map(AtomicU32::new), doing)?;
        Ok(Self(parents))
    }

    /// Returns how many numbers there are.
    pub fn numbers(&self) -> usize {
        self.0.len()
    }

    /// Returns the least member of the set of a number.
    pub fn least(&self, mut member: u32) -> u32 {
        loop {
            let parent = self.0[member as usize].load(Ordering::Relaxed);
            if parent == member {
                return member;
            }
            // Paths are halved. No matter which thread writes last, the value is an ancestor of the
            // member.
            let above = self.0[parent as usize].load(Ordering::Relaxed);
            self.0[member as usize].store(above, Ordering::Relaxed);
            member = above;
        }
    }

    /// Unites the sets of two members. The outcome does not depend on the order of such calls.
    pub fn unite(&self, a: u32, b: u32) {
        loop {
            let (a, b) = (self.least(a), self.least(b));
            let (low, high) = (a.min(b), a.max(b));
            let relaxed = Ordering::Relaxed;
            if low == high || self.0[high as usize].compare_exchange(high, low, relaxed, relaxed).is_ok() {
                return;
            }
        }
    }

    /// Returns the number of bytes on the heap.
    pub fn bytes(&self) -> usize {
        memory::bytes(&self.0)
    }
}
