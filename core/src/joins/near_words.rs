//! The exact join of texts by the number of words that they share, where near words count as
//! shared (docs/design/algorithms.md section 8). It stands on the join by edit distance
//! ([`edit`](super::edit)), which finds the near words among the distinct words of all texts, and
//! on the comparison of candidates.
//!
//! A pair of a text of n words that shares at least k words shares one of any n - k + 1 words of
//! it. So the shorter text of a pair looks for the texts that have a word which is near one of so
//! many of its words: those whose near words are in the fewest texts. A candidate is compared by
//! pairing the words of both texts.

use std::ops::Range;

use super::candidates::{CandidateJoin, CompareCandidates, Slice, each_slice};
use super::edit::edit_pairs;
use super::pairs::{Pairs, equal_records};
use super::{Algorithm, RecordPair};
use crate::error::Result;
use crate::executor::{self, Executor, Stop};
use crate::features::sets::members::Members;
use crate::features::texts::{Distinct, TextCollector, Texts, distinct};
use crate::memory;
use crate::storage::files::Resources;
use crate::storage::sort::{Sorted, Sorter};
use crate::verify::edit::EditPredicate;
use crate::verify::near_words::{SPACE, WordPairing};
use crate::verify::predicate::Predicate;

const DOING: &str = "joining texts by near words";
/// The number of steps between two checks for interrupts.
const CHECK_EVERY: usize = 1 << 12;
/// The number of texts that a thread cuts into words at one time.
const SLICE: u32 = 1 << 12;

/// The rule that says which pairs are similar.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct NearWordRule {
    /// The condition that the numbers of words must meet.
    pub texts: Predicate,
    /// The condition that near words meet.
    pub words: EditPredicate,
}

/// A join that is prepared, and what is known before it runs.
#[derive(Debug)]
pub struct PreparedNearWords {
    /// The pairs to come.
    pub pairs: Pairs,
    /// The number of words of all distinct texts.
    pub words: u64,
    /// The number of distinct words.
    pub distinct_words: u64,
    /// The number of bytes that were held in addition to the texts.
    pub bytes: usize,
}

