//! Text and binary input and output of the sketch types and of balls. In a plan that EXPLAIN
//! prints, the output text is shortened; everywhere else, the input function restores the original
//! value from it.

use std::borrow::Cow;

use pgrx::pg_sys::{self, Datum};
use pgrx::{PgSqlErrorCode, check_for_interrupts};

use crate::pg::functions::near::sketch_balls::refused;
use crate::pg::server::call::{FunctionCall, sql_functions, varlena_bytes};
use crate::pg::server::encoding;
use crate::pg::server::error::{Result, SqlError};
use crate::pg::server::executor::compute;
use crate::pg::server::explaining;
use crate::pg::server::normalization::normalized;
use crate::pg::server::values;
use neardup_core::error::{Error, Result as CoreResult};
use neardup_core::executor::Stop;
use neardup_core::features::normalization::Normalization;
use neardup_core::memory;
use neardup_core::search::ball::{self, SetBall};
use neardup_core::search::edit_ball::EditBall;
use neardup_core::search::json::{SHOWN, WHOLE};
use neardup_core::search::runs::query::{self, RunQuery};
use neardup_core::sketches::balls::{MinhashBall, SimhashBall};
use neardup_core::sketches::wire::{Minhash, Simhash};

/// The input and output of one type.
struct TypeForm {
    pub name: &'static str,
    pub from_text: fn(&str, &Stop) -> CoreResult<Vec<u8>>,
    /// Checks that bytes are a valid value.
    pub check: fn(&[u8]) -> CoreResult<()>,
    /// Returns the text of a value's bytes, which are already checked, with so many characters of
    /// its document.
    pub to_text: fn(&[u8], usize, &Stop) -> CoreResult<String>,
    /// A value of the type, for hints.
    pub example: &'static str,
}

/// The form of a type whose values a type of the core reads, checks and writes.
macro_rules! form {
    ($name:literal, $of:ident, $example:literal) => {
        TypeForm {
            name: $name,
            from_text: |text, _| $of::from_text(text),
            check: |bytes| $of::parse(bytes).map(|_| ()),
            to_text: |bytes, _, _| $of::parse(bytes)?.to_text(),
            example: $example,
        }
    };
}

const MINHASH_SKETCH: TypeForm =
    form!("minhash_sketch", Minhash, "minhash:v1:words:h1.1:k5:seed1:m2:01020304ffffffff");
const SIMHASH_SKETCH: TypeForm =
    form!("simhash_sketch", Simhash, "simhash:v1:words:h1.1:k1:0123456789abcdef");
const MINHASH_BALL: TypeForm =
    form!("minhash_ball", MinhashBall, "<minhash:v1:words:h1.1:k5:seed1:m2:01020304ffffffff,0.8>");
const SIMHASH_BALL: TypeForm =
    form!("simhash_ball", SimhashBall, "<simhash:v1:words:h1.1:k1:0123456789abcdef,3>");

const TEXT_BALL: TypeForm = TypeForm {
    name: ball::NAME,
    from_text: |text, stop| match EditBall::is_text(text) {
        true => EditBall::from_text(text, stop),
        false => SetBall::from_text(text, stop),
    },
    check: |bytes| match EditBall::is(bytes) {
        true => EditBall::parse(bytes).map(|_| ()),
        false => SetBall::parse(bytes).map(|_| ()),
    },
    to_text: |bytes, most, stop| match EditBall::is(bytes) {
        true => EditBall::parse(bytes)?.to_text(most, stop),
        false => SetBall::parse(bytes)?.to_text(most, stop),
    },
    example: "<jaccard:words:k1:multiset:0.8:\"some text\">",
};

/// A text and the least length of a run.
const TEXT_RUNS: TypeForm = TypeForm {
    name: query::NAME,
    from_text: RunQuery::from_text,
    check: |bytes| RunQuery::parse(bytes).map(|_| ()),
    to_text: |bytes, most, stop| RunQuery::parse(bytes)?.to_text(most, stop),
    example: "<words:16:\"some text\">",
};

