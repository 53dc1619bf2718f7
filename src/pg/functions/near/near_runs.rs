//! Queries for the texts that have a run of tokens in common with a text, and whether a text does
//! (docs/signature-index.md).

use pgrx::pg_sys::Datum;

use super::kept::with_kept;
use crate::pg::functions::texts::text_arguments::{normalization, origin};
use crate::pg::read::packed::{fetched, packed};
use crate::pg::server::call::{FunctionCall, raw_bytes, sql_functions};
use crate::pg::server::encoding;
use crate::pg::server::error::{Result, SqlError};
use crate::pg::server::executor::{compute, compute_with};
use crate::pg::server::normalization::normalized;
use crate::pg::server::values;
use neardup_core::features::normalization::Normalization;
use neardup_core::memory;
use neardup_core::search::runs::query::{RunQuery, check_min_run};
use neardup_core::search::runs::verifier::RunVerifier;
use neardup_core::text::packed::StoredText;

/// The default of the least run, in tokens. It is also that of an index.
const MIN_RUN: i32 = 12;
/// The greatest number of bytes of a stored text whose query is kept for the next call.
const REMEMBERED: usize = 1 << 16;

sql_functions! {
    /// `shared_run(text, min_run, tokenizer, normalization) → text_runs`
    neardup_shared_run, within Arguments: |call| {
        let Some(text) = call.datum(0) else { return Ok(call.give::<i32>(None)) };
        let min_run = check_min_run(call.get::<i32>(1).unwrap_or(MIN_RUN).into()).map_err(|error| {
            SqlError::from(error).hint("Sixteen words in a row: shared_run('some text', 16)")
        })?;
        let origin = origin(call, 2, "near(to_tsvector('english', body), 0.8)").map_err(|error| {
            error.hint("Tokenizers: words, chars, whitespace, html. Six characters in a row: shared_run('some text', 6, 'chars')")
        })?;
        let form = normalization(call, 3, origin, "Runs of characters that differ only in their encoding or format: shared_run('some text', normalization => 'nfkc')")?;
        // SAFETY: a text, as SQL declares; it lives as long as the call.
        let (text, stored) = unsafe {
            let text = fetched(text);
            (text, raw_bytes(text))
        };
        let make = || {
            // SAFETY: as above.
            let text = normalized(form, unsafe { call.text_in(0, text)? })?;
            Ok(RunQuery { origin, min_run, normalization: form, text: &text }.to_bytes()?)
        };
        let give = |query: &[u8]| values::bytea(query, "a query for runs");
        if stored.len() > REMEMBERED {
            return give(&make()?);
        }
        // In a condition the server calls this for each row, mostly with the same text.
        let mut key = Vec::new();
        memory::reserve(&mut key, stored.len() + size_of_val(&min_run) + 2, "keeping an argument")?;
        key.extend(stored);
        key.extend(min_run.to_le_bytes());
        key.extend([origin as u8, Normalization::number(form)]);
        with_kept(call, &key, |_| make(), |query| give(query))
    };

    /// `text_shares_run(text, text_runs) → bool`
    neardup_text_shares_run, within Arguments: |call| shares(call, 0, 1);

    /// `text_runs_shared(text_runs, text) → bool`
    neardup_text_runs_shared, within Arguments: |call| shares(call, 1, 0);
}

fn shares(call: FunctionCall, value: usize, query: usize) -> Result<Datum> {
    let Some(query) = call.bytes(query) else { return Ok(call.give::<bool>(None)) };
    let Some(row) = call.datum(value) else { return Ok(call.give::<bool>(None)) };
    let shares = with_kept(call, query, judge, |(form, judge)| {
        let text;
        // SAFETY: a text, as SQL declares; it lives as long as the call, as do copies.
        let row = unsafe {
            let row = fetched(row);
            // If the text must be converted or normalized, the server also decompresses it.
            match packed(row).filter(|_| encoding::is_utf8() && form.is_none()) {
                Some(packed) => StoredText::Packed(packed),
                None => {
                    text = normalized(*form, call.text_in(value, row)?)?;
                    StoredText::Plain(&text)
                }
            }
        };
        Ok(compute_with(query.len() + row.bytes(), judge, |judge, stop| judge.shares(&row, stop))?)
    })?;
    Ok(call.give(Some(shares)))
}

/// Parses a query and prepares the comparison with it. Returns also the form in which texts are
/// compared.
fn judge(bytes: &[u8]) -> Result<(Option<Normalization>, RunVerifier)> {
    let query = RunQuery::parse(bytes)?;
    let judge = compute(bytes.len(), |stop| RunVerifier::new(&query, stop))?;
    Ok((query.normalization, judge))
}
