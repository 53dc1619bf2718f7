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

mod lister;
pub mod signature_lists;
pub mod signing;
pub mod stop_rules;
mod trials;

use std::sync::Mutex;

use super::pairs::Pairs;
use super::{Counts, RecordJoin, RecordPair};
use crate::error::Result;
use crate::executor::{self, Executor, Stop};
use crate::features::open_texts::OpenTexts;
use crate::features::text_file::TextFile;
use crate::features::texts::{Distinct, Texts};
use crate::memory;
use crate::verify::tlcs::{Comparer, Parameters, Thresholds};
use signature_lists::SignatureLists;

const DOING: &str = "joining by sentence signatures";

/// Prepares the search for all pairs of rows whose texts are near duplicates: rows with equal
/// texts, and rows with different texts that share a list and pass the comparison. If the texts are
/// in a file, about `budget` bytes of them are in memory at a time.
pub fn sentence_pairs(
    distinct: Distinct,
    lists: SignatureLists,
    ranks: Vec<u32>,
    (parameters, thresholds): (Parameters, Thresholds),
    (file, budget): (TextFile, usize),
) -> Result<Pairs> {
    let equal = if distinct.right.is_none() { equal_rows(&distinct)? } else { Vec::new() };
    let Distinct { texts, left, right } = distinct;
    let split = left.len() as u32;
    let two = right.is_some();
    let comparison =
        TextComparison { texts, lists, ranks, parameters, thresholds, split, two, representatives: None };
    Ok(Pairs::of_records(Box::new(SentenceJoin::new(comparison, file, budget)?), left, right, equal))
}

/// Prepares the comparison of the representatives of one table with all documents that share a list
/// with them, in the order of the documents. No two representatives share a list.
pub fn representative_pairs(
    texts: Texts,
    lists: SignatureLists,
    ranks: Vec<u32>,
    representatives: Vec<bool>,
    (parameters, thresholds): (Parameters, Thresholds),
    (file, budget): (TextFile, usize),
) -> Result<impl RecordJoin> {
    let split = texts.len() as u32;
    let representatives = Some(representatives);
    let comparison =
        TextComparison { texts, lists, ranks, parameters, thresholds, split, two: false, representatives };
    SentenceJoin::new(comparison, file, budget)
}

/// Returns the texts that several rows of the left table have. Texts of only white space are left
/// out, because they are similar to nothing.
pub fn equal_rows(distinct: &Distinct) -> Result<Vec<u32>> {
    let mut equal = Vec::new();
    for record in (0..distinct.left.len()).filter(|&record| distinct.left.rows(record).len() > 1) {
        // Text numbers have 32 bits.
        let record = record as u32;
        if !distinct.texts.is_blank(record) {
            memory::push(&mut equal, record, DOING)?;
        }
    }
    Ok(equal)
}

/// A join in progress.
#[derive(Debug)]
struct SentenceJoin {
    comparison: TextComparison,
    /// The file of the texts, if they are in one, and the bytes of them to have in memory.
    file: TextFile,
    budget: usize,
    /// The scratch space of workers, while none is using it.
    scratch: Mutex<Vec<ComparerScratch>>,
    /// The first document whose partners have not been searched.
    next: u32,
    counts: Counts,
}

/// The documents to compare, and the parameters of the comparison.
#[derive(Debug)]
struct TextComparison {
    texts: Texts,
    lists: SignatureLists,
    ranks: Vec<u32>,
    parameters: Parameters,
    thresholds: Thresholds,
    /// The number of documents of the only or left table.
    split: u32,
    two: bool,
    /// For each document, whether it is compared with others; `None` if all documents are.
    representatives: Option<Vec<bool>>,
}

impl SentenceJoin {
    fn new(comparison: TextComparison, file: TextFile, budget: usize) -> Result<Self> {
        comparison.parameters.check()?;
        let (scratch, counts) = (Mutex::default(), Counts::default());
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
        let (mut group, mut wanted, mut batch) = (Vec::new(), Wanted::default(), Vec::new());
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
        wanted: &mut Wanted,
        batch: &mut Vec<RecordPair>,
        executor: &dyn Executor,
    ) -> Result<()> {
        executor.check_interrupts()?;
        let comparison = &self.comparison;
        let texts = comparison.texts.open(&mut wanted.texts, &mut self.file)?;
        self.each(group, executor, |unit, scratch, stop| unit.work(comparison, &texts, scratch, stop))?;
        drop(texts);
        self.take(group, batch)?;
        *wanted = Wanted::default();
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
        let (scratch, parameters) = (&self.scratch, self.comparison.parameters);
        executor::each(executor, units, |unit, stop| {
            let kept = scratch.lock().ok().and_then(|mut scratch| scratch.pop());
            let mut own = match kept {
                Some(own) => own,
                None => {
                    ComparerScratch { comparer: Comparer::new(parameters)?, ..ComparerScratch::default() }
                }
            };
            let done = work(unit, &mut own, stop);
            if let Ok(mut scratch) = scratch.lock() {
                scratch.push(own);
            }
            done
        })
    }
}

