//! Looks up the keys of several texts in an index together, in the order of the index. Each part of
//! the index is then read once for all of the texts, instead of one random read for each key.

use super::context_check::{CharacterBits, Following};
use super::cut::PieceEntry;
use super::index::{PieceIndex, Tally};
use super::query::{KeyWindow, PieceQuery};
use crate::error::Result;
use crate::executor::Stop;
use crate::memory;
use crate::radix;

const DOING: &str = "looking for pieces in common";

/// A key that is looked up.
#[derive(Debug, Clone, Copy)]
struct Look {
    hash: u32,
    /// The position of the key's first character.
    place: u32,
    /// The number of the key's text in this batch of queries.
    query: u32,
    /// The codes of the characters that follow the key.
    follows: u32,
}

/// Buffers for keys that are looked up together.
#[derive(Debug)]
pub(super) struct Looks {
    looks: Vec<Look>,
    other: Vec<Look>,
    windows: Vec<Option<KeyWindow>>,
    /// The maximum number of keys that are looked up together.
    pub(super) most: usize,
    /// The number of entries examined so far.
    pub seen: u64,
}

impl Looks {
    /// Creates buffers of about `bytes` bytes.
    pub(super) fn new(bytes: usize) -> Self {
        const LEAST: usize = 1 << 12;
        let most = (bytes / (2 * size_of::<Look>())).max(LEAST);
        Self { looks: Vec::new(), other: Vec::new(), windows: Vec::new(), most, seen: 0 }
    }

    /// Returns the number of bytes on the heap.
    pub(super) fn bytes(&self) -> usize {
        memory::bytes(&self.looks) + memory::bytes(&self.other)
    }
}

impl PieceIndex {
    /// Counts, for each text of the index, those of its pieces that the query has at a position to
    /// which they may have moved. A piece that the query has at two such positions counts twice.
    /// The tally must be empty before the call.
    pub(super) fn count(
        &self,
        query: &PieceQuery<'_>,
        tally: &mut Tally,
        looks: &mut Looks,
        stop: &Stop,
    ) -> Result<()> {
        self.meet(std::slice::from_ref(query), looks, stop, |_, entry| {
            tally.add(entry.member)?;
            Ok(true)
        })?;
        Ok(())
    }

    /// Calls `each` with the number of a query and an entry whose key the query has at a position
    /// to which it may have moved, as long as `each` returns true. Returns false if `each` stopped
    /// the search.
    pub(super) fn meet(
        &self,
        queries: &[PieceQuery<'_>],
        looks: &mut Looks,
        stop: &Stop,
        mut each: impl FnMut(usize, &PieceEntry) -> Result<bool>,
    ) -> Result<bool> {
        looks.looks.clear();
        let windows = queries.iter().map(|query| KeyWindow::new(query, self.reach));
        memory::refill(&mut looks.windows, windows, DOING)?;
        let (mut goes_on, mut codes) = (true, CharacterBits::default());
        for (number, query) in (0..).zip(queries) {
            if looks.windows[number as usize].is_none() {
                continue;
            }
            codes.set(query.text, query.length)?;
            self.shape.for_each_look(query.text, stop, |places, hash| {
                if goes_on {
                    let look =
                        Look { hash, place: places.start, query: number, follows: codes.from(places.end) };
                    memory::push(&mut looks.looks, look, DOING)?;
                    if looks.looks.len() >= looks.most {
                        goes_on = self.look_up(looks, stop, &mut each)?;
                    }
                }
                Ok(())
            })?;
            if !goes_on {
                return Ok(false);
            }
        }
        self.look_up(looks, stop, &mut each)
    }

    /// Removes the keys whose hashes no piece has.
    fn keep_known(&self, looks: &mut Vec<Look>, stop: &Stop) -> Result<()> {
        /// How many keys in advance memory is prefetched.
        const AHEAD: usize = 16;
        const CHECK_EVERY: usize = 1 << 16;
        let mut count = 0;
        for at in 0..looks.len() {
            stop.check_every(at, CHECK_EVERY)?;
            if let Some(later) = looks.get(at + AHEAD) {
                self.prefetch_present(later.hash);
            }
            let look = looks[at];
            looks[count] = look;
            count += usize::from(self.may_have(look.hash));
        }
        looks.truncate(count);
        Ok(())
    }

    /// Looks up the collected keys.
    fn look_up(
        &self,
        looks: &mut Looks,
        stop: &Stop,
        each: &mut impl FnMut(usize, &PieceEntry) -> Result<bool>,
    ) -> Result<bool> {
        const CHECK_EVERY: usize = 1 << 6;
        /// With up to this many entries per key, nearly all entries are read.
        const DENSE: usize = 8;
        /// With up to 2^12 entries, the order of the lookups does not matter.
        const SMALL: u32 = 12;
        let Looks { looks, other, windows, seen, .. } = looks;
        let following = Following::for_shape(self.shape);
        self.keep_known(looks, stop)?;
        let bits = radix::telling_bits(self.entries.len() >> SMALL, u32::BITS);
        let from = u32::BITS - bits;
        radix::sort_by_bits(looks, other, from, bits, stop, DOING, |look| u64::from(look.hash))?;
        let shape = self.shape;
        // The entries before this one are prefetched already.
        let mut asked = 0;
        for looks in looks.chunks(CHECK_EVERY) {
            stop.check()?;
            let last = looks.last().map_or(0, |look| u64::from(look.hash) >> from);
            let end = self.first_of(last + 1, bits);
            if end.saturating_sub(asked) <= DENSE * CHECK_EVERY {
                // Prefetch all entries in sequence, and some more for the next keys.
                let ahead = self.first_of(last + 2, bits).min(end + DENSE * CHECK_EVERY);
                self.prefetch_entries(asked..ahead);
                asked = asked.max(ahead);
            } else {
                looks.iter().for_each(|look| self.prefetch_start(look.hash));
                looks.iter().for_each(|look| self.prefetch_bucket(look.hash));
                asked = end;
            }
            for &Look { hash, place, query, follows } in looks {
                let Some(window) = &windows[query as usize] else { continue };
                let [first, end] = window.places(place);
                let (behind, end) = (window.length - place, PieceEntry::key_of(hash, end));
                for entry in &self.entries[self.first_from(hash, first)..] {
                    if entry.key() >= end {
                        break;
                    }
                    *seen += 1;
                    // Most matching keys match by chance.
                    let may_follow = following
                        .is_none_or(|following| following.may_follow(entry.follows, follows, entry.behind));
                    if !may_follow || entry.member.wrapping_sub(window.first) >= window.count {
                        continue;
                    }
                    let (moved, left) = (entry.place.abs_diff(place), entry.behind.abs_diff(behind));
                    // The edits before and after the piece together must not exceed the greatest
                    // distance, and the edits on each side must not exceed the maximum of that
                    // side.
                    if moved + left <= self.reach
                        && moved <= shape.most_edits_beside(entry.others[0])
                        && left <= shape.most_edits_beside(entry.others[1])
                        && !each(query as usize, entry)?
                    {
                        return Ok(false);
                    }
                }
            }
        }
        looks.clear();
        Ok(true)
    }
}
