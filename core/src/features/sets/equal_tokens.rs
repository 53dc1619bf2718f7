//! Counts equal tokens: the tokens of some range of hashes, of all sets, in the order of the sets.
//!
//! The distinct tokens are in a hash table, which has room in a processor's cache if the range is
//! small. The answer does not depend on the order of the sets: tokens that may be shared are
//! sorted.

use std::cmp::Ordering;
use std::hash::{BuildHasher, RandomState};

use crate::error::Result;
use crate::executor::Stop;
use crate::features::dictionary::rank::{LONE, OtherTokens};
use crate::features::dictionary::weights::TokenWeights;
use crate::memory;
use crate::radix::sort_by_hash;

const DOING: &str = "counting tokens";

/// The place of a token that only one document has. It is also its rank.
pub(super) const NO_PLACE: u32 = LONE;
/// No token of a table.
const NONE: u32 = u32::MAX;

/// A token as it is counted.
pub(super) trait CountedToken: Copy {
    /// Returns a hash, which equal tokens have in common but for the lowest bit.
    fn sort_key(&self) -> u64;
    /// Compares two tokens. Further occurrences in a document are equal to the first one.
    fn compare(&self, other: &Self) -> Ordering;
    /// Reports whether the set has an equal token immediately before this one.
    fn repeats(&self) -> bool;
}

/// A hash but for its lowest bit, which is set if the token repeats.
impl CountedToken for u64 {
    #[inline]
    fn sort_key(&self) -> u64 {
        *self
    }

    #[inline]
    fn compare(&self, other: &Self) -> Ordering {
        (self >> 1).cmp(&(other >> 1))
    }

    #[inline]
    fn repeats(&self) -> bool {
        self & 1 == 1
    }
}

/// The distinct tokens that several documents have, or all of them if they weigh. Further
/// occurrences in a document are tokens of their own.
#[derive(Debug, Default)]
pub(super) struct EqualTokens {
    /// The number of documents that have each token, or 0 if it cannot be shared; later its rank.
    pub(super) ranks: Vec<u32>,
    /// What each token weighs, if tokens weigh.
    pub(super) weights: Vec<u16>,
    /// The number of distinct tokens, also of those that only one document has.
    pub(super) distinct: usize,
}

impl EqualTokens {
    /// Adds a token, or a further occurrence of one, given how many documents of each table have
    /// it. Returns its place.
    fn add(&mut self, two_tables: bool, [left, right]: [u32; 2], weight: Option<u16>) -> Result<u32> {
        let (place, all) = (self.ranks.len() as u32, left.saturating_add(right));
        if let Some(weight) = weight {
            memory::push(&mut self.weights, weight, DOING)?;
        } else if all < 2 {
            return Ok(NO_PLACE);
        }
        let is_shared = if two_tables { left > 0 && right > 0 } else { left > 1 };
        memory::push(&mut self.ranks, if is_shared { all } else { 0 }, DOING)?;
        Ok(place)
    }

    /// Adds the tokens of another range. Returns the number of places before theirs.
    pub(super) fn append(&mut self, mut other: Self) -> Result<u32> {
        let before = self.ranks.len() as u32;
        self.distinct += other.distinct;
        memory::append(&mut self.ranks, other.ranks.drain(..), DOING)?;
        memory::append(&mut self.weights, other.weights.drain(..), DOING)?;
        Ok(before)
    }

    /// Returns the number of bytes on the heap.
    pub(super) fn bytes(&self) -> usize {
        memory::bytes(&self.ranks) + memory::bytes(&self.weights)
    }
}

/// A distinct token, or a further occurrence of one in a document.
#[derive(Debug, Clone, Copy)]
struct TokenEntry<T> {
    token: T,
    /// The number of documents of each table that have it.
    documents: [u32; 2],
    /// The number of the entry of the next occurrence in a document, or [`NONE`].
    next: u32,
    /// Of a first occurrence: the number of the entry of the last token that was added.
    last: u32,
    place: u32,
}

/// The distinct tokens of a range of hashes, by hash.
#[derive(Debug)]
pub(super) struct TokenTable<T> {
    /// The numbers of entries, each in the first free slot from that of its hash on. Half of the
    /// slots are free.
    slots: Vec<u32>,
    entries: Vec<TokenEntry<T>>,
    /// The number of entries that have a slot: those of first occurrences.
    firsts: usize,
    /// Nobody can make tokens that go to few slots, as nobody knows this odd number.
    factor: u64,
    /// Scratch memory for the tokens that are sorted.
    sorted: [Vec<(T, u32)>; 2],
}

impl<T: CountedToken> TokenTable<T> {
    const LEAST_SLOTS: usize = if cfg!(test) { 2 } else { 1 << 6 };
    /// The number of tokens between two checks for a stop.
    pub(super) const CHECK_EVERY: usize = 1 << 14;

    /// Creates an empty table.
    pub(super) fn new() -> Result<Self> {
        Ok(Self {
            slots: memory::filled(NONE, Self::LEAST_SLOTS, DOING)?,
            entries: Vec::new(),
            firsts: 0,
            factor: RandomState::new().hash_one(DOING) | 1,
            sorted: [Vec::new(), Vec::new()],
        })
    }

    /// Forgets all tokens. About so many will be added.
    pub(super) fn clear(&mut self, expected: usize) {
        // An earlier range may have had more tokens.
        self.slots.truncate((2 * expected).next_power_of_two().max(Self::LEAST_SLOTS));
        self.slots.fill(NONE);
        self.entries.clear();
        self.firsts = 0;
    }

