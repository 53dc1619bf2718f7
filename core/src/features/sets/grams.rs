//! The sets of q-grams of distinct texts, as records of a join. The rows of the records are the
//! numbers of the texts.

use std::ops::Range;

use super::builder::SetBuilder;
use super::order::Ordered;
use crate::error::Result;
use crate::executor::Executor;
use crate::features::texts::Texts;
use crate::features::tokens::{Document, FeatureSpec, Tokenizer};
use crate::memory;
use crate::storage::files::TempFiles;

/// The gram sets of some texts.
#[derive(Debug)]
pub struct GramSets {
    /// The records.
    pub ordered: Ordered,
    /// The number of grams of all texts.
    pub grams: u64,
    /// The greatest number of bytes held at one time, in addition to the texts.
    pub peak_bytes: usize,
}

/// Cuts texts into grams of `q` characters, with repeats counted; a text of fewer characters is one
/// gram. If there is a range `right`, its texts are a separate table, and their numbers must be
/// greater than those in `left`. Holds about `budget` bytes in addition to the dictionary of grams.
pub fn gram_sets(
    texts: &Texts,
    left: Range<u32>,
    right: Option<Range<u32>>,
    q: u32,
    files: &dyn TempFiles,
    budget: usize,
    executor: &dyn Executor,
) -> Result<GramSets> {
    const BYTES_A_BATCH: usize = 4 << 20;
    let spec =
        FeatureSpec { tokenizer: Tokenizer::RawChars, shingle: q as usize, multiset: true, wrap: false };
    let mut builder = SetBuilder::new(spec, executor.count()).within(budget / 2).with_files(files);
    let mut peak_bytes = 0;
    let most = BYTES_A_BATCH.min(budget / 64);
    let size = |text: u32| texts.text(text).len();
    let document =
        |text: u32| memory::copied(texts.text(text), "cutting a text into grams").map(Document::Text);
    for (table, range) in [Some(left), right].into_iter().flatten().enumerate() {
        if table == 1 {
            builder.go_right(range.start);
        }
        let mut from = range.start;
        while from < range.end {
            let mut bytes = 0;
            let batch = (from..range.end).take_while(|&text| {
                bytes += size(text);
                bytes <= most || text == from
            });
            let to = from + batch.count() as u32;
            let pending = builder.add_all(from..to, size, document, executor)?;
            peak_bytes = peak_bytes.max(pending + builder.dictionary_bytes());
            peak_bytes = peak_bytes.max(builder.spill(0, budget)?);
            from = to;
        }
    }
    let grams = builder.tokens();
    let ordered = builder.order(budget, executor)?;
    let peak_bytes = peak_bytes.max(ordered.peak_bytes);
    Ok(GramSets { ordered, grams, peak_bytes })
}
