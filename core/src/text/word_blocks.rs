//! Cuts text into words, one block at a time. A block contains complete words in lower case. Each
//! byte of a block that is not ASCII is part of a word, and the bytes between words are ASCII.

use super::letters::{AT_A_TIME, Letters, ascii_among};
use crate::error::Result;
use crate::memory;
use crate::simd::ascii;

/// The number of bytes of text cut at a time.
const BLOCK: usize = 1 << 10;

/// The padding after a block. It allows a reader to load a fixed number of bytes from the start of
/// any word, even of the last word.
pub(super) const BEHIND: &[u8] = &[b' '; 16];

/// The least number of ASCII bytes for which a block of ASCII is made.
const WORTH: usize = 32;

/// The number of places that are written at a time, even if fewer remain.
const AT_ONCE: usize = 16;

/// The greatest number of words passed on together. A block has at most [`BLOCK`] beginnings and
/// ends of words. So [`WordPlaces`] has room for all of them, and for the excess places that are
/// written after the last one.
pub(super) const MOST_WORDS: usize = (BLOCK + AT_ONCE) / 2;

/// The beginning and the end of each word in a text.
pub(super) type WordPlaces = [[usize; 2]; MOST_WORDS];

/// A bit for each byte of a block.
type Bits = [u64; BLOCK / ascii::CHARACTERS];

/// Cuts text into blocks of words.
#[derive(Debug)]
pub(super) struct BlockCutter {
    kernel: ascii::LowerKernel,
    /// A bit for each byte of the block, which is set if the byte is part of a word.
    bits: Bits,
    /// A buffer for text that is not all ASCII, before it is copied into a block.
    letters: [u8; BLOCK],
}

/// The result of one cut.
pub(super) struct CutWords {
    /// The number of bytes of the text that were taken.
    pub(super) taken: usize,
    /// The number of words in the block.
    pub(super) words: usize,
}

impl BlockCutter {
    pub(super) fn new() -> Self {
        Self { kernel: ascii::kernel(), bits: [0; _], letters: [0; _] }
    }

    /// Puts the words at the start of `text` into `block`, lower-cased, and their beginnings and
    /// ends in the block into `places`. Returns `None` if the first word is too long.
    #[inline]
    pub(super) fn cut(
        &mut self,
        text: &str,
        block: &mut Vec<u8>,
        places: &mut WordPlaces,
    ) -> Result<Option<CutWords>> {
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
        Ok(Some(CutWords { taken, words }))
    }

    /// Finds the runs of letters and digits in a block of `bytes` bytes. Writes the beginning and
    /// the end of each run to `places`, and returns the number of runs, which are the words. A
    /// beginning or an end is a change of the bits. The code does not branch on single changes: the
    /// processor has to predict only the number of changes in 64 bytes.
    #[inline]
    fn find_words(&self, bytes: usize, places: &mut WordPlaces) -> usize {
        let changes = places.as_flattened_mut();
        let mut count = 0;
        let mut before = 0u64;
        for (n, bits) in self.bits[..bytes.div_ceil(ascii::CHARACTERS)].iter().enumerate() {
            // Clears the bits after the end of the block, because the kernels do not promise that
            // these bits are zero.
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
        // The end of a word that ends with the block. Only a block at the end of the text has such
        // a word.
        changes[count] = bytes;
        count.div_ceil(2)
    }
}

/// Reports whether enough ASCII follows to be worth a block.
#[inline]
fn ascii_follows(bytes: &[u8]) -> bool {
    bytes.get(..WORTH).is_some_and(<[u8]>::is_ascii)
}

/// Returns the number of bytes that the complete ASCII words and separators at the start of `bytes`
/// take. Returns `None` if they are too few to be worth a block.
#[inline]
fn ascii_words(bytes: &[u8]) -> Option<usize> {
    if !ascii_follows(bytes) {
        return None;
    }
    let ascii = ascii_run(&bytes[..bytes.len().min(BLOCK)]);
    if ascii == bytes.len() {
        return Some(ascii);
    }
    // The next characters may belong to the last word.
    let last = bytes[..ascii].iter().rposition(|byte| !byte.is_ascii_alphanumeric())?;
    (last + 1 >= WORTH).then_some(last + 1)
}

/// Returns the number of ASCII bytes at the start of `bytes`.
#[inline]
fn ascii_run(bytes: &[u8]) -> usize {
    let (eights, rest) = bytes.as_chunks();
    match eights.iter().map(ascii_among).enumerate().find(|&(_, run)| run < AT_A_TIME) {
        Some((n, run)) => AT_A_TIME * n + run,
        None => bytes.len() - rest.len() + rest.iter().take_while(|byte| byte.is_ascii()).count(),
    }
}
