//! A trial finds out whether the documents of a frequent signature are near duplicates, or only
//! have a frame or a formula in common.
//!
//! The time to compare all documents with each other grows as the square of their number. So only
//! some pairs are compared. They depend only on the texts: they are neighbours in the order of the
//! hashes of the texts. If hardly any pair is similar, the signature is dropped. Similar documents
//! usually share other signatures that dissimilar documents do not have.

use std::ops::Range;

use super::lister::{SignedDocument, Verdict};
use super::signature_lists::DOING;
use super::text_measure::{TextComparer, TextMeasure};
use crate::error::Result;
use crate::executor::{self, Executor, Pool, Stop};
use crate::features::open_texts::OpenTexts;
use crate::features::texts::Distinct;
use crate::memory;
use crate::storage::log::Log;

/// The number of pairs that are compared.
const PAIRS: usize = 64;
/// The number of these pairs that have to be similar. If one pair in ten is similar, that many
/// similar pairs are found 24 times out of 25. If the documents are pages in a frame, and each of
/// them is similar to one other page, that many are hardly ever found.
pub(crate) const LEAST: u32 = 3;

/// A signature that is not kept without a trial: it is dropped or tried.
#[derive(Debug)]
pub(super) struct TriedSignature {
    /// The range of the signature's entries.
    pub entries: Range<usize>,
    /// The decision on the signature.
    pub verdict: Verdict,
    /// The pairs to be compared, once they are chosen, and the next of them.
    pairs: Option<Vec<[u32; 2]>>,
    next: usize,
    /// The number of pairs that were similar.
    similar: u32,
}

impl TriedSignature {
    pub(super) fn new(entries: Range<usize>, verdict: Verdict) -> Self {
        Self { entries, verdict, pairs: None, next: 0, similar: 0 }
    }
}

/// The trials of signatures.
pub(super) struct Trials<'a> {
    distinct: &'a Distinct,
    measure: TextMeasure,
}

impl<'a> Trials<'a> {
    pub(super) fn new(distinct: &'a Distinct, measure: TextMeasure) -> Self {
        Self { distinct, measure }
    }

    /// Replaces the verdict of every signature that is to be tried by the result of the trial. If
    /// the texts are in a file, about `budget` bytes of them are in memory at a time.
    pub(super) fn hold(
        &self,
        entries: &[SignedDocument],
        frequent: &mut [TriedSignature],
        file: &mut Log<u8>,
        budget: usize,
        executor: &dyn Executor,
    ) -> Result<()> {
        executor::each(executor, frequent, |frequent, stop| {
            if frequent.verdict == Verdict::Tried && frequent.pairs.is_none() {
                frequent.pairs = Some(self.choose(&entries[frequent.entries.clone()], stop)?);
            }
            Ok(())
        })?;
        let texts = &self.distinct.texts;
        let mut rest = frequent;
        while !rest.is_empty() {
            let (mut bytes, mut wanted) = (0, Vec::new());
            let mut count = 0;
            while count < rest.len() && (!texts.are_in_file() || count == 0 || bytes < budget) {
                let pairs = rest[count].pairs.iter().flatten();
                for &text in pairs.flatten().filter(|_| texts.are_in_file()) {
                    bytes += texts.size(text);
                    memory::push(&mut wanted, text, DOING)?;
                }
                count += 1;
            }
            let (these, others) = rest.split_at_mut(count);
            self.compare(&texts.open(&mut wanted, file)?, these, executor)?;
            rest = others;
        }
        Ok(())
    }

    /// Compares the pairs of the signatures that are tried.
    fn compare(
        &self,
        texts: &OpenTexts<'_>,
        frequent: &mut [TriedSignature],
        executor: &dyn Executor,
    ) -> Result<()> {
        let comparers: Pool<TextComparer> = Pool::default();
        executor::each(executor, frequent, |frequent, stop| {
            if frequent.verdict != Verdict::Tried {
                return Ok(());
            }
            let new = || TextComparer::new(self.measure);
            comparers.with(new, |comparer| self.compare_one(texts, frequent, comparer, stop))
        })
    }

    fn compare_one(
        &self,
        texts: &OpenTexts<'_>,
        frequent: &mut TriedSignature,
        comparer: &mut TextComparer,
        stop: &Stop,
    ) -> Result<()> {
        let pairs = frequent.pairs.as_deref().unwrap_or_default();
        while let Some(&[a, b]) = pairs.get(frequent.next) {
            if comparer.compare(texts.text(a), texts.text(b), stop)?.is_some() {
                frequent.similar += 1;
            }
            frequent.next += 1;
            if frequent.similar == LEAST {
                frequent.verdict = Verdict::Kept;
                return Ok(());
            }
        }
        frequent.verdict = Verdict::Dropped;
        Ok(())
    }

    /// Chooses the pairs to be compared for a signature, given its entries.
    fn choose(&self, entries: &[SignedDocument], stop: &Stop) -> Result<Vec<[u32; 2]>> {
        let texts = &self.distinct.texts;
        let split = self.distinct.left.len() as u32;
        let (mut lefts, mut rights) = (Vec::new(), Vec::new());
        for entry in entries {
            let document = entry[1] as u32;
            let side = if document < split { &mut lefts } else { &mut rights };
            memory::push(side, (texts.hash(document), document), DOING)?;
        }
        for side in [&mut lefts, &mut rights] {
            executor::sort_unstable_by(side, stop, &|a, b| a.cmp(b))?;
        }
        trial_pairs(&lefts, self.distinct.right.as_ref().map(|_| &rights[..]))
    }
}

/// Returns the pairs of a trial among documents with the hashes of their texts, ascending: those of
/// the only table, or of two.
pub(crate) fn trial_pairs(lefts: &[(u64, u32)], rights: Option<&[(u64, u32)]>) -> Result<Vec<[u32; 2]>> {
    let count = match rights {
        Some(rights) => PAIRS.min(lefts.len() * rights.len()),
        None => PAIRS.min(lefts.len() * lefts.len().saturating_sub(1) / 2),
    };
    // The pairs are taken in rounds, evenly spaced: direct neighbours first, then neighbours at
    // greater distances.
    let pair = |n| match rights {
        Some(rights) => {
            let longer = lefts.len().max(rights.len());
            let (a, of_left) = round(n, longer);
            let place = |side: &[(u64, u32)], more| (a * side.len() / longer + more) % side.len();
            [lefts[place(lefts, 0)].1, rights[place(rights, of_left)].1]
        }
        None => {
            let (a, behind) = round(n, lefts.len());
            [lefts[a].1, lefts[(a + behind + 1) % lefts.len()].1]
        }
    };
    memory::collect((0..count).map(pair), DOING)
}

/// Returns the first document of the `n`th pair, as an index among `all` documents, and the round
/// of the pair.
fn round(n: usize, all: usize) -> (usize, usize) {
    let at_a_time = all.min(PAIRS);
    (n % at_a_time * all / at_a_time, n / at_a_time)
}
