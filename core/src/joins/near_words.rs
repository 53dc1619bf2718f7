//! The exact join of texts by the number of words that they share, where near words count as
//! shared (docs/design/algorithms.md section 8). It stands on the join by edit distance
//! ([`edit`](super::edit)), which finds the near words among the distinct words of all texts, and
//! on [`candidates`](super::candidates).
//!
//! A pair of a text of n words that shares at least k words shares one of any n - k + 1 words of
//! it. So the shorter text of a pair looks for the texts that have a word which is near one of so
//! many of its words: those whose near words are in the fewest texts. A candidate is compared by
//! pairing the words of both texts.

use super::candidates::{CandidateJoin, CompareCandidates};
use super::edit::edit_pairs;
use super::pairs::{Pairs, equal_records};
use super::{Algorithm, RecordPair};
use crate::error::{Error, Result};
use crate::executor::{self, Executor, Stop};
use crate::features::dictionary::lookup::Lookup;
use crate::features::dictionary::shard::Shard;
use crate::features::sets::records::Members;
use crate::features::texts::{Distinct, TextCollector, Texts, distinct};
use crate::features::tokens::Token;
use crate::memory;
use crate::storage::files::Resources;
use crate::storage::sort::{Sorted, Sorter};
use crate::verify::edit::EditPredicate;
use crate::verify::near_words::{SPACE, WordPairing};
use crate::verify::predicate::Predicate;

const DOING: &str = "joining texts by near words";
/// The number of steps between two checks for interrupts.
const CHECK_EVERY: usize = 1 << 12;

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
    let mut words = TextWords::default();
    executor::one(executor, &mut words, |words, stop| words.cut(&texts, stop))?;
    let (postings, vocabulary, sizes) = words.postings(executor)?;
    progress("looking for near words");
    let near = near_words(vocabulary, postings.len() as u32, rule.words, resources)?;
    let looking = Looking { postings, sizes, rule, right_from };
    progress("looking for texts with near words");
    let mut candidates = Sorter::new(files, budget / 4);
    looking.candidates(near, &mut candidates, executor)?;
    let Looking { postings, sizes, .. } = looking;
    let bytes = postings.bytes() + memory::bytes(&sizes) + budget / 2;
    let (words, distinct_words) = (sizes.iter().map(|&size| u64::from(size)).sum(), postings.len() as u64);
    let equal = equal_records(&left, right.as_ref(), |record| {
        let size = sizes[record as usize];
        rule.texts.passes(size, size, size)
    })?;
    let compared = NearWordTexts { texts, sizes, rule, right_from };
    let join = CandidateJoin::new(compared, candidates, executor)?;
    let pairs = Pairs::of_records(Box::new(join), left, right, equal);
    Ok(PreparedNearWords { pairs, words, distinct_words, bytes })
}

/// The distinct words of texts, by number.
#[derive(Default)]
struct TextWords {
    vocabulary: TextCollector,
    /// The number of distinct words of all texts.
    count: usize,
    /// The number of words of each text, and how many of them are distinct.
    sizes: Vec<[u32; 2]>,
    /// The distinct words of each text, one text after the other.
    words: Vec<u32>,
}

impl TextWords {
    fn cut(&mut self, texts: &Texts, stop: &Stop) -> Result<()> {
        *self = Self::default();
        let (mut known, mut long) = (Shard::new(u32::MAX as usize - 1), Vec::new());
        for text in 0..texts.len() as u32 {
            let (mut size, mut before) = ([0; 2], "");
            for word in texts.text(text).split(SPACE) {
                stop.check_every(size[0] as usize, CHECK_EVERY)?;
                size[0] += 1;
                // Equal words are neighbours.
                if word == before {
                    continue;
                }
                (before, size[1]) = (word, size[1] + 1);
                let next = known.len();
                long.clear();
                let lookup = Lookup::new(Token::Bytes(word.as_bytes()), 0, &mut long)?;
                let number = known.find_or_add(&lookup, &long)?;
                if number as usize == next {
                    self.vocabulary.add(number, word)?;
                }
                memory::push(&mut self.words, number, DOING)?;
            }
            memory::push(&mut self.sizes, size, DOING)?;
        }
        self.count = known.len();
        Ok(())
    }

    /// Returns the texts that have each word, the words, and the number of words of each text.
    fn postings(self, executor: &dyn Executor) -> Result<(Members, TextCollector, Vec<u32>)> {
        let Self { vocabulary, count, sizes, words } = self;
        if u32::try_from(words.len()).is_err() {
            return Err(Error::TooMany { what: "different words of texts", limit: u32::MAX.into() });
        }
        let mut starts = memory::filled(0u32, count + 2, DOING)?;
        words.iter().for_each(|&word| starts[word as usize + 2] += 1);
        (1..starts.len()).for_each(|word| starts[word] += starts[word - 1]);
        let mut texts = memory::filled(0u32, words.len(), DOING)?;
        let mut rest = &words[..];
        for (text, &[_, count]) in sizes.iter().enumerate() {
            executor::breathe(executor, text, CHECK_EVERY)?;
            let (own, others) = rest.split_at(count as usize);
            for &word in own {
                let place = &mut starts[word as usize + 1];
                texts[*place as usize] = text as u32;
                *place += 1;
            }
            rest = others;
        }
        starts.pop();
        let sizes = memory::collect(sizes.iter().map(|size| size[0]), DOING)?;
        Ok((Members::new(texts, starts), vocabulary, sizes))
    }
}

/// Returns each of `count` words with each word that is near it, itself included, in order.
fn near_words(
    words: TextCollector,
    count: u32,
    edit: EditPredicate,
    resources: Resources<'_>,
) -> Result<Sorted<[u32; 2]>> {
    let Resources { files, budget, executor } = resources;
    let words = distinct(vec![words], None, executor)?;
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

/// The texts that have each word, and the rule to compare them by.
struct Looking {
    postings: Members,
    sizes: Vec<u32>,
    rule: NearWordRule,
    right_from: Option<u32>,
}

impl Looking {
    /// Returns the rank of each word by the number of texts that have a word near it, and the
    /// number of the least ranks of which each text looks for the words.
    fn ranks(&self, near: &mut Sorted<[u32; 2]>, executor: &dyn Executor) -> Result<[Vec<u32>; 2]> {
        let mut reach = memory::filled(0u64, self.postings.len(), DOING)?;
        while let Some([word, near]) = near.next(executor)? {
            reach[word as usize] += self.postings.rows(near as usize).len() as u64;
        }
        let mut order = memory::collect(0..self.postings.len() as u32, DOING)?;
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
            for &text in self.postings.rows(word as usize) {
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
        candidates: &mut Sorter<'_, [u32; 2]>,
        executor: &dyn Executor,
    ) -> Result<()> {
        let [ranks, looked_up] = self.ranks(&mut near, executor)?;
        near.rewind(executor)?;
        let side = |text: u32| self.right_from.is_some_and(|from| text >= from);
        while let Some([word, near]) = near.next(executor)? {
            let is_looked_up = |text: &&u32| ranks[word as usize] < looked_up[**text as usize];
            for &text in self.postings.rows(word as usize).iter().filter(is_looked_up) {
                let (size, is_right) = (self.sizes[text as usize], side(text));
                for others in self.postings.rows(near as usize).chunks(CHECK_EVERY) {
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

/// The texts that are compared, and the rule to compare them by.
struct NearWordTexts {
    texts: Texts,
    sizes: Vec<u32>,
    rule: NearWordRule,
    /// The number of the first text of the right table, if there are two tables.
    right_from: Option<u32>,
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
