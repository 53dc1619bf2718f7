//! The words that one worker meets again and again.
//!
//! Nearly all words of a text are words of the texts before it. A worker that knows those numbers them by
//! itself, in its own cache; only what it does not know goes through the dictionary of all workers. The
//! documents that have a word are counted here, too, and added to the dictionary's count in the end.

use super::Dictionary;
use super::lookup::{Lookup, short_hash};
use super::pending::UNKNOWN;
use super::slots::Slots;
use crate::error::{Error, Result};
use crate::memory;
use crate::workers::Stop;

/// The most words, a few megabytes: most of what is met stands in the processor's own cache. Tests fill it.
const FULL: usize = if cfg!(test) { 5 } else { 1 << 15 };
/// Repeats of words have places of their own, without limit; with this many it is time to start over.
const TOO_LARGE: usize = 2 * FULL;

const DOING: &str = "numbering words";

/// What is read for each word that is met, two of them in a line of the cache.
#[derive(Debug, Clone, Copy)]
struct Word {
    /// As in a lookup; of a repeat nothing.
    content: [u64; 2],
    /// The last document that had it, and how often it was met there.
    document: u32,
    times: u32,
    /// In how many documents of each table it is; of a repeat, of how many it is the last.
    documents: [u32; 2],
}

const NONE: u32 = u32::MAX;

/// Words and their repeats, by place.
#[derive(Debug, Default)]
pub struct Vocabulary {
    /// The place of each word; repeats have none.
    slots: Slots,
    words: Vec<Word>,
    /// A word that is twice in a document stands for two tokens: the place of the occurrence after each, [`NONE`] if there
    /// is none yet.
    next: Vec<u32>,
    /// And of the one before, [`NONE`] of the first.
    before: Vec<u32>,
    /// Number in the dictionary of each, as far as they are numbered.
    numbered: Vec<u32>,
    documents: u32,
    /// Words that were looked for, and those of them that there was no room for.
    met: u64,
    unknown: u64,
}

impl Vocabulary {
    /// A number for a document that begins, to tell its words from those of the last one.
    pub fn begin_document(&mut self) -> Result<u32> {
        // The one that no document has is for words that none has.
        if self.documents == NONE - 1 {
            return Err(Error::TooMany { what: "documents", limit: u32::MAX.into() });
        }
        self.documents += 1;
        Ok(self.documents)
    }

    /// Asks for the slot of a hash, some time before its place is asked for.
    #[inline]
    pub fn prefetch(&self, hash: u64) {
        self.slots.prefetch(hash);
    }

    /// Says that so many words are looked for.
    #[inline]
    pub fn count_met(&mut self, words: usize) {
        self.met += words as u64;
    }

    /// The place of a short word, which may be new; [`UNKNOWN`] if there is no room for it.
    #[inline]
    pub fn place(&mut self, hash: u64, content: [u64; 2]) -> Result<u32> {
        match self.slots.find(hash, |place| self.words[place as usize].content == content) {
            Some(place) => Ok(place),
            None => self.add_new(hash, content),
        }
    }

    /// Says that a document has the word at a place once more: how often until now. The document is counted with the first
    /// time.
    #[inline]
    pub fn meet(&mut self, place: u32, document: u32, table: usize) -> u32 {
        let word = &mut self.words[place as usize];
        // Whether it is the first time nobody can foresee, so there is no branch.
        let again = u32::from(word.document == document);
        word.times = (word.times & again.wrapping_neg()) + 1;
        word.document = document;
        word.documents[table & 1] += again ^ 1;
        word.times
    }

    #[cold]
    fn add_new(&mut self, hash: u64, content: [u64; 2]) -> Result<u32> {
        if self.words.len() >= FULL {
            self.unknown += 1;
            return Ok(UNKNOWN);
        }
        if self.slots.are_few(self.words.len()) {
            let words = (0..).zip(&self.words).zip(&self.before).filter(|(_, before)| **before == NONE);
            let known = words.map(|((place, word), _)| (short_hash(word.content), place));
            self.slots.grow(self.words.len(), known)?;
        }
        let place = self.add(content, NONE)?;
        self.slots.take(hash, place);
        Ok(place)
    }

