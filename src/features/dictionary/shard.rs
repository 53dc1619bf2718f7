//! A table of tokens, compared whole, with the documents that each is in and its repeats.

use std::borrow::Cow;

use super::lookup::{ContentKind, Lookup, short_bytes};
use super::slots::Slots;
use crate::error::{Error, Result};
use crate::hash;
use crate::memory;
use crate::prefetch::prefetch;

const DOING: &str = "numbering tokens";

/// How many tokens are looked up at a time, so that the memory they need is prefetched before it is read.
pub(crate) const TOGETHER: usize = 32;

/// A token, and what is known of it. Its place among the tokens of its shard is part of its number.
#[derive(Debug, Clone, Copy)]
struct KnownToken {
    content: [u64; 2],
    hash: u64,
    kind: ContentKind,
    /// The last document that had it.
    document: u32,
    /// The token of its last occurrence there: itself, or one of the following.
    current: u32,
    /// The token of the occurrence after this one, [`NONE`] if there is none yet.
    next: u32,
    /// In how many documents of each table it is.
    documents: [u32; 2],
}

const NONE: u32 = u32::MAX;

/// Tokens and what is known of each: the tokens of some hashes, as part of a dictionary.
#[derive(Debug)]
pub struct Shard {
    /// The most tokens it may have, for their numbers to fit into 32 bits.
    most: usize,
    /// The place of each token; further occurrences have none.
    slots: Slots,
    entries: Vec<KnownToken>,
    arena: Vec<u8>,
}

/// What is found for tokens that a document has already and whose repeats do not count.
pub const REPEAT: u32 = u32::MAX;

impl Shard {
    /// One without tokens, which is to have at most `most`.
    pub(crate) const fn new(most: usize) -> Self {
        Self { most, slots: Slots::new(), entries: Vec::new(), arena: Vec::new() }
    }

    /// Asks for what [`Shard::place`] will look at first for each of some lookups: all of it before any is needed.
    #[inline]
    pub(crate) fn touch<'a>(&self, lookups: impl Iterator<Item = &'a Lookup> + Clone) {
        lookups.clone().for_each(|lookup| self.slots.prefetch(lookup.hash));
        lookups.for_each(|lookup| prefetch(&self.entries, self.slots.first(lookup.hash)));
    }

    /// The place of a token of `document`, which is of this table; a new one if it was not met before. Where
    /// repeats count, the k-th occurrence of a token in a document is a token of its own.
    #[inline]
    pub fn place(
        &mut self,
        lookup: &Lookup,
        long: &[u8],
        document: u32,
        table: usize,
        repeats_count: bool,
    ) -> Result<u32> {
        let place = self.find_or_add(lookup, long)?;
        self.occur(place, document, table, repeats_count)
    }

    /// The place of a token, without saying that a document has it.
    #[inline]
    pub(crate) fn find_or_add(&mut self, lookup: &Lookup, long: &[u8]) -> Result<u32> {
        match self.find(lookup, long) {
            Some(place) => Ok(place),
            None => self.add_new(lookup, long),
        }
    }

    /// Says that a document has the token at `place` once more: the place of this occurrence.
    #[inline]
    fn occur(&mut self, place: u32, document: u32, table: usize, repeats_count: bool) -> Result<u32> {
        let entry = &mut self.entries[place as usize];
        if entry.document != document {
            (entry.document, entry.current) = (document, place);
            entry.documents[table] += 1;
            return Ok(place);
        }
        if !repeats_count {
            return Ok(REPEAT);
        }
        let current = entry.current;
        let next = self.occurrence_after(current)?;
        self.entries[place as usize].current = next;
        self.entries[next as usize].documents[table] += 1;
        Ok(next)
    }

    #[inline]
    fn find(&self, lookup: &Lookup, long: &[u8]) -> Option<u32> {
        self.slots.find(lookup.hash, |place| {
            let entry = &self.entries[place as usize];
            entry.kind == lookup.kind
                && match entry.kind {
                    ContentKind::Long => part(&self.arena, entry.content) == part(long, lookup.content),
                    _ => entry.content == lookup.content,
                }
        })
    }

    #[cold]
    fn add_new(&mut self, lookup: &Lookup, long: &[u8]) -> Result<u32> {
        let mut content = lookup.content;
        if lookup.kind == ContentKind::Long {
            let bytes = part(long, content);
            content[0] = self.arena.len() as u64;
            memory::extend(&mut self.arena, bytes, DOING)?;
        }
        if self.slots.are_few(self.entries.len()) {
            let tokens = (0..).zip(&self.entries).filter(|(_, token)| token.kind != ContentKind::Occurrence);
            self.slots.grow(self.entries.len(), tokens.map(|(place, token)| (token.hash, place)))?;
        }
        let place = self.add(lookup.hash, lookup.kind, content)?;
        self.slots.take(lookup.hash, place);
        Ok(place)
    }

    fn add(&mut self, hash: u64, kind: ContentKind, content: [u64; 2]) -> Result<u32> {
        if self.entries.len() == self.most {
            return Err(Error::TooMany { what: "different tokens", limit: u32::MAX.into() });
        }
        let place = self.entries.len() as u32;
        let entry =
            KnownToken { content, hash, kind, document: NONE, current: place, next: NONE, documents: [0; 2] };
        memory::push(&mut self.entries, entry, DOING)?;
        Ok(place)
    }

    /// The place of the occurrence after the one at `place`.
    pub(crate) fn occurrence_after(&mut self, place: u32) -> Result<u32> {
        let KnownToken { next, hash, .. } = self.entries[place as usize];
        if next != NONE {
            return Ok(next);
        }
        let next = self.add(hash::mix(hash.wrapping_add(1)), ContentKind::Occurrence, [place.into(), 0])?;
        self.entries[place as usize].next = next;
        Ok(next)
    }

    /// How many tokens there are.
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// Whether there is no token.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// The hash of a token: the same for equal tokens in any dictionary.
    #[inline]
    pub fn hash(&self, place: usize) -> u64 {
        self.entries[place].hash
    }

    /// In how many documents of each table a token is.
    #[inline]
    pub fn documents(&self, place: usize) -> [u32; 2] {
        self.entries[place].documents
    }

    /// Counts documents of each table that have a token.
    pub(crate) fn count_documents(&mut self, place: usize, documents: [u32; 2]) {
        let known = &mut self.entries[place].documents;
        known.iter_mut().zip(documents).for_each(|(known, more)| *known += more);
    }

    /// Takes back that a document of a table has a token.
    pub(crate) fn forget(&mut self, place: usize, table: usize) {
        self.entries[place].documents[table] -= 1;
    }

    /// Bytes on the heap.
    pub(crate) fn bytes(&self) -> usize {
        self.slots.bytes() + memory::bytes(&self.entries) + memory::bytes(&self.arena)
    }

    /// What a token is: its bytes, or those of a number, the most significant first.
    pub fn token(&self, place: usize) -> Cow<'_, [u8]> {
        let KnownToken { kind, content, .. } = &self.entries[place];
        match kind {
            ContentKind::Short => Cow::Owned(short_bytes(*content)),
            ContentKind::Long => Cow::Borrowed(part(&self.arena, *content)),
            ContentKind::Number | ContentKind::Occurrence => Cow::Owned(content[0].to_be_bytes().to_vec()),
        }
    }
}

/// A string of an arena.
#[inline]
fn part(arena: &[u8], [start, length]: [u64; 2]) -> &[u8] {
    &arena[start as usize..][..length as usize]
}
