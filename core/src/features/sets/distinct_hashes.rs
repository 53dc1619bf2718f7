//! Keeps each hash of a document once. Sorting takes longer, and the order does not matter.

use std::hash::{BuildHasher, RandomState};

use crate::error::Result;
use crate::executor::{self, Stop};
use crate::memory;

const DOING: &str = "collecting token sets";
/// More hashes than this are sorted.
const MOST: usize = if cfg!(test) { 16 } else { 1 << 12 };

/// Scratch memory: the hashes of a document by hash.
#[derive(Debug)]
pub(super) struct DistinctHashes {
    /// The number of a hash and 1, in the first free slot from that of the hash on, or 0.
    slots: Vec<u16>,
    /// Nobody can make hashes that go to few slots, as nobody knows this odd number.
    factor: u64,
}

impl DistinctHashes {
    pub(super) fn new() -> Self {
        Self { slots: Vec::new(), factor: RandomState::new().hash_one(DOING) | 1 }
    }

    /// Removes the hashes from number `start` on that were there before. Leaves the others in any
    /// order. O(n log n) for n hashes, or O(n) if they are few.
    pub(super) fn keep(&mut self, hashes: &mut Vec<u64>, start: usize, stop: &Stop) -> Result<()> {
        let own = &mut hashes[start..];
        let kept = if own.len() > MOST {
            executor::sort_unstable_by(own, stop, &Ord::cmp)?;
            keep_where(own, |kept, hash, _| kept.last() != Some(&hash))
        } else {
            let slots = (2 * own.len()).next_power_of_two().max(2);
            self.slots.clear();
            memory::fill(&mut self.slots, 0, slots, DOING)?;
            let (shift, slots) = (u64::BITS - slots.ilog2(), &mut self.slots);
            keep_where(own, |kept, hash, number| {
                let mut slot = (hash.wrapping_mul(self.factor) >> shift) as usize;
                while let Some(known) = slots[slot].checked_sub(1) {
                    if kept[usize::from(known)] == hash {
                        return false;
                    }
                    slot = (slot + 1) & (slots.len() - 1);
                }
                slots[slot] = number as u16 + 1;
                true
            })
        };
        hashes.truncate(start + kept);
        Ok(())
    }
}

/// Moves the hashes that `is_new` accepts to the front, and returns their number. `is_new` is
/// called with those that were moved before, the hash, and their number.
fn keep_where(hashes: &mut [u64], mut is_new: impl FnMut(&[u64], u64, usize) -> bool) -> usize {
    let mut kept = 0;
    for n in 0..hashes.len() {
        let hash = hashes[n];
        if is_new(&hashes[..kept], hash, kept) {
            hashes[kept] = hash;
            kept += 1;
        }
    }
    kept
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    proptest! {
        #[test]
        fn each_hash_stays_once(before in prop::collection::vec(0..9u64, 0..5), own in prop::collection::vec(0..30u64, 0..40)) {
            let mut hashes = [before.clone(), own.clone()].concat();
            DistinctHashes::new().keep(&mut hashes, before.len(), &Stop::default()).unwrap();
            prop_assert_eq!(&hashes[..before.len()], before.as_slice());
            let kept: BTreeSet<u64> = hashes[before.len()..].iter().copied().collect();
            prop_assert_eq!(kept.len(), hashes.len() - before.len());
            prop_assert_eq!(kept, own.into_iter().collect());
        }
    }
}
