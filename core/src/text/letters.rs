//! Copies text that is not all ASCII into a block. The letters of most scripts are looked up by
//! their two or three bytes, many in sequence. All other characters are handled one at a time.

use std::sync::OnceLock;

use super::characters::{Known, WordClass, known};

/// The number of bytes that are copied at a time. It is greater than the length of a character with
/// a space before and after it.
pub(super) const AT_A_TIME: usize = 8;

/// The number of bytes of text after which reading ends.
const MOST: usize = 1 << 14;

/// A text that is being read, and its output. In the output, characters that are not ASCII are in
/// lower case; spaces replace the separators that are not ASCII, and also divide words that have no
/// separator between them.
pub(super) struct Letters<'a> {
    text: &'a str,
    letters: &'a mut [u8],
    /// The current place of reading and writing.
    at: LetterPlace,
    /// The place up to which words are complete. A word after this place may continue with the next
    /// characters.
    whole: LetterPlace,
    /// The place after which each character is as long as its output.
    alike: LetterPlace,
    /// Whether the last character is of a script without spaces, or a mark on such a character. In
    /// the output, a space follows it.
    alone: bool,
}

/// A place in the text and the matching place in the output.
#[derive(Debug, Clone, Copy, Default)]
struct LetterPlace {
    text: usize,
    letters: usize,
}

impl<'a> Letters<'a> {
    #[inline]
    pub(super) fn new(text: &'a str, letters: &'a mut [u8]) -> Self {
        let [at, whole, alike] = [LetterPlace::default(); _];
        Self { text, letters, at, whole, alike, alone: false }
    }

    /// Reads as much of the text as there is room for. Returns the number of bytes of the text that
    /// form complete words, and the output of these bytes. O(bytes).
    #[inline]
    pub(super) fn whole_words(mut self) -> (usize, &'a [u8]) {
        let pairs = pairs();
        // Characters that are left out need no room, so their number is limited, too.
        let most = self.text.len().min(MOST);
        while self.at.text < most && self.at.letters + AT_A_TIME <= self.letters.len() {
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

    /// Takes a few ASCII characters and the two-byte letters and separators after them. Returns the
    /// number of bytes taken.
    #[inline]
    fn take_short(&mut self, pairs: &LowerPairs) -> usize {
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

    /// Takes one character of any kind. This function is separate from the common case so that the
    /// loop of the common case is faster.
    #[inline(never)]
    fn take(&mut self) {
        let Some(c) = self.text[self.at.text..].chars().next() else { return };
        let Known { class, lower, .. } = known(c);
        if class == WordClass::Unseen {
            return self.leave_out(c);
        }
        let mark = matches!(class, WordClass::Mark | WordClass::AlphabeticMark);
        let open = self.is_open();
        self.find_whole();
        if self.alone && mark {
            // The mark belongs to the character before the space.
            self.at.letters -= 1;
        } else if open && !self.alone && class == WordClass::Alone {
            self.space();
        }
        if class == WordClass::Alone || self.alone && !mark {
            self.whole = self.at;
        }
        let separates = class == WordClass::Separator || class == WordClass::Mark && !open;
        let written = if separates { ' ' } else { lower };
        self.at.text += c.len_utf8();
        self.at.letters += written.encode_utf8(&mut self.letters[self.at.letters..]).len();
        self.alone = if mark { self.alone } else { class == WordClass::Alone };
        if self.alone {
            self.space();
            self.take_alone();
        }
        self.alike = self.at;
        if separates {
            self.whole = self.at;
        }
    }

    /// Takes a character that nobody sees, and writes nothing.
    fn leave_out(&mut self, c: char) {
        self.find_whole();
        self.at.text += c.len_utf8();
        if !self.is_open() {
            self.whole = self.at;
        }
        self.alike = self.at;
    }

    /// Reports whether the next mark belongs to the last word.
    #[inline]
    fn is_open(&self) -> bool {
        self.alone || self.letters[..self.at.letters].last().copied().is_some_and(is_of_word)
    }

    /// Takes three-byte characters that are words by themselves, and writes a space after each of
    /// them.
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

    /// Finds the end of the complete words: the last separator after the last character whose
    /// output may have another length.
    #[inline]
    fn find_whole(&mut self) {
        let since = &self.letters[self.alike.letters..self.at.letters];
        if let Some(last) = since.iter().rposition(|&byte| !is_of_word(byte)) {
            let LetterPlace { text, letters } = self.alike;
            self.whole = LetterPlace { text: text + last + 1, letters: letters + last + 1 };
        }
    }
}

/// The number of bytes of most letters that are not ASCII in scripts that are written with spaces.
const PAIR: usize = 2;

/// For each two-byte character, its lower case if that also has two bytes, or two spaces for a
/// separator.
type LowerPairs = [Option<[u8; PAIR]>; 1 << 11];

fn pairs() -> &'static LowerPairs {
    static PAIRS: OnceLock<Box<LowerPairs>> = OnceLock::new();
    PAIRS.get_or_init(|| {
        let mut pairs = Box::new([None; _]);
        for (slot, c) in pairs.iter_mut().zip('\0'..).skip(1 << 7) {
            let Known { class, lower, .. } = known(c);
            *slot = match class {
                WordClass::Separator => Some([b' '; _]),
                WordClass::Alphanumeric if lower.len_utf8() == PAIR => {
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

/// Returns the lower case of a two-byte character. Returns `None` if the bytes are not such a
/// character, or if the character needs other handling.
#[inline]
fn lower_pair(pairs: &LowerPairs, [first, second]: [u8; PAIR]) -> Option<[u8; PAIR]> {
    let code = usize::from(first & 0x1f) << 6 | usize::from(second & 0x3f);
    if first & 0xe0 == 0xc0 { pairs[code] } else { None }
}

/// Returns three bytes and a space if the bytes are a character of a script without spaces.
/// Lower-casing does not change such a character.
#[inline]
fn space_alone([first, second, third]: [u8; 3]) -> Option<[u8; 4]> {
    let bits = |byte: u8| u32::from(byte & 0x3f);
    let c = char::from_u32(u32::from(first & 0xf) << 12 | bits(second) << 6 | bits(third))?;
    (first & 0xf0 == 0xe0 && known(c).class == WordClass::Alone).then_some([first, second, third, b' '])
}

/// Reports whether a byte of the output is part of a word.
#[inline]
fn is_of_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || !byte.is_ascii()
}

/// Returns how many of eight bytes are ASCII before the first byte that is not ASCII.
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
        let alone = ('\0'..=char::MAX).filter(|&c| class(c) == WordClass::Alone);
        for c in alone {
            assert_eq!(lower(c), c, "{c:?}");
        }
    }
}
