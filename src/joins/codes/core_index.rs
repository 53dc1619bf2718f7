//! The index of a join of feature codes: the grams of their cores.

use crate::error::Result;
use crate::executor::{self, Stop};
use crate::features::windows::Windows;
use crate::memory;

/// What is being done, for errors.
pub(super) const DOING: &str = "joining feature codes";

/// Which codes have a gram of a core.
#[derive(Debug, Default)]
pub(super) struct CoreIndex {
    /// The lengths of grams that there are, ascending.
    lengths: Vec<u32>,
    /// Hashes of grams with the places of their codes, sorted.
    entries: Vec<(u64, u32)>,
    /// Where the entries of each value of the uppermost bits begin, and where the last ones end.
    starts: Vec<u32>,
}

impl CoreIndex {
    /// Bits that `starts` tells apart.
    const BITS: u32 = 16;

    /// Removes all codes.
    pub(super) fn clear(&mut self) {
        self.lengths.clear();
        self.entries.clear();
    }

    /// How many grams there are, repeats included until all are sorted.
    pub(super) fn entries(&self) -> usize {
        self.entries.len()
    }

    /// The lengths of grams that there are, ascending.
    pub(super) fn lengths(&self) -> &[u32] {
        &self.lengths
    }

    /// Adds the code at a place, of `length` characters, which passes with `least` common ones.
    pub(super) fn add(&mut self, place: u32, windows: &Windows, length: u32, least: u32) -> Result<()> {
        let Cores { mut first, step, length: core } = Cores::new(length, least);
        let gram = gram_length(core);
        while first + core <= length {
            memory::push(&mut self.entries, (windows.hash(first, gram), place), DOING)?;
            first += step;
        }
        if !self.lengths.contains(&gram) {
            memory::push(&mut self.lengths, gram, DOING)?;
        }
        Ok(())
    }

    /// Makes ready to be asked, once all codes are added.
    pub(super) fn sort(&mut self, stop: &Stop) -> Result<()> {
        let Self { lengths, entries, starts } = self;
        executor::sort_unstable_by(entries, stop, &Ord::cmp)?;
        entries.dedup();
        lengths.sort_unstable();
        *starts = memory::filled(0, (1 << Self::BITS) + 1, DOING)?;
        for (hash, _) in &*entries {
            starts[(hash >> (64 - Self::BITS)) as usize + 1] += 1;
        }
        for bucket in 0..1 << Self::BITS {
            starts[bucket + 1] += starts[bucket];
        }
        Ok(())
    }

    /// The entries of a hash, by place.
    #[inline]
    pub(super) fn with(&self, hash: u64) -> &[(u64, u32)] {
        let bucket = (hash >> (64 - Self::BITS)) as usize;
        let bucket = &self.entries[self.starts[bucket] as usize..self.starts[bucket + 1] as usize];
        let from = bucket.partition_point(|entry| entry.0 < hash);
        let to = from + bucket[from..].partition_point(|entry| entry.0 == hash);
        &bucket[from..to]
    }

    /// Bytes on the heap.
    pub(super) fn bytes(&self) -> usize {
        memory::bytes(&self.entries) + memory::bytes(&self.starts) + memory::bytes(&self.lengths)
    }
}

/// The greatest number 2^n or 3 · 2^n that is not greater than `length`, at least 1: few lengths of grams, and
/// none much shorter than its core.
fn gram_length(length: u32) -> u32 {
    let power = 1 << length.max(1).ilog2();
    let half = power + power / 2;
    if power > 1 && half <= length { half } else { power }
}

/// The cores of a code: one of them is in every run of as many characters as have to be common.
struct Cores {
    /// Where the first one begins.
    first: u32,
    /// How far apart they begin.
    step: u32,
    /// How long they are.
    length: u32,
}

impl Cores {
    /// Those of a code of `length` characters that passes with `least` common ones.
    fn new(length: u32, least: u32) -> Self {
        let block = least.div_ceil(2);
        match (2 * least).checked_sub(length) {
            Some(middle) if middle >= block => Self { first: length - least, step: length, length: middle },
            _ => Self { first: 0, step: block, length: block },
        }
    }
}
