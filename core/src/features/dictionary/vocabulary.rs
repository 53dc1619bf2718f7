//! The words that one worker meets repeatedly.
//!
//! Nearly all words of a text occur in the texts before it. For the words that it knows, a worker
//! finds the numbers by itself, in its own cache; only unknown words are looked up in the
//! dictionary of all workers. The documents that have a known word are counted here, too, and these
//! counts are added to those of the dictionary at the end.

use super::Dictionary;
use super::lookup::{Lookup, Slots, short_hash};
use super::pending::UNKNOWN;
use crate::error::{Error, Result};
use crate::executor::Stop;
use crate::memory;

/// The greatest number of words. They take one to two megabytes, so most lookups hit the
/// processor's own cache. In tests there are so few that a vocabulary becomes full.
const FULL: usize = if cfg!(test) { 5 } else { 1 << 15 };
/// The number of repeats at which the vocabulary starts over. The places of repeats begin after the
/// greatest place that a word can have, and their number is not limited within a batch.
const TOO_MANY_REPEATS: usize = 2 * FULL;

const DOING: &str = "numbering words";

/// The data read for each occurrence of a word; two words fit in a cache line.
#[derive(Debug, Clone, Copy)]
struct WordData {
    /// The content, as in a lookup.
    content: [u64; 2],
    /// The last document that had the word. `times` is the number of times that the word occurred
    /// there.
    document: u32,
    times: u32,
    /// The number of documents of each table that the word is in.
    documents: [u32; 2],
}

const NONE: u32 = u32::MAX;

/// Words and their repeats, by place. A word that is twice in a document represents two tokens. The
/// data that is read for each occurrence of a word is stored close together; the data of repeats,
/// of which there are far more, is stored apart from it.
#[derive(Debug, Default)]
pub struct Vocabulary {
    /// The place of each word by its hash; repeats have no slots.
    slots: Slots,
    words: Vec<WordData>,
    /// The place of the second occurrence of each word; [`NONE`] if there is none yet.
    second: Vec<u32>,
    /// For each repeat, the place of the occurrence after it; [`NONE`] if there is none yet.
    next: Vec<u32>,
    /// For each repeat, the place of the occurrence before it.
    before: Vec<u32>,
    /// For each repeat, the number of documents of each table in which it is the last occurrence of
    /// its word.
    ends: Vec<[u32; 2]>,
    /// The number of words that are numbered.
    numbered_words: usize,
    /// For the place of each word or repeat that is numbered, its number in the dictionary. The
    /// first [`FULL`] places are for words, and repeats follow.
    numbered: Vec<u32>,
    documents: u32,
    /// Set if no word may be added.
    is_closed: bool,
    /// The number of words that were looked up. `unknown` is how many of these words were not known
    /// and did not fit.
    met: u64,
    unknown: u64,
}

impl Vocabulary {
    /// Returns a number for a new document, to distinguish its words from those of the previous
    /// document.
    pub fn begin_document(&mut self) -> Result<u32> {
        // `NONE` marks words that no document has had yet, so it must not be the number of a
        // document.
        if self.documents == NONE - 1 {
            return Err(Error::TooMany { what: "documents", limit: u32::MAX.into() });
        }
        self.documents += 1;
        Ok(self.documents)
    }

    /// Prefetches the slot of a hash, some time before its place is looked up.
    #[inline]
    pub fn prefetch(&self, hash: u64) {
        self.slots.prefetch(hash);
    }

    /// Counts the words that are looked up.
    #[inline]
    pub fn count_met(&mut self, words: usize) {
        self.met += words as u64;
    }

    /// Returns the place of a short word, which may be new; [`UNKNOWN`] if there is no room for it.
    #[inline]
    pub fn place(&mut self, hash: u64, content: [u64; 2]) -> Result<u32> {
        match self.slots.find(hash, |place| self.words[place as usize].content == content) {
            Some(place) => Ok(place),
            None => self.add_new(hash, content),
        }
    }

    /// Records that a document has the word at a place once more. Returns the number of its
    /// occurrences so far. At the first occurrence, the document is counted.
    #[inline]
    pub fn meet(&mut self, place: u32, document: u32, table: usize) -> u32 {
        let word = &mut self.words[place as usize];
        // Whether this is the word's first occurrence in the document is unpredictable, so there is
        // no branch.
        let again = u32::from(word.document == document);
        word.times = (word.times & again.wrapping_neg()) + 1;
        word.document = document;
        word.documents[table & 1] += again ^ 1;
        word.times
    }