/// The scratch space of a worker.
#[derive(Debug, Default)]
struct ComparerScratch {
    comparer: Comparer,
    /// For each document, the number of the last search for partners that met it.
    seen: Vec<u32>,
    looks: u32,
}

/// A range of documents, and the pairs found for them.
#[derive(Debug, Default)]
struct DocumentRange {
    documents: std::ops::Range<u32>,
    /// The partners of the first document that are still to be compared, once they are known. They
    /// are taken from the end.
    partners: Option<Vec<u32>>,
    /// The documents that have partners, and these in ascending order, if the texts are in a file.
    listed: Vec<(u32, Vec<u32>)>,
    found: Vec<RecordPair>,
    counts: Counts,
}

/// Texts to be read from a file.
#[derive(Debug, Default)]
struct Wanted {
    texts: Vec<u32>,
    /// The bytes of the texts, which may be repeated.
    bytes: usize,
}

impl Wanted {
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

impl TextComparison {
    /// Returns the documents that share a list with a document and are paired with it, each once,
    /// in ascending order.
    fn partners(&self, document: u32, scratch: &mut ComparerScratch, stop: &Stop) -> Result<Vec<u32>> {
        let ComparerScratch { seen, looks, .. } = scratch;
        if *looks == u32::MAX {
            seen.fill(0);
            *looks = 0;
        }
        *looks += 1;
        if seen.len() < self.texts.len() {
            memory::reserve(seen, self.texts.len() - seen.len(), DOING)?;
            seen.resize(self.texts.len(), 0);
        }
        seen[document as usize] = *looks;
        let mut partners = Vec::new();
        for &list in self.lists.of(document) {
            stop.check()?;
            for &other in self.others(document, list) {
                if seen[other as usize] != *looks {
                    seen[other as usize] = *looks;
                    memory::push(&mut partners, other, DOING)?;
                }
            }
        }
        partners.sort_unstable();
        Ok(partners)
    }

    /// Returns the documents of a list that a document is paired with, possibly including itself.
    fn others(&self, document: u32, list: u32) -> &[u32] {
        let documents = self.lists.documents(list as usize);
        let first = match &self.representatives {
            Some(representatives) if representatives[document as usize] => 0,
            Some(_) => self.texts.len() as u32,
            None if self.two => self.split,
            None => document + 1,
        };
        &documents[documents.partition_point(|&other| other < first)..]
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
                comparison.lists.of(to).iter().map(|&list| comparison.others(to, list).len()).sum();
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

impl DocumentRange {
    /// Lists the partners of the remaining documents.
    fn list(
        &mut self,
        comparison: &TextComparison,
        scratch: &mut ComparerScratch,
        stop: &Stop,
    ) -> Result<()> {
        while let Some(document) = self.documents.clone().next() {
            let partners = comparison.partners(document, scratch, stop)?;
            self.counts.candidates += partners.len() as u64;
            if !partners.is_empty() {
                memory::push(&mut self.listed, (document, partners), DOING)?;
            }
            self.documents.start += 1;
        }
        Ok(())
    }

    /// Compares the remaining pairs, whose texts are open.
    fn work(
        &mut self,
        comparison: &TextComparison,
        texts: &OpenTexts<'_>,
        scratch: &mut ComparerScratch,
        stop: &Stop,
    ) -> Result<()> {
        let TextComparison { ranks, thresholds, split, two, .. } = comparison;
        while let Some(document) = self.documents.clone().next() {
            let partners = match &mut self.partners {
                Some(partners) => partners,
                none => {
                    let mut partners = comparison.partners(document, scratch, stop)?;
                    self.counts.candidates += partners.len() as u64;
                    partners.reverse();
                    none.insert(partners)
                }
            };
            if !partners.is_empty() {
                scratch.comparer.set_left(texts.text(document), stop)?;
            }
            while let Some(&other) = partners.last() {
                stop.check()?;
                if let [.., after, next, _] = partners[..] {
                    texts.prefetch_place(after);
                    texts.prefetch(next);
                }
                let before = scratch.comparer.steps();
                let first = !two && ranks[other as usize] < ranks[document as usize];
                let found =
                    scratch.comparer.compare_right(texts.text(other), first, Some(thresholds), stop)?;
                let steps = scratch.comparer.steps();
                self.counts.verified += steps.aligned - before.aligned;
                self.counts.pruned_by_sketch += steps.filtered - before.filtered;
                if let Some(found) = found {
                    let right = if *two { other - split } else { other };
                    let pair = RecordPair { left: document, right, similarity: found.resemblance() };
                    memory::push(&mut self.found, pair, DOING)?;
                }
                partners.pop();
            }
            self.partners = None;
            self.documents.start += 1;
        }
        Ok(())
    }
}
