//! Numbers for tokens: equal tokens get the same number, unlike ones never do.
//!
//! Tokens are compared whole, not by their hashes, so that no pair of documents is found or lost by
//! a collision. One dictionary serves all workers: it is cut into shards by hash, and tokens are numbered
//! a batch at a time, each shard by one worker ([`super::numbering`]), so that a shard is in the cache
//! while its part of a batch is looked up, and nothing has to be brought together in the end.

use std::borrow::Cow;

use super::tokens::Token;
use crate::error::{Error, Result};
use crate::hash;
use crate::memory;

const DOING: &str = "numbering tokens";

/// What [`Lookup::content`] is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// A string of so many bytes, at most 16 ([`short`]).
    Short(u8),
    /// Start and length of a string in an arena.
    Long,
    /// A number.
    Number,
    /// A further occurrence of a token in a document.
    Occurrence,
}

/// The longest string that fits into [`Lookup::content`].
const SHORT: usize = 16;

/// A string of at most 16 bytes as two numbers, which only the same string of its length has: its first and
/// its last bytes. Without a copy of unknown length, which is a call.
#[inline]
fn short(bytes: &[u8]) -> [u64; 2] {
    match (bytes.first_chunk::<8>(), bytes.last_chunk::<8>()) {
        (Some(&first), Some(&last)) => [u64::from_le_bytes(first), u64::from_le_bytes(last)],
        _ => match (bytes.first_chunk::<4>(), bytes.last_chunk::<4>()) {
            (Some(&first), Some(&last)) => {
                [u64::from(u32::from_le_bytes(first)) | u64::from(u32::from_le_bytes(last)) << 32, 0]
            }
            _ => match *bytes {
                [] => [0, 0],
                [a, .., z] => [u64::from(a) | u64::from(bytes[bytes.len() / 2]) << 8 | u64::from(z) << 16, 0],
                [a] => [u64::from(a), 0],
            },
        },
    }
}

/// The string that [`short`] was given.
fn short_bytes([first, last]: [u64; 2], length: usize) -> Vec<u8> {
    let (first, last) = match length {
        8.. => (first.to_le_bytes().to_vec(), last.to_le_bytes().to_vec()),
        4..8 => ((first as u32).to_le_bytes().to_vec(), ((first >> 32) as u32).to_le_bytes().to_vec()),
        _ => {
            let [a, middle, z, ..] = first.to_le_bytes();
            return [&[][..], &[a], &[a, z], &[a, middle, z]][length].to_vec();
        }
    };
    // Both may overlap.
    let more = length - first.len();
    [&first, &last[last.len() - more..]].concat()
}

/// A token that is to be numbered, and the document of the batch that has it.
#[derive(Debug, Clone, Copy)]
pub struct Lookup {
    /// Its hash.
    pub hash: u64,
    content: [u64; 2],
    /// The number of its document in the batch of its collector.
    pub document: u32,
    kind: Kind,
}

impl Lookup {
    /// Looks a token up for a document; what does not fit is added to `long`.
    #[inline]
    pub fn new(token: Token<'_>, document: u32, long: &mut Vec<u8>) -> Result<Self> {
        let (hash, kind, content) = match token {
            Token::Number(value) => (hash::mix(value), Kind::Number, [value, 0]),
            Token::Bytes(bytes) if bytes.len() <= SHORT => {
                (hash::hash_bytes(bytes), Kind::Short(bytes.len() as u8), short(bytes))
            }
            Token::Bytes(bytes) => {
                let content = [long.len() as u64, bytes.len() as u64];
                memory::extend(long, bytes, DOING)?;
                (hash::hash_bytes(bytes), Kind::Long, content)
            }
        };
        Ok(Self { hash, content, document, kind })
    }
}

/// A token, and what is known of it. Its place among the tokens of its shard is part of its number.
#[derive(Debug, Clone, Copy)]
struct Entry {
    content: [u64; 2],
    hash: u64,
    kind: Kind,
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

/// Part of a dictionary: the tokens of some hashes.
#[derive(Debug)]
pub struct Shard {
    /// So many tokens it may have, for their numbers to fit into 32 bits.
    most: usize,
    /// By hash, with linear probing: the high half of the hash, and the token plus 1; 0 where there is none.
    slots: Vec<u64>,
    entries: Vec<Entry>,
    arena: Vec<u8>,
}

/// What is found for tokens that a document has already and whose repeats do not count.
pub const REPEAT: u32 = u32::MAX;

impl Shard {
    /// The slot that is looked at first.
    #[inline]
    pub fn first_slot(&self, lookup: &Lookup) -> u64 {
        self.slots.get(self.home(lookup.hash)).copied().unwrap_or(0)
    }

