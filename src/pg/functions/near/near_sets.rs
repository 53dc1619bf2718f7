//! Balls around documents and membership in them, with exactly the similarity that near_duplicates
//! uses (docs/signature-index.md).

use pgrx::PgSqlErrorCode;
use pgrx::pg_sys::{self, Datum};

use super::kept::{judge, with_kept};
use crate::pg::functions::sketches::minhash_simhash::document_at;
use crate::pg::functions::texts::text_arguments::{normalization, origin};
use crate::pg::query::decode::{ColumnContent, element_type};
use crate::pg::query::names::type_name;
use crate::pg::request::features::spec_of;
use crate::pg::request::weights;
use crate::pg::server::call::{FunctionCall, sql_functions};
use crate::pg::server::checks::ball_of_a_document;
use crate::pg::server::error::{Result, SqlError};
use crate::pg::server::normalization::{normalized, normalized_document};
use crate::pg::server::values;
use neardup_core::error::Error;
use neardup_core::features::normalization::Normalization;
use neardup_core::features::origin::Origin;
use neardup_core::features::tokens::Document;
use neardup_core::memory;
use neardup_core::search::ball::{self, SetBall, SetParameters};
use neardup_core::search::edit_ball::{self, EditBall};
use neardup_core::sketches::minhash::check_similarity;
use neardup_core::sketches::wire::{Minhash, Simhash};
use neardup_core::verify::measure::Measure;

/// The default similarity.
const SIMILARITY: f64 = 0.8;
/// The number of the argument `normalization` of a text.
const FORM: usize = 7;
/// The number of the argument `damerau` of a text.
const DAMERAU: usize = 8;
/// The number of the argument `weight` of a text.
const WEIGHT: usize = 9;
/// The hint for wrong weights.
const LISTED: &str = "Limited counts little: near('some text', 0.8, weight => '{\"limited\": 0.1}'); or the words of a table: weight => (SELECT jsonb_object_agg(word, weight)::text FROM words)";
/// The hints for a wrong normalization form.
const SAME_CHARACTERS: &str = "Characters that differ only in their encoding or format are equal: near('some text', 0.8, normalization => 'nfkc')";
const SAME_BY_EDITS: &str = "Characters that differ only in their encoding or format are equal: near('some text', 0.8, method => 'edit', normalization => 'nfkc')";
/// The hint for swaps by another method.
const SWAPS: &str =
    "Two swapped neighbours are one edit: near('some text', 0.8, method => 'edit', damerau => true)";
/// The directions of containment: the share of the text of a row, or of the query.
const ROW: &str = "row";
const QUERY: &str = "query";

sql_functions! {
    /// `near(text, similarity, shingle, …, direction, normalization, damerau, weight) → text_ball`
    neardup_near_set_text, within Arguments: |call| {
        refuse_sketch(call)?;
        if call.name(5)?.as_deref() == Some(edit_ball::METHOD) {
            return near_by_edits(call);
        }
        if call.get(DAMERAU) == Some(true) {
            return Err(SqlError::parameter("only method edit has an argument damerau").hint(SWAPS));
        }
        let origin = origin(call, 4, "near(to_tsvector('english', body), 0.8)")?;
        let normalization = normalization(call, FORM, origin, SAME_CHARACTERS)?;
        near(call, ColumnContent::Text, origin, normalization, 5)
    };

    /// `near(text[], similarity, shingle, multiset, method, direction) → text_ball`
    neardup_near_set_tokens, within Arguments: |call| near(call, ColumnContent::Tokens, Origin::Tokens, None, 4);

    /// `near(tsvector, similarity, shingle, multiset, method, direction) → text_ball`
    neardup_near_set_lexemes, within Arguments: |call| near(call, ColumnContent::Vector, Origin::Lexemes, None, 4);

    /// `near(bigint[], similarity, shingle, multiset, method, direction) → text_ball`
    neardup_near_set_numbers, within Arguments: |call| near(call, ColumnContent::Numbers, Origin::Numbers, None, 4);

    /// `near_similarity(text, text_ball) → float8`
    neardup_near_similarity_text, within Arguments: |call| similarity(call, Some(ColumnContent::Text));

    /// `near_similarity(tsvector, text_ball) → float8`
    neardup_near_similarity_lexemes, within Arguments: |call| similarity(call, Some(ColumnContent::Vector));

    /// `near_similarity(anyarray, text_ball) → float8`
    neardup_near_similarity_array, within Arguments: |call| similarity(call, None);

    /// `text_in_ball(text, text_ball) → bool`
    neardup_text_in_ball, within Arguments: |call| in_ball(call, Some(ColumnContent::Text), 0, 1);

    /// `text_ball_contains(text_ball, text) → bool`
    neardup_text_ball_contains, within Arguments: |call| in_ball(call, Some(ColumnContent::Text), 1, 0);

    /// `lexemes_in_ball(tsvector, text_ball) → bool`
    neardup_lexemes_in_ball, within Arguments: |call| in_ball(call, Some(ColumnContent::Vector), 0, 1);

    /// `text_ball_contains(text_ball, tsvector) → bool`
    neardup_text_ball_contains_lexemes, within Arguments: |call| in_ball(call, Some(ColumnContent::Vector), 1, 0);

    /// `array_in_ball(anyarray, text_ball) → bool`
    neardup_array_in_ball, within Arguments: |call| in_ball(call, None, 0, 1);

    /// `text_ball_contains(text_ball, anyarray) → bool`
    neardup_text_ball_contains_array, within Arguments: |call| in_ball(call, None, 1, 0);

    /// `text_ball_distance(text, text_ball) → float8`
    neardup_text_ball_distance_text, within Arguments: |call| distance(call, Some(ColumnContent::Text));

    /// `text_ball_distance(tsvector, text_ball) → float8`
    neardup_text_ball_distance_lexemes, within Arguments: |call| distance(call, Some(ColumnContent::Vector));

    /// `text_ball_distance(anyarray, text_ball) → float8`
    neardup_text_ball_distance_array, within Arguments: |call| distance(call, None);

    /// `text_balls_meet(text_ball, text_ball) → bool`
    neardup_text_balls_meet, within Arguments: |call| {
        let Some((left, right)) = call.bytes(0).zip(call.bytes(1)) else { return Ok(call.give::<bool>(None)) };
        Ok(call.give(Some(meet(call, left, right)?)))
    };
}

