//! The exact join of texts by the share of their tokens that is in runs which both texts have.
//!
//! Two texts with such a run have an anchor in common. Of each text only the rarest anchors are
//! looked up: those that are left out cover too few tokens to make the share alone (as with the
//! prefixes of sets). The share of a candidate is then computed from all windows of both texts.

mod anchors;
mod frequent;

pub use anchors::RunRule;

use super::RecordPair;
use super::candidates::{CandidateJoin, CompareCandidates};
use super::keys::for_each_meeting;
use super::pairs::{Pairs, equal_records};
use super::rare_keys::rare_postings;
use crate::error::Result;
use crate::executor::Stop;
use crate::features::sets::members::Members;
use crate::features::texts::Distinct;
use crate::memory;
use crate::storage::files::Resources;
use crate::storage::sort::{Groups, Sorter};
use crate::verify::shared_windows::SharedWindows;
use anchors::{CompareScratch, DOING, RunTexts};
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
    let (anchors, mut counted) = compared.anchors(resources)?;
    let (mut anchors, mut frequent) = (anchors.sorted(executor)?, FrequentWindows::default());
    if let Some(most) = rule.max_documents {
        progress("counting the documents of windows");
        let rows = |record: u32| Members::of_either(&left, right.as_ref(), record).len() as u64;
        (compared.frequent, frequent) = compared.frequent(most, &mut anchors, &rows, resources)?;
        anchors.rewind(executor)?;
        if !compared.frequent.is_empty() {
            let (rest, of_rest) = compared.anchors(resources)?;
            (anchors, counted) = (rest.sorted(executor)?, of_rest);
            frequent.documents = counted.left_out.iter().map(|&record| rows(record)).sum();
        }
    }
    compared.lengths = counted.lengths;
    progress("looking for shared anchors");
    let needed = |record| Ok(compared.needed(record));
    let postings = rare_postings(anchors, right_from, needed, resources)?;
    let postings = Groups::new(postings.sorted(executor)?, executor)?;
    let mut candidates = Sorter::new(files, budget / 4);
    for_each_meeting(
        postings,
        right_from.is_none(),
        |_| false,
        executor,
        |one, other| {
            // Texts are numbered with 32 bits.
            candidates.push([one.record() as u32, other.record() as u32], executor)
        },
    )?;
    let of_equal = |record: u32| {
        let (length, shared) = (compared.lengths[record as usize], counted.tokens[record as usize]);
        let similarity = rule.of.share([shared; 2], [length; 2]);
        (shared > 0 && similarity >= rule.threshold).then_some(similarity)
    };
    let equal = equal_records(&left, right.as_ref(), |record| of_equal(record).is_some())?;
    let similarities = memory::collect(equal.iter().filter_map(|&record| of_equal(record)), DOING)?;
    let tokens = compared.lengths.iter().map(|&length| u64::from(length)).sum();
    let join = CandidateJoin::new(compared, candidates, executor)?;
    let pairs = Pairs::of_records(Box::new(join), left, right, equal).with_similarities(similarities);
    Ok(PreparedRuns { pairs, tokens, frequent })
}

/// A text that is compared with others, and scratch memory.
#[derive(Default)]
struct PreparedText {
    space: CompareScratch,
    windows: Option<SharedWindows>,
}

impl CompareCandidates for RunTexts {
    type Prepared = PreparedText;

    fn prepare(&self, left: u32, prepared: &mut PreparedText, stop: &Stop) -> Result<()> {
        let PreparedText { space, windows } = prepared;
        self.read(left, space, stop)?;
        // What the left text does not have is not in common.
        *windows = Some(SharedWindows::new(&space.tokens, self.rule.least, &self.frequent, stop)?);
        Ok(())
    }

    fn compare(
        &self,
        candidate: [u32; 2],
        prepared: &mut PreparedText,
        stop: &Stop,
    ) -> Result<Option<RecordPair>> {
        let PreparedText { space, windows: Some(windows) } = prepared else { return Ok(None) };
        let [left, right] = candidate;
        self.read(right, space, stop)?;
        let shared = windows.shared_tokens(&space.tokens, stop)?;
        let lengths = candidate.map(|record| self.lengths[record as usize]);
        let similarity = self.rule.of.share(shared, lengths);
        let right = right - self.right_from.unwrap_or(0);
        Ok((similarity >= self.rule.threshold).then_some(RecordPair { left, right, similarity }))
    }

    fn bytes(&self) -> usize {
        self.texts.bytes() + memory::bytes(&self.lengths) + memory::bytes(&self.frequent)
    }
}
