//! Near duplicates by sentence signatures and their (trustable) longest common subsequence
//! (docs/design/algorithms.md section 5). Documents that have a signature in common are candidates,
//! and each pair of candidates is compared.
//!
//! The perhaps-similar sets of the representatives
//! ([`crate::clusters::perhaps_similar::of_signatures`]) yield the same candidates, because
//! documents with a signature in common are always in one set. So no pair is lost although the join
//! goes from document to document here, and pairs each document with the later documents that share
//! a list with it. If the sets themselves are wanted, the join compares only representatives, with
//! all documents that share a list with them.

mod comparison;
pub mod lister;
pub mod signature_lists;
pub mod signing;
pub mod text_measure;
pub(crate) mod trials;

use super::pairs::{Pairs, equal_records};
use super::{Counts, RecordJoin, RecordPair};
use crate::error::Result;
use crate::executor::{self, Executor, Pool, Stop};
use crate::features::texts::{Distinct, Texts};
use crate::memory;
use crate::storage::log::Log;
use comparison::{ComparerScratch, DocumentRange, TextComparison};
use signature_lists::SignatureLists;
use text_measure::TextMeasure;

const DOING: &str = "joining by sentence signatures";

/// Prepares the search for all pairs of rows whose texts are near duplicates: rows with equal
/// texts, and rows with different texts that share a list and pass the comparison. If the texts are
/// in a file, about `budget` bytes of them are in memory at a time.
pub fn sentence_pairs(
    distinct: Distinct,
    lists: SignatureLists,
    ranks: Vec<u32>,
    measure: TextMeasure,
    (file, budget): (Log<u8>, usize),
) -> Result<Pairs> {
    let equal = equal_rows(&distinct)?;
    let Distinct { texts, left, right } = distinct;
    let split = left.len() as u32;
    let two = right.is_some();
    let comparison = TextComparison { texts, lists, ranks, measure, split, two, representatives: None };
    Ok(Pairs::of_records(Box::new(SentenceJoin::new(comparison, file, budget)?), left, right, equal))
}

/// Prepares the comparison of the representatives of one table with all documents that share a list
/// with them, in the order of the documents. No two representatives share a list.
pub fn representative_pairs(
    texts: Texts,
    lists: SignatureLists,
    ranks: Vec<u32>,
    representatives: Vec<bool>,
    measure: TextMeasure,
    (file, budget): (Log<u8>, usize),
) -> Result<impl RecordJoin> {
    let split = texts.len() as u32;
    let representatives = Some(representatives);
    let comparison = TextComparison { texts, lists, ranks, measure, split, two: false, representatives };
    SentenceJoin::new(comparison, file, budget)
}

/// Returns the texts that several rows of the only table have, unless they are only white space,
/// which is similar to nothing.
pub fn equal_rows(distinct: &Distinct) -> Result<Vec<u32>> {
    equal_records(&distinct.left, distinct.right.as_ref(), |text| !distinct.texts.is_blank(text))
}

/// A join in progress.
#[derive(Debug)]
struct SentenceJoin {
    comparison: TextComparison,
    /// The file of the texts, if they are in one, and the bytes of them to have in memory.
    file: Log<u8>,
    budget: usize,
    /// The scratch space of workers, while none is using it.
    scratch: Pool<ComparerScratch>,
    /// The first document whose partners have not been searched.
    next: u32,
    counts: Counts,
}

impl SentenceJoin {
    fn new(comparison: TextComparison, file: Log<u8>, budget: usize) -> Result<Self> {
        if let TextMeasure::Subsequence(parameters, _) = comparison.measure {
            parameters.check()?;
        }
        let (scratch, counts) = (Pool::default(), Counts::default());
        Ok(Self { comparison, file, budget, scratch, next: 0, counts })
    }

    /// Compares the pairs of some units, whose texts are in a file, in groups whose texts fit.
    fn work_in_file(
        &mut self,
        mut units: Vec<DocumentRange>,
        executor: &dyn Executor,
    ) -> Result<Vec<RecordPair>> {
        let comparison = &self.comparison;
        self.each(&mut units, executor, |unit, scratch, stop| unit.list(comparison, scratch, stop))?;
        let (mut group, mut wanted, mut batch) = (Vec::new(), WantedTexts::default(), Vec::new());
        for unit in units {
            self.counts.add(&unit.counts);
            for (document, partners) in unit.listed {
                let mut from = 0;
                while from < partners.len() {
                    let texts = &self.comparison.texts;
                    let mut is_full = wanted.add(document, texts, self.budget)?;
                    let mut own = Vec::new();
                    while from < partners.len() && (!is_full || own.is_empty()) {
                        is_full = wanted.add(partners[from], texts, self.budget)?;
                        memory::push(&mut own, partners[from], DOING)?;
                        from += 1;
                    }
                    own.reverse();
                    let documents = document..document + 1;
                    let part = DocumentRange { documents, partners: Some(own), ..DocumentRange::default() };
                    memory::push(&mut group, part, DOING)?;
                    if is_full {
                        self.compare(&mut group, &mut wanted, &mut batch, executor)?;
                    }
                }
            }
        }
        self.compare(&mut group, &mut wanted, &mut batch, executor)?;
        Ok(batch)
    }

