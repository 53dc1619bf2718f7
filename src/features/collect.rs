//! Documents into sets of token numbers, one worker at a time.
//!
//! The k-th occurrence of a token is a token of its own where repeats count (algorithms.md section
//! 1, *Multiset to set*), so that everything after this knows plain sets only.

use super::dictionary::Dictionary;
use super::tokens::{Document, FeatureSpec, Scratch, Token, for_each_token};
use crate::error::{Error, Result};
use crate::hash;
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

/// Turns documents into sets, with a dictionary of its own.
#[derive(Debug)]
pub struct Collector {
    spec: FeatureSpec,
    /// The tokens met so far.
    pub dictionary: Dictionary,
    /// The sets made so far.
    pub sets: Sets,
    /// Documents without any token: they are similar to nothing and have no set.
    pub empty: u64,
    /// For each token the last set that had it and how often.
    seen: Vec<(u32, u32)>,
    scratch: Scratch,
}

impl Collector {
    /// A collector without documents.
    pub fn new(spec: FeatureSpec) -> Self {
        Self {
            spec,
            dictionary: Dictionary::default(),
            sets: Sets::default(),
            empty: 0,
            seen: Vec::new(),
            scratch: Scratch::default(),
        }
    }

    /// Bytes on the heap.
    pub fn bytes(&self) -> usize {
        self.dictionary.bytes() + self.sets.bytes() + memory::bytes(&self.seen)
    }

    /// Adds the set of a document. After an error, a stop too, the sets are as they were before.
    pub fn add(&mut self, row: u32, document: &Document, stop: &Stop) -> Result<()> {
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
            self.sets.ends.push(self.sets.tokens.len());
            Ok(())
        });
        if added.is_err() {
            self.sets.tokens.truncate(start);
            // Marks of the set that was given up must not count for the next one.
            self.seen.iter_mut().for_each(|mark| mark.1 = 0);
        }
        added
    }

    fn add_tokens(&mut self, document: &Document, stop: &Stop) -> Result<u64> {
        const CHECK_EVERY: usize = 1 << 14;
        let Self { spec, dictionary, sets, seen, scratch, .. } = self;
        let set = u32::try_from(sets.rows.len())
            .ok()
            .filter(|&n| n < u32::MAX)
            .ok_or(Error::TooMany { what: "documents", limit: u32::MAX.into() })?;
        let mut fingerprint = 0u64;
        let mut count = 0;
        for_each_token(document, spec, scratch, stop, |token: Token<'_>| {
            count += 1;
            if count % CHECK_EVERY == 0 {
                stop.check()?;
            }
            let mut number = dictionary.number(token)?;
            if seen.len() < dictionary.len() {
                memory::push(seen, (u32::MAX, 0), DOING)?;
            }
            let mark = &mut seen[number as usize];
            if mark.0 == set && mark.1 > 0 {
                if !spec.multiset {
                    return Ok(());
                }
                mark.1 += 1;
                number = dictionary.occurrence(number, mark.1)?;
                if seen.len() < dictionary.len() {
                    memory::push(seen, (u32::MAX, 0), DOING)?;
                }
            } else {
                *mark = (set, 1);
            }
            fingerprint = fingerprint.wrapping_add(hash::mix(dictionary.hash(number)));
            memory::push(&mut sets.tokens, number, DOING)
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