sql_functions! {
    /// `minhash_sketch_in(cstring) → minhash_sketch`
    neardup_minhash_sketch_in: |call| input(call, &MINHASH_SKETCH);

    /// `minhash_sketch_out(minhash_sketch) → cstring`
    neardup_minhash_sketch_out: |call| output(call, &MINHASH_SKETCH);

    /// `minhash_sketch_recv(internal) → minhash_sketch`
    neardup_minhash_sketch_recv: |call| receive(call, &MINHASH_SKETCH);

    /// `simhash_sketch_in(cstring) → simhash_sketch`
    neardup_simhash_sketch_in: |call| input(call, &SIMHASH_SKETCH);

    /// `simhash_sketch_out(simhash_sketch) → cstring`
    neardup_simhash_sketch_out: |call| output(call, &SIMHASH_SKETCH);

    /// `simhash_sketch_recv(internal) → simhash_sketch`
    neardup_simhash_sketch_recv: |call| receive(call, &SIMHASH_SKETCH);

    /// `minhash_ball_in(cstring) → minhash_ball`
    neardup_minhash_ball_in: |call| input(call, &MINHASH_BALL);

    /// `minhash_ball_out(minhash_ball) → cstring`
    neardup_minhash_ball_out: |call| output(call, &MINHASH_BALL);

    /// `minhash_ball_recv(internal) → minhash_ball`
    neardup_minhash_ball_recv: |call| receive(call, &MINHASH_BALL);

    /// `simhash_ball_in(cstring) → simhash_ball`
    neardup_simhash_ball_in: |call| input(call, &SIMHASH_BALL);

    /// `simhash_ball_out(simhash_ball) → cstring`
    neardup_simhash_ball_out: |call| output(call, &SIMHASH_BALL);

    /// `simhash_ball_recv(internal) → simhash_ball`
    neardup_simhash_ball_recv: |call| receive(call, &SIMHASH_BALL);

    /// `text_ball_in(cstring) → text_ball`
    neardup_text_ball_in: |call| ball_in_its_form(input(call, &TEXT_BALL)?);

    /// `text_ball_out(text_ball) → cstring`
    neardup_text_ball_out: |call| match explaining::conflict() {
        Some(conflict) => refused(call, conflict, |bytes, stop| (TEXT_BALL.to_text)(bytes, SHOWN, stop)),
        None => output(call, &TEXT_BALL)
    };

    /// `text_ball_recv(internal) → text_ball`
    neardup_text_ball_recv: |call| ball_in_its_form(receive(call, &TEXT_BALL)?);

    /// `text_runs_in(cstring) → text_runs`
    neardup_text_runs_in: |call| query_in_its_form(input(call, &TEXT_RUNS)?);

    /// `text_runs_out(text_runs) → cstring`
    neardup_text_runs_out: |call| output(call, &TEXT_RUNS);

    /// `text_runs_recv(internal) → text_runs`
    neardup_text_runs_recv: |call| query_in_its_form(receive(call, &TEXT_RUNS)?);
}

fn input(call: FunctionCall, form: &TypeForm) -> Result<Datum> {
    // Values are long, so errors show only their beginning.
    const SHOWN: usize = 60;
    check_for_interrupts!();
    let text: &std::ffi::CStr = call.need(0, "the text of a value")?;
    let text = encoding::long_text(text)?;
    let bytes = compute(text.len(), |stop| (form.from_text)(&text, stop)).map_err(|error| {
        if matches!(error, Error::OutOfMemory { .. } | Error::Thread(_)) {
            return error.into();
        }
        let mut shown: String = text.chars().take(SHOWN).collect();
        if shown.len() < text.len() {
            shown.push('…');
        }
        let message = format!("invalid input syntax for type {}: \"{shown}\": {}", form.name, why(error));
        SqlError::new(PgSqlErrorCode::ERRCODE_INVALID_TEXT_REPRESENTATION, message).hint(hint(form, &text))
    })?;
    values::bytea(&bytes, "the value")
}

