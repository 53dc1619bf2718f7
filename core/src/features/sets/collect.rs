//! Turns documents into sets of token numbers. Each worker does so separately, except for the
//! numbering ([`crate::features::dictionary::numbering`]).
//!
//! If repeats count, the k-th occurrence of a token is a separate token (docs/design/algorithms.md
//! section 1, *Multiset to set*), so that all later steps see plain sets.

use super::distinct_hashes::DistinctHashes;
use super::number_sets::Sets;
use super::overflow::OverflowToken;
use super::vocabulary_batch::LookedUpDocument;
use crate::error::{Error, Result};
use crate::executor::{self, Executor, Stop};
use crate::features::dictionary::Dictionary;
use crate::features::dictionary::lookup::{Lookup, short_word};
use crate::features::dictionary::pending::{Pending, PendingDocument, UNKNOWN};
use crate::features::dictionary::shard::{OVERFLOW, REPEAT};
use crate::features::dictionary::vocabulary::Vocabulary;
use crate::features::tokens::{Document, FeatureSpec, Scratch, Token, for_each_token};
use crate::text::words::{for_each_words, for_text_of_signs};
use crate::{hash, memory};

const DOING: &str = "collecting token sets";

/// Turns documents into sets.
#[derive(Debug)]
pub struct Collector {
    pub(crate) spec: FeatureSpec,
    /// The tokens of documents whose sets [`crate::features::dictionary::numbering::number`] will
    /// make.
    pub(crate) pending: Pending,
    /// The words that this worker knows.
    pub(crate) vocabulary: Vocabulary,
    /// The sets made so far.
    pub sets: Sets,
    /// The number of tokens of all sets, including sets that were moved out of this collector.
    pub tokens: u64,
    /// The number of documents without any token. They are similar to nothing and have no set.
    pub empty: u64,
    /// The table of the documents that are added: 0 for the left table, 1 for the right table.
    pub(crate) table: usize,
    /// Whether tokens that are numbers stay hashes, which are counted when all sets are known.
    pub(super) keeps_hashes: bool,
    /// The progress of making sets of the pending documents: how many documents are done, how many
    /// tokens they have, and how many of these tokens were looked up in the dictionary.
    made: (usize, usize, usize),
    scratch: Scratch,
    /// Scratch memory for the words that a document has more than once.
    repeated: Vec<u32>,
    /// Scratch memory for the distinct hashes of a document.
    distinct: DistinctHashes,
}

impl Collector {
    /// Creates a collector without documents.
    pub fn new(spec: FeatureSpec) -> Self {
        Self {
            spec,
            pending: Pending::default(),
            vocabulary: Vocabulary::default(),
            sets: Sets::default(),
            tokens: 0,
            empty: 0,
            table: 0,
            keeps_hashes: false,
            made: (0, 0, 0),
            scratch: Scratch::default(),
            repeated: Vec::new(),
            distinct: DistinctHashes::new(),
        }
    }

    /// Starts the right table: later documents are in it. No document may be pending.
    pub fn go_right(&mut self) {
        debug_assert!(self.pending.documents.is_empty());
        self.sets.numbers.seal();
        self.table = 1;
    }

    /// Returns the number of bytes on the heap.
    pub fn bytes(&self) -> usize {
        self.sets.bytes() + self.pending.bytes() + self.vocabulary.bytes()
    }

    /// Adds the tokens of a document, which are numbered later. After an error, including a stop,
    /// everything is as it was before.
    pub fn add(&mut self, row: u32, document: &Document, stop: &Stop) -> Result<()> {
        if self.keeps_hashes && document.has_numbers(&self.spec) {
            return self.add_hashes(row, document, stop);
        }
        let start = (self.pending.tokens.len(), self.pending.lookups.len(), self.pending.long.len());
        let added = self.add_tokens(document, stop).and_then(|fingerprint| {
            let Pending { tokens, documents, .. } = &mut self.pending;
            match check_size(tokens.len() - start.0)? {
                0 => self.empty += 1,
                _ => {
                    let document = PendingDocument { row, end: tokens.len(), fingerprint };
                    memory::push(documents, document, DOING)?;
                }
            }
            // Nothing can fail from here on.
            if self.spec.multiset {
                self.repeated.iter().for_each(|&last| self.vocabulary.count_last(last, self.table));
            }
            Ok(())
        });
        if added.is_err() {
            for place in self.pending.tokens.drain(start.0..).filter(|&place| place != UNKNOWN) {
                self.vocabulary.forget(place, self.table);
            }
            self.pending.lookups.truncate(start.1);
            self.pending.long.truncate(start.2);
        }
        added
    }

