//! Changed documents kept in memory, and which of them are similar to others as these are read: exactly.

use std::cmp::Ordering;

use super::changed::Changed;
use super::digest::Digester;
use super::token_order::Order;
use crate::error::Result;
use crate::features::FeatureSpec;
use crate::features::tokens::{Document, Scratch, Token, for_each_token};
use crate::hash;
use crate::joins::sets::bounds::Bounds;
use crate::memory;
use crate::ragged::Ragged;
use crate::verify::predicate::Predicate;
use crate::workers::Stop;

const DOING: &str = "comparing changed documents";

/// Token sets: their tokens by hash and, where two have the same, by bytes.
#[derive(Debug, Default)]
pub struct TokenSets {
    scratch: Scratch,
    /// Tokens of one document: their hashes, and their numbers.
    tokens: Vec<(u64, u32)>,
    /// The bytes of each, in the order of the text.
    text: Ragged<u8>,
    rows: Vec<u32>,
    /// The hashes of the tokens of each document.
    hashes: Ragged<u64>,
    /// The bytes of each of all tokens.
    bytes: Ragged<u8>,
}

impl TokenSets {
    /// Bytes on the heap.
    pub fn bytes(&self) -> usize {
        memory::bytes(&self.rows) + self.hashes.bytes() + self.bytes.bytes()
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.rows.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// Adds the set of a document, if that was not the last one added. O(tokens · log tokens).
    pub fn add(&mut self, row: u32, document: &Document, spec: &FeatureSpec, stop: &Stop) -> Result<()> {
        if self.rows.last() == Some(&row) {
            return Ok(());
        }
        let Self { scratch, tokens, text, rows, hashes, bytes } = self;
        tokens.clear();
        text.clear();
        for_each_token(document, spec, scratch, stop, |token| {
            let hash = match token {
                Token::Bytes(bytes) => {
                    memory::extend(&mut text.values, bytes, DOING)?;
                    hash::hash_bytes(bytes)
                }
                // No two numbers have the same hash.
                Token::Number(number) => hash::mix(number),
            };
            text.close(DOING)?;
            memory::push(tokens, (hash, tokens.len() as u32), DOING)
        })?;
        let token = |&(_, n): &(u64, u32)| text.get(n as usize);
        tokens.sort_unstable_by_key(|token| token.0);
        for same in tokens.chunk_by_mut(|a, b| a.0 == b.0).filter(|same| same.len() > 1) {
            // Equal tokens, or distinct ones of one hash.
            same.sort_unstable_by(|a, b| token(a).cmp(token(b)));
        }
        if !spec.multiset {
            tokens.dedup_by(|a, b| a.0 == b.0 && token(a) == token(b));
        }
        memory::reserve(&mut hashes.values, tokens.len(), DOING)?;
        hashes.reserve(1, DOING)?;
        bytes.reserve(tokens.len(), DOING)?;
        memory::reserve(&mut bytes.values, text.values.len(), DOING)?;
        memory::reserve(rows, 1, DOING)?;
        for each in tokens.iter() {
            hashes.values.push(each.0);
            bytes.push(token(each), DOING)?;
        }
        rows.push(row);
        hashes.close(DOING)
    }

    /// The hashes of the tokens of the set that was added last, ascending.
    pub fn last(&self) -> &[u64] {
        self.hashes.last()
    }

    /// Removes all.
    pub fn clear(&mut self) {
        self.rows.clear();
        self.hashes.clear();
        self.bytes.clear();
    }

    fn token(&self, token: usize) -> (u64, &[u8]) {
        (self.hashes.values[token], self.bytes.get(token))
    }

    /// How many tokens two sets share, and how many they have.
    fn counts(&self, set: usize, others: &Self, other: usize) -> [u32; 3] {
        let (mut a, mut b) = (self.hashes.range(set), others.hashes.range(other));
        let sizes = [a.len() as u32, b.len() as u32];
        let mut shared = 0;
        while !a.is_empty() && !b.is_empty() {
            // The bytes are looked at where hashes are equal.
            let order = self.hashes.values[a.start]
                .cmp(&others.hashes.values[b.start])
                .then_with(|| self.token(a.start).1.cmp(others.token(b.start).1));
            match order {
                Ordering::Less => a.start += 1,
                Ordering::Greater => b.start += 1,
                Ordering::Equal => {
                    shared += 1;
                    (a.start, b.start) = (a.start + 1, b.start + 1);
                }
            }
        }
        [shared, sizes[0], sizes[1]]
    }
}

/// Changed documents that others are compared with.
#[derive(Debug)]
pub struct Matcher {
    changed: Changed,
    /// The sets, in parts.
    sets: Vec<TokenSets>,
    /// Where the set of each row is.
    places: Vec<(u32, u32)>,
    order: Order,
    spec: FeatureSpec,
    predicate: Predicate,
}

/// Space that comparisons use in turn, and what was found.
#[derive(Debug, Default)]
pub struct Matches {
    digester: Digester,
    set: TokenSets,
    candidates: Vec<u32>,
    /// A row of another document, one of a changed document, and their similarity.
    pub found: Vec<(u32, u32, f64)>,
}

impl Matcher {
    /// Makes ready. There is a set of each changed document.
    pub fn new(
        changed: Changed,
        sets: Vec<TokenSets>,
        order: Order,
        spec: FeatureSpec,
        predicate: Predicate,
    ) -> Result<Self> {
        let most = sets.iter().flat_map(|sets| &sets.rows).max().map_or(0, |&row| row as usize + 1);
        let mut places = memory::filled((0, 0), most, DOING)?;
        for (part, sets) in (0..).zip(&sets) {
            (0..).zip(&sets.rows).for_each(|(n, &row)| places[row as usize] = (part, n));
        }
        Ok(Self { changed, sets, places, order, spec, predicate })
    }

