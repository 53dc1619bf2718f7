//! Numbers that sketches are made of and compared by, and balls, as callers gave them: what is wrong is told with a hint.

use super::error::{Result, SqlError};
use crate::features::FeatureSpec;
use crate::joins::search::ball::SetBall;
use crate::sketches::{balls, minhash, simhash};

const GROUPS: &str =
    "Six groups of 14 values are usual: supershingles(minhash('some text', k => 8, permutations => 84), 6)";

fn hinted<T>(checked: crate::error::Result<T>, hint: &'static str) -> Result<T> {
    checked.map_err(|error| match error {
        wrong @ crate::error::Error::Parameter { .. } => SqlError::from(wrong).hint(hint),
        other => other.into(),
    })
}

/// The words of a shingle.
pub(crate) fn k(words: i64) -> Result<u16> {
    let hint = "5 words are a common length of a shingle, 1 compares words: k => 5";
    // At most 1000.
    hinted(FeatureSpec::check_shingle("k", words), hint).map(|words| words as u16)
}

/// The values of a minhash sketch.
pub(crate) fn permutations(values: i64) -> Result<u16> {
    let hint = "More permutations make better estimates and longer sketches: permutations => 128";
    hinted(minhash::check_permutations(values), hint)
}

/// The bits of a simhash sketch.
pub(crate) fn bits(bits: i64) -> Result<u16> {
    hinted(simhash::check_bits(bits), "More bits tell documents apart better: bits => 64")
}

/// What has a similarity of sketches among its parameters.
pub(crate) fn with_similarity<T>(made: crate::error::Result<T>) -> Result<T> {
    hinted(made, "Texts that share four fifths of their shingles: near('some text', 0.8)")
}

/// What has a distance of sketches among its parameters.
pub(crate) fn with_distance<T>(made: crate::error::Result<T>) -> Result<T> {
    hinted(made, "At most 3 unlike bits of 64 are usual: near(simhash('some text'), 3)")
}

/// What has a number of groups among its parameters.
pub(crate) fn with_groups<T>(made: crate::error::Result<T>) -> Result<T> {
    hinted(made, GROUPS)
}

/// A ball of texts with a document in its middle, which those of 0.1.0 have not.
pub(crate) fn ball_of_a_document(bytes: &[u8]) -> Result<SetBall<'_>> {
    if bytes.first() == Some(&balls::VERSION) {
        return Err(SqlError::parameter("a ball of 0.1.0 has no text in its middle, only a sketch")
            .hint("Make it anew of its text: near(body, 0.8)"));
    }
    Ok(SetBall::parse(bytes)?)
}
