//! SpotSigs: chains of significant words that follow common words (Theobald, Siddharth, Paepcke,
//! SIGIR 2008; docs/design/algorithms.md section 6).
//!
//! An antecedent is a word that is frequent in running text but not in menus and captions. Each
//! antecedent, together with the chain of the words number d, 2d, … c·d after it, is one signature;
//! only words that are not stop words are counted. Near the end of the text, a chain may be
//! shorter. An antecedent that is followed by fewer than d counted words has no signature. A
//! document without a word has one signature, of its signs. O(words · c).

use crate::error::{Error, Result};
use crate::executor::Stop;
use crate::hash::{hash_bytes, hash_sequence};
use crate::memory;
use crate::text::words::{WordScratch, for_each_word, for_text_of_signs};

const DOING: &str = "making spot signatures";

/// Words with little meaning, English and Chinese (each Chinese character is a word). They are the
/// usual antecedents and never part of a chain.
const STOP_WORDS: &str = "a about after again all also although am an and any are as at be because been before being \
    between both but by can could did do does during each either else every few for from had has have he her here hers \
    him his how however i if in into is it its itself just like many may me might more most much must my neither no \
    nor not of off on once one only or other our out over own said same say says several shall she should since so \
    some such than that the their theirs them then there these they this those though through to too under until up \
    upon us very was we were what when where whether which while who whom whose why will with within without would \
    yet you your yours \
    的 了 是 在 和 有 不 我 他 她 它 们 这 那 也 就 都 而 及 与 或 对 从 到 把 被 让 向 以 为 于 之 其 将 还 又 很 更 最 个 中 上 下 说 要 会 能 \
    可 并 等 但 如 由 所 已 着 过 地 得 吗 呢 吧 你 您 \
    了 這 個 們 與 對 從 將 還 為 於 說 會 讓 著 過 嗎";

/// The words that begin a chain.
///
/// ```
/// use neardup_core::parameters::{Antecedents, SpotSpec};
/// use neardup_core::sketch::Spots;
///
/// let antecedents = Antecedents::Listed(vec!["the".into()]);
/// let spots = Spots::new(&SpotSpec { antecedents, ..SpotSpec::default() }, None)?;
/// assert_eq!(spots.signatures("The crane is on the quay").len(), 2);
/// # Ok::<(), neardup_core::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum Antecedents {
    /// The usual stop words of English and Chinese.
    #[default]
    Common,
    /// The words that are in the most documents of the table. The value is the number of such
    /// words.
    Counted(u32),
    /// The listed words. Like stop words, they are never part of a chain.
    Listed(Vec<String>),
}

/// The parameters of spot signatures.
///
/// ```
/// use neardup_core::parameters::SpotSpec;
/// use neardup_core::sketch::Spots;
///
/// // A chain of two words is the same, one of three is not.
/// for (chain, same) in [(2, true), (3, false)] {
///     let spots = Spots::new(&SpotSpec { chain, ..SpotSpec::default() }, None)?;
///     let of = |text| spots.signatures(text);
///     assert_eq!(of("the red crane left") == of("the red crane stays"), same);
/// }
/// # Ok::<(), neardup_core::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SpotSpec {
    /// The words that begin a chain.
    pub antecedents: Antecedents,
    /// The number of words in a chain, c.
    pub chain: u32,
    /// The distance from one word of a chain to the next, d.
    pub distance: u32,
}

impl Default for SpotSpec {
    fn default() -> Self {
        Self { antecedents: Antecedents::Common, chain: 2, distance: 1 }
    }
}

impl SpotSpec {
    /// The greatest length of a chain, and the greatest distance.
    const MOST: u32 = 100;

    /// Checks parameters from a user.
    ///
    /// Fails for values outside their ranges.
    ///
    /// ```
    /// use neardup_core::parameters::SpotSpec;
    ///
    /// assert!(SpotSpec::default().check().is_ok());
    /// assert!(SpotSpec { chain: 101, ..SpotSpec::default() }.check().is_err());
    /// ```
    pub fn check(&self) -> Result<()> {
        for (name, value) in [("chain", self.chain), ("distance", self.distance)] {
            if !(1..=Self::MOST).contains(&value) {
                let allowed = "a whole number from 1 to 100";
                return Err(Error::Parameter { name, value: value.to_string(), allowed });
            }
        }
        let wrong = |value: String| {
            let allowed = "a number of words of at least 1, or a list of single words";
            Err(Error::Parameter { name: "antecedents", value, allowed })
        };
        match &self.antecedents {
            Antecedents::Common => Ok(()),
            Antecedents::Counted(0) => wrong("0".to_owned()),
            Antecedents::Counted(_) => Ok(()),
            Antecedents::Listed(list) if list.is_empty() => wrong("an empty list".to_owned()),
            Antecedents::Listed(list) => {
                /// The number of characters of a wrong value that are shown.
                const SHOWN: usize = 100;
                let mut space = WordScratch::default();
                for text in list {
                    let mut words = 0u64;
                    for_each_word(text, &mut space, &Stop::default(), |_| {
                        words += 1;
                        Ok(())
                    })?;
                    if words != 1 {
                        return wrong(format!("\"{}\"", text.chars().take(SHOWN).collect::<String>()));
                    }
                }
                Ok(())
            }
        }
    }
}

