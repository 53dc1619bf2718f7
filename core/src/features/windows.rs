//! Hashes of runs of characters of a text. Each hash takes constant time (Karp and Rabin 1987).

use crate::error::Result;
use crate::memory;

const DOING: &str = "hashing runs of characters";

/// Hashes of all runs of characters of a text. Equal runs have equal hashes; distinct runs hardly
/// ever have the same hash.
#[derive(Debug, Default)]
pub struct RunHashes {
    /// The value of each prefix of the text, from which the hashes of runs are computed.
    prefixes: Vec<u64>,
    powers: Vec<u64>,
}

impl RunHashes {
    const BASE: u64 = 0x9e37_79b9_7f4a_7c15;

    /// Replaces the text. O(characters).
    pub fn set(&mut self, text: &str) -> Result<()> {
        self.prefixes.clear();
        memory::push(&mut self.prefixes, 0, DOING)?;
        for c in text.chars() {
            let last = self.prefixes[self.prefixes.len() - 1];
            let next = last.wrapping_mul(Self::BASE).wrapping_add(crate::hash::mix(u64::from(u32::from(c))));
            memory::push(&mut self.prefixes, next, DOING)?;
        }
        while self.powers.len() < self.prefixes.len() {
            let next = self.powers.last().map_or(1, |last| last.wrapping_mul(Self::BASE));
            memory::push(&mut self.powers, next, DOING)?;
        }
        Ok(())
    }

    /// Returns the hash of the `length` characters that begin at character number `from`. The
    /// length is part of the hash.
    #[inline]
    pub fn hash(&self, from: u32, length: u32) -> u64 {
        let (from, to) = (from as usize, (from + length) as usize);
        let value =
            self.prefixes[to].wrapping_sub(self.prefixes[from].wrapping_mul(self.powers[length as usize]));
        crate::hash::mix(value ^ u64::from(length) << 32)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_runs_have_equal_hashes() {
        let (mut a, mut b) = (RunHashes::default(), RunHashes::default());
        a.set("甲乙甲乙丙").expect("memory");
        b.set("丙甲乙").expect("memory");
        assert_eq!(a.hash(0, 2), a.hash(2, 2));
        assert_eq!(a.hash(2, 2), b.hash(1, 2));
        assert_ne!(a.hash(0, 2), a.hash(1, 2));
        assert_ne!(a.hash(0, 1), a.hash(0, 2));
    }
}