    /// Makes the set of a document whose tokens are numbers. After an error, including a stop,
    /// everything is as it was before.
    fn add_hashes(&mut self, row: u32, document: &Document, stop: &Stop) -> Result<()> {
        let Self { spec, sets, scratch, distinct, .. } = self;
        let hashes = sets.numbers.open()?;
        let start = hashes.len();
        let made = for_each_token(document, spec, scratch, stop, |token| {
            stop.check_every(hashes.len() + 1, CHECK_EVERY)?;
            let Token::Number(number) = token else { return Ok(()) };
            memory::push(hashes, hash::mix(number), DOING)
        });
        let made = made.and_then(|()| {
            match spec.multiset {
                true => executor::sort_unstable_by(&mut hashes[start..], stop, &Ord::cmp)?,
                false => distinct.keep(hashes, start, stop)?,
            }
            let fingerprint = hashes[start..].iter().fold(0u64, |sum, &hash| sum.wrapping_add(hash));
            Ok((check_size(hashes.len() - start)?, fingerprint))
        });
        let added = made.and_then(|(size, fingerprint)| self.close_set(row, size, fingerprint));
        if added.is_err() {
            self.sets.numbers.forget(start);
        }
        added
    }

    /// Makes a set of so many tokens after the last set, if there are any.
    fn close_set(&mut self, row: u32, size: usize, fingerprint: u64) -> Result<()> {
        match size {
            0 => self.empty += 1,
            _ => self.sets.close(row, fingerprint)?,
        }
        self.tokens += size as u64;
        Ok(())
    }

    /// Adds the tokens of a document. Returns the sum of the hashes of the tokens that are in the
    /// vocabulary.
    fn add_tokens(&mut self, document: &Document, stop: &Stop) -> Result<u64> {
        let Self { spec, pending, vocabulary, table, scratch, repeated, .. } = self;
        let Pending { tokens, lookups, long, documents, .. } = pending;
        let number = u32::try_from(documents.len())
            .map_err(|_| Error::TooMany { what: "documents in a batch", limit: u32::MAX.into() })?;
        repeated.clear();
        let mut words =
            LookedUpDocument::new(vocabulary, [tokens, repeated], lookups, number, *table, spec.multiset)?;
        each_lookup(document, spec, scratch, number, long, stop, |lookup, _| words.add(lookup))?;
        words.end(stop)
    }

    /// Makes the set of a document at once, with exclusive use of the dictionary. No document may
    /// be pending. This is for documents so long that their tokens should not be held twice. After
    /// an error, including a stop, everything is as it was before.
    pub fn add_at_once(
        &mut self,
        row: u32,
        document: &Document,
        dictionary: &mut Dictionary,
        stop: &Stop,
    ) -> Result<()> {
        if self.keeps_hashes && document.has_numbers(&self.spec) {
            return self.add_hashes(row, document, stop);
        }
        let Self { spec, sets, table, scratch, .. } = self;
        let stamp = dictionary.stamps(1)?;
        let (start, overflow) = (sets.tokens.len(), sets.overflow.len());
        let mut fingerprint = 0u64;
        let mut long = Vec::new();
        let added = each_lookup(document, spec, scratch, 0, &mut long, stop, |lookup, long| {
            match dictionary.number(&lookup, long, stamp, *table, spec.multiset)? {
                REPEAT => {}
                OVERFLOW => memory::push(&mut sets.overflow, OverflowToken::new(&lookup, long), DOING)?,
                number => {
                    memory::push(&mut sets.tokens, number, DOING)?;
                    fingerprint = fingerprint.wrapping_add(lookup.hash);
                }
            }
            long.clear();
            Ok(())
        });
        let added = added.and_then(|()| {
            let sets = &mut self.sets;
            let hashes = sets.settle_overflow(overflow, self.spec.multiset);
            fingerprint = fingerprint.wrapping_add(hashes);
            let size = check_size(sets.tokens.len() - start + sets.overflow.len() - overflow)?;
            self.close_set(row, size, fingerprint)
        });
        if added.is_err() {
            for token in self.sets.tokens.drain(start..) {
                dictionary.forget(token, self.table);
            }
            self.sets.overflow.truncate(overflow);
        }
        added
    }

