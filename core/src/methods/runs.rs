//! Method `runs`: compares texts by the share of their tokens that both say word for word.
//!
//! In parts, the text is carried. Documents meet by their anchors, of which texts with a common run
//! have one in common. Each looks up only its rarest ones, as on one machine.

use super::carrier::{Carrier, LeftOut, Meeting, Places, of_text, to_text, to_texts};
use super::explain::{Details, Explanation, Region, RunsOfTwo};
use super::method::{Method, Update};
use super::pair::TwoTexts;
use super::reading::Reading;
use crate::error::Result;
use crate::executor::{self, CallingThread, Stop};
use crate::features::runs::anchors::Anchors;
use crate::features::runs::places::token_places;
use crate::features::runs::tokens::read_tokens;
use crate::features::texts::distinct;
use crate::features::tokens::{Document, Scratch, Tokenizer};
use crate::joins::pairs::Pairs;
use crate::joins::runs::{PreparedRuns, RunRule, run_pairs};
use crate::memory;
use crate::repeats::contents::of_texts;
use crate::repeats::{RunParameters, Unit};
use crate::text::html;
use crate::verify::shared_runs::{RunShare, SharedRun, SharedRuns};
use crate::verify::shared_windows::SharedWindows;

const DOING_RUNS: &str = "carrying a text of runs";

/// Compares texts by the share of their tokens that are in runs which both texts have, exactly.
///
/// A run is at least `min_run` tokens one after the other, whatever their case and punctuation.
///
/// ```
/// use neardup_core::parameters::RunShare;
/// use neardup_core::{Corpus, Runs, Tokenizer};
///
/// let (min_run, of, tokenizer) = (4, RunShare::Left, Tokenizer::Words);
/// let method = Runs { min_run, of, threshold: 0.5, max_documents: None, tokenizer };
/// let texts = ["Who wrote of the red crane?", "I know who wrote of the grey one."];
/// let pairs = Corpus::of_texts(&texts).split(Some(1)).pairs(&method)?;
/// // "who wrote of the", four of six words.
/// assert_eq!((pairs.len(), pairs[0].similarity), (1, 4.0 / 6.0));
/// # Ok::<(), neardup_core::Error>(())
/// ```
#[derive(Debug, Clone, Copy)]
pub struct Runs {
    /// The least number of tokens of a run, at least 1.
    pub min_run: usize,
    /// The text whose tokens are counted.
    pub of: RunShare,
    /// The least share, greater than 0.
    pub threshold: f64,
    /// The greatest number of documents, those of both tables together, that may have a run of
    /// `min_run` tokens, if there is one: runs that more documents have do not count.
    pub max_documents: Option<u64>,
    /// How texts are cut into tokens.
    pub tokenizer: Tokenizer,
}

impl Method for Runs {
    fn explain(&self, pair: &TwoTexts<'_>, stop: &Stop) -> Result<Explanation> {
        /// The number of runs that are shown.
        const MOST: usize = 100;
        if self.max_documents.is_some() {
            return Ok(Explanation::unknown("depends on how many documents have each run"));
        }
        let (mut tokens, mut places) = ([Vec::new(), Vec::new()], [Vec::new(), Vec::new()]);
        let mut scratch = Scratch::default();
        let tokenizer = of_texts(self.tokenizer);
        for (n, text) in pair.texts.into_iter().enumerate() {
            let mut page = String::new();
            let mut text = text;
            if self.tokenizer == Tokenizer::Html {
                html::read_text(text, None, &mut page, stop)?;
                text = &page;
            }
            token_places(text, tokenizer, stop, &mut places[n])?;
            read_tokens(text, tokenizer, &mut scratch, &mut tokens[n], stop)?;
        }
        let [a, b] = &tokens;
        let shared = SharedWindows::new(a, self.min_run, &[], stop)?.shared_tokens(b, stop)?;
        let all = [a.len() as u32, b.len() as u32];
        let region = |run: SharedRun| {
            // Spans of SQL count from 1.
            let span = |n: usize, first: u32| {
                let (first, last) = (first as usize, (first + run.tokens - 1) as usize);
                [places[n][first].chars.start + 1, places[n][last].chars.end + 1]
            };
            Region {
                left_span: span(0, run.left),
                right_span: span(1, run.right),
                length: run.tokens as usize,
            }
        };
        let (mut count, mut shown) = (0, Vec::new());
        let mut runs = SharedRuns::new(tokens, self.min_run, stop)?;
        while let Some(run) = runs.next(&CallingThread { stop })? {
            count += 1;
            if shown.len() < MOST {
                shown.push(region(run));
            }
        }
        let similarity = self.of.share(shared, all);
        let details = RunsOfTwo { min_run: self.min_run, shared, tokens: all, count, runs: shown };
        Ok(Explanation::new(similarity, similarity >= self.threshold).with(Details::Runs(details)))
    }