/// Makes spot signatures.
///
/// A maker takes the memory of a list of stop words, and threads may share it.
///
/// ```
/// use neardup_core::parameters::SpotSpec;
/// use neardup_core::sketch::Spots;
///
/// let spots = Spots::new(&SpotSpec::default(), None)?;
/// // the:boat:left, in:rain, the:rain
/// assert_eq!(spots.signatures("The boat left in the rain.").len(), 3);
/// assert!(spots.signatures("Boats, harbours, cranes").is_empty());
/// # Ok::<(), neardup_core::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct Spots {
    /// The hashes of the antecedents, ascending. `stop_words` has those of the stop words, also
    /// ascending.
    antecedents: Vec<u64>,
    stop_words: Vec<u64>,
    chain: usize,
    distance: usize,
}

/// Scratch memory that is reused from text to text.
#[derive(Debug, Default)]
pub struct SpotScratch {
    /// The words that are not stop words.
    telling: Vec<u64>,
    /// The hash of each antecedent, and the index in `telling` of the first word after it.
    places: Vec<(u64, usize)>,
    link: Vec<u64>,
    bytes: Vec<u8>,
}

impl Spots {
    /// Creates the maker for a specification. If the antecedents are [`Antecedents::Counted`],
    /// `counted` has the hashes of the words that are in the most documents.
    ///
    /// Fails if the parameters are out of range.
    ///
    /// ```
    /// use neardup_core::parameters::{Antecedents, SpotSpec};
    /// use neardup_core::sketch::{Spots, hash_bytes};
    ///
    /// let counted = SpotSpec { antecedents: Antecedents::Counted(1), ..SpotSpec::default() };
    /// let spots = Spots::new(&counted, Some(vec![hash_bytes(b"crane")]))?;
    /// assert_eq!(spots.signatures("The crane left; the boat left.").len(), 1);
    /// # Ok::<(), neardup_core::Error>(())
    /// ```
    pub fn new(spec: &SpotSpec, counted: Option<Vec<u64>>) -> Result<Self> {
        spec.check()?;
        let sorted = |mut hashes: Vec<u64>| {
            hashes.sort_unstable();
            hashes.dedup();
            hashes
        };
        let common = || STOP_WORDS.split_whitespace().map(|word| hash_bytes(word.as_bytes()));
        let listed = match &spec.antecedents {
            Antecedents::Listed(list) => list,
            _ => &Vec::new(),
        };
        let (mut hashes, mut space) = (Vec::new(), WordScratch::default());
        for text in listed {
            for_each_word(text, &mut space, &Stop::default(), |word| {
                memory::push(&mut hashes, hash_bytes(word), DOING)
            })?;
        }
        let listed = hashes;
        let stop_words = sorted(memory::collect(common().chain(listed.iter().copied()), DOING)?);
        let antecedents = match spec.antecedents {
            Antecedents::Common => sorted(memory::collect(common(), DOING)?),
            Antecedents::Counted(_) => sorted(counted.unwrap_or_default()),
            Antecedents::Listed(_) => sorted(listed),
        };
        Ok(Self { antecedents, stop_words, chain: spec.chain as usize, distance: spec.distance as usize })
    }

    /// Appends the signatures of a run of words to `signatures`, in the order of their antecedents.
    /// `words` has the hashes of the words.
    #[cfg_attr(not(feature = "internals"), doc(hidden))]
    pub fn add(
        &self,
        words: &[u64],
        scratch: &mut SpotScratch,
        signatures: &mut Vec<i64>,
        stop: &Stop,
    ) -> Result<()> {
        const CHECK_EVERY: usize = 1 << 12;
        let SpotScratch { telling, places, link, bytes } = scratch;
        telling.clear();
        places.clear();
        for (n, &word) in words.iter().enumerate() {
            stop.check_every(n, CHECK_EVERY)?;
            if self.stop_words.binary_search(&word).is_err() {
                memory::push(telling, word, DOING)?;
            }
            if self.antecedents.binary_search(&word).is_ok() {
                memory::push(places, (word, telling.len()), DOING)?;
            }
        }
        for (n, &(antecedent, from)) in places.iter().enumerate() {
            stop.check_every(n, CHECK_EVERY)?;
            let after = telling[from..].iter().skip(self.distance - 1).step_by(self.distance);
            link.clear();
            link.push(antecedent);
            link.extend(after.take(self.chain));
            if link.len() > 1 {
                memory::push(signatures, hash_sequence(link, bytes).cast_signed(), DOING)?;
            }
        }
        Ok(())
    }

