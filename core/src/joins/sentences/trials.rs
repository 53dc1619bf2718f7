//! A trial finds out whether the documents of a frequent signature are near duplicates, or only
//! have a frame or a formula in common.
//!
//! The time to compare all documents with each other grows as the square of their number. So only
//! some pairs are compared. They depend only on the texts: they are neighbours in the order of the
//! hashes of the texts. If hardly any pair is similar, the signature is dropped. Similar documents
//! usually share other signatures that dissimilar documents do not have.

use std::ops::Range;
use std::sync::Mutex;

use super::lister::{SignedDocument, Verdict};
use super::signature_lists::DOING;
use crate::error::Result;
use crate::executor::{self, Executor, Stop};
use crate::features::texts::Distinct;
use crate::memory;
use crate::verify::tlcs::{Comparer, Parameters, Thresholds};

/// The number of pairs that are compared.
const PAIRS: usize = 64;
/// The number of these pairs that have to be similar. If one pair in ten is similar, that many
/// similar pairs are found 24 times out of 25. If the documents are pages in a frame, and each of
/// them is similar to one other page, that many are hardly ever found.
const LEAST: u32 = 3;

/// A signature that is not kept without a trial: it is dropped or tried.
#[derive(Debug)]
pub(super) struct Frequent {
    /// The range of the signature's entries.
    pub entries: Range<usize>,
    /// The decision on the signature.
    pub verdict: Verdict,
    /// The next pair to be compared.
    next: usize,
    /// The number of pairs that were similar.
    similar: u32,
}

impl Frequent {
    pub(super) fn new(entries: Range<usize>, verdict: Verdict) -> Self {
        Self { entries, verdict, next: 0, similar: 0 }
    }
}

/// The trials of signatures.
pub(super) struct Trials<'a> {
    distinct: &'a Distinct,
    parameters: Parameters,
    thresholds: Thresholds,
}

impl<'a> Trials<'a> {
    pub(super) fn new(distinct: &'a Distinct, (parameters, thresholds): (Parameters, Thresholds)) -> Self {
        Self { distinct, parameters, thresholds }
    }

    /// Replaces the verdict of every signature that is to be tried by the result of the trial.
    pub(super) fn hold(
        &self,
        entries: &[SignedDocument],
        frequent: &mut [Frequent],
        executor: &dyn Executor,
    ) -> Result<()> {
        let comparers = Mutex::new(Vec::new());
        executor::each(executor, frequent, |frequent, stop| {
            if frequent.verdict != Verdict::Tried {
                return Ok(());
            }
            let kept = comparers
                .lock()
                .ok()
                .and_then(|mut comparers: std::sync::MutexGuard<'_, Vec<Comparer>>| comparers.pop());
            let mut comparer = kept.map_or_else(|| Comparer::new(self.parameters), Ok)?;
            let done = self.hold_one(entries, frequent, &mut comparer, stop);
            if let Ok(mut comparers) = comparers.lock() {
                comparers.push(comparer);
            }
            done
        })
    }

    fn hold_one(
        &self,
        entries: &[SignedDocument],
        frequent: &mut Frequent,
        comparer: &mut Comparer,
        stop: &Stop,
    ) -> Result<()> {
        let texts = &self.distinct.texts;
        let split = self.distinct.left.len() as u32;
        let (mut lefts, mut rights) = (Vec::new(), Vec::new());
        for entry in &entries[frequent.entries.clone()] {
            let document = entry[1] as u32;
            let side = if document < split { &mut lefts } else { &mut rights };
            memory::push(side, (texts.hash(document), document), DOING)?;
        }
        for side in [&mut lefts, &mut rights] {
            executor::sort_unstable_by(side, stop, &|a, b| a.cmp(b))?;
        }
        let pairs = match self.distinct.right {
            Some(_) => PAIRS.min(lefts.len() * rights.len()),
            None => PAIRS.min(lefts.len() * lefts.len().saturating_sub(1) / 2),
        };
        while frequent.next < pairs {
            let n = frequent.next;
            // The pairs are taken in rounds, evenly spaced: direct neighbours first, then
            // neighbours at greater distances.
            let (a, b) = match self.distinct.right {
                Some(_) => {
                    let (a, of_left) = round(n, lefts.len().max(rights.len()));
                    let place = |side: &[(u64, u32)], more| {
                        (a * side.len() / lefts.len().max(rights.len()) + more) % side.len()
                    };
                    (lefts[place(&lefts, 0)].1, rights[place(&rights, of_left)].1)
                }
                None => {
                    let (a, behind) = round(n, lefts.len());
                    (lefts[a].1, lefts[(a + behind + 1) % lefts.len()].1)
                }
            };
            if comparer.compare(texts.text(a), texts.text(b), Some(&self.thresholds), stop)?.is_some() {
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
}

/// Returns the first document of the `n`th pair, as an index among `all` documents, and the round
/// of the pair.
fn round(n: usize, all: usize) -> (usize, usize) {
    let at_a_time = all.min(PAIRS);
    (n % at_a_time * all / at_a_time, n / at_a_time)
}