/// Makes the ball around the document in argument 0. The similarity is argument 1; the shingle
/// length and the flag for repeats follow it; the measure is argument `method`, and its direction
/// the next one.
fn near(
    call: FunctionCall,
    kind: ColumnContent,
    origin: Origin,
    normalization: Option<Normalization>,
    method: usize,
) -> Result<Datum> {
    let Some(document) = document_at(call, 0, kind)? else { return Ok(call.give::<i32>(None)) };
    let least = least(call, "Texts that share four fifths of their words: near('some text', 0.8)")?;
    let features = spec_of(origin.tokenizer(), call.get(2), call.get(3), 1).map_err(|error| {
        SqlError::from(error).hint("Runs of five words: near('some text', 0.8, shingle => 5)")
    })?;
    let document = normalized_document(normalization, document)?;
    let measure = measure(call, method)?;
    let mut parameters = SetParameters { measure, origin, features, normalization, weights: None };
    if kind == ColumnContent::Text
        && let Some(list) = call.text(WEIGHT)?
    {
        parameters = weights::of_list(&list, parameters).map_err(|error| error.hint(LISTED))?;
    }
    give(&SetBall::build(&parameters, least, &document)?)
}

/// Makes the ball by edit distance around the text in argument 0. The other arguments of a ball of
/// sets must be NULL.
fn near_by_edits(call: FunctionCall) -> Result<Datum> {
    const EXAMPLE: &str = "Four fifths of the characters are left: near('some text', 0.8, method => 'edit')";
    let Some(text) = call.text(0)? else { return Ok(call.give::<i32>(None)) };
    let least = least(call, EXAMPLE)?;
    let given = [
        ("shingle", call.get::<i32>(2).is_some()),
        ("multiset", call.get::<bool>(3).is_some()),
        ("tokenizer", call.name(4)?.is_some()),
        ("direction", call.name(6)?.is_some_and(|direction| direction != ROW)),
        ("weight", call.text(WEIGHT)?.is_some()),
    ];
    if let Some((name, _)) = given.into_iter().find(|(_, is_given)| *is_given) {
        let message = format!("method edit compares characters and has no argument {name}");
        return Err(SqlError::parameter(message).hint(EXAMPLE));
    }
    let form = normalization(call, FORM, Origin::Chars, SAME_BY_EDITS)?;
    let (text, swaps) = (normalized(form, text)?, call.get(DAMERAU).unwrap_or(false));
    give(&EditBall { similarity: least, normalization: form, swaps, text: &text }.build()?)
}

/// Returns the least similarity, argument 1.
fn least(call: FunctionCall, example: &'static str) -> Result<f64> {
    let least = call.get(1).unwrap_or(SIMILARITY);
    check_similarity(least).map_err(|error| SqlError::from(error).hint(example))?;
    Ok(least)
}

fn give(ball: &[u8]) -> Result<Datum> {
    values::bytea(ball, "a ball")
}