    /// Adds the changed documents that are similar to a document; none but rows of `partners` are, where these are known.
    pub fn find(
        &self,
        row: u32,
        document: &Document,
        partners: Option<&[u32]>,
        matches: &mut Matches,
        stop: &Stop,
    ) -> Result<()> {
        let Matches { digester, set, candidates, found } = matches;
        set.clear();
        set.add(row, document, &self.spec, stop)?;
        let partners = match partners {
            Some(partners) => partners,
            None => {
                self.candidates(row, set.last(), digester, candidates)?;
                candidates
            }
        };
        self.check(row, set, 0, partners, found)
    }

    /// How many parts the changed documents are in.
    pub fn parts(&self) -> usize {
        self.sets.len()
    }

    /// Adds pairs of changed documents of which the first one is in a part, after its first `done`; each comes both
    /// ways, and each document with itself. Ends when there are many, and says whether it is at the end of the part.
    pub fn find_among(
        &self,
        part: usize,
        done: &mut usize,
        matches: &mut Matches,
        stop: &Stop,
    ) -> Result<bool> {
        const MANY: usize = 1 << 16;
        let Matches { digester, candidates, found, .. } = matches;
        let sets = &self.sets[part];
        while let Some(&row) = sets.rows.get(*done) {
            stop.check()?;
            if found.len() >= MANY {
                return Ok(false);
            }
            self.candidates(row, sets.hashes.get(*done), digester, candidates)?;
            self.check(row, sets, *done, candidates, found)?;
            *done += 1;
        }
        Ok(true)
    }

    /// The changed documents that may be similar to one with these hashes.
    fn candidates(
        &self,
        row: u32,
        hashes: &[u64],
        digester: &mut Digester,
        candidates: &mut Vec<u32>,
    ) -> Result<()> {
        digester.digests.clear();
        digester.add_hashes(row, hashes, &self.order, &Bounds::new(self.predicate))?;
        candidates.clear();
        self.changed.near(&digester.digests, candidates)
    }

    /// Adds those that are similar.
    fn check(
        &self,
        row: u32,
        sets: &TokenSets,
        set: usize,
        candidates: &[u32],
        found: &mut Vec<(u32, u32, f64)>,
    ) -> Result<()> {
        memory::reserve(found, candidates.len(), DOING)?;
        for &changed in candidates {
            let (part, place) = self.places[changed as usize];
            let [shared, size, other] = self.sets[part as usize].counts(place as usize, sets, set);
            if self.predicate.passes(shared, size, other) {
                found.push((row, changed, self.predicate.similarity(shared, size, other)));
            }
        }
        Ok(())
    }
}