    fn update(&self) -> Update {
        // A new document may change which runs count.
        if self.max_documents.is_some() { Update::Whole } else { Update::Pairs }
    }

    fn runs(&self) -> Option<RunParameters> {
        let (unit, tokenizer) = (Unit::Window(self.min_run), self.tokenizer);
        Some(RunParameters { unit, tokenizer, within_documents: false, ..RunParameters::default() })
    }

    fn carrier(&self) -> Option<&dyn Carrier> {
        self.max_documents.is_none().then_some(self as &dyn Carrier)
    }

    fn pairs(&self, reading: &mut Reading<'_>) -> Result<Pairs> {
        let (collectors, _) = reading.read_texts(false, None)?;
        let distinct = distinct(collectors, reading.right_from(), reading.executor)?;
        let held = distinct.texts.bytes();
        reading.account.distinct_sets = distinct.texts.len() as u64;
        let resources = reading.resources_after(held);
        let Self { min_run, of, threshold, max_documents, tokenizer } = *self;
        let tokenizer = of_texts(tokenizer);
        let rule = RunRule { least: min_run, tokenizer, of, threshold, max_documents };
        let mut report = |state| reading.report(|| str::to_owned(state));
        let PreparedRuns { pairs, tokens, frequent } = run_pairs(distinct, rule, resources, &mut report)?;
        reading.account.tokens = tokens;
        reading.account.frequent = frequent;
        reading.held(held + resources.budget / 4);
        Ok(pairs)
    }
}

impl Runs {
    fn tokens(&self, text: &str, stop: &Stop) -> Result<Vec<u64>> {
        let mut tokens = Vec::new();
        read_tokens(text, of_texts(self.tokenizer), &mut Scratch::default(), &mut tokens, stop)?;
        Ok(tokens)
    }
}

impl Carrier for Runs {
    fn carry(&self, document: &Document, _: Places<'_>, stop: &Stop) -> Result<Vec<u8>> {
        let bytes = of_text(document)?;
        // A text without a run is similar to nothing.
        let has_run = self.tokens(to_text(&bytes)?, stop)?.len() >= self.min_run;
        Ok(if has_run { bytes } else { Vec::new() })
    }

    fn meeting(&self) -> Meeting {
        Meeting::Rarest
    }

    fn weights(&self, carried: &[u8], weighted: &mut Vec<(u64, u32)>, stop: &Stop) -> Result<f64> {
        let (tokens, mut anchors) = (self.tokens(to_text(carried)?, stop)?, Vec::new());
        Anchors::new(self.min_run).select(&tokens, stop, &mut anchors)?;
        let covers = anchors.iter().map(|anchor| (anchor.hash, anchor.covers(self.min_run)));
        memory::refill(weighted, covers, DOING_RUNS)?;
        executor::sort_unstable_by(weighted, stop, &Ord::cmp)?;
        weighted.dedup_by(|next, kept| {
            let is_again = next.0 == kept.0;
            if is_again {
                kept.1 = kept.1.saturating_add(next.1);
            }
            is_again
        });
        // A text has fewer tokens than 32 bits can count.
        Ok(self.threshold * tokens.len() as f64)
    }

    fn set(&self, carried: &[u8], stop: &Stop) -> Result<Vec<u64>> {
        let mut weighted = Vec::new();
        self.weights(carried, &mut weighted, stop)?;
        memory::collect(weighted.iter().map(|&(hash, _)| hash), DOING_RUNS)
    }

    fn similarity(&self, pair: [&[u8]; 2], _: LeftOut<'_>, stop: &Stop) -> Result<Option<f64>> {
        let [a, b] = to_texts(pair)?;
        let [a, b] = [self.tokens(a, stop)?, self.tokens(b, stop)?];
        let shared = SharedWindows::new(&a, self.min_run, &[], stop)?.shared_tokens(&b, stop)?;
        // A text has fewer tokens than 32 bits can count.
        let share = self.of.share(shared, [a.len() as u32, b.len() as u32]);
        Ok((shared[0] > 0 && share >= self.threshold).then_some(share))
    }
}
