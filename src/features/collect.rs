//! Documents into sets of token numbers, one worker at a time but for the numbering ([`super::numbering`]).
//!
//! The k-th occurrence of a token is a token of its own where repeats count (algorithms.md section
//! 1, *Multiset to set*), so that everything after this knows plain sets only.

use super::dictionary::{Dictionary, Lookup, REPEAT};
use super::numbering::Pending;
use super::texts::TextCollector;
use super::tokens::{Document, FeatureSpec, Scratch, Token, Tokenizer, for_each_token};
use crate::error::{Error, Result};
use crate::hash::mix;
use crate::memory;
use crate::workers::Stop;

const DOING: &str = "collecting token sets";

/// Sets of token numbers, one behind the other, each with the row it came from.
#[derive(Debug, Default)]
pub struct Sets {
    /// The tokens of all sets.
    pub tokens: Vec<u32>,
    /// Where each set ends in `tokens`.
    pub ends: Vec<usize>,
    /// The row of each set.
    pub rows: Vec<u32>,
    /// A sum of the hashes of a set's tokens: equal for equal sets, whatever their order.
    pub fingerprints: Vec<u64>,
}

impl Sets {
    /// Where the tokens of set `n` are.
    pub fn range(&self, n: usize) -> std::ops::Range<usize> {
        let start = if n == 0 { 0 } else { self.ends[n - 1] };
        start..self.ends[n]
    }

    /// Bytes on the heap.
    pub fn bytes(&self) -> usize {
        memory::bytes(&self.tokens)
            + memory::bytes(&self.ends)
            + memory::bytes(&self.rows)
            + memory::bytes(&self.fingerprints)
    }
}

/// Turns documents into sets.
#[derive(Debug)]
pub struct Collector {
    pub(super) spec: FeatureSpec,
    /// Tokens of documents whose sets [`super::numbering::number`] will make.
    pub(super) pending: Pending,
    /// The sets made so far.
    pub sets: Sets,
    /// The texts kept so far, where these are wanted in place of sets.
    pub texts: TextCollector,
    /// The number of tokens of all sets, those that were taken away too.
    pub tokens: u64,
    /// Documents without any token: they are similar to nothing and have no set.
    pub empty: u64,
    /// Documents of which table are added: 0 for the left one, 1 for the right one.
    pub(super) table: usize,
    /// How far sets are made of what is pending: documents, tokens put in order, and tokens kept.
    made: (usize, usize, usize),
    scratch: Scratch,
}

impl Collector {
    /// A collector without documents.
    pub fn new(spec: FeatureSpec) -> Self {
        Self {
            spec,
            pending: Pending::default(),
            sets: Sets::default(),
            texts: TextCollector::default(),
            tokens: 0,
            empty: 0,
            table: 0,
            made: (0, 0, 0),
            scratch: Scratch::default(),
        }
    }

    /// Says that from now on documents of the right table are added; nothing may be pending.
    pub fn go_right(&mut self) {
        debug_assert!(self.pending.documents.is_empty());
        self.table = 1;
    }

    /// Bytes on the heap.
    pub fn bytes(&self) -> usize {
        self.sets.bytes() + self.texts.bytes() + self.pending.bytes()
    }

    /// Adds the tokens of a document, to be numbered, or its text. After an error, a stop too, all is as
    /// it was before.
    pub fn add(&mut self, row: u32, document: &Document, stop: &Stop) -> Result<()> {
        if let (Tokenizer::Whole, Document::Text(text)) = (self.spec.tokenizer, document) {
            self.texts.add(row, text)?;
            self.empty += u64::from(text.is_empty());
            return Ok(());
        }
        let Pending { lookups, long, documents } = &mut self.pending;
        let (start, start_long) = (lookups.len(), long.len());
        let added = add_tokens(document, &self.spec, &mut self.scratch, lookups, long, documents.len(), stop);
        let added = added.and_then(|()| {
            let size = lookups.len() - start;
            if size > u32::MAX as usize {
                return Err(Error::TooMany { what: "tokens in a document", limit: u32::MAX.into() });
            }
            match size {
                0 => self.empty += 1,
                _ => memory::push(documents, (row, lookups.len()), DOING)?,
            }
            Ok(())
        });
        if added.is_err() {
            self.pending.lookups.truncate(start);
            self.pending.long.truncate(start_long);
        }
        added
    }

