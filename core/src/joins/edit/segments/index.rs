//! An index of the pieces of some texts by content and position. It finds which of these texts have
//! enough pieces in common with another text.

use std::ops::Range;

use super::cut::{CutShare, IndexedText, PieceEntry};
use super::query::{KeyWindow, PieceQuery};
use super::shape::Shape;
use crate::error::Result;
use crate::executor::Stop;
use crate::memory;
use crate::radix;
use crate::simd::prefetch::prefetch;

const DOING: &str = "looking for pieces in common";
/// The number of entries between two checks of the stop flag.
const CHECK_EVERY: usize = 1 << 16;

/// The pieces of some texts.
#[derive(Debug)]
pub(super) struct PieceIndex {
    pub(super) shape: Shape,
    /// The entries, sorted by hash and, for equal hashes, by position.
    pub(super) entries: Vec<PieceEntry>,
    /// For each value of the first bits of a hash, where the entries with that value begin. The
    /// last element is where the last entries end.
    starts: Vec<u32>,
    /// The number of first bits of a hash that select an element of `starts`.
    bits: u32,
    /// A bitmap of the hashes that occur, by their last bits.
    present: Vec<u64>,
    /// For each text, the least number of its indexed pieces that a similar text has; 0 if the
    /// index cannot rule the text out.
    needed: Vec<u16>,
    /// The texts that the index cannot rule out.
    unknown: Vec<u32>,
    /// The greatest distance of all texts.
    pub(super) reach: u32,
}

/// Counts how many pieces each text of an index has in common with another text.
#[derive(Debug)]
pub(super) struct Tally {
    counts: Vec<u16>,
    /// The texts that have any piece in common.
    met: Vec<u32>,
}

impl Tally {
    /// Counts one more piece of a text of the index. If the other text has a piece twice at
    /// positions to which it may have moved, the piece counts twice.
    #[inline]
    pub(super) fn add(&mut self, member: u32) -> Result<()> {
        let count = &mut self.counts[member as usize];
        if *count == 0 {
            memory::push(&mut self.met, member, DOING)?;
        }
        *count = count.saturating_add(1);
        Ok(())
    }
}

