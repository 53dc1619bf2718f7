//! Words: maximal runs of letters and numbers, case-folded (docs/design/algorithms.md section 1,
//! *Words*).
//!
//! Each character of a script that is written without spaces (Han, kana, Thai, Lao, Khmer, Myanmar)
//! is a word. Combining marks belong to the character before them. Format characters, which nobody
//! sees, are left out. One pass, O(bytes).

use super::characters::{Known, WordClass, class, is_space, known};
use super::word_blocks::{BEHIND, BlockCutter, CutWords, MOST_WORDS, WordPlaces};
use crate::error::{Error, Result};
use crate::executor::{Stop, unstopped};
use crate::memory;

const DOING: &str = "reading words";

/// Calls `each` with every word of `text` in order, as UTF-8.
///
/// Checks `stop` once for every 64 KiB of text, even within a long word. Fails if `each` fails, or
/// with [`crate::error::Error::Stopped`].
pub fn for_each_word(
    text: &str,
    space: &mut WordScratch,
    stop: &Stop,
    mut each: impl FnMut(&[u8]) -> Result<()>,
) -> Result<()> {
    for_each_words(text, space, stop, |text, words| {
        words.iter().try_for_each(|&[start, end]| each(&text[start..end]))
    })
}

/// Calls `each` with many words at a time: some lower-cased text, and the beginning and end of each
/// word in it. There are always some bytes after a word in this text, so `each` may load a fixed
/// number of bytes from the start of a word.
pub fn for_each_words(
    text: &str,
    space: &mut WordScratch,
    stop: &Stop,
    mut each: impl FnMut(&[u8], &[[usize; 2]]) -> Result<()>,
) -> Result<()> {
    let (block, places) = space.parts()?;
    let mut next_check = CHECK_EVERY;
    let mut blocks = BlockCutter::new();
    let mut at = 0;
    while at < text.len() {
        if at >= next_check {
            stop.check()?;
            next_check = at + CHECK_EVERY;
        }
        let cut = match blocks.cut(&text[at..], block, places)? {
            Some(cut) => cut,
            None => long_word(&text[at..], block, places, stop)?,
        };
        each(block, &places[..cut.words])?;
        at += cut.taken;
        stop.work(cut.taken);
    }
    Ok(())
}

/// Calls `each` with what stands for the words of a text that has no word: all its characters
/// except white space and those that nobody sees, as one piece. So equal texts of signs are equal.
/// Does nothing if there is no such character.
pub fn for_text_of_signs(text: &str, stop: &Stop, each: impl FnOnce(&[u8]) -> Result<()>) -> Result<()> {
    let mut signs = Vec::new();
    let mut next_check = CHECK_EVERY;
    for (at, c) in text.char_indices() {
        if at >= next_check {
            stop.check()?;
            next_check = at + CHECK_EVERY;
        }
        if !is_space(c) && class(c) != WordClass::Unseen {
            memory::extend(&mut signs, c.encode_utf8(&mut [0; 4]).as_bytes(), DOING)?;
        }
    }
    if signs.is_empty() { Ok(()) } else { each(&signs) }
}

/// The number of bytes of text between checks of `stop`.
const CHECK_EVERY: usize = 1 << 16;

/// Memory for words, which can be reused for further texts.
#[derive(Debug, Default)]
pub struct WordScratch {
    /// The lower-cased text of some words.
    text: Vec<u8>,
    /// The places where words begin and end in `text`.
    places: Vec<[usize; 2]>,
}

impl WordScratch {
    fn parts(&mut self) -> Result<(&mut Vec<u8>, &mut WordPlaces)> {
        if self.places.is_empty() {
            self.places = memory::filled([0; 2], MOST_WORDS, DOING)?;
        }
        let Self { text, places } = self;
        let places = places.first_chunk_mut().ok_or(Error::OutOfMemory { doing: DOING })?;
        Ok((text, places))
    }
}

/// Cuts the word at the start of `text` one character at a time, because the word is too long for a
/// block.
fn long_word(text: &str, word: &mut Vec<u8>, places: &mut WordPlaces, stop: &Stop) -> Result<CutWords> {
    const LONGEST: usize = 4;
    word.clear();
    let mut taken = 0;
    let mut next_check = 0;
    let mut alone = false;
    for c in text.chars() {
        if taken >= next_check {
            stop.check()?;
            next_check = taken + CHECK_EVERY;
            memory::reserve(word, LONGEST * CHECK_EVERY + BEHIND.len(), DOING)?;
        }
        let Known { class, lower, .. } = known(c);
        let belongs = match class {
            WordClass::Separator => false,
            WordClass::Unseen | WordClass::Mark | WordClass::AlphabeticMark => true,
            WordClass::Alphanumeric => !alone,
            WordClass::Alone => word.is_empty(),
        };
        if !belongs {
            break;
        }
        taken += c.len_utf8();
        if class == WordClass::Unseen {
            continue;
        }
        alone |= class == WordClass::Alone;
        word.extend_from_slice(lower.encode_utf8(&mut [0; LONGEST]).as_bytes());
    }
    places[0] = [0, word.len()];
    let words = usize::from(!word.is_empty());
    word.extend_from_slice(BEHIND);
    Ok(CutWords { taken, words })
}