    /// The last document of the token in a slot: read for the cache's sake before it is needed.
    #[inline]
    pub fn touch(&self, slot: u64) -> u32 {
        self.entries.get((slot as u32).wrapping_sub(1) as usize).map_or(0, |entry| entry.document)
    }

    #[inline]
    fn home(&self, hash: u64) -> usize {
        hash as usize & self.slots.len().wrapping_sub(1)
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
        let place = match self.find(lookup, long) {
            Some(place) => place,
            None => self.add_new(lookup, long)?,
        };
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
        if self.slots.is_empty() {
            return None;
        }
        let mut at = self.home(lookup.hash);
        loop {
            let slot = self.slots[at];
            if slot == 0 {
                return None;
            }
            if slot >> 32 == lookup.hash >> 32 {
                let place = slot as u32 - 1;
                let entry = &self.entries[place as usize];
                if entry.kind == lookup.kind
                    && match entry.kind {
                        Kind::Long => part(&self.arena, entry.content) == part(long, lookup.content),
                        _ => entry.content == lookup.content,
                    }
                {
                    return Some(place);
                }
            }
            at = (at + 1) & (self.slots.len() - 1);
        }
    }

    #[cold]
    fn add_new(&mut self, lookup: &Lookup, long: &[u8]) -> Result<u32> {
        let mut content = lookup.content;
        if lookup.kind == Kind::Long {
            let bytes = part(long, content);
            content[0] = self.arena.len() as u64;
            memory::extend(&mut self.arena, bytes, DOING)?;
        }
        // Half of the slots stay empty. Occurrences have none, so this is more than enough.
        if 2 * (self.entries.len() + 1) > self.slots.len() {
            self.grow()?;
        }
        let place = self.add(lookup.hash, lookup.kind, content)?;
        self.take_slot(lookup.hash, place);
        Ok(place)
    }

    fn add(&mut self, hash: u64, kind: Kind, content: [u64; 2]) -> Result<u32> {
        if self.entries.len() == self.most {
            return Err(Error::TooMany { what: "different tokens", limit: u32::MAX.into() });
        }
        let place = self.entries.len() as u32;
        let entry =
            Entry { content, hash, kind, document: NONE, current: place, next: NONE, documents: [0; 2] };
        memory::push(&mut self.entries, entry, DOING)?;
        Ok(place)
    }

    fn take_slot(&mut self, hash: u64, place: u32) {
        let mut at = self.home(hash);
        while self.slots[at] != 0 {
            at = (at + 1) & (self.slots.len() - 1);
        }
        self.slots[at] = hash >> 32 << 32 | u64::from(place + 1);
    }

    fn grow(&mut self) -> Result<()> {
        const FEWEST: usize = 16;
        let size = (4 * self.entries.len()).next_power_of_two().max(FEWEST);
        self.slots = Vec::new();
        self.slots = memory::filled(0, size, DOING)?;
        for place in 0..self.entries.len() {
            let Entry { hash, kind, .. } = self.entries[place];
            if kind != Kind::Occurrence {
                self.take_slot(hash, place as u32);
            }
        }
        Ok(())
    }

    fn occurrence_after(&mut self, place: u32) -> Result<u32> {
        let Entry { next, hash, .. } = self.entries[place as usize];
        if next != NONE {
            return Ok(next);
        }
        let next = self.add(hash::mix(hash.wrapping_add(1)), Kind::Occurrence, [place.into(), 0])?;
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

    fn bytes(&self) -> usize {
        memory::bytes(&self.slots) + memory::bytes(&self.entries) + memory::bytes(&self.arena)
    }

    /// What a token is: its bytes, or those of a number, the most significant first.
    pub fn token(&self, place: usize) -> Cow<'_, [u8]> {
        let Entry { kind, content, .. } = &self.entries[place];
        match kind {
            Kind::Short(length) => Cow::Owned(short_bytes(*content, usize::from(*length))),
            Kind::Long => Cow::Borrowed(part(&self.arena, *content)),
            Kind::Number | Kind::Occurrence => Cow::Owned(content[0].to_be_bytes().to_vec()),
        }
    }
}

/// A string of an arena.
#[inline]
fn part(arena: &[u8], [start, length]: [u64; 2]) -> &[u8] {
    &arena[start as usize..][..length as usize]
}

/// How the number of a token is made of its shard and its place there.
#[derive(Debug, Clone, Copy)]
pub struct Numbering(u32);

impl Numbering {
    /// The number of the token at a place of a shard.
    #[inline]
    pub fn number(self, shard: usize, place: u32) -> u32 {
        place << self.0 | shard as u32
    }

