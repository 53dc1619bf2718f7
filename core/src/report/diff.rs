//! The common parts and the differences of two texts, word by word.
//!
//! Words are compared as in all methods ([`crate::text::words`]). For common words, differences in
//! case and in the text between the words are shown.

use std::ops::Range;

use super::align::Alignment;
use super::numbers::{CountOf, Number};
use super::passages::{PassageWord, SHORTEST, WordRun, passages, words};
use crate::error::Result;
use crate::executor::Stop;
use crate::memory;

const DOING: &str = "comparing texts";

/// Two texts, cut into words, and the passages that they share.
#[derive(Debug)]
pub struct Compared<'a> {
    /// The texts.
    pub(super) texts: [&'a str; 2],
    /// The words of each text.
    pub words: [Vec<PassageWord>; 2],
    /// The passages in the order of the right text.
    pub passages: Vec<WordRun>,
}

impl<'a> Compared<'a> {
    /// Compares two texts. A passage has at least [`SHORTEST`] words, or as many words as the
    /// shorter text if this has fewer.
    pub fn new(left: &'a str, right: &'a str, stop: &Stop) -> Result<Self> {
        let words = [words(left, stop)?, words(right, stop)?];
        let least = SHORTEST.min(words[0].len()).min(words[1].len());
        let passages = passages(&words[0], &words[1], least, stop)?;
        Ok(Self { texts: [left, right], words, passages })
    }

    /// Returns the words in passages as a share of the shorter text's words; 0 if a text has none.
    pub fn share(&self) -> f64 {
        let shared: usize = self.passages.iter().map(|passage| passage.left.len()).sum();
        let shorter = self.words[0].len().min(self.words[1].len());
        shared as f64 / shorter.max(1) as f64
    }

    /// Returns the text between word `at` of the text `side` and the word before it. If `at` is the
    /// number of words, it returns the text after the last word.
    pub(super) fn gap(&self, side: usize, at: usize) -> &'a str {
        let words = &self.words[side];
        let from = at.checked_sub(1).map_or(0, |before| words[before].bytes.end);
        &self.texts[side][from..words.get(at).map_or(self.texts[side].len(), |word| word.bytes.start)]
    }

    /// Reports whether the text before a word of the left text and the text before a word of the
    /// right text are the same except for white space.
    fn same_gap(&self, places: [usize; 2]) -> bool {
        let [a, b] = [0, 1].map(|side| self.gap(side, places[side]).split_whitespace());
        a.eq(b)
    }

    pub(super) fn word(&self, side: usize, at: usize) -> &'a str {
        &self.texts[side][self.words[side][at].bytes.clone()]
    }
}

/// The state of a word in relation to the other text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum WordState {
    /// The word is in the other text, too.
    Common,
    /// The word is in the other text, with other upper-case and lower-case letters.
    Edited,
    /// The word is part of a passage that is elsewhere in the other text.
    Moved,
    /// The word is not in the other text.
    Alone,
}

/// The number of a passage that means "no passage".
pub(super) const NONE: u32 = u32::MAX;

/// The differences of two texts.
#[derive(Debug)]
pub struct Diff<'a> {
    /// The texts.
    pub(super) compared: &'a Compared<'a>,
    /// The common words, ascending in both texts.
    pub(super) runs: Vec<WordRun>,
    /// Whether some words were not compared.
    passed_over: bool,
    /// Each text in relation to the other one.
    pub(super) sides: [DiffSide; 2],
}

/// One text in relation to the other one.
#[derive(Debug)]
pub(super) struct DiffSide {
    /// The state of each word.
    pub(super) states: Vec<WordState>,
    /// The passage of each word; [`NONE`] if it is in none.
    pub(super) passages: Vec<u32>,
    /// For each word, whether the text before it differs. The last entry is for the text after the
    /// last word.
    pub(super) gaps: Vec<bool>,
    /// For each word, whether the other text has words before it that this text lacks. The last
    /// entry is for the end of the text.
    pub(super) lacks: Vec<bool>,
}

