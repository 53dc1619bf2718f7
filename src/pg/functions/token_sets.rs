//! Sets of tokens as values, their similarity, and orders of tokens (docs/reference/functions.md).

use pgrx::PgSqlErrorCode;
use pgrx::pg_sys::{self, Datum};

use super::sketch_types::{Form, input, output, receive};
use super::sketches::document_of;
use crate::pg::query::decode::Kind;
use crate::pg::request::features::spec_of;
use crate::pg::server::aggregate;
use crate::pg::server::call::{Call, sql_function};
use crate::pg::server::encoding;
use crate::pg::server::error::{Result, SqlError};
use crate::pg::server::executor::executor_for;
use crate::pg::server::settings;
use crate::pg::server::values;
use neardup_core::executor;
use neardup_core::features::Tokenizer;
use neardup_core::features::tokens::Scratch;
use neardup_core::joins::parts::ranks::{self, TokenRanks};
use neardup_core::joins::parts::token_set::{self, Origin, TokenSet, of_document};
use neardup_core::joins::set_index::token_counts::TokenCounts;
use neardup_core::verify::measure::Measure;

const TOKEN_SET: Form = Form {
    name: token_set::NAME,
    from_text: TokenSet::from_text,
    check: |bytes| TokenSet::check(bytes).map(|_| ()),
    to_text: |bytes, stop| TokenSet::check(bytes)?.to_text(stop),
    example: "tokens:v1:words:h1.1:k1:multiset:0102030405060708",
};

const TOKEN_RANKS: Form = Form {
    name: ranks::NAME,
    from_text: TokenRanks::from_text,
    check: |bytes| TokenRanks::check(bytes).map(|_| ()),
    to_text: |bytes, stop| TokenRanks::check(bytes)?.to_text(stop),
    example: "ranks:v1:0102030405060708:01000000",
};

sql_function! {
    /// `token_set_in(cstring) → token_set`
    neardup_token_set_in, pg_finfo_neardup_token_set_in, within Arguments, |call| input(call, &TOKEN_SET)
}
sql_function! {
    /// `token_set_out(token_set) → cstring`
    neardup_token_set_out, pg_finfo_neardup_token_set_out, within Arguments, |call| output(call, &TOKEN_SET)
}
sql_function! {
    /// `token_set_recv(internal) → token_set`
    neardup_token_set_recv, pg_finfo_neardup_token_set_recv, within Arguments, |call| receive(call, &TOKEN_SET)
}
sql_function! {
    /// `token_ranks_in(cstring) → token_ranks`
    neardup_token_ranks_in, pg_finfo_neardup_token_ranks_in, within Arguments, |call| input(call, &TOKEN_RANKS)
}
sql_function! {
    /// `token_ranks_out(token_ranks) → cstring`
    neardup_token_ranks_out, pg_finfo_neardup_token_ranks_out, within Arguments, |call| output(call, &TOKEN_RANKS)
}
sql_function! {
    /// `token_ranks_recv(internal) → token_ranks`
    neardup_token_ranks_recv, pg_finfo_neardup_token_ranks_recv, within Arguments, |call| receive(call, &TOKEN_RANKS)
}

sql_function! {
    /// `tokens(text, tokenizer, shingle, multiset) → token_set`
    neardup_tokens_text, pg_finfo_neardup_tokens_text, within Arguments, |call| {
        let (tokenizer, origin) = cut(call, 1, "tokens(to_tsvector('english', body))")?;
        tokens(call, Kind::Text, tokenizer, origin, 2)
    }
}
sql_function! {
    /// `tokens(text[], shingle, multiset) → token_set`
    neardup_tokens_tokens, pg_finfo_neardup_tokens_tokens, within Arguments, |call| tokens(call, Kind::Tokens, Tokenizer::Words, Origin::Tokens, 1)
}
sql_function! {
    /// `tokens(tsvector, shingle, multiset) → token_set`
    neardup_tokens_lexemes, pg_finfo_neardup_tokens_lexemes, within Arguments, |call| tokens(call, Kind::Vector, Tokenizer::Words, Origin::Lexemes, 1)
}
sql_function! {
    /// `tokens(bigint[], shingle, multiset) → token_set`
    neardup_tokens_numbers, pg_finfo_neardup_tokens_numbers, within Arguments, |call| tokens(call, Kind::Numbers, Tokenizer::Words, Origin::Numbers, 1)
}

sql_function! {
    /// `token_similarity(token_set, token_set, method) → float8`
    neardup_token_similarity, pg_finfo_neardup_token_similarity, within Arguments, |call| {
        let Some((a, b)) = call.bytes(0).zip(call.bytes(1)) else { return Ok(call.give::<f64>(None)) };
        let (measure, _) = measure_of(call, 2)?;
        let (left, right) = (TokenSet::parse(a)?, TokenSet::parse(b)?);
        let mut similarity = 0.0;
        executor::one(executor_for(a.len() + b.len()), &mut similarity, |similarity, stop| {
            *similarity = left.similarity(&right, measure, stop)?;
            Ok(())
        })?;
        Ok(call.give(Some(similarity)))
    }
}

