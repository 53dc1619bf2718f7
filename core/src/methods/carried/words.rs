//! Sequences of 64-bit numbers as bytes, little-endian, and sets of them; and texts.

use crate::error::Result;
use crate::features::hash_sets::shared;
use crate::features::tokens::Document;
use crate::memory;
use crate::methods::carrier::malformed;
use crate::verify::predicate::Predicate;

const DOING: &str = "carrying a document";

/// Returns the bytes of numbers.
pub(super) fn of_words(words: &[u64]) -> Result<Vec<u8>> {
    let mut bytes = Vec::new();
    memory::reserve(&mut bytes, size_of_val(words), DOING)?;
    words.iter().for_each(|word| bytes.extend_from_slice(&word.to_le_bytes()));
    Ok(bytes)
}

/// Returns the numbers of bytes.
pub(super) fn to_words(bytes: &[u8]) -> Result<Vec<u64>> {
    let (chunks, rest) = bytes.as_chunks();
    if !rest.is_empty() {
        return Err(malformed("a number is cut short"));
    }
    let mut words = Vec::new();
    memory::reserve(&mut words, chunks.len(), DOING)?;
    words.extend(chunks.iter().map(|&chunk| u64::from_le_bytes(chunk)));
    Ok(words)
}

/// Returns the numbers of bytes, which are to ascend.
pub(super) fn to_set(bytes: &[u8]) -> Result<Vec<u64>> {
    let words = to_words(bytes)?;
    if words.is_sorted_by(|a, b| a < b) { Ok(words) } else { Err(malformed("its numbers do not ascend")) }
}

/// Returns the similarity of two documents that are carried as sets, if they are a pair.
pub(super) fn similarity_of_sets(predicate: Predicate, [a, b]: [&[u8]; 2]) -> Result<Option<f64>> {
    let [a, b] = [to_set(a)?, to_set(b)?];
    // A document has at most `u32::MAX` tokens.
    let [shared, left, right] = [shared(&a, &b), a.len(), b.len()].map(|count| count as u32);
    let passes = predicate.passes(shared, left, right);
    Ok(passes.then(|| predicate.similarity(shared, left, right)))
}

/// Returns the bytes of a document that is a text.
pub(super) fn of_text(document: &Document) -> Result<Vec<u8>> {
    let mut bytes = Vec::new();
    // Columns of other types are refused.
    if let Document::Text(text) = document {
        memory::extend(&mut bytes, text.as_bytes(), DOING)?;
    }
    Ok(bytes)
}

/// Returns a text as a document.
pub(super) fn document_of(text: &str) -> Result<Document> {
    let mut own = String::new();
    memory::reserve_text(&mut own, text.len(), DOING)?;
    own.push_str(text);
    Ok(Document::Text(own))
}

/// Returns the text of bytes.
pub(super) fn to_text(bytes: &[u8]) -> Result<&str> {
    std::str::from_utf8(bytes).map_err(|_| malformed("it is not UTF-8"))
}

/// Returns the texts of two documents.
pub(super) fn to_texts([left, right]: [&[u8]; 2]) -> Result<[&str; 2]> {
    Ok([to_text(left)?, to_text(right)?])
}
