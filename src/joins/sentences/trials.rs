//! Whether the documents of a frequent signature are near duplicates, or have a frame or a formula in common.
//!
//! To compare all of them with each other takes a time that grows as the square of their number. So some pairs are
//! compared, which the texts alone decide on: neighbours in the order of the hashes of the texts. Where hardly any is
//! similar the signature is dropped. Documents that are similar have, as a rule, signatures in common that others have not.

use std::ops::Range;
use std::sync::Mutex;

use super::lister::{SignedDocument, Verdict};
use super::signature_lists::DOING;
use crate::error::Result;
use crate::executor::{self, Executor, Stop};
use crate::features::texts::Distinct;
use crate::memory;
use crate::verify::tlcs::{Comparer, Parameters, Thresholds};

/// Pairs that are compared.
const PAIRS: usize = 64;
/// As many of them have to be similar. Of documents of which one pair in ten is, as many are found 24 times out of 25; of
/// pages in a frame, of which each is similar to one other, hardly ever.
const LEAST: u32 = 3;

/// A signature that is not simply kept.
#[derive(Debug)]
pub(super) struct Frequent {
    /// Where its entries are.
    pub entries: Range<usize>,
    /// What becomes of it.
    pub verdict: Verdict,
    /// The next pair to be compared.
    next: usize,
    /// How many were similar.
    similar: u32,
}

impl Frequent {
    pub(super) fn new(entries: Range<usize>, verdict: Verdict) -> Self {
        Self { entries, verdict, next: 0, similar: 0 }
    }
}

/// Tries signatures.
pub(super) struct Trials<'a> {
    distinct: &'a Distinct,
    parameters: Parameters,
    thresholds: Thresholds,
}

impl<'a> Trials<'a> {
    pub(super) fn new(distinct: &'a Distinct, (parameters, thresholds): (Parameters, Thresholds)) -> Self {
        Self { distinct, parameters, thresholds }
    }

    /// Turns the verdict of every signature that is to be tried into what the trial says.
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
            // Rounds of neighbours, evenly taken: the next ones first, then those behind these.
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

/// Which of `all` the `n`th pair begins with, and in which round.
fn round(n: usize, all: usize) -> (usize, usize) {
    let at_a_time = all.min(PAIRS);
    (n % at_a_time * all / at_a_time, n / at_a_time)
}
