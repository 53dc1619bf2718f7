//! A table of tokens, which are compared whole. It has, for each token, the number of documents
//! that have it, and its repeats in a document.

use std::borrow::Cow;

use super::lookup::{ContentKind, Lookup, Slots, long_bytes, short_bytes};
use crate::error::{Error, Result};
use crate::simd::prefetch::prefetch;
use crate::{hash, memory};

const DOING: &str = "numbering tokens";

/// The number of tokens that are looked up at a time, so that the memory they need is prefetched
/// before it is read.
pub(crate) const TOGETHER: usize = 32;

/// A token and its data. Its place among the tokens of its shard is part of its number.
#[derive(Debug, Clone, Copy)]
struct KnownToken {
    content: [u64; 2],
    hash: u64,
    kind: ContentKind,
    /// The last document that had the token.
    document: u32,
    /// The place of the token's last occurrence in that document: the place of the token itself or
    /// of one of its repeats.
    current: u32,
    /// The place of the occurrence after this one; [`NONE`] if there is none yet.
    next: u32,
    /// The number of documents of each table that the token is in.
    documents: [u32; 2],
}

const NONE: u32 = u32::MAX;

/// A part of a dictionary: the tokens of some hashes, with their data.
#[derive(Debug)]
pub struct Shard {
    /// The greatest number of tokens whose numbers fit into 32 bits.
    most: usize,
    /// The place of each token by its hash; repeats of tokens have no slots.
    slots: Slots,
    entries: Vec<KnownToken>,
    arena: Vec<u8>,
    /// Set if no token may be added.
    is_frozen: bool,
}

/// The result of [`Shard::place`] for a token that the document already has, if repeats do not
/// count.
pub const REPEAT: u32 = u32::MAX;

/// The result for a token that a frozen dictionary does not have.
pub const OVERFLOW: u32 = u32::MAX - 1;

/// Reports whether a result of [`Shard::place`] is a place.
#[inline]
pub(crate) const fn is_place(place: u32) -> bool {
    place < OVERFLOW
}

impl Shard {
    /// Creates a shard without tokens, for at most `most` tokens.
    pub(crate) const fn new(most: usize) -> Self {
        Self { most, slots: Slots::new(), entries: Vec::new(), arena: Vec::new(), is_frozen: false }
    }

    /// Lets no token be added from now on.
    pub(crate) fn freeze(&mut self) {
        self.is_frozen = true;
    }

