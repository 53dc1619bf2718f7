//! A hash table that maps the hashes of tokens to the places of the tokens: open addressing with
//! linear probing.

use crate::error::Result;
use crate::memory;
use crate::simd::prefetch::prefetch;

const DOING: &str = "numbering tokens";

/// A slot has the high half of a token's hash, and the token's place plus 1; an empty slot is 0. At
/// least half of the slots are empty.
#[derive(Debug, Default)]
pub(super) struct Slots(Vec<u64>);

impl Slots {
    /// Creates a table without slots.
    pub(super) const fn new() -> Self {
        Self(Vec::new())
    }

    #[inline]
    fn home(&self, hash: u64) -> usize {
        hash as usize & self.0.len().wrapping_sub(1)
    }

    /// Prefetches the slot of a hash.
    #[inline]
    pub(super) fn prefetch(&self, hash: u64) {
        prefetch(&self.0, self.home(hash));
    }

    /// Returns the place that a lookup of a hash examines first, or an invalid place if there is
    /// none.
    #[inline]
    pub(super) fn first(&self, hash: u64) -> usize {
        let slot = self.0.get(self.home(hash)).copied().unwrap_or(0);
        (slot as u32).wrapping_sub(1) as usize
    }

    /// Returns the place of the token with this hash for which `is_it` returns true.
    #[inline]
    pub(super) fn find(&self, hash: u64, is_it: impl Fn(u32) -> bool) -> Option<u32> {
        if self.0.is_empty() {
            return None;
        }
        let mut at = self.home(hash);
        loop {
            let slot = self.0[at];
            if slot == 0 {
                return None;
            }
            let place = slot as u32 - 1;
            if slot >> 32 == hash >> 32 && is_it(place) {
                return Some(place);
            }
            at = (at + 1) & (self.0.len() - 1);
        }
    }

    /// Reports whether there are too few slots for one more place than `places`.
    #[inline]
    pub(super) fn are_few(&self, places: usize) -> bool {
        2 * (places + 1) > self.0.len()
    }

    /// Makes room for twice as many places as `places`, and inserts the places that are known.
    pub(super) fn grow(&mut self, places: usize, known: impl Iterator<Item = (u64, u32)>) -> Result<()> {
        const FEWEST: usize = 16;
        let size = (4 * places).next_power_of_two().max(FEWEST);
        self.0 = Vec::new();
        self.0 = memory::filled(0, size, DOING)?;
        for (hash, place) in known {
            self.take(hash, place);
        }
        Ok(())
    }

    /// Inserts a place.
    pub(super) fn take(&mut self, hash: u64, place: u32) {
        let mut at = self.home(hash);
        while self.0[at] != 0 {
            at = (at + 1) & (self.0.len() - 1);
        }
        self.0[at] = hash >> 32 << 32 | u64::from(place + 1);
    }

    /// Returns the number of bytes on the heap.
    pub(super) fn bytes(&self) -> usize {
        memory::bytes(&self.0)
    }
}
