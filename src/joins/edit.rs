//! The exact join by edit distance (docs/design/algorithms.md section 8): texts that share as many q-grams as similar
//! ones do, then their true distance.
//!
//! The join of gram sets is that of words and shingles, with its prefixes, bitmaps and positions; only
//! its bound is another ([`GramBound`]). Equal texts are one record, and only distinct ones are compared.
//!
//! Similar texts may have no gram in common where they are short for the length of a gram: aaac and aabc at
//! q = 3. So q is chosen by the threshold, small enough that similar texts always share one
//! ([`GramBound::new`]), and no pair has to be tried without a common gram.
//!
//! ```
//! use neardup::joins::edit::edit_pairs;
//! use neardup::joins::sets::Algorithm;
//! use neardup::files::NoFiles;
//! use neardup::features::texts::{TextCollector, distinct};
//! use neardup::verify::edit::EditPredicate;
//! use neardup::workers::PlainThreads;
//!
//! let mut collector = TextCollector::default();
//! for (row, text) in ["Port Ellis", "port Ellis", "Ellis port"].iter().enumerate() {
//!     collector.add(row as u32, text)?;
//! }
//! let texts = distinct(vec![collector], None, &PlainThreads(1))?;
//! let (edit, algorithm) = (EditPredicate::new(0.8)?, Algorithm::Auto);
//! let (mut pairs, _) = edit_pairs(texts, edit, algorithm, &NoFiles, usize::MAX, &PlainThreads(1))?;
//! let pair = pairs.next(&PlainThreads(1))?.expect("a pair");
//! assert_eq!((pair.left.min(pair.right), pair.left.max(pair.right), pair.similarity), (0, 1, 0.9));
//! assert_eq!(pairs.next(&PlainThreads(1))?, None);
//! # Ok::<(), neardup::error::Error>(())
//! ```

use super::pairs::{Pair, Pairs};
use super::sets::Algorithm;
use super::{Counts, RecordJoin, RecordPair};
use crate::error::Result;
use crate::features::sets::grams::{GramSets, gram_sets};
use crate::features::texts::{Distinct, Texts};
use crate::files::TempFiles;
use crate::memory;
use crate::verify::edit::{self, EditPredicate, GramBound};
use crate::verify::levenshtein::Pattern;
use crate::verify::predicate::Predicate;
use crate::workers::{self, Stop, Workers};

const DOING: &str = "joining by edit distance";

/// What was prepared for a join.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Prepared {
    /// Grams of all distinct texts.
    pub grams: u64,
    /// Different ones.
    pub distinct_grams: u64,
    /// Distinct texts, of both tables.
    pub distinct_texts: u64,
    /// The most bytes that were held at one time.
    pub peak_bytes: usize,
}

/// Makes ready to find all pairs of rows whose texts are similar. The texts stay in memory; their gram
/// sets and the index take about `budget` bytes at a time.
pub fn edit_pairs(
    distinct: Distinct,
    edit: EditPredicate,
    algorithm: Algorithm,
    files: &dyn TempFiles,
    budget: usize,
    workers: &dyn Workers,
) -> Result<(Pairs, Prepared)> {
    let Distinct { texts, left, right } = distinct;
    let bound = GramBound::new(edit);
    // Rows and so texts are numbered with 32 bits.
    let split = left.len() as u32;
    let rights = right.as_ref().map(|right| split..split + right.len() as u32);
    let GramSets { ordered, grams, peak_bytes } =
        gram_sets(&texts, 0..split, rights, bound.q(), files, budget, workers)?;
    let prepared = Prepared {
        grams,
        distinct_grams: ordered.distinct_tokens as u64,
        distinct_texts: texts.len() as u64,
        peak_bytes: peak_bytes + texts.bytes(),
    };
    let mut equal = Vec::new();
    if right.is_none() {
        for record in (0..split).filter(|&record| left.rows(record as usize).len() > 1) {
            memory::push(&mut equal, record, DOING)?;
        }
    }
    let grams = Pairs::new(ordered, Predicate::Grams(bound), algorithm, budget)?;
    let right_from = if right.is_some() { split } else { 0 };
    let join = EditJoin {
        comparison: EditComparison { texts, edit, bound, right_from },
        grams,
        verified: 0,
        batch: 32,
    };
    Ok((Pairs::of_records(Box::new(join), left, right, equal), prepared))
}