    /// Returns the tokens of a row in ascending order, or no tokens if the document was empty. It
    /// searches all sets for the row, so it is meant for few documents.
    pub fn set_of_row(&self, row: u32, stop: &Stop) -> Result<Vec<u32>> {
        let mut tokens = Vec::new();
        if let Some(n) = self.sets.rows.iter().position(|&known| known == row) {
            memory::extend(&mut tokens, &self.sets.tokens[self.sets.range(n)], "comparing two texts")?;
        }
        executor::sort_unstable_by(&mut tokens, stop, &Ord::cmp)?;
        Ok(tokens)
    }

    /// Adds the documents counted by this worker to the dictionary's counts. No document may be
    /// pending.
    pub fn settle(&mut self, dictionary: &mut Dictionary) {
        self.vocabulary.settle(dictionary);
    }

    /// Prepares for a dictionary that will be frozen. No document may be pending.
    pub(super) fn freeze(&mut self, dictionary: &mut Dictionary) {
        self.vocabulary.close(dictionary);
    }

    /// Numbers the pending tokens that have to be looked up in the dictionary, in this thread. It
    /// is meant for few tokens.
    pub(crate) fn number_here(&mut self, dictionary: &mut Dictionary, executor: &dyn Executor) -> Result<()> {
        let Self { spec, pending: Pending { lookups, long, documents, numbers, .. }, table, .. } = self;
        let stamp = dictionary.stamps(documents.len())?;
        for (n, lookup) in lookups.iter().enumerate() {
            executor::breathe(executor, n, CHECK_EVERY)?;
            let number = dictionary.number(lookup, long, stamp + lookup.document, *table, spec.multiset)?;
            memory::push(numbers, number, DOING)?;
        }
        Ok(())
    }

    /// Makes the sets of the pending documents, whose tokens must be numbered. After a stop, the
    /// next call goes on from there.
    pub(crate) fn make_sets(&mut self, stop: &Stop) -> Result<()> {
        let Self { pending, vocabulary, sets, made: (done, from, looked_up), spec, .. } = self;
        let repeats_count = &spec.multiset;
        let words = vocabulary.numbered();
        while let Some(&PendingDocument { row, end, mut fingerprint }) = pending.documents.get(*done) {
            stop.check()?;
            memory::reserve(&mut sets.tokens, end - *from, DOING)?;
            let (start, mut next) = (sets.tokens.len(), *looked_up);
            let overflow = sets.overflow.len();
            let mut runs = pending.tokens[*from..end].split(|&place| place == UNKNOWN);
            let mut run = runs.next();
            while let Some(known) = run {
                sets.tokens.extend(known.iter().map(|&place| words[place as usize]));
                run = runs.next();
                if run.is_some() {
                    // The token between two runs.
                    let lookup = &pending.lookups[next];
                    match pending.numbers[next] {
                        REPEAT => {}
                        OVERFLOW => {
                            let token = OverflowToken::new(lookup, &pending.long);
                            memory::push(&mut sets.overflow, token, DOING)?;
                        }
                        number => {
                            fingerprint = fingerprint.wrapping_add(lookup.hash);
                            sets.tokens.push(number);
                        }
                    }
                    next += 1;
                }
            }
            let hashes = sets.settle_overflow(overflow, *repeats_count);
            sets.close(row, fingerprint.wrapping_add(hashes))?;
            self.tokens += (sets.tokens.len() - start + sets.overflow.len() - overflow) as u64;
            (*done, *from, *looked_up) = (*done + 1, end, next);
        }
        (*done, *from, *looked_up) = (0, 0, 0);
        pending.clear();
        Ok(())
    }
}

const CHECK_EVERY: usize = 1 << 14;

