//! The pieces of some texts by what they say and where they stand, and which of these texts have enough of them in
//! common with another one.

use super::shape::Shape;
use crate::error::Result;
use crate::features::texts::Texts;
use crate::memory;
use crate::workers::Stop;

const DOING: &str = "looking for pieces in common";

/// A key of a piece of a text.
#[derive(Debug, Clone, Copy)]
pub(super) struct Entry {
    hash: u32,
    /// Of its first character.
    place: u32,
    /// Characters from there to the end of the text.
    behind: u32,
    /// The number of its text among those of the index.
    member: u32,
}

impl Entry {
    /// Bytes of an entry while an index is made: as it was cut, as it is ordered, how often it is met, where it begins.
    pub(super) const BYTES: usize = 2 * size_of::<Self>() + 2 * size_of::<u32>();
    /// Of a text that has more pieces the first ones are taken.
    pub(super) const MOST_PIECES: usize = u16::MAX as usize;
}

/// A text of the index.
#[derive(Debug, Clone, Copy)]
struct Member {
    /// How many pieces it was cut into.
    pieces: u32,
    /// How many of its pieces no similar text needs to have.
    changed: u32,
}

/// What one thread makes of some texts.
#[derive(Debug)]
pub(super) struct Share {
    /// The texts, and for each the greatest distance of a pair that it may be in.
    todo: Vec<(u32, u32)>,
    /// The number of the first among all.
    first: u32,
    entries: Vec<Entry>,
    members: Vec<Member>,
}

impl Share {
    /// To be made of these texts.
    pub(super) fn new(todo: Vec<(u32, u32)>, first: u32) -> Self {
        Self { todo, first, entries: Vec::new(), members: Vec::new() }
    }

    /// Cuts its texts.
    pub(super) fn cut(&mut self, texts: &Texts, shape: Shape, stop: &Stop) -> Result<()> {
        // One that was stopped begins anew.
        self.entries.clear();
        self.members.clear();
        let Self { todo, first, entries, members } = self;
        for (member, &(text, distance)) in (*first..).zip(todo.iter()) {
            let length = texts.length(text);
            let pieces = (length as usize / shape.length()).min(Entry::MOST_PIECES) as u32;
            let changed = distance / shape.edits();
            // Of the others nothing is known.
            if pieces > changed {
                memory::reserve(entries, pieces as usize * shape.keys(), DOING)?;
                let end = pieces * shape.length() as u32;
                shape.for_each_key(texts.text(text), stop, |place, hash| {
                    if place < end {
                        entries.push(Entry { hash, place, behind: length - place, member });
                    }
                    Ok(())
                })?;
            }
            memory::push(members, Member { pieces, changed }, DOING)?;
        }
        Ok(())
    }
}

/// A text whose pieces are looked up.
#[derive(Debug, Clone, Copy)]
pub(super) struct Query<'a> {
    pub text: &'a str,
    /// Characters of it.
    pub length: u32,
    /// The least and the most characters of the texts it is compared with.
    pub others: (u32, u32),
    /// Its own number, where the index has it.
    pub own: Option<usize>,
}

/// The pieces of some texts.
#[derive(Debug)]
pub(super) struct Index {
    shape: Shape,
    /// By bucket.
    entries: Vec<Entry>,
    /// Where the entries of each bucket begin, and at last where all end.
    starts: Vec<u32>,
    buckets: Buckets,
    /// Which hashes there are, by their last bits.
    present: Vec<u64>,
    /// Of each text how many pieces similar ones have at least; where it is 0 nothing is known of it.
    needed: Vec<u16>,
    /// Those of which nothing is known.
    unknown: Vec<u32>,
    /// The greatest distance of all.
    reach: u32,
}

/// How entries are grouped: by the first bits of their hashes, then by about where they stand, so that those of near places
/// are together.
#[derive(Debug, Clone, Copy)]
struct Buckets {
    /// Bits of a hash.
    bits: u32,
    /// Bits of a place that do not matter.
    shift: u32,
    /// How many there are for the same bits.
    places: usize,
}

