//! Shares of two texts that are in their common subsequence.

/// Returns the resemblance: 2·|LCS| / (|A| + |B|), 0 to 1; 0 if both texts are empty.
///
/// ```
/// assert_eq!(neardup_core::compare::lcs_resemblance(5, 7, 5), 10.0 / 12.0);
/// ```
pub fn resemblance(shared: usize, a: usize, b: usize) -> f64 {
    ratio(2 * shared, a + b)
}

/// Returns the share of a text of `contained` characters that is in the common subsequence, 0 to 1;
/// 0 if the text is empty.
///
/// ```
/// assert_eq!(neardup_core::compare::lcs_containment(3, 4), 0.75);
/// ```
pub fn containment(shared: usize, contained: usize) -> f64 {
    ratio(shared, contained)
}

/// Divides once, correctly rounded. No text has more characters than a float8 can represent
/// exactly.
fn ratio(part: usize, whole: usize) -> f64 {
    if whole == 0 { 0.0 } else { part as f64 / whole as f64 }
}