/// Calls `each` with the lookup of each token of a document that has this number in its batch.
/// Content that does not fit into a lookup is appended to `long`.
#[inline(always)]
fn each_lookup(
    document: &Document,
    spec: &FeatureSpec,
    scratch: &mut Scratch,
    number: u32,
    long: &mut Vec<u8>,
    stop: &Stop,
    mut each: impl FnMut(Lookup, &mut Vec<u8>) -> Result<()>,
) -> Result<()> {
    let Some(text) = document.plain_words(spec) else {
        let mut count = 0usize;
        return for_each_token(document, spec, scratch, stop, |token: Token<'_>| {
            stop.check_every(count, CHECK_EVERY)?;
            count += 1;
            each(Lookup::new(token, number, long)?, long)
        });
    };
    let mut none = true;
    for_each_words(text, scratch.word(), stop, |text, places| {
        none = none && places.is_empty();
        // Two calls, as each makes its lookup in registers.
        places.iter().try_for_each(|&[start, end]| match short_word(text, start..end) {
            Some(content) => each(Lookup::of_short(content, number), long),
            None => each(Lookup::new(Token::Bytes(&text[start..end]), number, long)?, long),
        })
    })?;
    if none {
        for_text_of_signs(text, stop, &mut |signs: &[u8]| {
            each(Lookup::new(Token::Bytes(signs), number, long)?, long)
        })?;
    }
    Ok(())
}

fn check_size(tokens: usize) -> Result<usize> {
    match u32::try_from(tokens) {
        Ok(_) => Ok(tokens),
        Err(_) => Err(Error::TooMany { what: "tokens in a document", limit: u32::MAX.into() }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::executor::PlainThreads;
    use crate::features::Tokenizer;
    use crate::features::dictionary::numbering::number;

    fn sizes(spec: FeatureSpec, texts: &[&str]) -> (Vec<usize>, usize, u64) {
        let mut dictionary = Dictionary::default();
        let mut c = Collector::new(spec);
        for (row, text) in texts.iter().enumerate() {
            c.add(row as u32, &Document::Text((*text).to_owned()), &Stop::default()).unwrap();
        }
        number(&mut dictionary, std::slice::from_mut(&mut c), &PlainThreads(1)).unwrap();
        let sizes = (0..c.sets.ends.len()).map(|n| c.sets.range(n).len()).collect();
        (sizes, dictionary.len(), c.empty)
    }

    #[test]
    fn repeats_are_tokens_of_their_own() {
        let texts = ["as soon as possible", "", "as as as", "possible"];
        assert_eq!(sizes(FeatureSpec::WORDS, &texts), (vec![4, 3, 1], 5, 1));
        let set = FeatureSpec { multiset: false, ..FeatureSpec::WORDS };
        assert_eq!(sizes(set, &texts), (vec![3, 1, 1], 3, 1));
        let shingles = FeatureSpec { shingle: 2, ..set };
        assert_eq!(sizes(shingles, &texts), (vec![3, 1, 1], 5, 1));
        let grams = FeatureSpec { tokenizer: Tokenizer::Chars, shingle: 2, ..FeatureSpec::WORDS };
        assert_eq!(sizes(grams, &["aaaa", "a"]), (vec![3, 1], 4, 0));
    }

    #[test]
    fn a_stopped_document_leaves_no_trace() {
        let long = Document::Text("a b ".repeat(20_000));
        let mut c = Collector::new(FeatureSpec::WORDS);
        let stop = Stop::default();
        stop.request();
        assert_eq!(c.add(0, &long, &stop), Err(Error::Stopped));
        assert!(c.pending.lookups.is_empty() && c.pending.documents.is_empty());
        c.add(0, &long, &Stop::default()).unwrap();
        number(&mut Dictionary::default(), std::slice::from_mut(&mut c), &PlainThreads(1)).unwrap();
        assert_eq!((c.sets.tokens.len(), c.tokens), (40_000, 40_000));
        assert_eq!(c.sets.ends, [40_000]);

        let mut dictionary = Dictionary::default();
        let mut direct = Collector::new(FeatureSpec::WORDS);
        assert_eq!(direct.add_at_once(0, &long, &mut dictionary, &stop), Err(Error::Stopped));
        direct.add_at_once(0, &long, &mut dictionary, &Stop::default()).unwrap();
        assert_eq!((direct.tokens, &direct.sets.ends), (40_000, &c.sets.ends));
        assert_eq!(direct.sets.fingerprints, c.sets.fingerprints);
        let known = dictionary.shards().iter().flat_map(|shard| (0..shard.len()).map(|n| shard.documents(n)));
        assert!(known.clone().all(|documents| documents == [1, 0]) && known.count() == 40_000);
    }
}
