//! What is carried of a document.

use pgrx::pg_sys::Datum;

use super::method;
use crate::pg::functions::sketches::document_of;
use crate::pg::query::decode::ColumnContent;
use crate::pg::server::call::{FunctionCall, sql_function};
use crate::pg::server::error::Result;
use crate::pg::server::executor::executor_for;
use crate::pg::server::values;
use neardup_core::executor;
use neardup_core::methods::carrier::carried;

/// Returns what is carried of the document in argument 0, whose site is in argument 1.
fn carry(call: FunctionCall, kind: ColumnContent) -> Result<Datum> {
    let method = method(call, 2)?;
    let carrier = method.carrier()?;
    let Some(document) = document_of(call, kind)? else { return Ok(call.give::<i32>(None)) };
    let site = call.text(1)?;
    let mut bytes = Vec::new();
    executor::one(executor_for(document.bytes()), &mut bytes, |bytes, stop| {
        *bytes = carried(carrier, &document, site.as_deref(), stop)?;
        Ok(())
    })?;
    values::bytea(&bytes, "a carried document")
}

sql_function! {
    /// `neardup_part_document(text, site, method) → bytea`
    neardup_part_document_text, pg_finfo_neardup_part_document_text, within Arguments, |call| carry(call, ColumnContent::Text)
}
sql_function! {
    /// `neardup_part_document(text[], site, method) → bytea`
    neardup_part_document_tokens, pg_finfo_neardup_part_document_tokens, within Arguments, |call| carry(call, ColumnContent::Tokens)
}
sql_function! {
    /// `neardup_part_document(tsvector, site, method) → bytea`
    neardup_part_document_lexemes, pg_finfo_neardup_part_document_lexemes, within Arguments, |call| carry(call, ColumnContent::Vector)
}
sql_function! {
    /// `neardup_part_document(bigint[], site, method) → bytea`
    neardup_part_document_numbers, pg_finfo_neardup_part_document_numbers, within Arguments, |call| carry(call, ColumnContent::Numbers)
}
