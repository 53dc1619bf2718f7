use super::*;
use crate::error::Error;
use crate::tests::edited_texts::{edited, swapped, table};
use proptest::prelude::*;

fn check(x: &[char], y: &[char], limits: impl IntoIterator<Item = u32>) {
    let limits: Vec<u32> = limits.into_iter().collect();
    check_by(x, y, &limits, false);
    check_by(x, y, &limits, true);
}

fn check_by(x: &[char], y: &[char], limits: &[u32], swaps: bool) {
    let expected = table(x, y, swaps);
    let stop = Stop::default();
    let around = [0, expected.saturating_sub(1), expected, expected + 1, u32::MAX];
    let limits: Vec<u32> = limits.iter().copied().chain(around).collect();
    for (x, y) in [(x, y), (y, x)] {
        let text: String = y.iter().collect();
        let mut pattern = Pattern::default();
        pattern.set(&x.iter().collect::<String>(), swaps).unwrap();
        for &most in &limits {
            let wanted = (expected <= most).then_some(expected);
            for guess in [0, expected / 2, expected, u32::MAX >> 1] {
                let found = pattern.distance(&text, y.len() as u32, most, guess, &stop).unwrap();
                assert_eq!(found, wanted, "at most {most}");
            }
            // Checks the band itself, without a narrower one before it.
            let most = (most as usize).min(x.len().max(y.len()));
            if !x.is_empty() && !y.is_empty() && x.len().abs_diff(y.len()) <= most {
                let whole = Inner { rows: 0..x.len(), columns: 0..y.len() };
                let found = pattern.within_band(y.iter().map(|&c| c.into()), &whole, most, &stop).unwrap();
                assert_eq!(found, wanted.filter(|&d| d as usize <= most).map(|d| d as usize), "{most}");
            }
        }
    }
}

proptest! {
    #![proptest_config(crate::cases::cases(400))]

    #[test]
    fn equals_the_table((x, y) in edited(400, 40), limits in prop::collection::vec(0..300u32, 4)) {
        check(&x, &y, limits);
    }

    #[test]
    fn equals_the_table_for_unrelated_texts(
        x in prop::collection::vec(prop::char::range('a', 'c'), 0..300),
        y in prop::collection::vec(prop::char::range('a', 'c'), 0..300),
        limits in prop::collection::vec(0..300u32, 4),
    ) {
        check(&x, &y, limits);
    }
}

proptest! {
    #![proptest_config(crate::cases::cases(2000))]

    /// Swaps across the edges of words and of the band, in texts of two letters and of many.
    #[test]
    fn equals_the_table_with_swaps(
        (x, y) in swapped(400),
        limits in prop::collection::vec(0..60u32, 4),
    ) {
        check_by(&x, &y, &limits, true);
    }
}

fn distance(x: &str, y: &str) -> u32 {
    distance_by(x, y, false)
}

fn distance_by(x: &str, y: &str, swaps: bool) -> u32 {
    let mut pattern = Pattern::default();
    pattern.set(x, swaps).unwrap();
    let characters = y.chars().count() as u32;
    pattern.distance(y, characters, u32::MAX, 0, &Stop::default()).unwrap().unwrap()
}

#[test]
fn small_texts() {
    let known =
        [("kitten", "sitting", 3), ("", "", 0), ("", "abc", 3), ("aaac", "aabc", 1), ("é字", "e字字", 2)];
    for (x, y, expected) in known {
        assert_eq!((distance(x, y), distance(y, x)), (expected, expected));
    }
    // No substring is edited twice: the unrestricted distance of ca and abc is 2.
    for (x, y, expected) in [("Brain", "Brian", 1), ("ca", "abc", 3), ("ab", "ba", 1), ("abcd", "badc", 2)] {
        assert_eq!([distance_by(x, y, true), distance_by(y, x, true)], [expected; 2]);
    }
}

#[test]
fn edges_of_words_and_pages() {
    let letters =
        |n: u32, of: u32| -> Vec<char> { (0..n).map(|i| char::from_u32(97 + i * i % of).unwrap()).collect() };
    for n in [1, 2, 63, 64, 65, 127, 128, 129, 192, 200] {
        let (x, y) = (letters(n, 7), letters(n, 5));
        check(&x, &y, 0..n);
        check(&x, &y[n as usize / 3..], 0..n);
        // These symbols share one slot of the hash table.
        let z: Vec<char> = (0..n).map(|i| char::from_u32((i % 16) << 14).unwrap_or('z')).collect();
        check(&z, &x, [n / 2]);
    }
    for n in [1023, 1024, 1025, 2500] {
        let mut y = letters(n, 7);
        y.drain(500..530);
        y.splice(900..900, "inserted".chars());
        check(&letters(n, 7), &y, [20, 38, 600]);
    }
}

#[test]
fn answers_to_stop() {
    let text = |seed: u64| -> String {
        (0..100_000).map(|n| char::from(b'a' + (crate::hash::mix(seed + n) % 26) as u8)).collect()
    };
    let (x, y) = (text(0), text(1 << 32));
    let stop = Stop::default();
    stop.request();
    let mut pattern = Pattern::default();
    pattern.set(&x, false).unwrap();
    assert_eq!(pattern.distance(&y, 100_000, u32::MAX, 0, &stop), Err(Error::Stopped));
    assert_eq!(pattern.distance(&y[..99_000], 99_000, 20_000, 0, &Stop::default()), Ok(None));
}
