//! Tests whether a text has a run in common with the text of a query. Only this test decides, with
//! or without an index.

use super::query::RunQuery;
use crate::error::{Error, Result};
use crate::executor::Stop;
use crate::features::Tokenizer;
use crate::features::runs::contents::Contents;
use crate::features::runs::rolling::Rolling;
use crate::features::runs::tokens::{each_token, read_tokens};
use crate::features::tokens::{Document, Scratch};
use crate::memory;

const DOING: &str = "comparing the runs of texts";
/// The number of windows after which a request to stop is looked for.
const CHECK_EVERY: usize = 1 << 14;

/// Compares texts with a query.
///
/// Each window of a text costs a few additions and multiplications: its hash rolls on by a token,
/// and a bit says whether a window of the query may have it. Only then the tokens are compared.
#[derive(Debug)]
pub struct RunVerifier {
    tokenizer: Tokenizer,
    /// The number of tokens of a window.
    length: usize,
    /// The tokens of the query.
    query: Vec<u64>,
    /// The hashes of the query's different windows, in ascending order, each with the number of its
    /// first token. Windows of the same hash are different.
    windows: Vec<(u64, u32)>,
    /// A bit for the upper bits of each of these hashes.
    bits: Vec<u64>,
    /// The tokens of the text that is compared.
    row: Vec<u64>,
    scratch: Scratch,
}

impl RunVerifier {
    /// Prepares the comparison. O(bytes + tokens · log tokens).
    pub fn new(query: &RunQuery<'_>, stop: &Stop) -> Result<Self> {
        let tokenizer = query.origin.tokenizer();
        let length = query.min_run as usize;
        let (windows, bits, row, scratch) = (Vec::new(), Vec::new(), Vec::new(), Scratch::default());
        let mut judge = Self { tokenizer, length, query: Vec::new(), windows, bits, row, scratch };
        // No token has less than a byte.
        if query.text.len() < length {
            return Ok(judge);
        }
        read_tokens(&query.document()?, tokenizer, &mut judge.scratch, &mut judge.query, stop)?;
        if judge.query.len() >= length {
            judge.list(stop)?;
        }
        Ok(judge)
    }

    /// Lists the windows of the query.
    fn list(&mut self, stop: &Stop) -> Result<()> {
        let mut contents = Contents::new(self.length);
        contents.set(&self.query, stop)?;
        let mut firsts: Vec<(u128, u32)> = Vec::new();
        memory::reserve(&mut firsts, contents.windows(), DOING)?;
        for first in 0..contents.windows() {
            if first % CHECK_EVERY == 0 {
                stop.check()?;
            }
            firsts.push((contents.of(first), first as u32));
        }
        drop(contents);
        firsts.sort_unstable();
        firsts.dedup_by_key(|(content, _)| *content);
        firsts.sort_unstable_by_key(|&(_, first)| first);
        memory::reserve(&mut self.windows, firsts.len(), DOING)?;
        let mut rolling = Rolling::new(self.length);
        let mut wanted = firsts.iter().map(|&(_, first)| first).peekable();
        for n in 0..self.query.len() {
            if n % CHECK_EVERY == 0 {
                stop.check()?;
            }
            let hash = rolling.roll(&self.query[..=n]);
            if let Some(first) = wanted.next_if(|&first| first as usize + self.length == n + 1) {
                self.windows.push((hash, first));
            }
        }
        self.windows.sort_unstable();
        // With 64 bits for each window, one of about 64 other hashes is looked up.
        let words = self.windows.len().next_power_of_two().min(1 << 20);
        self.bits = memory::filled(0, words, DOING)?;
        for &(hash, _) in &self.windows {
            let (word, bit) = place(hash, words);
            self.bits[word] |= bit;
        }
        Ok(())
    }

    /// Returns the approximate number of bytes on the heap.
    pub fn bytes(&self) -> usize {
        memory::bytes(&self.windows)
            + memory::bytes(&self.bits)
            + memory::bytes(&self.query)
            + memory::bytes(&self.row)
    }

    /// Reports whether a text has a run of the query's least length in common with the query. Reads
    /// the text up to the end of the first such run. O(bytes).
    pub fn shares(&mut self, row: &Document, stop: &Stop) -> Result<bool> {
        let Self { tokenizer, length, query, windows, bits, row: tokens, scratch } = self;
        if windows.is_empty() {
            return Ok(false);
        }
        tokens.clear();
        let (mut rolling, mut found) = (Rolling::new(*length), false);
        let read = each_token(row, *tokenizer, scratch, stop, |token| {
            memory::push(tokens, token, DOING)?;
            let hash = rolling.roll(tokens);
            let (word, bit) = place(hash, bits.len());
            if bits[word] & bit == 0 || tokens.len() < *length {
                return Ok(());
            }
            let window = &tokens[tokens.len() - *length..];
            let from = windows.partition_point(|&(other, _)| other < hash);
            for &(_, first) in windows[from..].iter().take_while(|&&(other, _)| other == hash) {
                stop.check()?;
                if query[first as usize..][..*length] == *window {
                    found = true;
                    // Ends the reading.
                    return Err(Error::Stopped);
                }
            }
            Ok(())
        });
        if found { Ok(true) } else { read.map(|()| false) }
    }
}

/// Returns the bit of a hash: the number of its word among a power of two, and its place there.
#[inline]
fn place(hash: u64, words: usize) -> (usize, u64) {
    ((hash >> 6) as usize & (words - 1), 1 << (hash & 63))
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
        /// share one of the anchors that a search follows, whatever the lists cost.
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
                prop_assert!(query.ranges().unwrap().iter().any(|range| range.clone().all(|n| meets(&n))));
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
        assert_eq!(shares("a b c", i32::MAX.unsigned_abs(), &["a b c"]), [false]);
    }

    #[test]
    fn one_word_very_often_takes_no_time() {
        let many = "a ".repeat(200_000);
        assert_eq!(shares(&many, 100_000, &[&many, "a a b"]), [true, false]);
    }
}
