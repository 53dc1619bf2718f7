//! Words: maximal runs of letters and numbers, lower-cased (docs/design/algorithms.md section 1, *Words*).
//!
//! Characters of scripts that are written without spaces (Han, kana, Thai, Lao, Khmer, Myanmar)
//! are a word each; combining marks belong to the character before them. One pass, O(bytes).
//!
//! ```
//! let words = neardup::text::words::words("The 3rd 漢字, naïve…");
//! assert_eq!(words, ["the", "3rd", "漢", "字", "naïve"]);
//! ```

use super::ascii;
use super::characters::{Class, class, lower};
use crate::error::Result;
use crate::memory;
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
    for_each_words(text, word, stop, |text, words| {
        words.iter().try_for_each(|&[start, end]| each(&text[start..end]))
    })
}

/// The same with many words at a time: some lower-cased text, and where each word begins and ends there. What is behind a
/// word can be read with it.
pub fn for_each_words(
    text: &str,
    word: &mut String,
    stop: &Stop,
    mut each: impl FnMut(&str, &[[usize; 2]]) -> Result<()>,
) -> Result<()> {
    const CHECK_EVERY: usize = 1 << 16;
    word.clear();
    // Whether the open word is a character of a script without spaces.
    let mut alone = false;
    let mut next_check = CHECK_EVERY;
    let bytes = text.as_bytes();
    let lower_and_find = ascii::kernel();
    let (mut bits, mut changes) = ([0; BLOCK / ascii::CHARACTERS], [0; CHANGES]);
    let mut at = 0;
    while at < bytes.len() {
        if at >= next_check {
            stop.check()?;
            next_check = at + CHECK_EVERY;
        }
        if word.is_empty()
            && let Some(block) = ascii_words(&bytes[at..bytes.len().min(at + BLOCK)])
        {
            reserve(word, block + BEHIND.len())?;
            word.push_str(&text[at..at + block]);
            lower_and_find(word, &mut bits);
            let count = find_changes(&bits[..block.div_ceil(ascii::CHARACTERS)], &mut changes);
            word.push_str(BEHIND);
            each(word, changes[..count].as_chunks().0)?;
            word.clear();
            at += block;
            continue;
        }
        if bytes[at].is_ascii() {
            let run = ascii_run(&bytes[at..bytes.len().min(next_check)]);
            if (alone || run == 0) && !word.is_empty() {
                each(word, &[[0, word.len()]])?;
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
            each(word, &[[0, word.len()]])?;
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
        each(word, &[[0, word.len()]])?;
    }
    Ok(())
}

/// How much text is cut at a time where it is ASCII.
const BLOCK: usize = 1 << 10;

/// What stands behind a block, so that a word at its end can be read with as many bytes as any other.
const BEHIND: &str = "                ";

/// How many bytes of whole ASCII words and separators some bytes begin with; none if there are too few to
/// be worth it.
fn ascii_words(bytes: &[u8]) -> Option<usize> {
    const WORTH: usize = 32;
    let is_ascii = |bytes: &[u8]| bytes.is_ascii();
    if !bytes.get(..WORTH).is_some_and(is_ascii) {
        return None;
    }
    let ascii = match is_ascii(bytes) {
        true => bytes.len(),
        false => bytes.iter().position(|byte| !byte.is_ascii()).unwrap_or(bytes.len()),
    };
    // What comes next may belong to the last word.
    let last = bytes[..ascii].iter().rposition(|byte| !byte.is_ascii_alphanumeric())?;
    (last + 1 >= WORTH).then_some(last + 1)
}

/// As many changes as are looked for at a time beyond the last one.
const AT_ONCE: usize = 16;

/// Room for all changes of a block.
const CHANGES: usize = BLOCK + AT_ONCE;

/// Where runs of letters and digits begin and end, in turn, in text that has a bit for each of its characters and ends with
/// something else: how many such places there are. There is no branch on a single change: how many there are in 64
/// characters is all that a processor has to foresee.
#[inline]
fn find_changes(bits: &[u64], changes: &mut [usize; CHANGES]) -> usize {
    let mut count = 0;
    let mut before = 0u64;
    for (n, bits) in bits.iter().enumerate() {
        let mut left = bits ^ (bits << 1 | before);
        before = bits >> 63;
        let end = count + left.count_ones() as usize;
        while count < end {
            for place in &mut changes[count..][..AT_ONCE] {
                *place = ascii::CHARACTERS * n + left.trailing_zeros() as usize;
                left &= left.wrapping_sub(1);
            }
            count += AT_ONCE;
        }
        count = end;
    }
    count
}

/// How many ASCII letters and digits some bytes begin with.
#[inline]
fn ascii_run(bytes: &[u8]) -> usize {
    bytes.iter().position(|byte| !byte.is_ascii_alphanumeric()).unwrap_or(bytes.len())
}

#[inline]
fn reserve(word: &mut String, bytes: usize) -> Result<()> {
    memory::reserve_text(word, bytes, "reading a word")
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
        fn long_ascii_agrees_with_the_definition(
            text in prop::collection::vec("[ -~]{0,70}|[a-z]{60,70}|é|\u{301}|漢|[A-Z0-9]{1,8}[ \n]", 0..60),
        ) {
            let text = text.concat();
            prop_assert_eq!(words(&text), words_by_definition(&text));
        }

        #[test]
        fn agrees_with_the_definition(text in "\\PC*|[a-cA-C ._漢字か\u{301}\u{93f}\u{e34}ก]{0,40}") {
            prop_assert_eq!(words(&text), words_by_definition(&text));
        }
    }
}