sql_function! {
    /// `token_order_step(internal, token_set, int) → internal`
    neardup_token_order_step, pg_finfo_neardup_token_order_step, within Arguments, |call| {
        let (datum, state) = aggregate::state(call, || {
            let keep: i32 = call.need(2, "keep")?;
            let keep = usize::try_from(keep).map_err(|_| {
                SqlError::parameter(format!("keep must be at least 0, not {keep}"))
                    .hint("The order of the 100000 most frequent tokens: token_order(tokens(body), 100000)")
            })?;
            Ok((TokenCounts::<u64>::new(settings::memory() / TokenCounts::<u64>::ENTRY), keep))
        })?;
        if let Some(bytes) = call.bytes(1) {
            let set = TokenSet::parse(bytes)?;
            executor::one(executor_for(8 * bytes.len()), &mut state.0, |counts, stop| {
                ranks::count(&set, counts, stop)
            })?;
        }
        Ok(datum)
    }
}
sql_function! {
    /// `token_order_result(internal) → token_ranks`
    neardup_token_order_result, pg_finfo_neardup_token_order_result, within Arguments, |call| {
        aggregate::result(call, |state: Option<(TokenCounts<u64>, usize)>| {
            let (counts, keep) = state.unwrap_or_else(|| (TokenCounts::new(0), 0));
            Ok(Some(values::bytea(&order(counts, keep)?, "an order of tokens")?))
        })
    }
}

/// Returns the order of the `keep` most frequent of these tokens.
pub(super) fn order(counts: TokenCounts<u64>, keep: usize) -> Result<Vec<u8>> {
    let mut state = (counts, Vec::new());
    executor::one(executor_for(usize::MAX), &mut state, |(counts, bytes), stop| {
        *bytes = ranks::ranks(counts, keep, stop)?;
        Ok(())
    })?;
    Ok(state.1)
}

/// Returns the tokenizer that argument `n` names (by default the tokenizer for words), and the
/// origin of its tokens. `lexemes` is an example call with lexemes, for the hint of an error.
pub(super) fn cut(call: Call, n: usize, lexemes: &str) -> Result<(Tokenizer, Origin)> {
    let name = call.name(n)?;
    Ok(match name.as_deref() {
        None | Some("words") => (Tokenizer::Words, Origin::Words),
        Some("chars") => (Tokenizer::Chars, Origin::Chars),
        Some("whitespace") => (Tokenizer::Whitespace, Origin::Whitespace),
        Some("html") => (Tokenizer::Html, Origin::Html),
        Some(name) => {
            return Err(SqlError::parameter(format!("unknown tokenizer \"{name}\"")).hint(format!(
                "Tokenizers: words, chars, whitespace, html. Lexemes come as a tsvector: {lexemes}"
            )));
        }
    })
}

/// Makes the token set of the document in argument 0. Argument `n` is the shingle length, and the
/// argument after it says whether repeated tokens count.
fn tokens(call: Call, kind: Kind, tokenizer: Tokenizer, origin: Origin, n: usize) -> Result<Datum> {
    let Some(document) = document_of(call, kind)? else { return Ok(call.give::<i32>(None)) };
    let spec = spec_of(tokenizer, call.get(n), call.get(n + 1), 1)
        .map_err(|error| SqlError::from(error).hint("Runs of five words: tokens(body, shingle => 5)"))?;
    let mut set = Vec::new();
    executor::one(executor_for(document.bytes()), &mut set, |set, stop| {
        *set = of_document(&document, &spec, origin, &mut Scratch::default(), stop)?;
        Ok(())
    })?;
    values::bytea(&set, "a set of tokens")
}

/// Returns the measure in argument `n`, and the argument itself, whose SQL type is `set_measure`.
pub(super) fn measure_of(call: Call, n: usize) -> Result<(Measure, Datum)> {
    let datum = call.datum(n).ok_or_else(|| {
        SqlError::new(PgSqlErrorCode::ERRCODE_NULL_VALUE_NOT_ALLOWED, "method must not be NULL")
    })?;
    // SAFETY: a value of an enum, whose output is a C string.
    let name = unsafe { encoding::c_string(pg_sys::OidOutputFunctionCall(pg_sys::F_ENUM_OUT.into(), datum)) };
    Ok((measure(&name)?, datum))
}

/// Returns the symmetric measure with the name `name`.
pub(crate) fn measure(name: &str) -> Result<Measure> {
    match name {
        "jaccard" => Ok(Measure::Jaccard),
        "cosine" => Ok(Measure::Cosine),
        "dice" => Ok(Measure::Dice),
        "overlap" => Ok(Measure::Overlap),
        _ => Err(SqlError::parameter(format!(
            "method must be jaccard, cosine, dice or overlap, not \"{name}\""
        ))
        .hint("The extension and its library are of different versions: ALTER EXTENSION neardup UPDATE;")),
    }
}
