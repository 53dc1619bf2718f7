//! Passages in parts, for `partial_duplicates_into`: the passages of two carried documents as one
//! value, which servers can be asked for, and the rows of such a value.
//!
//! A passage takes 36 bytes, big-endian: the sentences of both documents and their number as int4,
//! the spans in characters as four int4, and the similarity as float8.

use super::method;
use crate::pg::functions::passages::partial_duplicates::passage_rows;
use crate::pg::server::call::{FunctionCall, sql_functions};
use crate::pg::server::error::{Result, SqlError};
use crate::pg::server::executor::compute;
use crate::pg::server::set_returning;
use crate::pg::server::values;
use neardup_core::memory;
use neardup_core::methods::carrier::{LeftOut, content};
use neardup_core::passages::Passage;

/// The number of bytes of a passage.
const BYTES: usize = 36;
const DOING: &str = "storing passages";

sql_functions! {
    /// `neardup_part_passages(left, right, ranks, method) → bytea`: NULL if the two documents
    /// share no passage.
    neardup_part_passages, within Arguments: |call| {
        let method = method(call, 3)?;
        let passages = method.passages()?;
        let Some((left, right)) = call.bytes(0).zip(call.bytes(1)) else { return Ok(call.give::<i32>(None)) };
        let Some(pair) = method.carrier()?.documents([content(left)?, content(right)?])? else {
            return Ok(call.give::<i32>(None));
        };
        let left_out = LeftOut::parse(call.bytes(2).unwrap_or_default())?;
        let bytes = compute(16 * (left.len() + right.len()), |stop| {
            let mut bytes = Vec::new();
            for passage in passages.passages(pair, left_out, stop)? {
                encode(&passage, &mut bytes)?;
            }
            Ok(bytes)
        })?;
        match bytes.as_slice() {
            [] => Ok(call.give::<i32>(None)),
            bytes => values::bytea(bytes, "a value of passages"),
        }
    };
}

fn encode(passage: &Passage, bytes: &mut Vec<u8>) -> neardup_core::error::Result<()> {
    let Passage { left_sentence, right_sentence, sentences, left_span, right_span, similarity, .. } = passage;
    // Texts of the server have fewer characters than 31 bits can count.
    let spans = [left_span.start, left_span.end, right_span.start, right_span.end].map(|at| at as u32);
    for number in [*left_sentence, *right_sentence, *sentences].into_iter().chain(spans) {
        memory::extend(bytes, &number.to_be_bytes(), DOING)?;
    }
    memory::extend(bytes, &similarity.to_be_bytes(), DOING)
}

fn decode(bytes: &[u8; BYTES]) -> Passage {
    let number = |n: usize| {
        let mut own = [0; 4];
        own.copy_from_slice(&bytes[4 * n..4 * n + 4]);
        u32::from_be_bytes(own)
    };
    let mut similarity = [0; 8];
    similarity.copy_from_slice(&bytes[28..]);
    Passage {
        left_row: 0,
        right_row: 1,
        left_sentence: number(0),
        right_sentence: number(1),
        sentences: number(2),
        left_span: number(3) as usize..number(4) as usize,
        right_span: number(5) as usize..number(6) as usize,
        similarity: f64::from_be_bytes(similarity),
    }
}

sql_functions! {
    /// `neardup_part_passage_rows(passages)`: returns the rows of a value of passages.
    neardup_part_passage_rows, within Arguments: |call| {
        set_returning::all(call, passage_rows(stored(call)?))
    };
}

/// Returns the passages of a value.
fn stored(call: FunctionCall) -> Result<Vec<Passage>> {
    let bad = |why: &str| {
        SqlError::parameter(format!("passages cannot be read: {why}"))
            .hint("CALL partial_duplicates_into('docs', passages => 'docs_passages');")
    };
    let (found, rest) = call.bytes(0).unwrap_or_default().as_chunks::<BYTES>();
    if !rest.is_empty() {
        return Err(bad("it is cut short"));
    }
    let mut passages = Vec::new();
    memory::reserve(&mut passages, found.len(), DOING)?;
    for bytes in found {
        pgrx::check_for_interrupts!();
        let passage = decode(bytes);
        let is_range =
            |range: &std::ops::Range<usize>| range.start <= range.end && range.end < i32::MAX as usize;
        let are_numbers = [passage.left_sentence, passage.right_sentence, passage.sentences]
            .iter()
            .all(|&n| n < i32::MAX as u32);
        if !(are_numbers && is_range(&passage.left_span) && is_range(&passage.right_span)) {
            return Err(bad("a number is out of range"));
        }
        passages.push(passage);
    }
    Ok(passages)
}
