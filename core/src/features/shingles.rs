//! Shingles: every window of k consecutive tokens, hashed to 64 bits (Broder, SEQUENCES 1997;
//! docs/design/algorithms.md section 2).

use crate::error::Result;
use crate::executor::Stop;
use crate::hash;
use crate::memory;
use crate::text::words;

pub(super) const DOING: &str = "hashing the words of a text";

/// Adds the hashes of the words of a text or, if there are none, that of its signs.
pub(super) fn hash_words(
    text: &str,
    word: &mut words::WordScratch,
    hashes: &mut Vec<u64>,
    stop: &Stop,
) -> Result<()> {
    words::for_each_words(text, word, stop, |text, places| {
        // The processor hashes several words at once.
        let of_words = places.iter().map(|&[start, end]| hash::hash_bytes(&text[start..end]));
        memory::append(hashes, of_words, DOING)
    })?;
    if hashes.is_empty() {
        let add = |signs: &[u8]| memory::push(hashes, hash::hash_bytes(signs), DOING);
        words::for_text_of_signs(text, stop, add)?;
    }
    Ok(())
}

/// Calls `each` with the hash of every window of `k >= 1` consecutive tokens, in order. `tokens`
/// has the hashes of the tokens.
///
/// n >= k tokens give n - k + 1 shingles; 0 < n < k tokens give one shingle of all tokens. With
/// `wrap`, windows that reach the end continue at the start, and n >= k tokens give n shingles. A
/// window of one token has that token's own hash. O(n·k).
pub fn for_each_shingle(
    tokens: &[u64],
    k: usize,
    wrap: bool,
    scratch: &mut Vec<u8>,
    stop: &Stop,
    mut each: impl FnMut(u64) -> Result<()>,
) -> Result<()> {
    const CHECK_EVERY: usize = 1 << 10;
    if tokens.is_empty() {
        return Ok(());
    }
    if tokens.len() < k {
        return each(hash::hash_sequence(tokens, scratch));
    }
    for (n, window) in tokens.windows(k).enumerate() {
        stop.check_every(n, CHECK_EVERY)?;
        each(if k == 1 { window[0] } else { hash::hash_sequence(window, scratch) })?;
    }
    if wrap && k > 1 {
        let mut window = Vec::with_capacity(k);
        for start in tokens.len() - k + 1..tokens.len() {
            window.clear();
            window.extend_from_slice(&tokens[start..]);
            window.extend_from_slice(&tokens[..k - (tokens.len() - start)]);
            each(hash::hash_sequence(&window, scratch))?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn shingles(tokens: &[u64], k: usize, wrap: bool) -> Vec<u64> {
        let mut all = Vec::new();
        let each = |s| {
            all.push(s);
            Ok(())
        };
        for_each_shingle(tokens, k, wrap, &mut Vec::new(), &Stop::default(), each).expect("not stopped");
        all
    }

    #[test]
    fn short_texts_give_one_shingle_of_all_words() {
        assert!(shingles(&[], 5, false).is_empty());
        assert_eq!(shingles(&[1, 2], 5, false), [hash::hash_sequence(&[1, 2], &mut Vec::new())]);
        assert_eq!(shingles(&[1, 2], 5, true), shingles(&[1, 2], 5, false));
        assert_eq!(shingles(&[7], 1, true), [7]);
    }

    proptest! {
        #[test]
        fn windows_are_hashed_in_order(tokens in prop::collection::vec(0..4u64, 0..30), k in 1..8usize) {
            let n = tokens.len();
            let plain = shingles(&tokens, k, false);
            let wrapped = shingles(&tokens, k, true);
            prop_assert_eq!(plain.len(), if n == 0 { 0 } else if n < k { 1 } else { n - k + 1 });
            prop_assert_eq!(wrapped.len(), if n < k { plain.len() } else { n });
            prop_assert_eq!(&wrapped[..plain.len()], &plain[..]);
            // Shingles are equal exactly if their windows are.
            let doubled: Vec<u64> = tokens.iter().chain(&tokens).copied().collect();
            if n >= k {
                for i in 0..n {
                    for j in 0..n {
                        prop_assert_eq!(wrapped[i] == wrapped[j], doubled[i..i + k] == doubled[j..j + k]);
                    }
                }
            }
        }
    }
}
