//! Words of text, a block of it at a time, where each letter is a letter of a word and nothing else: ASCII, and letters of
//! scripts with spaces, without marks. A block has whole words.

use std::ops::Range;

use super::ascii;
use super::characters::{Class, Known, known};
use crate::error::Result;
use crate::memory;

/// How much text is cut at a time.
const BLOCK: usize = 1 << 10;

/// What stands behind a block, so that a word at its end can be read with as many bytes as any other.
pub(super) const BEHIND: &str = "                ";

/// How much text is worth a block.
const WORTH: usize = 32;

/// As many bytes as a character may have.
const LONGEST: usize = 4;

/// As many changes as are looked for at a time beyond the last one.
const AT_ONCE: usize = 16;

/// How many words are handed over together at most: room for all of a block, which has as many changes as that has bytes, and
/// for what is looked for beyond the last one.
pub(super) const MOST_WORDS: usize = (BLOCK + AT_ONCE) / 2;

/// Where words begin and end in some text.
pub(super) type Places = [[usize; 2]; MOST_WORDS];

/// Of each byte of a block a bit.
type Bits = [u64; BLOCK / ascii::CHARACTERS];

/// Cuts blocks.
#[derive(Debug)]
pub(super) struct Blocks {
    kernel: ascii::Kernel,
    /// Whether a byte is of a word.
    bits: Bits,
}

/// What was cut.
pub(super) struct Block {
    /// How many bytes of the text it is.
    pub(super) taken: usize,
    /// How many words it has.
    pub(super) words: usize,
}

impl Blocks {
    pub(super) fn new() -> Self {
        Self { kernel: ascii::kernel(), bits: [0; _] }
    }

    /// Puts the words that `text` begins with into `block`, lower-cased, and where each begins and ends there into `places`;
    /// none where there are too few to be worth it.
    #[inline]
    pub(super) fn cut(
        &mut self,
        text: &str,
        block: &mut String,
        places: &mut Places,
    ) -> Result<Option<Block>> {
        reserve(block, BLOCK + BEHIND.len())?;
        block.clear();
        let ascii = ascii_words(&text.as_bytes()[..text.len().min(BLOCK)]);
        let taken = match ascii {
            Some(taken) => {
                block.push_str(&text[..taken]);
                self.find_ascii(block);
                taken
            }
            None => match self.cut_letters(text, block) {
                Some(taken) => taken,
                None => {
                    block.clear();
                    return Ok(None);
                }
            },
        };
        let words = self.find_words(block.len(), places);
        block.push_str(BEHIND);
        Ok(Some(Block { taken, words }))
    }

    /// Lower-cases what is ASCII, and finds letters and digits among it.
    fn find_ascii(&mut self, block: &mut str) {
        let words = block.len().div_ceil(ascii::CHARACTERS);
        (self.kernel)(block, &mut self.bits[..words]);
    }

    /// The same of text that is not all ASCII.
    fn cut_letters(&mut self, text: &str, block: &mut String) -> Option<usize> {
        let bytes = text.as_bytes();
        let mut letters: Bits = [0; _];
        let mut at = 0;
        while block.len() + LONGEST <= BLOCK {
            let run = ascii_run(&bytes[at..bytes.len().min(at + BLOCK - block.len())]);
            block.push_str(&text[at..at + run]);
            at += run;
            let mut from = block.len();
            let mut ends = at == bytes.len();
            for c in text[at..].chars().take_while(|c| !c.is_ascii()) {
                let Known { class, lower } = known(c);
                ends =
                    block.len() + LONGEST > BLOCK || !matches!(class, Class::Alphanumeric | Class::Separator);
                if ends {
                    break;
                }
                at += c.len_utf8();
                if class == Class::Alphanumeric {
                    block.push(lower);
                } else {
                    set(&mut letters, from..block.len());
                    block.push(' ');
                    from = block.len();
                }
            }
            set(&mut letters, from..block.len());
            if ends {
                break;
            }
        }
        // What comes next may belong to the last word.
        let last = bytes[..at].iter().rposition(|byte| byte.is_ascii() && !byte.is_ascii_alphanumeric())?;
        if last < WORTH {
            return None;
        }
        // Behind that no byte is a separator of ASCII, in the block too but for others that became one.
        let behind: usize = text[last + 1..at].chars().map(lowered_length).sum();
        block.truncate(block.len() - behind);
        self.find_ascii(block);
        self.bits.iter_mut().zip(letters).for_each(|(bits, letters)| *bits |= letters);
        Some(last + 1)
    }

    /// Where runs of letters and digits begin and end, in turn, in a block of so many bytes, which ends with something else:
    /// how many there are. There is no branch on a single change: how many there are in 64 bytes is all that a processor has
    /// to foresee.
    #[inline]
    fn find_words(&self, bytes: usize, places: &mut Places) -> usize {
        let changes = places.as_flattened_mut();
        let mut count = 0;
        let mut before = 0u64;
        for (n, bits) in self.bits[..bytes.div_ceil(ascii::CHARACTERS)].iter().enumerate() {
            // Letters of what was cut off are behind the end.
            let bits = bits & u64::MAX >> (ascii::CHARACTERS * (n + 1)).saturating_sub(bytes);
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
        count / 2
    }
}

/// Sets the bits of some bytes.
#[inline]
fn set(bits: &mut Bits, range: Range<usize>) {
    let mut from = range.start;
    while from < range.end {
        let n = from / ascii::CHARACTERS;
        let to = range.end.min((n + 1) * ascii::CHARACTERS);
        // At least one of them.
        bits[n] |= u64::MAX >> (ascii::CHARACTERS - (to - from)) << (from % ascii::CHARACTERS);
        from = to;
    }
}

/// How many bytes a character has in a block.
fn lowered_length(c: char) -> usize {
    let Known { class, lower } = known(c);
    if class == Class::Separator { 1 } else { lower.len_utf8() }
}

/// Whether enough ASCII follows for a block of it.
#[inline]
pub(super) fn ascii_follows(bytes: &[u8]) -> bool {
    bytes.get(..WORTH).is_some_and(<[u8]>::is_ascii)
}

/// How many bytes of whole ASCII words and separators some bytes begin with; none if there are too few to
/// be worth it.
fn ascii_words(bytes: &[u8]) -> Option<usize> {
    if !ascii_follows(bytes) {
        return None;
    }
    let ascii = ascii_run(bytes);
    // What comes next may belong to the last word.
    let last = bytes[..ascii].iter().rposition(|byte| !byte.is_ascii_alphanumeric())?;
    (last + 1 >= WORTH).then_some(last + 1)
}

/// How many bytes of ASCII some bytes begin with.
#[inline]
fn ascii_run(bytes: &[u8]) -> usize {
    const EIGHT: usize = 8;
    const NOT_ASCII: u64 = 0x8080_8080_8080_8080;
    let (eights, _) = bytes.as_chunks::<EIGHT>();
    let not_ascii = |eight: &[u8; EIGHT]| u64::from_le_bytes(*eight) & NOT_ASCII;
    if let Some(n) = eights.iter().position(|eight| not_ascii(eight) != 0) {
        return EIGHT * n + not_ascii(&eights[n]).trailing_zeros() as usize / 8;
    }
    let whole = EIGHT * eights.len();
    whole + bytes[whole..].iter().take_while(|byte| byte.is_ascii()).count()
}

#[inline]
pub(super) fn reserve(word: &mut String, bytes: usize) -> Result<()> {
    memory::reserve_text(word, bytes, "reading a word")
}
