//! Generated pages of a site: a frame that all of them have, and a content of their own, which
//! every fifth page has nearly from the one before.
#![allow(dead_code, reason = "each test or benchmark uses some of it")]

use neardup_core::hash::mix;

const WORDS_A_SENTENCE: u64 = 12;

/// Pages of about so many words, of which so many in a hundred are the frame, one half before and
/// one behind the content.
pub fn pages(count: u64, words: u64, frame: u64) -> Vec<String> {
    let of_frame = words * frame / 100;
    let before: String = sentences(0..of_frame / 2, mix);
    let behind: String = sentences(of_frame / 2..of_frame, mix);
    (0..count)
        .map(|page| {
            let (of, changed) = if page % 5 == 4 { (page - 1, 1 + page / 5 % 6) } else { (page, 0) };
            let own = words - of_frame;
            let content = sentences(0..own, |n| {
                // Changes are dispersed over the content.
                let is_changed = changed > 0 && n % (own / changed).max(1) == 0;
                mix(((if is_changed { page } else { of }) + 1) << 20 | n)
            });
            format!("{before}{content}{behind}")
        })
        .collect()
}

/// Sentences of words that are numbered.
fn sentences(numbers: std::ops::Range<u64>, word: impl Fn(u64) -> u64) -> String {
    let last = numbers.end.saturating_sub(1);
    let mut text = String::new();
    for n in numbers.clone() {
        let first = (n - numbers.start).is_multiple_of(WORDS_A_SENTENCE);
        let ends = (n - numbers.start) % WORDS_A_SENTENCE == WORDS_A_SENTENCE - 1 || n == last;
        let initial = if first { 'W' } else { 'w' };
        text.push_str(&format!("{initial}{}{}", word(n) % 100_000, if ends { ". " } else { " " }));
    }
    text
}

/// Sets of numbers of which so many are a frame of all; two that follow one another have a Jaccard
/// similarity of at least `threshold`, and less than 0.02 above it, all others less.
pub fn sets_at(threshold: f64, pairs: u64, size: u64, frame: u64) -> Vec<Vec<i64>> {
    let least = (0..=size).find(|&shared| shared as f64 / (2 * size - shared) as f64 >= threshold);
    let shared = least.expect("equal sets are similar");
    let similarity = shared as f64 / (2 * size - shared) as f64;
    assert!(
        similarity < threshold + 0.02
            && shared > frame
            && frame as f64 / ((2 * size - frame) as f64) < threshold
    );
    (0..2 * pairs)
        .map(|row| {
            let number = |n: u64| match n {
                _ if n < frame => mix(n),
                _ if n < shared => mix((row / 2 + 1) << 20 | n),
                _ => mix((row + 1) << 40 | n),
            };
            (0..size).map(|n| (number(n) >> 2) as i64).collect()
        })
        .collect()
}
