//! The segments of some texts by what they say and where they stand, and which of these texts have enough of them in
//! common with another one.

use std::ops::Range;

use crate::error::Result;
use crate::features::texts::Texts;
use crate::hash::mix;
use crate::memory;
use crate::verify::edit::EditPredicate;
use crate::workers::{self, Stop};

const DOING: &str = "looking for pieces in common";

/// The characters of the shortest segments and of the longest ones.
pub(super) const LENGTHS: Range<usize> = 2..13;

/// Calls `each` with the hash of every run of `length` characters of a text, and the place of its first one.
fn for_each_run(
    text: &str,
    length: usize,
    stop: &Stop,
    mut each: impl FnMut(u32, u32) -> Result<()>,
) -> Result<()> {
    const CHECK_EVERY: usize = 1 << 16;
    const BASE: u64 = 0x9e37_79b9_7f4a_7c15;
    let power = (0..length).fold(1u64, |power, _| power.wrapping_mul(BASE));
    let (mut last, mut slot, mut sum) = ([0u64; LENGTHS.end], 0, 0u64);
    for (n, symbol) in text.chars().map(|symbol| u64::from(u32::from(symbol)) + 1).enumerate() {
        if n % CHECK_EVERY == 0 {
            stop.check()?;
        }
        let out = last[slot].wrapping_mul(power);
        sum = sum.wrapping_mul(BASE).wrapping_add(symbol).wrapping_sub(out);
        last[slot] = symbol;
        slot = if slot + 1 == length { 0 } else { slot + 1 };
        if n + 1 >= length {
            // Texts have fewer characters than 32 bits count.
            each((n + 1 - length) as u32, (mix(sum) >> 32) as u32)?;
        }
    }
    Ok(())
}

/// How often runs of characters are at about the same place of some texts; those whose hashes begin alike are counted
/// together. What is about the same place goes with the distance that is looked for.
#[derive(Debug, Default)]
pub(super) struct Frequencies {
    counts: Vec<u32>,
    /// How many texts were looked at, by how far a place may be from another.
    texts: [u32; 32],
}

impl Frequencies {
    const BITS: u32 = 18;

    /// Those in the given texts.
    pub(super) fn new(
        texts: &Texts,
        of: impl Iterator<Item = u32>,
        length: usize,
        edit: EditPredicate,
        stop: &Stop,
    ) -> Result<Self> {
        let counts = memory::filled(0, 1 << Self::BITS, DOING)?;
        let mut frequencies = Self { counts, texts: [0; 32] };
        for text in of {
            // That of a similar text may be the next one.
            let reach = reach(edit.most_distance(texts.length(text)));
            for_each_run(texts.text(text), length, stop, |place, hash| {
                for reach in [reach, reach + 1] {
                    let count = &mut frequencies.counts[Self::at(hash, place, reach)];
                    *count = count.saturating_add(1);
                }
                Ok(())
            })?;
            [reach, reach + 1].into_iter().for_each(|reach| frequencies.texts[reach as usize] += 1);
        }
        Ok(frequencies)
    }

    fn at(hash: u32, place: u32, reach: u32) -> usize {
        let about = u64::from(place >> reach) << 6 | u64::from(reach);
        (mix(about << 32 | u64::from(hash)) >> (u64::BITS - Self::BITS)) as usize
    }

    /// How often a run is there, and whether that is in so many texts that one which has it in common says little.
    fn of(&self, hash: u32, place: u32, distance: u32) -> (bool, u32) {
        let reach = reach(distance);
        let count = self.counts[Self::at(hash, place, reach)];
        (count > self.texts[reach as usize] / 2, count)
    }

    /// Bytes on the heap.
    pub(super) fn bytes(&self) -> usize {
        memory::bytes(&self.counts)
    }
}

/// The bits of a place that matter less than a distance: at most 30, so that there is one more.
fn reach(distance: u32) -> u32 {
    distance.max(1).ilog2().min(30)
}

/// A segment of a text that is looked for.
#[derive(Debug, Clone, Copy)]
pub(super) struct Entry {
    hash: u32,
    /// Of its first character.
    place: u32,
    /// The number of its text among those of the index.
    member: u32,
}

impl Entry {
    pub(super) const BYTES: usize = size_of::<Self>();
    /// Of a text that has more of them the first ones are taken.
    pub(super) const MOST: usize = u16::MAX as usize;
}

/// A text of the index.
#[derive(Debug, Clone, Copy)]
struct Member {
    length: u32,
    /// The greatest distance of a pair that it may be in.
    distance: u32,
    /// How many of its segments similar texts have at least; where it is 0 nothing is known of it.
    needed: u16,
}

/// What one thread makes of some texts.
#[derive(Debug)]
pub(super) struct Share {
    /// The texts, and for each the greatest distance.
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

