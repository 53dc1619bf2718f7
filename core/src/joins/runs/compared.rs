//! The texts of a join by shared runs, and the rule to compare them by.

use crate::error::Result;
use crate::executor::{self, Executor, Stop};
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
    /// The number of texts, or of pairs, that a thread works on at one time.
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

    /// Returns the number of bytes on the heap.
    pub(super) fn bytes(&self) -> usize {
        self.texts.bytes() + memory::bytes(&self.lengths) + memory::bytes(&self.frequent)
    }

    /// Calls `work` for slices of all texts, on several threads, and `take` with the slices in
    /// order.
    pub(super) fn each_slice<T: Default + Send>(
        &self,
        executor: &dyn Executor,
        work: impl Fn(&mut Slice<T>, &Stop) -> Result<()> + Sync,
        mut take: impl FnMut(T) -> Result<()>,
    ) -> Result<()> {
        let (mut from, count) = (0, self.texts.len() as u32);
        while from < count {
            let slices = (0..4 * executor.count() as u32).map(|n| {
                let [from, to] = [n, n + 1].map(|n| from.saturating_add(n * Self::SLICE).min(count));
                Slice { records: from..to, found: T::default() }
            });
            let mut slices: Vec<Slice<T>> = slices.collect();
            executor::each(executor, &mut slices, &work)?;
            for slice in slices {
                from = from.max(slice.records.end);
                take(slice.found)?;
            }
        }
        Ok(())
    }
}

/// Some texts, and what is made of them on one thread.
pub(super) struct Slice<T> {
    pub records: std::ops::Range<u32>,
    pub found: T,
}

/// Scratch memory of a thread.
#[derive(Default)]
pub(super) struct CompareScratch {
    document: Document,
    scratch: Scratch,
    pub tokens: Vec<u64>,
}
