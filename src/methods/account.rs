//! What a call did, in numbers.

use std::fmt::{self, Display, Formatter};
use std::time::Instant;

use crate::joins::Counts;
use crate::joins::sketches::hamming::Hamming;

/// The account of one call.
#[derive(Debug, Clone, Default)]
pub struct Account {
    /// The rows that were read.
    pub documents: u64,
    /// Rows without a text.
    pub skipped_null: u64,
    /// Documents without a token.
    pub skipped_empty: u64,
    /// Tokens of all sets.
    pub tokens: u64,
    /// Distinct tokens.
    pub distinct_tokens: u64,
    /// Distinct sets.
    pub distinct_sets: u64,
    /// What the filters did.
    pub counts: Counts,
    /// Pairs given so far.
    pub pairs: u64,
    /// The most bytes held at a time, outside the server's own memory.
    pub peak_memory: u64,
    /// Threads worked with.
    pub threads: u64,
    /// The recall of minhash at the threshold, as promised and as measured on a sample.
    pub promised_recall: Option<f64>,
    /// What was measured.
    pub measured_recall: Option<f64>,
    /// The similar pairs of the sample that it was measured by.
    pub measured_by: u64,
    /// Whether the exact join found the pairs of minhash.
    pub handed_over: bool,
    /// The codes of `repeatability`.
    pub codes: WeakCodes,
    /// What has words and no signature.
    pub unsigned: Unsigned,
    /// The texts of `edit`.
    pub compared: ComparedTexts,
    /// Simhashes that are all compared with all.
    pub all_with_all: AllWithAll,
    /// Milliseconds of reading and tokenising, of ordering, and of joining until now.
    pub phases: [f64; 3],
}

impl Account {
    /// The recall that was promised and that which was measured, where the latter is less by more than the chance of a
    /// sample: three standard errors.
    pub fn low_recall(&self) -> Option<(f64, f64)> {
        let (promised, measured) = (self.promised_recall?, self.measured_recall?);
        let error = (promised * (1.0 - promised) / self.measured_by.max(1) as f64).sqrt();
        (measured < promised - 3.0 * error).then_some((promised, measured))
    }
}

/// The milliseconds since then.
pub fn milliseconds(since: Instant) -> f64 {
    since.elapsed().as_secs_f64() * 1000.0
}

/// Documents, or sentences, that have words and no signature, so that a method does not compare them.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Unsigned {
    /// How many.
    pub count: u64,
    /// Of how many.
    pub of: u64,
    /// Of what.
    pub units: &'static str,
    /// What a signature is made of, which they have not.
    pub without: &'static str,
    /// What is similar to them all the same.
    pub found: &'static str,
}

impl Unsigned {
    /// Whether they are so many that the caller is to be told: more than one in a hundred.
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

/// Distinct texts that are compared character by character, which takes long where they are long.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ComparedTexts {
    /// How many there are.
    pub texts: u64,
    /// Characters of all.
    pub characters: u64,
}

impl ComparedTexts {
    /// Whether the caller is to be told: bodies, and so many of them that their pairs take longer than some seconds.
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

/// Distinct simhashes that are all compared with all, as the distance is so great that no blocks tell them apart.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct AllWithAll {
    /// How many there are, none where they are found by blocks.
    pub sketches: u64,
    /// Of so many bits.
    pub bits: u32,
    /// The greatest distance of a pair.
    pub distance: u32,
}

impl AllWithAll {
    /// Those of a join, if it compares all with all.
    pub fn new(vectors: Option<Hamming>, sketches: u64) -> Self {
        vectors.map_or_else(Self::default, |Hamming { bits, most, .. }| Self {
            sketches,
            bits,
            distance: most,
        })
    }

    /// Whether the caller is to be told: their pairs are so many that they take more than a fraction of a second.
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

/// Feature codes that many documents share in part though these have nothing in common: short ones, and those of letters,
/// of which there are few.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct WeakCodes {
    /// How many codes there are, and their characters.
    pub codes: u64,
    /// See `codes`.
    pub characters: u64,
    /// How many are shorter than [`WeakCodes::SHORT`].
    pub short: u64,
    /// How many of the others are mostly letters of an alphabet.
    pub alphabetic: u64,
}

impl WeakCodes {
    /// Codes of fewer characters are short.
    pub const SHORT: usize = 8;

    /// Adds a code that is not empty.
    pub fn add(&mut self, code: &str) {
        /// From here on a script mostly has a character for a word.
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

    /// These and others.
    #[must_use]
    pub fn and(self, other: Self) -> Self {
        Self {
            codes: self.codes + other.codes,
            characters: self.characters + other.characters,
            short: self.short + other.short,
            alphabetic: self.alphabetic + other.alphabetic,
        }
    }

    /// Whether the caller is to be told: they are more than half of all.
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
        // One of twenty is missed more often than not.
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
