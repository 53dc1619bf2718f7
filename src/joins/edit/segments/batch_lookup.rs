//! What several texts look up in an index, in the order in which the index has it: so that each part of it is read once for
//! all of them, instead of a part far from the last for each key.

use std::sync::{Mutex, MutexGuard, PoisonError};

use super::context_check::{Codes, Following};
use super::cut::Entry;
use super::index::{Index, Tally};
use super::query::{Query, Window};
use crate::error::Result;
use crate::executor::Stop;
use crate::memory;
use crate::radix;

const DOING: &str = "looking for pieces in common";

/// A key that is looked up.
#[derive(Debug, Clone, Copy)]
struct Look {
    hash: u32,
    /// Of its first character.
    place: u32,
    /// The number of its text among those that look up together.
    query: u32,
    /// What follows it.
    follows: u32,
}

/// Room for what is looked up together.
#[derive(Debug)]
pub(super) struct Looks {
    looks: Vec<Look>,
    other: Vec<Look>,
    windows: Vec<Option<Window>>,
    /// So many are looked up together at most.
    most: usize,
    /// How many entries were looked at so far.
    pub seen: u64,
}

impl Looks {
    /// Of about so many bytes.
    pub(super) fn new(bytes: usize) -> Self {
        const LEAST: usize = 1 << 12;
        let most = (bytes / (2 * size_of::<Look>())).max(LEAST);
        Self { looks: Vec::new(), other: Vec::new(), windows: Vec::new(), most, seen: 0 }
    }

    /// How many keys there is room for.
    pub(super) fn most(&self) -> usize {
        self.most
    }
}

/// Room that is used again, of those that look up at one time.
#[derive(Debug, Default)]
pub(super) struct Rooms(Mutex<Vec<Looks>>);

impl Rooms {
    /// One that is free, or another of about so many bytes.
    pub(super) fn take(&self, bytes: usize) -> Looks {
        self.free().pop().unwrap_or_else(|| Looks::new(bytes))
    }

    /// One that is free now.
    pub(super) fn give_back(&self, looks: Looks) -> Result<()> {
        memory::push(&mut self.free(), looks, DOING)
    }

    fn free(&self) -> MutexGuard<'_, Vec<Looks>> {
        // Nothing is left half done in it.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Bytes on the heap of those that are free.
    pub(super) fn bytes(&self) -> usize {
        self.free().iter().map(|room| memory::bytes(&room.looks) + memory::bytes(&room.other)).sum()
    }
}

impl Index {
    /// Counts for each of its texts the pieces that a text has where they may have moved to, and those that it has twice
    /// there once more. The tally is empty before.
    pub(super) fn count(
        &self,
        query: &Query<'_>,
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

    /// Calls `each` with the number of a query, and an entry that the query has at a place where it may have moved to, as
    /// long as it says true. Gives whether it did to the end.
    pub(super) fn meet(
        &self,
        queries: &[Query<'_>],
        looks: &mut Looks,
        stop: &Stop,
        mut each: impl FnMut(usize, &Entry) -> Result<bool>,
    ) -> Result<bool> {
        looks.looks.clear();
        looks.windows.clear();
        memory::reserve(&mut looks.windows, queries.len(), DOING)?;
        looks.windows.extend(queries.iter().map(|query| Window::new(query, self.reach)));
        let (mut goes_on, mut codes) = (true, Codes::default());
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

    /// Leaves out what no piece has.
    fn retain(&self, looks: &mut Vec<Look>, stop: &Stop) -> Result<()> {
        /// So many further on memory is asked for.
        const AHEAD: usize = 16;
        const CHECK_EVERY: usize = 1 << 16;
        let mut count = 0;
        for at in 0..looks.len() {
            if at % CHECK_EVERY == 0 {
                stop.check()?;
            }
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

    /// Looks up what is to be looked up.
    fn look_up(
        &self,
        looks: &mut Looks,
        stop: &Stop,
        each: &mut impl FnMut(usize, &Entry) -> Result<bool>,
    ) -> Result<bool> {
        const CHECK_EVERY: usize = 1 << 6;
        /// Entries to a look, where nearly all are read.
        const DENSE: usize = 8;
        /// Entries that are as soon found in any order, in bits of their number.
        const SMALL: u32 = 12;
        let Looks { looks, other, windows, seen, .. } = looks;
        let following = Following::of(self.shape);
        self.retain(looks, stop)?;
        let bits = radix::telling_bits(self.entries.len() >> SMALL, u32::BITS);
        let from = u32::BITS - bits;
        radix::sort_by_bits(looks, other, from, bits, stop, DOING, |look| u64::from(look.hash))?;
        let shape = self.shape;
        // The memory of the entries before this one was asked for.
        let mut asked = 0;
        for looks in looks.chunks(CHECK_EVERY) {
            stop.check()?;
            let last = looks.last().map_or(0, |look| u64::from(look.hash) >> from);
            let end = self.first_of(last + 1, bits);
            if end.saturating_sub(asked) <= DENSE * CHECK_EVERY {
                // All of them one after the other, and some more for the next looks.
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
                let (behind, end) = (window.length - place, Entry::key_of(hash, end));
                for entry in &self.entries[self.first_from(hash, first)..] {
                    if entry.key() >= end {
                        break;
                    }
                    *seen += 1;
                    // Most are there by chance.
                    let may_follow = following
                        .is_none_or(|following| following.may_follow(entry.follows, follows, entry.behind));
                    if !may_follow || entry.member.wrapping_sub(window.first) >= window.count {
                        continue;
                    }
                    let (moved, left) = (entry.place.abs_diff(place), entry.behind.abs_diff(behind));
                    // The edits before it and those behind it are no more than all, nor than there may be on either side.
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