impl PieceIndex {
    /// Builds an index from the pieces of `shares`. It keeps the rarest pieces of each text, as
    /// measured by how often the texts of `sample` have them.
    pub(super) fn new<'a>(
        shares: &[CutShare],
        shape: Shape,
        sample: impl Iterator<Item = PieceQuery<'a>>,
        stop: &Stop,
    ) -> Result<Self> {
        let (mut members, mut entries) = (Vec::new(), Vec::new());
        memory::reserve(&mut members, shares.iter().map(|share| share.members.len()).sum(), DOING)?;
        memory::reserve(&mut entries, shares.iter().map(|share| share.entries.len()).sum(), DOING)?;
        let mut reach = 0;
        for share in shares {
            stop.check()?;
            members.extend_from_slice(&share.members);
            entries.extend_from_slice(&share.entries);
            reach = share.todo.iter().map(|&(_, distance)| distance).fold(reach, u32::max);
        }
        let compare = |a: &PieceEntry, b: &PieceEntry| a.key().cmp(&b.key());
        radix::sort_by_hash(&mut entries, &mut Vec::new(), stop, DOING, PieceEntry::key, &compare)?;
        let mut index = Self {
            shape,
            entries,
            starts: Vec::new(),
            bits: 0,
            present: Vec::new(),
            needed: Vec::new(),
            unknown: Vec::new(),
            reach,
        };
        index.find_starts(stop)?;
        let (hits, size) = index.hits(sample, members.len(), stop)?;
        index.keep_rarest(&members, &hits, size, stop)?;
        index.find_starts(stop)?;
        Ok(index)
    }

    /// Counts for each entry how many of the texts `others` have the same key at a position to
    /// which it may have moved. Also returns the number of these texts. A piece of a template has
    /// as many entries as there are texts, so each key of another text only marks where the run of
    /// matching entries begins and ends.
    fn hits<'a>(
        &self,
        others: impl Iterator<Item = PieceQuery<'a>>,
        members: usize,
        stop: &Stop,
    ) -> Result<(Vec<u32>, u64)> {
        // Each value is first the difference from the previous entry's count.
        let mut hits = memory::filled(0u32, self.entries.len() + 1, DOING)?;
        let mut has_own = memory::filled(false, members, DOING)?;
        let mut size = 0;
        for query in others {
            size += 1;
            let Some(window) = KeyWindow::new(&query, self.reach) else { continue };
            self.shape.for_each_look(query.text, stop, |places, hash| {
                if self.may_have(hash) {
                    let [from, to] = window.places(places.start).map(|place| self.first_from(hash, place));
                    hits[from] = hits[from].wrapping_add(1);
                    hits[to] = hits[to].wrapping_sub(1);
                }
                Ok(())
            })?;
            if let Some(own) = query.own {
                has_own[own as usize] = true;
            }
        }
        let mut sum = 0u32;
        for (at, (hits, entry)) in hits.iter_mut().zip(&self.entries).enumerate() {
            stop.check_every(at, CHECK_EVERY)?;
            sum = sum.wrapping_add(*hits);
            // A text of the sample matches its own entry, which does not count.
            *hits = sum.saturating_sub(u32::from(has_own[entry.member as usize]));
        }
        Ok((hits, size))
    }

    /// Finds where the entries of each bucket begin, and which hashes occur.
    fn find_starts(&mut self, stop: &Stop) -> Result<()> {
        /// The number of bits of `present` for each entry.
        const BITS_AN_ENTRY: usize = 8;
        const MOST_WORDS: usize = 1 << 22;
        const MOST_BITS: u32 = 24;
        let words =
            (self.entries.len() * BITS_AN_ENTRY / u64::BITS as usize).next_power_of_two().min(MOST_WORDS);
        (self.present, self.starts) = (Vec::new(), Vec::new());
        self.present = memory::filled(0, words, DOING)?;
        self.bits = self.entries.len().max(2).ilog2().min(MOST_BITS);
        let count = (1 << self.bits) + 1;
        memory::reserve(&mut self.starts, count, DOING)?;
        for (at, entry) in self.entries.iter().enumerate() {
            stop.check_every(at, CHECK_EVERY)?;
            let bucket = self.bucket(entry.hash);
            if self.starts.len() <= bucket {
                self.starts.resize(bucket + 1, at as u32);
            }
            let (word, bit) = present_at(entry.hash, words);
            self.present[word] |= bit;
        }
        self.starts.resize(count, self.entries.len() as u32);
        Ok(())
    }

    /// Returns the bucket of a hash.
    #[inline]
    fn bucket(&self, hash: u32) -> usize {
        (hash >> (u32::BITS - self.bits)) as usize
    }

    /// Prefetches the word of `present` for a hash.
    #[inline]
    pub(super) fn prefetch_present(&self, hash: u32) {
        prefetch(&self.present, present_at(hash, self.present.len()).0);
    }

    /// Prefetches the start of the bucket of a hash.
    #[inline]
    pub(super) fn prefetch_start(&self, hash: u32) {
        prefetch(&self.starts, self.bucket(hash));
    }

    /// Returns the first entry whose hash has at least this value in its first `bits` bits, or the
    /// end of the entries.
    #[inline]
    pub(super) fn first_of(&self, value: u64, bits: u32) -> usize {
        let bucket = (value << self.bits >> bits) as usize;
        self.starts.get(bucket).map_or(self.entries.len(), |&first| first as usize)
    }

    /// Prefetches these entries.
    #[inline]
    pub(super) fn prefetch_entries(&self, entries: Range<usize>) {
        /// The number of bytes of a cache line.
        const LINE: usize = 64;
        entries.step_by(LINE / size_of::<PieceEntry>()).for_each(|entry| prefetch(&self.entries, entry));
    }

    /// Prefetches the first entries of the bucket of a hash.
    #[inline]
    pub(super) fn prefetch_bucket(&self, hash: u32) {
        prefetch(&self.entries, self.starts[self.bucket(hash)] as usize);
    }

    /// Returns the first entry of a hash from a position on, or the end of the entries of that
    /// hash.
    #[inline]
    pub(super) fn first_from(&self, hash: u32, place: u32) -> usize {
        let bucket = self.bucket(hash);
        let (from, to) = (self.starts[bucket] as usize, self.starts[bucket + 1] as usize);
        let key = PieceEntry::key_of(hash, place);
        from + self.entries[from..to].partition_point(|entry| entry.key() < key)
    }

    /// Reports whether a piece may have this hash.
    #[inline]
    pub(super) fn may_have(&self, hash: u32) -> bool {
        let (word, bit) = present_at(hash, self.present.len());
        self.present[word] & bit != 0
    }

    /// Removes the keys of all pieces except the rarest of each text, as measured by how often a
    /// sample of `size` texts has each piece.
    ///
    /// A similar text has at least m - c of any m pieces, where c is how many pieces its edits may
    /// change. The index keeps so many pieces that m - c exceeds the number of pieces that texts
    /// have in common by chance. It keeps no more than that, because every match of a piece costs
    /// time.
    fn keep_rarest(&mut self, members: &[IndexedText], hits: &[u32], size: u64, stop: &Stop) -> Result<()> {
        const LEFT_OUT: u16 = u16::MAX;
        let mut firsts = Vec::new();
        memory::reserve(&mut firsts, members.len(), DOING)?;
        let mut all = 0;
        for member in members {
            firsts.push(all);
            all += member.pieces as usize;
        }
        let mut of_pieces = memory::filled(0u32, all, DOING)?;
        let length = self.shape.length();
        let piece = |entry: &PieceEntry| firsts[entry.member as usize] + entry.place as usize / length;
        for (at, (entry, &hits)) in self.entries.iter().zip(hits).enumerate() {
            stop.check_every(at, CHECK_EVERY)?;
            if hits > 0 {
                let sum = &mut of_pieces[piece(entry)];
                *sum = sum.saturating_add(hits);
            }
        }
        // For each kept piece, the number of kept pieces of the same text before it; `LEFT_OUT` for
        // a piece that is not kept.
        let mut before = memory::filled(LEFT_OUT, all, DOING)?;
        let mut kept: Vec<u16> = Vec::new();
        memory::reserve(&mut kept, members.len(), DOING)?;
        memory::reserve(&mut self.needed, members.len(), DOING)?;
        let mut order: Vec<(u32, u32)> = Vec::new();
        for ((member, own), &first) in (0..).zip(members).zip(&firsts) {
            stop.check()?;
            let hits = &of_pieces[first..first + own.pieces as usize];
            memory::refill(&mut order, hits.iter().copied().zip(0..), DOING)?;
            order.sort_unstable();
            let (taken, needed) = taken_and_needed(&order, own.changed.into(), size);
            order[..taken as usize].iter().for_each(|&(_, piece)| before[first + piece as usize] = 0);
            let own = before[first..first + own.pieces as usize].iter_mut();
            for (rank, before) in (0..).zip(own.filter(|before| **before == 0)) {
                *before = rank;
            }
            // Both are at most the number of pieces, which fits 16 bits.
            kept.push(taken as u16);
            self.needed.push(needed as u16);
            if needed == 0 {
                memory::push(&mut self.unknown, member, DOING)?;
            }
        }
        let mut count = 0;
        for at in 0..self.entries.len() {
            stop.check_every(at, CHECK_EVERY)?;
            let entry = self.entries[at];
            let before = before[piece(&entry)];
            if before != LEFT_OUT {
                let behind = kept[entry.member as usize] - 1 - before;
                self.entries[count] = PieceEntry { others: [before, behind], ..entry };
                count += 1;
            }
        }
        self.entries.truncate(count);
        self.entries.shrink_to_fit();
        Ok(())
    }

    /// Creates a tally for the texts of the index.
    pub(super) fn tally(&self) -> Result<Tally> {
        Ok(Tally { counts: memory::filled(0, self.needed.len(), DOING)?, met: Vec::new() })
    }

    /// Calls `each` once with each text that may be similar according to the tally, and empties the
    /// tally. Returns how many texts have a piece in common.
    pub(super) fn near(&self, tally: &mut Tally, mut each: impl FnMut(u32) -> Result<()>) -> Result<u64> {
        let met = tally.met.len();
        for member in tally.met.drain(..) {
            let (count, needed) = (&mut tally.counts[member as usize], self.needed[member as usize]);
            if needed > 0 && std::mem::take(count) >= needed {
                each(member)?;
            }
        }
        self.unknown.iter().try_for_each(|&member| each(member))?;
        Ok(met as u64)
    }

    /// Returns the number of bytes on the heap.
    pub(super) fn bytes(&self) -> usize {
        memory::bytes(&self.entries)
            + memory::bytes(&self.starts)
            + memory::bytes(&self.present)
            + memory::bytes(&self.needed)
            + memory::bytes(&self.unknown)
    }
}