    /// Cuts its texts. Of each its rarest segments are taken, but at least one more than its distance.
    pub(super) fn cut(
        &mut self,
        texts: &Texts,
        length: usize,
        frequencies: &Frequencies,
        stop: &Stop,
    ) -> Result<()> {
        // One that was stopped begins anew.
        self.entries.clear();
        self.members.clear();
        let mut segments: Vec<((bool, u32), Entry)> = Vec::new();
        for (member, &(text, distance)) in (self.first..).zip(&self.todo) {
            segments.clear();
            for_each_run(texts.text(text), length, stop, |place, hash| {
                if (place as usize).is_multiple_of(length) && segments.len() < Entry::MOST {
                    let frequency = frequencies.of(hash, place, distance);
                    memory::push(&mut segments, (frequency, Entry { hash, place, member }), DOING)?;
                }
                Ok(())
            })?;
            workers::sort_unstable_by(&mut segments, stop, &|(a, of_a), (b, of_b)| {
                a.cmp(b).then(of_a.place.cmp(&of_b.place))
            })?;
            let rare = segments.partition_point(|&((is_common, _), _)| !is_common);
            let taken = rare.max(distance as usize + 1).min(segments.len());
            // Each edit is in one of them at most.
            let needed = taken.saturating_sub(distance as usize);
            let taken = if needed == 0 { 0 } else { taken };
            memory::reserve(&mut self.entries, taken, DOING)?;
            self.entries.extend(segments[..taken].iter().map(|&(_, entry)| entry));
            // At most as many as are taken of a text.
            let member = Member { length: texts.length(text), distance, needed: needed as u16 };
            memory::push(&mut self.members, member, DOING)?;
        }
        Ok(())
    }
}

/// The segments of some texts.
#[derive(Debug, Default)]
pub(super) struct Index {
    /// Characters of a segment.
    length: usize,
    /// By hash, then place.
    entries: Vec<Entry>,
    /// Where those begin whose hashes have the same first bits.
    starts: Vec<u32>,
    bits: u32,
    members: Vec<Member>,
    /// The greatest distance of all.
    reach: u32,
}

impl Index {
    /// An index of what was cut into segments of `length` characters.
    pub(super) fn new(shares: &[Share], length: usize, stop: &Stop) -> Result<Self> {
        const MOST_BITS: u32 = 24;
        let (mut entries, mut members) = (Vec::new(), Vec::new());
        memory::reserve(&mut entries, shares.iter().map(|share| share.entries.len()).sum(), DOING)?;
        memory::reserve(&mut members, shares.iter().map(|share| share.members.len()).sum(), DOING)?;
        for share in shares {
            entries.extend_from_slice(&share.entries);
            members.extend_from_slice(&share.members);
        }
        let order = |a: &Entry, b: &Entry| (a.hash, a.place).cmp(&(b.hash, b.place));
        workers::sort_unstable_by(&mut entries, stop, &order)?;
        let bits = (entries.len().max(1).ilog2() + 1).min(MOST_BITS);
        let mut starts = memory::filled(0u32, (1 << bits) + 1, DOING)?;
        entries.iter().for_each(|entry| starts[(entry.hash >> (u32::BITS - bits)) as usize + 1] += 1);
        let mut sum = 0;
        for start in &mut starts {
            sum += *start;
            *start = sum;
        }
        let reach = members.iter().map(|member| member.distance).max().unwrap_or(0);
        Ok(Self { length, entries, starts, bits, members, reach })
    }

    /// How many texts it has.
    pub(super) fn len(&self) -> usize {
        self.members.len()
    }

    /// Counts for each of its texts the segments that a text has at a place where they may have moved to, and those that
    /// it has twice there once more. Gives how many were looked at.
    pub(super) fn count(&self, text: &str, characters: u32, counts: &mut [u16], stop: &Stop) -> Result<u64> {
        counts.fill(0);
        let mut looked = 0;
        for_each_run(text, self.length, stop, |place, hash| {
            let bucket = (hash >> (u32::BITS - self.bits)) as usize;
            let entries = &self.entries[self.starts[bucket] as usize..self.starts[bucket + 1] as usize];
            if entries.is_empty() {
                return Ok(());
            }
            let first = (hash, place.saturating_sub(self.reach));
            let from = entries.partition_point(|entry| (entry.hash, entry.place) < first);
            for entry in &entries[from..] {
                if entry.hash != hash || entry.place > place.saturating_add(self.reach) {
                    break;
                }
                looked += 1;
                let member = &self.members[entry.member as usize];
                let moved = i64::from(place) - i64::from(entry.place);
                let longer = i64::from(characters) - i64::from(member.length);
                // The edits before it and those behind it are no more than all.
                if moved.abs() + (longer - moved).abs() <= i64::from(member.distance) {
                    let count = &mut counts[entry.member as usize];
                    *count = count.saturating_add(1);
                }
            }
            Ok(())
        })?;
        Ok(looked)
    }

    /// Whether a text may be similar to that with so many of its segments.
    #[inline]
    pub(super) fn is_near(&self, member: usize, count: u16) -> bool {
        count >= self.members[member].needed
    }

    /// Bytes on the heap.
    pub(super) fn bytes(&self) -> usize {
        memory::bytes(&self.entries) + memory::bytes(&self.starts) + memory::bytes(&self.members)
    }
}
