//! Finds all pairs of feature codes in which one code has a long enough substring in common with
//! the other (docs/design/algorithms.md section 7). The join is exact and does not compare all
//! pairs.
//!
//! A code of n characters passes if it has a common substring of at least l characters. Every run
//! of l characters covers the middle 2 l - n characters of the code, if there are that many, and at
//! least one of the blocks of (l + 1) / 2 characters that the code is cut into. The *cores* of the
//! code are the middle characters if they are at least as many as a block has, and the blocks
//! otherwise. Each code offers a hash of a gram of each core as a key and looks its own grams up,
//! those of which a table of bits says that a code may offer them ([`super::keys`]). Two codes are
//! a candidate if the longer one looks up what the shorter one offers; of two equally long ones,
//! either. Each candidate is verified with the suffix automaton of the longer code.
//!
//! ```
//! use neardup_core::joins::codes::code_pairs;
//! use neardup_core::features::texts::{TextCollector, distinct};
//! use neardup_core::executor::PlainThreads;
//! use neardup_core::storage::files::Resources;
//! use neardup_core::storage::files::MemoryFiles;
//!
//! let mut collector = TextCollector::default();
//! for (row, code) in ["系法这流以点从码", "法这流以点从", "系统"].iter().enumerate() {
//!     collector.add(row as u32, code)?;
//! }
//! let codes = distinct(vec![collector], None, &PlainThreads(1))?;
//! let resources = Resources { files: &MemoryFiles, budget: 1 << 20, executor: &PlainThreads(1) };
//! let (mut pairs, _) = code_pairs(codes, 0.75, resources)?;
//! let pair = pairs.next(&PlainThreads(1))?.expect("a pair");
//! let (left, right) = (pair.left.min(pair.right), pair.left.max(pair.right));
//! assert_eq!((left, right, pair.similarity), (0, 1, 1.0));
//! assert_eq!(pairs.next(&PlainThreads(1))?, None);
//! # Ok::<(), neardup_core::error::Error>(())
//! ```

mod grams;

use super::RecordPair;
use super::candidates::{CandidateJoin, CompareCandidates, Slice, each_slice};
use super::keys::{Key, KeyPosting, for_each_meeting};
use super::pairs::{Pairs, equal_records};
use crate::error::Result;
use crate::executor::Stop;
use crate::features::texts::{Distinct, Texts};
use crate::features::windows::RunHashes;
use crate::memory;
use crate::storage::files::Resources;
use crate::storage::sort::{Groups, Sorter};
use crate::verify::automaton::SuffixAutomaton;
use crate::verify::repeatability::{least_common, share};
pub use grams::each_gram;
use grams::{DOING, OfferedGrams};

/// Prepares to find all pairs of rows whose codes reach `threshold` in the direction with the
/// greater similarity. Codes stay in memory. Also returns the number of bytes that were held in
/// addition to them.
pub fn code_pairs(distinct: Distinct, threshold: f64, resources: Resources<'_>) -> Result<(Pairs, usize)> {
    let Resources { files, budget, executor } = resources;
    let Distinct { texts, left, right } = distinct;
    let right_from = right.as_ref().map(|_| left.len() as u32);
    let codes = CodeTexts { texts, right_from, threshold };
    let (postings, mut candidates) = (codes.postings(resources)?, Sorter::new(files, budget / 4));
    let held = postings.bytes();
    let postings = Groups::new(postings.sorted(executor)?, executor)?;
    for_each_meeting(
        postings,
        right_from.is_none(),
        |_| false,
        executor,
        |one, other| match codes.candidate(one, other) {
            Some(candidate) => candidates.push(candidate, executor),
            None => Ok(()),
        },
    )?;
    let equal = equal_records(&left, right.as_ref(), |_| true)?;
    let held = held + candidates.bytes();
    let join = CandidateJoin::new(codes, candidates, executor)?;
    Ok((Pairs::of_records(Box::new(join), left, right, equal), held))
}

/// Distinct codes, and the condition for pairs of them to pass.
#[derive(Debug)]
struct CodeTexts {
    texts: Texts,
    /// The number of the first code of the right table, if there are two tables.
    right_from: Option<u32>,
    threshold: f64,
}

