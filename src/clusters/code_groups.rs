//! Groups of feature codes such that codes of different groups have no long substring in common.
//!
//! A code that is eliminated has at least l characters in common with one that stays, where l depends on its length.
//! Of each run of l characters some grams are selected by what they are alone (winnowing: Schleimer, Wilkerson and
//! Aiken, SIGMOD 2003), the same ones wherever the run stands. So codes are united that share a selected gram: most
//! are left alone, and need no further look. Lengths l are taken in classes, each with grams nearly as long as its
//! least l; codes of a class meet one another and all longer codes.
//!
//! O(characters) for a class, of which there are O(log of the greatest length). What is found may be too much, never
//! too little.

use std::ops::Range;
use std::sync::atomic::{AtomicU32, Ordering};

use hashbrown::HashTable;

use super::repeated::Codes;
use super::repeated_blocks::CHECK_EVERY;
use crate::error::{Error, Result};
use crate::features::windows::Windows;
use crate::hash::mix;
use crate::memory;
use crate::verify::repeatability::least_common;
use crate::workers::{self, Stop, Workers};

const DOING: &str = "grouping feature codes";

/// The least number of common characters that groups are made for: shorter grams stand everywhere.
pub const SHORTEST: u32 = 5;

/// Codes whose least common substrings are about equally long.
#[derive(Debug, Clone)]
struct Class {
    members: Range<usize>,
    /// The length of the grams.
    gram: u32,
    /// One of so many grams in succession is selected.
    window: usize,
}

impl Class {
    /// The class of all codes whose least common substring has at least `least` characters, and less than the next.
    fn new(members: Range<usize>, least: u32) -> Self {
        let window = (least / 3).max(1);
        Self { members, gram: least - window + 1, window: window as usize }
    }

    /// The least length of common substrings in the class of `length`.
    fn least(length: u32) -> u32 {
        let mut least = SHORTEST;
        loop {
            let next = if least < 8 { least + least / 4 } else { least + least / 2 };
            if next > length {
                return least;
            }
            least = next;
        }
    }

    /// Calls `each` with the hashes of the selected grams of a text of so many characters: in each run of `window`
    /// grams the last one of the least hash.
    fn for_each_selected(
        &self,
        windows: &Windows,
        length: u32,
        hashes: &mut Vec<u64>,
        mut each: impl FnMut(u64) -> Result<()>,
    ) -> Result<()> {
        hashes.clear();
        let mut least = 0;
        for at in 0..(length + 1).saturating_sub(self.gram) as usize {
            memory::push(hashes, windows.hash(at as u32, self.gram), DOING)?;
            let first = (at + 1).saturating_sub(self.window);
            let before = least;
            if hashes[at] <= hashes[least] {
                least = at;
            } else if least < first {
                least = (first..=at).rev().min_by_key(|&at| hashes[at]).unwrap_or(at);
            }
            if at + 1 == self.window || (at >= self.window && least != before) {
                each(hashes[least])?;
            }
        }
        Ok(())
    }
}

/// Groups on their way.
#[derive(Debug)]
pub struct Grouping {
    sets: Vec<AtomicU32>,
    classes: Vec<Class>,
    next: usize,
    /// Bytes that the tables of the last class took at a time.
    tables: usize,
}

impl Grouping {
    /// Each code alone, of those of which at least [`SHORTEST`] characters have to be common.
    pub fn new<C: Codes + ?Sized>(codes: &C, threshold: f64) -> Result<Self> {
        let least = |place: usize| least_common(codes.length(place), threshold);
        // The first place behind `from` with less than so many common characters: lengths descend.
        let behind = |from: usize, bound: u32| {
            let (mut low, mut high) = (from, codes.len());
            while low < high {
                let middle = low + (high - low) / 2;
                if least(middle) >= bound { low = middle + 1 } else { high = middle }
            }
            low
        };
        let end = behind(0, SHORTEST);
        let mut classes = Vec::new();
        let mut from = 0;
        while from < end {
            let bound = Class::least(least(from));
            let to = behind(from, bound);
            memory::push(&mut classes, Class::new(from..to, bound), DOING)?;
            from = to;
        }
        let mut sets = Vec::new();
        memory::reserve(&mut sets, end, DOING)?;
        sets.extend((0..end as u32).map(AtomicU32::new));
        Ok(Self { sets, classes, next: 0, tables: 0 })
    }

    /// Unites codes of the next class; false if there is none. Takes about `budget` bytes, however little.
    pub fn advance<C: Codes + ?Sized>(
        &mut self,
        codes: &C,
        budget: usize,
        workers: &dyn Workers,
    ) -> Result<bool> {
        /// Of an entry of the table with its control byte, at a load of 7/8 to 7/16.
        const ENTRY: usize = (size_of::<Entry>() + 1) * 16 / 7;
        let Some(class) = self.classes.get(self.next) else { return Ok(false) };
        let characters: usize = class.members.clone().map(|place| codes.length(place) as usize).sum();
        let all = 2 * characters / (class.window + 1) * ENTRY;
        let count = workers.count();
        // A table that grows is copied.
        let parts = all.div_ceil((budget / (2 * count)).max(1 << 16)).max(1).next_multiple_of(count);
        self.tables = all / parts * count;
        let mut parts: Vec<Part> = (0..parts).map(|number| Part::new(number, parts)).collect();
        let sets = &self.sets;
        workers::each(workers, &mut parts, |part, stop| part.unite(codes, class, sets, stop))?;
        self.next += 1;
        Ok(true)
    }

