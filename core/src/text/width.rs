//! The width of characters and texts in columns: 2 for wide (East Asian) characters, 1 for others
//! (docs/design/algorithms.md section 1, *Width*).

use super::characters::is_wide;

/// Returns 2 for a wide character, else 1. Combining and control characters also have width 1, as
/// in bytes of GBK, the unit in which Huang et al. (CIKM 2008) state their limits.
#[inline]
pub fn width_of(c: char) -> usize {
    if c.is_ascii() { 1 } else { 1 + usize::from(is_wide(c)) }
}

/// Returns the sum of the widths of the characters of a text. O(bytes).
pub fn width(text: &str) -> usize {
    if text.is_ascii() { text.len() } else { text.chars().map(width_of).sum() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn widths() {
        assert_eq!(width(""), 0);
        assert_eq!(width("ab\t\n"), 4);
        assert_eq!(width("漢字，。ＡかハÄ"), 15);
        assert_eq!(width("e\u{301}\u{200b}"), 3);
    }
}
