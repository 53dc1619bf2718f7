//! Texts that are too short for what a method compares: runs of several words, or sentences.
//!
//! The words of each document are counted while it is read, up to 20 of them, so the median
//! is exact where it is less, and takes no memory.

use std::fmt::{self, Display, Formatter};
use std::sync::atomic::{AtomicU64, Ordering};

use crate::error::{Error, Result};
use crate::executor::Stop;
use crate::features::FeatureSpec;
use crate::features::tokens::{Document, Tokenizer};
use crate::joins::sketches::combination::TechniqueSpec;
use crate::joins::sketches::rule::Rule;
use crate::text::words::{WordScratch, for_each_words};

/// Texts of this number of words are long enough.
const LONG: usize = 20;

/// What a method compares, if one changed word of a short text changes most of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LongParts {
    /// Runs of a number of words.
    Shingles(usize),
    /// Sentences.
    Sentences,
    /// Chains of words after frequent words.
    Spots,
}

impl LongParts {
    /// Returns the parts of sets, if they are long.
    #[cfg_attr(not(feature = "internals"), doc(hidden))]
    pub fn of_sets(spec: &FeatureSpec) -> Option<Self> {
        const LEAST: usize = 4;
        let of_words = matches!(spec.tokenizer, Tokenizer::Words | Tokenizer::Whitespace | Tokenizer::Html);
        (of_words && spec.shingle >= LEAST).then_some(Self::Shingles(spec.shingle))
    }

    /// Returns the parts of the techniques without which a rule finds no pair, if they are long.
    pub(super) fn of_rule(rule: &Rule, techniques: &[TechniqueSpec]) -> Option<Self> {
        // Each of the alternatives has to be blind.
        let parts = rule.of_each(&|n| match techniques.get(n)? {
            TechniqueSpec::Simhash { feature, .. }
            | TechniqueSpec::Shingling { feature, .. }
            | TechniqueSpec::Minhash { feature, .. }
            | TechniqueSpec::Sets { feature, .. } => Self::of_sets(feature),
            TechniqueSpec::ExactText { .. } => None,
        });
        parts?.first().copied()
    }
}

/// The numbers of words of the documents of a method that compares long parts of them.
///
/// ```
/// use neardup_core::parameters::{Banding, TechniqueSpec};
/// use neardup_core::{Corpus, FeatureSpec, PlainThreads, MemoryFiles, Resources, Sketches};
///
/// let feature = FeatureSpec { shingle: 5, multiset: false, ..FeatureSpec::WORDS };
/// let plan = Banding::for_recall(0.8, 0.95)?;
/// let technique = TechniqueSpec::Minhash { feature, plan, seed: 1, threshold: 0.8, verify: true };
/// let resources = Resources { files: &MemoryFiles, budget: 1 << 24, executor: &PlainThreads(2) };
/// let titles: Vec<String> = (0..40).map(|n| format!("Harbour news of day {n}")).collect();
/// let method = Sketches::by_technique(technique);
/// let (_, account) = Corpus::of_texts(&titles).pairs_with(&method, resources)?;
/// let short = account.short_texts;
/// assert_eq!((short.median_words(), short.are_many()), (Some(5), true));
/// # Ok::<(), neardup_core::Error>(())
/// ```
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ShortTexts {
    /// What the method compares, if this is long.
    pub parts: Option<LongParts>,
    /// The number of documents of each number of words; the last is that of all longer ones.
    documents: [u64; LONG + 1],
}

impl ShortTexts {
    /// Returns the median of the numbers of words of the documents that have a word, and 20 if it
    /// is greater; `None` if words were not counted, or there are none.
    ///
    /// Of the two documents in the middle, the shorter one counts.
    ///
    /// ```
    /// assert_eq!(neardup_core::account::ShortTexts::default().median_words(), None);
    /// ```
    pub fn median_words(&self) -> Option<u64> {
        let of_words = &self.documents[1..];
        let all: u64 = of_words.iter().sum();
        let mut seen = 0;
        let place = of_words.iter().position(|&documents| {
            seen += documents;
            2 * seen >= all && seen > 0
        });
        place.map(|place| place as u64 + 1)
    }

