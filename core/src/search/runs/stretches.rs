//! Looks for windows of a query among the words of a text, most of which it passes over.
//!
//! All pairs of words beside each other in a window are pairs of the query. So where a pair is not,
//! no window has both of its words. The last pair of a window is looked at first (Wu and Manber, *A
//! fast algorithm for multi-pattern searching*, 1994): if it is not one of the query, the next
//! window that is looked at begins with the second of its words. Each pair is looked at once, and
//! only the words of these pairs are hashed.

use super::windows::TextWindows;
use crate::error::Result;
use crate::executor::Stop;
use crate::features::runs::tokens::Rolling;
use crate::hash::hash_bytes;
use crate::memory;
use crate::text::words::{WordScratch, for_each_words};

const DOING: &str = "comparing the runs of texts";
/// The number of words after which a request to stop is looked for.
const CHECK_EVERY: usize = 1 << 14;

/// The words of a text, and what is known of its windows.
#[derive(Debug)]
pub(super) struct Stretches {
    space: WordScratch,
    /// The words that were read, in lower case.
    text: Vec<u8>,
    /// The beginning and the end of each word.
    places: Vec<[u32; 2]>,
    /// The number of the first word of the first window that may be one of the query.
    first: usize,
    /// The words from `first` to this one, both included, are pairs of the query beside each other.
    known: usize,
    /// The hashes of the words of the present stretch, up to the end of the first window. A stretch
    /// is a row of words of which all pairs are pairs of the query.
    stretch: Vec<u64>,
    rolling: Rolling,
}

impl Stretches {
    /// Windows of fewer words are not looked for in this way.
    pub(super) const LEAST: usize = 3;
    /// The greatest number of bytes of a text.
    pub(super) const MOST: usize = 1 << 30;
    /// The number of bytes, and of words, for which memory is kept for the next text.
    const KEPT: usize = 1 << 18;

    /// Makes room for the words of texts, for windows of `length` words.
    pub(super) fn new(length: usize) -> Self {
        let (text, places, stretch) = (Vec::new(), Vec::new(), Vec::new());
        let (space, rolling) = (WordScratch::default(), Rolling::new(length));
        Self { space, text, places, first: 0, known: 0, stretch, rolling }
    }

    /// Starts with another text.
    pub(super) fn restart(&mut self) {
        if self.text.len().max(self.places.len()) > Self::KEPT {
            (self.text, self.places, self.stretch) = (Vec::new(), Vec::new(), Vec::new());
        }
        self.text.clear();
        self.places.clear();
        (self.first, self.known) = (0, 0);
        self.leave();
    }

    /// Leaves the present stretch.
    fn leave(&mut self) {
        self.stretch.clear();
        self.rolling.restart();
    }

    /// Reads more of a text, which does not begin within a word. Reports whether a window of the
    /// text is one of the query.
    pub(super) fn go_on(&mut self, piece: &str, windows: &TextWindows, stop: &Stop) -> Result<bool> {
        let Self { space, text, places, .. } = self;
        for_each_words(piece, space, stop, |block, words| {
            let Some(&[_, end]) = words.last() else { return Ok(()) };
            // No character has more than twice as many bytes in lower case.
            let base = text.len() as u32;
            memory::extend(text, &block[..end], DOING)?;
            memory::reserve(places, words.len(), DOING)?;
            places.extend(words.iter().map(|&[start, end]| [base + start as u32, base + end as u32]));
            Ok(())
        })?;
        loop {
            let found = if self.stretch.is_empty() {
                if !self.find_stretch(windows, stop)? {
                    return Ok(false);
                }
                self.enter(windows, stop)?
            } else {
                match self.follow(windows, stop)? {
                    Some(found) => found,
                    None => return Ok(false),
                }
            };
            if found {
                return Ok(true);
            }
        }
    }

    /// Returns the hash of a word.
    #[inline]
    fn hash(&self, word: usize) -> u64 {
        let [start, end] = self.places[word];
        hash_bytes(&self.text[start as usize..end as usize])
    }

    /// Finds the next window that is part of a stretch. Returns false if more words are needed.
    fn find_stretch(&mut self, windows: &TextWindows, stop: &Stop) -> Result<bool> {
        loop {
            let last = self.first + windows.length - 1;
            if last >= self.places.len() {
                return Ok(false);
            }
            let (mut word, mut hash) = (last, self.hash(last));
            while word > self.known {
                stop.check_every(word, CHECK_EVERY)?;
                let before = self.hash(word - 1);
                if !windows.may_have_pair(before, hash) {
                    break;
                }
                (word, hash) = (word - 1, before);
            }
            let is_found = word == self.known;
            self.known = last;
            if is_found {
                return Ok(true);
            }
            self.first = word;
        }
    }

    /// Enters a stretch with its first window. Reports whether this is a window of the query.
    fn enter(&mut self, windows: &TextWindows, stop: &Stop) -> Result<bool> {
        let mut hash = 0;
        for word in self.first..self.first + windows.length {
            stop.check_every(word, CHECK_EVERY)?;
            let token = self.hash(word);
            memory::push(&mut self.stretch, token, DOING)?;
            hash = self.rolling.roll(&self.stretch);
        }
        windows.have_last(&self.stretch, hash, stop)
    }

    /// Follows a stretch to its end or to the first window that is one of the query, and reports
    /// whether there is one. Returns `None` if more words are needed.
    fn follow(&mut self, windows: &TextWindows, stop: &Stop) -> Result<Option<bool>> {
        let length = windows.length;
        while self.first + length < self.places.len() {
            let next = self.first + length;
            stop.check_every(next, CHECK_EVERY)?;
            let hash = self.hash(next);
            if !self.stretch.last().is_some_and(|&last| windows.may_have_pair(last, hash)) {
                (self.first, self.known) = (next, next);
                self.leave();
                return Ok(Some(false));
            }
            self.first += 1;
            memory::push(&mut self.stretch, hash, DOING)?;
            let hash = self.rolling.roll(&self.stretch);
            if windows.have_last(&self.stretch, hash, stop)? {
                return Ok(Some(true));
            }
        }
        Ok(None)
    }
}
