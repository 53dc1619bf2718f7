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
use crate::executor::Stop;
use crate::memory;

/// The most words, a megabyte or two: most of what is met stands in the processor's own cache. Tests fill it.
const FULL: usize = if cfg!(test) { 5 } else { 1 << 15 };
/// Repeats of words have places of their own, behind those of all words, without limit; with this many it is time to start
/// over.
const TOO_MANY_REPEATS: usize = 2 * FULL;

const DOING: &str = "numbering words";

/// What is read for each word that is met, two of them in a line of the cache.
#[derive(Debug, Clone, Copy)]
struct Word {
    /// As in a lookup.
    content: [u64; 2],
    /// The last document that had it, and how often it was met there.
    document: u32,
    times: u32,
    /// In how many documents of each table it is.
    documents: [u32; 2],
}

const NONE: u32 = u32::MAX;

/// Words and their repeats, by place. A word that is twice in a document stands for two tokens. What is read of each word that
/// is met stands close together, without the repeats, which are far more.
#[derive(Debug, Default)]
pub struct Vocabulary {
    /// The place of each word; repeats have none.
    slots: Slots,
    words: Vec<Word>,
    /// The place of the second occurrence of each word, [`NONE`] if there is none yet.
    second: Vec<u32>,
    /// Of each repeat the place of the occurrence after it, [`NONE`] if there is none yet.
    next: Vec<u32>,
    /// And of the one before.
    before: Vec<u32>,
    /// Of how many documents of each table a repeat is the last one of its word.
    ends: Vec<[u32; 2]>,
    /// How many words are numbered.
    numbered_words: usize,
    /// Number in the dictionary of each, as far as they are numbered, with room for all words.
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
            let known = (0..).zip(&self.words).map(|(place, word)| (short_hash(word.content), place));
            self.slots.grow(self.words.len(), known)?;
        }
        let place = self.words.len() as u32;
        memory::reserve(&mut self.second, 1, DOING)?;
        memory::push(&mut self.words, Word { content, document: NONE, times: 0, documents: [0; 2] }, DOING)?;
        self.second.push(NONE);
        self.slots.take(hash, place);
        Ok(place)
    }

    /// A place for the occurrence after that of another place.
    #[cold]
    fn add_repeat(&mut self, before: u32) -> Result<u32> {
        let place = FULL + self.next.len();
        if place >= NONE as usize - 1 {
            return Err(Error::TooMany { what: "different tokens", limit: u32::MAX.into() });
        }
        memory::reserve(&mut self.next, 1, DOING)?;
        memory::reserve(&mut self.before, 1, DOING)?;
        memory::push(&mut self.ends, [0; 2], DOING)?;
        self.next.push(NONE);
        self.before.push(before);
        match (before as usize).checked_sub(FULL) {
            Some(repeat) => self.next[repeat] = place as u32,
            None => self.second[before as usize] = place as u32,
        }
        Ok(place as u32)
    }

    /// Appends the places of the further occurrences of a word that was met more than once in the document that ends. The
    /// last of them is given; [`Vocabulary::count_last`] is to be told.
    pub fn repeat(&mut self, place: u32, places: &mut Vec<u32>, stop: &Stop) -> Result<u32> {
        const CHECK_EVERY: u32 = 1 << 12;
        let (mut last, mut next) = (place, self.second[place as usize]);
        for time in 1..self.words[place as usize].times {
            if time % CHECK_EVERY == 0 {
                stop.check()?;
            }
            if next == NONE {
                next = self.add_repeat(last)?;
            }
            memory::push(places, next, DOING)?;
            (last, next) = (next, self.next[next as usize - FULL]);
        }
        Ok(last)
    }

    /// Counts a document by the last occurrence of a word that it has more than once.
    #[inline]
    pub fn count_last(&mut self, last: u32, table: usize) {
        self.ends[last as usize - FULL][table] += 1;
    }

    /// Takes back that a document has the word at `place`, before repeats are counted.
    pub fn forget(&mut self, place: u32, table: usize) {
        if let Some(word) = self.words.get_mut(place as usize) {
            word.documents[table] -= 1;
        }
    }

    /// Numbers what is new. O(new words).
    pub fn number(&mut self, dictionary: &mut Dictionary) -> Result<()> {
        if self.numbered.is_empty() {
            self.numbered = memory::filled(NONE, FULL, DOING)?;
        }
        for word in &self.words[self.numbered_words..] {
            self.numbered[self.numbered_words] = dictionary.number_of(&Lookup::of_short(word.content, 0))?;
            self.numbered_words += 1;
        }
        // A repeat has its place after what it repeats.
        for repeat in self.numbered.len() - FULL..self.next.len() {
            let number = dictionary.number_after(self.numbered[self.before[repeat] as usize])?;
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
        // A document that has an occurrence has those before it; they have lesser places. The first one is counted by itself.
        for repeat in (0..self.numbered.len().saturating_sub(FULL)).rev() {
            let documents = self.ends[repeat];
            dictionary.count_documents(self.numbered[FULL + repeat], documents);
            if let Some(before) = (self.before[repeat] as usize).checked_sub(FULL) {
                self.ends[before].iter_mut().zip(documents).for_each(|(known, more)| *known += more);
            }
        }
        let words = self.words[..self.numbered_words].iter().zip(&self.numbered);
        words.for_each(|(word, &number)| dictionary.count_documents(number, word.documents));
        *self = Self::default();
    }

    /// Starts over where it has become too large, or knows less than half of what it met since the last time.
    pub fn keep_small(&mut self, dictionary: &mut Dictionary) {
        let strange = self.unknown > self.met / 2;
        if self.next.len() >= TOO_MANY_REPEATS || strange {
            self.settle(dictionary);
        }
        (self.met, self.unknown) = (0, 0);
    }

    /// Bytes on the heap.
    pub fn bytes(&self) -> usize {
        self.slots.bytes()
            + memory::bytes(&self.words)
            + memory::bytes(&self.second)
            + memory::bytes(&self.next)
            + memory::bytes(&self.before)
            + memory::bytes(&self.ends)
            + memory::bytes(&self.numbered)
    }
}
