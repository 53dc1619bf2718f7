//! Sketches of documents and comparisons of sketches as SQL functions
//! (docs/reference/functions.md).

use pgrx::pg_sys::Datum;

use crate::pg::functions::texts::building_blocks::document;
use crate::pg::query::decode::{ColumnContent, decode};
use crate::pg::server::call::{FunctionCall, argument_not_utf8, sql_functions};
use crate::pg::server::checks;
use crate::pg::server::error::{Result, SqlError};
use crate::pg::server::executor::compute;
use crate::pg::server::set_returning::{self, Rows, float};
use neardup_core::features::origin::Origin;
use neardup_core::features::tokens::Document;
use neardup_core::joins::sketches::banding::Banding;
use neardup_core::joins::sketches::presets;
use neardup_core::sketches::of_documents::{minhash_sketch, simhash_sketch};
use neardup_core::sketches::supershingles;
use neardup_core::sketches::wire::{Minhash, MinhashHeader, Simhash, SimhashHeader};
use neardup_core::sketches::{minhash, simhash};

sql_functions! {
    /// `minhash(text, k, permutations, seed, tokenizer) → minhash_sketch`
    neardup_minhash_text, within Arguments: |call| minhash(call, ColumnContent::Text, tokenizer(call, 4)?);

    /// `minhash(text[], k, permutations, seed) → minhash_sketch`
    neardup_minhash_tokens, within Arguments: |call| minhash(call, ColumnContent::Tokens, Origin::Tokens);

    /// `minhash(tsvector, k, permutations, seed) → minhash_sketch`
    neardup_minhash_lexemes, within Arguments: |call| minhash(call, ColumnContent::Vector, Origin::Lexemes);

    /// `minhash(bigint[], k, permutations, seed) → minhash_sketch`
    neardup_minhash_numbers, within Arguments: |call| minhash(call, ColumnContent::Numbers, Origin::Numbers);

    /// `simhash(text, bits, k, tokenizer) → simhash_sketch`
    neardup_simhash_text, within Arguments: |call| simhash(call, ColumnContent::Text, tokenizer(call, 3)?);

    /// `simhash(text[], bits, k) → simhash_sketch`
    neardup_simhash_tokens, within Arguments: |call| simhash(call, ColumnContent::Tokens, Origin::Tokens);

    /// `simhash(tsvector, bits, k) → simhash_sketch`
    neardup_simhash_lexemes, within Arguments: |call| simhash(call, ColumnContent::Vector, Origin::Lexemes);

    /// `simhash(bigint[], bits, k) → simhash_sketch`
    neardup_simhash_numbers, within Arguments: |call| simhash(call, ColumnContent::Numbers, Origin::Numbers);

    /// `minhash_similarity(minhash_sketch, minhash_sketch) → float8`
    neardup_minhash_similarity, within Arguments: |call| agreeing(call, minhash::similarity);

    /// `minhash_distance(minhash_sketch, minhash_sketch) → float8`
    neardup_minhash_distance, within Arguments: |call| agreeing(call, minhash::distance);

    /// `simhash_similarity(simhash_sketch, simhash_sketch) → float8`
    neardup_simhash_similarity, within Arguments: |call| differing(call, simhash::similarity);

    /// `simhash_distance(simhash_sketch, simhash_sketch) → float8`
    neardup_simhash_distance, within Arguments: |call| differing(call, |distance, _| distance.into());

    /// `supershingles(minhash_sketch, groups) → bigint[]`
    neardup_supershingles, within Arguments: |call| {
        Ok(call.give(groups(call)?.map(|all| signed(&all))))
    };

    /// `megashingles(minhash_sketch, groups) → bigint[]`
    neardup_megashingles, within Arguments: |call| {
        Ok(call.give(groups(call)?.map(|all| signed(&supershingles::megashingles(&all)))))
    };

    /// `simhash_from_bits(bit) → simhash_sketch`
    neardup_simhash_from_bits, within Arguments: |call| {
        let Some(bytes) = call.bytes(0) else { return Ok(call.give::<i32>(None)) };
        // The layout is that of utils/varbit.h: the number of bits, followed by the bits.
        let Some((length, bits)) = bytes.split_first_chunk() else { return Ok(call.give::<i32>(None)) };
        let bits_given = i32::from_ne_bytes(*length);
        let size = simhash::check_bits(bits_given.into()).map_err(|error| SqlError::from(error).hint(
            "Cast to a length that a sketch can have before: bits::bit(64)::simhash_sketch",
        ))?;
        Ok(call.give(Some(SimhashHeader::new(Origin::Bits, 1, size).sketch(Some(bits)))))
    };

    /// `simhash_to_bit(simhash_sketch) → bit`
    neardup_simhash_to_bit, within Arguments: |call| bits(call);

    /// `simhash_to_varbit(simhash_sketch) → varbit`
    neardup_simhash_to_varbit, within Arguments: |call| bits(call);

    /// `neardup_plan(threshold, recall, preset)`: the detection curve of minhash bands
    neardup_plan, within Arguments: |call| {
        let hint = "For example: SELECT * FROM neardup_plan(0.8, 0.95);";
        let with_hint = |error: neardup_core::error::Error| SqlError::from(error).hint(hint);
        let threshold: f64 = call.get(0).unwrap_or(0.8);
        neardup_core::verify::measure::check_threshold(threshold).map_err(with_hint)?;
        let plan = match call.name(2)? {
            Some(name) => presets::find(&name).and_then(|preset| preset.bands).ok_or_else(|| {
                SqlError::parameter(format!("there is no preset \"{name}\" with bands"))
                    .hint(format!("Presets: {}. {hint}", presets::names(None)))
            })?,
            None => Banding::for_recall(threshold, call.get(1).unwrap_or(0.95)).map_err(with_hint)?,
        };
        let columns = ["bands", "rows", "permutations", "detection_at_threshold", "similarity", "detection"];
        let row = |step: u32| {
            let similarity = f64::from(step) / f64::from(STEPS);
            let [bands, rows, permutations] = [plan.bands, plan.rows, plan.values()].map(|n| Some(Datum::from(n)));
            let at_threshold = float(plan.detection(threshold));
            Ok([bands, rows, permutations, at_threshold, float(similarity), float(plan.detection(similarity))])
        };
        set_returning::all(call, Rows(columns, (1..=STEPS).map(row)))
    };
}

