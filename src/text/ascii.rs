//! Which of 64 ASCII characters are letters or digits, all at once.

/// A bit for each of 64 bytes of lower-cased ASCII: whether it is a letter or a digit.
#[inline]
pub(super) fn alphanumeric(bytes: &[u8; 64]) -> u64 {
    // Compilers make vectors of this loop; to gather bits in a number has no such form, but takes few steps.
    let mut found = [0u8; 64];
    for (found, byte) in found.iter_mut().zip(bytes) {
        let (letter, digit) = (byte.wrapping_sub(b'a') < 26, byte.wrapping_sub(b'0') < 10);
        *found = u8::from(letter | digit);
    }
    let (eights, _) = found.as_chunks::<8>();
    eights.iter().rev().fold(0, |bits, &eight| {
        // The lowest bits of eight bytes come to stand side by side in the highest byte.
        bits << 8 | u64::from_le_bytes(eight).wrapping_mul(0x0102_0408_1020_4080) >> 56
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_character_at_every_place() {
        for place in 0..64 {
            for byte in (0..128u8).filter(|byte| !byte.is_ascii_uppercase()) {
                let mut bytes = [b'.'; 64];
                bytes[place] = byte;
                assert_eq!(alphanumeric(&bytes), u64::from(byte.is_ascii_alphanumeric()) << place);
            }
        }
        assert_eq!(alphanumeric(&[b'7'; 64]), u64::MAX);
    }
}
