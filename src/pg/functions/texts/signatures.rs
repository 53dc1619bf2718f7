//! The signatures of a text that serve to find near duplicates: spots and I-Match
//! (docs/reference/functions.md).

use pgrx::pg_sys;

use crate::pg::query::decode::{ColumnContent, decode, elements};
use crate::pg::request::example::literal;
use crate::pg::server::call::{FunctionCall, argument_not_utf8, sql_functions};
use crate::pg::server::error::{Result, SqlError};
use crate::pg::server::executor::compute_with;
use crate::pg::server::values::number_array;
use neardup_core::executor::Stop;
use neardup_core::features::imatch::IdfRange;
use neardup_core::features::spotsigs::{Antecedents, SpotSpec, Spots};
use neardup_core::features::tokens::Document;
use neardup_core::features::units::signatures::{Maker, SignatureScratch, Terms};
use neardup_core::hash::hash_bytes;
use neardup_core::memory;
use neardup_core::text::words::{WordScratch, for_each_word};

const DOING: &str = "reading terms";

sql_functions! {
    /// `spotsigs(text, antecedents, chain, distance) → bigint[]`
    neardup_spotsigs, within Arguments: |call| {
        let Some(text) = call.text(0)? else { return Ok(call.give::<i32>(None)) };
        let antecedents = match strings(call, 1)? {
            Some(listed) => Antecedents::Listed(listed),
            None => Antecedents::Common,
        };
        let hint = "For example: SELECT spotsigs(body, antecedents => ARRAY['the', 'a', 'is'], chain => 2, distance => 1);";
        let whole = |n, name| call.whole(n, name).map_err(|error| error.hint(hint));
        let spec = SpotSpec { antecedents, chain: whole(2, "chain")?, distance: whole(3, "distance")? };
        let spots = Spots::new(&spec, None).map_err(|error| SqlError::from(error).hint(hint))?;
        let mut signatures: Vec<i64> = Vec::new();
        compute_with(text.len(), &mut signatures, |signatures, stop| spots.of_text(&text, signatures, stop))?;
        number_array(&signatures)
    };

    /// `imatch(text, terms, document_counts, documents, lo, hi) → bigint[]`
    neardup_imatch, within Arguments: |call| {
        let Some(text) = call.text(0)? else { return Ok(call.give::<i32>(None)) };
        let hint = "For example: SELECT imatch(body, terms => ARRAY['the', 'of'], document_counts => ARRAY[98, 95], \
                    documents => 100, lo => 0.1, hi => 1);";
        let counts = counts(call).map_err(|error| error.hint(hint))?;
        let documents: i64 = call.need(3, "documents")?;
        let documents = u64::try_from(documents).ok().filter(|&documents| documents > 0).ok_or_else(|| {
            SqlError::parameter(format!("documents must be at least 1, not {documents}")).hint(hint)
        })?;
        let range = IdfRange::new(call.need(4, "lo")?, call.need(5, "hi")?)
            .map_err(|error| SqlError::from(error).hint(hint))?;
        let maker = Maker::Imatch(Terms::counted(range, &counts, documents)?);
        let mut signatures = Vec::new();
        compute_with(text.len(), &mut signatures, |signatures, stop| {
            maker.make(&text, &mut SignatureScratch::default(), signatures, stop).map(|_| ())
        })?;
        number_array(&signatures)
    };
}

/// Returns the terms and document counts of a call: hashes of words, and for each hash the number
/// of documents that contain the word.
fn counts(call: FunctionCall) -> Result<Vec<(u64, u64)>> {
    let terms = strings(call, 1)?.unwrap_or_default();
    let array = call.datum(2);
    // SAFETY: our SQL declares a bigint[], whose elements are their values.
    let numbers =
        array.map(|array| unsafe { elements(array, pg_sys::INT8OID) }).transpose()?.unwrap_or_default();
    if terms.len() != numbers.len() {
        return Err(SqlError::parameter(format!(
            "{} terms have {} document_counts",
            terms.len(),
            numbers.len()
        )));
    }
    let mut counts = Vec::new();
    let mut space = WordScratch::default();
    for (term, number) in terms.iter().zip(numbers) {
        pgrx::check_for_interrupts!();
        let Some(number) = u64::try_from(number.value() as i64).ok().filter(|&number| number > 0) else {
            return Err(SqlError::parameter(format!(
                "the document count of {} must be at least 1",
                literal(term)
            )));
        };
        for_each_word(term, &mut space, &Stop::default(), |word| {
            memory::push(&mut counts, (hash_bytes(word), number), DOING)
        })?;
    }
    Ok(counts)
}

/// Returns the strings of a `text[]` argument, or `None` if it is NULL.
fn strings(call: FunctionCall, n: usize) -> Result<Option<Vec<String>>> {
    let Some(array) = call.datum(n) else { return Ok(None) };
    // SAFETY: our SQL declares a text[].
    match unsafe { decode(ColumnContent::Tokens, array)? } {
        Some(Document::Tokens(strings)) => Ok(Some(strings)),
        _ => Err(argument_not_utf8(n)),
    }
}
