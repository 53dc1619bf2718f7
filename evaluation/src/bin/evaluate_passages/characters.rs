//! Characters that are no white space, which copies need not keep.

use std::ops::Range;

/// For each character of a text, how many before it are no white space.
pub fn solid(text: &str) -> Vec<usize> {
    let mut before = vec![0];
    for c in text.chars() {
        before.push(before[before.len() - 1] + usize::from(!c.is_whitespace()));
    }
    before
}

/// A span in characters that are no white space.
pub fn characters(solid: &[usize], span: &Range<usize>) -> Range<usize> {
    solid[span.start]..solid[span.end]
}
