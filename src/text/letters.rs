//! Text that is not all ASCII on its way into a block: letters that most scripts are made of are looked up by their two or
//! three bytes, many in a row, all others a character at a time.

use std::sync::OnceLock;

use super::characters::{Class, Known, known};

/// How many bytes are copied at a time: more than a character has, with a space before it and one behind.
pub(super) const AT_A_TIME: usize = 8;

/// Text as it is read, and what becomes of it: spaces for separators that are not ASCII, and between words that have no
/// separator; all in lower case but ASCII.
pub(super) struct Letters<'a> {
    text: &'a str,
    letters: &'a mut [u8],
    /// Up to where both are read and written.
    at: Place,
    /// Up to where words are whole: what comes next may belong to the last one.
    whole: Place,
    /// From where on each character is as long as what it became.
    alike: Place,
    /// Whether the last character is one of a script without spaces, or a mark of one: there is a space behind it.
    alone: bool,
}

/// A place in the text, and that in what became of it.
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

    /// How many bytes of the text are whole words, as far as there is room, and what they became. O(bytes).
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

    /// Takes some ASCII, and letters and separators of two bytes behind it: how many bytes it is.
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

    /// Takes any character. Apart from what most text is, whose loop is faster for it.
    #[inline(never)]
    fn take(&mut self) {
        let Some(c) = self.text[self.at.text..].chars().next() else { return };
        let Known { class, lower, .. } = known(c);
        let mark = matches!(class, Class::Mark | Class::AlphabeticMark);
        let open = self.alone || self.letters[..self.at.letters].last().copied().is_some_and(is_of_word);
        self.find_whole();
        if self.alone && mark {
            // It belongs to what is before the space.
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

    /// Takes characters of three bytes that are words, with a space behind each.
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

    /// Words are whole up to the last separator since the last character that may have become longer or shorter.
    #[inline]
    fn find_whole(&mut self) {
        let since = &self.letters[self.alike.letters..self.at.letters];
        if let Some(last) = since.iter().rposition(|&byte| !is_of_word(byte)) {
            let Place { text, letters } = self.alike;
            self.whole = Place { text: text + last + 1, letters: letters + last + 1 };
        }
    }
}

/// How many bytes most letters of scripts with spaces have that are not ASCII.
const PAIR: usize = 2;

/// Of each character of so many bytes what it is in lower case, with as many bytes; spaces for a separator.
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

/// What a character of two bytes is in lower case; none if another begins here, or more is to be done.
#[inline]
fn lower_pair(pairs: &Pairs, [first, second]: [u8; PAIR]) -> Option<[u8; PAIR]> {
    let code = usize::from(first & 0x1f) << 6 | usize::from(second & 0x3f);
    if first & 0xe0 == 0xc0 { pairs[code] } else { None }
}

/// Three bytes and a space, if they are a character of a script without spaces, which has no other case.
#[inline]
fn space_alone([first, second, third]: [u8; 3]) -> Option<[u8; 4]> {
    let bits = |byte: u8| u32::from(byte & 0x3f);
    let c = char::from_u32(u32::from(first & 0xf) << 12 | bits(second) << 6 | bits(third))?;
    (first & 0xf0 == 0xe0 && known(c).class == Class::Alone).then_some([first, second, third, b' '])
}

/// Whether a byte of what is written is of a word.
#[inline]
fn is_of_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || !byte.is_ascii()
}

/// How many of eight bytes are ASCII before the first that is not.
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