    #[cold]
    fn add_new(&mut self, hash: u64, content: [u64; 2]) -> Result<u32> {
        if self.words.len() >= FULL || self.is_closed {
            self.unknown += 1;
            return Ok(UNKNOWN);
        }
        if self.slots.are_few(self.words.len()) {
            let known = (0..).zip(&self.words).map(|(place, word)| (short_hash(word.content), place));
            self.slots.grow(self.words.len(), known)?;
        }
        let place = self.words.len() as u32;
        memory::reserve(&mut self.second, 1, DOING)?;
        memory::push(
            &mut self.words,
            WordData { content, document: NONE, times: 0, documents: [0; 2] },
            DOING,
        )?;
        self.second.push(NONE);
        self.slots.take(hash, place);
        Ok(place)
    }

    /// Adds a place for the occurrence that follows the one at the place `before`.
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

    /// At the end of a document, appends the places of all occurrences but the first of a word that
    /// the document has more than once. Returns the last of these places, which the caller must
    /// pass to [`Vocabulary::count_last`].
    pub fn repeat(&mut self, place: u32, places: &mut Vec<u32>, stop: &Stop) -> Result<u32> {
        const CHECK_EVERY: u32 = 1 << 12;
        let (mut last, mut next) = (place, self.second[place as usize]);
        for time in 1..self.words[place as usize].times {
            stop.check_every(time, CHECK_EVERY)?;
            if next == NONE {
                next = self.add_repeat(last)?;
            }
            memory::push(places, next, DOING)?;
            (last, next) = (next, self.next[next as usize - FULL]);
        }
        Ok(last)
    }

    /// Counts a document for a word that the document has more than once. `last` is the place of
    /// the word's last occurrence in the document.
    #[inline]
    pub fn count_last(&mut self, last: u32, table: usize) {
        self.ends[last as usize - FULL][table] += 1;
    }

    /// Undoes the count of a document for the word at `place`. This is possible until the repeats
    /// in the document are counted. Does nothing if `place` is the place of a repeat.
    pub fn forget(&mut self, place: u32, table: usize) {
        if let Some(word) = self.words.get_mut(place as usize) {
            word.documents[table] -= 1;
        }
    }

    /// Numbers the new words and repeats. O(new words).
    pub fn number(&mut self, dictionary: &mut Dictionary) -> Result<()> {
        if self.numbered.is_empty() && !self.words.is_empty() {
            self.numbered = memory::filled(NONE, FULL, DOING)?;
        }
        for word in &self.words[self.numbered_words..] {
            self.numbered[self.numbered_words] = dictionary.number_of(&Lookup::of_short(word.content, 0))?;
            self.numbered_words += 1;
        }
        // A repeat has a greater place than the occurrence that it repeats.
        for repeat in self.numbered.len().saturating_sub(FULL)..self.next.len() {
            let number = dictionary.number_after(self.numbered[self.before[repeat] as usize])?;
            memory::push(&mut self.numbered, number, DOING)?;
        }
        Ok(())
    }

    /// Returns the numbers of the words by their places, once they are numbered.
    pub fn numbered(&self) -> &[u32] {
        &self.numbered
    }

    /// Adds the counts of documents to those of the dictionary, and starts over. Everything must be
    /// numbered.
    pub fn settle(&mut self, dictionary: &mut Dictionary) {
        // A document that has an occurrence of a word also has the earlier occurrences of the word,
        // which have lower places. The first occurrence is counted separately.
        for repeat in (0..self.numbered.len().saturating_sub(FULL)).rev() {
            let documents = self.ends[repeat];
            dictionary.count_documents(self.numbered[FULL + repeat], documents);
            if let Some(before) = (self.before[repeat] as usize).checked_sub(FULL) {
                self.ends[before].iter_mut().zip(documents).for_each(|(known, more)| *known += more);
            }
        }
        let words = self.words[..self.numbered_words].iter().zip(&self.numbered);
        words.for_each(|(word, &number)| dictionary.count_documents(number, word.documents));
        *self = Self { is_closed: self.is_closed, ..Self::default() };
    }

    /// Starts over, and knows no word from now on: the dictionary numbers no further ones.
    pub fn close(&mut self, dictionary: &mut Dictionary) {
        self.is_closed = true;
        self.settle(dictionary);
    }

    /// Starts over if the vocabulary has become too large or knew less than half of the words since
    /// the last call.
    pub fn keep_small(&mut self, dictionary: &mut Dictionary) {
        let strange = self.unknown > self.met / 2;
        if self.next.len() >= TOO_MANY_REPEATS || strange {
            self.settle(dictionary);
        }
        (self.met, self.unknown) = (0, 0);
    }

    /// Returns the number of bytes on the heap.
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
