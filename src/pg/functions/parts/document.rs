//! What is carried of a document, the rows by which it meets others in parts, and the similarity of
//! two carried documents.

use pgrx::pg_sys::Datum;

use super::ranks::ranks;
use super::{EXAMPLE, method};
use crate::pg::functions::sketches::minhash_simhash::document_at;
use crate::pg::query::decode::ColumnContent;
use crate::pg::server::call::{FunctionCall, sql_functions};
use crate::pg::server::error::{Result, SqlError};
use crate::pg::server::executor::compute;
use crate::pg::server::set_returning::{self, Rows};
use crate::pg::server::values;
use neardup_core::joins::sets::bounds::Bounds;
use neardup_core::methods::carrier::{Carrier as _, LeftOut, Meeting, Places, carried, content};
use neardup_core::parts::groups::{RowGroups, check_parts, groups};
use neardup_core::parts::ranks::TokenRanks;
use neardup_core::parts::{filtered_keys, keys};

/// Returns what is carried of the document in argument 0, whose site, group and source follow.
fn carry(call: FunctionCall, kind: ColumnContent) -> Result<Datum> {
    let method = method(call, 4)?;
    let carrier = method.carrier()?;
    let Some(document) = document_at(call, 0, kind)? else { return Ok(call.give::<i32>(None)) };
    let (site, group, source) = (call.text(1)?, call.text(2)?, call.text(3)?);
    let places = Places { site: site.as_deref(), group: group.as_deref(), source: source.as_deref() };
    if !carrier.has_places(places) {
        return Ok(call.give::<i32>(None));
    }
    let bytes = compute(document.bytes(), |stop| carried(&carrier, &document, places, stop))?;
    values::bytea(&bytes, "a carried document")
}

sql_functions! {
    /// `neardup_part_document(text, site, within, across, method) → bytea`
    neardup_part_document_text, within Arguments: |call| carry(call, ColumnContent::Text);

    /// `neardup_part_document(text[], site, within, across, method) → bytea`
    neardup_part_document_tokens, within Arguments: |call| carry(call, ColumnContent::Tokens);

    /// `neardup_part_document(tsvector, site, within, across, method) → bytea`
    neardup_part_document_lexemes, within Arguments: |call| carry(call, ColumnContent::Vector);

    /// `neardup_part_document(bigint[], site, within, across, method) → bytea`
    neardup_part_document_numbers, within Arguments: |call| carry(call, ColumnContent::Numbers);

    /// `neardup_part_similarity(left, right, ranks, method) → float8`: NULL if the two documents
    /// are no pair.
    neardup_part_similarity, within Arguments: |call| {
        let method = method(call, 3)?;
        let carrier = method.carrier()?;
        let Some((left, right)) = call.bytes(0).zip(call.bytes(1)) else { return Ok(call.give::<f64>(None)) };
        let pair = [content(left)?, content(right)?];
        let left_out = match carrier.meeting() {
            Meeting::Terms { .. } => LeftOut::parse(call.bytes(2).unwrap_or_default())?,
            _ => LeftOut::default(),
        };
        let effort = left.len() + right.len() + left.len().saturating_mul(right.len()) / 1024;
        Ok(call.give(compute(effort, |stop| carrier.similarity(pair, left_out, stop))?))
    };

    /// `neardup_part_rows(carried, ranks, method, parts)`: returns one row for each part.
    neardup_part_rows, within Arguments: |call| {
        match of_document(call, 0)? {
            Some(rows) => {
                let (size, bitmap) = (Some(Datum::from(rows.size)), bytea(&rows.bitmap));
                // There are at most 2²⁰ parts, and a value of 1 GB has fewer tokens than an int can
                // count.
                let row = |(part, prefix): &(u32, Vec<u8>)| Ok([Some(Datum::from(*part)), size, bitmap, bytea(prefix)]);
                set_returning::all(call, Rows(["part", "size", "bitmap", "prefix"], rows.parts.iter().map(row)))
            }
            None => Ok(call.give::<i32>(None)),
        }
    };
}

/// Returns the rows of the carried document in argument `n`, by what was counted, the method and
/// the number of parts in the next arguments. Returns `None` without a document.
pub(super) fn of_document(call: FunctionCall, n: usize) -> Result<Option<RowGroups>> {
    let method = method(call, n + 2)?;
    let carrier = method.carrier()?;
    let Some(bytes) = call.bytes(n) else { return Ok(None) };
    let carried = content(bytes)?;
    let parts = check_parts(call.need::<i32>(n + 3, "parts")?.into())
        .map_err(|error| SqlError::from(error).hint(EXAMPLE))?;
    let (none, mut order, mut left_out) = ([1, 0, 0, 0, 0, 0, 0, 0], None, LeftOut::default());
    if matches!(carrier.meeting(), Meeting::Sets(_) | Meeting::Rarest) {
        order = Some(ranks(call, n + 1)?.map_or_else(|| TokenRanks::parse(&none), Ok)?);
    } else {
        left_out = LeftOut::parse(call.bytes(n + 1).unwrap_or_default())?;
    }
    let rows = compute(8 * bytes.len(), |stop| {
        let mut own = Vec::new();
        match (carrier.meeting(), &order) {
            (Meeting::Sets(predicate), Some(order)) => {
                return groups(&carrier.set(carried, stop)?, order, &Bounds::new(predicate), parts, stop);
            }
            (Meeting::Rarest, Some(order)) => {
                let mut weighted = Vec::new();
                let needed = carrier.weights(carried, &mut weighted, stop)?;
                keys::rarest(&weighted, needed, order, &mut own, stop)?;
            }
            (meeting, _) => {
                carrier.keys(carried, left_out, &mut own, stop)?;
                if let Meeting::Keys { filter: Some(predicate), .. } = meeting {
                    let set = carrier.set(carried, stop)?;
                    return filtered_keys::groups(&own, &set, &Bounds::new(predicate), parts, stop);
                }
            }
        }
        keys::groups(&mut own, parts, stop)
    })?;
    Ok(Some(rows))
}

/// Makes a bytea in the current memory context.
fn bytea(bytes: &[u8]) -> Option<Datum> {
    pgrx::IntoDatum::into_datum(bytes)
}
