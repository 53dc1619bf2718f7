//! The texts of a join by shared runs, and the rule to compare them by.

use crate::error::Result;
use crate::executor::Stop;
use crate::features::runs::tokens::read_tokens;
use crate::features::texts::Texts;
use crate::features::tokens::{Document, Scratch, Tokenizer};
use crate::memory;
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
    /// The number of texts that a thread works on at one time.
    pub(super) const SLICE: u32 = 64;

    /// Reads the tokens of a text.
    pub(super) fn read(&self, record: u32, space: &mut CompareScratch, stop: &Stop) -> Result<()> {
        if let Document::Text(text) = &mut space.document {
            text.clear();
            let own = self.texts.text(record);
            memory::reserve_text(text, own.len(), DOING)?;
            text.push_str(own);
        }
        read_tokens(&space.document, self.rule.tokenizer, &mut space.scratch, &mut space.tokens, stop)
    }
}

/// Scratch memory of a thread.
#[derive(Default)]
pub(super) struct CompareScratch {
    document: Document,
    scratch: Scratch,
    pub tokens: Vec<u64>,
}