/// Returns the hint for a text that is no value of the type.
fn hint(form: &TypeForm, text: &str) -> String {
    // An operator takes the text of a string for a ball.
    if form.name == ball::NAME && !text.trim_start().starts_with('<') {
        return "To compare with a text, make a ball around it: body <@ near('some text', 0.8), body <-> near('some text', 0.3)"
            .to_owned();
    }
    format!("A value looks like this: {}", form.example)
}

fn output(call: FunctionCall, form: &TypeForm) -> Result<Datum> {
    let Some(bytes) = call.bytes(0) else { return Ok(call.give::<i32>(None)) };
    // Plans show the beginning of long texts.
    let most = if explaining::is_printing() { SHOWN } else { WHOLE };
    let mut text = compute(bytes.len(), |stop| (form.to_text)(bytes, most, stop))?;
    if explaining::is_printing() {
        text = explaining::short(&text);
    }
    check_for_interrupts!();
    Ok(encoding::to_server(&text)?.into_datum())
}

fn receive(call: FunctionCall, form: &TypeForm) -> Result<Datum> {
    // SAFETY: the server calls receive functions with a StringInfo.
    let message: pg_sys::StringInfo = match call.datum(0) {
        Some(datum) => datum.cast_mut_ptr(),
        None => return Ok(call.give::<i32>(None)),
    };
    // SAFETY: the rest of the message from its cursor on belongs to the value, and all of it is
    // read.
    let bytes = unsafe {
        let message = &mut *message;
        let (from, to) = (message.cursor as usize, message.len as usize);
        message.cursor = message.len;
        std::slice::from_raw_parts(message.data.cast::<u8>().add(from), to.saturating_sub(from))
    };
    check_for_interrupts!();
    (form.check)(bytes).map_err(|error| {
        let message = format!("invalid binary form of type {}: {}", form.name, why(error));
        SqlError::new(PgSqlErrorCode::ERRCODE_INVALID_BINARY_REPRESENTATION, message)
            .hint("The binary form is that of neardup's own output, byte for byte.")
    })?;
    Ok(call.give(Some(bytes)))
}

/// Normalizes the document of a ball that was read.
fn ball_in_its_form(ball: Datum) -> Result<Datum> {
    let form = |bytes: &[u8]| match EditBall::is(bytes) {
        true => EditBall::parse(bytes).map(|ball| ball.normalization),
        false => SetBall::parse(bytes).map(|ball| ball.parameters.normalization),
    };
    in_its_form(ball, form, ball::HEADER)
}

/// Normalizes the text of a query for runs that was read.
fn query_in_its_form(query: Datum) -> Result<Datum> {
    in_its_form(query, |bytes| RunQuery::parse(bytes).map(|query| query.normalization), query::HEADER)
}

/// Normalizes the text that a value has after its header, because the value may be written by hand
/// or come from elsewhere.
fn in_its_form(
    value: Datum,
    form: impl FnOnce(&[u8]) -> CoreResult<Option<Normalization>>,
    header: usize,
) -> Result<Datum> {
    if value.is_null() {
        return Ok(value);
    }
    // SAFETY: a varlena that was just made.
    let bytes = unsafe { varlena_bytes(value) };
    let Some(form) = form(bytes)? else { return Ok(value) };
    let (header, text) = bytes.split_at(header);
    let text = String::from_utf8_lossy(text);
    let normalized = normalized(Some(form), Cow::Borrowed(&text))?;
    if normalized == text {
        return Ok(value);
    }
    let mut bytes = Vec::new();
    memory::extend(&mut bytes, header, "normalizing a text")?;
    memory::extend(&mut bytes, normalized.as_bytes(), "normalizing a text")?;
    values::bytea(&bytes, "the value")
}

/// Returns the reason for an error without the name of the type.
fn why(error: Error) -> String {
    match error {
        Error::Malformed { why, .. } => why,
        other => other.to_string(),
    }
}
