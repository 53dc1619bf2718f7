//! Texts whose words are in alphabetical order, so that the order of words does not matter when
//! they are compared.

use super::characters::runs;
use crate::error::Result;
use crate::executor::{self, Stop};
use crate::memory;

const DOING: &str = "putting words in order";

/// Returns the words of a text in the order of their code points, with one space between two words.
/// A word is a run of characters between white space. O(bytes · log words).
pub fn in_order(text: &str, stop: &Stop) -> Result<String> {
    let mut words = Vec::new();
    for (n, word) in runs(text).enumerate() {
        stop.check_every(n, 1 << 12)?;
        memory::push(&mut words, word, DOING)?;
    }
    join_sorted(words, false, stop)
}

/// Returns words in the order of their code points, with one space between two words. If `once`,
/// equal words are there once. O(bytes · log words).
pub(crate) fn join_sorted(mut words: Vec<&str>, once: bool, stop: &Stop) -> Result<String> {
    executor::sort_unstable_by(&mut words, stop, &Ord::cmp)?;
    if once {
        words.dedup();
    }
    let mut sorted = String::new();
    memory::reserve_text(&mut sorted, words.iter().map(|word| word.len() + 1).sum(), DOING)?;
    for word in words {
        if !sorted.is_empty() {
            sorted.push(' ');
        }
        sorted.push_str(word);
    }
    Ok(sorted)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_in_order() {
        let sorted = |text: &str| in_order(text, &Stop::default()).unwrap();
        assert_eq!(sorted("  John\u{3000}van\tArk "), "Ark John van");
        assert_eq!([sorted(""), sorted(" "), sorted("b b a,")], ["", "", "a, b b"]);
        assert_eq!(sorted("字 é z Z"), "Z z é 字");
    }
}