/// A join of distinct texts on its way.
#[derive(Debug)]
struct EditJoin {
    comparison: EditComparison,
    /// Pairs of texts that share enough grams, in place of rows.
    grams: Pairs,
    /// How many of them were compared.
    verified: u64,
    /// How many pairs the last batch compared at most.
    batch: usize,
}

/// What is compared, and how.
#[derive(Debug)]
struct EditComparison {
    texts: Texts,
    edit: EditPredicate,
    bound: GramBound,
    /// The number of the first text of the right table, 0 where there is one table.
    right_from: u32,
}

impl EditJoin {
    /// The next pairs to be compared, about as many as take a fraction of a second, perhaps none; nothing
    /// when there are no more. Those of one left text stand together.
    fn candidates(&mut self, workers: &dyn Workers) -> Result<Option<Vec<Pair>>> {
        const LARGEST_BATCH: usize = 1 << 16;
        const MOST_WORK: u64 = 1 << 26;
        // The first pairs come soon, the others with less effort.
        self.batch = (2 * self.batch).min(LARGEST_BATCH);
        let (mut candidates, mut work, mut waited) = (Vec::new(), 0, false);
        while candidates.len() < self.batch && work < MOST_WORK {
            if let Some(pair) = self.grams.take() {
                memory::push(&mut candidates, pair, DOING)?;
                work += self.comparison.work(&pair);
                waited = false;
            } else if waited {
                break;
            } else if self.grams.advance(workers)? {
                waited = true;
            } else if candidates.is_empty() {
                return Ok(None);
            } else {
                break;
            }
        }
        candidates.sort_unstable_by_key(|pair| (pair.left, pair.right));
        Ok(Some(candidates))
    }
}

impl EditComparison {
    /// About how many steps a comparison takes.
    fn work(&self, pair: &Pair) -> u64 {
        let longer = self.texts.length(pair.left).max(self.texts.length(pair.right));
        64 + u64::from(longer) * (1 + u64::from(self.edit.most_distance(longer)) / 64)
    }
}

impl RecordJoin for EditJoin {
    fn next_batch(&mut self, workers: &dyn Workers) -> Result<Option<Vec<RecordPair>>> {
        const WORK_A_UNIT: u64 = 1 << 20;
        let Some(candidates) = self.candidates(workers)? else { return Ok(None) };
        let mut units = Vec::new();
        let (mut from, mut work) = (0, 0);
        for (n, pair) in candidates.iter().enumerate() {
            work += self.comparison.work(pair);
            if work >= WORK_A_UNIT || n + 1 == candidates.len() {
                units.push(Comparisons { todo: &candidates[from..=n], ..Comparisons::default() });
                (from, work) = (n + 1, 0);
            }
        }
        workers::each(workers, &mut units, |unit, stop| unit.compare(&self.comparison, stop))?;
        let mut batch = Vec::new();
        memory::reserve(&mut batch, units.iter().map(|unit| unit.found.len()).sum(), DOING)?;
        units.iter().for_each(|unit| batch.extend_from_slice(&unit.found));
        self.verified += candidates.len() as u64;
        Ok(Some(batch))
    }

    fn counts(&self) -> Counts {
        Counts { verified: self.verified, ..self.grams.counts() }
    }

    fn progress(&self) -> f64 {
        self.grams.progress()
    }

    fn bytes(&self) -> usize {
        self.comparison.texts.bytes() + self.grams.bytes()
    }
}

/// Some pairs to be compared, and those of them that pass.
#[derive(Debug, Default)]
struct Comparisons<'a> {
    todo: &'a [Pair],
    found: Vec<RecordPair>,
    pattern: Pattern,
    /// The text that the pattern is of.
    of: Option<u32>,
}

impl Comparisons<'_> {
    /// Compares the pairs that are still to be compared.
    fn compare(&mut self, comparison: &EditComparison, stop: &Stop) -> Result<()> {
        let EditComparison { texts, edit, bound, right_from } = comparison;
        while let Some((&Pair { left, right, similarity: jaccard }, rest)) = self.todo.split_first() {
            stop.check()?;
            if self.of != Some(left) {
                self.of = None;
                self.pattern.set(texts.text(left))?;
                self.of = Some(left);
            }
            let (length, other) = (texts.length(left), texts.length(right));
            let longer = length.max(other);
            let grams = |length: u32| length + 1 - bound.q();
            let guess = bound.guess(grams(length), grams(other), jaccard);
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
