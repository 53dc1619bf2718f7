//! How two candidates are compared: by their (trustable) longest common subsequence, or by the
//! words of both texts. The latter is the contender *Cosine* of Huang et al., TLCS (CIKM 2008),
//! section 4.1: the same candidates, another measure (docs/design/algorithms.md section 5).
//!
//! It stands on [`crate::verify::tlcs`], and on [`crate::verify::predicate`] for words. Repeated
//! words count, and words are told apart by their hashes. O(words · log words) for a text.

use crate::error::Result;
use crate::executor::Stop;
use crate::features::FeatureSpec;
use crate::features::hash_sets::make_set;
use crate::features::tokens::{Scratch, for_each_token};
use crate::memory;
use crate::verify::overlap::TokenOverlap;
use crate::verify::predicate::Predicate;
use crate::verify::tlcs::{Comparer, Parameters, Thresholds};

const DOING: &str = "comparing the words of two texts";

/// The measure of two texts, and the condition that it must meet.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum TextMeasure {
    /// The longest common subsequence, or its trustable part.
    Subsequence(Parameters, Thresholds),
    /// The sets of words.
    Words(Predicate),
}

/// Compares texts. A left text is prepared once and can be compared with many right texts.
#[derive(Debug)]
pub struct TextComparer {
    measure: TextMeasure,
    subsequence: Comparer,
    /// The words of the left and of the right text.
    words: [Vec<u64>; 2],
    scratch: Scratch,
    /// The number of pairs whose words were compared.
    compared: u64,
}

impl TextComparer {
    /// Fails if parameters are out of their ranges.
    pub fn new(measure: TextMeasure) -> Result<Self> {
        let subsequence = match measure {
            TextMeasure::Subsequence(parameters, _) => Comparer::new(parameters)?,
            TextMeasure::Words(_) => Comparer::default(),
        };
        let (words, scratch) = ([Vec::new(), Vec::new()], Scratch::default());
        Ok(Self { measure, subsequence, words, scratch, compared: 0 })
    }

    /// Returns the number of pairs that were compared, and of pairs that were ruled out before.
    pub fn counts(&self) -> [u64; 2] {
        let steps = self.subsequence.steps();
        [steps.aligned + self.compared, steps.filtered]
    }

    /// Returns the similarity of two texts if they are a pair.
    pub fn compare(&mut self, left: &str, right: &str, stop: &Stop) -> Result<Option<f64>> {
        self.set_left(left, stop)?;
        self.compare_right(right, false, stop)
    }

    /// Prepares to compare a text with others.
    pub fn set_left(&mut self, left: &str, stop: &Stop) -> Result<()> {
        match self.measure {
            TextMeasure::Subsequence(..) => self.subsequence.set_left(left, stop),
            TextMeasure::Words(_) => self.read_words(0, left, stop),
        }
    }

    /// Compares the text of the last [`TextComparer::set_left`] with another one. Returns their
    /// similarity if they are a pair. `right_first` is that of [`Comparer::compare_right`].
    pub fn compare_right(&mut self, right: &str, right_first: bool, stop: &Stop) -> Result<Option<f64>> {
        match self.measure {
            TextMeasure::Subsequence(_, thresholds) => {
                let found = self.subsequence.compare_right(right, right_first, Some(&thresholds), stop)?;
                Ok(found.map(|found| found.resemblance()))
            }
            TextMeasure::Words(predicate) => {
                self.read_words(1, right, stop)?;
                self.compared += 1;
                let TokenOverlap { shared, left, right } =
                    TokenOverlap::of_sets(&self.words[0], &self.words[1]);
                let passes = predicate.passes(shared, left, right);
                Ok(passes.then(|| predicate.similarity(shared, left, right)))
            }
        }
    }

    fn read_words(&mut self, side: usize, text: &str, stop: &Stop) -> Result<()> {
        let Self { words, scratch, .. } = self;
        let words = &mut words[side];
        words.clear();
        for_each_token(text, &FeatureSpec::WORDS, scratch, stop, |token| {
            memory::push(words, token.hash(), DOING)
        })?;
        make_set(words, FeatureSpec::WORDS.multiset, stop)
    }
}
