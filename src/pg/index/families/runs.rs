//! Indexes of runs: which anchors a text has, and which anchors a query follows. The server
//! rechecks the rows that the index finds, because only the text itself decides whether a row has a
//! run in common with the query.

use pgrx::pg_sys::Datum;

use super::class::OperatorClass;
use super::class_options::{ClassOptions, GREATEST_RUN};
use super::family::{Family, SIGNATURES, divide};
use super::options::refuse_storage_parameters;
use super::probe::Probe;
use super::values::{ColumnValue, Cutter, StoredValue, meta_of_texts, read_cut, text_of};
use crate::pg::index::layout::format::Meta;
use crate::pg::index::layout::items::{HeapRow, Item};
use crate::pg::index::pages::buffer::OpenIndex;
use crate::pg::server::call::varlena_bytes;
use crate::pg::server::error::Result;
use crate::pg::server::executor::compute;
use neardup_core::features::normalization::Normalization;
use neardup_core::features::origin::Origin;
use neardup_core::features::runs::anchors::Anchors;
use neardup_core::features::runs::tokens::read_tokens;
use neardup_core::features::tokens::{Document, Scratch};
use neardup_core::search::runs::query::{RunQuery, is_of_texts};
use neardup_core::search::runs::signature::{AnchorSignatures, BITS, of_anchor};
use neardup_core::{error, memory};

const DOING: &str = "indexing the runs of a text";

/// The parameters of an index of runs.
#[derive(Debug, Clone, Copy)]
pub(super) struct RunKeys {
    /// The origin of the tokens.
    origin: Origin,
    /// The number of tokens of the windows that have anchors.
    least: u32,
    /// The form in which texts are compared.
    normalization: Option<Normalization>,
}

impl RunKeys {
    /// Returns the parameters in a metapage, or None if the metapage contradicts itself.
    pub(super) fn from_meta(meta: &Meta) -> Option<Self> {
        let (origin, normalization) = read_cut(meta.tokenizer)?;
        let keys = Self::new(origin, normalization, meta.distance)?;
        let right = meta.bands == BITS && meta.k == keys.gram() && meta.payload == 0;
        right.then_some(keys)
    }

    fn new(origin: Origin, normalization: Option<Normalization>, least: u32) -> Option<Self> {
        let right = is_of_texts(origin) && (1..=GREATEST_RUN).contains(&least);
        right.then_some(Self { origin, least, normalization })
    }

    /// Returns the number of tokens of an anchor.
    fn gram(&self) -> u32 {
        Anchors::gram(self.least as usize) as u32
    }
}

/// Returns the metapage of a new index.
pub(super) fn choose(index: OpenIndex) -> Result<Meta> {
    let (options, class) = (ClassOptions::read(index), OperatorClass::TextRuns);
    let (origin, form, least) = (options.origin(), options.normalization(), options.min_run());
    refuse_storage_parameters(index, class, |_| {
        let name = class.name();
        format!(
            "The least run is an option of the class: CREATE INDEX … USING signature (… {name} (min_run = {least}));"
        )
    })?;
    let meta = meta_of_texts(class, origin, form)?;
    let k = RunKeys::new(origin, form, least).map_or(0, |keys| keys.gram());
    Ok(Meta { k, bands: BITS, distance: least, ..meta })
}

impl Family for RunKeys {
    fn describe(&self) -> String {
        let (name, gram) = (OperatorClass::TextRuns.name(), self.gram());
        let form = self.normalization.map_or_else(String::new, |form| format!(", {}", form.name()));
        format!("{name}: {}{form}; min_run {}; anchors of {gram} tokens", self.origin.name(), self.least)
    }

    unsafe fn read(&self, value: Datum) -> Result<ColumnValue> {
        // SAFETY: the caller's promise; the class is one of texts.
        Ok(ColumnValue::Document(Document::Text(unsafe { text_of(value, self.normalization)? })))
    }

    /// The stored form of a document is its signatures, in ascending order.
    fn cutter(&self) -> Cutter<'_> {
        let tokenizer = self.origin.tokenizer();
        let (mut choice, rule) =
            (Anchors::new(self.least as usize), AnchorSignatures::new(self.least as usize));
        let (mut scratch, mut tokens, mut anchors) = (Scratch::default(), Vec::new(), Vec::new());
        let mut signatures = Vec::new();
        Box::new(move |document, stop| {
            read_tokens(document, tokenizer, &mut scratch, &mut tokens, stop)?;
            choice.select(&tokens, stop, &mut anchors)?;
            let signed = anchors.iter().map(|anchor| rule.signature(&tokens, anchor));
            memory::refill(&mut signatures, signed, DOING)?;
            signatures.sort_unstable();
            signatures.dedup();
            StoredValue::with_numbers(0, &signatures, DOING)
        })
    }

    fn items(&self, row: HeapRow, bytes: &[u8], each: &mut dyn FnMut(Item<'_>)) -> error::Result<()> {
        // A search that wants several anchors of a text must know that others are elsewhere.
        divide(if bytes.len() > SIGNATURES { row.with(HeapRow::SPLIT) } else { row }, bytes, each);
        Ok(())
    }

    unsafe fn probe(&self, argument: Datum) -> Result<Probe> {
        // SAFETY: a query for runs, which is a varlena.
        let bytes = unsafe { varlena_bytes(argument) };
        let query = RunQuery::parse(bytes)?;
        let is_like = query.origin == self.origin && query.normalization == self.normalization;
        if !is_like || query.min_run < self.least {
            return Ok(Probe::Everything);
        }
        let anchors = compute(bytes.len(), |stop| query.anchors(self.least, stop))?;
        if anchors.windows < anchors.shared {
            return Ok(Probe::Nothing);
        }
        let hashes = anchors.signatures.iter().map(|&signature| of_anchor(signature));
        let mut hashes = memory::collect(hashes, DOING)?;
        hashes.sort_unstable();
        hashes.dedup();
        Ok(Probe::Runs { hashes, anchors })
    }
}
