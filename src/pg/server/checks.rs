//! Checks the parameters that callers give for sketches, for comparisons of sketches and for balls.
//! The errors have a hint.

use super::error::{Result, SqlError};
use neardup_core::features::FeatureSpec;
use neardup_core::search::ball::SetBall;
use neardup_core::search::edit_ball::EditBall;
use neardup_core::sketches::{minhash, simhash};

/// Adds a hint to the error for a wrong parameter.
pub(crate) fn hinted<T>(checked: neardup_core::error::Result<T>, hint: &'static str) -> Result<T> {
    checked.map_err(|error| match error {
        wrong @ neardup_core::error::Error::Parameter { .. } => SqlError::from(wrong).hint(hint),
        other => other.into(),
    })
}

/// Checks the number of words in a shingle.
pub(crate) fn k(words: i64) -> Result<u16> {
    let hint = "5 words are a common length of a shingle, 1 compares words: k => 5";
    // The value is at most 1000.
    hinted(FeatureSpec::check_shingle("k", words), hint).map(|words| words as u16)
}

/// Checks the number of values in a minhash sketch.
pub(crate) fn permutations(values: i64) -> Result<u16> {
    let hint = "More permutations make better estimates and longer sketches: permutations => 128";
    hinted(minhash::check_permutations(values), hint)
}

/// Checks the number of bits in a simhash sketch.
pub(crate) fn bits(bits: i64) -> Result<u16> {
    hinted(simhash::check_bits(bits), "More bits tell documents apart better: bits => 64")
}

/// Parses a `text_ball` around a set. Fails for a ball by edit distance.
pub(crate) fn ball_of_a_document(bytes: &[u8]) -> Result<SetBall<'_>> {
    if EditBall::is(bytes) {
        return Err(SqlError::parameter("a ball by edit distance is not a ball of sets")
            .hint("Make it by a measure of sets: near(body, 0.8, method => 'jaccard')"));
    }
    Ok(SetBall::parse(bytes)?)
}
