//! Words: maximal runs of letters and numbers, lower-cased (algorithms.md section 1).
//!
//! Characters of scripts that are written without spaces (Han, kana, Thai, Lao, Khmer, Myanmar)
//! are a word each; combining marks belong to the character before them. One pass, O(bytes).
//!
//! ```
//! let words = neardup::text::words::words("The 3rd 漢字, naïve…");
//! assert_eq!(words, ["the", "3rd", "漢", "字", "naïve"]);
//! ```

use super::characters::{Class, class, lower};
use crate::error::{Error, Result};
use crate::workers::Stop;

/// Calls `each` with every word of `text` in order. `word` is scratch space.
///
/// Answers to `stop` once in 64 KiB of text, also inside a word. Errors are those of `each` and
/// [`crate::error::Error::Stopped`].
pub fn for_each_word(
    text: &str,
    word: &mut String,
    stop: &Stop,
    mut each: impl FnMut(&str) -> Result<()>,
) -> Result<()> {
    const CHECK_EVERY: usize = 1 << 16;
    word.clear();
    let mut alone = false;
    let mut next_check = CHECK_EVERY;
    let bytes = text.as_bytes();
    let mut at = 0;
    while at < bytes.len() {
        if at >= next_check {
            stop.check()?;
            next_check = at + CHECK_EVERY;
        }
        if bytes[at].is_ascii() {
            // Most text is runs of ASCII letters and single separators.
            let run = ascii_run(&bytes[at..bytes.len().min(next_check)]);
            if (alone || run == 0) && !word.is_empty() {
                each(word)?;
                word.clear();
            }
            alone = false;
            if run > 0 {
                reserve(word, run)?;
                let start = word.len();
                word.push_str(&text[at..at + run]);
                word[start..].make_ascii_lowercase();
            }
            at += run.max(1);
            continue;
        }
        let Some(c) = text[at..].chars().next() else { break };
        let (class, length, c) = (class(c), c.len_utf8(), lower(c));
        at += length;
        let joins = match class {
            Class::Alphanumeric => !alone,
            Class::Alone | Class::Separator => false,
            Class::Mark | Class::AlphabeticMark => true,
        };
        if !joins && !word.is_empty() {
            each(word)?;
            word.clear();
        }
        let begins = match class {
            Class::Separator => false,
            Class::Mark => !word.is_empty(),
            Class::Alphanumeric | Class::Alone | Class::AlphabeticMark => true,
        };
        if begins {
            reserve(word, c.len_utf8())?;
            word.push(c);
        }
        if !matches!(class, Class::Mark | Class::AlphabeticMark) {
            alone = class == Class::Alone;
        }
    }
    if !word.is_empty() {
        each(word)?;
    }
    Ok(())
}

/// How many ASCII letters and digits some bytes begin with.
#[inline]
fn ascii_run(bytes: &[u8]) -> usize {
    bytes.iter().position(|byte| !byte.is_ascii_alphanumeric()).unwrap_or(bytes.len())
}

#[inline]
fn reserve(word: &mut String, bytes: usize) -> Result<()> {
    word.try_reserve(bytes).map_err(|_| Error::OutOfMemory { doing: "reading a word" })
}

/// The words of a text as strings of their own.
pub fn words(text: &str) -> Vec<String> {
    let mut all = Vec::new();
    let done = for_each_word(text, &mut String::new(), &Stop::default(), |word| {
        all.push(word.to_owned());
        Ok(())
    });
    debug_assert_eq!(done, Ok(()), "nobody asked to stop");
    all
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn words_of_odd_texts() {
        let cases: &[(&str, &[&str])] = &[
            ("", &[]),
            (" .,;—\u{301} ", &[]),
            ("a_b __ _c_ d__e", &["a", "b", "c", "d", "e"]),
            ("1,000 0x1F ½", &["1", "000", "0x1f", "½"]),
            ("İstanbul STRASSE", &["istanbul", "strasse"]),
            ("e\u{301}tude \u{301}x", &["e\u{301}tude", "x"]),
            ("abc漢字def", &["abc", "漢", "字", "def"]),
            ("葛\u{e0100}城", &["葛\u{e0100}", "城"]),
            ("हिन्दी", &["हिन्दी"]),
            ("ที่", &["ที่"]),
            ("a\u{200b}b", &["a", "b"]),
        ];
        for (text, expected) in cases {
            assert_eq!(words(text), *expected, "{text:?}");
        }
    }

    /// The definition, a character at a time, without the fast path.
    fn words_by_definition(text: &str) -> Vec<String> {
        let mut all: Vec<String> = Vec::new();
        let (mut open, mut alone) = (false, false);
        for c in text.chars() {
            let class = class(c);
            let mark = matches!(class, Class::Mark | Class::AlphabeticMark);
            if open && mark {
                all.last_mut().expect("open").push(lower(c));
                continue;
            }
            match class {
                Class::Separator | Class::Mark => open = false,
                _ => {
                    if !open || alone || class == Class::Alone {
                        all.push(String::new());
                    }
                    all.last_mut().expect("begun").push(lower(c));
                    (open, alone) = (true, class == Class::Alone);
                }
            }
        }
        all
    }

    proptest! {
        #[test]
        fn agrees_with_the_definition(text in "\\PC*|[a-cA-C ._漢字か\u{301}\u{93f}\u{e34}ก]{0,40}") {
            prop_assert_eq!(words(&text), words_by_definition(&text));
        }
    }
}
