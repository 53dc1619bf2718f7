//! The part of a text in which the trustable LCS begins.

use crate::pg::server::error::{Result, SqlError};

/// Reads the bounds of this part: two shares of the text's length.
pub(crate) fn centre(values: &[Option<f64>]) -> Result<[f64; 2]> {
    if let [Some(from), Some(to)] = *values {
        return Ok([from, to]);
    }
    Err(SqlError::parameter(format!(
        "centre must be two shares of a text's length, not {} values",
        values.len()
    ))
    .hint("For example: centre => '{0.4,0.6}', or '{0,1}' for any part of the text."))
}
