//! Longest common subsequences, their trustable parts and sentence signatures as SQL functions
//! (docs/reference/functions.md, *Longest common subsequences*).

use pgrx::pg_sys::Datum;

use crate::pg::functions::texts::spans::range;
use crate::pg::request::methods::tlcs::centre;
use crate::pg::server::call::{FunctionCall, sql_functions};
use crate::pg::server::error::{Result, SqlError};
use crate::pg::server::executor::compute;
use crate::pg::server::set_returning::{self, Rows};
use crate::pg::server::values;
use neardup_core::executor::Stop;
use neardup_core::memory;
use neardup_core::sketches::sentence::{self, SentenceSigner};
use neardup_core::verify::lcs::{Lcs, LcsBounds, containment, resemblance, symbols};
use neardup_core::verify::tlcs::{Comparer, Found, Parameters, SharedPart};

sql_functions! {
    /// `lcs_length(text, text) → bigint`
    neardup_lcs_length, within Arguments: |call| {
        Ok(call.give(lcs(call)?.map(|(shared, ..)| shared as i64)))
    };

    /// `lcs_resemblance(text, text) → float8`
    neardup_lcs_resemblance, within Arguments: |call| {
        Ok(call.give(lcs(call)?.map(|(shared, a, b)| resemblance(shared, a, b))))
    };

    /// `lcs_containment(text, text) → float8`
    neardup_lcs_containment, within Arguments: |call| {
        Ok(call.give(lcs(call)?.map(|(shared, _, b)| containment(shared, b))))
    };
}

/// Returns the length of the longest common subsequence of the two arguments, and the lengths of
/// both arguments, or `None` if one of them is NULL.
fn lcs(call: FunctionCall) -> Result<Option<(usize, usize, usize)>> {
    let Some([a, b]) = call.two_texts()? else { return Ok(None) };
    let found = compute(effort(a.len(), b.len()), |stop| {
        let (a, b) = (symbols(&a)?, symbols(&b)?);
        let shared = Lcs::default().length(&a, &b, LcsBounds::default(), stop)?.unwrap_or(0);
        Ok((shared, a.len(), b.len()))
    })?;
    Ok(Some(found))
}

/// Estimates the cost of comparing two texts of these lengths in bytes.
fn effort(a: usize, b: usize) -> usize {
    // The cost of a comparison is proportional to the product of the lengths, and each step
    // computes 64 cells of the table.
    (a.saturating_mul(b) / 1024).max(a).max(b)
}

sql_functions! {
    /// `tlcs_resemblance(text, text, slope, window, first, centre, min_part, blocks) →
    /// float8`
    neardup_tlcs_resemblance, within Arguments: |call| {
        Ok(call.give(tlcs(call)?.map(|found| found.resemblance())))
    };

    /// `tlcs_containment(text, text, slope, window, first, centre, min_part, blocks) →
    /// float8`
    neardup_tlcs_containment, within Arguments: |call| {
        Ok(call.give(tlcs(call)?.map(|found| found.containment())))
    };

    /// `tlcs(text, text, slope, window, first, centre, min_part, blocks) → TABLE(left_span,
    /// right_span, length)`
    neardup_tlcs, within Arguments: |call| {
        set_returning::answer(call, || {
            let parts = tlcs(call)?.map(|found| found.parts).unwrap_or_default();
            // The number of characters in a text of the server fits in 31 bits.
            let row = |part: SharedPart| {
                Ok([Some(range(&part.left)?), Some(range(&part.right)?), Some(Datum::from(part.length as i32))])
            };
            Ok(Rows(["left_span", "right_span", "length"], parts.into_iter().map(row)))
        })
    };
}

/// Compares the texts in the first two arguments with the parameters in the arguments after them.
/// Returns `None` if one of the texts is NULL.
fn tlcs(call: FunctionCall) -> Result<Option<Found>> {
    let Some([a, b]) = call.two_texts()? else { return Ok(None) };
    let parameters = Parameters {
        slope: call.need(2, "slope")?,
        window: call.whole(3, "window")?,
        first: call.whole(4, "first")?.into(),
        centre: centre(&call.need::<Vec<Option<f64>>>(5, "centre")?)?,
        least_part: call.whole(6, "min_part")?,
        blocks: call.whole(7, "blocks")?,
        trustable: true,
    };
    let example = "For example: SELECT * FROM tlcs(a, b, slope => 0.1, window => 16, centre => '{0.4,0.6}');";
    parameters.check().map_err(|error| SqlError::from(error).hint(example))?;
    let compare = |stop: &Stop| Comparer::new(parameters)?.compare(&a, &b, None, stop);
    Ok(compute(effort(a.len(), b.len()), compare)?)
}

sql_functions! {
    /// `sentence_signatures(text, m, n, s, min_width) → uuid[]`
    neardup_sentence_signatures, within Arguments: |call| {
        let Some(text) = call.text(0)? else { return Ok(call.give::<i32>(None)) };
        let parameters = sentence::SignatureParameters {
            parts: call.whole(1, "m")?,
            kinds: call.whole(2, "n")?,
            smallest: call.whole(3, "s")?,
            wider_than: call.whole(4, "min_width")?,
            ..sentence::SignatureParameters::default()
        };
        let example = "For example: SELECT sentence_signatures('…', m => 7, n => 16, s => 3);";
        parameters.check().map_err(|error| SqlError::from(error).hint(example))?;
        let signatures = compute(text.len(), |stop| {
            let mut signatures: Vec<u128> = Vec::new();
            memory::extend(&mut signatures, SentenceSigner::new(parameters)?.signatures(&text, stop)?, "signing sentences")?;
            Ok(signatures)
        })?;
        values::uuid_array(&signatures)
    };
}
