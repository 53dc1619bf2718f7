//! The grams of the cores of codes: which of them a code offers, and which it looks up.

use crate::error::Result;
use crate::features::texts::Texts;
use crate::features::windows::RunHashes;
use crate::memory;
use crate::verify::repeatability::least_common;

/// The name of the task, for errors.
pub(super) const DOING: &str = "joining feature codes";

/// What is known of all grams that codes offer, to look up only few of those that no code offers.
#[derive(Debug)]
pub(super) struct OfferedGrams {
    /// Each length of a gram, and the number of characters of the shortest code that offers grams
    /// of this length.
    lengths: Vec<(u32, u32)>,
    /// A bit for each value of the uppermost bits of hashes, set if a gram has it.
    bits: Vec<u64>,
    /// The number of other bits of a hash.
    shift: u32,
}

impl OfferedGrams {
    /// Prepares for the grams of all codes. The table takes at most `budget` bytes.
    pub(super) fn new(texts: &Texts, threshold: f64, budget: usize) -> Result<Self> {
        let mut lengths: Vec<(u32, u32)> = Vec::new();
        let (mut grams, mut last) = (0, None);
        for &length in texts.lengths() {
            let cores = Cores::new(length, least_common(length, threshold));
            grams += cores.firsts(length).count();
            // Codes of one length are next to each other.
            if last.replace(length) == Some(length) {
                continue;
            }
            let gram = gram_length(cores.length);
            match lengths.iter_mut().find(|(known, _)| *known == gram) {
                Some((_, shortest)) => *shortest = length.min(*shortest),
                None => memory::push(&mut lengths, (gram, length), DOING)?,
            }
        }
        // So few of the other grams, one of 16, pass.
        let log_bits = (16 * grams).min(8 * budget).max(64).ilog2();
        let bits = memory::filled(0, 1 << (log_bits - 6), DOING)?;
        Ok(Self { lengths, bits, shift: u64::BITS - log_bits })
    }

    /// Adds the hash of a gram that a code offers.
    #[inline]
    pub(super) fn add(&mut self, hash: u64) {
        let at = hash >> self.shift;
        self.bits[(at / 64) as usize] |= 1 << (at % 64);
    }

    /// Replaces the content of `hashes` with the hashes of all grams of a code of `length`
    /// characters that codes which are not longer offer, and of some others; each once.
    pub(super) fn looked_up(&self, windows: &RunHashes, length: u32, hashes: &mut Vec<u64>) -> Result<()> {
        hashes.clear();
        for &(gram, _) in self.lengths.iter().filter(|&&(_, shortest)| shortest <= length) {
            for hash in (0..=length - gram).map(|at| windows.hash(at, gram)) {
                let at = hash >> self.shift;
                if self.bits[(at / 64) as usize] >> (at % 64) & 1 == 1 {
                    memory::push(hashes, hash, DOING)?;
                }
            }
        }
        hashes.sort_unstable();
        hashes.dedup();
        Ok(())
    }
}

/// Calls `each` with the hash of a gram of each core of a code of `length` characters.
pub(super) fn offered(
    windows: &RunHashes,
    length: u32,
    threshold: f64,
    each: impl FnMut(u64) -> Result<()>,
) -> Result<()> {
    let cores = Cores::new(length, least_common(length, threshold));
    let gram = gram_length(cores.length);
    cores.firsts(length).map(|first| windows.hash(first, gram)).try_for_each(each)
}

/// Calls `on_offered` with the hash of a gram of each core of a code, and `on_looked_up` with the
/// hashes of all grams that may be of a core. If one of two codes passes as a part of the other, a
/// gram of a core of the shorter code is among the grams of the other code.
pub fn each_gram(
    code: &str,
    threshold: f64,
    on_offered: impl FnMut(u64) -> Result<()>,
    mut on_looked_up: impl FnMut(u64) -> Result<()>,
) -> Result<()> {
    if code.is_empty() {
        return Ok(());
    }
    let mut windows = RunHashes::default();
    windows.set(code)?;
    // The code was counted before.
    let length = code.chars().count() as u32;
    offered(&windows, length, threshold, on_offered)?;
    let lengths =
        (0..u32::BITS).flat_map(|n| [1 << n, 3 << n >> 1]).filter(|&gram| gram == gram_length(gram));
    for gram in lengths.take_while(|&gram| gram <= length) {
        (0..=length - gram).try_for_each(|at| on_looked_up(windows.hash(at, gram)))?;
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

    /// Returns where the cores of a code of `length` characters begin.
    fn firsts(&self, length: u32) -> impl Iterator<Item = u32> {
        (self.first..(length + 1).saturating_sub(self.length)).step_by(self.step as usize)
    }
}
