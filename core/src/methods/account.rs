//! Numbers that describe what a call did.

use std::fmt::{self, Display, Formatter};
use std::time::Instant;

pub use super::short_texts::{LongParts, ShortTexts};
use crate::features::sets::order::Ordered;
pub use crate::joins::Counts;
pub use crate::joins::runs::FrequentWindows;
use crate::joins::sketches::hamming::Hamming;

/// The dictionary of a call.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct DictionaryUse {
    /// The number of bytes that it took.
    pub bytes: u64,
    /// The number of its tokens.
    pub tokens: u64,
    /// The number of tokens that no two documents to be compared share.
    pub lone: u64,
}

impl DictionaryUse {
    /// Returns the use of the dictionary of ordered sets.
    pub fn from_ordered(ordered: &Ordered) -> Self {
        let (tokens, shared) = (ordered.distinct_tokens as u64, ordered.shared_tokens as u64);
        Self { bytes: ordered.dictionary_bytes as u64, tokens, lone: tokens.saturating_sub(shared) }
    }
}

/// The account of one call.
///
/// It shows people and logs how much was read, skipped, compared and found, and how long the call
/// took.
///
/// ```
/// use neardup_core::{Corpus, Measure, NoFiles, PlainThreads, Resources, Sets};
///
/// let resources = Resources { files: &NoFiles, budget: 1 << 24, executor: &PlainThreads(1) };
/// let method = Sets::of_words(Measure::Jaccard, 0.9)?;
/// let (_, account) = Corpus::of_texts(&["a b", "b a", "c"]).pairs_with(&method, resources)?;
/// assert_eq!((account.documents, account.distinct_sets, account.pairs), (3, 2, 1));
/// # Ok::<(), neardup_core::Error>(())
/// ```
#[derive(Debug, Clone, Default)]
pub struct Account {
    /// The number of rows that were read.
    pub documents: u64,
    /// The number of rows without a text.
    pub skipped_null: u64,
    /// The size of the documents that were read, in bytes. A text that the server stores compressed
    /// counts as it is stored.
    pub bytes: u64,
    /// The number of documents without a token.
    pub skipped_empty: u64,
    /// The number of tokens of all sets.
    pub tokens: u64,
    /// The number of distinct tokens.
    pub distinct_tokens: u64,
    /// What is known of the dictionary, if there was one.
    pub dictionary: Option<DictionaryUse>,
    /// The number of distinct sets.
    pub distinct_sets: u64,
    /// The counts of the filters.
    pub counts: Counts,
    /// The number of pairs returned so far.
    pub pairs: u64,
    /// The greatest number of bytes held at a time, outside the server's own memory.
    pub peak_memory: u64,
    /// The number of threads of the call.
    pub threads: u64,
    /// The recall of minhash that the plan promises at the threshold.
    pub promised_recall: Option<f64>,
    /// The recall measured on a sample.
    pub measured_recall: Option<f64>,
    /// The number of similar pairs in the sample.
    pub measured_by: u64,
    /// True if the exact join took over from minhash and found the pairs.
    pub handed_over: bool,
    /// The codes of `repeatability`.
    pub codes: WeakCodes,
    /// The documents or sentences that have words but no signature.
    pub unsigned: Unsigned,
    /// The numbers of words of the documents, if the method compares long parts of them.
    pub short_texts: ShortTexts,
    /// The windows of `runs` that do not count, as too many documents have them.
    pub frequent: FrequentWindows,
    /// The texts of `edit`.
    pub compared: ComparedTexts,
    /// The simhashes, if each of them is compared with all others.
    pub all_with_all: AllWithAll,
    /// The number of milliseconds that reading and tokenising, ordering, and joining have taken so
    /// far.
    pub phases: [f64; 3],
}

impl Account {
    /// Returns the promised and the measured recall if the measured recall is lower by more than
    /// chance explains: by more than three standard errors of the sample.
    ///
    /// ```
    /// use neardup_core::Account;
    ///
    /// let (promised_recall, measured_recall) = (Some(0.95), Some(0.5));
    /// let account =
    ///     Account { promised_recall, measured_recall, measured_by: 100, ..Account::default() };
    /// assert_eq!(account.low_recall(), Some((0.95, 0.5)));
    /// ```
    pub fn low_recall(&self) -> Option<(f64, f64)> {
        let (promised, measured) = (self.promised_recall?, self.measured_recall?);
        let error = (promised * (1.0 - promised) / self.measured_by.max(1) as f64).sqrt();
        (measured < promised - 3.0 * error).then_some((promised, measured))
    }
}