/// Returns the measure that argument `n` names, or the default measure of near_duplicates if the
/// argument is NULL, in the direction that the next argument names.
fn measure(call: FunctionCall, n: usize) -> Result<Measure> {
    let name = call.name(n)?;
    let name = name.as_deref().unwrap_or("jaccard");
    let direction = call.name(n + 1)?;
    let direction = direction.as_deref().unwrap_or(ROW);
    const OF_QUERY: &str =
        "Rows that contain the text: near('some text', 0.8, method => 'containment', direction => 'query')";
    if ![ROW, QUERY].contains(&direction) {
        let message = format!("direction must be row or query, not \"{direction}\"");
        return Err(SqlError::parameter(message).hint(OF_QUERY));
    }
    let measure = ball::measure_of_name(name);
    if direction == QUERY {
        match measure {
            Some(Measure::Containment | Measure::Coverage) => return Ok(Measure::Coverage),
            Some(_) => {
                let message = format!("method {name} has no direction, only containment has one");
                return Err(SqlError::parameter(message).hint(OF_QUERY));
            }
            None => {}
        }
    }
    measure.ok_or_else(|| {
        let hint = match name {
            "minhash" => "Of a sketch: near(minhash('some text'), 0.8)",
            "simhash" => "Of a sketch: near(simhash('some text'), 3)",
            edit_ball::METHOD => "Of a text: near('some text', 0.8, method => 'edit')",
            _ => "Shared words of all words: near('some text', 0.8, method => 'jaccard')",
        };
        SqlError::parameter(format!(
            "method must be jaccard, cosine, dice, overlap or containment, or edit for a text, not \"{name}\""
        ))
        .hint(hint)
    })
}

/// Refuses a literal or a parameter of the query that is a text in the form of a sketch: the caller
/// meant a sketch and left out its type. A text from a table may have any form.
fn refuse_sketch(call: FunctionCall) -> Result<()> {
    // SAFETY: `flinfo` is set by the function manager.
    if !unsafe { pg_sys::get_fn_expr_arg_stable((*call.info).flinfo, 0) } {
        return Ok(());
    }
    let Some(text) = call.text(0)? else { return Ok(()) };
    let (kind, limit, is_sketch) = match text.trim_start().split_once(':') {
        Some(("minhash", _)) => ("minhash", "0.8", Minhash::from_text(&text).is_ok()),
        Some(("simhash", _)) => ("simhash", "3", Simhash::from_text(&text).is_ok()),
        _ => return Ok(()),
    };
    if !is_sketch {
        return Ok(());
    }
    let message = format!("this text is a {kind} sketch, and near() takes it for words");
    Err(SqlError::new(PgSqlErrorCode::ERRCODE_DATATYPE_MISMATCH, message)
        .hint(format!("Say its type: near($1::{kind}_sketch, {limit})")))
}

fn similarity(call: FunctionCall, kind: Option<ColumnContent>) -> Result<Datum> {
    Ok(call.give(compared(call, kind, 0, 1, false)?.map(|(similarity, _)| similarity)))
}

fn in_ball(call: FunctionCall, kind: Option<ColumnContent>, value: usize, ball: usize) -> Result<Datum> {
    Ok(call.give(compared(call, kind, value, ball, true)?.map(|(similarity, least)| similarity >= least)))
}

fn distance(call: FunctionCall, kind: Option<ColumnContent>) -> Result<Datum> {
    let far = |(similarity, least)| if similarity >= least { 1.0 - similarity } else { f64::INFINITY };
    Ok(call.give(compared(call, kind, 0, 1, true)?.map(far)))
}

/// Returns the similarity of a value to the centre of a ball, and the minimum similarity of the
/// ball, which is above 0. Returns `None` if the value or the ball is NULL. If `kind` is `None`,
/// the value is an array, and its kind follows from its element type. If `bounded` is true, a
/// similarity that is less than the minimum may be returned as 0.
fn compared(
    call: FunctionCall,
    kind: Option<ColumnContent>,
    value: usize,
    ball: usize,
    bounded: bool,
) -> Result<Option<(f64, f64)>> {
    let Some((datum, ball)) = call.datum(value).zip(call.bytes(ball)) else { return Ok(None) };
    let kind = match kind {
        Some(kind) => kind,
        // SAFETY: our SQL declares an array.
        None => unsafe { kind_of_array(datum)? },
    };
    let Some(document) = document_at(call, value, kind)? else { return Ok(None) };
    with_kept(call, ball, judge, |kept| {
        let of_ball = kind_of(kept.origin());
        if of_ball != kind {
            let ([others, ..], [_, value, ball]) = (words(of_ball), words(kind));
            return Err(SqlError::parameter(format!("{value} cannot be in a ball of {others}"))
                .hint(format!("Make the ball of a value of the same type: {ball}")));
        }
        let document = normalized_document(kept.normalization, document)?;
        Ok(Some((kept.similarity(&document, bounded)?, kept.least)))
    })
}

