//! The search for passages that documents share: the text is carried. Documents meet by the
//! signatures of their sentences, or by the runs of words that edited passages have, and passages
//! are found in two documents at a time.
//!
//! Each document is a record of its own, also if others have the same text.

use crate::error::Result;
use crate::executor::{self, CallingThread, Stop};
use crate::features::hash_sets::make_set;
use crate::features::runs::tokens::{Rolling, read_tokens};
use crate::features::spotsigs::Spots;
use crate::features::tokens::{Document, Scratch, Tokenizer};
use crate::features::units::sets::{DocumentUnit, Gathering, Units};
use crate::features::units::signatures::{Features, Maker, SignatureScratch, Terms, counted_documents};
use crate::hash::{hash_bytes, mix};
use crate::joins::keys::Key;
use crate::memory;
use crate::methods::carrier::{Carrier, LeftOut, Meeting, Places, of_text, to_text, to_texts};
use crate::passages::edited::EditedWords;
use crate::passages::edited::search::edited_between;
use crate::passages::search::Search;
use crate::passages::{Parameters, Passage, PassageSearch};
use crate::storage::files::{NoFiles, Resources};
use crate::text::characters::is_space;
use crate::text::sentences::for_each_sentence;
use crate::text::words::{WordScratch, for_each_word};

const DOING: &str = "choosing signatures of sentences";

/// The parameters of a search for passages that is made in parts.
#[derive(Debug, Clone)]
pub struct SharedPassages(Parameters);

impl SharedPassages {
    /// Makes the description of a search, or returns None if its signatures depend on all documents
    /// in a way that is not known in parts, or if passages within one document are wanted: no
    /// document meets itself.
    pub fn new(parameters: Parameters) -> Option<Self> {
        // Edited passages have no signatures.
        let is_known = parameters.edits.is_some()
            || !parameters.features.are_counted()
            || matches!(parameters.features, Features::Imatch(_));
        (is_known && !parameters.within_documents).then_some(Self(parameters))
    }

    /// Returns the maker of the signatures of sentences.
    fn maker(&self, left_out: LeftOut<'_>) -> Result<Maker> {
        Ok(match &self.0.features {
            Features::Shingles(k) => Maker::Shingles(*k),
            Features::Imatch(_) => Maker::Imatch(Terms::all_but(left_out.terms())?),
            Features::Spotsigs(spec) => Maker::Spotsigs { spots: Spots::new(spec, None)?, are_whole: false },
        })
    }

    /// Returns the passages that two documents share. The one with the lesser id comes first, and
    /// has row 0; the other one has row 1.
    pub fn passages(&self, pair: [&[u8]; 2], left_out: LeftOut<'_>, stop: &Stop) -> Result<Vec<Passage>> {
        // Words are counted elsewhere.
        const UNCOUNTED: Features = Features::Shingles(1);
        let texts = to_texts(pair)?;
        let document = |n: usize| memory::copied(texts[n], DOING).map(Document::Text);
        if let Some(edits) = self.0.edits {
            return edited_between([&document(0)?, &document(1)?], &self.0, edits, stop);
        }
        let executor = CallingThread { stop };
        let mut gathering = Gathering::new(DocumentUnit::Sentence, &UNCOUNTED, &NoFiles, &executor);
        for row in 0..2 {
            gathering.readers[0].add(row, &document(row as usize)?, stop)?;
            gathering.settle(|_| Ok(()), usize::MAX, &executor)?;
        }
        let (mut library, _, _) = gathering.finish(&UNCOUNTED, 1, &executor)?;
        let units = Units::in_order(&mut library, &[0], Some(&[1]))?;
        let resources = Resources { files: &NoFiles, budget: usize::MAX / 4, executor: &executor };
        let maker = self.maker(left_out)?;
        let mut search = Search::new(library, units, &maker, &self.0, resources, &mut |_| {})?;
        let mut all = Vec::new();
        while let Some(batch) = search.next_batch(&executor)? {
            memory::append(&mut all, batch, DOING)?;
        }
        Ok(all)
    }
}

/// Returns how many of the least hashes of a set two similar sets have one in common of.
fn prefix(threshold: f64, size: usize) -> usize {
    // Rounded down, so that the prefix is rather too long.
    let shared = (threshold * size as f64 - 1e-6).ceil().max(1.0) as usize;
    size - shared.min(size) + 1
}

