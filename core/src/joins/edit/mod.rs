//! The exact join by edit distance (docs/design/algorithms.md section 8). It finds texts that share
//! as many q-grams as similar texts do, then computes their true distance.
//!
//! The join of gram sets is the same as the join of sets of words or shingles, with the same
//! prefixes, bitmaps and positions. Only the bound differs ([`edit::GramBound`]). Equal texts are
//! one record, and only distinct texts are compared.
//!
//! Similar texts may have no gram in common if they are short compared with a gram, for example
//! aaac and aabc at q = 3. So the threshold determines q, which is small enough that similar texts
//! always share a gram ([`edit::GramBound::new`]), and no pair without a common gram has to be
//! tried.
//!
//! Long texts that are written in an alphabet have most of their grams of two characters in common,
//! even if the texts are unrelated. If a sample shows this (`sample`), the join compares such texts
//! by the counts of their grams instead (`profiles`). If the counts do not distinguish them well,
//! as with pages of a template, it compares them by pieces that both have at about the same
//! position (`segments`).
//!
//! With an absolute distance limit, short texts can be similar without a common gram. Then there
//! are several joins, one for each range of lengths of the longer text (`stages`): by pairs of
//! characters for long texts and by single characters for shorter texts. Texts that are no longer
//! than the distance limit are all similar to each other, so all their pairs are taken.
//!
//! ```
//! use neardup_core::joins::edit::edit_pairs;
//! use neardup_core::joins::Algorithm;
//! use neardup_core::storage::files::NoFiles;
//! use neardup_core::features::texts::{TextCollector, distinct};
//! use neardup_core::verify::edit::EditPredicate;
//! use neardup_core::executor::PlainThreads;
//!
//! let mut collector = TextCollector::default();
//! for (row, text) in ["Port Ellis", "port Ellis", "Ellis port"].iter().enumerate() {
//!     collector.add(row as u32, text)?;
//! }
//! let texts = distinct(vec![collector], None, &PlainThreads(1))?;
//! let (edit, algorithm) = (EditPredicate::new(0.8)?, Algorithm::Auto);
//! let (mut pairs, _) =
//!     edit_pairs(texts, edit, algorithm, &NoFiles, usize::MAX, &PlainThreads(1))?;
//! let pair = pairs.next(&PlainThreads(1))?.expect("a pair");
//! let rows = (pair.left.min(pair.right), pair.left.max(pair.right));
//! assert_eq!((rows, pair.similarity), ((0, 1), 0.9));
//! assert_eq!(pairs.next(&PlainThreads(1))?, None);
//! # Ok::<(), neardup_core::error::Error>(())
//! ```

mod length_filter;
mod profiles;
mod sample;
mod segments;
mod stages;

use std::ops::Range;

use super::Algorithm;
use super::pairs::{Pair, Pairs, equal_records};
use super::{Counts, RecordJoin, RecordPair};
use crate::error::Result;
use crate::executor::{self, Executor, Stop};
use crate::features::sets::grams::{GramSets, gram_sets};
use crate::features::texts::{Distinct, Texts};
use crate::memory;
use crate::storage::files::{Resources, TempFiles};
use crate::verify::edit::{self, EditPredicate};
use crate::verify::levenshtein::Pattern;
use crate::verify::predicate::Predicate;
use profiles::ByProfiles;
use segments::BySegments;
use stages::{AllPairs, By, PairSource, SpanStage, equal_texts, spans};

const DOING: &str = "joining by edit distance";

/// Statistics of the preparation of a join.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct EditStats {
    /// The number of grams of all distinct texts.
    pub grams: u64,
    /// The number of distinct grams.
    pub distinct_grams: u64,
    /// The number of distinct texts, of both tables.
    pub distinct_texts: u64,
    /// The greatest number of bytes that were held at one time.
    pub peak_bytes: usize,
}

