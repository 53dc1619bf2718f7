//! Finds all pairs of feature codes in which one code has a long enough substring in common with
//! the other (docs/design/algorithms.md section 7). The join is exact and does not compare all
//! pairs.
//!
//! A code of n characters passes if it has a common substring of at least l characters. Every run
//! of l characters covers the middle 2 l - n characters of the code, if there are that many, and at
//! least one of the blocks of (l + 1) / 2 characters that the code is cut into. The *cores* of the
//! code are the middle characters if they are at least as many as a block has, and the blocks
//! otherwise. The index holds a hash of a gram of each core, and codes that are not shorter look up
//! their own grams in it. Each candidate is verified with the suffix automaton of the longer code.
//! The cores of some codes at a time are indexed, so that the index fits a budget.
//!
//! ```
//! use neardup_core::joins::codes::code_pairs;
//! use neardup_core::features::texts::{TextCollector, distinct};
//! use neardup_core::executor::PlainThreads;
//!
//! let mut collector = TextCollector::default();
//! for (row, code) in ["系法这流以点从码", "法这流以点从", "系统"].iter().enumerate() {
//!     collector.add(row as u32, code)?;
//! }
//! let codes = distinct(vec![collector], None, &PlainThreads(1))?;
//! let mut pairs = code_pairs(codes, 0.75, usize::MAX)?;
//! let pair = pairs.next(&PlainThreads(1))?.expect("a pair");
//! let (left, right) = (pair.left.min(pair.right), pair.left.max(pair.right));
//! assert_eq!((left, right, pair.similarity), (0, 1, 1.0));
//! assert_eq!(pairs.next(&PlainThreads(1))?, None);
//! # Ok::<(), neardup_core::error::Error>(())
//! ```

mod core_index;

use std::ops::Range;

use super::pairs::Pairs;
use super::{Counts, RecordJoin, RecordPair};
use crate::error::Result;
use crate::executor::{self, Executor, Stop};
use crate::features::texts::{Distinct, Texts};
use crate::features::windows::RunHashes;
use crate::memory;
use crate::verify::automaton::SuffixAutomaton;
use crate::verify::repeatability::{least_common, share};
pub use core_index::each_gram;
use core_index::{CoreIndex, DOING};

/// Prepares to find all pairs of rows whose codes reach `threshold` in the direction with the
/// greater similarity. Codes stay in memory; the index takes about `budget` bytes at a time.
pub fn code_pairs(distinct: Distinct, threshold: f64, budget: usize) -> Result<Pairs> {
    /// The number of bytes of an index entry.
    const ENTRY: usize = 24;
    let Distinct { texts, left, right } = distinct;
    let split = if right.is_some() { left.len() as u32 } else { u32::MAX };
    let mut order = Vec::new();
    memory::reserve(&mut order, texts.len(), DOING)?;
    order.extend(0..texts.len() as u32);
    // With two tables, each table on its own is already in order, but not both together.
    order.sort_by_key(|&text| texts.length(text));
    let mut equal = Vec::new();
    if right.is_none() {
        for record in (0..left.len()).filter(|&record| left.rows(record).len() > 1) {
            memory::push(&mut equal, record as u32, DOING)?;
        }
    }
    let join = CodeJoin {
        codes: OrderedCodes { texts, order, split, threshold },
        most_entries: (budget / ENTRY).max(1),
        indexed: 0..0,
        index: CoreIndex::default(),
        probes: 0,
        batch: 16,
        counts: Counts::default(),
    };
    Ok(Pairs::of_records(Box::new(join), left, right, equal))
}

/// Distinct codes, and the condition for pairs of them to pass.
#[derive(Debug)]
struct OrderedCodes {
    texts: Texts,
    /// All codes, shorter ones first.
    order: Vec<u32>,
    /// The number of the first code of the right table; [`u32::MAX`] if there is only one table.
    split: u32,
    threshold: f64,
}

/// A join of codes, in progress.
#[derive(Debug)]
struct CodeJoin {
    codes: OrderedCodes,
    most_entries: usize,
    /// The indexed codes, as a range of positions in the order.
    indexed: Range<usize>,
    index: CoreIndex,
    /// The position of the next code that probes the index.
    probes: usize,
    /// How many codes probe per batch.
    batch: usize,
    counts: Counts,
}

