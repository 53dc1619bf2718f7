//! Words, shingles and similarity measures of two texts, and the texts of pages, as SQL functions
//! (docs/reference/functions.md).

use std::borrow::Cow;

use pgrx::pg_sys::Datum;

use crate::pg::server::call::{FunctionCall, sql_functions};
use crate::pg::server::checks;
use crate::pg::server::encoding;
use crate::pg::server::error::{Result, SqlError};
use crate::pg::server::executor::{compute, compute_with};
use crate::pg::server::values::{lossy_text, number_array, text_array};
use neardup_core::features::dictionary::Dictionary;
use neardup_core::features::sets::collect::Collector;
use neardup_core::features::tokens::{Document, Scratch, Token, for_each_token};
use neardup_core::features::{FeatureSpec, Tokenizer};
use neardup_core::memory;
use neardup_core::storage::rows::Ragged;
use neardup_core::text::html::{ImageText, read_with_images};
use neardup_core::text::words::{WordScratch, for_each_word};
use neardup_core::verify::edit;
use neardup_core::verify::measure::Measure;
use neardup_core::verify::overlap::shared_at_least;

/// What runs out of memory.
const WORDS: &str = "collecting words";

sql_functions! {
    /// `words(text) → text[]`
    neardup_words, within Arguments: |call| {
        let Some(text) = call.text(0)? else { return Ok(call.give::<i32>(None)) };
        let mut words = Ragged::default();
        compute_with(text.len(), &mut words, |words, stop| {
            words.clear();
            for_each_word(&text, &mut WordScratch::default(), stop, |word| words.push(word, WORDS))
        })?;
        if encoding::is_utf8() {
            return text_array(&words);
        }
        let mut converted = Ragged::default();
        for word in words.iter() {
            converted.push(encoding::to_server(&String::from_utf8_lossy(word))?.to_bytes(), WORDS)?;
        }
        text_array(&converted)
    };

    /// `shingles(text, k, wrap) → bigint[]`
    neardup_shingles, within Arguments: |call| {
        let Some(text) = call.text(0)? else { return Ok(call.give::<i32>(None)) };
        let shingle = checks::k(i64::from(call.need::<i32>(1, "k")?))?.into();
        let wrap = call.need(2, "wrap")?;
        let spec = FeatureSpec { tokenizer: Tokenizer::Words, shingle, multiset: false, wrap };
        let size = text.len();
        let document = document(text)?;
        let shingles = compute(size, |stop| {
            let mut shingles: Vec<i64> = Vec::new();
            for_each_token(&document, &spec, &mut Scratch::default(), stop, |token| {
                let hash = match token {
                    Token::Bytes(word) => neardup_core::hash::hash_bytes(word),
                    Token::Number(hash) => hash,
                };
                memory::push(&mut shingles, hash.cast_signed(), "collecting shingles")
            })?;
            Ok(shingles)
        })?;
        number_array(&shingles)
    };

    /// `jaccard(text, text, k) → float8`
    neardup_jaccard, within Arguments: |call| measure(call, Measure::Jaccard, true);

    /// `cosine(text, text, k) → float8`
    neardup_cosine, within Arguments: |call| measure(call, Measure::Cosine, true);

    /// `dice(text, text, k) → float8`
    neardup_dice, within Arguments: |call| measure(call, Measure::Dice, true);

    /// `overlap(text, text, k) → float8`
    neardup_overlap, within Arguments: |call| measure(call, Measure::Overlap, true);

    /// `resemblance(text, text, k) → float8`
    neardup_resemblance, within Arguments: |call| measure(call, Measure::Jaccard, false);

    /// `containment(text, text, k) → float8`
    neardup_containment, within Arguments: |call| measure(call, Measure::Containment, false);

    /// `edit_similarity(text, text, damerau) → float8`
    neardup_edit_similarity, within Arguments: |call| {
        let Some([a, b]) = call.two_texts()? else { return Ok(call.give::<f64>(None)) };
        // The cost of comparing two texts is proportional to the product of their lengths, and each
        // step computes 64 cells of the table.
        let effort = if a == b { 0 } else { a.len().saturating_mul(b.len()) / 1024 };
        let swaps = call.need(2, "damerau")?;
        let (distance, longer) = compute(effort, |stop| edit::distance_by(&a, &b, swaps, stop))?;
        Ok(call.give(Some(edit::similarity(distance, longer))))
    };

    /// `html_text(html, url, image_urls) → text`
    neardup_html_text, within Arguments: |call| {
        let Some(html) = call.text(0)? else { return Ok(call.give::<i32>(None)) };
        let url = call.text(1)?;
        let images = match call.name(2)?.as_deref() {
            None | Some("words") => ImageText::Url,
            Some("term") => ImageText::Term,
            Some(other) => {
                let message = format!("image_urls must be words or term, not \"{other}\"");
                let hint = "For example: SELECT html_text(page, url, 'term') FROM pages;";
                return Err(SqlError::parameter(message).hint(hint));
            }
        };
        let mut text = String::new();
        compute_with(html.len(), &mut text, |text, stop| {
            read_with_images(&html, url.as_deref(), images, text, stop)
        })?;
        // An entity may represent a character that the server's encoding does not contain, and be
        // shorter than the character.
        lossy_text(&text, "the text of the page")
    };
}

/// Computes a similarity measure of two texts. Repeated words count if `repeats` is true and single
/// words are compared (`k` is 1). `repeats` is true for the measures that `near_duplicates` also
/// has, because there, too, repeated single words count by default.
fn measure(call: FunctionCall, measure: Measure, repeats: bool) -> Result<Datum> {
    let Some([a, b]) = call.two_texts()? else { return Ok(call.give::<f64>(None)) };
    let shingle = checks::k(i64::from(call.need::<i32>(2, "k")?))?.into();
    let spec =
        FeatureSpec { tokenizer: Tokenizer::Words, shingle, multiset: repeats && shingle == 1, wrap: false };
    let size = a.len() + b.len();
    let documents = [document(a)?, document(b)?];
    let similarity = compute(size, |stop| {
        let (mut collector, mut dictionary) = (Collector::new(spec), Dictionary::small());
        for (document, row) in documents.iter().zip(0..) {
            collector.add_at_once(row, document, &mut dictionary, stop)?;
        }
        let (a, b) = (collector.set_of_row(0, stop)?, collector.set_of_row(1, stop)?);
        let shared = shared_at_least(&a, &b, 0).unwrap_or(0);
        // The number of tokens in a document fits in 32 bits.
        Ok(measure.similarity(shared as u32, a.len() as u32, b.len() as u32))
    })?;
    Ok(call.give(Some(similarity)))
}

/// Converts a text to a document.
pub(crate) fn document(text: Cow<'_, str>) -> Result<Document> {
    Ok(Document::Text(memory::owned(text, "reading a text")?))
}