    /// Returns the distinct signatures of a text, ascending.
    ///
    /// O(words · chain).
    ///
    /// ```
    /// let spots = neardup_core::sketch::Spots::new(&Default::default(), None)?;
    /// let of = |text: &str| spots.signatures(text);
    /// assert_eq!(of("the boat (left; in the) rain"), of("The boat left in the rain"));
    /// # Ok::<(), neardup_core::Error>(())
    /// ```
    pub fn signatures(&self, text: &str) -> Vec<i64> {
        let mut signatures = Vec::new();
        let done = self.of_text(text, &mut signatures, &Stop::default());
        debug_assert_eq!(done, Ok(()), "nobody asked to stop");
        signatures
    }

    /// Appends the signature of a document without a word, which is made of all its signs, so that
    /// equal documents are equal. No chain has such a signature: a chain has two words or more.
    pub(crate) fn add_signs(text: &str, signatures: &mut Vec<i64>, stop: &Stop) -> Result<()> {
        for_text_of_signs(text, stop, |signs| {
            let signature = hash_sequence(&[hash_bytes(signs)], &mut Vec::new());
            memory::push(signatures, signature.cast_signed(), DOING)
        })
    }

    /// Writes the distinct signatures of a text to `signatures`, ascending.
    #[cfg_attr(not(feature = "internals"), doc(hidden))]
    pub fn of_text(&self, text: &str, signatures: &mut Vec<i64>, stop: &Stop) -> Result<()> {
        let mut hashes = Vec::new();
        for_each_word(text, &mut WordScratch::default(), stop, |word| {
            memory::push(&mut hashes, hash_bytes(word), DOING)
        })?;
        signatures.clear();
        if hashes.is_empty() {
            return Self::add_signs(text, signatures, stop);
        }
        self.add(&hashes, &mut SpotScratch::default(), signatures, stop)?;
        crate::executor::sort_unstable_by(signatures, stop, &Ord::cmp)?;
        signatures.dedup();
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::words::words;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    #[test]
    fn parameters_are_checked() {
        let listed = |list: &[&str]| SpotSpec {
            antecedents: Antecedents::Listed(list.iter().map(|&word| word.to_owned()).collect()),
            ..SpotSpec::default()
        };
        assert!(listed(&["Der", "die"]).check().is_ok());
        for bad in [
            listed(&[]),
            listed(&["der", "of the"]),
            listed(&[" "]),
            SpotSpec { chain: 0, ..SpotSpec::default() },
            SpotSpec { distance: 101, ..SpotSpec::default() },
            SpotSpec { antecedents: Antecedents::Counted(0), ..SpotSpec::default() },
        ] {
            assert!(bad.check().is_err(), "{bad:?}");
        }
    }

    /// Returns the chains as strings, as the definition gives them.
    fn naive(
        text: &str,
        antecedents: &[&str],
        stops: &[&str],
        chain: usize,
        distance: usize,
    ) -> BTreeSet<String> {
        let all = words(text);
        let mut chains = BTreeSet::new();
        for (n, word) in all.iter().enumerate() {
            if antecedents.contains(&word.as_str()) {
                let telling: Vec<&String> =
                    all[n + 1..].iter().filter(|word| !stops.contains(&word.as_str())).collect();
                let of: Vec<&str> = (1..=chain)
                    .filter_map(|k| telling.get(k * distance - 1).map(|word| word.as_str()))
                    .collect();
                if !of.is_empty() {
                    chains.insert(format!("{word}:{}", of.join(":")));
                }
            }
        }
        chains
    }

    #[test]
    fn chains_of_a_sentence() {
        let text = "At a fair by the old mill, a baker sold the bread of a mill hand";
        let common: Vec<&str> = STOP_WORDS.split_whitespace().collect();
        let chains = naive(text, &["a", "the"], &common, 2, 1);
        let expected = ["a:baker:sold", "a:fair:old", "a:mill:hand", "the:bread:mill", "the:old:mill"];
        assert!(chains.iter().eq(expected.iter()));
    }

    proptest! {
        #[test]
        fn as_many_signatures_as_chains(
            text in "((the|of|der|boat|rain|mill|的|船|雨) ?){0,30}",
            other in "((the|of|der|boat|rain|mill|的|船|雨) ?){0,30}",
            (chain, distance) in (1..4u32, 1..4u32),
            listed: bool,
        ) {
            let common: Vec<&str> = STOP_WORDS.split_whitespace().collect();
            let (antecedents, own) = match listed {
                true => (vec!["der"], Antecedents::Listed(vec!["Der".to_owned()])),
                false => (common.clone(), Antecedents::Common),
            };
            let stops = [&common[..], if listed { &["der"] } else { &[] }].concat();
            let spec = SpotSpec { antecedents: own, chain, distance };
            let spots = Spots::new(&spec, None).unwrap();
            let of = |text| naive(text, &antecedents, &stops, chain as usize, distance as usize);
            let (a, b) = (of(&text), of(&other));
            let (x, y) = (spots.signatures(&text), spots.signatures(&other));
            prop_assert_eq!((a.len(), b.len()), (x.len(), y.len()));
            prop_assert_eq!(a.intersection(&b).count(), x.iter().filter(|s| y.contains(s)).count());
        }
    }
}
