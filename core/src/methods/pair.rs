//! Two texts for which a method explains its result.

use std::cell::RefCell;

use crate::error::Result;
use crate::executor::{self, CallingThread, Stop};
use crate::features::FeatureSpec;
use crate::features::dictionary::Dictionary;
use crate::features::dictionary::weights::{TOO_HEAVY, Weighing};
use crate::features::sets::collect::Collector;
use crate::features::tokens::Document;
use crate::memory;
use crate::verify::overlap::{WeighedOverlap, WeighedWord, shared_at_least};

/// Two texts, the one with the lesser id first.
///
/// Data that several methods need from the texts is computed only once.
///
/// ```
/// use neardup_core::{Edit, Method, Stop, TwoTexts};
///
/// let texts = TwoTexts::new(["quay", "quays"])?;
/// assert_eq!(Edit::within(1).explain(&texts, &Stop::default())?.similarity, Some(0.8));
/// # Ok::<(), neardup_core::Error>(())
/// ```
#[derive(Debug)]
pub struct TwoTexts<'a> {
    /// The texts.
    pub texts: [&'a str; 2],
    documents: [Document; 2],
    /// A cache of the numbers of shared tokens and of tokens of each text, by feature
    /// specification.
    shared: RefCell<Vec<(FeatureSpec, [u32; 3])>>,
}

impl<'a> TwoTexts<'a> {
    /// Takes two texts in the form in which the columns of a table contain them.
    ///
    /// Fails only if memory is short. O(bytes).
    ///
    /// ```
    /// let texts = neardup_core::TwoTexts::new(["quay", "quays"])?;
    /// assert_eq!(texts.texts, ["quay", "quays"]);
    /// # Ok::<(), neardup_core::Error>(())
    /// ```
    pub fn new(texts: [&'a str; 2]) -> Result<Self> {
        let [a, b] = texts.map(|text| memory::copied(text, "copying a text").map(Document::Text));
        Ok(Self { texts, documents: [a?, b?], shared: RefCell::default() })
    }

    /// Returns the texts as documents.
    #[cfg_attr(not(feature = "internals"), doc(hidden))]
    pub fn documents(&self) -> [&Document; 2] {
        self.documents.each_ref()
    }

    /// Returns the number of tokens that the texts share, and the number of tokens of each text.
    ///
    /// Fails only if memory is short, or after a request to stop. O(bytes · shingle) the first
    /// time.
    ///
    /// ```
    /// use neardup_core::{FeatureSpec, Stop, TwoTexts};
    ///
    /// let texts = TwoTexts::new(["to be or not to be", "to be"])?;
    /// assert_eq!(texts.shared(FeatureSpec::WORDS, &Stop::default())?, [2, 6, 2]);
    /// # Ok::<(), neardup_core::Error>(())
    /// ```
    pub fn shared(&self, spec: FeatureSpec, stop: &Stop) -> Result<[u32; 3]> {
        if let Some((_, counts)) = self.shared.borrow().iter().find(|(known, _)| *known == spec) {
            return Ok(*counts);
        }
        let ([a, b], _) = self.sets(spec, stop)?;
        let shared = shared_at_least(&a, &b, 0).unwrap_or(0);
        // A document has at most `u32::MAX` tokens.
        let counts = [shared, a.len(), b.len()].map(|count| count as u32);
        self.shared.borrow_mut().push((spec, counts));
        Ok(counts)
    }

    /// Returns what the texts share and each text weighs, and the words. Fails if the sums exceed
    /// 32 bits.
    pub(super) fn shared_weight(
        &self,
        spec: FeatureSpec,
        weighing: &Weighing,
        stop: &Stop,
    ) -> Result<WeighedOverlap> {
        /// Further words are left out.
        const MOST: usize = 100;
        let ([a, b], dictionary) = self.sets(spec, stop)?;
        let weights = weighing.of_dictionary(&dictionary, 2, &CallingThread { stop })?;
        let weight = |token: &u32| weights.as_ref().map_or(1, |weights| u64::from(weights.get(*token)));
        let shared: u64 = a.iter().filter(|token| b.binary_search(token).is_ok()).map(weight).sum();
        let sizes = [shared, a.iter().map(weight).sum(), b.iter().map(weight).sum()];
        match sizes.map(u32::try_from) {
            [Ok(shared), Ok(left), Ok(right)] => {
                let mut words = words(&dictionary, [&a, &b], weight, stop)?;
                // The heaviest come first, and of words that weigh the same the first by its bytes.
                let key = |word: &WeighedWord| std::cmp::Reverse(word.weight);
                executor::sort_unstable_by(&mut words, stop, &|a: &WeighedWord, b: &WeighedWord| {
                    (key(a), &a.word).cmp(&(key(b), &b.word))
                })?;
                words.truncate(MOST);
                Ok(WeighedOverlap { shared, left, right, words })
            }
            _ => Err(TOO_HEAVY),
        }
    }

    /// Returns the ascending numbers of the tokens of each text, and the tokens.
    fn sets(&self, spec: FeatureSpec, stop: &Stop) -> Result<([Vec<u32>; 2], Dictionary)> {
        let (mut collector, mut dictionary) = (Collector::new(spec), Dictionary::small());
        for (row, document) in (0..).zip(&self.documents) {
            collector.add_at_once(row, document, &mut dictionary, stop)?;
        }
        Ok(([collector.set_of_row(0, stop)?, collector.set_of_row(1, stop)?], dictionary))
    }
}

/// Lists the words of a dictionary of one shard, with the number of their occurrences in each set.
fn words(
    dictionary: &Dictionary,
    sets: [&[u32]; 2],
    weight: impl Fn(&u32) -> u64,
    stop: &Stop,
) -> Result<Vec<WeighedWord>> {
    const DOING: &str = "listing words";
    let (mut words, mut place_of): (Vec<WeighedWord>, Vec<usize>) = (Vec::new(), Vec::new());
    for shard in dictionary.shards() {
        for place in 0..shard.len() {
            stop.check_every(place, 1 << 12)?;
            if let Some(before) = shard.occurrence_before(place) {
                let of = place_of[before];
                memory::push(&mut place_of, of, DOING)?;
                continue;
            }
            memory::push(&mut place_of, words.len(), DOING)?;
            let word = memory::copied(&String::from_utf8_lossy(&shard.token(place)), DOING)?;
            // A weight has 16 bits, and the only shard numbers its tokens by their places.
            let weight = weight(&(place as u32)) as u32;
            memory::push(&mut words, WeighedWord { word, weight, left: 0, right: 0 }, DOING)?;
        }
    }
    let [left, right] = sets;
    left.iter().for_each(|&token| words[place_of[token as usize]].left += 1);
    right.iter().for_each(|&token| words[place_of[token as usize]].right += 1);
    Ok(words)
}
