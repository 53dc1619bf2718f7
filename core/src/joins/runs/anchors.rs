//! The texts of a join by shared runs, and the rule to compare them by.

use crate::error::Result;
use crate::executor::Stop;
use crate::features::runs::tokens::read_tokens;
use crate::features::texts::Texts;
use crate::features::tokens::{Scratch, Tokenizer};
use crate::verify::shared_runs::RunShare;

pub(super) const DOING: &str = "joining texts by shared runs";

/// The rule that says which pairs are similar.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RunRule {
    /// The least number of tokens of a run.
    pub least: usize,
    /// How texts are cut into tokens.
    pub tokenizer: Tokenizer,
    /// The side whose tokens are counted.
    pub of: RunShare,
    /// The least share of tokens in common runs.
    pub threshold: f64,
    /// The greatest number of documents that may have a window, if there is one: windows that more
    /// documents have do not count.
    pub max_documents: Option<u64>,
}

/// The texts that are compared, and the rule to compare them by.
pub(super) struct RunTexts {
    pub texts: Texts,
    pub rule: RunRule,
    /// The number of the first text of the right table, if there are two tables.
    pub right_from: Option<u32>,
    /// The number of tokens of each text.
    pub lengths: Vec<u32>,
    /// The contents of the windows that do not count, in ascending order.
    pub frequent: Vec<u128>,
}

impl RunTexts {
    /// Returns the least number of tokens that a text has in common with a similar text.
    pub(super) fn needed(&self, record: u32) -> f64 {
        let is_right = self.right_from.is_some_and(|from| record >= from);
        match self.rule.of.counts(is_right) {
            true => self.rule.threshold * f64::from(self.lengths[record as usize]),
            // It looks nothing up.
            false => f64::INFINITY,
        }
    }

    /// The number of texts that a thread works on at one time.
    pub(super) const SLICE: u32 = 64;

    /// Reads the tokens of a text.
    pub(super) fn read(&self, record: u32, space: &mut CompareScratch, stop: &Stop) -> Result<()> {
        let text = self.texts.text(record);
        read_tokens(text, self.rule.tokenizer, &mut space.scratch, &mut space.tokens, stop)
    }
}

/// Scratch memory of a thread.
#[derive(Default)]
pub(super) struct CompareScratch {
    scratch: Scratch,
    pub tokens: Vec<u64>,
}