/// Returns the words of a text as separate strings.
///
/// Words are lower-cased runs of letters and numbers with their combining marks; each character of
/// a script without spaces, such as Han, is a word. O(bytes).
///
/// ```
/// assert_eq!(neardup_core::words("The 3rd 漢字, naïve…"), ["the", "3rd", "漢", "字", "naïve"]);
/// ```
pub fn words(text: &str) -> Vec<String> {
    unstopped(|stop, push| {
        let push = |word: &[u8]| push(String::from_utf8_lossy(word).into_owned());
        for_each_word(text, &mut WordScratch::default(), stop, push)
    })
}

#[cfg(test)]
mod tests {
    use super::super::characters::lower;
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
            // A mark without a letter before it: an alphabetic mark begins a run, whatever its
            // script.
            ("\u{e31}a1 \u{e31}ก", &["\u{e31}a1", "\u{e31}", "ก"]),
            ("ก\u{e31}a", &["ก\u{e31}", "a"]),
            ("\u{e48}a", &["a"]),
            ("\u{93f}a", &["\u{93f}a"]),
            ("a\u{200b}b \u{feff}un\u{ad}seen\u{200e}, e\u{200d}\u{301}", &["ab", "unseen", "e\u{301}"]),
            ("漢\u{200b}字\u{2060}\u{301}a \u{ad}", &["漢", "字\u{301}", "a"]),
            ("ΛΟΓΟΣ λόγος ſun 5µm", &["λογοσ", "λόγοσ", "sun", "5μm"]),
        ];
        for (text, expected) in cases {
            assert_eq!(words(text), *expected, "{text:?}");
        }
    }

    /// The definition, a character at a time, without the fast path.
    fn words_by_definition(text: &str) -> Vec<String> {
        let mut all: Vec<String> = Vec::new();
        let (mut open, mut alone) = (false, false);
        for c in text.chars().filter(|&c| class(c) != WordClass::Unseen) {
            let class = class(c);
            let mark = matches!(class, WordClass::Mark | WordClass::AlphabeticMark);
            if open && mark {
                all.last_mut().expect("open").push(lower(c));
                continue;
            }
            match class {
                WordClass::Separator | WordClass::Unseen | WordClass::Mark => open = false,
                _ => {
                    if !open || alone || class == WordClass::Alone {
                        all.push(String::new());
                    }
                    all.last_mut().expect("begun").push(lower(c));
                    (open, alone) = (true, class == WordClass::Alone);
                }
            }
        }
        all
    }

    #[test]
    fn words_at_the_ends_of_blocks_and_longer_than_one() {
        let long = ["a", "ж", "Ⱥ", "e\u{301}", "漢\u{301}\u{93f}"].map(|unit| unit.repeat(1100));
        let long: Vec<String> = long
            .into_iter()
            .chain([["a", "\u{200b}"].concat().repeat(600), "\u{feff}".repeat(40_000)])
            .collect();
        let odd = [
            "漢\u{301}字a",
            "a\u{ad}é\u{ad}",
            "漢\u{200b}\u{301}\u{200b}a",
            "жa漢ж",
            "aé—é",
            "\u{301}a\u{301}",
            "\u{93f}漢",
            "𠀀\u{301}𠀀a",
        ]
        .map(str::to_owned);
        for filler in ["a ", "é ", "漢", "—"] {
            for word in odd.iter().chain(&long) {
                for before in (1020 / filler.len() - 20..1040 / filler.len()).chain([0]) {
                    let text = [&filler.repeat(before), word.as_str(), "字", word, " b"].concat();
                    assert_eq!(words(&text), words_by_definition(&text), "{before} of {filler:?}, {word:?}");
                }
            }
        }
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
        fn long_texts_of_all_scripts_agree_with_the_definition(
            text in prop::collection::vec("[漢字か]{1,90}|[а-яА-Я]{1,9}[ ,]|[a-zéÉ ]{1,60}|[ -~]{40,90}|\u{301}|[\u{93f}\u{e34}ก]|[a\u{ad}\u{200b}é漢]{1,9}|ȺȺ", 0..80),
        ) {
            let text = text.concat();
            prop_assert_eq!(words(&text), words_by_definition(&text));
        }

        #[test]
        fn agrees_with_the_definition(text in "\\PC*|[a-cA-C ._漢字か\u{301}\u{93f}\u{e34}\u{ad}\u{200b}ΣςKก]{0,40}") {
            prop_assert_eq!(words(&text), words_by_definition(&text));
        }
    }
}
