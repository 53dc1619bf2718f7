//! Tests whether a text has a run in common with the text of a query. Only this test decides, with
//! or without an index.

use super::query::{RunQuery, features_of};
use crate::error::{Error, Result};
use crate::executor::Stop;
use crate::features::FeatureSpec;
use crate::features::tokens::{Document, Scratch, Token, for_each_token};
use crate::hash;
use crate::memory;

const DOING: &str = "comparing the runs of texts";
/// The number of tokens after which a request to stop is looked for.
const CHECK_EVERY: usize = 1 << 12;

/// The distinct tokens of the query. The number of a token is its place in the order of hashes.
#[derive(Debug, Default)]
struct Words {
    /// The bytes of the tokens, one after the other.
    bytes: Vec<u8>,
    /// Each token's hash, and where its bytes begin and end. In ascending order.
    places: Vec<(u64, usize, usize)>,
}

impl Words {
    fn add(&mut self, token: &[u8]) -> Result<()> {
        let start = self.bytes.len();
        memory::extend(&mut self.bytes, token, DOING)?;
        memory::push(&mut self.places, (hash::hash_bytes(token), start, self.bytes.len()), DOING)
    }

    /// Puts the tokens in order, each of them once.
    fn close(&mut self) {
        let Self { bytes, places } = self;
        places.sort_unstable_by(|a, b| (a.0, &bytes[a.1..a.2]).cmp(&(b.0, &bytes[b.1..b.2])));
        places.dedup_by(|a, b| (a.0, &bytes[a.1..a.2]) == (b.0, &bytes[b.1..b.2]));
    }

    /// Returns the number of a token, counted from 1, or None if the query does not have the token.
    fn number(&self, token: &[u8]) -> Option<u32> {
        let hash = hash::hash_bytes(token);
        let first = self.places.partition_point(|place| place.0 < hash);
        let equal = self.places[first..].iter().take_while(|place| place.0 == hash);
        let found = equal.take_while(|place| self.bytes[place.1..place.2] != *token).count();
        let &(its, start, end) = self.places.get(first + found)?;
        (its == hash && self.bytes[start..end] == *token).then_some((first + found) as u32 + 1)
    }

    fn heap(&self) -> usize {
        memory::bytes(&self.bytes) + memory::bytes(&self.places)
    }
}

/// The hash of the last so many numbers: two polynomials modulo a prime, each with its own base.
#[derive(Debug, Clone, Copy)]
struct Rolling {
    length: usize,
    /// The weights of the number that leaves the window.
    weights: [u64; 2],
    values: [u64; 2],
}

impl Rolling {
    const PRIME: u64 = (1 << 61) - 1;
    const BASES: [u64; 2] = [0x0a76_3d2c_91b8_5e4f, 0x1357_9bdf_0246_8ace];

    fn times(a: u64, b: u64) -> u64 {
        // Both are below the prime, so the remainder fits into 64 bits.
        (u128::from(a) * u128::from(b) % u128::from(Self::PRIME)) as u64
    }

    fn new(length: usize) -> Self {
        let weights = Self::BASES.map(|base| {
            let (mut weight, mut power, mut rest) = (1, base, length - 1);
            while rest > 0 {
                if rest % 2 == 1 {
                    weight = Self::times(weight, power);
                }
                power = Self::times(power, power);
                rest /= 2;
            }
            weight
        });
        Self { length, weights, values: [0; 2] }
    }

    /// Adds a number and removes the number that leaves the window, which is 0 if there is none.
    fn roll(&mut self, number: u32, leaving: u32) {
        for n in 0..2 {
            let gone = Self::times(self.weights[n], leaving.into());
            let rest = (self.values[n] + Self::PRIME - gone) % Self::PRIME;
            self.values[n] = (Self::times(rest, Self::BASES[n]) + u64::from(number)) % Self::PRIME;
        }
    }

    fn hash(&self) -> u128 {
        u128::from(self.values[0]) << 64 | u128::from(self.values[1])
    }
}