    /// Compares a group of documents with their partners, whose texts are in a file.
    fn compare(
        &mut self,
        group: &mut Vec<DocumentRange>,
        wanted: &mut WantedTexts,
        batch: &mut Vec<RecordPair>,
        executor: &dyn Executor,
    ) -> Result<()> {
        executor.check_interrupts()?;
        let comparison = &self.comparison;
        let texts = comparison.texts.open(&mut wanted.texts, &mut self.file)?;
        self.each(group, executor, |unit, scratch, stop| unit.work(comparison, &texts, scratch, stop))?;
        drop(texts);
        self.take(group, batch)?;
        *wanted = WantedTexts::default();
        group.clear();
        Ok(())
    }

    /// Moves the pairs that units found to a batch.
    fn take(&mut self, units: &mut [DocumentRange], batch: &mut Vec<RecordPair>) -> Result<()> {
        memory::reserve(batch, units.iter().map(|unit| unit.found.len()).sum(), DOING)?;
        for unit in units {
            batch.append(&mut unit.found);
            self.counts.add(&unit.counts);
        }
        Ok(())
    }

    /// Calls `work` for each unit, with scratch space.
    fn each(
        &self,
        units: &mut [DocumentRange],
        executor: &dyn Executor,
        work: impl Fn(&mut DocumentRange, &mut ComparerScratch, &Stop) -> Result<()> + Sync,
    ) -> Result<()> {
        let (scratch, measure) = (&self.scratch, self.comparison.measure);
        executor::each(executor, units, |unit, stop| {
            scratch.with(|| ComparerScratch::new(measure), |scratch| work(unit, scratch, stop))
        })
    }
}

/// Texts to be read from a file.
#[derive(Debug, Default)]
struct WantedTexts {
    texts: Vec<u32>,
    /// The bytes of the texts, which may be repeated.
    bytes: usize,
}

impl WantedTexts {
    /// Adds a text. Returns true if the texts are enough to fill `budget` bytes.
    fn add(&mut self, text: u32, all: &Texts, budget: usize) -> Result<bool> {
        memory::push(&mut self.texts, text, DOING)?;
        self.bytes += all.size(text);
        if self.bytes <= budget {
            return Ok(false);
        }
        self.texts.sort_unstable();
        self.texts.dedup();
        self.bytes = self.texts.iter().map(|&text| all.size(text)).sum();
        Ok(2 * self.bytes > budget)
    }
}

impl RecordJoin for SentenceJoin {
    fn next_batch(&mut self, executor: &dyn Executor) -> Result<Option<Vec<RecordPair>>> {
        /// The least number of postings of a batch and of a unit of work, and the least number of
        /// units of a batch.
        const BATCH: usize = 1 << 14;
        const UNIT: usize = 1 << 7;
        const UNITS: usize = 64;
        let comparison = &self.comparison;
        if self.next == comparison.split {
            return Ok(None);
        }
        let mut units: Vec<DocumentRange> = Vec::new();
        let (mut from, mut to, mut all, mut own) = (self.next, self.next, 0, 0);
        while to < comparison.split && (all < BATCH || units.len() < UNITS) {
            let postings: usize =
                comparison.lists.for_document(to).iter().map(|&list| comparison.others(to, list).len()).sum();
            // The search for partners itself has a cost, too.
            all += postings + 1;
            own += postings + 1;
            to += 1;
            if own >= UNIT || to == comparison.split {
                units.push(DocumentRange { documents: from..to, ..DocumentRange::default() });
                (from, own) = (to, 0);
            }
        }
        self.next = from;
        if comparison.texts.are_in_file() {
            return self.work_in_file(units, executor).map(Some);
        }
        let texts = comparison.texts.open(&mut Vec::new(), &mut self.file)?;
        self.each(&mut units, executor, |unit, scratch, stop| unit.work(comparison, &texts, scratch, stop))?;
        drop(texts);
        let mut batch = Vec::new();
        self.take(&mut units, &mut batch)?;
        Ok(Some(batch))
    }

    fn counts(&self) -> Counts {
        let dropped = self.comparison.lists.dropped;
        Counts { stop_signatures: dropped.signatures, stop_documents: dropped.documents, ..self.counts }
    }

    fn progress(&self) -> f64 {
        f64::from(self.next) / f64::from(self.comparison.split.max(1))
    }

    fn bytes(&self) -> usize {
        self.comparison.texts.bytes() + self.comparison.lists.bytes() + memory::bytes(&self.comparison.ranks)
    }
}