/// Reports whether the centre of each of two balls is in the other ball.
fn meet(call: FunctionCall, left: &[u8], right: &[u8]) -> Result<bool> {
    match (EditBall::is(left), EditBall::is(right)) {
        (true, true) => {
            let (a, b) = (EditBall::parse(left)?, EditBall::parse(right)?);
            if a.normalization != b.normalization {
                let [a, b] = [a, b].map(|ball| Normalization::describe(ball.normalization));
                return Err(SqlError::from(Error::Unlike { what: ball::NAME, a, b }).hint(
                    "Make both with the same arguments; only the similarity may differ: near(body, 0.8, method => 'edit') && near('some text', 0.9, method => 'edit')",
                ));
            }
            let middle = |text| memory::copied(text, "reading a ball").map(Document::Text);
            let text = middle(a.text)?;
            let similarity = with_kept(call, right, judge, |kept| kept.similarity(&text, false))?;
            return Ok(match a.swaps == b.swaps {
                true => similarity >= a.similarity.max(b.similarity),
                false => {
                    similarity >= b.similarity
                        && judge(left)?.similarity(&middle(b.text)?, false)? >= a.similarity
                }
            });
        }
        (false, false) => {}
        _ => {
            let message = "a ball by edit distance cannot be compared with a ball of sets";
            return Err(SqlError::parameter(message).hint(
                "Make both with the same arguments: near(body, 0.8, method => 'edit') && near('some text', 0.9, method => 'edit')",
            ));
        }
    }
    let (a, b) = (ball_of_a_document(left)?, ball_of_a_document(right)?);
    if a.parameters != b.parameters {
        let [a, b] = [a, b].map(|ball| ball.parameters.describe());
        return Err(SqlError::from(Error::Unlike { what: ball::NAME, a, b }).hint(
            "Make both with the same arguments; only the similarity may differ: near(body, 0.8, shingle => 5) && near('some text', 0.9, shingle => 5)",
        ));
    }
    let middle = a.document()?;
    let similarity = with_kept(call, right, judge, |kept| kept.similarity(&middle, false))?;
    if similarity < b.similarity {
        return Ok(false);
    }
    if a.parameters.measure.is_symmetric() {
        return Ok(similarity >= a.similarity);
    }
    Ok(judge(left)?.similarity(&b.document()?, false)? >= a.similarity)
}

/// Returns the kind of document as which an array is read.
///
/// # Safety
/// The datum is an array.
unsafe fn kind_of_array(array: Datum) -> Result<ColumnContent> {
    // SAFETY: the caller's promise.
    match unsafe { element_type(pg_sys::pg_detoast_datum(array.cast_mut_ptr()).cast()) } {
        pg_sys::TEXTOID | pg_sys::VARCHAROID => Ok(ColumnContent::Tokens),
        pg_sys::INT2OID | pg_sys::INT4OID | pg_sys::INT8OID => Ok(ColumnContent::Numbers),
        other => {
            let message = format!(
                "an array of {} cannot be in a ball: only arrays of texts and of integers",
                type_name(other)
            );
            Err(SqlError::new(PgSqlErrorCode::ERRCODE_DATATYPE_MISMATCH, message)
                .hint("Cast it: (tags::text[]) <@ near(ARRAY['some', 'words'], 0.8)"))
        }
    }
}

/// Returns the kind of the documents whose tokens have this origin.
fn kind_of(origin: Origin) -> ColumnContent {
    match origin {
        Origin::Tokens => ColumnContent::Tokens,
        Origin::Numbers => ColumnContent::Numbers,
        Origin::Lexemes => ColumnContent::Vector,
        _ => ColumnContent::Text,
    }
}

/// Names documents of a kind, one of them, and a ball around one.
fn words(kind: ColumnContent) -> [&'static str; 3] {
    match kind {
        ColumnContent::Tokens => {
            ["arrays of texts", "an array of texts", "near('{some,words}'::text[], 0.8)"]
        }
        ColumnContent::Numbers => {
            ["arrays of integers", "an array of integers", "near(shingles('some text', 5), 0.8)"]
        }
        ColumnContent::Vector => {
            ["tsvectors", "a tsvector", "near(to_tsvector('english', 'some text'), 0.8)"]
        }
        ColumnContent::Text | ColumnContent::Sketches(..) => ["texts", "a text", "near('some text', 0.8)"],
    }
}