impl CodeJoin {
    /// Indexes the next block of codes. Returns false if there are no more codes.
    fn index(&mut self, executor: &dyn Executor) -> Result<bool> {
        let OrderedCodes { texts, order, threshold, .. } = &self.codes;
        let from = self.indexed.end;
        // The longest codes need no special case: codes of their own length find them.
        if from == order.len() {
            return Ok(false);
        }
        let most = self.most_entries;
        let mut state = (std::mem::take(&mut self.index), from);
        executor::one(executor, &mut state, |(index, to), stop| {
            index.clear();
            *to = from;
            let mut windows = RunHashes::default();
            while *to < order.len() && (index.entries() < most || *to == from) {
                if to.is_multiple_of(1 << 8) {
                    stop.check()?;
                }
                let text = order[*to];
                let length = texts.length(text);
                windows.set(texts.text(text))?;
                index.add(*to as u32, &windows, length, least_common(length, *threshold))?;
                *to += 1;
            }
            index.sort(stop)
        })?;
        let to;
        (self.index, to) = state;
        self.indexed = from..to;
        self.probes = from;
        Ok(true)
    }
}

impl RecordJoin for CodeJoin {
    fn next_batch(&mut self, executor: &dyn Executor) -> Result<Option<Vec<RecordPair>>> {
        const PROBES_A_UNIT: usize = 64;
        const PAIRS_A_BATCH: usize = 1 << 16;
        const LARGEST_BATCH: usize = 1 << 14;
        if self.probes == self.codes.order.len() && !self.index(executor)? {
            return Ok(None);
        }
        if self.indexed.is_empty() && !self.index(executor)? {
            return Ok(None);
        }
        let to = (self.probes + self.batch).min(self.codes.order.len());
        let places: Vec<usize> = (self.probes..to).step_by(PROBES_A_UNIT).collect();
        let mut units: Vec<Probes> = places
            .into_iter()
            .map(|from| Probes { todo: from..(from + PROBES_A_UNIT).min(to), ..Probes::default() })
            .collect();
        executor::each(executor, &mut units, |unit, stop| unit.probe(&self.codes, &self.index, stop))?;
        let mut batch = Vec::new();
        for unit in &units {
            memory::extend(&mut batch, &unit.found, DOING)?;
            self.counts.candidates += unit.candidates;
            self.counts.verified += unit.candidates;
        }
        self.probes = to;
        // Batches grow, so that they are worth the cost of threads, until a batch returns too many
        // pairs.
        self.batch = if batch.len() < PAIRS_A_BATCH {
            (2 * self.batch).min(LARGEST_BATCH)
        } else {
            (self.batch / 4).max(1)
        };
        Ok(Some(batch))
    }

    fn counts(&self) -> Counts {
        self.counts
    }

    fn progress(&self) -> f64 {
        let all = self.codes.order.len().max(1) as f64;
        let of_block = (self.probes.saturating_sub(self.indexed.start)) as f64
            / (self.codes.order.len() - self.indexed.start).max(1) as f64;
        (self.indexed.start as f64 + of_block * self.indexed.len() as f64) / all
    }

    fn bytes(&self) -> usize {
        self.codes.texts.bytes() + memory::bytes(&self.codes.order) + self.index.bytes()
    }
}

/// Some codes that probe the index, and the pairs they found.
#[derive(Debug, Default)]
struct Probes {
    /// The positions of these codes in the order.
    todo: Range<usize>,
    found: Vec<RecordPair>,
    candidates: u64,
}

