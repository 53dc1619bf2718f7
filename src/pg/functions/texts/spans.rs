//! Sentences and paragraphs of a text as SQL functions, and spans as ranges
//! (docs/reference/functions.md).

use pgrx::IntoDatum;
use pgrx::PgSqlErrorCode;
use pgrx::datum::Range;
use pgrx::pg_sys::Datum;

use crate::pg::server::call::{FunctionCall, sql_functions};
use crate::pg::server::error::{Result, SqlError};
use crate::pg::server::executor::compute;
use crate::pg::server::set_returning::{self, RowSource, Rows};
use crate::pg::server::values;
use neardup_core::executor::Stop;
use neardup_core::memory;
use neardup_core::text::paragraphs::for_each_paragraph;
use neardup_core::text::sentences::for_each_sentence;
use neardup_core::text::spans::Span;

sql_functions! {
    /// `sentences(text) → TABLE(no, span, sentence)`
    neardup_sentences, within Arguments: |call| {
        set_returning::answer(call, || units(call, "sentence", |text, stop, units| {
            for_each_sentence(text, stop, |span| memory::push(units, span, DOING))
        }))
    };

    /// `paragraphs(text) → TABLE(no, span, paragraph)`
    neardup_paragraphs, within Arguments: |call| {
        set_returning::answer(call, || units(call, "paragraph", |text, stop, units| {
            for_each_paragraph(text, stop, |span| memory::push(units, span, DOING))
        }))
    };
}

const DOING: &str = "cutting a text into sentences";

/// Units of a text as rows: number, span, text; `unit` is the name of the column with the texts.
fn units(
    call: FunctionCall,
    unit: &'static str,
    cut: impl Fn(&str, &Stop, &mut Vec<Span>) -> neardup_core::error::Result<()> + Sync,
) -> Result<impl RowSource<3>> {
    let text = call.text(0)?.map(|text| memory::owned(text, DOING)).transpose()?.unwrap_or_default();
    let units = compute(text.len(), |stop| {
        let mut units = Vec::new();
        cut(&text, stop, &mut units)?;
        Ok(units)
    })?;
    // The number of characters in a text of the server fits in 31 bits.
    let row = move |(n, unit): (i32, Span)| {
        Ok([Some(Datum::from(n)), Some(range(&unit.chars)?), Some(values::text(unit.slice(&text))?)])
    };
    Ok(Rows(["no", "span", unit], (1..).zip(units).map(row)))
}

/// Converts a range of characters that are counted from 0 to a half-open range of characters that
/// are counted from 1, as by SQL's `substring`.
pub(crate) fn range(chars: &std::ops::Range<usize>) -> Result<Datum> {
    let [from, to] = [chars.start, chars.end].map(|at| i32::try_from(at + 1));
    let (Ok(from), Ok(to)) = (from, to) else {
        return Err(SqlError::new(PgSqlErrorCode::ERRCODE_PROGRAM_LIMIT_EXCEEDED, "text is too long"));
    };
    Range::<i32>::from(from..to)
        .into_datum()
        .ok_or_else(|| SqlError::new(PgSqlErrorCode::ERRCODE_INTERNAL_ERROR, "no range"))
}
