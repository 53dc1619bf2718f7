//! Tests whether a text has a run in common with the text of a query. Only this test decides, with
//! or without an index.

use super::query::RunQuery;
use crate::error::Result;
use crate::executor::Stop;
use crate::features::Tokenizer;
use crate::features::runs::contents::Contents;
use crate::features::runs::tokens::read_tokens;
use crate::features::tokens::{Document, Scratch};
use crate::memory;

const DOING: &str = "comparing the runs of texts";
/// The number of windows after which a request to stop is looked for.
const CHECK_EVERY: usize = 1 << 14;

/// Compares texts with a query.
#[derive(Debug)]
pub struct RunVerifier {
    tokenizer: Tokenizer,
    /// The contents of the query's windows, in ascending order, each of them once.
    windows: Vec<u128>,
    /// The contents of the windows of the text that is compared. None if the query has no window.
    row: Option<Contents>,
    scratch: Scratch,
    tokens: Vec<u64>,
}

impl RunVerifier {
    /// Prepares the comparison. O(bytes + tokens · log tokens).
    pub fn new(query: &RunQuery<'_>, stop: &Stop) -> Result<Self> {
        let tokenizer = query.origin.tokenizer();
        let (mut scratch, mut tokens) = (Scratch::default(), Vec::new());
        read_tokens(&query.document()?, tokenizer, &mut scratch, &mut tokens, stop)?;
        let length = query.min_run as usize;
        let mut judge = Self { tokenizer, windows: Vec::new(), row: None, scratch, tokens };
        if judge.tokens.len() < length {
            return Ok(judge);
        }
        let mut contents = Contents::new(length);
        contents.set(&judge.tokens, stop)?;
        memory::reserve(&mut judge.windows, contents.windows(), DOING)?;
        for first in 0..contents.windows() {
            if first % CHECK_EVERY == 0 {
                stop.check()?;
            }
            judge.windows.push(contents.of(first));
        }
        judge.windows.sort_unstable();
        judge.windows.dedup();
        judge.row = Some(contents);
        Ok(judge)
    }

    /// Returns the approximate number of bytes on the heap.
    pub fn bytes(&self) -> usize {
        let row = self.row.as_ref().map_or(0, Contents::bytes);
        memory::bytes(&self.windows) + memory::bytes(&self.tokens) + row
    }

    /// Reports whether a text has a run of the query's least length in common with the query.
    /// O(bytes + tokens · log tokens of the query).
    pub fn shares(&mut self, row: &Document, stop: &Stop) -> Result<bool> {
        let Self { tokenizer, windows, row: contents, scratch, tokens } = self;
        let Some(contents) = contents else { return Ok(false) };
        read_tokens(row, *tokenizer, scratch, tokens, stop)?;
        contents.set(tokens, stop)?;
        for first in 0..contents.windows() {
            if first % CHECK_EVERY == 0 {
                stop.check()?;
            }
            if windows.binary_search(&contents.of(first)).is_ok() {
                return Ok(true);
            }
        }
        Ok(false)
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
