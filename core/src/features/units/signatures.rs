//! The signatures of a unit of text (a sentence or a whole document) as a set of numbers: shingles,
//! one I-Match value, or SpotSigs (docs/design/algorithms.md section 6).

use super::document_counts::DocumentCounts;
use crate::error::Result;
use crate::executor::{self, Executor, Stop};
use crate::features::FeatureSpec;
use crate::features::imatch::{self, IdfRange};
use crate::features::shingles::for_each_shingle;
use crate::features::spotsigs::{self, Antecedents, SpotSpec, Spots};
use crate::hash::hash_bytes;
use crate::memory;
use crate::storage::rows::starts;
use crate::text::words::{WordScratch, for_each_word};

const DOING: &str = "making signatures";

/// The kind of signatures.
///
/// ```
/// use neardup_core::PassageParameters;
/// use neardup_core::parameters::{IdfRange, SentenceFeatures};
///
/// let usual = SentenceFeatures::Imatch(IdfRange::default());
/// assert_eq!(PassageParameters::default().features, usual);
/// ```
#[derive(Debug, Clone, PartialEq)]
pub enum Features {
    /// Shingles of this many words; a unit of fewer words is one shingle.
    Shingles(usize),
    /// One signature of the terms whose idf is in a range, or of all terms if no idf is in the
    /// range.
    Imatch(IdfRange),
    /// Chains that follow common words.
    Spotsigs(SpotSpec),
}

impl Features {
    /// Checks the parameters.
    ///
    /// Fails for values outside their ranges.
    ///
    /// ```
    /// use neardup_core::parameters::SentenceFeatures;
    ///
    /// assert!(SentenceFeatures::Shingles(3).check().is_ok());
    /// assert!(SentenceFeatures::Shingles(0).check().is_err());
    /// ```
    pub fn check(&self) -> Result<()> {
        match self {
            Self::Shingles(k) => FeatureSpec::check_shingle("shingle", *k as i64).map(|_| ()),
            Self::Imatch(_) => Ok(()),
            Self::Spotsigs(spec) => spec.check(),
        }
    }

    /// Reports whether the signatures depend on how many documents have each word.
    #[cfg_attr(not(feature = "internals"), doc(hidden))]
    pub fn are_counted(&self) -> bool {
        match self {
            Self::Shingles(_) => false,
            Self::Imatch(_) => true,
            Self::Spotsigs(spec) => matches!(spec.antecedents, Antecedents::Counted(_)),
        }
    }

    /// Prepares a maker. `words` has the words of all documents if words are counted, and
    /// `documents` is the number of documents. `are_whole` is set if the units are documents.
    #[cfg_attr(not(feature = "internals"), doc(hidden))]
    pub fn ready(
        &self,
        words: &mut DocumentCounts<'_>,
        documents: u64,
        are_whole: bool,
        executor: &dyn Executor,
    ) -> Result<Maker> {
        Ok(match self {
            Self::Shingles(k) => Maker::Shingles(*k),
            Self::Imatch(range) => {
                let documents = counted_documents(documents);
                // Either the words that count or the words that do not count are stored, whichever
                // list is shorter.
                let (mut all, mut kept) = (0u64, 0u64);
                words.for_each(executor, &mut |_, df| {
                    all += 1;
                    kept += u64::from(range.keeps(df, documents));
                    Ok(())
                })?;
                let (kept, mut hashes) = (kept < all / 2, Vec::new());
                words.for_each(executor, &mut |hash, df| match range.keeps(df, documents) == kept {
                    true => memory::push(&mut hashes, hash, DOING),
                    false => Ok(()),
                })?;
                executor::sort(executor, &mut hashes, Ord::cmp)?;
                Maker::Imatch(Terms::new(hashes, kept)?)
            }
            Self::Spotsigs(spec) => {
                let counted = match spec.antecedents {
                    Antecedents::Counted(count) => Some(words.most_frequent(count as usize, executor)?),
                    _ => None,
                };
                Maker::Spotsigs { spots: Spots::new(spec, counted)?, are_whole }
            }
        })
    }
}

/// The set of words that count for an I-Match signature.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Terms {
    /// The hashes of some words, ascending.
    hashes: Vec<u64>,
    /// For each value of the uppermost bits of a hash, the start of the hashes with that value. The
    /// last element is the end of all hashes. A hash shifted right by `shift` is the value of its
    /// uppermost bits.
    starts: Vec<usize>,
    shift: u32,
    /// Whether the words in `hashes` count. Otherwise all other words count.
    kept: bool,
}

