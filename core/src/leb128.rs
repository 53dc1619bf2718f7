//! Numbers in LEB128: seven bits in each byte, the lowest bits first. Every byte except the last
//! has its top bit set.

use crate::error::Result;
use crate::memory;

/// The greatest number of bytes that a number takes.
pub const MOST_BYTES: usize = 10;

/// Appends a number. O(bytes written), at most [`MOST_BYTES`].
///
/// # Errors
/// Fails if memory runs out; `doing` goes into the message.
#[inline]
pub fn write(mut number: u64, bytes: &mut Vec<u8>, doing: &'static str) -> Result<()> {
    while number >= 0x80 {
        memory::push(bytes, number as u8 | 0x80, doing)?;
        number >>= 7;
    }
    memory::push(bytes, number as u8, doing)
}

/// Reads a number from the bytes that `next` returns one at a time. Returns `None` if the number
/// does not fit into 64 bits.
///
/// # Errors
/// Returns the errors of `next`.
#[inline]
pub fn read<E>(mut next: impl FnMut() -> std::result::Result<u8, E>) -> std::result::Result<Option<u64>, E> {
    let mut number = 0;
    for shift in (0..u64::BITS).step_by(7) {
        let byte = next()?;
        let bits = u64::from(byte & 0x7f);
        if bits << shift >> shift != bits {
            return Ok(None);
        }
        number |= bits << shift;
        if byte < 0x80 {
            return Ok(Some(number));
        }
    }
    Ok(None)
}

/// Reads the number at the start of `bytes` and removes it from there. Returns `None` if the number
/// is cut off or does not fit into 64 bits.
#[inline]
pub fn take(bytes: &mut &[u8]) -> Option<u64> {
    let next = || {
        let (&byte, rest) = bytes.split_first().ok_or(())?;
        *bytes = rest;
        Ok::<u8, ()>(byte)
    };
    read(next).unwrap_or(None)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn bytes_stay_as_they_are() {
        for (number, expected) in [
            (0, &[0][..]),
            (127, &[0x7f]),
            (128, &[0x80, 1]),
            (624_485, &[0xe5, 0x8e, 0x26]),
            (u64::MAX, &[0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1]),
        ] {
            let mut bytes = Vec::new();
            write(number, &mut bytes, "testing").unwrap();
            assert_eq!(bytes, expected);
        }
    }

    proptest! {
        #[test]
        fn reads_what_was_written(numbers in proptest::collection::vec(any::<u64>(), 0..9), shift in 0..64u32) {
            let mut bytes = Vec::new();
            numbers.iter().for_each(|number| write(number >> shift, &mut bytes, "testing").unwrap());
            prop_assert!(bytes.len() <= numbers.len() * MOST_BYTES);
            let mut rest = &bytes[..];
            for number in numbers {
                prop_assert_eq!(take(&mut rest), Some(number >> shift));
            }
            prop_assert_eq!(take(&mut rest), None);
        }

        #[test]
        fn any_bytes_are_a_number_or_none(bytes in proptest::collection::vec(prop_oneof![any::<u8>(), Just(0xff), Just(0x80)], 0..14)) {
            let mut rest = &bytes[..];
            let length = bytes.iter().position(|byte| *byte < 0x80).map_or(bytes.len(), |last| last + 1);
            // 128-bit arithmetic computes the expected number, for as many bytes as fit.
            let expected = bytes[..length.min(18)].iter().rev().fold(0u128, |n, byte| n << 7 | u128::from(byte & 0x7f));
            let whole = length > 0 && length <= MOST_BYTES && bytes[length - 1] < 0x80;
            let expected = u64::try_from(expected).ok().filter(|_| whole);
            prop_assert_eq!(take(&mut rest), expected);
        }
    }
}
