//! Tests whether a text has a run in common with the text of a query. Only this test decides, with
//! or without an index.

use super::query::RunQuery;
use super::stretches::Stretches;
use super::windows::TextWindows;
use crate::error::{Error, Result};
use crate::executor::Stop;
use crate::features::Tokenizer;
use crate::features::runs::tokens::{Rolling, each_token, read_tokens};
use crate::features::tokens::{Document, Scratch};
use crate::memory;
use crate::text::packed::{StoredText, UnpackedBeginning};

const DOING: &str = "comparing the runs of texts";
/// The number of bytes of a text, and of its tokens, for which memory is kept for the next text.
const KEPT: usize = 1 << 20;

/// Compares texts with a query.
#[derive(Debug)]
pub struct RunVerifier {
    tokenizer: Tokenizer,
    query: TextWindows,
    /// The part of a text that was unpacked.
    beginning: UnpackedBeginning,
    /// The words of this part.
    words: Stretches,
    /// A text that is cut as a whole, and its tokens.
    whole: (String, Vec<u64>),
    scratch: Scratch,
}

impl RunVerifier {
    /// Prepares the comparison. O(bytes + tokens · log tokens).
    pub fn new(query: &RunQuery<'_>, stop: &Stop) -> Result<Self> {
        let tokenizer = query.origin.tokenizer();
        let length = query.min_run as usize;
        let (mut tokens, mut scratch) = (Vec::new(), Scratch::default());
        // No token has less than a byte.
        if query.text.len() >= length {
            read_tokens(query.text, tokenizer, &mut scratch, &mut tokens, stop)?;
        }
        Ok(Self {
            tokenizer,
            query: TextWindows::new(tokens, length, stop)?,
            beginning: UnpackedBeginning::default(),
            words: Stretches::new(length),
            whole: Default::default(),
            scratch,
        })
    }

    /// Reports whether a text has a run of the query's least length in common with the query. Reads
    /// the text up to about the end of the first such run. O(bytes).
    pub fn shares(&mut self, row: &StoredText<'_>, stop: &Stop) -> Result<bool> {
        if self.query.is_empty() || row.bytes() < self.query.length {
            return Ok(false);
        }
        let in_pieces = self.query.length >= Stretches::LEAST && row.bytes() <= Stretches::MOST;
        if in_pieces && self.tokenizer == Tokenizer::Words {
            self.shares_words(row, stop)
        } else {
            self.shares_tokens(row, stop)
        }
    }

    /// Reads words piece by piece. A piece ends with white space, after which the text is cut as it
    /// would be if it began there.
    fn shares_words(&mut self, row: &StoredText<'_>, stop: &Stop) -> Result<bool> {
        /// The number of bytes of the first piece.
        const FIRST: usize = 1 << 10;
        let Self { query, beginning, words, .. } = self;
        beginning.restart();
        words.restart();
        let (mut taken, mut until) = (0, FIRST);
        loop {
            let piece = beginning.piece(row, taken, until, stop)?;
            let is_last = taken + piece.len() == row.bytes();
            let end = match piece.bytes().rposition(|byte| matches!(byte, b' ' | b'\n')) {
                Some(space) if !is_last => space + 1,
                None if !is_last => 0,
                _ => piece.len(),
            };
            if words.go_on(&piece[..end], query, stop)? {
                return Ok(true);
            }
            if is_last {
                return Ok(false);
            }
            taken += end;
            // Pieces grow with the text, so that a text without white space is not read too often.
            until += until / 2;
        }
    }

