//! Copies text that is not all ASCII into a block. The letters of most scripts are looked up by
//! their two or three bytes, many in sequence; all others are handled a character at a time.

use std::sync::OnceLock;

use super::characters::{Class, Known, known};

/// The number of bytes copied at a time: more than a character with a space before and after it.
pub(super) const AT_A_TIME: usize = 8;

/// Text as it is read, and its output: all characters except ASCII in lower case, with spaces for
/// separators that are not ASCII and between words without a separator.
pub(super) struct Letters<'a> {
    text: &'a str,
    letters: &'a mut [u8],
    /// The current place of reading and writing.
    at: Place,
    /// The place up to which words are complete; the next characters may belong to the last word.
    whole: Place,
    /// The place from which each character is as long as its output.
    alike: Place,
    /// Whether the last character is of a script without spaces, or a mark on one; a space follows
    /// it.
    alone: bool,
}

/// A place in the text and the matching place in the output.
#[derive(Debug, Clone, Copy, Default)]
struct Place {
    text: usize,
    letters: usize,
}

impl<'a> Letters<'a> {
    #[inline]
    pub(super) fn new(text: &'a str, letters: &'a mut [u8]) -> Self {
        let [at, whole, alike] = [Place::default(); _];
        Self { text, letters, at, whole, alike, alone: false }
    }

    /// Returns the number of bytes of the text that form complete words, as far as there is room,
    /// and their output. O(bytes).
    #[inline]
    pub(super) fn whole_words(mut self) -> (usize, &'a [u8]) {
        let pairs = pairs();
        while self.at.text < self.text.len() && self.at.letters + AT_A_TIME <= self.letters.len() {
            let taken = if self.alone { 0 } else { self.take_short(pairs) };
            if taken == 0 {
                self.take();
            }
        }
        if self.at.text == self.text.len() {
            self.whole = self.at;
        } else {
            self.find_whole();
        }
        let Self { letters, whole, .. } = self;
        (whole.text, &letters[..whole.letters])
    }

    /// Takes some ASCII and the two-byte letters and separators after it. Returns their number of
    /// bytes.
    #[inline]
    fn take_short(&mut self, pairs: &Pairs) -> usize {
        let text = &self.text.as_bytes()[self.at.text..];
        let letters = &mut self.letters[self.at.letters..];
        let Some(eight) = text.first_chunk::<AT_A_TIME>() else { return 0 };
        letters[..AT_A_TIME].copy_from_slice(eight);
        let mut taken = ascii_among(eight);
        for (pair, lowered) in text[taken..].as_chunks().0.iter().zip(letters[taken..].as_chunks_mut().0) {
            let Some(lower) = lower_pair(pairs, *pair) else { break };
            *lowered = lower;
            taken += PAIR;
        }
        self.at.text += taken;
        self.at.letters += taken;
        taken
    }

    /// Takes any one character. It is separate from the common case, whose loop is faster that way.
    #[inline(never)]
    fn take(&mut self) {
        let Some(c) = self.text[self.at.text..].chars().next() else { return };
        let Known { class, lower, .. } = known(c);
        let mark = matches!(class, Class::Mark | Class::AlphabeticMark);
        let open = self.alone || self.letters[..self.at.letters].last().copied().is_some_and(is_of_word);
        self.find_whole();
        if self.alone && mark {
            // The mark belongs to the character before the space.
            self.at.letters -= 1;
        } else if open && !self.alone && class == Class::Alone {
            self.space();
        }
        if class == Class::Alone || self.alone && !mark {
            self.whole = self.at;
        }
        let separates = class == Class::Separator || class == Class::Mark && !open;
        let written = if separates { ' ' } else { lower };
        self.at.text += c.len_utf8();
        self.at.letters += written.encode_utf8(&mut self.letters[self.at.letters..]).len();
        self.alone = if mark { self.alone } else { class == Class::Alone };
        if self.alone {
            self.space();
            self.take_alone();
        }
        self.alike = self.at;
        if separates {
            self.whole = self.at;
        }
    }