impl Terms {
    /// Creates the terms whose idf in `documents` documents is in a range. `counts` has the hashes
    /// of words, and for each of them the number of documents that have the word. A word that is
    /// not in `counts` is in one document.
    pub fn counted(range: IdfRange, counts: &[(u64, u64)], documents: u64) -> Result<Self> {
        let documents = documents.max(1);
        let kept = !range.keeps(1, documents);
        let mut hashes = Vec::new();
        for &(hash, df) in counts {
            if range.keeps(df, documents) == kept {
                memory::push(&mut hashes, hash, DOING)?;
            }
        }
        hashes.sort_unstable();
        Self::new(hashes, kept)
    }

    /// Creates the terms without the words with these ascending hashes.
    pub fn all_but(hashes: impl ExactSizeIterator<Item = u64>) -> Result<Self> {
        let all = memory::collect(hashes, DOING)?;
        Self::new(all, false)
    }

    /// Creates the set of the words with these ascending hashes if `kept` is true, and of all other
    /// words if it is false.
    fn new(hashes: Vec<u64>, kept: bool) -> Result<Self> {
        // There are about as many values as hashes, so that few hashes share a value.
        let bits = hashes.len().max(2).ilog2();
        let shift = u64::BITS - bits;
        let starts = starts(1 << bits, hashes.iter().map(|hash| (hash >> shift) as usize), DOING)?;
        Ok(Self { hashes, starts, shift, kept })
    }

    fn count(&self, word: &[u8]) -> bool {
        let hash = hash_bytes(word);
        let listed = !self.hashes.is_empty() && {
            let value = (hash >> self.shift) as usize;
            self.hashes[self.starts[value]..self.starts[value + 1]].binary_search(&hash).is_ok()
        };
        listed == self.kept
    }
}

/// Returns the number of documents for computing the idf. With two documents, any word that both
/// have would be in all documents, and nothing that the two share could be found. So two documents
/// count as one.
pub fn counted_documents(documents: u64) -> u64 {
    if documents <= 2 { 1 } else { documents }
}

/// Makes the signatures of units.
#[derive(Debug)]
pub enum Maker {
    /// See [`Features::Shingles`].
    Shingles(usize),
    /// See [`Features::Imatch`].
    Imatch(Terms),
    /// See [`Features::Spotsigs`].
    Spotsigs {
        /// Makes the signatures of units with words.
        spots: Spots,
        /// Whether the units are documents, which have a signature even if they have no word.
        are_whole: bool,
    },
}

/// Scratch memory that is reused from unit to unit.
#[derive(Debug, Default)]
pub struct SignatureScratch {
    word: WordScratch,
    hashes: Vec<u64>,
    bytes: Vec<u8>,
    terms: Words,
    spots: spotsigs::SpotScratch,
}

/// Words, concatenated.
#[derive(Debug, Default)]
struct Words {
    text: Vec<u8>,
    places: Vec<WordPlace>,
    /// The words in ascending order, with a space between each two.
    joined: Vec<u8>,
}

/// The place of a word in the text, and the first bytes of the word as a number, which decides the
/// order of most words.
#[derive(Debug, Clone, Copy)]
struct WordPlace {
    head: u64,
    from: usize,
    to: usize,
}

impl Maker {
    /// Writes the signatures of a unit to `signatures`, including repeats, and reports whether the
    /// unit has a word, or signs that are compared in its place. Words are cut as for the other
    /// methods, so neither case nor white space matters.
    pub fn make(
        &self,
        unit: &str,
        scratch: &mut SignatureScratch,
        signatures: &mut Vec<i64>,
        stop: &Stop,
    ) -> Result<bool> {
        signatures.clear();
        let SignatureScratch { word, hashes, bytes, terms, spots } = scratch;
        if let Self::Imatch(which) = self {
            terms.text.clear();
            terms.places.clear();
            for_each_word(unit, word, stop, |word| if which.count(word) { terms.add(word) } else { Ok(()) })?;
            if terms.places.is_empty() {
                // Text that many documents share may have no rare word.
                for_each_word(unit, word, stop, |word| terms.add(word))?;
            }
            let signature = terms.signature(stop)?;
            memory::extend(signatures, signature.as_slice(), DOING)?;
            return Ok(signature.is_some());
        }
        hashes.clear();
        for_each_word(unit, word, stop, |word| memory::push(hashes, hash_bytes(word), DOING))?;
        match self {
            Self::Shingles(k) => for_each_shingle(hashes, *k, false, bytes, stop, |shingle| {
                memory::push(signatures, shingle.cast_signed(), DOING)
            })?,
            Self::Spotsigs { are_whole: true, .. } if hashes.is_empty() => {
                Spots::add_signs(unit, signatures, stop)?;
            }
            Self::Spotsigs { spots: maker, .. } => maker.add(hashes, spots, signatures, stop)?,
            Self::Imatch(_) => {}
        }
        Ok(!hashes.is_empty() || !signatures.is_empty())
    }