    /// Reads tokens of any kind. Each costs a few additions and multiplications: the hash of the
    /// window rolls on, and a bit says whether a window of the query may have it.
    fn shares_tokens(&mut self, row: &StoredText<'_>, stop: &Stop) -> Result<bool> {
        let Self { tokenizer, query, whole: (text, tokens), scratch, .. } = self;
        row.unpack(text, stop)?;
        let document = Document::Text(std::mem::take(text));
        tokens.clear();
        let (mut rolling, mut found) = (Rolling::new(query.length), false);
        let read = each_token(&document, *tokenizer, scratch, stop, |token| {
            memory::push(tokens, token, DOING)?;
            let hash = rolling.roll(tokens);
            found = query.have_last(tokens, hash, stop)?;
            // An error ends the reading.
            if found { Err(Error::Stopped) } else { Ok(()) }
        });
        // Little is kept for the next text.
        if let Document::Text(used) = document
            && used.len() <= KEPT
        {
            *text = used;
        }
        if tokens.len() > KEPT {
            memory::clear(tokens);
        }
        if found { Ok(true) } else { read.map(|()| false) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::features::origin::Origin;
    use crate::search::runs::signature::{Accepted, common_sides, of_anchor};
    use crate::text::packed::{PackedText, Packing};
    use proptest::prelude::*;
    use std::collections::HashSet;

    fn shares(query: &str, min_run: u32, rows: &[&str]) -> Vec<bool> {
        let query = RunQuery { origin: Origin::Words, min_run, normalization: None, text: query };
        let mut judge = RunVerifier::new(&query, &Stop::default()).unwrap();
        rows.iter().map(|row| judge.shares(&StoredText::Plain(row), &Stop::default()).unwrap()).collect()
    }

    fn words() -> impl Strategy<Value = Vec<String>> {
        prop_oneof![
            prop::collection::vec("[ab]", 0..30),
            prop::collection::vec("[a-d]{1,2}", 0..60),
            (0..30_usize).prop_map(|n| vec!["a".to_owned(); n]),
        ]
    }

    proptest! {
        #![proptest_config(crate::cases::cases(512))]

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
                    let query = RunQuery { origin: Origin::Words, min_run, normalization: None, text };
                    query.anchors(least, &Stop::default()).unwrap()
                };
                let (query, row) = (of(&text), of(&other));
                let followed = query.cheapest(&costs).unwrap().unwrap();
                let meets = |&n: &usize| row.anchors.iter().any(|a| a.hash == query.anchors[n].hash);
                prop_assert!(followed.iter().any(meets));
                // It has all anchors of some run, with the sides that belong to it.
                let has = |n: usize, accepted: Accepted| row.signatures.iter().any(|&signature| {
                    of_anchor(signature) == of_anchor(query.signatures[n])
                        && accepted.has(common_sides(signature, query.signatures[n]))
                });
                let has_all = query.runs().unwrap().iter().any(|runs| {
                    runs.anchors.clone().all(|n| has(n, query.accepted(runs, n)))
                });
                prop_assert!(has_all);
            }
        }
    }

    /// Packs a text by an item for each byte.
    fn packed(text: &str) -> Vec<u8> {
        text.as_bytes().chunks(8).flat_map(|bytes| [&[0], bytes].concat()).collect()
    }

    /// Words with what is between them: many more than a piece has.
    fn long_text() -> impl Strategy<Value = Vec<(String, String)>> {
        let word = prop_oneof!["[ab]", "[a-f]", "[a-z]{1,9}", "[a-c漢字]", "é{1,40}"];
        let between = prop_oneof![8 => " ", 1 => "\n", 1 => "[-,.—_]", 1 => " \u{301}"];
        let some = prop::collection::vec((word, between), 1..40);
        (prop::collection::vec(some, 1..9), prop::collection::vec(0..9_usize, 0..60))
            .prop_map(|(parts, order)| order.iter().flat_map(|&n| parts[n % parts.len()].clone()).collect())
    }

    fn joined(words: &[(String, String)]) -> String {
        words.iter().map(|(word, between)| format!("{word}{between}")).collect()
    }

    proptest! {
        #[test]
        fn long_texts_in_pieces(query in long_text(), row in long_text(), from in 0..100_usize, min_run in 1..40_u32) {
            let length = min_run as usize;
            let query = joined(&query[from.min(query.len())..]);
            let of = |text: &str| crate::text::words::words(text);
            let row = joined(&row);
            let (left, right) = (of(&query), of(&row));
            let windows: HashSet<_> = left.windows(length).collect();
            let expected = |row: &[String]| row.windows(length).any(|window| windows.contains(window));
            let asked = RunQuery { origin: Origin::Words, min_run, normalization: None, text: &query };
            let stop = Stop::default();
            let mut judge = RunVerifier::new(&asked, &stop).unwrap();
            let bytes = packed(&row);
            let stored = StoredText::Packed(PackedText { bytes: &bytes, len: row.len(), packing: Packing::Pglz });
            for (text, expected) in [
                (StoredText::Plain(&row), expected(&right)),
                (stored, expected(&right)),
                (StoredText::Plain("a b"), expected(&of("a b"))),
                (stored, expected(&right)),
            ] {
                prop_assert_eq!(judge.shares(&text, &stop), Ok(expected));
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