/// Returns the word and the bit that report whether a hash occurs; the number of words is a power
/// of two.
#[inline]
fn present_at(hash: u32, words: usize) -> (usize, u64) {
    ((hash / u64::BITS) as usize & (words - 1), 1 << (hash % u64::BITS))
}

/// Returns how many pieces of a text to take, beginning with the piece that has the fewest chance
/// matches, and how many of the taken pieces a similar text must have if `changed` of them may
/// differ. `order` has, for each piece, its number of chance matches with `size` texts, in
/// ascending order.
fn taken_and_needed(order: &[(u32, u32)], changed: u64, size: u64) -> (u64, u64) {
    /// By how many the needed pieces must exceed the number that chance matches explain.
    const MARGIN: u64 = 8;
    // `best` is the greatest excess of the needed pieces over twice the mean number of chance
    // matches, in units of 1 / `size`, then the number of pieces to take, and the number of needed
    // pieces. `met` is the number of chance matches so far.
    let (mut best, mut met): (Option<(i64, u64, u64)>, u64) = (None, 0);
    for (taken, &(hits, _)) in (1u64..).zip(order) {
        met += u64::from(hits);
        let Some(needed) = taken.checked_sub(changed).filter(|&needed| needed > 0) else { continue };
        let over = (needed * size) as i64 - 2 * met as i64;
        if best.is_none_or(|(most, ..)| over > most) {
            best = Some((over, taken, needed));
        }
        if over >= (MARGIN * size) as i64 {
            break;
        }
    }
    let (_, taken, needed) = best.unwrap_or_default();
    (taken, needed)
}
