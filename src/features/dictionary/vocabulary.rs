//! The words that one worker meets again and again.
//!
//! Nearly all words of a text are words of the texts before it. A worker that knows those numbers them by
//! itself, in its own cache; only what it does not know goes through the dictionary of all workers. The
//! documents that have a word are counted here, too, and added to the dictionary's count in the end.

use super::Dictionary;
use super::lookup::Lookup;
use super::shard::Shard;
use crate::error::{Error, Result};
use crate::hash::mix;
use crate::memory;

/// The most words, a few megabytes: most of what is met stands in the processor's own cache. Tests fill it.
const FULL: usize = if cfg!(test) { 5 } else { 1 << 15 };
/// Repeats of words have places of their own, without limit; with this many it is time to begin anew.
const TOO_LARGE: usize = 2 * FULL;

/// Words and their repeats, by place.
#[derive(Debug)]
pub struct Vocabulary {
    words: Shard,
    /// Number in the dictionary and mixed hash of each, as far as they are numbered.
    numbered: Vec<Numbered>,
    documents: u32,
    known: u64,
    unknown: u64,
}

/// What a set holds of a token, and what its fingerprint is made of.
#[derive(Debug, Clone, Copy)]
pub struct Numbered {
    /// Its number in the dictionary.
    pub number: u32,
    /// Its hash, mixed once more.
    pub mixed: u64,
}

impl Default for Vocabulary {
    fn default() -> Self {
        // Places have to be told from marks.
        let words = Shard::new(u32::MAX as usize - 1);
        Self { words, numbered: Vec::new(), documents: 0, known: 0, unknown: 0 }
    }
}

impl Vocabulary {
    /// A number for a document that begins, to tell its words from those of the last one.
    pub fn begin_document(&mut self) -> Result<u32> {
        let document = self.documents;
        self.documents =
            document.checked_add(1).ok_or(Error::TooMany { what: "documents", limit: u32::MAX.into() })?;
        Ok(document)
    }

    /// Reads what [`Vocabulary::place`] will need for some lookups.
    #[inline]
    pub fn touch(&self, lookups: &[Lookup]) {
        self.words.touch(lookups.iter());
    }

    /// The place of a short word of a document, as [`Shard::place`]; none if it is not among those known.
    #[inline]
    pub fn place(
        &mut self,
        lookup: &Lookup,
        document: u32,
        table: usize,
        repeats: bool,
    ) -> Result<Option<u32>> {
        let place = self.words.place_unless_full(lookup, document, table, repeats, FULL)?;
        *(if place.is_some() { &mut self.known } else { &mut self.unknown }) += 1;
        Ok(place)
    }

    /// Takes back that a document has the word at `place`.
    pub fn forget(&mut self, place: u32, table: usize) {
        self.words.forget(place as usize, table);
    }

    /// Numbers what is new. O(new words).
    pub fn number(&mut self, dictionary: &mut Dictionary) -> Result<()> {
        for place in self.numbered.len()..self.words.len() {
            let numbered = match self.words.lookup(place) {
                Ok(lookup) => Numbered { number: dictionary.number_of(&lookup)?, mixed: mix(lookup.hash) },
                // A repeat has its place after what it repeats, and counts alike in a fingerprint.
                Err(before) => {
                    let before = self.numbered[before];
                    Numbered { number: dictionary.number_after(before.number)?, ..before }
                }
            };
            memory::push(&mut self.numbered, numbered, "numbering words")?;
        }
        Ok(())
    }

    /// The words by their places, once they are numbered.
    pub fn numbered(&self) -> &[Numbered] {
        &self.numbered
    }

    /// Adds its count of documents to the dictionary's, and begins anew. All must be numbered.
    pub fn settle(&mut self, dictionary: &mut Dictionary) {
        for (place, numbered) in self.numbered.iter().enumerate() {
            dictionary.count_documents(numbered.number, self.words.documents(place));
        }
        *self = Self::default();
    }

    /// Begins anew where it has become too large, or knows less than half of what it met since the last time.
    pub fn keep_small(&mut self, dictionary: &mut Dictionary) {
        let strange = self.unknown > self.known;
        if self.words.len() >= TOO_LARGE || strange {
            self.settle(dictionary);
        }
        (self.known, self.unknown) = (0, 0);
    }

    /// Bytes on the heap.
    pub fn bytes(&self) -> usize {
        self.words.bytes() + memory::bytes(&self.numbered)
    }
}
