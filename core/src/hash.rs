//! The hash functions of the project: XXH3, and a mix of 64-bit values.
//!
//! Everything that is stored or compared between calls is made with these functions. Their results
//! are pinned: changing one golden value below requires a new [`VERSION`], and sketches of
//! different versions are never compared.

use xxhash_rust::xxh3::{xxh3_64, xxh3_128};

/// The version of the hash functions in this file. It is part of every stored signature.
pub const VERSION: u8 = 1;

/// Hashes a byte string: XXH3, 64 bits, seed 0.
///
/// Its results are the same on every machine and in every release. O(bytes).
///
/// ```
/// assert_eq!(neardup_core::sketch::hash_bytes(b""), 0x2d06_8005_38d3_94c2);
/// ```
#[inline]
pub fn hash_bytes(bytes: &[u8]) -> u64 {
    xxh3_64(bytes)
}

/// Hashes a byte string: XXH3, 128 bits, seed 0. Different strings have different hashes, unless
/// someone constructs a collision.
#[inline]
pub fn hash_bytes_128(bytes: &[u8]) -> u128 {
    xxh3_128(bytes)
}

/// Hashes a number. The hash is a bijection of the 64-bit values in which every bit depends on
/// every bit (the finaliser of SplitMix64; Steele, Lea, Flood, OOPSLA 2014).
#[inline]
pub fn mix(value: u64) -> u64 {
    let mut z = value.wrapping_add(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

/// Returns the number that [`mix`] hashes to `hash`.
#[inline]
pub fn unmix(hash: u64) -> u64 {
    let mut z = hash ^ (hash >> 31) ^ (hash >> 62);
    z = z.wrapping_mul(0x3196_42b2_d24d_8ec3);
    z = (z ^ (z >> 27) ^ (z >> 54)).wrapping_mul(0x96de_1b17_3f11_9089);
    z = z ^ (z >> 30) ^ (z >> 60);
    z.wrapping_sub(0x9e37_79b9_7f4a_7c15)
}

/// Hashes a sequence of hashes, in which the order matters: XXH3 of their little-endian bytes.
#[inline]
pub fn hash_sequence(hashes: &[u64], scratch: &mut Vec<u8>) -> u64 {
    // Little-endian machines, the common case, need no copy; `scratch` is for big-endian ones.
    if cfg!(target_endian = "little") {
        return xxh3_64(bytemuck::cast_slice(hashes));
    }
    scratch.clear();
    for hash in hashes {
        scratch.extend_from_slice(&hash.to_le_bytes());
    }
    xxh3_64(scratch)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn golden_vectors() {
        assert_eq!(hash_bytes(b""), 0x2d06_8005_38d3_94c2);
        assert_eq!(hash_bytes(b"near"), GOLDEN[0]);
        assert_eq!(hash_bytes("漢字".as_bytes()), GOLDEN[1]);
        assert_eq!(hash_bytes_128(b""), 0x99aa_06d3_0147_98d8_6001_c324_468d_497f);
        assert_eq!(mix(0), 0xe220_a839_7b1d_cdaf);
        assert_eq!(mix(1), GOLDEN[2]);
        assert_eq!(hash_sequence(&[1, 2, 3], &mut Vec::new()), GOLDEN[3]);
    }

    #[test]
    fn mix_is_undone() {
        for n in (0..64).map(|n| 1u64 << n).chain(GOLDEN).chain([0, u64::MAX]) {
            assert_eq!((unmix(mix(n)), mix(unmix(n))), (n, n));
        }
    }

    /// These values were made with the reference implementation of XXH3 (and, for the mix, from its
    /// definition).
    const GOLDEN: [u64; 4] =
        [0xdc94_c9f9_b7e0_fa92, 0xc45b_cbdd_9899_fc81, 0x910a_2dec_8902_5cc1, 0x7c68_b490_6e7e_a780];
}
