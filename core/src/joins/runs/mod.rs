//! The exact join of texts by the share of their tokens that is in runs which both texts have.
//!
//! Two texts with such a run have an anchor in common. Of each text only the rarest anchors are
//! looked up: those that are left out cover too few tokens to make the share alone (as with the
//! prefixes of sets). The share of a candidate is then computed from all windows of both texts.

mod anchors;
mod compared;
mod frequent;

pub use compared::RunRule;

use super::keys::for_each_meeting;
use super::pairs::Pairs;
use super::{Counts, RecordJoin, RecordPair};
use crate::error::Result;
use crate::executor::{self, Executor, Stop};
use crate::features::sets::records::Members;
use crate::features::texts::Distinct;
use crate::memory;
use crate::resources::Resources;
use crate::storage::sort::{Sorted, Sorter};
use crate::verify::shared_windows::SharedWindows;
use compared::{CompareScratch, DOING, RunTexts};
pub use frequent::FrequentWindows;

/// A join that is prepared, and what is known before it runs.
#[derive(Debug)]
pub struct PreparedRuns {
    /// The pairs to come.
    pub pairs: Pairs,
    /// The number of tokens of all distinct texts.
    pub tokens: u64,
    /// The windows that do not count, as too many documents have them.
    pub frequent: FrequentWindows,
}

/// Prepares to find all pairs of rows whose texts pass. The texts stay in memory.
pub fn run_pairs(
    distinct: Distinct,
    rule: RunRule,
    resources: Resources<'_>,
    progress: &mut dyn FnMut(&'static str),
) -> Result<PreparedRuns> {
    let Resources { files, budget, executor } = resources;
    let Distinct { texts, left, right } = distinct;
    // Texts are numbered with 32 bits.
    let right_from = right.as_ref().map(|_| left.len() as u32);
    let mut compared = RunTexts { right_from, texts, rule, lengths: Vec::new(), frequent: Vec::new() };
    progress("choosing anchors");
    let mut anchors = compared.anchors(resources)?.sorted(executor)?;
    let mut frequent = FrequentWindows::default();
    let mut counted = None;
    if let Some(most) = rule.max_documents {
        progress("counting the documents of windows");
        let rows = |record: u32| documents(record, &left, right.as_ref());
        (compared.frequent, frequent) = compared.frequent(most, &mut anchors, &rows, resources)?;
        anchors.rewind(executor)?;
        if !compared.frequent.is_empty() {
            let rest = compared.anchors_that_count(resources)?;
            (anchors, counted) = (rest.anchors.sorted(executor)?, Some(rest.tokens));
            frequent.documents = rest.left_out.iter().map(|&record| rows(record)).sum();
        }
    }
    progress("looking for shared anchors");
    let ranked = compared.ranked(anchors, resources)?;
    let postings = compared.postings(ranked.sorted(executor)?, resources)?;
    let (postings, mut candidates) = (postings.sorted(executor)?, Sorter::new(files, budget / 4));
    for_each_meeting(postings, right_from.is_none(), u64::MAX, executor, |one, other| {
        // Texts are numbered with 32 bits.
        candidates.push([one as u32, other as u32], executor)
    })?;
    let (mut equal, mut similarities) = (Vec::new(), Vec::new());
    if right.is_none() {
        for record in (0..left.len()).filter(|&record| left.rows(record).len() > 1) {
            let length = compared.lengths[record];
            let shared = match &counted {
                Some(tokens) => tokens[record],
                None if length as usize >= rule.least => length,
                None => 0,
            };
            let similarity = rule.of.share([shared; 2], [length; 2]);
            if shared > 0 && similarity >= rule.threshold {
                memory::push(&mut equal, record as u32, DOING)?;
                memory::push(&mut similarities, similarity, DOING)?;
            }
        }
    }
    let tokens = compared.lengths.iter().map(|&length| u64::from(length)).sum();
    let (total, counts) = (candidates.len(), Counts::default());
    let join = RunJoin { compared, candidates: candidates.sorted(executor)?, total, last: None, counts };
    let pairs = Pairs::of_records(Box::new(join), left, right, equal).with_similarities(similarities);
    Ok(PreparedRuns { pairs, tokens, frequent })
}

/// Returns the number of documents that have a text.
fn documents(record: u32, left: &Members, right: Option<&Members>) -> u64 {
    let record = record as usize;
    let rows = match (record.checked_sub(left.len()), right) {
        (Some(record), Some(right)) => right.rows(record),
        _ => left.rows(record),
    };
    rows.len() as u64
}

/// A join of distinct texts, in progress.
struct RunJoin {
    compared: RunTexts,
    candidates: Sorted<[u32; 2]>,
    /// The number of candidates, repeats included.
    total: u64,
    last: Option<[u32; 2]>,
    counts: Counts,
}

impl std::fmt::Debug for RunJoin {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "a join of {} texts by {:?}", self.compared.texts.len(), self.compared.rule)
    }
}

