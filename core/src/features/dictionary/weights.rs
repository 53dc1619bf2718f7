//! The weights of tokens: whole numbers from 1 to [`GREATEST`], so that sums of them are exact
//! (docs/design/algorithms.md section 8).
//!
//! The measures do not change if all weights are multiplied, so the heaviest token that there can
//! be weighs [`GREATEST`], and the others in proportion. A further occurrence of a token weighs as
//! much as the token.

use std::borrow::Cow;
use std::sync::Arc;

use super::Dictionary;
use super::lookup::Lookup;
use super::rank::{ByNumber, Ranks};
use super::shard::Shard;
use crate::error::{Error, Result};
use crate::executor::{self, Executor, Stop};
use crate::features::FeatureSpec;
use crate::features::tokens::{Document, Scratch, Token, for_each_token};
use crate::memory;

const DOING: &str = "weighing tokens";

/// The weight of the heaviest token.
pub const GREATEST: u16 = 1 << 12;

/// The greatest weight of a document. What is greater has a meaning of its own in joins.
pub const MOST: u32 = u32::MAX - 2;

/// The error for a document that weighs more than [`MOST`].
pub(crate) const TOO_HEAVY: Error =
    Error::TooMany { what: "heavy words in a document", limit: (MOST / GREATEST as u32) as u64 };

/// What the tokens of a call weigh.
///
/// ```
/// use neardup_core::parameters::Weights;
/// use neardup_core::{Corpus, Measure, Sets};
///
/// let names = ["Zyntherion Limited", "Zyntherion GmbH", "Arbor Limited", "Quay Limited"];
/// let method = Sets { weights: Weights::Idf, ..Sets::of_words(Measure::Jaccard, 0.3)? };
/// let pairs = Corpus::of_texts(&names).pairs(&method)?;
/// assert_eq!((pairs.len(), pairs[0].left, pairs[0].right), (1, 0, 1));
/// # Ok::<(), neardup_core::Error>(())
/// ```
#[derive(Debug, Clone, Default)]
pub enum Weights {
    /// All the same.
    #[default]
    Equal,
    /// The more, the fewer documents have the token.
    Idf,
    /// What a list says.
    #[cfg_attr(not(feature = "internals"), doc(hidden))]
    Words(Arc<WordWeights>),
}

impl Weights {
    /// Reports whether all tokens weigh the same.
    pub fn are_equal(&self) -> bool {
        matches!(self, Self::Equal)
    }
}

/// Returns the logarithm of a number to the base 2 in units of 2^-16, rounded down. It is computed
/// by squaring, in integers, so that it is the same on every machine.
fn log2(number: u64) -> u64 {
    let whole = number.max(1).ilog2();
    // The number without its power of two, from 1 to 2 in units of 2^-63.
    let mut rest = number.max(1) << (63 - whole);
    (0..16).fold(whole.into(), |log, _| {
        let square = u128::from(rest) * u128::from(rest);
        let bit = (square >> 127) as u64;
        rest = (square >> (63 + bit)) as u64;
        log << 1 | bit
    })
}

/// Returns the weight of a token that `having` of all documents have: [`GREATEST`] times
/// log(1 + documents / having) / log(1 + documents), rounded.
pub fn idf(documents: u64, having: u64) -> u16 {
    let having = having.clamp(1, documents.max(1));
    let [all, whole] = [having, 1].map(|having| log2(documents.max(1) + having) - log2(having));
    // A weight is at most the greatest one.
    ((u64::from(GREATEST) * all + whole / 2) / whole).max(1) as u16
}

/// Returns the square of a weight in units of the greatest weight, rounded.
pub fn squared(weight: u16) -> u16 {
    let square = u32::from(weight) * u32::from(weight);
    ((square + u32::from(GREATEST) / 2) / u32::from(GREATEST)).max(1) as u16
}

/// The weights of the words of a list. A token that is not in the list weighs as much as the
/// heaviest word, and at least 1.
#[derive(Debug)]
pub struct WordWeights {
    words: Shard,
    /// The weight of each word, by its place.
    given: Vec<f64>,
    heaviest: f64,
    spec: FeatureSpec,
    scratch: Scratch,
    long: Vec<u8>,
}

impl WordWeights {
    /// Creates an empty list for texts that are cut in this way.
    pub fn new(spec: FeatureSpec) -> Self {
        let (words, given) = (Shard::new(u32::MAX as usize - 2), Vec::new());
        Self { words, given, heaviest: 1.0, spec, scratch: Scratch::default(), long: Vec::new() }
    }