    /// Reports whether the caller has to be informed: half of the documents have so few words that
    /// the method cannot see that they are similar, and they are not just a handful.
    pub fn are_many(&self) -> bool {
        const MANY: u64 = 20;
        let all: u64 = self.documents[1..].iter().sum();
        all >= MANY && self.median_words().is_some_and(|median| median < LONG as u64)
    }

    /// Adds the numbers of other documents of the same method.
    pub(super) fn add_all(&mut self, others: &Self) {
        self.parts = others.parts.or(self.parts);
        self.documents.iter_mut().zip(&others.documents).for_each(|(all, more)| *all += more);
    }

    pub(super) fn add(&mut self, counted: &WordCounts) {
        for (documents, counted) in self.documents.iter_mut().zip(&counted.0) {
            *documents += counted.load(Ordering::Relaxed);
        }
    }
}

impl Display for ShortTexts {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let median = self.median_words().unwrap_or(0);
        write!(f, "the median document has {median} word{}, and ", if median == 1 { "" } else { "s" })?;
        match self.parts {
            Some(LongParts::Shingles(words)) => write!(
                f,
                "runs of {words} words are compared: texts of {median} that differ in a word have few or none in common"
            ),
            Some(LongParts::Sentences) => write!(
                f,
                "sentences are compared: texts of one or two that differ in a word have few or none in common"
            ),
            Some(LongParts::Spots) => write!(
                f,
                "chains of words after frequent words are compared, of which such texts have few or none"
            ),
            None => write!(f, "short parts are compared"),
        }
    }
}

/// The numbers of words of the documents of a batch, which all threads count.
#[derive(Debug, Default)]
pub(super) struct WordCounts([AtomicU64; LONG + 1]);

impl WordCounts {
    /// Adds a document of a number of words.
    pub(super) fn add(&self, words: usize) {
        self.0[words.min(LONG)].fetch_add(1, Ordering::Relaxed);
    }

    /// Adds a document of very many bytes.
    pub(super) fn add_long(&self) {
        self.add(LONG);
    }
}

/// Returns the number of words of a document or, if it has more, a number of at least [`LONG`].
/// `space` is memory of the thread.
pub(super) fn words_in(document: &Document, space: &mut WordScratch, stop: &Stop) -> Result<usize> {
    /// A page of more bytes than this counts as long, so that its text is not made twice.
    const LONG_PAGE: usize = 4096;
    match document {
        Document::Text(text) => words_of(text, space, stop),
        Document::Page(page) if page.html.len() > LONG_PAGE => Ok(LONG),
        Document::Page(page) => {
            let mut text = String::new();
            page.read(&mut text, stop)?;
            words_of(&text, space, stop)
        }
        Document::Tokens(tokens) => Ok(tokens.len()),
        Document::Numbers(numbers) => Ok(numbers.len()),
    }
}

