//! What kind of texts documents are: how long, and in which scripts. O(bytes); four bytes a
//! document stay in memory.

use crate::error::Result;
use crate::executor::Stop;
use crate::features::FeatureSpec;
use crate::features::tokens::{Document, Tokenizer};
use crate::memory;
use crate::methods::reading::Reading;
use crate::text::characters::{WordClass, class};
use crate::text::words::{WordScratch, for_each_word};

const DOING: &str = "looking at texts";

/// The kind of the texts of some documents.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct TextProfile {
    /// The number of documents that have a word.
    pub documents: u64,
    /// The numbers of words of these: the twentieth part has at most the first number, half of them
    /// at most the second, all but a twentieth part at most the third.
    pub words: [u32; 3],
    /// The share of the words that are characters of scripts without spaces.
    pub characters: f64,
    /// True if the documents are texts, and not tokens that the caller has made.
    pub are_texts: bool,
}

/// What documents are to be compared by.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ComparedBy {
    /// Runs of three characters.
    Grams,
    /// Single words.
    Words,
    /// Runs of three words.
    Runs,
}

impl ComparedBy {
    /// Returns the derivation of sets from documents.
    pub fn spec(self) -> FeatureSpec {
        let runs = FeatureSpec { shingle: 3, multiset: false, ..FeatureSpec::WORDS };
        match self {
            Self::Grams => FeatureSpec { tokenizer: Tokenizer::Chars, ..runs },
            Self::Words => FeatureSpec::WORDS,
            Self::Runs => runs,
        }
    }
}

impl TextProfile {
    /// Reads the documents and looks at each.
    pub fn read(reading: &mut Reading<'_>) -> Result<Self> {
        let mut lookers: Vec<Looker> = (0..reading.executor.count()).map(|_| Looker::default()).collect();
        reading.read(|batch| {
            batch.share_out(&mut lookers, |looker, _, document, stop| looker.add(document, stop))?;
            Ok(lookers.iter().map(|looker| memory::bytes(&looker.words)).sum())
        })?;
        let mut all = Looker::default();
        for looker in &lookers {
            memory::extend(&mut all.words, &looker.words, DOING)?;
            all.characters += looker.characters;
            all.is_of_tokens |= looker.is_of_tokens;
        }
        Ok(all.profile())
    }

    /// Returns what the documents are best compared by: characters if they have only a few words,
    /// of which a changed one is much; runs of words if they are long, as long texts of one subject
    /// have many words in common.
    pub fn parts(&self) -> ComparedBy {
        const FEW: u32 = 8;
        const MANY: u32 = 100;
        match self.words[1] {
            median if median > MANY => ComparedBy::Runs,
            median if median < FEW && self.are_texts && self.characters < 0.5 => ComparedBy::Grams,
            _ => ComparedBy::Words,
        }
    }

    /// Returns how many times the words of a short document a long one has.
    pub fn spread(&self) -> f64 {
        f64::from(self.words[2]) / f64::from(self.words[0].max(1))
    }
}

/// What a worker has seen of documents.
#[derive(Debug, Default)]
struct Looker {
    space: WordScratch,
    scratch: Document,
    /// The number of words of each document that has one.
    words: Vec<u32>,
    /// The number of words that are characters of scripts without spaces.
    characters: u64,
    is_of_tokens: bool,
}

impl Looker {
    fn add(&mut self, document: &Document, stop: &Stop) -> Result<()> {
        let (mut words, mut characters) = (0u64, 0);
        let tokens = match document.read(&mut self.scratch, stop)? {
            Document::Text(text) => {
                for_each_word(text, &mut self.space, stop, |word| {
                    words += 1;
                    characters += u64::from(is_character(word));
                    Ok(())
                })?;
                None
            }
            Document::Tokens(tokens) => Some(tokens.len()),
            Document::Numbers(numbers) => Some(numbers.len()),
            // A page has been read as a text.
            Document::Page(_) => None,
        };
        let words = u32::try_from(tokens.map_or(words, |tokens| tokens as u64)).unwrap_or(u32::MAX);
        if words > 0 {
            memory::push(&mut self.words, words, DOING)?;
            self.characters += characters;
            self.is_of_tokens |= tokens.is_some();
        }
        Ok(())
    }

    fn profile(mut self) -> TextProfile {
        self.words.sort_unstable();
        let all: u64 = self.words.iter().map(|&words| u64::from(words)).sum();
        // Of two documents in the middle, the shorter one counts.
        let at = |twentieths: usize| {
            let place = (self.words.len() * twentieths).div_ceil(20).max(1) - 1;
            self.words.get(place).copied().unwrap_or(0)
        };
        TextProfile {
            documents: self.words.len() as u64,
            words: [at(1), at(10), at(19)],
            characters: if all == 0 { 0.0 } else { self.characters as f64 / all as f64 },
            are_texts: !self.is_of_tokens,
        }
    }
}

fn is_character(word: &[u8]) -> bool {
    let first = std::str::from_utf8(word).ok().and_then(|word| word.chars().next());
    first.is_some_and(|first| class(first) == WordClass::Alone)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::executor::PlainThreads;
    use crate::methods::corpus::Corpus;
    use crate::methods::documents::Quiet;
    use crate::storage::files::{NoFiles, Resources};

    fn of(documents: &[Document], threads: usize) -> TextProfile {
        let mut corpus = Corpus::new(documents.len(), |row| Some(documents[row].clone()));
        let executor = PlainThreads(threads);
        let resources = Resources { files: &NoFiles, budget: 1 << 24, executor: &executor };
        TextProfile::read(&mut Reading::new(&mut corpus, &mut Quiet, resources)).unwrap()
    }

    fn texts(words: impl IntoIterator<Item = usize>, word: &str) -> Vec<Document> {
        words.into_iter().map(|words| Document::Text(word.repeat(words))).collect()
    }

    #[test]
    fn quantiles_are_those_of_sorted_lengths() {
        assert_eq!(of(&[], 1).words, [0, 0, 0]);
        for threads in [1, 3] {
            let profile = of(&texts((0..=100).rev(), "quay "), threads);
            assert_eq!((profile.documents, profile.words, profile.spread()), (100, [5, 50, 95], 19.0));
        }
        assert_eq!(of(&texts([7, 9], "quay "), 2).words, [7, 7, 9]);
    }

    #[test]
    fn parts_by_length_and_script() {
        let parts = |words, word| of(&texts([words; 9], word), 1).parts();
        assert_eq!([parts(5, "quay "), parts(8, "quay ")], [ComparedBy::Grams, ComparedBy::Words]);
        assert_eq!([parts(100, "quay "), parts(101, "quay ")], [ComparedBy::Words, ComparedBy::Runs]);
        let chinese = of(&texts([5; 9], "港"), 1);
        assert_eq!((chinese.parts(), chinese.characters), (ComparedBy::Words, 1.0));
        let tokens = of(&[Document::Tokens(vec!["a".into(); 3])], 1);
        assert_eq!((tokens.parts(), tokens.are_texts, tokens.words[1]), (ComparedBy::Words, false, 3));
        assert_eq!(of(&[], 1).documents, 0);
    }
}