impl<'a> Diff<'a> {
    /// Finds the differences. O(words · log words), plus tables of bounded size for the words
    /// between passages.
    pub fn new(compared: &'a Compared<'a>, stop: &Stop) -> Result<Self> {
        let words = compared.words.each_ref().map(Vec::as_slice);
        let Alignment { runs, passed_over, .. } =
            Alignment::new(words, &compared.passages, stop)?.without_lone_words();
        let side = |number: usize| -> Result<DiffSide> {
            let words = compared.words[number].len();
            let mut side = DiffSide {
                states: memory::filled(WordState::Alone, words, DOING)?,
                passages: memory::filled(NONE, words, DOING)?,
                gaps: memory::filled(false, words + 1, DOING)?,
                lacks: memory::filled(false, words + 1, DOING)?,
            };
            for (at, passage) in (0..).zip(&compared.passages) {
                let range = side_range(passage, number).clone();
                side.states[range.clone()].fill(WordState::Moved);
                side.passages[range].fill(at);
            }
            Ok(side)
        };
        let mut diff = Self { compared, sides: [side(0)?, side(1)?], runs, passed_over };
        diff.mark(stop)?;
        Ok(diff)
    }

    /// Marks the common words, and the text between them, as equal or as written differently.
    fn mark(&mut self, stop: &Stop) -> Result<()> {
        let compared = self.compared;
        let lengths = [0, 1].map(|side| compared.words[side].len());
        let mut before = [0, 0];
        let end = WordRun { left: lengths[0]..lengths[0], right: lengths[1]..lengths[1] };
        for run in self.runs.iter().chain([&end]) {
            stop.check()?;
            let starts = [run.left.start, run.right.start];
            for side in [0, 1] {
                let other = 1 - side;
                if starts[side] == before[side] && starts[other] > before[other] {
                    self.sides[side].lacks[starts[side]] = true;
                }
            }
            for n in 0..run.left.len() {
                let places = starts.map(|start| start + n);
                let edited = compared.word(0, places[0]) != compared.word(1, places[1]);
                let state = if edited { WordState::Edited } else { WordState::Common };
                let gap = (n > 0 || places == [0, 0]) && !compared.same_gap(places);
                for side in [0, 1] {
                    self.sides[side].states[places[side]] = state;
                    self.sides[side].gaps[places[side]] = gap;
                }
            }
            before = [run.left.end, run.right.end];
        }
        if self.runs.last().is_some_and(|run| [run.left.end, run.right.end] == lengths) {
            let gap = !compared.same_gap(lengths);
            (self.sides[0].gaps[lengths[0]], self.sides[1].gaps[lengths[1]]) = (gap, gap);
        }
        Ok(())
    }

    /// Describes the differences in words.
    pub fn summary(&self) -> String {
        let count = |side: usize, state: WordState| {
            self.sides[side].states.iter().filter(|&&other| other == state).count() as u64
        };
        let [a, b] = [count(0, WordState::Alone), count(1, WordState::Alone)];
        let moved = count(0, WordState::Moved).max(count(1, WordState::Moved));
        let gaps = self.sides[0].gaps.iter().filter(|&&differs| differs).count() as u64;
        let written = count(0, WordState::Edited) + gaps;
        let [left, right] = self.compared.texts;
        if left == right {
            return "the texts are the same".to_owned();
        }
        let mut said = Vec::new();
        if a + b > 0 {
            let at_most = if self.passed_over { "at most " } else { "" };
            said.push(format!(
                "{at_most}{} only on the left, {} only on the right",
                CountOf(a, "word"),
                Number(b)
            ));
        }
        if moved > 0 {
            said.push(format!("{} moved", CountOf(moved, "word")));
        }
        if written > 0 {
            said.push(format!("case or punctuation differs at {}", CountOf(written, "place")));
        }
        if said.is_empty() { "only white space differs".to_owned() } else { said.join("; ") }
    }
}

/// Returns the words of a run in the text `side` (0 or 1).
pub(super) fn side_range(run: &WordRun, side: usize) -> &Range<usize> {
    if side == 0 { &run.left } else { &run.right }
}
