//! Indexes of runs: which anchors a text has, and which anchors a query follows. The server
//! rechecks the rows that the index finds, because only the text itself decides whether a row has a
//! run in common with the query.

pub(crate) mod choose;
pub(crate) mod options;
mod probe;

use pgrx::pg_sys::Datum;

use super::class::OperatorClass;
use super::cut;
use super::values::{StoredValue, keep_document, text_of};
use crate::pg::index::layout::format::Meta;
use crate::pg::server::error::Result;
use neardup_core::error;
use neardup_core::executor::Stop;
use neardup_core::features::normalization::Normalization;
use neardup_core::features::origin::Origin;
use neardup_core::features::runs::anchors::Anchors;
use neardup_core::features::runs::tokens::read_tokens;
use neardup_core::features::tokens::{Document, Scratch};
use neardup_core::joins::search::runs::query::is_of_texts;
use neardup_core::joins::search::runs::signature::{AnchorSignatures, BITS};
use neardup_core::memory;
use options::GREATEST;

/// The number of anchors that a query is assumed to look up as long as its text is not known.
pub(super) const USUAL_ANCHORS: f64 = 32.0;
const DOING: &str = "indexing the runs of a text";

/// The parameters of an index of runs.
#[derive(Debug, Clone, Copy)]
pub(crate) struct RunKeys {
    /// The origin of the tokens.
    origin: Origin,
    /// The number of tokens of the windows that have anchors.
    least: u32,
    /// The form in which texts are compared.
    pub normalization: Option<Normalization>,
}

impl RunKeys {
    /// Returns the parameters in a metapage, or None if the metapage contradicts itself.
    pub(super) fn from_meta(meta: &Meta) -> Option<Self> {
        let (origin, normalization) = cut::read(meta.tokenizer)?;
        let keys = Self::new(origin, normalization, meta.distance)?;
        let right = meta.bands == BITS && meta.k == keys.gram() && meta.payload == 0;
        right.then_some(keys)
    }

    fn new(origin: Origin, normalization: Option<Normalization>, least: u32) -> Option<Self> {
        let right = is_of_texts(origin) && (1..=GREATEST).contains(&least);
        right.then_some(Self { origin, least, normalization })
    }

    /// Returns the number of tokens of an anchor.
    fn gram(&self) -> u32 {
        Anchors::gram(self.least as usize) as u32
    }

    /// Returns the stored form of a value.
    ///
    /// # Safety
    /// `value` is a text and not NULL.
    pub(super) unsafe fn keep(&self, value: Datum) -> Result<StoredValue> {
        // SAFETY: the caller's promise.
        let text = unsafe { text_of(value, self.normalization)? };
        keep_document(&Document::Text(text), self.cutter())
    }

    /// Returns a function that makes the stored form of a document: its signatures, in ascending
    /// order. The function may be called again after a stop.
    pub(crate) fn cutter(&self) -> impl FnMut(&Document, &Stop) -> error::Result<StoredValue> + use<> {
        let tokenizer = self.origin.tokenizer();
        let (mut choice, rule) =
            (Anchors::new(self.least as usize), AnchorSignatures::new(self.least as usize));
        let (mut scratch, mut tokens, mut anchors) = (Scratch::default(), Vec::new(), Vec::new());
        let mut signatures = Vec::new();
        move |document, stop| {
            read_tokens(document, tokenizer, &mut scratch, &mut tokens, stop)?;
            choice.select(&tokens, stop, &mut anchors)?;
            signatures.clear();
            memory::reserve(&mut signatures, anchors.len(), DOING)?;
            signatures.extend(anchors.iter().map(|anchor| rule.signature(&tokens, anchor)));
            signatures.sort_unstable();
            signatures.dedup();
            let mut bytes = Vec::new();
            memory::reserve(&mut bytes, size_of_val(signatures.as_slice()), DOING)?;
            bytes.extend(signatures.iter().flat_map(|signature| signature.to_le_bytes()));
            Ok(StoredValue { flags: 0, bytes })
        }
    }

    /// Describes the class with its options.
    pub(super) fn describe(&self) -> String {
        let (name, gram) = (OperatorClass::TextRuns.name(), self.gram());
        let form = self.normalization.map_or_else(String::new, |form| format!(", {}", form.name()));
        format!("{name}: {}{form}; min_run {}; anchors of {gram} tokens", self.origin.name(), self.least)
    }
}
