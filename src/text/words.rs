//! Words: maximal runs of letters and numbers, lower-cased (docs/design/algorithms.md section 1, *Words*).
//!
//! Characters of scripts that are written without spaces (Han, kana, Thai, Lao, Khmer, Myanmar)
//! are a word each; combining marks belong to the character before them. One pass, O(bytes).
//!
//! ```
//! let words = neardup::text::words::words("The 3rd 漢字, naïve…");
//! assert_eq!(words, ["the", "3rd", "漢", "字", "naïve"]);
//! ```

use super::characters::{Class, Known, known};
use super::word_blocks::{BEHIND, Blocks, MOST_WORDS, Places, ascii_follows, reserve};
use crate::error::{Error, Result};
use crate::memory;
use crate::workers::Stop;

/// Calls `each` with every word of `text` in order.
///
/// Answers to `stop` once in 64 KiB of text, also inside a word. Errors are those of `each` and
/// [`crate::error::Error::Stopped`].
pub fn for_each_word(
    text: &str,
    space: &mut Space,
    stop: &Stop,
    mut each: impl FnMut(&str) -> Result<()>,
) -> Result<()> {
    for_each_words(text, space, stop, |text, words| {
        words.iter().try_for_each(|&[start, end]| each(&text[start..end]))
    })
}

/// The same with many words at a time: some lower-cased text, and where each word begins and ends there. What is behind a
/// word can be read with it.
pub fn for_each_words(
    text: &str,
    space: &mut Space,
    stop: &Stop,
    mut each: impl FnMut(&str, &[[usize; 2]]) -> Result<()>,
) -> Result<()> {
    const CHECK_EVERY: usize = 1 << 16;
    let (word, places) = space.parts()?;
    word.clear();
    let mut next_check = CHECK_EVERY;
    let bytes = text.as_bytes();
    let mut blocks = Blocks::new();
    let mut cut = Cut::default();
    let mut at = 0;
    while at < bytes.len() {
        if at >= next_check {
            stop.check()?;
            next_check = at + CHECK_EVERY;
        }
        if cut.open.is_none() {
            cut.hand_over(word, places, &mut each)?;
            if let Some(block) = blocks.cut(&text[at..], word, places)? {
                each(word, &places[..block.words])?;
                word.clear();
                at += block.taken;
                continue;
            }
        }
        reserve(word, LONGEST * STRETCH + BEHIND.len())?;
        let end = text.floor_char_boundary(at + STRETCH);
        for c in text[at..end].chars() {
            at += c.len_utf8();
            cut.add(c, word, places);
            // What is ASCII from here on is cut faster.
            if cut.open.is_none() && c.is_ascii() && ascii_follows(&bytes[at..]) {
                break;
            }
        }
        if cut.count > MOST_WORDS - STRETCH {
            cut.hand_over(word, places, &mut each)?;
        }
    }
    cut.close(word, places);
    cut.hand_over(word, places, &mut each)
}

/// Space for words, which is used again from text to text.
#[derive(Debug, Default)]
pub struct Space {
    /// Some lower-cased text.
    text: String,
    /// Where words begin and end there.
    places: Vec<[usize; 2]>,
}

impl Space {
    fn parts(&mut self) -> Result<(&mut String, &mut Places)> {
        const DOING: &str = "reading words";
        if self.places.is_empty() {
            self.places = memory::filled([0; 2], MOST_WORDS, DOING)?;
        }
        let Self { text, places } = self;
        let places = places.first_chunk_mut().ok_or(Error::OutOfMemory { doing: DOING })?;
        Ok((text, places))
    }
}

/// How much text is cut character by character before words are handed over, and as many bytes as a character may have.
const STRETCH: usize = 128;
const LONGEST: usize = 4;

/// Text that is being cut character by character.
#[derive(Debug, Default)]
struct Cut {
    /// How many words there are.
    count: usize,
    /// Where the word begins that is open.
    open: Option<usize>,
    /// Whether that is a character of a script without spaces.
    alone: bool,
}

impl Cut {
    /// Adds a character; `text` has room for it.
    #[inline]
    fn add(&mut self, c: char, text: &mut String, places: &mut Places) {
        let Known { class, lower } = known(c);
        let joins = match class {
            Class::Alphanumeric => !self.alone,
            Class::Alone | Class::Separator => false,
            Class::Mark | Class::AlphabeticMark => true,
        };
        if !joins {
            self.close(text, places);
        }
        let belongs = match class {
            Class::Separator => false,
            Class::Mark => self.open.is_some(),
            Class::Alphanumeric | Class::Alone | Class::AlphabeticMark => true,
        };
        if belongs {
            self.open.get_or_insert(text.len());
            text.push(lower);
        }
        if !matches!(class, Class::Mark | Class::AlphabeticMark) {
            self.alone = class == Class::Alone;
        }
    }

    /// Ends the word that is open.
    #[inline]
    fn close(&mut self, text: &str, places: &mut Places) {
        if let Some(start) = self.open.take() {
            places[self.count % MOST_WORDS] = [start, text.len()];
            self.count += 1;
        }
    }

    /// Hands all words over that are closed, and leaves the open one.
    fn hand_over(
        &mut self,
        text: &mut String,
        places: &Places,
        each: &mut impl FnMut(&str, &[[usize; 2]]) -> Result<()>,
    ) -> Result<()> {
        if self.count > 0 {
            let length = text.len();
            reserve(text, BEHIND.len())?;
            text.push_str(BEHIND);
            each(text, &places[..std::mem::take(&mut self.count)])?;
            text.truncate(length);
            text.drain(..self.open.map_or(length, |start| start));
            self.open = self.open.map(|_| 0);
        }
        Ok(())
    }
}

/// The words of a text as strings of their own.
pub fn words(text: &str) -> Vec<String> {
    let mut all = Vec::new();
    let done = for_each_word(text, &mut Space::default(), &Stop::default(), |word| {
        all.push(word.to_owned());
        Ok(())
    });
    debug_assert_eq!(done, Ok(()), "nobody asked to stop");
    all
}

#[cfg(test)]
mod tests {
    use super::super::characters::{class, lower};
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
        fn long_texts_of_all_scripts_agree_with_the_definition(
            text in prop::collection::vec("[漢字か]{1,90}|[а-яА-Я]{1,9}[ ,]|[a-zéÉ ]{1,60}|[ -~]{40,90}|\u{301}|[\u{93f}\u{e34}ก]|ȺȺ", 0..80),
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