    /// Adds a word. Returns what is wrong with it, if it cannot be added.
    pub fn add(&mut self, word: String, weight: f64, stop: &Stop) -> Result<Option<&'static str>> {
        if !(weight > 0.0 && weight.is_finite()) {
            return Ok(Some("has a weight that is not above 0 and finite"));
        }
        let Self { words, given, spec, scratch, long, .. } = self;
        let (mut tokens, mut place) = (0, 0);
        let before = words.len();
        for_each_token(&Document::Text(word), spec, scratch, stop, |token| {
            tokens += 1;
            if tokens == 1 {
                long.clear();
                place = words.find_or_add(&Lookup::new(token, 0, long)?, long)? as usize;
            }
            Ok(())
        })?;
        if words.len() > before {
            memory::push(given, weight, DOING)?;
        }
        self.heaviest = self.heaviest.max(weight);
        Ok(match tokens {
            1 if place < before => Some("is there twice"),
            1 => None,
            _ => Some("is not one word, as texts are cut"),
        })
    }

    /// Adds a word that is one token, which is not in the list.
    pub(crate) fn add_token(&mut self, token: Token<'_>, weight: f64) -> Result<()> {
        self.words.find_or_add(&Lookup::new(token, 0, &mut self.long)?, &self.long)?;
        memory::push(&mut self.given, weight, DOING)
    }

    /// Returns the words and their weights, in the order in which they were added.
    pub(crate) fn tokens(&self) -> impl Iterator<Item = (Cow<'_, [u8]>, u16)> {
        (0..self.words.len()).map(|place| (self.words.token(place), self.weigh(Some(place))))
    }

    /// Returns the place of a token, if it is one of the words.
    pub(crate) fn place_of(&self, token: Token<'_>) -> Result<Option<usize>> {
        let mut long = Vec::new();
        Ok(self.words.find(&Lookup::new(token, 0, &mut long)?, &long).map(|place| place as usize))
    }

    /// Returns the words.
    pub(super) fn shards(&self) -> &[Shard] {
        std::slice::from_ref(&self.words)
    }

    /// Returns the weight of a token, whose place is known if it is one of the words.
    fn weigh(&self, place: Option<usize>) -> u16 {
        let share = place.map_or(1.0, |place| self.given[place] / self.heaviest);
        // The share is at most 1. It is one correctly rounded division, so that it is the same on
        // every machine.
        ((f64::from(GREATEST) * share).round() as u16).max(1)
    }

    /// Returns the number of bytes on the heap.
    pub fn bytes(&self) -> usize {
        self.words.bytes() + memory::bytes(&self.given)
    }
}

/// How the tokens of a measure weigh.
#[derive(Debug, Clone, Default)]
pub struct Weighing {
    /// The weights.
    pub weights: Weights,
    /// Whether each token counts with the square of its weight.
    pub squares: bool,
}

impl Weighing {
    /// Returns the weight of each token of a dictionary of so many documents, or `None` if all
    /// weigh the same. O(tokens).
    pub fn of_dictionary(
        &self,
        dictionary: &Dictionary,
        documents: usize,
        executor: &dyn Executor,
    ) -> Result<Option<ByNumber<u16>>> {
        if self.weights.are_equal() {
            return Ok(None);
        }
        let mut weights = ByNumber::filled(0u16, dictionary)?;
        let mut shards = weights.shards_of(dictionary);
        // The frequencies of most tokens are low.
        let rare: Vec<u16> = (0..256).map(|having| self.by_frequency(documents, having)).collect();
        executor::each(executor, &mut shards, |(shard, weights), stop| {
            const CHECK_EVERY: usize = 1 << 12;
            for place in 0..shard.len() {
                stop.check_every(place, CHECK_EVERY)?;
                weights[place] = match (shard.occurrence_before(place), &self.weights) {
                    (Some(before), _) => weights[before],
                    (None, Weights::Words(words)) => {
                        let known = words.words.place_of(shard, place);
                        self.square(words.weigh(known.map(|place| place as usize)))
                    }
                    _ => {
                        let having = shard.documents(place).iter().map(|&n| u64::from(n)).sum();
                        let known = rare.get(having as usize).copied();
                        known.unwrap_or_else(|| self.by_frequency(documents, having))
                    }
                };
            }
            Ok(())
        })?;
        Ok(Some(weights))
    }

    /// Returns the weight of a token that no dictionary has: its place if it is one of the words of
    /// a list, and how many of all documents have it.
    pub(super) fn of_unknown(&self, listed: Option<usize>, documents: usize, having: u64) -> u16 {
        match &self.weights {
            Weights::Words(words) => self.square(words.weigh(listed)),
            _ => self.by_frequency(documents, having),
        }
    }

    fn by_frequency(&self, documents: usize, having: u64) -> u16 {
        self.square(idf(documents as u64, having))
    }

    fn square(&self, weight: u16) -> u16 {
        if self.squares { squared(weight) } else { weight }
    }
}

/// The tokens that records share: their number, and what they weigh.
#[derive(Debug, Clone, Default)]
pub struct RankedTokens {
    /// Tokens have numbers below this.
    pub count: usize,
    /// Their weights.
    pub weights: TokenWeights,
}

/// The weights of the tokens of records, by rank.
#[derive(Debug, Clone, Default)]
pub struct TokenWeights(Option<Arc<Vec<u16>>>);

