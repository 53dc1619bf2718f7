//! Texts for tests: in several scripts, and with edits.

use proptest::prelude::*;

/// Generates characters of a few scripts, mostly of a small alphabet.
fn characters() -> impl Strategy<Value = char> {
    prop_oneof![
        prop::char::range('a', 'd'),
        prop::char::range('a', 'd'),
        Just('\u{1f600}'),
        prop::char::range('一', '龠'),
    ]
}

/// Generates a text of bounded length, and a second text made from it by edits, each of bounded
/// length.
pub(crate) fn edited(longest: usize, edit: usize) -> impl Strategy<Value = (Vec<char>, Vec<char>)> {
    let edit = (any::<prop::sample::Index>(), 0..4u8, characters(), 1..edit);
    let lengths = prop_oneof![0..8usize, 0..80usize, 100..longest];
    let text = lengths.prop_flat_map(|n| prop::collection::vec(characters(), n));
    (text, prop::collection::vec(edit, 0..12)).prop_map(|(x, edits)| {
        let mut y = x.clone();
        for (at, kind, character, count) in edits {
            let at = at.index(y.len() + 1);
            match kind {
                0 => y.insert(at, character),
                1 if at < y.len() => y[at] = character,
                2 => drop(y.drain(at..(at + count).min(y.len()))),
                _ => drop(y.splice(at..at, std::iter::repeat_n(character, count))),
            }
        }
        (x, y)
    })
}

/// Generates a text of bounded length, and a second text made from it by edits of which most are
/// swaps of neighbours.
pub(crate) fn swapped(longest: usize) -> impl Strategy<Value = (Vec<char>, Vec<char>)> {
    let text = prop_oneof![
        prop::collection::vec(prop::char::range('a', 'b'), 0..longest),
        prop::collection::vec(prop::char::range('a', 'e'), 0..12),
        prop::collection::vec(characters(), 0..longest),
    ];
    let edit = (any::<prop::sample::Index>(), 0..6u8, characters());
    (text, prop::collection::vec(edit, 0..20)).prop_map(|(x, edits)| {
        let mut y = x.clone();
        for (at, kind, character) in edits {
            let at = at.index(y.len() + 1);
            match kind {
                0 => y.insert(at, character),
                1 if at < y.len() => drop(y.remove(at)),
                _ if at + 1 < y.len() => y.swap(at, at + 1),
                _ => {}
            }
        }
        (x, y)
    })
}

/// Fills in the table of an edit distance cell by cell, as in the definition. If `swaps` is set,
/// two neighbours that change places are one edit (optimal string alignment).
pub(crate) fn table(x: &[char], y: &[char], swaps: bool) -> u32 {
    let mut rows = vec![vec![0; y.len() + 1]; x.len() + 1];
    for i in 0..=x.len() {
        for j in 0..=y.len() {
            let mut cost = if i == 0 || j == 0 { i + j } else { usize::MAX };
            if i > 0 && j > 0 {
                cost = rows[i - 1][j - 1] + usize::from(x[i - 1] != y[j - 1]);
                cost = cost.min(rows[i - 1][j] + 1).min(rows[i][j - 1] + 1);
            }
            if swaps && i > 1 && j > 1 && x[i - 1] == y[j - 2] && x[i - 2] == y[j - 1] {
                cost = cost.min(rows[i - 2][j - 2] + 1);
            }
            rows[i][j] = cost;
        }
    }
    rows[x.len()][y.len()] as u32
}

/// Returns the `n`th character of a script of few characters: ASCII, Chinese, emoji, and emoji that
/// are joined to others and coloured, where each code point counts.
pub(crate) fn of_script(script: u8, n: u8) -> char {
    let choose = |characters: [char; 8]| characters[usize::from(n % 8)];
    match script {
        0 => choose(['a', 'b', 'c', ' ', '.', 'A', '\n', '0']),
        1 => choose(['近', '似', '文', '本', '。', '，', '的', '一']),
        2 => choose(['😀', '🙃', '🚀', '🌍', '❤', '\u{fe0f}', '🇩', '🇪']),
        _ => choose(['👩', '\u{200d}', '💻', '🏽', '👨', '👧', '\u{301}', 'e']),
    }
}
