//! A ball in the message of an exclusion constraint, which the server and its log would otherwise
//! get with the whole documents of two rows: shortened, with the length of the document, and with
//! the primary key of the row that is in the table.

use pgrx::pg_sys::Datum;

use crate::pg::query::row_key::key_of_row;
use crate::pg::server::call::FunctionCall;
use crate::pg::server::encoding;
use crate::pg::server::error::Result;
use crate::pg::server::executor::executor_for;
use crate::pg::server::explaining::Conflict;
use neardup_core::error::Result as CoreResult;
use neardup_core::executor::{self, Stop};
use neardup_core::features::tokens::Document;
use neardup_core::joins::search::ball::SetBall;
use neardup_core::joins::search::edit_ball::{EditBall, characters};

/// Returns the output of a ball in such a message. `short` returns its text with the beginning of a
/// long document.
pub(super) fn refused(
    call: FunctionCall,
    conflict: Conflict,
    short: fn(&[u8], &Stop) -> CoreResult<String>,
) -> Result<Datum> {
    let Some(bytes) = call.bytes(0) else { return Ok(call.give::<i32>(None)) };
    let mut text = String::new();
    executor::one(executor_for(bytes.len()), &mut text, |text, stop| {
        *text = short(bytes, stop)?;
        Ok(())
    })?;
    let mut about: Vec<String> = length(bytes)?.into_iter().collect();
    if !conflict.is_refused {
        about.extend(key_of_row(conflict.table, conflict.row)?);
    }
    if !about.is_empty() {
        text = format!("{text} ({})", about.join(", "));
    }
    Ok(encoding::to_server(&text)?.into_datum())
}

/// Returns the length of the document of a ball, in what it is made of.
fn length(ball: &[u8]) -> Result<Option<String>> {
    if EditBall::is(ball) {
        return Ok(Some(format!("{} characters", characters(EditBall::parse(ball)?.text))));
    }
    let Ok(ball) = SetBall::parse(ball) else { return Ok(None) };
    Ok(Some(match ball.document()? {
        Document::Text(text) => format!("{} characters", characters(&text)),
        Document::Tokens(tokens) => format!("{} tokens", tokens.len()),
        Document::Numbers(numbers) => format!("{} numbers", numbers.len()),
        _ => return Ok(None),
    }))
}