/// Calls `each` with the start and the hash of every window of `length` numbers, until it returns
/// true. Reports whether it did. A window with a 0 is left out.
fn any_window(
    numbers: &[u32],
    length: usize,
    stop: &Stop,
    mut each: impl FnMut(usize, u128) -> Result<bool>,
) -> Result<bool> {
    let mut rolling = Rolling::new(length);
    let mut filled = 0;
    for (n, &number) in numbers.iter().enumerate() {
        if n % CHECK_EVERY == 0 {
            stop.check()?;
        }
        if number == 0 {
            (rolling.values, filled) = ([0; 2], 0);
            continue;
        }
        let leaving = if filled == rolling.length { numbers[n - length] } else { 0 };
        rolling.roll(number, leaving);
        filled = (filled + 1).min(length);
        if filled == length && each(n + 1 - length, rolling.hash())? {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Compares texts with a query.
#[derive(Debug)]
pub struct RunVerifier {
    features: FeatureSpec,
    length: usize,
    words: Words,
    /// The numbers of the query's tokens.
    query: Vec<u32>,
    /// The hash of each different window of the query and the place of one of them, in order.
    windows: Vec<(u128, usize)>,
    scratch: Scratch,
    row: Vec<u32>,
}

impl RunVerifier {
    /// Prepares the comparison. O(bytes + tokens · log tokens).
    pub fn new(query: &RunQuery<'_>, stop: &Stop) -> Result<Self> {
        let unlike = || Error::Malformed { what: super::query::NAME, why: "it is not of a text".into() };
        let features = features_of(query.origin).ok_or_else(unlike)?;
        let document = query.document()?;
        let mut judge = Self {
            features,
            length: query.min_run as usize,
            words: Words::default(),
            query: Vec::new(),
            windows: Vec::new(),
            scratch: Scratch::default(),
            row: Vec::new(),
        };
        let Self { words, scratch, .. } = &mut judge;
        for_each_token(&document, &features, scratch, stop, |token| words.add(bytes_of(token)))?;
        if judge.words.places.len() < judge.length {
            return Ok(judge);
        }
        judge.words.close();
        judge.query = judge.numbers(&document, Vec::new(), stop)?;
        let windows = &mut judge.windows;
        any_window(&judge.query, judge.length, stop, |place, hash| {
            memory::push(windows, (hash, place), DOING)?;
            Ok(false)
        })?;
        windows.sort_unstable();
        windows.dedup_by_key(|window| window.0);
        Ok(judge)
    }

    /// Returns the numbers of a document's tokens, in `numbers`; 0 is a token that the query does
    /// not have.
    fn numbers(&mut self, document: &Document, mut numbers: Vec<u32>, stop: &Stop) -> Result<Vec<u32>> {
        numbers.clear();
        let Self { features, words, scratch, .. } = self;
        for_each_token(document, features, scratch, stop, |token| {
            memory::push(&mut numbers, words.number(bytes_of(token)).unwrap_or(0), DOING)
        })?;
        Ok(numbers)
    }

    /// Returns the approximate number of bytes on the heap.
    pub fn bytes(&self) -> usize {
        let numbers = memory::bytes(&self.query) + memory::bytes(&self.row);
        self.words.heap() + numbers + memory::bytes(&self.windows)
    }

    /// Reports whether a text has a run of the query's least length in common with the query.
    /// O(bytes · log tokens of the query).
    pub fn shares(&mut self, row: &Document, stop: &Stop) -> Result<bool> {
        /// The most numbers that are kept from one row to the next.
        const KEPT: usize = 1 << 18;
        if self.windows.is_empty() {
            return Ok(false);
        }
        let row_numbers = std::mem::take(&mut self.row);
        let numbers = self.numbers(row, row_numbers, stop)?;
        let Self { query, windows, length, .. } = &*self;
        let found = any_window(&numbers, *length, stop, |place, hash| {
            let Ok(known) = windows.binary_search_by_key(&hash, |window| window.0) else { return Ok(false) };
            let there = windows[known].1;
            // Equal hashes are taken for nothing but a hint, so that the answer is exact.
            Ok(numbers[place..place + length] == query[there..there + length])
        })?;
        if numbers.len() <= KEPT {
            self.row = numbers;
        }
        Ok(found)
    }
}

/// Returns the bytes of a token of a text.
fn bytes_of(token: Token<'_>) -> &[u8] {
    match token {
        Token::Bytes(bytes) => bytes,
        // The tokens of texts that are cut one by one are strings.
        Token::Number(_) => &[],
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::joins::parts::token_set::Origin;
    use proptest::prelude::*;

    fn shares(query: &str, min_run: u32, rows: &[&str]) -> Vec<bool> {
        let query = RunQuery { origin: Origin::Words, min_run, text: query };
        let mut judge = RunVerifier::new(&query, &Stop::default()).unwrap();
        rows.iter().map(|row| judge.shares(&Document::from(*row), &Stop::default()).unwrap()).collect()
    }

    fn words() -> impl Strategy<Value = Vec<String>> {
        prop_oneof![
            prop::collection::vec("[ab]", 0..30),
            prop::collection::vec("[a-d]{1,2}", 0..60),
            (0..30_usize).prop_map(|n| vec!["a".to_owned(); n]),
        ]
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(512))]

        /// Two texts have a run in common if a window of one is a window of the other. They then
        /// share an anchor of those that an index of any shorter windows follows.
        #[test]
        fn a_run_in_common_is_found_and_has_an_anchor_in_common(
            query in words(),
            row in words(),
            min_run in 1..9_u32,
            least in 1..9_u32,
            costs in prop::collection::vec(0..9_u64, 60),
        ) {
            let length = min_run as usize;
            let expected = query.windows(length).any(|window| row.windows(length).any(|other| window == other));
            let (text, other) = (query.join(" "), row.join(", ").to_uppercase());
            prop_assert_eq!(shares(&text, min_run, &[&other, &other]), [expected, expected]);
            if expected && least <= min_run {
                let of = |text: &str| {
                    let query = RunQuery { origin: Origin::Words, min_run, text };
                    query.anchors(least, &Stop::default()).unwrap()
                };
                let (query, row) = (of(&text), of(&other));
                let followed = query.cheapest(&costs).unwrap().unwrap();
                let meets = |&n: &usize| row.anchors.iter().any(|a| a.hash == query.anchors[n].hash);
                prop_assert!(followed.iter().any(meets));
            }
        }
    }

    #[test]
    fn case_and_punctuation_do_not_count_and_ends_do() {
        let rows = ["It was TO BE -- or not!", "to be or", "be or not", "not to be or not to"];
        assert_eq!(shares("To be, or not to be", 4, &rows), [true, false, false, true]);
        assert_eq!(shares("To be, or not to be", 6, &["to be or not to be", rows[3]]), [true, false]);
        assert_eq!(shares("To be, or not to be", 7, &["to be or not to be"]), [false]);
        assert_eq!(shares("", 1, &["", "a"]), [false, false]);
        assert_eq!(shares("a", 1, &["", "b A"]), [false, true]);
    }

    #[test]
    fn one_word_very_often_takes_no_time() {
        let many = "a ".repeat(200_000);
        assert_eq!(shares(&many, 100_000, &[&many, "a a b"]), [true, false]);
    }
}