/// Adds the keys of the runs of words that an edited passage has one of.
fn run_keys(text: &str, edits: EditedWords, keys: &mut Vec<Key>, stop: &Stop) -> Result<()> {
    let mut words = Vec::new();
    read_tokens(text, Tokenizer::Words, &mut Scratch::default(), &mut words, stop)?;
    let mut rule = Rolling::new(edits.run());
    let windows = (1..=words.len()).map(|n| rule.roll(&words[..n])).skip(edits.run() - 1);
    let mut hashes = memory::collect(windows, DOING)?;
    executor::sort_unstable_by(&mut hashes, stop, &Ord::cmp)?;
    hashes.dedup();
    memory::append(keys, hashes.iter().map(|&hash| Key::limited(hash)), DOING)
}

impl Carrier for SharedPassages {
    fn carry(&self, document: &Document, _: Places<'_>, _: &Stop) -> Result<Vec<u8>> {
        let bytes = of_text(document)?;
        let is_blank = to_text(&bytes)?.chars().all(is_space);
        Ok(if is_blank { Vec::new() } else { bytes })
    }

    fn meeting(&self) -> Meeting {
        let most = Some(self.0.most_similar.into());
        match &self.0.features {
            _ if self.0.edits.is_some() => Meeting::Keys { most, filter: None },
            Features::Imatch(_) => Meeting::Terms { most },
            _ => Meeting::Keys { most: None, filter: None },
        }
    }

    fn keys(&self, carried: &[u8], left_out: LeftOut<'_>, keys: &mut Vec<Key>, stop: &Stop) -> Result<()> {
        let text = to_text(carried)?;
        if let Some(edits) = self.0.edits {
            return run_keys(text, edits, keys, stop);
        }
        let maker = self.maker(left_out)?;
        let (mut scratch, mut signatures) = (SignatureScratch::default(), Vec::new());
        for_each_sentence(text, stop, |span| {
            maker.make(&text[span.bytes.clone()], &mut scratch, &mut signatures, stop)?;
            if let Features::Imatch(_) = self.0.features {
                // More sentences than may be similar to one have a key that more documents have.
                for &signature in &signatures {
                    memory::push(keys, Key::limited(mix(signature.cast_unsigned())), DOING)?;
                }
                return Ok(());
            }
            let mut hashes: Vec<u64> =
                memory::collect(signatures.iter().map(|signature| mix(signature.cast_unsigned())), DOING)?;
            executor::sort_unstable_by(&mut hashes, stop, &Ord::cmp)?;
            hashes.dedup();
            if !hashes.is_empty() {
                hashes.truncate(prefix(self.0.threshold, hashes.len()));
            }
            memory::append(keys, hashes.iter().map(|&hash| Key::from_hash(hash)), DOING)?;
            Ok(())
        })
    }

    fn set(&self, carried: &[u8], stop: &Stop) -> Result<Vec<u64>> {
        let mut terms = Vec::new();
        for_each_word(to_text(carried)?, &mut WordScratch::default(), stop, |word| {
            memory::push(&mut terms, hash_bytes(word), DOING)
        })?;
        make_set(&mut terms, false, stop)?;
        Ok(terms)
    }

    fn counts(&self, having: u64, all: u64) -> bool {
        match &self.0.features {
            Features::Imatch(range) => range.keeps(having, counted_documents(all)),
            _ => true,
        }
    }

    fn similarity(&self, pair: [&[u8]; 2], left_out: LeftOut<'_>, stop: &Stop) -> Result<Option<f64>> {
        let passages = self.passages(pair, left_out, stop)?;
        Ok(passages.iter().map(|passage| passage.similarity).reduce(f64::max))
    }

    /// Passages of equal texts have places, too.
    fn is_like_itself(&self, _: &[u8], _: &Stop) -> Result<bool> {
        Ok(false)
    }

    fn is_ordered(&self) -> bool {
        true
    }

    fn differs(&self) -> Option<&'static str> {
        Some(
            "max_similar counts the sentences, or runs, of two documents in parts, so that more passages may be found than partial_duplicates finds",
        )
    }
}