    /// Adds the next token, and returns the number of its entry.
    #[inline]
    pub(super) fn add(&mut self, token: T, is_right: bool) -> Result<u32> {
        let slot = self.slot(&token);
        let first = self.slots[slot];
        if first == NONE {
            return self.add_first(slot, token, is_right);
        }
        let mut number = first;
        if token.repeats() {
            let last = self.entries[first as usize].last;
            number = self.entries[last as usize].next;
            if number == NONE {
                number = self.push(token)?;
                self.entries[last as usize].next = number;
            }
        }
        self.entries[first as usize].last = number;
        self.entries[number as usize].documents[usize::from(is_right)] += 1;
        Ok(number)
    }

    /// Adds a token that is not there yet, at its slot.
    #[cold]
    fn add_first(&mut self, mut slot: usize, token: T, is_right: bool) -> Result<u32> {
        if 2 * self.firsts >= self.slots.len() {
            let slots = memory::filled(NONE, 2 * self.slots.len(), DOING)?;
            let before = std::mem::replace(&mut self.slots, slots);
            for number in before.into_iter().filter(|&number| number != NONE) {
                let slot = self.slot(&self.entries[number as usize].token);
                self.slots[slot] = number;
            }
            slot = self.slot(&token);
        }
        let number = self.push(token)?;
        self.firsts += 1;
        self.slots[slot] = number;
        self.entries[number as usize].documents[usize::from(is_right)] = 1;
        Ok(number)
    }

    fn push(&mut self, token: T) -> Result<u32> {
        // Tokens of a part are numbered with 32 bits.
        let number = self.entries.len() as u32;
        let entry = TokenEntry { token, documents: [0; 2], next: NONE, last: number, place: NO_PLACE };
        memory::push(&mut self.entries, entry, DOING)?;
        Ok(number)
    }

    /// Returns the slot of a token, or the free one where it would be.
    #[inline]
    fn slot(&self, token: &T) -> usize {
        let mask = self.slots.len() - 1;
        // The last bit of the key does not count. The first bits of a product are mixed best.
        let mixed = (token.sort_key() >> 1).wrapping_mul(self.factor);
        let mut slot = (mixed >> (u64::BITS - self.slots.len().ilog2())) as usize;
        loop {
            let number = self.slots[slot];
            if number == NONE || self.entries[number as usize].token.compare(token).is_eq() {
                return slot;
            }
            slot = (slot + 1) & mask;
        }
    }

    /// Gives the tokens that may be shared their places.
    pub(super) fn counted(
        &mut self,
        two_tables: bool,
        weigh: Option<&impl Fn(&T, u64) -> u16>,
        stop: &Stop,
    ) -> Result<EqualTokens> {
        let Self { slots, entries, sorted: [sorted, other], .. } = self;
        sorted.clear();
        for (n, &first) in slots.iter().enumerate() {
            stop.check_every(n, Self::CHECK_EVERY)?;
            if let Some(entry) = entries.get(first as usize)
                && (weigh.is_some() || entry.documents[0].saturating_add(entry.documents[1]) > 1)
            {
                memory::push(sorted, (entry.token, first), DOING)?;
            }
        }
        sort_by_hash(sorted, other, stop, DOING, |(token, _)| token.sort_key(), &|a, b| a.0.compare(&b.0))?;
        let mut counted = EqualTokens { distinct: entries.len(), ..EqualTokens::default() };
        for (n, &(token, first)) in sorted.iter().enumerate() {
            stop.check_every(n, Self::CHECK_EVERY)?;
            let [left, right] = entries[first as usize].documents.map(u64::from);
            let weight = weigh.map(|weigh| weigh(&token, left + right));
            let mut number = first;
            while let Some(entry) = entries.get_mut(number as usize) {
                entry.place = counted.add(two_tables, entry.documents, weight)?;
                number = entry.next;
            }
        }
        Ok(counted)
    }

    /// Replaces the numbers of entries by the places of their tokens.
    pub(super) fn places(&self, entries: &mut [u32], stop: &Stop) -> Result<()> {
        for entries in entries.chunks_mut(Self::CHECK_EVERY) {
            stop.check()?;
            entries.iter_mut().for_each(|entry| *entry = self.place(*entry));
        }
        Ok(())
    }

    /// Returns the place of the token of an entry.
    #[inline]
    pub(super) fn place(&self, entry: u32) -> u32 {
        self.entries[entry as usize].place
    }
}

/// Adds the frequencies of the tokens that can be shared to all of them.
pub(super) fn add_frequencies(frequencies: &[u32], all: &mut OtherTokens) -> Result<()> {
    frequencies.iter().filter(|&&documents| documents > 0).try_for_each(|&documents| all.add(documents))
}

/// Replaces frequencies by the ranks that they were given, and says what the ranks weigh. Tokens
/// that cannot be shared get the ranks that `apart` returns.
pub(super) fn take_ranks(
    ranks: &mut [u32],
    weights: &[u16],
    frequencies: &mut OtherTokens,
    mut apart: impl FnMut() -> u32,
    of_ranks: &mut TokenWeights,
) {
    for (place, rank) in ranks.iter_mut().enumerate() {
        if *rank == 0 {
            *rank = apart();
            continue;
        }
        *rank = frequencies.next_rank(*rank);
        if let Some(&weight) = weights.get(place) {
            of_ranks.set(*rank, weight);
        }
    }
}
