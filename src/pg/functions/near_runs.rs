//! Queries for the texts that have a run of tokens in common with a text, and whether a text does
//! (docs/reference/index.md).

use pgrx::pg_sys::Datum;

use super::kept::with_kept;
use super::sketches::document_at;
use super::token_sets::cut;
use crate::pg::query::decode::Kind;
use crate::pg::server::call::{Call, sql_function};
use crate::pg::server::error::{Result, SqlError};
use crate::pg::server::executor::executor_for;
use crate::pg::server::values::{LARGEST, too_large};
use neardup_core::error::Error;
use neardup_core::executor;
use neardup_core::joins::search::runs::query::{RunQuery, check_min_run};
use neardup_core::joins::search::runs::verifier::RunVerifier;

/// The default of the least run, in tokens. It is also that of an index.
const MIN_RUN: i32 = 12;

sql_function! {
    /// `runs(text, min_run, tokenizer) → text_runs`
    neardup_runs, pg_finfo_neardup_runs, |call| {
        let Some(text) = call.text(0)? else { return Ok(call.give::<i32>(None)) };
        let min_run = check_min_run(call.get::<i32>(1).unwrap_or(MIN_RUN).into()).map_err(|error| {
            SqlError::from(error).hint("Sixteen words in a row: runs('some text', 16)")
        })?;
        let (_, origin) = cut(call, 2, "near(to_tsvector('english', body), 0.8)").map_err(|error| {
            error.hint("Tokenizers: words, chars, whitespace, html. Six characters in a row: runs('some text', 6, 'chars')")
        })?;
        let query = RunQuery { origin, min_run, text: &text }.to_bytes()?;
        if query.len() > LARGEST - size_of::<i32>() {
            return Err(too_large("a query for runs"));
        }
        Ok(call.give(Some(query)))
    }
}

sql_function! {
    /// `text_shares_run(text, text_runs) → bool`
    neardup_text_shares_run, pg_finfo_neardup_text_shares_run, |call| shares(call, 0, 1)
}
sql_function! {
    /// `text_runs_shared(text_runs, text) → bool`
    neardup_text_runs_shared, pg_finfo_neardup_text_runs_shared, |call| shares(call, 1, 0)
}

fn shares(call: Call, value: usize, query: usize) -> Result<Datum> {
    let Some(query) = call.bytes(query) else { return Ok(call.give::<bool>(None)) };
    let Some(document) = document_at(call, value, Kind::Text)? else { return Ok(call.give::<bool>(None)) };
    let executor = executor_for(query.len() + document.bytes());
    let shares = with_kept(call, query, judge, |judge| {
        let mut state = (judge, false);
        executor::one(executor, &mut state, |(judge, shares), stop| {
            *shares = judge.shares(&document, stop)?;
            Ok(())
        })?;
        Ok(state.1)
    })?;
    Ok(call.give(Some(shares)))
}

/// Parses a query and prepares the comparison with it.
fn judge(bytes: &[u8]) -> Result<RunVerifier> {
    let query = RunQuery::parse(bytes)?;
    let mut judge = None;
    executor::one(executor_for(bytes.len()), &mut judge, |judge, stop| {
        *judge = Some(RunVerifier::new(&query, stop)?);
        Ok(())
    })?;
    Ok(judge.ok_or(Error::Source)?)
}
