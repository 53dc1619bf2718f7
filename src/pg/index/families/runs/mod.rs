//! Indexes of runs: the options of their operator class, which anchors a text has, and which
//! anchors a query follows. The server rechecks the rows that the index finds, because only the
//! text itself decides whether a row has a run in common with the query.

use std::mem::offset_of;

use pgrx::pg_sys::{self, Datum};

use super::class::OperatorClass;
use super::cut;
use super::options::refuse_storage_parameters;
use super::sets::options::{add_enum, add_normalize, element};
use super::values::{StoredValue, keep_document, text_of};
use crate::pg::index::layout::format::{Family, Meta};
use crate::pg::index::pages::buffer::OpenIndex;
use crate::pg::server::call::FunctionCall;
use crate::pg::server::error::Result;
use neardup_core::executor::Stop;
use neardup_core::features::normalization::Normalization;
use neardup_core::features::origin::Origin;
use neardup_core::features::runs::anchors::Anchors;
use neardup_core::features::runs::tokens::read_tokens;
use neardup_core::features::tokens::{Document, Scratch};
use neardup_core::joins::search::runs::query::is_of_texts;
use neardup_core::joins::search::runs::signature::{AnchorSignatures, BITS};
use neardup_core::{error, memory, text};

mod probe;

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

/// Returns the metapage of a new index.
pub(crate) fn choose(index: OpenIndex) -> Result<Meta> {
    let options = RunOptions::read(index);
    let example = format!("min_run = {}", options.least());
    refuse_storage_parameters(index, OperatorClass::TextRuns, "The least run", &example)?;
    let (origin, form) = (options.origin(), options.normalization());
    cut::check_form(origin, form)?;
    let keys = RunKeys::new(origin, form, options.least());
    let gram = keys.map_or(0, |keys| keys.gram());
    Ok(Meta {
        family: Family::Runs as u8,
        class: OperatorClass::TextRuns as u8,
        text_version: text::VERSION,
        tokenizer: cut::number_of(origin, form),
        k: gram,
        bands: BITS,
        distance: options.least(),
        ..Meta::default()
    })
}

/// The default of the least run that an index finds, in tokens.
const LEAST: i32 = 12;
/// The greatest one.
const GREATEST: u32 = 1000;

/// The options of the class, as the server keeps them.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
struct RunOptions {
    vl_len_: i32,
    least: i32,
    tokenizer: i32,
    normalize: i32,
}

impl RunOptions {
    /// Returns the options of an index.
    fn read(index: OpenIndex) -> Self {
        // SAFETY: an open index of one column, whose class has the options that `declare` declares,
        // so there is always a struct of options.
        unsafe {
            let all = pg_sys::RelationGetIndexAttOptions(index.relation(), false);
            (*all).cast::<Self>().read()
        }
    }

    /// Returns the least number of tokens of a run that the index finds.
    fn least(&self) -> u32 {
        self.least.unsigned_abs()
    }

    /// Returns the origin of the tokens.
    fn origin(&self) -> Origin {
        Origin::from_byte(self.tokenizer as u8).unwrap_or(Origin::Words)
    }

    /// Returns the form in which texts are compared.
    fn normalization(&self) -> Option<Normalization> {
        Normalization::from_number(self.normalize as u8).flatten()
    }
}

/// Declares the options of the class to the server. The server calls this for an index of the
/// class.
pub(crate) fn declare(call: FunctionCall) -> pg_sys::Datum {
    // SAFETY: argument 0 is the server's list of options.
    let list: *mut pg_sys::local_relopts = unsafe {
        pgrx::fcinfo::pg_getarg_datum(call.info, 0).map_or(std::ptr::null_mut(), |datum| datum.cast_mut_ptr())
    };
    if list.is_null() {
        return pg_sys::Datum::from(0);
    }
    let origins = [Origin::Words, Origin::Chars, Origin::Whitespace, Origin::Html];
    let names = [c"words", c"chars", c"whitespace", c"html"];
    let origins: Vec<_> =
        names.iter().zip(origins).map(|(name, origin)| element(name, origin as i32)).collect();
    // SAFETY: C strings outlive the calls; the list is the server's.
    unsafe {
        pg_sys::init_local_reloptions(list, size_of::<RunOptions>());
        pg_sys::add_local_int_reloption(
            list,
            c"min_run".as_ptr(),
            c"Least number of tokens of a run that the index finds.".as_ptr(),
            LEAST,
            1,
            GREATEST as i32,
            offset_of!(RunOptions, least) as i32,
        );
        add_enum(
            list,
            c"tokenizer",
            c"How texts are cut.",
            c"Valid values are \"words\", \"chars\", \"whitespace\" and \"html\".",
            &origins,
            offset_of!(RunOptions, tokenizer),
        );
        add_normalize(list, offset_of!(RunOptions, normalize));
    }
    pg_sys::Datum::from(0)
}
