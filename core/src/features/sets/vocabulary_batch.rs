//! Looks up the tokens of a document in the vocabulary of a worker, several at a time.

use crate::error::Result;
use crate::executor::Stop;
use crate::features::dictionary::lookup::{ContentKind, Lookup};
use crate::features::dictionary::pending::UNKNOWN;
use crate::features::dictionary::shard::TOGETHER;
use crate::features::dictionary::vocabulary::Vocabulary;
use crate::memory;

const DOING: &str = "collecting token sets";

/// Tokens that are looked up together. The fields of a lookup are stored in separate arrays.
/// Otherwise they would be read in other sizes than those in which they were just written, and a
/// processor that has to combine a value from two recent writes waits until both are in its cache.
#[derive(Debug)]
struct Together {
    hashes: [u64; TOGETHER],
    contents: [[u64; 2]; TOGETHER],
    kinds: [ContentKind; TOGETHER],
    count: usize,
}

/// A document whose tokens are being looked up.
#[derive(Debug)]
pub(super) struct LookedUpDocument<'a> {
    vocabulary: &'a mut Vocabulary,
    /// The tokens of the document: places of words in the vocabulary, and [`UNKNOWN`] for the
    /// tokens that are in `lookups`.
    tokens: &'a mut Vec<u32>,
    /// The places of words that are in the document more than once.
    repeated: &'a mut Vec<u32>,
    lookups: &'a mut Vec<Lookup>,
    together: Together,
    fingerprint: u64,
    /// The number of the document in its batch. `current` is its number in the vocabulary.
    document: u32,
    current: u32,
    table: usize,
    repeats_count: bool,
}

impl<'a> LookedUpDocument<'a> {
    /// Begins the document with number `document` of its batch; `table` is its table. Tokens are
    /// appended to `tokens`. If repeats count, `repeated` has the last occurrences of repeated
    /// words after [`LookedUpDocument::end`].
    pub(super) fn new(
        vocabulary: &'a mut Vocabulary,
        [tokens, repeated]: [&'a mut Vec<u32>; 2],
        lookups: &'a mut Vec<Lookup>,
        document: u32,
        table: usize,
        repeats_count: bool,
    ) -> Result<Self> {
        let together = Together {
            hashes: [0; TOGETHER],
            contents: [[0; 2]; TOGETHER],
            kinds: [ContentKind::Short; TOGETHER],
            count: 0,
        };
        let current = vocabulary.begin_document()?;
        repeated.clear();
        let fingerprint = 0;
        Ok(Self {
            vocabulary,
            tokens,
            repeated,
            lookups,
            together,
            fingerprint,
            document,
            current,
            table,
            repeats_count,
        })
    }

    /// Adds a token of the document.
    #[inline(always)]
    pub(super) fn add(&mut self, lookup: Lookup) -> Result<()> {
        let Together { hashes, contents, kinds, count } = &mut self.together;
        self.vocabulary.prefetch(lookup.hash);
        let at = *count % TOGETHER;
        (hashes[at], contents[at], kinds[at]) = (lookup.hash, lookup.content, lookup.kind);
        *count += 1;
        if *count == TOGETHER { self.meet_all() } else { Ok(()) }
    }

    /// Looks up all collected tokens. Words of the vocabulary are added to the tokens once; the
    /// number of their occurrences is known when the document ends.
    #[inline(never)]
    fn meet_all(&mut self) -> Result<()> {
        let Together { hashes, contents, kinds, count } = &mut self.together;
        let count = std::mem::take(count).min(TOGETHER);
        self.vocabulary.count_met(count);
        let mut places = [UNKNOWN; TOGETHER];
        for (n, place) in places[..count].iter_mut().enumerate() {
            if kinds[n] == ContentKind::Short {
                *place = self.vocabulary.place(hashes[n], contents[n])?;
            }
        }
        // The counts that follow can only be undone for words that are in `tokens`, so nothing
        // below may fail.
        memory::reserve(self.tokens, count, DOING)?;
        memory::reserve(self.repeated, count, DOING)?;
        memory::reserve(self.lookups, count, DOING)?;
        // Every place is written, and places that are not needed are overwritten, so that no branch
        // depends on whether a word is new in the document.
        let (mut tokens, mut repeated) = ([0; TOGETHER], [0; TOGETHER]);
        let (mut new, mut again) = (0, 0);
        let mut fingerprint = 0u64;
        for n in 0..count {
            let place = places[n];
            tokens[new % TOGETHER] = place;
            if place == UNKNOWN {
                new += 1;
                let (hash, content, kind) = (hashes[n], contents[n], kinds[n]);
                self.lookups.push(Lookup { hash, content, document: self.document, kind });
                continue;
            }
            let times = self.vocabulary.meet(place, self.current, self.table);
            repeated[again % TOGETHER] = place;
            new += usize::from(times == 1);
            again += usize::from(times == 2);
            let counts = u64::from(times == 1 || self.repeats_count);
            fingerprint = fingerprint.wrapping_add(hashes[n] * counts);
        }
        self.fingerprint = self.fingerprint.wrapping_add(fingerprint);
        self.repeated.extend_from_slice(&repeated[..again]);
        self.tokens.extend_from_slice(&tokens[..new]);
        Ok(())
    }

    /// Ends the document. If repeats count, it adds the further occurrences of words of the
    /// vocabulary; then `repeated` has the last occurrence of each repeated word. Returns the sum
    /// of the hashes of the tokens that are in the vocabulary.
    pub(super) fn end(mut self, stop: &Stop) -> Result<u64> {
        self.meet_all()?;
        if self.repeats_count {
            for place in self.repeated {
                *place = self.vocabulary.repeat(*place, self.tokens, stop)?;
            }
        }
        Ok(self.fingerprint)
    }
}