    /// Makes the set of a document at once, with nothing pending and the dictionary for itself: for documents
    /// so long that their tokens should not be held twice. After an error, a stop too, all is as it was before.
    pub fn add_at_once(
        &mut self,
        row: u32,
        document: &Document,
        dictionary: &mut Dictionary,
        stop: &Stop,
    ) -> Result<()> {
        let Self { spec, sets, table, scratch, .. } = self;
        let stamp = dictionary.stamps(1)?;
        let (start, mut fingerprint, mut long) = (sets.tokens.len(), 0u64, Vec::new());
        let mut count = 0usize;
        let added = for_each_token(document, spec, scratch, stop, |token: Token<'_>| {
            if count.is_multiple_of(CHECK_EVERY) {
                stop.check()?;
            }
            count += 1;
            long.clear();
            let lookup = Lookup::new(token, 0, &mut long)?;
            if let Some(number) = dictionary.number(&lookup, &long, stamp, *table, spec.multiset)? {
                memory::push(&mut sets.tokens, number, DOING)?;
                fingerprint = fingerprint.wrapping_add(mix(lookup.hash));
            }
            Ok(())
        });
        let added = added.and_then(|()| {
            let size = sets.tokens.len() - start;
            if size > u32::MAX as usize {
                return Err(Error::TooMany { what: "tokens in a document", limit: u32::MAX.into() });
            }
            if size == 0 {
                self.empty += 1;
                return Ok(());
            }
            memory::reserve(&mut sets.ends, 1, DOING)?;
            memory::reserve(&mut sets.rows, 1, DOING)?;
            memory::push(&mut sets.fingerprints, fingerprint, DOING)?;
            sets.rows.push(row);
            sets.ends.push(sets.tokens.len());
            self.tokens += size as u64;
            Ok(())
        });
        if added.is_err() {
            for token in sets.tokens.drain(start..) {
                dictionary.forget(token, *table);
            }
        }
        added
    }

    /// Makes the sets of what is pending, in this thread: for few tokens.
    pub(super) fn number_here(&mut self, dictionary: &mut Dictionary) -> Result<()> {
        let Self { spec, pending: Pending { lookups, long, documents }, sets, table, .. } = self;
        let stamp = dictionary.stamps(documents.len())?;
        let start = sets.tokens.len();
        for lookup in lookups.iter() {
            let number = dictionary.number(lookup, long, stamp + lookup.document, *table, spec.multiset)?;
            memory::push(&mut sets.tokens, number.unwrap_or(REPEAT), DOING)?;
        }
        self.made = (0, start, start);
        self.make_sets(&Stop::default())
    }

    /// Puts the numbers of all pending tokens into the order of their documents. Begins anew after a stop.
    pub(super) fn scatter(&mut self, order: &[u32], numbers: &[u32], stop: &Stop) -> Result<()> {
        let start = self.sets.tokens.len();
        memory::reserve(&mut self.sets.tokens, numbers.len(), DOING)?;
        self.sets.tokens.resize(start + numbers.len(), REPEAT);
        let tokens = &mut self.sets.tokens[start..];
        for (order, numbers) in order.chunks(CHECK_EVERY).zip(numbers.chunks(CHECK_EVERY)) {
            if let Err(stopped) = stop.check() {
                self.sets.tokens.truncate(start);
                return Err(stopped);
            }
            order.iter().zip(numbers).for_each(|(&n, &number)| tokens[n as usize] = number);
        }
        self.made = (0, start, start);
        Ok(())
    }

    /// Makes the sets of what is pending and was put in order, from where it was stopped on.
    pub(super) fn make_sets(&mut self, stop: &Stop) -> Result<()> {
        let Self { pending: Pending { lookups, long, documents }, sets, made: (done, from, kept), .. } = self;
        memory::reserve(&mut sets.ends, documents.len(), DOING)?;
        memory::reserve(&mut sets.rows, documents.len(), DOING)?;
        memory::reserve(&mut sets.fingerprints, documents.len(), DOING)?;
        let first = sets.tokens.len() - lookups.len();
        while let Some(&(row, end)) = documents.get(*done) {
            stop.check()?;
            let mut fingerprint = 0u64;
            let start = *kept;
            for n in *from..first + end {
                let number = sets.tokens[n];
                if number != REPEAT {
                    fingerprint = fingerprint.wrapping_add(mix(lookups[n - first].hash));
                    sets.tokens[*kept] = number;
                    *kept += 1;
                }
            }
            (*from, *done) = (first + end, *done + 1);
            sets.rows.push(row);
            sets.fingerprints.push(fingerprint);
            sets.ends.push(*kept);
            self.tokens += (*kept - start) as u64;
        }
        sets.tokens.truncate(*kept);
        lookups.clear();
        long.clear();
        documents.clear();
        Ok(())
    }
}

const CHECK_EVERY: usize = 1 << 14;

fn add_tokens(
    document: &Document,
    spec: &FeatureSpec,
    scratch: &mut Scratch,
    lookups: &mut Vec<Lookup>,
    long: &mut Vec<u8>,
    number: usize,
    stop: &Stop,
) -> Result<()> {
    let number = u32::try_from(number)
        .map_err(|_| Error::TooMany { what: "documents in a batch", limit: u32::MAX.into() })?;
    for_each_token(document, spec, scratch, stop, |token: Token<'_>| {
        if lookups.len().is_multiple_of(CHECK_EVERY) {
            stop.check()?;
        }
        memory::push(lookups, Lookup::new(token, number, long)?, DOING)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::features::numbering::number;
    use crate::workers::PlainThreads;

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
    fn whole_texts_are_kept() {
        let (sets, tokens, empty) = sizes(FeatureSpec::WHOLE, &["as soon", "", "as soon"]);
        assert_eq!((sets, tokens, empty), (vec![], 0, 1));
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
