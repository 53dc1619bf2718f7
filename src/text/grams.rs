//! q-grams of characters: every window of q characters of the lower-cased text in which a run of
//! white space is one space.
//!
//! A text of 0 < n < q characters gives one gram, all of it, as with shingles.

use super::characters::lower;
use crate::error::Result;
use crate::memory;
use crate::workers::Stop;

/// Space that calls use again and again.
#[derive(Debug, Default)]
pub struct Scratch {
    text: Vec<u8>,
    starts: Vec<usize>,
}

/// Calls `each` with every q-gram of `text` in order; `q` is at least 1. O(bytes) plus what `each` costs.
pub fn for_each_gram(
    text: &str,
    q: usize,
    scratch: &mut Scratch,
    stop: &Stop,
    mut each: impl FnMut(&[u8]) -> Result<()>,
) -> Result<()> {
    const CHECK_EVERY: usize = 1 << 14;
    const DOING: &str = "cutting a text into characters";
    let Scratch { text: clean, starts } = scratch;
    clean.clear();
    starts.clear();
    for (n, word) in text.split_whitespace().enumerate() {
        if n > 0 {
            memory::push(starts, clean.len(), DOING)?;
            memory::push(clean, b' ', DOING)?;
        }
        for (n, c) in word.chars().enumerate() {
            if n % CHECK_EVERY == 0 {
                stop.check()?;
            }
            memory::push(starts, clean.len(), DOING)?;
            memory::extend(clean, lower(c).encode_utf8(&mut [0; 4]).as_bytes(), DOING)?;
        }
    }
    if starts.is_empty() {
        return Ok(());
    }
    memory::push(starts, clean.len(), DOING)?;
    if starts.len() - 1 < q {
        return each(clean);
    }
    for (n, window) in starts.windows(q + 1).enumerate() {
        if n % CHECK_EVERY == 0 {
            stop.check()?;
        }
        each(&clean[window[0]..window[q]])?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn grams(text: &str, q: usize) -> Vec<String> {
        let mut all = Vec::new();
        for_each_gram(text, q, &mut Scratch::default(), &Stop::default(), |gram| {
            all.push(String::from_utf8(gram.to_vec()).expect("whole characters"));
            Ok(())
        })
        .expect("not stopped");
        all
    }

    #[test]
    fn grams_of_small_texts() {
        assert_eq!(grams("", 3), [""; 0]);
        assert_eq!(grams(" \n\t", 3), [""; 0]);
        assert_eq!(grams("Ab", 3), ["ab"]);
        assert_eq!(grams("abc", 3), ["abc"]);
        assert_eq!(grams("  A\n\nbÉ字 ", 3), ["a b", " bé", "bé字"]);
        assert_eq!(grams("aaa", 1), ["a", "a", "a"]);
    }
}