/// Prepares to find all pairs of rows whose texts are similar. The texts stay in memory; their gram
/// sets and the index take about `budget` bytes at a time.
pub fn edit_pairs(
    distinct: Distinct,
    edit: EditPredicate,
    algorithm: Algorithm,
    files: &dyn TempFiles,
    budget: usize,
    executor: &dyn Executor,
) -> Result<(Pairs, EditStats)> {
    let Distinct { texts, left, right } = distinct;
    // Rows, and therefore texts, are numbered with 32 bits.
    let split = left.len() as u32;
    let all = [Some(0..split), right.as_ref().map(|right| split..split + right.len() as u32)];
    let sides: Vec<_> = all.clone().into_iter().flatten().collect();
    let spans = spans(&texts, &sides, edit, budget, executor)?;
    let budget = budget / spans.len();
    let mut prepared =
        EditStats { grams: 0, distinct_grams: 0, distinct_texts: texts.len() as u64, peak_bytes: 0 };
    let mut stages = Vec::new();
    for span in spans {
        // Texts are ordered by length, so this takes the texts that are short enough for the span.
        let [lefts, rights] = all.clone().map(|range| {
            let range = range?;
            let lengths = &texts.lengths()[range.start as usize..range.end as usize];
            let count = lengths.partition_point(|length| length <= span.longer.end()) as u32;
            Some(range.start..range.start + count)
        });
        let lefts = lefts.unwrap_or_default();
        // Those of the texts that may be similar to a long one.
        let long = |texts_of: Range<u32>| {
            let least = edit.least_partner(ByProfiles::SHORTEST);
            let short = texts.lengths()[..texts_of.end as usize].partition_point(|&length| length < least);
            short as u32..texts_of.end
        };
        let source = match (span.by, rights) {
            (By::All, rights) => PairSource::All(AllPairs::new(lefts, rights)),
            (By::Equality, Some(rights)) => PairSource::Known(equal_texts(&texts, lefts, rights, executor)?),
            // Distinct texts of one table are never equal.
            (By::Equality, None) => PairSource::Known(Vec::new()),
            (By::Profiles, rights) => {
                PairSource::Profiles(ByProfiles::new(edit, long(lefts), rights, budget))
            }
            (By::Segments(shape), rights) => {
                PairSource::Segments(BySegments::new(edit, long(lefts), rights, shape, budget))
            }
            (By::Grams(bound), rights) => {
                let GramSets { ordered, grams, peak_bytes } =
                    gram_sets(&texts, lefts, rights, bound.q(), files, budget, executor)?;
                prepared.grams += grams;
                prepared.distinct_grams += ordered.distinct_tokens as u64;
                prepared.peak_bytes = prepared.peak_bytes.max(peak_bytes + texts.bytes());
                let pairs = Pairs::new(
                    ordered,
                    Predicate::Grams(bound),
                    algorithm,
                    Resources { files, budget, executor },
                )?;
                PairSource::Grams(pairs, bound)
            }
        };
        let lengths = texts.lengths().iter().filter(|length| span.longer.contains(length));
        let characters = lengths.map(|&length| u64::from(length)).sum();
        stages.push(SpanStage { span, source, characters });
    }
    let equal = equal_records(&left, right.as_ref(), |_| true)?;
    let right_from = if right.is_some() { split } else { 0 };
    let join = EditJoin {
        comparison: EditComparison { texts, edit, right_from },
        stages,
        at: 0,
        verified: 0,
        batch: 32,
    };
    Ok((Pairs::of_records(Box::new(join), left, right, equal), prepared))
}

/// A join of distinct texts, in progress.
#[derive(Debug)]
struct EditJoin {
    comparison: EditComparison,
    stages: Vec<SpanStage>,
    /// The index of the current stage.
    at: usize,
    /// The number of candidates that were compared.
    verified: u64,
    /// The maximum number of pairs compared in the last batch.
    batch: usize,
}

/// The texts that are compared, and the rule to compare them by.
#[derive(Debug)]
struct EditComparison {
    texts: Texts,
    edit: EditPredicate,
    /// The number of the first text of the right table; 0 if there is one table.
    right_from: u32,
}

impl EditJoin {
    /// Returns the next pairs to compare, so many that comparing them takes a fraction of a second.
    /// The result may be empty, and it is `None` when there are no more pairs. Pairs with the same
    /// left text are adjacent.
    fn candidates(&mut self, executor: &dyn Executor) -> Result<Option<Vec<Pair>>> {
        const LARGEST_BATCH: usize = 1 << 16;
        const MOST_WORK: u64 = 1 << 26;
        // The first batches are small, so that the first pairs come soon. Later batches are larger,
        // because larger batches cost less per pair.
        self.batch = (2 * self.batch).min(LARGEST_BATCH);
        let (mut candidates, mut work, mut waited) = (Vec::new(), 0, false);
        let Some(stage) = self.stages.get_mut(self.at) else { return Ok(None) };
        while candidates.len() < self.batch && work < MOST_WORK {
            if let Some(pair) = stage.source.take() {
                waited = false;
                // A pair that belongs to another stage costs a step, too.
                work += 1;
                if stage.span.longer.contains(&self.comparison.longer(&pair)) {
                    memory::push(&mut candidates, pair, DOING)?;
                    work += self.comparison.work(&pair);
                }
            } else if waited {
                break;
            } else if stage.source.advance(&self.comparison.texts, executor)? {
                waited = true;
            } else {
                self.at += 1;
                break;
            }
        }
        candidates.sort_unstable_by_key(|pair| (pair.left, pair.right));
        Ok(Some(candidates))
    }
}