/// Prepares to find all pairs of rows whose texts pass. The words of each text are in order, with a
/// space between two. The texts stay in memory.
pub fn near_word_pairs(
    texts: Distinct,
    rule: NearWordRule,
    resources: Resources<'_>,
    progress: &mut dyn FnMut(&'static str),
) -> Result<PreparedNearWords> {
    let Resources { files, budget, executor } = resources;
    let Distinct { texts, left, right } = texts;
    // Texts are numbered with 32 bits.
    let right_from = right.as_ref().map(|_| left.len() as u32);
    let (mut words, mut sizes) = (Vec::new(), Vec::new());
    let work = |slice: &mut Slice<WordsOfTexts>, stop: &Stop| {
        slice.found = cut(&texts, slice.records.clone(), stop)?;
        Ok(())
    };
    each_slice(texts.len() as u32, SLICE, executor, work, |(of_texts, own)| {
        memory::extend(&mut sizes, &own, DOING)?;
        memory::push(&mut words, of_texts, DOING)
    })?;
    let Distinct { texts: words, left: postings, .. } = distinct(words, None, executor)?;
    progress("looking for near words");
    let bytes = words.bytes() + postings.bytes() + memory::bytes(&sizes) + budget / 2;
    let near = near_words(words, rule.words, resources)?;
    let compared = NearWordTexts { texts, sizes, rule, right_from };
    progress("looking for texts with near words");
    let mut candidates = Sorter::new(files, budget / 4);
    compared.candidates(near, &postings, &mut candidates, executor)?;
    let words = compared.sizes.iter().map(|&size| u64::from(size)).sum();
    let distinct_words = postings.len() as u64;
    let equal = equal_records(&left, right.as_ref(), |record| {
        let size = compared.sizes[record as usize];
        rule.texts.passes(size, size, size)
    })?;
    let join = CandidateJoin::new(compared, candidates, executor)?;
    let pairs = Pairs::of_records(Box::new(join), left, right, equal);
    Ok(PreparedNearWords { pairs, words, distinct_words, bytes })
}

/// The distinct words of each of some texts, with the number of the text, and the numbers of all
/// words of the texts.
type WordsOfTexts = (TextCollector, Vec<u32>);

/// Cuts texts into words.
fn cut(texts: &Texts, numbers: Range<u32>, stop: &Stop) -> Result<WordsOfTexts> {
    let (mut words, mut sizes) = (TextCollector::default(), Vec::new());
    for text in numbers {
        let (mut size, mut before) = (0, "");
        for word in texts.text(text).split(SPACE) {
            stop.check_every(size as usize, CHECK_EVERY)?;
            size += 1;
            // Equal words are neighbours.
            if word != before {
                words.add(text, word)?;
            }
            before = word;
        }
        memory::push(&mut sizes, size, DOING)?;
    }
    Ok((words, sizes))
}

/// Returns each word with each word that is near it, itself included, in order.
fn near_words(
    words: Texts,
    edit: EditPredicate,
    Resources { files, budget, executor }: Resources<'_>,
) -> Result<Sorted<[u32; 2]>> {
    // Texts are numbered with 32 bits.
    let count = words.len() as u32;
    let numbers = Members::new(memory::collect(0..count, DOING)?, 1..=count)?;
    let words = Distinct { texts: words, left: numbers, right: None };
    let (mut pairs, _) = edit_pairs(words, edit, Algorithm::Auto, files, budget / 4, executor)?;
    let mut near = Sorter::new(files, budget / 4);
    (0..count).try_for_each(|word| near.push([word; 2], executor))?;
    while let Some(pair) = pairs.next(executor)? {
        near.push([pair.left, pair.right], executor)?;
        near.push([pair.right, pair.left], executor)?;
    }
    drop(pairs);
    near.sorted(executor)
}

/// The texts that are compared, and the rule to compare them by.
struct NearWordTexts {
    texts: Texts,
    sizes: Vec<u32>,
    rule: NearWordRule,
    /// The number of the first text of the right table, if there are two tables.
    right_from: Option<u32>,
}

impl NearWordTexts {
    /// Returns the rank of each word by the number of texts that have a word near it, and the
    /// number of the least ranks of which each text looks for the words.
    fn ranks(
        &self,
        near: &mut Sorted<[u32; 2]>,
        postings: &Members,
        executor: &dyn Executor,
    ) -> Result<[Vec<u32>; 2]> {
        let mut reach = memory::filled(0u64, postings.len(), DOING)?;
        while let Some([word, near]) = near.next(executor)? {
            reach[word as usize] += postings.rows(near as usize).len() as u64;
        }
        let mut order = memory::collect(0..postings.len() as u32, DOING)?;
        executor::sort(executor, &mut order, |&a, &b| (reach[a as usize], a).cmp(&(reach[b as usize], b)))?;
        // Of no size is the least overlap with a longer text less than that with an equal one.
        let wanted = self.sizes.iter().map(|&size| {
            let needed = self.rule.texts.least_overlap(size, size);
            needed.map_or(0, |needed| size - needed + 1)
        });
        let mut wanted = memory::collect(wanted, DOING)?;
        let mut ranks = memory::filled(0u32, order.len(), DOING)?;
        let mut looked_up = memory::filled(0u32, self.sizes.len(), DOING)?;
        for (rank, word) in (0..).zip(order) {
            executor::breathe(executor, rank as usize, CHECK_EVERY)?;
            ranks[word as usize] = rank;
            for &text in postings.rows(word as usize) {
                let wanted = &mut wanted[text as usize];
                if *wanted > 0 {
                    (*wanted, looked_up[text as usize]) = (*wanted - 1, rank + 1);
                }
            }
        }
        Ok([ranks, looked_up])
    }

    /// Adds the pairs of texts that may pass, the lesser number first.
    fn candidates(
        &self,
        mut near: Sorted<[u32; 2]>,
        postings: &Members,
        candidates: &mut Sorter<'_, [u32; 2]>,
        executor: &dyn Executor,
    ) -> Result<()> {
        let [ranks, looked_up] = self.ranks(&mut near, postings, executor)?;
        near.rewind(executor)?;
        let side = |text: u32| self.right_from.is_some_and(|from| text >= from);
        while let Some([word, near]) = near.next(executor)? {
            let is_looked_up = |text: &&u32| ranks[word as usize] < looked_up[**text as usize];
            for &text in postings.rows(word as usize).iter().filter(is_looked_up) {
                let (size, is_right) = (self.sizes[text as usize], side(text));
                for others in postings.rows(near as usize).chunks(CHECK_EVERY) {
                    executor.check_interrupts()?;
                    for &other in others {
                        let longer = self.sizes[other as usize];
                        let [left, right] = if text < other { [text, other] } else { [other, text] };
                        let meet = self.right_from.map_or(left < right, |_| is_right != side(other));
                        if meet && size <= longer && self.may_pass(left, right) {
                            candidates.push([left, right], executor)?;
                        }
                    }
                }
            }
        }
        Ok(())
    }

    /// Reports whether two texts pass if each word of the shorter one has a partner.
    fn may_pass(&self, left: u32, right: u32) -> bool {
        let [left, right] = [left, right].map(|text| self.sizes[text as usize]);
        self.rule.texts.passes(left.min(right), left, right)
    }
}

impl CompareCandidates for NearWordTexts {
    type Prepared = WordPairing;

    fn prepare(&self, left: u32, prepared: &mut WordPairing, stop: &Stop) -> Result<()> {
        prepared.set(self.texts.text(left), self.rule.words, stop)
    }

    fn compare(
        &self,
        candidate: [u32; 2],
        prepared: &mut WordPairing,
        stop: &Stop,
    ) -> Result<Option<RecordPair>> {
        let NearWordRule { texts, words } = self.rule;
        let [x, y] = candidate.map(|text| self.sizes[text as usize]);
        let Some(needed) = texts.least_overlap(x, y) else { return Ok(None) };
        let [left, right] = candidate;
        let shared = prepared.pairs(self.texts.text(right), words, x - needed, stop)?;
        let right = right - self.right_from.unwrap_or(0);
        Ok(shared.map(|shared| RecordPair { left, right, similarity: texts.similarity(shared, x, y) }))
    }

    fn bytes(&self) -> usize {
        self.texts.bytes() + memory::bytes(&self.sizes)
    }
}