impl Buckets {
    /// For so many entries, of which none is at this place or behind it.
    fn new(entries: usize, end: u32) -> Self {
        const MOST_PLACES: u32 = 32;
        const MOST_BITS: u32 = 24;
        let mut shift = 0;
        while end >> shift >= MOST_PLACES {
            shift += 1;
        }
        let places = (end >> shift) as usize + 1;
        Self { bits: (entries / places).max(2).ilog2().min(MOST_BITS), shift, places }
    }

    fn count(self) -> usize {
        self.places << self.bits
    }

    /// The one of a hash at a place; those behind all others are at the end.
    #[inline]
    fn of(self, hash: u32, place: u32) -> usize {
        let place = ((place >> self.shift) as usize).min(self.places - 1);
        (hash >> (u32::BITS - self.bits)) as usize * self.places + place
    }
}

/// How many pieces each text of an index has in common with another one.
#[derive(Debug)]
pub(super) struct Tally {
    counts: Vec<u16>,
    /// Those that have any.
    met: Vec<u32>,
}

impl Index {
    /// An index of what was cut into pieces of a shape, of the rarest of each text: by how often `sample` has them.
    pub(super) fn new<'a>(
        shares: &[Share],
        shape: Shape,
        sample: impl Iterator<Item = Query<'a>>,
        stop: &Stop,
    ) -> Result<Self> {
        let mut members = Vec::new();
        memory::reserve(&mut members, shares.iter().map(|share| share.members.len()).sum(), DOING)?;
        shares.iter().for_each(|share| members.extend_from_slice(&share.members));
        let distances = shares.iter().flat_map(|share| share.todo.iter().map(|&(_, distance)| distance));
        let reach = distances.max().unwrap_or(0);
        let buckets = Buckets::new(0, 0);
        let mut index = Self {
            shape,
            entries: Vec::new(),
            starts: Vec::new(),
            buckets,
            present: Vec::new(),
            needed: Vec::new(),
            unknown: Vec::new(),
            reach,
        };
        index.fill(shares, &|_| true, stop)?;
        let (mut hits, mut size) = (memory::filled(0u32, index.entries.len(), DOING)?, 0);
        for query in sample {
            index.each_met(query, stop, |at, _| {
                hits[at] += 1;
                Ok(())
            })?;
            size += 1;
        }
        index.keep_rarest(shares, &members, &hits, size, stop)?;
        Ok(index)
    }

    /// Makes it one of the entries that are kept.
    fn fill(&mut self, shares: &[Share], is_kept: &dyn Fn(&Entry) -> bool, stop: &Stop) -> Result<()> {
        let kept = |share: &'_ Share| share.entries.iter().filter(|entry| is_kept(entry)).count();
        let (mut count, mut end) = (0, 0);
        for share in shares {
            stop.check()?;
            count += kept(share);
            end = end.max(share.entries.iter().map(|entry| entry.place).max().unwrap_or(0));
        }
        /// Bits of `present` for an entry.
        const BITS_AN_ENTRY: usize = 8;
        const MOST_WORDS: usize = 1 << 22;
        self.buckets = Buckets::new(count, end);
        self.entries = Vec::new();
        let words = (count * BITS_AN_ENTRY / u64::BITS as usize).next_power_of_two().min(MOST_WORDS);
        self.present = memory::filled(0, words, DOING)?;
        self.starts = memory::filled(0u32, self.buckets.count() + 1, DOING)?;
        for share in shares {
            stop.check()?;
            for entry in share.entries.iter().filter(|entry| is_kept(entry)) {
                self.starts[self.buckets.of(entry.hash, entry.place)] += 1;
                let (word, bit) = self.present_at(entry.hash);
                self.present[word] |= bit;
            }
        }
        let mut sum = 0;
        for start in &mut self.starts {
            sum += *start;
            *start = sum;
        }
        self.entries = memory::filled(Entry { hash: 0, place: 0, behind: 0, member: 0 }, count, DOING)?;
        // From its end on, so that each start is what is left at last.
        for share in shares.iter().rev() {
            stop.check()?;
            for entry in share.entries.iter().rev().filter(|entry| is_kept(entry)) {
                let start = &mut self.starts[self.buckets.of(entry.hash, entry.place)];
                *start -= 1;
                self.entries[*start as usize] = *entry;
            }
        }
        Ok(())
    }

    /// The word of `present` that has a hash, and its bit there.
    #[inline]
    fn present_at(&self, hash: u32) -> (usize, u64) {
        ((hash / u64::BITS) as usize & (self.present.len() - 1), 1 << (hash % u64::BITS))
    }

    /// Leaves out the keys of all pieces but the rarest of each text, by how often a sample of so many texts has each.
    ///
    /// Of any m pieces a similar text has at least m - c, if c is how many its edits may change. So many are taken that
    /// m - c is more than what texts have in common by chance, and no more, since each is looked at where it is met.
    fn keep_rarest(
        &mut self,
        shares: &[Share],
        members: &[Member],
        hits: &[u32],
        size: u64,
        stop: &Stop,
    ) -> Result<()> {
        /// What is more than chance.
        const MARGIN: u64 = 4;
        let mut firsts = Vec::new();
        memory::reserve(&mut firsts, members.len(), DOING)?;
        let mut all = 0;
        for member in members {
            firsts.push(all);
            all += member.pieces as usize;
        }
        let mut of_pieces = memory::filled(0u32, all, DOING)?;
        let length = self.shape.length();
        let piece = |entry: &Entry| firsts[entry.member as usize] + entry.place as usize / length;
        for (entry, &hits) in self.entries.iter().zip(hits) {
            let sum = &mut of_pieces[piece(entry)];
            *sum = sum.saturating_add(hits);
        }
        let mut is_kept = memory::filled(false, all, DOING)?;
        memory::reserve(&mut self.needed, members.len(), DOING)?;
        let mut order: Vec<(u32, u32)> = Vec::new();
        for ((member, own), &first) in (0..).zip(members).zip(&firsts) {
            stop.check()?;
            order.clear();
            memory::reserve(&mut order, own.pieces as usize, DOING)?;
            order.extend(of_pieces[first..first + own.pieces as usize].iter().copied().zip(0..));
            order.sort_unstable();
            // By how many more are needed than are met by chance, in parts of `size`.
            let (mut best, mut met): (Option<(i64, u64, u64)>, u64) = (None, 0);
            for (taken, &(hits, _)) in (1u64..).zip(&order) {
                met += u64::from(hits);
                let Some(needed) = taken.checked_sub(u64::from(own.changed)).filter(|&needed| needed > 0)
                else {
                    continue;
                };
                let over = (needed * size) as i64 - 2 * met as i64;
                if best.is_none_or(|(most, ..)| over > most) {
                    best = Some((over, taken, needed));
                }
                if over >= (MARGIN * size) as i64 {
                    break;
                }
            }
            let (_, taken, needed) = best.unwrap_or_default();
            order[..taken as usize].iter().for_each(|&(_, piece)| is_kept[first + piece as usize] = true);
            // At most as many as there are.
            self.needed.push(needed as u16);
            if needed == 0 {
                memory::push(&mut self.unknown, member, DOING)?;
            }
        }
        self.fill(shares, &|entry| is_kept[piece(entry)], stop)
    }

    /// A tally for its texts.
    pub(super) fn tally(&self) -> Result<Tally> {
        Ok(Tally { counts: memory::filled(0, self.needed.len(), DOING)?, met: Vec::new() })
    }

    /// Calls `each` with all entries of others that a text has at a place where they may have moved to.
    fn each_met(
        &self,
        query: Query<'_>,
        stop: &Stop,
        mut each: impl FnMut(usize, &Entry) -> Result<()>,
    ) -> Result<()> {
        const AT_ONCE: usize = 256;
        // No index has as many texts.
        let own = query.own.map_or(u32::MAX, |own| own as u32);
        let reach = i64::from(self.reach);
        // By how much it is longer than others. Of the edits at least s are before a piece that moved by s, and |i - s|
        // behind it: s is between half of i - d and half of i + d.
        let [least, most] =
            [query.others.1, query.others.0].map(|other| i64::from(query.length) - i64::from(other));
        let [down, up] = [most.min(reach) + reach, reach - least.max(-reach)].map(|twice| (twice + 1) / 2);
        if down < 0 || up < 0 {
            return Ok(());
        }
        // No text has more characters than 31 bits count.
        let (down, up) = (down as u32, up as u32);
        let mut flush = |looks: &mut [(u32, u32)]| -> Result<()> {
            // Of each step the reads of all do not wait for one another.
            let mut count = 0;
            for n in 0..looks.len() {
                let look = looks[n];
                let (word, bit) = self.present_at(look.1);
                looks[count] = look;
                count += usize::from(self.present[word] & bit != 0);
            }
            let looks = &looks[..count];
            let mut ranges = [(0, 0); AT_ONCE];
            for (range, &(place, hash)) in ranges.iter_mut().zip(looks) {
                let first = self.buckets.of(hash, place.saturating_sub(down));
                *range = (self.starts[first], self.starts[self.buckets.of(hash, place + up) + 1]);
            }
            let ranges = &ranges[..count];
            let firsts = ranges.iter().filter_map(|&(from, _)| self.entries.get(from as usize));
            std::hint::black_box(firsts.fold(0, |all, entry| all ^ entry.hash));
            for (&(place, hash), &(from, to)) in looks.iter().zip(ranges) {
                let behind = query.length - place;
                for (at, entry) in (from as usize..).zip(&self.entries[from as usize..to as usize]) {
                    // The edits before it and those behind it are no more than all.
                    if entry.hash == hash
                        && entry.member != own
                        && entry.place.abs_diff(place) + entry.behind.abs_diff(behind) <= self.reach
                    {
                        each(at, entry)?;
                    }
                }
            }
            Ok(())
        };
        let mut looks = Vec::new();
        memory::reserve(&mut looks, AT_ONCE, DOING)?;
        self.shape.for_each_look(query.text, stop, |place, hash| {
            looks.push((place, hash));
            if looks.len() == AT_ONCE {
                flush(&mut looks)?;
                looks.clear();
            }
            Ok(())
        })?;
        flush(&mut looks)
    }

    /// Counts for each of its texts the pieces that a text has where they may have moved to, and those that it has twice
    /// there once more. Gives how many were looked at. The tally is empty before.
    pub(super) fn count(&self, query: Query<'_>, tally: &mut Tally, stop: &Stop) -> Result<u64> {
        let (Tally { counts, met }, mut looked) = (tally, 0);
        self.each_met(query, stop, |_, entry| {
            looked += 1;
            let count = &mut counts[entry.member as usize];
            if *count == 0 {
                memory::push(met, entry.member, DOING)?;
            }
            *count = count.saturating_add(1);
            Ok(())
        })?;
        Ok(looked)
    }

    /// Calls `each` with the texts that may be similar by what was counted, each once, and empties the tally. Gives how
    /// many have a piece in common.
    pub(super) fn near(&self, tally: &mut Tally, mut each: impl FnMut(usize) -> Result<()>) -> Result<u64> {
        let met = tally.met.len();
        for member in tally.met.drain(..) {
            let (count, needed) = (&mut tally.counts[member as usize], self.needed[member as usize]);
            if needed > 0 && std::mem::take(count) >= needed {
                each(member as usize)?;
            }
        }
        self.unknown.iter().try_for_each(|&member| each(member as usize))?;
        Ok(met as u64)
    }

    /// Bytes on the heap.
    pub(super) fn bytes(&self) -> usize {
        memory::bytes(&self.entries)
            + memory::bytes(&self.starts)
            + memory::bytes(&self.present)
            + memory::bytes(&self.needed)
            + memory::bytes(&self.unknown)
    }
}