impl CodeTexts {
    /// Lists the grams that codes offer and look up.
    fn postings<'f>(&self, resources: Resources<'f>) -> Result<Sorter<'f, KeyPosting>> {
        let Resources { files, budget, executor } = resources;
        let Self { texts, right_from, threshold } = self;
        let mut postings = Sorter::new(files, budget / 2);
        let mut grams = OfferedGrams::new(texts, *threshold, budget / 8)?;
        let is_right = |code: u32| right_from.is_some_and(|from| code >= from);
        let (count, slice) = (texts.len() as u32, self.slice());
        let offer = |slice: &mut Slice<Vec<KeyPosting>>, stop: &Stop| {
            let mut windows = RunHashes::default();
            slice.found.clear();
            for code in slice.records.clone() {
                stop.check()?;
                windows.set(texts.text(code))?;
                grams::offered(&windows, texts.length(code), *threshold, |hash| {
                    let key = Key::offered(hash).posting(code.into(), is_right(code));
                    memory::push(&mut slice.found, key, DOING)
                })?;
            }
            Ok(())
        };
        each_slice(count, slice, executor, offer, |offered| {
            offered.into_iter().try_for_each(|key| {
                grams.add(key.hash());
                postings.push(key, executor)
            })
        })?;
        let look = |slice: &mut Slice<Vec<KeyPosting>>, stop: &Stop| {
            let (mut windows, mut hashes) = (RunHashes::default(), Vec::new());
            slice.found.clear();
            for code in slice.records.clone() {
                stop.check()?;
                windows.set(texts.text(code))?;
                grams.looked_up(&windows, texts.length(code), &mut hashes)?;
                let keys = hashes.iter().map(|&hash| Key::looked_up(hash));
                let postings = keys.map(|key| key.posting(code.into(), is_right(code)));
                memory::append(&mut slice.found, postings, DOING)?;
            }
            Ok(())
        };
        each_slice(count, slice, executor, look, |looked_up| {
            looked_up.into_iter().try_for_each(|key| postings.push(key, executor))
        })?;
        Ok(postings)
    }

    /// Returns how many codes a thread works on at one time.
    fn slice(&self) -> u32 {
        const CHARACTERS: u64 = 1 << 14;
        let all: u64 = self.texts.lengths().iter().map(|&length| u64::from(length)).sum();
        (CHARACTERS * self.texts.len() as u64 / all.max(1)).clamp(1, 1 << 12) as u32
    }

    /// Returns the longer and the shorter one of two codes that share a key, the lesser number
    /// first, if the shorter one offers the key.
    fn candidate(&self, one: &KeyPosting, other: &KeyPosting) -> Option<[u32; 2]> {
        // Codes are numbered with 32 bits.
        let [a, b] = [one, other].map(|key| key.record() as u32);
        let is_longer = self.texts.length(a) > self.texts.length(b);
        let (candidate, shorter) = if is_longer { ([a, b], other) } else { ([b, a], one) };
        shorter.is_offered().then_some(candidate)
    }
}

impl CompareCandidates for CodeTexts {
    type Prepared = Option<SuffixAutomaton>;

    fn prepare(&self, left: u32, prepared: &mut Option<SuffixAutomaton>, stop: &Stop) -> Result<()> {
        let automaton = match prepared {
            Some(automaton) => automaton,
            none => none.insert(SuffixAutomaton::new()?),
        };
        automaton.clear();
        automaton.add(self.texts.text(left), 0, stop)
    }

    fn compare(
        &self,
        [longer, shorter]: [u32; 2],
        prepared: &mut Option<SuffixAutomaton>,
        stop: &Stop,
    ) -> Result<Option<RecordPair>> {
        let Some(automaton) = prepared else { return Ok(None) };
        let length = self.texts.length(shorter);
        let least = least_common(length, self.threshold);
        let found = automaton.longest_match(self.texts.text(shorter), length, least, stop)?;
        Ok(found.map(|found| {
            let similarity = share(found.length, length);
            match self.right_from {
                None => RecordPair { left: longer, right: shorter, similarity },
                Some(from) => {
                    RecordPair { left: longer.min(shorter), right: longer.max(shorter) - from, similarity }
                }
            }
        }))
    }

    fn bytes(&self) -> usize {
        self.texts.bytes()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::executor::PlainThreads;
    use crate::features::texts::{TextCollector, distinct};
    use crate::storage::files::MemoryFiles;
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
            let resources = Resources { files: &MemoryFiles, budget, executor: &executor };
            let (mut pairs, _) = code_pairs(records, threshold, resources).expect("memory");
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
