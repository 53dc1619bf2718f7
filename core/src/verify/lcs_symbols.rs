//! The characters of texts, as the longest common subsequence compares them.

use super::column::DOING;
use crate::error::Result;
use crate::memory;

/// Returns the characters of a text as numbers.
///
/// O(bytes).
///
/// ```
/// assert_eq!(neardup_core::compare::lcs_symbols("a漢")?, [97, 0x6f22]);
/// # Ok::<(), neardup_core::Error>(())
/// ```
pub fn symbols(text: &str) -> Result<Vec<u32>> {
    let mut symbols = Vec::new();
    if text.is_ascii() {
        memory::reserve(&mut symbols, text.len(), DOING)?;
        symbols.extend(text.bytes().map(u32::from));
    } else {
        memory::reserve(&mut symbols, text.chars().count(), DOING)?;
        symbols.extend(text.chars().map(u32::from));
    }
    Ok(symbols)
}
