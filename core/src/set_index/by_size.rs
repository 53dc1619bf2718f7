//! A cache of values that depend only on the size of a set, such as the length of its prefix. Each
//! value is computed once for each small size.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

/// The number of set sizes for which values are kept.
const MOST_KNOWN: usize = 1 << 12;

/// A number for each size of a set. Clones share the known values, also across threads.
#[derive(Debug, Clone)]
pub struct BySize {
    /// The value plus one; 0 where the value is not known yet.
    known: Arc<[AtomicU32]>,
}

impl Default for BySize {
    fn default() -> Self {
        Self { known: (0..MOST_KNOWN).map(|_| AtomicU32::new(0)).collect() }
    }
}

impl BySize {
    /// Returns the value for a size, as `compute` gives it. `compute` must always return the same
    /// number, less than `u32::MAX`. O(1) if the value is known.
    #[inline]
    pub fn get(&self, size: u32, compute: impl FnOnce() -> u32) -> u32 {
        let Some(known) = self.known.get(size as usize) else { return compute() };
        if let Some(value) = known.load(Ordering::Relaxed).checked_sub(1) {
            return value;
        }
        let value = compute();
        known.store(value + 1, Ordering::Relaxed);
        value
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn computes_small_sizes_once() {
        let (by_size, mut computed) = (BySize::default(), 0);
        for size in [0, 7, 4095, 4096, u32::MAX] {
            for _ in 0..3 {
                let value = by_size.clone().get(size, || {
                    computed += 1;
                    size / 2
                });
                assert_eq!(value, size / 2);
            }
        }
        assert_eq!(computed, 3 + 2 * 3);
    }
}
