//! The measures of sets of words, with near words as shared ones.
//!
//! Two texts need not share a key that few texts have, so what is carried of a document is its
//! text, for joins block by block.

use super::carrier::{Carrier, LeftOut, Meeting, Places, of_text, to_texts};
use super::explain::Explanation;
use super::method::{Method, Update};
use super::pair::TwoTexts;
use super::reading::Reading;
use crate::error::Result;
use crate::executor::Stop;
use crate::features::FeatureSpec;
use crate::features::texts::distinct;
use crate::features::tokens::{Document, Scratch, Token, for_each_token};
use crate::joins::near_words::{NearWordRule, PreparedNearWords, near_word_pairs};
use crate::joins::pairs::Pairs;
use crate::memory;
use crate::text::word_order::join_sorted;
use crate::verify::edit::EditPredicate;
use crate::verify::near_words::{SPACE, WordPairing};
use crate::verify::predicate::Predicate;

/// Compares texts by the number of words that they share, where a word of one text and a near word
/// of the other count as shared, exactly. No word counts for two: the number is the greatest that
/// there is.
///
/// The time depends on the number of texts that have words near rare ones; it is shorter with
/// higher thresholds of both predicates.
///
/// ```
/// use neardup_core::parameters::{EditPredicate, Predicate};
/// use neardup_core::{Corpus, FeatureSpec, Measure, NearWords};
///
/// let predicate = Predicate::new(Measure::Jaccard, 0.5)?;
/// let words = EditPredicate::new(0.8)?.with_swaps(true);
/// let method = NearWords { spec: FeatureSpec::WORDS, predicate, words };
/// let texts = ["Brian Haddock, Port Ellis", "Haddok, Brain (Port Elis)"];
/// let pairs = Corpus::of_texts(&texts).pairs(&method)?;
/// assert_eq!((pairs.len(), pairs[0].similarity), (1, 1.0));
/// # Ok::<(), neardup_core::Error>(())
/// ```
#[derive(Debug, Clone, Copy)]
pub struct NearWords {
    /// The way in which texts are cut into words, which are single ones.
    pub spec: FeatureSpec,
    /// The definition of similar texts, by their numbers of words.
    pub predicate: Predicate,
    /// The definition of near words.
    pub words: EditPredicate,
}

impl NearWords {
    /// Returns the words of a text in order.
    fn in_order(&self, text: &str, stop: &Stop) -> Result<String> {
        const DOING: &str = "putting words in order";
        let (mut found, mut ends) = (String::new(), Vec::new());
        for_each_token(text, &self.spec, &mut Scratch::default(), stop, |token| {
            let Token::Bytes(word) = token else { return Ok(()) };
            memory::reserve_text(&mut found, word.len(), DOING)?;
            found.push_str(&String::from_utf8_lossy(word));
            memory::push(&mut ends, found.len(), DOING)
        })?;
        let starts = std::iter::once(0).chain(ends.iter().copied());
        let words = memory::collect(starts.zip(&ends).map(|(from, &to)| &found[from..to]), DOING)?;
        join_sorted(words, !self.spec.multiset, stop)
    }

    /// Returns the number of words that two texts share, and of those of each text.
    fn shared(&self, texts: [&str; 2], stop: &Stop) -> Result<[u32; 3]> {
        let [left, right] = [self.in_order(texts[0], stop)?, self.in_order(texts[1], stop)?];
        let mut words = WordPairing::default();
        words.set(&left, self.words, stop)?;
        let shared = words.pairs(&right, self.words, u32::MAX, stop)?.unwrap_or(0);
        // No text has more words than 32 bits can count.
        let count = |text: &str| text.split(SPACE).filter(|word| !word.is_empty()).count() as u32;
        Ok([shared, count(&left), count(&right)])
    }
}

impl Method for NearWords {
    fn explain(&self, pair: &TwoTexts<'_>, stop: &Stop) -> Result<Explanation> {
        let [shared, left, right] = self.shared(pair.texts, stop)?;
        let similarity = self.predicate.similarity(shared, left, right);
        let passes = self.predicate.passes(shared, left, right);
        Ok(Explanation::new(similarity, passes).with_shared([shared, left, right]))
    }

    fn update(&self) -> Update {
        Update::Pairs
    }

    fn of_two(&self) -> Option<&dyn Carrier> {
        self.predicate.is_symmetric().then_some(self as &dyn Carrier)
    }

    fn compares_texts(&self) -> bool {
        true
    }

    fn pairs(&self, reading: &mut Reading<'_>) -> Result<Pairs> {
        let form = |text: &str, stop: &Stop| self.in_order(text, stop);
        let (collectors, _) = reading.read_texts(false, Some(&form))?;
        let texts = distinct(collectors, reading.right_from(), reading.executor)?;
        let held = texts.texts.bytes();
        reading.account.distinct_sets = texts.texts.len() as u64;
        let rule = NearWordRule { texts: self.predicate, words: self.words };
        let resources = reading.resources_after(held);
        let mut report = |state| reading.report(|| str::to_owned(state));
        let PreparedNearWords { pairs, words, distinct_words, bytes } =
            near_word_pairs(texts, rule, resources, &mut report)?;
        (reading.account.tokens, reading.account.distinct_tokens) = (words, distinct_words);
        reading.held(held + bytes);
        Ok(pairs)
    }
}

impl Carrier for NearWords {
    fn carry(&self, document: &Document, _: Places<'_>, stop: &Stop) -> Result<Vec<u8>> {
        match document {
            Document::Text(text) if !self.in_order(text, stop)?.is_empty() => of_text(document),
            _ => Ok(Vec::new()),
        }
    }

    fn meeting(&self) -> Meeting {
        Meeting::Keys { most: None, filter: None }
    }

    fn in_blocks(&self) -> bool {
        true
    }

    fn similarity(&self, pair: [&[u8]; 2], _: LeftOut<'_>, stop: &Stop) -> Result<Option<f64>> {
        let [shared, left, right] = self.shared(to_texts(pair)?, stop)?;
        let passes = self.predicate.passes(shared, left, right);
        Ok(passes.then(|| self.predicate.similarity(shared, left, right)))
    }
}