/// Returns the milliseconds since an instant.
#[cfg_attr(not(feature = "internals"), doc(hidden))]
pub fn milliseconds(since: Instant) -> f64 {
    since.elapsed().as_secs_f64() * 1000.0
}

/// Documents or sentences that have words but no signature, so a method does not compare them.
///
/// ```
/// use neardup_core::account::Unsigned;
///
/// let (units, without, found) = ("documents", "sentence", "nothing is similar to them");
/// let unsigned = Unsigned { count: 2, of: 9, units, without, found };
/// assert!(unsigned.to_string().starts_with("2 of 9 documents have no signature"));
/// ```
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Unsigned {
    /// The number of units without a signature.
    pub count: u64,
    /// The number of all units.
    pub of: u64,
    /// The name of the units.
    pub units: &'static str,
    /// The part that signatures are made of and that these units lack.
    pub without: &'static str,
    /// A phrase that says what is nevertheless similar to these units.
    pub found: &'static str,
}

impl Unsigned {
    /// Reports whether so many units have no signature that the caller has to be informed: more
    /// than one in a hundred.
    pub fn are_many(&self) -> bool {
        self.count > self.of / 100
    }
}

impl Display for Unsigned {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let Self { count, of, units, without, found } = self;
        write!(f, "{count} of {of} {units} have no signature, as they have no {without}: {found}")
    }
}

/// Distinct texts that are compared character by character. This takes long for long texts.
///
/// ```
/// use neardup_core::account::ComparedTexts;
///
/// let compared = ComparedTexts { texts: 5000, characters: 5_000_000 };
/// assert!(compared.are_long() && compared.to_string().contains("1000 characters on average"));
/// ```
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ComparedTexts {
    /// The number of texts.
    pub texts: u64,
    /// The number of characters of all texts.
    pub characters: u64,
}

impl ComparedTexts {
    /// Reports whether the caller has to be informed: the texts are long, like bodies of documents,
    /// and so many that comparing their pairs takes more than a few seconds.
    pub fn are_long(&self) -> bool {
        const LONG: u64 = 400;
        const MANY: u64 = 2000;
        self.texts >= MANY && self.characters >= LONG * self.texts
    }
}

impl Display for ComparedTexts {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let Self { texts, characters } = self;
        let mean = characters / (*texts).max(1);
        write!(
            f,
            "edit compares {texts} texts of {mean} characters on average character by character, \
             which takes a time that grows with the square of both"
        )
    }
}

/// Distinct simhashes, each of which is compared with all others, because the distance is so great
/// that nearly all of them have a block in common.
///
/// ```
/// use neardup_core::account::AllWithAll;
///
/// let all = AllWithAll { sketches: 30_000, bits: 64, distance: 20 };
/// assert!(all.are_many() && all.to_string().contains("a distance of 20 of 64"));
/// ```
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct AllWithAll {
    /// The number of simhashes, or 0 if candidates are found by blocks.
    pub sketches: u64,
    /// The number of bits of a simhash.
    pub bits: u32,
    /// The greatest distance of a pair.
    pub distance: u32,
}

impl AllWithAll {
    /// Describes a join, if it compares each simhash with all others.
    #[cfg_attr(not(feature = "internals"), doc(hidden))]
    pub fn new(vectors: Option<Hamming>, sketches: u64) -> Self {
        vectors.map_or_else(Self::default, |Hamming { bits, most, .. }| Self {
            sketches,
            bits,
            distance: most,
        })
    }

    /// Reports whether the caller has to be informed: there are so many pairs that comparing them
    /// takes more than a fraction of a second.
    pub fn are_many(&self) -> bool {
        const MANY: u64 = 20_000;
        self.sketches >= MANY
    }
}

impl Display for AllWithAll {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let Self { sketches, bits, distance } = self;
        write!(
            f,
            "{sketches} simhashes are all compared with each other, as nearly all have some block of bits in common at a \
             distance of {distance} of {bits}: that takes a time which grows with the square of their number"
        )
    }
}