    /// Returns the number of bytes on the heap.
    pub fn bytes(&self) -> usize {
        match self {
            Self::Imatch(terms) => memory::bytes(&terms.hashes) + memory::bytes(&terms.starts),
            _ => 0,
        }
    }
}

impl Words {
    fn add(&mut self, word: &[u8]) -> Result<()> {
        let from = self.text.len();
        memory::extend(&mut self.text, word, DOING)?;
        let mut head = [0; size_of::<u64>()];
        let known = word.len().min(head.len());
        head[..known].copy_from_slice(&word[..known]);
        let place = WordPlace { head: u64::from_be_bytes(head), from, to: self.text.len() };
        memory::push(&mut self.places, place, DOING)
    }

    /// Returns the first 64 bits of the I-Match signature of the words, or `None` if there is no
    /// word.
    fn signature(&mut self, stop: &Stop) -> Result<Option<i64>> {
        let Self { text, places, joined } = self;
        let word = |place: &WordPlace| &text[place.from..place.to];
        // Words with the same head may differ after the head, or in how many zero bytes they end
        // with.
        let order = |a: &WordPlace, b: &WordPlace| a.head.cmp(&b.head).then_with(|| word(a).cmp(word(b)));
        executor::sort_unstable_by(places, stop, &order)?;
        places.dedup_by(|a, b| order(a, b).is_eq());
        joined.clear();
        memory::reserve(joined, text.len() + places.len(), DOING)?;
        for place in places.iter() {
            if !joined.is_empty() {
                joined.push(b' ');
            }
            joined.extend_from_slice(word(place));
        }
        let signature = (!joined.is_empty()).then(|| imatch::signature_of_joined(joined));
        Ok(signature.map(|signature| imatch::words(&signature)[0].cast_signed()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::features::shingles;
    use crate::text::words::words;

    fn of(maker: &Maker, unit: &str) -> Vec<i64> {
        let mut signatures = Vec::new();
        maker.make(unit, &mut SignatureScratch::default(), &mut signatures, &Stop::default()).unwrap();
        signatures
    }

    #[test]
    fn neither_case_nor_white_space_counts() {
        let spots = Spots::new(&SpotSpec::default(), None).unwrap();
        let makers = [
            Maker::Shingles(3),
            Maker::Imatch(Terms::default()),
            Maker::Spotsigs { spots, are_whole: false },
        ];
        for maker in makers {
            let plain = of(&maker, "The crane on the quay is a 好 one.");
            assert!(!plain.is_empty());
            assert_eq!(plain, of(&maker, "THE crane\n    on the  quay\u{3000}is a 好\none"));
            assert!(of(&maker, " ,.").is_empty());
        }
    }

    #[test]
    fn shingles_are_those_of_words() {
        let unit = "one two three four";
        let hashes: Vec<u64> = words(unit).iter().map(|word| hash_bytes(word.as_bytes())).collect();
        for k in 1..6 {
            let mut expected = Vec::new();
            shingles::for_each_shingle(&hashes, k, false, &mut Vec::new(), &Stop::default(), |shingle| {
                expected.push(shingle.cast_signed());
                Ok(())
            })
            .unwrap();
            assert_eq!(of(&Maker::Shingles(k), unit), expected);
            assert_eq!(expected.len(), if k > 4 { 1 } else { 5 - k });
        }
    }

    #[test]
    fn dropped_words_are_no_terms() {
        let counts = [(hash_bytes(b"the"), 10), (hash_bytes(b"of"), 9), (hash_bytes(b"quay"), 2)];
        let maker = Maker::Imatch(Terms::counted(IdfRange::default(), &counts, 10).unwrap());
        assert_eq!(of(&maker, "The crane of the quay"), of(&maker, "quay crane quay"));
        assert_ne!(of(&maker, "quay crane"), of(&maker, "quay"));
        // If no word would count, all words count.
        assert_eq!(of(&maker, "of the"), of(&Maker::Imatch(Terms::default()), "The, of, of"));
        assert_ne!(of(&maker, "of the"), of(&maker, "the"));
        assert!(of(&maker, "...").is_empty());
        // Only words that two documents have count. Words that are not in `counts` are in one
        // document.
        let range = IdfRange::new(0.1, 0.9).unwrap();
        let some = Maker::Imatch(Terms::counted(range, &counts, 10).unwrap());
        assert_eq!(of(&some, "the quay crane"), of(&maker, "quay"));
        assert_eq!(
            of(&maker, "quay"),
            [imatch::words(&imatch::signature([b"quay".as_slice()]).unwrap())[0].cast_signed()]
        );
    }
}