/// Counts the words of a text, but not many more than are needed.
fn words_of(text: &str, space: &mut WordScratch, stop: &Stop) -> Result<usize> {
    /// What ends the reading of words; the caller never sees it.
    const ENOUGH: Error = Error::TooMany { what: "words", limit: LONG as u64 };
    let mut count = 0;
    let read = for_each_words(text, space, stop, |_, words| {
        count += words.len();
        if count >= LONG { Err(ENOUGH) } else { Ok(()) }
    });
    match read {
        Err(error) if error != ENOUGH => Err(error),
        _ => Ok(count),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::features::tokens::Page;
    use crate::joins::sketches::combination::TechniqueSpec::ExactText;
    use crate::text::words::words;

    fn of(documents: &[Document]) -> ShortTexts {
        let (counts, mut space) = (WordCounts::default(), WordScratch::default());
        for document in documents {
            counts.add(words_in(document, &mut space, &Stop::default()).unwrap());
        }
        let mut short = ShortTexts { parts: Some(LongParts::Sentences), ..ShortTexts::default() };
        short.add(&counts);
        short
    }

    fn texts(words: &[usize]) -> Vec<Document> {
        words.iter().map(|&words| Document::Text("quay ".repeat(words))).collect()
    }

    #[test]
    fn the_median_is_that_of_sorted_counts() {
        let cases: &[&[usize]] = &[
            &[],
            &[0],
            &[0, 0, 3],
            &[1],
            &[1, 2],
            &[2, 1, 30],
            &[19, 20],
            &[20, 21],
            &[7000, 3, 3, 50],
            &[50, 60, 70],
            &[19; 40],
        ];
        for case in cases {
            let mut sorted: Vec<usize> = case.iter().copied().filter(|&words| words > 0).collect();
            sorted.sort_unstable();
            let median = (!sorted.is_empty()).then(|| sorted[(sorted.len() - 1) / 2].min(LONG) as u64);
            let counted = of(&texts(case));
            assert_eq!(counted.median_words(), median, "{case:?}");
            let many = sorted.len() >= 20 && median.is_some_and(|median| median < 20);
            assert_eq!(counted.are_many(), many, "{case:?}");
        }
    }

    #[test]
    fn words_of_all_kinds_of_documents() {
        let odd = ["", "a", "漢字 か", "— —", "e\u{301} \u{301}", &"ж".repeat(5000), &"a ".repeat(3000)];
        for text in odd {
            let expected = words(text).len().min(LONG);
            let counted = words_of(text, &mut WordScratch::default(), &Stop::default()).unwrap();
            assert_eq!(counted.min(LONG), expected, "{text:?}");
        }
        let page = |html: String| Document::Page(Page { html, url: None });
        let short = page("<p>red crane</p><script>a b c d</script>".into());
        let long = page(format!("<p>red</p>{}", "<br>".repeat(2000)));
        let tokens = Document::Tokens(vec!["a b".into(); 3]);
        let numbers = Document::Numbers(vec![1; 40]);
        assert_eq!(of(&[short]).median_words(), Some(2));
        assert_eq!(of(&[long]).median_words(), Some(20));
        assert_eq!(of(&[tokens]).median_words(), Some(3));
        assert_eq!(of(&[numbers]).median_words(), Some(20));
    }

    #[test]
    fn what_methods_compare() {
        let set = |shingle| FeatureSpec { shingle, multiset: false, ..FeatureSpec::WORDS };
        assert_eq!(LongParts::of_sets(&set(3)), None);
        assert_eq!(LongParts::of_sets(&set(5)), Some(LongParts::Shingles(5)));
        assert_eq!(LongParts::of_sets(&FeatureSpec { tokenizer: Tokenizer::Chars, ..set(5) }), None);
        let simhash = |shingle| TechniqueSpec::Simhash {
            feature: set(shingle),
            bits: 64,
            frequency: true,
            threshold: 0.9,
        };
        let techniques = [simhash(1), simhash(5), simhash(8), ExactText { clean: false, html: false }];
        let rule = |n: &[usize]| n.iter().map(|&n| Rule::Technique(n)).collect::<Vec<_>>();
        let of = |rule: Rule| LongParts::of_rule(&rule, &techniques);
        let [five, eight] = [5, 8].map(|words| Some(LongParts::Shingles(words)));
        assert_eq!([of(Rule::All(rule(&[0, 2]))), of(Rule::All(rule(&[0, 3])))], [eight, None]);
        assert_eq!([of(Rule::Any(rule(&[1, 2]))), of(Rule::Any(rule(&[1, 0])))], [five, None]);
        let by_site = |same: Option<usize>, different: Option<usize>| {
            let boxed = |n: Option<usize>| n.map(|n| Box::new(Rule::Technique(n)));
            Rule::BySite { at: 0, same: boxed(same), different: boxed(different) }
        };
        assert_eq!([of(by_site(None, Some(1))), of(by_site(Some(3), Some(1)))], [five, None]);
    }

    #[test]
    fn what_is_told() {
        let short = of(&texts(&[8; 30]));
        assert_eq!(
            short.to_string(),
            "the median document has 8 words, and sentences are compared: texts of one or two that differ in a word \
             have few or none in common"
        );
        let short = ShortTexts { parts: Some(LongParts::Shingles(5)), ..of(&texts(&[1])) };
        assert_eq!(
            short.to_string(),
            "the median document has 1 word, and runs of 5 words are compared: texts of 1 that differ in a word have \
             few or none in common"
        );
    }
}
