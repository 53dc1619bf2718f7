//! Texts that have most of their grams in common.

use neardup_core::hash::mix;

/// Texts of frequent words, most of them so long that they are compared by the counts of their
/// grams, and copies with edits in one place or in many. `script` says what words are made of.
pub fn sentences(script: u64) -> Vec<String> {
    let word = |n: u64| -> String {
        let first = if script == 0 { 0x61 } else { 0x4e00 };
        (0..2 + mix(n) % 5).map(|k| char::from_u32(first + (mix(n << 8 | k) % 12) as u32).unwrap()).collect()
    };
    let mut texts: Vec<String> = Vec::new();
    for row in 0..110u64 {
        let text = match row % 5 {
            3 | 4 => {
                let mut text: Vec<char> = texts[row as usize - 2].chars().collect();
                let edits = mix(row) % (text.len() as u64 / 4);
                for edit in 0..edits {
                    let (at, other) = (mix(row << 20 | edit) as usize, word(edit).chars().next().unwrap());
                    // All within a quarter of the text, or anywhere.
                    let at = at % if row % 5 == 3 { text.len() / 4 } else { text.len() };
                    match edit % 5 {
                        0 => text[at] = other,
                        1 => text.insert(at, other),
                        2 => drop(text.remove(at)),
                        _ => text.swap(at, at.saturating_sub(1)),
                    }
                }
                text.into_iter().collect()
            }
            _ => {
                let words = 12 + mix(row) % 40;
                (0..words).map(|n| word(mix(row << 16 | n) % 60) + " ").collect()
            }
        };
        texts.push(text);
    }
    // A copy and its original may be in two tables.
    let mut order: Vec<usize> = (0..texts.len()).collect();
    order.sort_by_key(|&row| mix(row as u64));
    order.into_iter().map(|row| texts[row].clone()).collect()
}