    /// The share of the classes that are done.
    pub fn progress(&self) -> f64 {
        self.next as f64 / self.classes.len().max(1) as f64
    }

    /// Bytes on the heap while the last class was looked at.
    pub fn bytes(&self) -> usize {
        memory::bytes(&self.sets) + self.tables
    }

    /// The number of codes that may be in groups: the first ones.
    pub fn grouped(&self) -> usize {
        self.sets.len()
    }

    /// The first code of the group of a code.
    pub fn group(&self, place: usize) -> usize {
        root(&self.sets, place as u32) as usize
    }
}

/// A selected gram and the first code that was seen to have it.
type Entry = (u64, u32);

/// Those grams of a class whose hashes are in one part of all: work for a thread.
struct Part {
    number: u64,
    parts: u64,
    table: HashTable<Entry>,
    /// How many codes are done: the members of the class, then the longer ones.
    done: usize,
    windows: Windows,
    hashes: Vec<u64>,
}

impl Part {
    fn new(number: usize, parts: usize) -> Self {
        let (number, parts) = (number as u64, parts as u64);
        let table = HashTable::new();
        Self { number, parts, table, done: 0, windows: Windows::default(), hashes: Vec::new() }
    }

    fn unite<C: Codes + ?Sized>(
        &mut self,
        codes: &C,
        class: &Class,
        sets: &[AtomicU32],
        stop: &Stop,
    ) -> Result<()> {
        let Self { table, windows, hashes, .. } = self;
        while self.done < class.members.end {
            if self.done.is_multiple_of(CHECK_EVERY) {
                stop.check()?;
            }
            let members = class.members.len();
            let place = match self.done.checked_sub(members) {
                None => class.members.start + self.done,
                Some(longer) => longer,
            };
            windows.set(codes.code(place))?;
            class.for_each_selected(windows, codes.length(place), hashes, |hash| {
                // The upper bits are those of least hashes, mostly 0.
                if ((hash & u64::from(u32::MAX)) * self.parts) >> 32 != self.number {
                    return Ok(());
                }
                let key = mix(hash);
                if let Some(&(_, other)) = table.find(key, |entry| entry.0 == hash) {
                    unite(sets, place as u32, other);
                } else if self.done < members {
                    let again = |entry: &Entry| mix(entry.0);
                    table.try_reserve(1, again).map_err(|_| Error::OutOfMemory { doing: DOING })?;
                    table.insert_unique(key, (hash, place as u32), again);
                }
                Ok(())
            })?;
            self.done += 1;
        }
        // Other parts need the memory.
        *table = HashTable::new();
        Ok(())
    }
}

/// The least member of a set: parents are lesser than their children.
fn root(sets: &[AtomicU32], mut member: u32) -> u32 {
    loop {
        let parent = sets[member as usize].load(Ordering::Relaxed);
        if parent == member {
            return member;
        }
        // Paths are halved; whichever thread writes last, it is a member further up.
        let above = sets[parent as usize].load(Ordering::Relaxed);
        sets[member as usize].store(above, Ordering::Relaxed);
        member = above;
    }
}

/// Unites the sets of two members. The outcome does not depend on the order of such calls.
fn unite(sets: &[AtomicU32], a: u32, b: u32) {
    loop {
        let (a, b) = (root(sets, a), root(sets, b));
        let (low, high) = (a.min(b), a.max(b));
        let relaxed = Ordering::Relaxed;
        if low == high || sets[high as usize].compare_exchange(high, low, relaxed, relaxed).is_ok() {
            return;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::verify::repeatability::repeatability;
    use crate::workers::PlainThreads;
    use proptest::prelude::*;
    use std::cmp::Reverse;

    #[test]
    fn classes_cover_all_lengths() {
        for length in SHORTEST..10_000 {
            let least = Class::least(length);
            let class = Class::new(0..0, least);
            assert!(least <= length && length <= 2 * least && class.gram > 2 * least / 3 - 1, "{length}");
            assert_eq!(class.gram as usize + class.window - 1, least as usize);
        }
    }

    proptest! {
        #[test]
        fn codes_with_enough_in_common_are_in_one_group(
            runs in prop::collection::vec("[ab]{4,9}|[a-z]{1,30}|(abc){2,9}", 1..6),
            parts in prop::collection::vec(prop::collection::vec((0..6usize, "[a-z]{0,4}"), 1..5), 1..20),
            threshold in prop::sample::select(vec![0.5, 0.75, 0.9, 1.0]),
            budget in prop::sample::select(vec![0, usize::MAX / 2]),
            threads in 1..4usize,
        ) {
            let make = |parts: &Vec<(usize, String)>| -> String {
                parts.iter().map(|(run, noise)| format!("{}{noise}", runs[run % runs.len()])).collect()
            };
            let mut codes: Vec<String> = parts.iter().map(make).collect();
            codes.sort_by_key(|code| Reverse(code.len()));
            let mut grouping = Grouping::new(&codes[..], threshold).expect("memory");
            while grouping.advance(&codes[..], budget, &PlainThreads(threads)).expect("memory") {}
            let long = codes.iter().take_while(|code| least_common(code.len() as u32, threshold) >= SHORTEST);
            prop_assert_eq!(grouping.grouped(), long.count());
            for later in 0..grouping.grouped() {
                for earlier in 0..later {
                    if repeatability(&codes[earlier], &codes[later]).expect("memory") >= threshold {
                        prop_assert_eq!(grouping.group(earlier), grouping.group(later));
                    }
                }
            }
        }
    }
}
