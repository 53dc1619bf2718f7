//! The index of a join of feature codes. It holds grams of the codes' cores.

use crate::error::Result;
use crate::executor::{self, Stop};
use crate::features::windows::RunHashes;
use crate::memory;
use crate::verify::repeatability::least_common;

/// The name of the task, for errors.
pub(super) const DOING: &str = "joining feature codes";

/// An index from the gram of a core to the codes that have it.
#[derive(Debug, Default)]
pub(super) struct CoreIndex {
    /// The distinct lengths of the grams, ascending.
    lengths: Vec<u32>,
    /// The hash of each gram, and the position of its code in the order of the codes; sorted.
    entries: Vec<(u64, u32)>,
    /// For each value of the uppermost bits of a hash, where the entries with that value begin. The
    /// last element is where the last entries end.
    starts: Vec<u32>,
}

impl CoreIndex {
    /// The number of uppermost hash bits that select an element of `starts`.
    const BITS: u32 = 16;

    /// Removes all codes.
    pub(super) fn clear(&mut self) {
        self.lengths.clear();
        self.entries.clear();
    }

    /// Returns the number of grams. Repeats count until [`CoreIndex::sort`] removes them.
    pub(super) fn entries(&self) -> usize {
        self.entries.len()
    }

    /// Returns the distinct lengths of the grams, ascending.
    pub(super) fn lengths(&self) -> &[u32] {
        &self.lengths
    }

    /// Adds the code at position `place`, of `length` characters, which passes with at least
    /// `least` common characters.
    pub(super) fn add(&mut self, place: u32, windows: &RunHashes, length: u32, least: u32) -> Result<()> {
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

    /// Prepares the index for lookups, once all codes are added.
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

    /// Returns the entries of a hash, ordered by the position of their codes.
    #[inline]
    pub(super) fn with(&self, hash: u64) -> &[(u64, u32)] {
        let bucket = (hash >> (64 - Self::BITS)) as usize;
        let bucket = &self.entries[self.starts[bucket] as usize..self.starts[bucket + 1] as usize];
        let from = bucket.partition_point(|entry| entry.0 < hash);
        let to = from + bucket[from..].partition_point(|entry| entry.0 == hash);
        &bucket[from..to]
    }

    /// Returns the number of bytes on the heap.
    pub(super) fn bytes(&self) -> usize {
        memory::bytes(&self.entries) + memory::bytes(&self.starts) + memory::bytes(&self.lengths)
    }
}

/// Calls `offered` with the hash of a gram of each core of a code, and `looked_up` with the hashes
/// of all grams that may be of a core. If one of two codes passes as a part of the other, a gram of
/// a core of the shorter code is among the grams of the other code.
pub fn each_gram(
    code: &str,
    threshold: f64,
    mut offered: impl FnMut(u64) -> Result<()>,
    mut looked_up: impl FnMut(u64) -> Result<()>,
) -> Result<()> {
    let mut windows = RunHashes::default();
    windows.set(code)?;
    // The code was counted before.
    let length = code.chars().count() as u32;
    let Cores { mut first, step, length: core } = Cores::new(length, least_common(length, threshold));
    let gram = gram_length(core);
    while first + core <= length {
        offered(windows.hash(first, gram))?;
        first += step;
    }
    let lengths =
        (0..u32::BITS).flat_map(|n| [1 << n, 3 << n >> 1]).filter(|&gram| gram == gram_length(gram));
    for gram in lengths.take_while(|&gram| gram <= length) {
        (0..=length - gram).try_for_each(|at| looked_up(windows.hash(at, gram)))?;
    }
    Ok(())
}

/// Returns the greatest number of the form 2^n or 3 · 2^n that is at most `length`, and at least 1.
/// This gives few distinct gram lengths, and no gram is much shorter than its core.
fn gram_length(length: u32) -> u32 {
    let power = 1 << length.max(1).ilog2();
    let half = power + power / 2;
    if power > 1 && half <= length { half } else { power }
}

/// The cores of a code. If a run of characters of the code is long enough for the code to pass, it
/// contains one of the cores.
struct Cores {
    /// Where the first core begins.
    first: u32,
    /// The distance between the beginnings of two cores.
    step: u32,
    /// The length of a core.
    length: u32,
}

impl Cores {
    /// Returns the cores of a code of `length` characters that passes with `least` common
    /// characters.
    fn new(length: u32, least: u32) -> Self {
        let block = least.div_ceil(2);
        match (2 * least).checked_sub(length) {
            Some(middle) if middle >= block => Self { first: length - least, step: length, length: middle },
            _ => Self { first: 0, step: block, length: block },
        }
    }
}