    /// Prefetches the memory that [`Shard::place`] reads first for each of some lookups, before any
    /// of it is needed.
    #[inline]
    pub(crate) fn touch<'a>(&self, lookups: impl Iterator<Item = &'a Lookup> + Clone) {
        lookups.clone().for_each(|lookup| self.slots.prefetch(lookup.hash));
        lookups.for_each(|lookup| prefetch(&self.entries, self.slots.first(lookup.hash)));
    }

    /// Returns the place of a token of `document`, and adds the token if it is new; if it is new
    /// and the shard is frozen, returns [`OVERFLOW`]. `table` is the table of the document. If
    /// repeats count, the k-th occurrence of a token in a document is a separate token.
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
        if place == OVERFLOW {
            return Ok(OVERFLOW);
        }
        self.occur(place, document, table, repeats_count)
    }

    /// Returns the place of a token, which is added if it is new, without counting a document for
    /// it.
    #[inline]
    pub(crate) fn find_or_add(&mut self, lookup: &Lookup, long: &[u8]) -> Result<u32> {
        match self.find(lookup, long) {
            Some(place) => Ok(place),
            None if self.is_frozen => Ok(OVERFLOW),
            None => self.add_new(lookup, long),
        }
    }

    /// Records that a document has the token at `place` once more. Returns the place of this
    /// occurrence.
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
        if next == OVERFLOW {
            return Ok(OVERFLOW);
        }
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
                    ContentKind::Long => {
                        long_bytes(&self.arena, entry.content) == long_bytes(long, lookup.content)
                    }
                    _ => entry.content == lookup.content,
                }
        })
    }

    #[cold]
    fn add_new(&mut self, lookup: &Lookup, long: &[u8]) -> Result<u32> {
        let mut content = lookup.content;
        if lookup.kind == ContentKind::Long {
            let bytes = long_bytes(long, content);
            content[0] = self.arena.len() as u64;
            memory::extend(&mut self.arena, bytes, DOING)?;
        }
        if self.slots.are_few(self.entries.len()) {
            self.grow(self.entries.len())?;
        }
        let place = self.add(lookup.hash, lookup.kind, content)?;
        self.slots.take(lookup.hash, place);
        Ok(place)
    }

    /// Makes room for so many more tokens, or for some of them if they are many.
    pub(super) fn expect(&mut self, tokens: usize) -> Result<()> {
        const MANY: usize = 1 << 14;
        let tokens = tokens.min(MANY);
        memory::reserve(&mut self.entries, tokens, DOING)?;
        let all = self.entries.len() + tokens;
        if self.slots.are_few(all) { self.grow(all / 2) } else { Ok(()) }
    }

    /// Makes slots for twice as many tokens as `places`.
    fn grow(&mut self, places: usize) -> Result<()> {
        let tokens = (0..).zip(&self.entries).filter(|(_, token)| token.kind != ContentKind::Occurrence);
        self.slots.grow(places, tokens.map(|(place, token)| (token.hash, place)))
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

    /// Returns the place of the occurrence after the one at `place`.
    pub(crate) fn occurrence_after(&mut self, place: u32) -> Result<u32> {
        let KnownToken { next, hash, .. } = self.entries[place as usize];
        if next != NONE {
            return Ok(next);
        }
        if self.is_frozen {
            return Ok(OVERFLOW);
        }
        let next = self.add(hash::mix(hash.wrapping_add(1)), ContentKind::Occurrence, [place.into(), 0])?;
        self.entries[place as usize].next = next;
        Ok(next)
    }

    /// Returns the number of tokens.
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// Returns the hash of a token, which is the same for equal tokens in any dictionary.
    #[inline]
    pub fn hash(&self, place: usize) -> u64 {
        self.entries[place].hash
    }

    /// Returns the place of a token of another shard, if this shard has it.
    pub(super) fn place_of(&self, other: &Self, place: usize) -> Option<u32> {
        let KnownToken { content, hash, kind, .. } = other.entries[place];
        self.find(&Lookup { hash, content, document: 0, kind }, &other.arena)
    }

    /// Returns the place of the occurrence before this one, if a token is a further occurrence.
    pub(super) fn occurrence_before(&self, place: usize) -> Option<usize> {
        let KnownToken { content, kind, .. } = &self.entries[place];
        (*kind == ContentKind::Occurrence).then_some(content[0] as usize)
    }

    /// Returns the number of documents of each table that a token is in.
    #[inline]
    pub fn documents(&self, place: usize) -> [u32; 2] {
        self.entries[place].documents
    }

    /// Adds `documents` to the number of documents of each table that have a token.
    pub(crate) fn count_documents(&mut self, place: usize, documents: [u32; 2]) {
        let known = &mut self.entries[place].documents;
        known.iter_mut().zip(documents).for_each(|(known, more)| *known += more);
    }

    /// Removes one document of a table from the number of documents that have a token.
    pub(crate) fn forget(&mut self, place: usize, table: usize) {
        self.entries[place].documents[table] -= 1;
    }

    /// Returns the number of bytes on the heap.
    pub(crate) fn bytes(&self) -> usize {
        self.slots.bytes() + memory::bytes(&self.entries) + memory::bytes(&self.arena)
    }

    /// Returns the content of a token: its bytes or, if the token is a number, the bytes of the
    /// number, the most significant one first.
    pub fn token(&self, place: usize) -> Cow<'_, [u8]> {
        let KnownToken { kind, content, .. } = &self.entries[place];
        match kind {
            ContentKind::Short => Cow::Owned(short_bytes(*content)),
            ContentKind::Long => Cow::Borrowed(long_bytes(&self.arena, *content)),
            ContentKind::Number | ContentKind::Occurrence => Cow::Owned(content[0].to_be_bytes().to_vec()),
        }
    }
}
