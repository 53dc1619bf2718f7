//! Numbers that look random and are the same on every machine.

use neardup_core::hash::mix;

/// A sequence of numbers.
pub struct Random {
    seed: u64,
    given: u64,
}

impl Random {
    pub fn new(seed: u64) -> Self {
        Self { seed: mix(seed), given: 0 }
    }

    fn next(&mut self) -> u64 {
        self.given += 1;
        mix(self.seed ^ mix(self.given))
    }

    /// Less than `end`.
    pub fn below(&mut self, end: usize) -> usize {
        (self.next() % end as u64) as usize
    }

    /// Whether it is one of so many in a hundred.
    pub fn percent(&mut self, share: usize) -> bool {
        self.below(100) < share
    }

    pub fn choose<'a, T>(&mut self, of: &'a [T]) -> &'a T {
        &of[self.below(of.len())]
    }

    /// Each order is as likely as any other.
    pub fn shuffle<T>(&mut self, items: &mut [T]) {
        for n in (1..items.len()).rev() {
            items.swap(n, self.below(n + 1));
        }
    }

    /// 1 to `most`, n about as often as 1 / n^2.
    pub fn power_law(&mut self, most: usize) -> usize {
        let share = (self.next() >> 11) as f64 / (1u64 << 53) as f64;
        ((1.0 / (1.0 - share)) as usize).clamp(1, most)
    }
}