    /// The shard of a token, and its place there.
    #[inline]
    pub fn place(self, number: u32) -> (usize, usize) {
        (number as usize & ((1 << self.0) - 1), (number >> self.0) as usize)
    }
}

/// Tokens and their numbers: the place in a shard, then the shard. About 80 bytes a token.
#[derive(Debug)]
pub struct Dictionary {
    shards: Vec<Shard>,
    bits: u32,
    /// Stamps of documents given so far.
    documents: u32,
}

impl Default for Dictionary {
    fn default() -> Self {
        Self::new(Self::BITS)
    }
}

impl Dictionary {
    /// So many bits of a hash choose a shard where there are many documents, whatever the number of workers.
    const BITS: u32 = 8;

    /// A dictionary of a single shard, for a few documents.
    pub fn small() -> Self {
        Self::new(0)
    }

    fn new(bits: u32) -> Self {
        // The greatest numbers mean something else.
        let most = (u32::MAX >> bits) as usize - 1;
        let shard = |_| Shard { most, slots: Vec::new(), entries: Vec::new(), arena: Vec::new() };
        Self { shards: (0..1 << bits).map(shard).collect(), bits, documents: 0 }
    }

    /// The shard of a hash.
    #[inline]
    pub fn shard_of(&self, hash: u64) -> usize {
        hash.checked_shr(64 - self.bits).unwrap_or(0) as usize
    }

    /// Stamps for so many documents that follow one another: the first.
    pub(super) fn stamps(&mut self, documents: usize) -> Result<u32> {
        let first = self.documents;
        self.documents = u32::try_from(documents)
            .ok()
            .and_then(|documents| first.checked_add(documents))
            .ok_or(Error::TooMany { what: "documents", limit: u32::MAX.into() })?;
        Ok(first)
    }

    /// The number of a token of the document with this stamp ([`Shard::place`]); none for a repeat that does
    /// not count.
    #[inline]
    pub(super) fn number(
        &mut self,
        lookup: &Lookup,
        long: &[u8],
        stamp: u32,
        table: usize,
        repeats_count: bool,
    ) -> Result<Option<u32>> {
        let (shard, numbering) = (self.shard_of(lookup.hash), self.numbering());
        let place = self.shards[shard].place(lookup, long, stamp, table, repeats_count)?;
        Ok((place != REPEAT).then(|| numbering.number(shard, place)))
    }

    /// Takes back that a document of a table has a token.
    pub(super) fn forget(&mut self, number: u32, table: usize) {
        let (shard, place) = self.place(number);
        self.shards[shard].entries[place].documents[table] -= 1;
    }

    /// How numbers are made.
    pub fn numbering(&self) -> Numbering {
        Numbering(self.bits)
    }

    /// The shard of a token, and its place there.
    #[inline]
    pub fn place(&self, number: u32) -> (usize, usize) {
        self.numbering().place(number)
    }

    /// All shards.
    pub fn shards(&self) -> &[Shard] {
        &self.shards
    }

    /// All shards, to be filled.
    pub(super) fn shards_mut(&mut self) -> &mut [Shard] {
        &mut self.shards
    }

    /// How many tokens there are.
    pub fn len(&self) -> usize {
        self.shards.iter().map(Shard::len).sum()
    }

    /// Whether there is no token.
    pub fn is_empty(&self) -> bool {
        self.shards.iter().all(Shard::is_empty)
    }

    /// Bytes on the heap.
    pub fn bytes(&self) -> usize {
        self.shards.iter().map(Shard::bytes).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn short_strings_are_what_their_numbers_say() {
        let bytes: Vec<u8> = (b'a'..=b'z').collect();
        for length in 0..=SHORT {
            let string = &bytes[..length];
            assert_eq!(short_bytes(short(string), length), string);
            // One other byte, wherever it is, makes other numbers.
            for n in 0..length {
                let mut other = string.to_vec();
                other[n] = b'A';
                assert_ne!(short(&other), short(string));
                assert_eq!(short_bytes(short(&other), length), other);
            }
        }
    }
}
