//! Words of text, a block of it at a time. A block has whole words, lower-cased; each of its bytes that is not ASCII is of a
//! word, and what is between words is ASCII.

use super::ascii;
use super::letters::{AT_A_TIME, Letters, ascii_among};
use crate::error::Result;
use crate::memory;

/// How much text is cut at a time.
const BLOCK: usize = 1 << 10;

/// What stands behind a block, so that a word at its end can be read with as many bytes as any other.
pub(super) const BEHIND: &[u8] = &[b' '; 16];

/// How much text is worth a block.
const WORTH: usize = 32;

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
    /// Text that is not all ASCII, on its way into a block.
    letters: [u8; BLOCK],
}

/// What was cut.
pub(super) struct Cut {
    /// How many bytes of the text it is.
    pub(super) taken: usize,
    /// How many words it has.
    pub(super) words: usize,
}

impl Blocks {
    pub(super) fn new() -> Self {
        Self { kernel: ascii::kernel(), bits: [0; _], letters: [0; _] }
    }

    /// Puts the words that `text` begins with into `block`, lower-cased, and where each begins and ends there into `places`;
    /// none where the first word is too long.
    #[inline]
    pub(super) fn cut(
        &mut self,
        text: &str,
        block: &mut Vec<u8>,
        places: &mut Places,
    ) -> Result<Option<Cut>> {
        memory::reserve(block, BLOCK + BEHIND.len(), "reading words")?;
        block.clear();
        let taken = match ascii_words(text.as_bytes()) {
            Some(taken) => {
                block.extend_from_slice(&text.as_bytes()[..taken]);
                taken
            }
            None => {
                let (taken, letters) = Letters::new(text, &mut self.letters).whole_words();
                block.extend_from_slice(letters);
                taken
            }
        };
        if taken == 0 {
            return Ok(None);
        }
        let bits = block.len().div_ceil(ascii::CHARACTERS);
        (self.kernel)(block, &mut self.bits[..bits]);
        let words = self.find_words(block.len(), places);
        block.extend_from_slice(BEHIND);
        Ok(Some(Cut { taken, words }))
    }

    /// Where runs of letters and digits begin and end, in turn, in a block of so many bytes: how many there are. There is no
    /// branch on a single change: how many there are in 64 bytes is all that a processor has to foresee.
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
        // A word that ends with the block, which is the end of the text.
        changes[count] = bytes;
        count.div_ceil(2)
    }
}

/// Whether enough ASCII follows for a block of it.
#[inline]
fn ascii_follows(bytes: &[u8]) -> bool {
    bytes.get(..WORTH).is_some_and(<[u8]>::is_ascii)
}

/// How many bytes of whole words of ASCII and separators some bytes begin with; none if there are too few to be worth it.
#[inline]
fn ascii_words(bytes: &[u8]) -> Option<usize> {
    if !ascii_follows(bytes) {
        return None;
    }
    let ascii = ascii_run(&bytes[..bytes.len().min(BLOCK)]);
    if ascii == bytes.len() {
        return Some(ascii);
    }
    // What comes next may belong to the last word.
    let last = bytes[..ascii].iter().rposition(|byte| !byte.is_ascii_alphanumeric())?;
    (last + 1 >= WORTH).then_some(last + 1)
}

/// How many bytes of ASCII some bytes begin with.
#[inline]
fn ascii_run(bytes: &[u8]) -> usize {
    let (eights, rest) = bytes.as_chunks();
    match eights.iter().map(ascii_among).enumerate().find(|&(_, run)| run < AT_A_TIME) {
        Some((n, run)) => AT_A_TIME * n + run,
        None => bytes.len() - rest.len() + rest.iter().take_while(|byte| byte.is_ascii()).count(),
    }
}