/// Returns the bits of a sketch; `bit` and `varbit` have the same layout.
fn bits(call: FunctionCall) -> Result<Datum> {
    let Some(bytes) = call.bytes(0) else { return Ok(call.give::<i32>(None)) };
    let sketch = Simhash::parse(bytes)?;
    let mut bits = i32::from(sketch.header.bits).to_ne_bytes().to_vec();
    bits.extend_from_slice(sketch.bits);
    Ok(call.give(Some(bits)))
}

fn minhash(call: FunctionCall, kind: ColumnContent, source: Origin) -> Result<Datum> {
    let Some(document) = document_at(call, 0, kind)? else { return Ok(call.give::<i32>(None)) };
    let k = checks::k(i64::from(call.need::<i32>(1, "k")?))?;
    let permutations = checks::permutations(i64::from(call.need::<i32>(2, "permutations")?))?;
    let seed = call.need(3, "seed")?;
    let header = MinhashHeader::new(source, k, permutations, seed);
    let sketch = compute(document.bytes(), |stop| minhash_sketch(&document, &header, stop))?;
    Ok(call.give(Some(sketch)))
}

fn simhash(call: FunctionCall, kind: ColumnContent, source: Origin) -> Result<Datum> {
    let Some(document) = document_at(call, 0, kind)? else { return Ok(call.give::<i32>(None)) };
    let bits = checks::bits(i64::from(call.need::<i32>(1, "bits")?))?;
    let k = checks::k(i64::from(call.need::<i32>(2, "k")?))?;
    let header = SimhashHeader::new(source, k, bits);
    let sketch = compute(document.bytes(), |stop| simhash_sketch(&document, &header, stop))?;
    Ok(call.give(Some(sketch)))
}

/// Reads argument `n`, whose type must match `kind`, as a document. Returns `None` if the argument
/// is NULL.
pub(in crate::pg::functions) fn document_at(
    call: FunctionCall,
    n: usize,
    kind: ColumnContent,
) -> Result<Option<Document>> {
    if kind == ColumnContent::Text {
        return call.text(n)?.map(document).transpose();
    }
    let Some(value) = call.datum(n) else { return Ok(None) };
    // SAFETY: our SQL declares the argument with this type, or the caller checked the element type
    // of an array.
    let document = unsafe { decode(kind, value)? };
    document.map(Some).ok_or_else(|| argument_not_utf8(n))
}

/// Returns the token source that argument `n` names.
fn tokenizer(call: FunctionCall, n: usize) -> Result<Origin> {
    let name = call.name(n)?.unwrap_or_default();
    match &*name {
        "words" => Ok(Origin::Words),
        "chars" => Ok(Origin::Chars),
        "whitespace" => Ok(Origin::Whitespace),
        _ => Err(SqlError::parameter(format!("tokenizer must be words, chars or whitespace, not {name}"))
            .hint("The words of a text are cut like this: tokenizer => 'words'")),
    }
}

fn agreeing(call: FunctionCall, report: fn(u32, u16) -> f64) -> Result<Datum> {
    let Some((a, b)) = call.bytes(0).zip(call.bytes(1)) else { return Ok(call.give::<f64>(None)) };
    let (a, b) = (Minhash::parse(a)?, Minhash::parse(b)?);
    Ok(call.give(Some(report(a.agreeing(&b)?, a.header.permutations))))
}

fn differing(call: FunctionCall, report: fn(u32, u16) -> f64) -> Result<Datum> {
    let Some((a, b)) = call.bytes(0).zip(call.bytes(1)) else { return Ok(call.give::<f64>(None)) };
    let (a, b) = (Simhash::parse(a)?, Simhash::parse(b)?);
    Ok(call.give(Some(report(a.distance(&b)?, a.header.bits))))
}

fn groups(call: FunctionCall) -> Result<Option<Vec<u64>>> {
    let Some(bytes) = call.bytes(0) else { return Ok(None) };
    let groups = i64::from(call.need::<i32>(1, "groups")?);
    let hint = "Six groups of 14 values are usual: supershingles(minhash('some text', k => 8, permutations => 84), 6)";
    Ok(Some(checks::hinted(supershingles::supershingles(&Minhash::parse(bytes)?, groups), hint)?))
}

fn signed(numbers: &[u64]) -> Vec<i64> {
    numbers.iter().map(|number| number.cast_signed()).collect()
}

/// The number of similarities of a detection curve, from 0.05 to 1.
const STEPS: u32 = 20;