impl RunTexts {
    /// Computes the shares of pairs that have the left text in common.
    fn compare(&self, pairs: &mut ComparedCandidates, stop: &Stop) -> Result<()> {
        let mut space = CompareScratch::default();
        let mut left: Option<(u32, SharedWindows)> = None;
        pairs.found.clear();
        for &[a, b] in &pairs.of {
            let mut of_left = match left.take().filter(|(record, _)| *record == a) {
                Some((_, windows)) => windows,
                None => {
                    self.read(a, &mut space, stop)?;
                    // What the left text does not have is not in common.
                    SharedWindows::new(&space.tokens, self.rule.least, &self.frequent, stop)?
                }
            };
            self.read(b, &mut space, stop)?;
            let shared = of_left.shared_tokens(&space.tokens, stop)?;
            left = Some((a, of_left));
            let lengths = [a, b].map(|record| self.lengths[record as usize]);
            let similarity = self.rule.of.share(shared, lengths);
            if similarity >= self.rule.threshold {
                let right = b - self.right_from.unwrap_or(0);
                memory::push(&mut pairs.found, RecordPair { left: a, right, similarity }, DOING)?;
            }
        }
        Ok(())
    }
}

/// Some candidates, and those of them that pass.
#[derive(Default)]
struct ComparedCandidates {
    of: Vec<[u32; 2]>,
    found: Vec<RecordPair>,
}

impl RecordJoin for RunJoin {
    fn next_batch(&mut self, executor: &dyn Executor) -> Result<Option<Vec<RecordPair>>> {
        let mut slices: Vec<ComparedCandidates> = Vec::new();
        let mut ended = false;
        while slices.len() < 4 * executor.count() && !ended {
            let mut slice = ComparedCandidates::default();
            while slice.of.len() < RunTexts::SLICE as usize {
                let Some(pair) = self.candidates.next(executor)? else {
                    ended = true;
                    break;
                };
                self.counts.candidates += 1;
                if self.last.replace(pair) != Some(pair) {
                    memory::push(&mut slice.of, pair, DOING)?;
                }
            }
            self.counts.verified += slice.of.len() as u64;
            memory::push(&mut slices, slice, DOING)?;
        }
        if slices.iter().all(|slice| slice.of.is_empty()) {
            return Ok(None);
        }
        let compared = &self.compared;
        executor::each(executor, &mut slices, |slice, stop| compared.compare(slice, stop))?;
        Ok(Some(slices.into_iter().flat_map(|slice| slice.found).collect()))
    }

    fn counts(&self) -> Counts {
        self.counts
    }

    fn progress(&self) -> f64 {
        self.counts.candidates as f64 / self.total.max(1) as f64
    }

    fn bytes(&self) -> usize {
        self.compared.bytes() + self.candidates.bytes()
    }
}
