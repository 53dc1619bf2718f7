//! Parity bitmaps that are sent to parts. A bitmap is as long as its set needs, and can be compared
//! with bitmaps of other lengths.
//!
//! They are made by [`bitmap`]. The number of words is a power of two, and a longer bitmap can be
//! folded: the XOR of its parts that have the length of a shorter bitmap is the shorter bitmap of
//! the same set.

use crate::error::{Error, Result, check_version};
use crate::joins::sets::bounds::Bounds;
use crate::memory;
use crate::set_index::bitmap::{self, Width};
use crate::simd::sketch_loops::Kernels;

/// The name of the value, for error messages.
const NAME: &str = "bitmap";
const VERSION: u8 = 1;
const MOST_WORDS: usize = 256;

/// Returns the number of words of the bitmap of a set of this size. A remaining candidate costs far
/// more than a longer bitmap, so the length is chosen with a wide margin: sets with little in
/// common differ in many more bits than similar sets may.
pub fn words(bounds: &Bounds, size: u32) -> usize {
    bounds.bitmap_words(Width::SENT, size, 1).unwrap_or(MOST_WORDS)
}

/// Returns the encoded bitmap of a set.
pub fn encode(hashes: impl Iterator<Item = u64>, words: usize) -> Result<Vec<u8>> {
    const DOING: &str = "making a bitmap";
    let mut bits = memory::filled(0u64, words, DOING)?;
    bitmap::of_hashes(hashes, &mut bits);
    let mut bytes = Vec::new();
    memory::reserve(&mut bytes, 1 + words * size_of::<u64>(), DOING)?;
    bytes.push(VERSION);
    for word in bits {
        bytes.extend_from_slice(&word.to_le_bytes());
    }
    Ok(bytes)
}

/// Parses the words of a bitmap. Fails for malformed bytes.
pub fn parse(bytes: &[u8]) -> Result<&[[u8; size_of::<u64>()]]> {
    let bad = |why| Error::Malformed { what: NAME, why };
    let (&version, words) = bytes.split_first().ok_or_else(|| bad("it has no bytes".to_owned()))?;
    check_version(NAME, version, VERSION)?;
    let (words, rest) = words.as_chunks();
    if !rest.is_empty() || !words.len().is_power_of_two() || words.len() > MOST_WORDS {
        return Err(bad(format!("{} bytes are not 1 and 8 times a power of two", bytes.len())));
    }
    Ok(words)
}

/// Returns the number of bits in which two bitmaps differ. The longer bitmap is folded to the
/// length of the shorter one.
#[inline]
pub fn differ(a: &[u64], b: &[u64], kernels: &Kernels) -> u32 {
    if a.len() == b.len() {
        return (kernels.hamming)(bytemuck::cast_slice(a), bytemuck::cast_slice(b));
    }
    let (short, long) = if a.len() < b.len() { (a, b) } else { (b, a) };
    let folded = |n: usize| long[n..].iter().step_by(short.len()).fold(0, |sum, word| sum ^ word);
    short.iter().enumerate().map(|(n, word)| (word ^ folded(n)).count_ones()).sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hash;
    use crate::simd::sketch_loops::kernels;

    #[test]
    fn longer_ones_fold_to_shorter_ones() {
        let set = |from: u64, to: u64| (from..to).map(hash::mix);
        let words = |set: &mut dyn Iterator<Item = u64>, words: usize| -> Vec<u64> {
            let bytes = encode(set, words).unwrap();
            parse(&bytes).unwrap().iter().map(|&word| u64::from_le_bytes(word)).collect()
        };
        for long in [1, 2, 8, 64] {
            for short in [1, 2, 4] {
                assert_eq!(
                    differ(&words(&mut set(0, 300), long), &words(&mut set(0, 300), short), kernels()),
                    0
                );
                let apart =
                    differ(&words(&mut set(0, 300), long), &words(&mut set(10, 320), short), kernels());
                assert!((1..=30).contains(&apart) || short == 1);
            }
        }
    }

    #[test]
    fn bytes_that_are_none_are_errors() {
        for bytes in [&[][..], &[1], &[2, 0, 0, 0, 0, 0, 0, 0, 0], &[1, 0, 0], &[1; 25], &[1; 8 * 512 + 1]] {
            assert!(parse(bytes).is_err());
        }
        assert!(parse(&[1; 17]).is_ok());
    }
}