    /// Takes three-byte characters that are words, and writes a space after each.
    #[inline]
    fn take_alone(&mut self) {
        let threes = self.text.as_bytes()[self.at.text..].as_chunks().0;
        let fours = self.letters[self.at.letters..].as_chunks_mut().0;
        for (three, four) in threes.iter().zip(fours) {
            let Some(spaced) = space_alone(*three) else { break };
            *four = spaced;
            self.whole = self.at;
            self.at.text += three.len();
            self.at.letters += four.len();
        }
    }

    #[inline]
    fn space(&mut self) {
        self.letters[self.at.letters] = b' ';
        self.at.letters += 1;
    }

    /// Finds the end of the complete words: the last separator since the last character whose
    /// length may have changed.
    #[inline]
    fn find_whole(&mut self) {
        let since = &self.letters[self.alike.letters..self.at.letters];
        if let Some(last) = since.iter().rposition(|&byte| !is_of_word(byte)) {
            let Place { text, letters } = self.alike;
            self.whole = Place { text: text + last + 1, letters: letters + last + 1 };
        }
    }
}

/// The number of bytes of most letters that are not ASCII, in scripts with spaces.
const PAIR: usize = 2;

/// The lower case of each two-byte character, if it also has two bytes; spaces for a separator.
type Pairs = [Option<[u8; PAIR]>; 1 << 11];

fn pairs() -> &'static Pairs {
    static PAIRS: OnceLock<Box<Pairs>> = OnceLock::new();
    PAIRS.get_or_init(|| {
        let mut pairs = Box::new([None; _]);
        for (slot, c) in pairs.iter_mut().zip('\0'..).skip(1 << 7) {
            let Known { class, lower, .. } = known(c);
            *slot = match class {
                Class::Separator => Some([b' '; _]),
                Class::Alphanumeric if lower.len_utf8() == PAIR => {
                    let mut bytes = [0; PAIR];
                    lower.encode_utf8(&mut bytes);
                    Some(bytes)
                }
                _ => None,
            };
        }
        pairs
    })
}

/// Returns the lower case of a two-byte character. Returns `None` if a character of another length
/// begins here or needs other handling.
#[inline]
fn lower_pair(pairs: &Pairs, [first, second]: [u8; PAIR]) -> Option<[u8; PAIR]> {
    let code = usize::from(first & 0x1f) << 6 | usize::from(second & 0x3f);
    if first & 0xe0 == 0xc0 { pairs[code] } else { None }
}

/// Returns three bytes and a space if the bytes are a character of a script without spaces. Such
/// characters have no other case.
#[inline]
fn space_alone([first, second, third]: [u8; 3]) -> Option<[u8; 4]> {
    let bits = |byte: u8| u32::from(byte & 0x3f);
    let c = char::from_u32(u32::from(first & 0xf) << 12 | bits(second) << 6 | bits(third))?;
    (first & 0xf0 == 0xe0 && known(c).class == Class::Alone).then_some([first, second, third, b' '])
}

/// Reports whether a byte of the output is part of a word.
#[inline]
fn is_of_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || !byte.is_ascii()
}

/// Returns the number of ASCII bytes before the first other one of eight.
#[inline]
pub(super) fn ascii_among(eight: &[u8; AT_A_TIME]) -> usize {
    const NOT_ASCII: u64 = 0x8080_8080_8080_8080;
    (u64::from_le_bytes(*eight) & NOT_ASCII).trailing_zeros() as usize / 8
}

#[cfg(test)]
mod tests {
    use super::super::characters::{class, lower};
    use super::*;

    #[test]
    fn characters_alone_have_no_other_case() {
        let alone = ('\0'..=char::MAX).filter(|&c| class(c) == Class::Alone);
        for c in alone {
            assert_eq!(lower(c), c, "{c:?}");
        }
    }
}