impl Probes {
    fn probe(&mut self, codes: &OrderedCodes, index: &CoreIndex, stop: &Stop) -> Result<()> {
        let mut windows = RunHashes::default();
        let mut hashes: Vec<u64> = Vec::new();
        let mut candidates: Vec<u32> = Vec::new();
        let mut automaton = SuffixAutomaton::new()?;
        while let Some(place) = self.todo.clone().next() {
            stop.check()?;
            let text = codes.order[place];
            let length = codes.texts.length(text);
            windows.set(codes.texts.text(text))?;
            hashes.clear();
            for &gram in index.lengths().iter().take_while(|&&gram| gram <= length) {
                for at in 0..=length - gram {
                    let hash = windows.hash(at, gram);
                    if !index.with(hash).is_empty() {
                        memory::push(&mut hashes, hash, DOING)?;
                    }
                }
            }
            hashes.sort_unstable();
            hashes.dedup();
            candidates.clear();
            for &hash in &hashes {
                for &(_, other) in index.with(hash).iter().take_while(|(_, other)| (*other as usize) < place)
                {
                    let same_table = (codes.order[other as usize] < codes.split) == (text < codes.split);
                    if codes.split == u32::MAX || !same_table {
                        memory::push(&mut candidates, other, DOING)?;
                    }
                }
            }
            candidates.sort_unstable();
            candidates.dedup();
            let known = self.found.len();
            let verified = self.verify(codes, text, &candidates, &mut automaton, stop);
            verified.inspect_err(|_| self.found.truncate(known))?;
            self.candidates += candidates.len() as u64;
            self.todo.start += 1;
        }
        Ok(())
    }

    /// Compares a code with candidates that are not longer than the code.
    fn verify(
        &mut self,
        codes: &OrderedCodes,
        text: u32,
        candidates: &[u32],
        automaton: &mut SuffixAutomaton,
        stop: &Stop,
    ) -> Result<()> {
        const CHECK_EVERY: usize = 1 << 8;
        if candidates.is_empty() {
            return Ok(());
        }
        automaton.clear();
        automaton.add(codes.texts.text(text), 0, stop)?;
        for (n, &place) in candidates.iter().enumerate() {
            if n % CHECK_EVERY == 0 {
                stop.check()?;
            }
            let other = codes.order[place as usize];
            let length = codes.texts.length(other);
            let least = least_common(length, codes.threshold);
            if let Some(found) = automaton.longest_match(codes.texts.text(other), length, least, stop)? {
                let similarity = share(found.length, length);
                let (left, right) = match codes.split {
                    u32::MAX => (text, other),
                    split => (text.min(other), text.max(other) - split),
                };
                memory::push(&mut self.found, RecordPair { left, right, similarity }, DOING)?;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::executor::PlainThreads;
    use crate::features::texts::{TextCollector, distinct};
    use crate::verify::repeatability::repeatability;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn pairs_are_those_of_all_comparisons(
            codes in prop::collection::vec("[ab]{0,14}|[abc]{6,9}|(ab字){0,4}c?", 0..24),
            right in prop::option::of(0..24usize),
            threshold in prop::sample::select(vec![0.05, 0.3, 0.45, 0.5, 0.51, 2.0 / 3.0, 0.75, 0.9, 1.0]),
            budget in prop::sample::select(vec![0, 100, usize::MAX]),
            threads in 1..4usize,
        ) {
            let split = right.map(|right| right.min(codes.len()));
            let mut collectors: Vec<_> = (0..threads).map(|_| TextCollector::default()).collect();
            for (row, code) in codes.iter().enumerate() {
                collectors[row % threads].add(row as u32, code).expect("memory");
            }
            let executor = PlainThreads(threads);
            let records = distinct(collectors, split.map(|split| split as u32), &executor).expect("memory");
            let mut pairs = code_pairs(records, threshold, budget).expect("memory");
            let mut found = Vec::new();
            while let Some(pair) = pairs.next(&executor).expect("memory") {
                let (a, b) = if split.is_some() {
                    (pair.left, pair.right)
                } else {
                    (pair.left.min(pair.right), pair.left.max(pair.right))
                };
                found.push((a, b, pair.similarity));
            }
            found.sort_by(|a, b| a.partial_cmp(b).expect("numbers"));
            let mut expected = Vec::new();
            for (a, x) in codes.iter().enumerate() {
                for (b, y) in codes.iter().enumerate().skip(a + 1) {
                    let over = |a, b| repeatability(a, b, &Stop::default()).expect("memory");
                    let similarity = over(x, y).max(over(y, x));
                    if similarity >= threshold && split.is_none_or(|split| a < split && b >= split) {
                        expected.push((a as u32, b as u32, similarity));
                    }
                }
            }
            prop_assert_eq!(found, expected);
        }
    }
}
