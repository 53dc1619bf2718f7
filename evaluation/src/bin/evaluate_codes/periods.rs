//! The contender M2 of the paper's table III, its reference 15: the characters on both sides of
//! every full stop.

/// The `half` characters before and behind every Chinese full stop, white space aside; empty where
/// there is none.
pub fn code(text: &str, half: usize) -> String {
    let seen: Vec<char> = text.chars().filter(|c| !c.is_whitespace()).collect();
    let mut code = String::new();
    for stop in (0..seen.len()).filter(|&place| seen[place] == '。') {
        code.extend(&seen[stop.saturating_sub(half)..stop]);
        code.extend(&seen[stop + 1..seen.len().min(stop + 1 + half)]);
    }
    code
}