impl EditComparison {
    /// Returns the number of characters of the longer text.
    fn longer(&self, pair: &Pair) -> u32 {
        self.texts.length(pair.left).max(self.texts.length(pair.right))
    }

    /// Estimates how many steps a comparison takes.
    fn work(&self, pair: &Pair) -> u64 {
        let longer = self.longer(pair);
        64 + u64::from(longer) * (1 + u64::from(self.edit.most_distance(longer)) / 64)
    }
}

impl RecordJoin for EditJoin {
    fn next_batch(&mut self, executor: &dyn Executor) -> Result<Option<Vec<RecordPair>>> {
        const WORK_A_UNIT: u64 = 1 << 20;
        let bound = self.stages.get(self.at).and_then(|stage| stage.source.bound());
        let Some(candidates) = self.candidates(executor)? else { return Ok(None) };
        let mut units = Vec::new();
        let (mut from, mut work) = (0, 0);
        for (n, pair) in candidates.iter().enumerate() {
            work += self.comparison.work(pair);
            if work >= WORK_A_UNIT || n + 1 == candidates.len() {
                units.push(Comparisons { todo: &candidates[from..=n], ..Comparisons::default() });
                (from, work) = (n + 1, 0);
            }
        }
        executor::each(executor, &mut units, |unit, stop| unit.compare(&self.comparison, bound, stop))?;
        let mut batch = Vec::new();
        memory::reserve(&mut batch, units.iter().map(|unit| unit.found.len()).sum(), DOING)?;
        units.iter().for_each(|unit| batch.extend_from_slice(&unit.found));
        self.verified += candidates.len() as u64;
        Ok(Some(batch))
    }

    fn counts(&self) -> Counts {
        let mut counts = Counts::default();
        self.stages.iter().for_each(|stage| counts.add(&stage.source.counts()));
        Counts { verified: self.verified, ..counts }
    }

    fn progress(&self) -> f64 {
        // Each stage has work, even if its texts have no characters.
        let work =
            |stages: &[SpanStage]| stages.iter().map(|stage| 1.0 + stage.characters as f64).sum::<f64>();
        let (before, rest) = self.stages.split_at(self.at.min(self.stages.len()));
        let of_stage = rest.first().map_or(0.0, |stage| {
            work(std::slice::from_ref(stage)) * stage.source.progress(&self.comparison.texts)
        });
        (work(before) + of_stage) / work(&self.stages).max(1.0)
    }

    fn bytes(&self) -> usize {
        let of_stages = self.stages.iter().map(|stage| stage.source.bytes());
        self.comparison.texts.bytes() + of_stages.sum::<usize>()
    }
}

/// Some pairs that are still to be compared, and the pairs that were found to pass.
#[derive(Debug, Default)]
struct Comparisons<'a> {
    todo: &'a [Pair],
    found: Vec<RecordPair>,
    pattern: Pattern,
    /// The text that the pattern is made of.
    of: Option<u32>,
}

impl Comparisons<'_> {
    /// Compares the pairs in `todo`.
    fn compare(
        &mut self,
        comparison: &EditComparison,
        bound: Option<edit::GramBound>,
        stop: &Stop,
    ) -> Result<()> {
        let EditComparison { texts, edit, right_from } = comparison;
        while let Some((&Pair { left, right, similarity: jaccard }, rest)) = self.todo.split_first() {
            stop.check()?;
            if self.of != Some(left) {
                self.of = None;
                self.pattern.set(texts.text(left), edit.swaps)?;
                self.of = Some(left);
            }
            let (length, other) = (texts.length(left), texts.length(right));
            let longer = length.max(other);
            let guess = bound.map_or(longer, |bound| {
                let grams = |length: u32| (length + 1).saturating_sub(bound.q()).max(1);
                bound.guess(grams(length), grams(other), jaccard)
            });
            let most = edit.most_distance(longer);
            if let Some(distance) = self.pattern.distance(texts.text(right), other, most, guess, stop)? {
                let similarity = edit::similarity(distance, longer);
                let pair = RecordPair { left, right: right - right_from, similarity };
                memory::push(&mut self.found, pair, DOING)?;
            }
            self.todo = rest;
        }
        Ok(())
    }
}