/// Feature codes that have parts in common although their documents have nothing in common: short
/// codes, and codes that consist of the few letters of an alphabet.
///
/// ```
/// use neardup_core::account::WeakCodes;
///
/// let weak = WeakCodes { codes: 10, characters: 50, short: 8, alphabetic: 0 };
/// assert!(weak.are_many());
/// ```
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct WeakCodes {
    /// The number of codes.
    pub codes: u64,
    /// The number of characters of all codes.
    pub characters: u64,
    /// The number of codes shorter than [`WeakCodes::SHORT`].
    pub short: u64,
    /// The number of other codes that are mostly letters of an alphabet.
    pub alphabetic: u64,
}

impl WeakCodes {
    /// Codes with fewer characters than this are short.
    pub const SHORT: usize = 8;

    /// Counts a code, unless it is empty.
    #[cfg_attr(not(feature = "internals"), doc(hidden))]
    pub fn add(&mut self, code: &str) {
        /// From this character on, scripts mostly use one character for a word.
        const CJK: char = '\u{2e80}';
        let (mut characters, mut letters) = (0, 0);
        for c in code.chars() {
            characters += 1;
            letters += usize::from(c < CJK);
        }
        self.codes += u64::from(characters > 0);
        self.characters += characters as u64;
        if characters < Self::SHORT {
            self.short += u64::from(characters > 0);
        } else {
            self.alphabetic += u64::from(2 * letters > characters);
        }
    }

    /// Adds the counts of `other`.
    #[must_use]
    #[cfg_attr(not(feature = "internals"), doc(hidden))]
    pub fn and(self, other: Self) -> Self {
        Self {
            codes: self.codes + other.codes,
            characters: self.characters + other.characters,
            short: self.short + other.short,
            alphabetic: self.alphabetic + other.alphabetic,
        }
    }

    /// Reports whether the caller has to be informed: weak codes are more than half of all codes.
    pub fn are_many(&self) -> bool {
        2 * (self.short + self.alphabetic) > self.codes
    }
}

impl Display for WeakCodes {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let Self { codes, characters, short, alphabetic } = self;
        let mean = *characters as f64 / (*codes).max(1) as f64;
        let least = Self::SHORT;
        write!(
            f,
            "of {codes} feature codes, {mean:.1} characters long on average, {short} are shorter than {least} and \
             {alphabetic} mostly letters of an alphabet: parts of such codes are equal by chance"
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_recall_is_low_beyond_chance() {
        let of = |measured_by, measured| {
            let (promised_recall, measured_recall) = (Some(0.95), Some(measured));
            Account { promised_recall, measured_recall, measured_by, ..Account::default() }
                .low_recall()
                .is_some()
        };
        // With recall 0.95, one pair of twenty is more likely missed than not.
        assert!(!of(20, 0.95) && !of(20, 0.90) && !of(20, 0.81) && of(20, 0.80));
        assert!(!of(10_000, 0.95) && !of(10_000, 0.944) && of(10_000, 0.943));
        assert_eq!(Account::default().low_recall(), None);
    }

    #[test]
    fn simhashes_that_are_all_compared() {
        let of = |sketches, most| {
            let vectors = Hamming { at: 0, bits: 64, most };
            AllWithAll::new(vectors.compares_all().then_some(vectors), sketches)
        };
        assert!(of(20_000, 15).are_many() && !of(19_999, 15).are_many() && !of(1 << 30, 14).are_many());
        let said = of(20_000, 20).to_string();
        assert!(said.starts_with("20000 simhashes") && said.contains("a distance of 20 of 64"), "{said}");
    }

    #[test]
    fn codes_that_say_little() {
        let of = |codes: &[&str]| {
            let mut weak = WeakCodes::default();
            codes.iter().for_each(|code| weak.add(code));
            weak
        };
        let chinese = "系法這流以点从码";
        let weak = of(&[chinese, "", "系法這", "abcdefgh", "系法這abcdef"]);
        assert_eq!(weak, WeakCodes { codes: 4, characters: 28, short: 1, alphabetic: 2 });
        assert!(weak.are_many() && !of(&[chinese, "abc"]).are_many() && !of(&[""]).are_many());
        let long = |texts, mean| ComparedTexts { texts, characters: texts * mean };
        assert!(long(2000, 400).are_long() && !long(1999, 4000).are_long() && !long(20_000, 399).are_long());
        assert_eq!(of(&["abc"]).and(of(&[chinese, ""])), of(&[chinese, "abc"]));
        assert_eq!(
            weak.to_string(),
            "of 4 feature codes, 7.0 characters long on average, 1 are shorter than 8 and 2 mostly letters of an \
             alphabet: parts of such codes are equal by chance"
        );
    }
}
