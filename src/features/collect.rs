//! Documents into sets of token numbers, one worker at a time.
//!
//! The k-th occurrence of a token is a token of its own where repeats count (algorithms.md section
//! 1, *Multiset to set*), so that everything after this knows plain sets only.

use super::dictionary::Dictionary;
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

/// What is known of a token.
#[derive(Debug, Clone, Copy, Default)]
struct Mark {
    /// The last document that had it, and how often so far.
    document: u32,
    times: u32,
    /// In how many documents of each table it is.
    documents: [u32; 2],
}

/// Turns documents into sets, with a dictionary of its own.
#[derive(Debug)]
pub struct Collector {
    spec: FeatureSpec,
    /// The tokens met so far.
    pub dictionary: Dictionary,
    /// The sets made so far.
    pub sets: Sets,
    /// The texts kept so far, where these are wanted in place of sets.
    pub texts: TextCollector,
    /// The number of tokens of all sets, those that were taken away too.
    pub tokens: u64,
    /// Documents without any token: they are similar to nothing and have no set.
    pub empty: u64,
    /// What is known of each token.
    marks: Vec<Mark>,
    /// A number for each document that no other one has.
    next: u32,
    /// Documents of which table are added: 0 for the left one, 1 for the right one.
    table: usize,
    scratch: Scratch,
}

impl Collector {
    /// A collector without documents.
    pub fn new(spec: FeatureSpec) -> Self {
        Self {
            spec,
            dictionary: Dictionary::default(),
            sets: Sets::default(),
            texts: TextCollector::default(),
            tokens: 0,
            empty: 0,
            marks: Vec::new(),
            next: 0,
            table: 0,
            scratch: Scratch::default(),
        }
    }

    /// Says that from now on documents of the right table are added.
    pub fn go_right(&mut self) {
        self.table = 1;
    }

    /// In how many documents of a table, 0 or 1, a token of the dictionary is.
    #[inline]
    pub fn documents_with(&self, number: usize, table: usize) -> u32 {
        self.marks[number].documents[table]
    }

    /// Bytes on the heap.
    pub fn bytes(&self) -> usize {
        self.dictionary.bytes() + self.sets.bytes() + self.texts.bytes() + memory::bytes(&self.marks)
    }

    /// Adds the set of a document, or its text. After an error, a stop too, the sets are as they were
    /// before.
    pub fn add(&mut self, row: u32, document: &Document, stop: &Stop) -> Result<()> {
        if let (Tokenizer::Whole, Document::Text(text)) = (self.spec.tokenizer, document) {
            self.texts.add(row, text)?;
            self.empty += u64::from(text.is_empty());
            return Ok(());
        }
        let start = self.sets.tokens.len();
        let added = self.add_tokens(document, stop).and_then(|fingerprint| {
            let size = self.sets.tokens.len() - start;
            if size == 0 {
                self.empty += 1;
                return Ok(());
            }
            if size > u32::MAX as usize {
                return Err(Error::TooMany { what: "tokens in a document", limit: u32::MAX.into() });
            }
            memory::reserve(&mut self.sets.ends, 1, DOING)?;
            memory::reserve(&mut self.sets.rows, 1, DOING)?;
            memory::push(&mut self.sets.fingerprints, fingerprint, DOING)?;
            self.sets.rows.push(row);
            self.tokens += size as u64;
            self.sets.ends.push(self.sets.tokens.len());
            Ok(())
        });
        if added.is_err() {
            for token in self.sets.tokens.drain(start..) {
                self.marks[token as usize].documents[self.table] -= 1;
            }
        }
        added
    }

    fn add_tokens(&mut self, document: &Document, stop: &Stop) -> Result<u64> {
        const CHECK_EVERY: usize = 1 << 14;
        self.next =
            (self.next.checked_add(1)).ok_or(Error::TooMany { what: "documents", limit: u32::MAX.into() })?;
        let Self { spec, dictionary, sets, marks, scratch, next: document_number, table, .. } = self;
        let mut fingerprint = 0u64;
        let mut count = 0;
        for_each_token(document, spec, scratch, stop, |token: Token<'_>| {
            count += 1;
            if count % CHECK_EVERY == 0 {
                stop.check()?;
            }
            let (mut number, mut hash) = dictionary.number(token)?;
            if marks.len() < dictionary.len() {
                memory::push(marks, Mark::default(), DOING)?;
            }
            let mark = &mut marks[number as usize];
            if mark.document == *document_number {
                if !spec.multiset {
                    return Ok(());
                }
                mark.times += 1;
                (number, hash) = dictionary.occurrence((number, hash), mark.times)?;
                if marks.len() < dictionary.len() {
                    memory::push(marks, Mark::default(), DOING)?;
                }
            } else {
                (mark.document, mark.times) = (*document_number, 1);
            }
            memory::push(&mut sets.tokens, number, DOING)?;
            marks[number as usize].documents[*table] += 1;
            fingerprint = fingerprint.wrapping_add(mix(hash));
            Ok(())
        })?;
        Ok(fingerprint)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::features::Tokenizer;

    fn sizes(spec: FeatureSpec, texts: &[&str]) -> (Vec<usize>, usize, u64) {
        let mut c = Collector::new(spec);
        for (row, text) in texts.iter().enumerate() {
            c.add(row as u32, &Document::Text((*text).to_owned()), &Stop::default()).unwrap();
        }
        let sizes = (0..c.sets.ends.len()).map(|n| c.sets.range(n).len()).collect();
        (sizes, c.dictionary.len(), c.empty)
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
        assert!(c.sets.tokens.is_empty() && c.sets.rows.is_empty());
        c.add(0, &long, &Stop::default()).unwrap();
        let mut fresh = Collector::new(FeatureSpec::WORDS);
        fresh.add(0, &long, &Stop::default()).unwrap();
        assert_eq!(c.sets.tokens.len(), 40_000);
        assert_eq!(c.sets.fingerprints, fresh.sets.fingerprints);
    }
}
