//! Compares documents with the later documents that share a list with them.

use super::signature_lists::SignatureLists;
use super::text_measure::{TextComparer, TextMeasure};
use crate::error::Result;
use crate::executor::Stop;
use crate::features::open_texts::OpenTexts;
use crate::features::texts::Texts;
use crate::joins::{Counts, RecordPair};
use crate::memory;

const DOING: &str = "comparing documents";

/// The documents to compare, and the measure of the comparison.
#[derive(Debug)]
pub(super) struct TextComparison {
    pub texts: Texts,
    pub lists: SignatureLists,
    pub ranks: Vec<u32>,
    pub measure: TextMeasure,
    /// The number of documents of the only or left table.
    pub split: u32,
    pub two: bool,
    /// For each document, whether it is compared with others; `None` if all documents are.
    pub representatives: Option<Vec<bool>>,
}

/// The scratch space of a worker.
#[derive(Debug)]
pub(super) struct ComparerScratch {
    comparer: TextComparer,
    /// For each document, the number of the last search for partners that met it.
    seen: Vec<u32>,
    looks: u32,
}

/// A range of documents, and the pairs found for them.
#[derive(Debug, Default)]
pub(super) struct DocumentRange {
    pub documents: std::ops::Range<u32>,
    /// The partners of the first document that are still to be compared, once they are known. They
    /// are taken from the end.
    pub partners: Option<Vec<u32>>,
    /// The documents that have partners, and these in ascending order, if the texts are in a file.
    pub listed: Vec<(u32, Vec<u32>)>,
    pub found: Vec<RecordPair>,
    pub counts: Counts,
}

impl ComparerScratch {
    pub(super) fn new(measure: TextMeasure) -> Result<Self> {
        Ok(Self { comparer: TextComparer::new(measure)?, seen: Vec::new(), looks: 0 })
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
        memory::lengthen(seen, 0, self.texts.len(), DOING)?;
        seen[document as usize] = *looks;
        let mut partners = Vec::new();
        for &list in self.lists.for_document(document) {
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
    pub(super) fn others(&self, document: u32, list: u32) -> &[u32] {
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

impl DocumentRange {
    /// Lists the partners of the remaining documents.
    pub(super) fn list(
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
    pub(super) fn work(
        &mut self,
        comparison: &TextComparison,
        texts: &OpenTexts<'_>,
        scratch: &mut ComparerScratch,
        stop: &Stop,
    ) -> Result<()> {
        let TextComparison { ranks, split, two, .. } = comparison;
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
                let before = scratch.comparer.counts();
                let first = !two && ranks[other as usize] < ranks[document as usize];
                let found = scratch.comparer.compare_right(texts.text(other), first, stop)?;
                let [compared, ruled_out] = scratch.comparer.counts();
                self.counts.verified += compared - before[0];
                self.counts.pruned_by_sketch += ruled_out - before[1];
                if let Some(similarity) = found {
                    let right = if *two { other - split } else { other };
                    let pair = RecordPair { left: document, right, similarity };
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