    fn add(&mut self, content: [u64; 2], before: u32) -> Result<u32> {
        let place = self.words.len() as u32;
        memory::reserve(&mut self.next, 1, DOING)?;
        memory::reserve(&mut self.before, 1, DOING)?;
        memory::push(&mut self.words, Word { content, document: NONE, times: 0, documents: [0; 2] }, DOING)?;
        self.next.push(NONE);
        self.before.push(before);
        Ok(place)
    }

    /// Appends the places of the further occurrences of a word that was met more than once in the document that ends. The
    /// last of them is given; [`Vocabulary::count_last`] is to be told.
    pub fn repeat(&mut self, place: u32, places: &mut Vec<u32>, stop: &Stop) -> Result<u32> {
        const CHECK_EVERY: u32 = 1 << 12;
        let mut last = place;
        for time in 1..self.words[place as usize].times {
            if time % CHECK_EVERY == 0 {
                stop.check()?;
            }
            let mut next = self.next[last as usize];
            if next == NONE {
                if self.words.len() == NONE as usize - 1 {
                    return Err(Error::TooMany { what: "different tokens", limit: u32::MAX.into() });
                }
                next = self.add([0; 2], last)?;
                self.next[last as usize] = next;
            }
            memory::push(places, next, DOING)?;
            last = next;
        }
        Ok(last)
    }

    /// Counts a document by the last occurrence of a word that it has more than once.
    #[inline]
    pub fn count_last(&mut self, last: u32, table: usize) {
        self.words[last as usize].documents[table] += 1;
    }

    /// Takes back that a document has the word at `place`, before repeats are counted.
    pub fn forget(&mut self, place: u32, table: usize) {
        if self.before[place as usize] == NONE {
            self.words[place as usize].documents[table] -= 1;
        }
    }

    /// Numbers what is new. O(new words).
    pub fn number(&mut self, dictionary: &mut Dictionary) -> Result<()> {
        for place in self.numbered.len()..self.words.len() {
            let number = match self.before[place] {
                NONE => dictionary.number_of(&Lookup::of_short(self.words[place].content, 0))?,
                // A repeat has its place after what it repeats.
                before => dictionary.number_after(self.numbered[before as usize])?,
            };
            memory::push(&mut self.numbered, number, DOING)?;
        }
        Ok(())
    }

    /// The numbers of the words by their places, once they are numbered.
    pub fn numbered(&self) -> &[u32] {
        &self.numbered
    }

    /// Adds its count of documents to the dictionary's, and starts over. All must be numbered.
    pub fn settle(&mut self, dictionary: &mut Dictionary) {
        // A document that has an occurrence has those before it; they have lesser places.
        for (place, &number) in self.numbered.iter().enumerate().rev() {
            let documents = self.words[place].documents;
            dictionary.count_documents(number, documents);
            let before = self.before[place];
            // The first one is counted by itself.
            if before != NONE && self.before[before as usize] != NONE {
                let known = &mut self.words[before as usize].documents;
                known.iter_mut().zip(documents).for_each(|(known, more)| *known += more);
            }
        }
        *self = Self::default();
    }

    /// Starts over where it has become too large, or knows less than half of what it met since the last time.
    pub fn keep_small(&mut self, dictionary: &mut Dictionary) {
        let strange = self.unknown > self.met / 2;
        if self.words.len() >= TOO_LARGE || strange {
            self.settle(dictionary);
        }
        (self.met, self.unknown) = (0, 0);
    }

    /// Bytes on the heap.
    pub fn bytes(&self) -> usize {
        self.slots.bytes()
            + memory::bytes(&self.words)
            + memory::bytes(&self.next)
            + memory::bytes(&self.before)
            + memory::bytes(&self.numbered)
    }
}