impl TokenWeights {
    /// Orders the weights of the tokens of a dictionary, if they have any, by rank.
    pub(crate) fn by_rank(weights: Option<&ByNumber<u16>>, ranks: &Ranks) -> Result<Self> {
        let Some(weights) = weights else { return Ok(Self(None)) };
        let mut by_rank = memory::filled(0, ranks.shared, DOING)?;
        for (&rank, &weight) in ranks.of.values().iter().zip(weights.values()) {
            if let Some(of_rank) = by_rank.get_mut(rank as usize) {
                *of_rank = weight;
            }
        }
        Ok(Self(Some(Arc::new(by_rank))))
    }

    /// Says what a token weighs, before others use the weights.
    pub(crate) fn set(&mut self, token: u32, weight: u16) {
        if let Some(weights) = self.0.as_mut().and_then(Arc::get_mut) {
            weights[token as usize] = weight;
        }
    }

    /// Returns the weights of those tokens that `is_one` accepts, in the same order.
    pub(crate) fn of_some(&self, is_one: impl Fn(usize) -> bool) -> Result<Self> {
        let Some(weights) = self.each() else { return Ok(Self(None)) };
        let mut some = Vec::new();
        for (_, &weight) in weights.iter().enumerate().filter(|(token, _)| is_one(*token)) {
            memory::push(&mut some, weight, DOING)?;
        }
        Ok(Self(Some(Arc::new(some))))
    }

    /// Returns the weight of each token, or `None` if each weighs 1.
    #[inline]
    pub fn each(&self) -> Option<&[u16]> {
        self.0.as_ref().map(|weights| &weights[..])
    }

    /// Returns the weight of a token.
    #[inline]
    pub fn weight(&self, token: u32) -> u32 {
        self.each().map_or(1, |weights| weights[token as usize].into())
    }

    /// Returns the weight of some tokens of one record.
    #[inline]
    pub fn sum(&self, tokens: &[u32]) -> u32 {
        match self.each() {
            None => tokens.len() as u32,
            // The weight of a record has 32 bits.
            Some(weights) => tokens.iter().map(|&token| u32::from(weights[token as usize])).sum(),
        }
    }

    /// Returns the least number of tokens from the first on that weigh at least `weight`, or the
    /// number of all if they weigh less.
    #[inline]
    pub fn count_to(&self, tokens: &[u32], weight: u32) -> usize {
        match self.each() {
            None => tokens.len().min(weight as usize),
            Some(weights) => {
                let mut rest = weight;
                let needed = tokens.iter().take_while(|&&token| {
                    let goes_on = rest > 0;
                    rest = rest.saturating_sub(weights[token as usize].into());
                    goes_on
                });
                needed.count()
            }
        }
    }

    /// Returns the number of bytes on the heap.
    pub fn bytes(&self) -> usize {
        self.0.as_ref().map_or(0, |weights| memory::bytes(weights))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn logarithms_are_those_of_floats() {
        for number in (1..5_000).chain([1 << 40, u64::from(u32::MAX), (1 << 52) - 1, u64::MAX]) {
            let expected = (number as f64).log2() * 65_536.0;
            let found = log2(number) as f64;
            assert!(found <= expected + 1e-6 && found > expected - 1.01, "{number}: {found} {expected}");
        }
    }

    /// The test vector of docs/design/algorithms.md.
    #[test]
    fn weights_of_frequencies() {
        let of = |documents, having: &[u64]| having.iter().map(|&n| idf(documents, n)).collect::<Vec<_>>();
        assert_eq!(of(1_000_000, &[1, 2, 10, 1000, 1_000_000]), [4096, 3890, 3413, 2048, 206]);
        assert_eq!(of(4, &[1, 2, 4]), [4096, 2796, 1764]);
        assert_eq!((of(1, &[1]), of(0, &[0])), (vec![4096], vec![4096]));
        assert_eq!([4096, 2048, 205, 1].map(squared), [4096, 1024, 10, 1]);
        for having in 1..1_000u64 {
            let exact = 4096.0 * (1.0 + 1e6 / having as f64).ln() / 1_000_001f64.ln();
            assert!((f64::from(idf(1_000_000, having)) - exact).abs() < 0.75);
            assert!(idf(1_000_000, having) >= idf(1_000_000, having + 1));
        }
    }

    #[test]
    fn a_list_of_words() {
        let (mut words, stop) = (WordWeights::new(FeatureSpec::WORDS), Stop::default());
        let mut add = |word: &str, weight| words.add(word.to_owned(), weight, &stop).unwrap();
        assert_eq!(
            (add("GmbH", 0.5), add("a word of more than sixteen bytes", 1.0)),
            (None, Some("is not one word, as texts are cut"))
        );
        assert_eq!((add("gmbh", 2.0), add("Donaudampfschifffahrt", 1.0)), (Some("is there twice"), None));
        for weight in [0.0, -1.0, f64::NAN, f64::INFINITY] {
            assert_eq!(add("x", weight), Some("has a weight that is not above 0 and finite"));
        }
        assert!(add("", 1.0).is_some());
    }
}
