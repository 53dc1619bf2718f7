//! Groups of feature codes such that codes of different groups have no long substring in common.
//!
//! A code that is eliminated has a common substring of at least l characters with a code that
//! stays, where l depends on the length of the eliminated code. In each run of l characters, at
//! least one gram is selected ([winnowing](crate::features::runs::anchors)). The selection depends
//! only on the characters of the run, so it is the same wherever the run occurs. So codes that
//! share a selected gram are united. Most codes remain alone and need no further work. The lengths
//! l are divided into classes, and the grams of a class are more than two thirds as long as the
//! least l of the class. The grams of the codes of a class are compared with each other and with
//! those of all longer codes.
//!
//! O(characters) for a class, and there are O(log of the greatest length) classes. Groups may be
//! too large, but never too small.

use std::ops::Range;

use hashbrown::HashTable;

use super::blocks::CHECK_EVERY;
use super::disjoint_sets::DisjointSets;
use super::rows::Codes;
use crate::error::Result;
use crate::executor::{self, Executor, Stop};
use crate::features::runs::anchors::Winnowing;
use crate::features::windows::RunHashes;
use crate::hash::mix;
use crate::memory;
use crate::verify::repeatability::least_common;

const DOING: &str = "grouping feature codes";

/// The least number of common characters for which groups are built. Shorter grams occur
/// everywhere.
pub const SHORTEST: u32 = 5;

/// Codes that require a common substring of about the same least length.
#[derive(Debug, Clone)]
struct LengthClass {
    members: Range<usize>,
    grams: Winnowing,
}

impl LengthClass {
    /// Creates the class of the codes `members`, which require a common substring of at least
    /// `least` characters, and of fewer characters than the codes of the next class.
    fn new(members: Range<usize>, least: u32) -> Self {
        let window = (least / 3).max(1);
        Self { members, grams: Winnowing { gram: least - window + 1, window: window as usize } }
    }

    /// Estimates the number of selected grams of all members. Usually there are fewer.
    fn expected_grams<C: Codes + ?Sized>(&self, codes: &C) -> usize {
        let characters: usize = self.members.clone().map(|place| codes.length(place) as usize).sum();
        2 * characters / (self.grams.window + 1)
    }

    /// Returns the least required length of a common substring in the class to which `length`
    /// belongs.
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
}

/// Groups under construction.
#[derive(Debug)]
pub struct CodeGrouping {
    sets: DisjointSets,
    classes: Vec<LengthClass>,
    /// The current class.
    class: usize,
    /// The number of parts into which the grams of the class are divided.
    parts: u64,
    part: u64,
    /// The number of codes that are processed for this part. The members of the class are processed
    /// first, then the longer codes.
    done: usize,
    /// The grams of the members that are in this part. Each gram is in the table of the thread that
    /// adds it.
    tables: Vec<HashTable<Gram>>,
}

impl CodeGrouping {
    /// Starts with each code in a group of its own. Only codes that require a common substring of
    /// at least [`SHORTEST`] characters are grouped.
    pub fn new<C: Codes + ?Sized>(codes: &C, threshold: f64) -> Result<Self> {
        let least = |place: usize| least_common(codes.length(place), threshold);
        // Returns the first place from `from` on whose code requires fewer than `bound` common
        // characters. Lengths are in descending order.
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
            let bound = LengthClass::least(least(from));
            let to = behind(from, bound);
            memory::push(&mut classes, LengthClass::new(from..to, bound), DOING)?;
            from = to;
        }
        let sets = DisjointSets::new(end, DOING)?;
        Ok(Self { sets, classes, class: 0, parts: 0, part: 0, done: 0, tables: Vec::new() })
    }

    /// Makes the tables of the next part of a class, one for each thread. Before the first part,
    /// decides how many parts there are.
    fn begin_part(&mut self, expected: usize, count: usize, budget: usize) -> Result<()> {
        // A full table has 7/8 of its buckets in use; the number of buckets is a power of two.
        let buckets = budget / (count * (size_of::<Gram>() + 1));
        let room = (1 << buckets.max(1 << 12).ilog2()) / 8 * 7;
        if self.part == 0 {
            self.parts = expected.div_ceil(room * count).max(1) as u64;
        }
        let size = room.min(expected / count + 1);
        for _ in 0..count {
            let mut table = HashTable::new();
            memory::attempt(DOING, || table.try_reserve(size, Gram::key))?;
            memory::push(&mut self.tables, table, DOING)?;
        }
        Ok(())
    }

    /// Works for a fraction of a second. Returns false if nothing is left to do. Takes about
    /// `budget` bytes; a smaller budget means more parts.
    pub fn advance<C: Codes + ?Sized>(
        &mut self,
        codes: &C,
        budget: usize,
        executor: &dyn Executor,
    ) -> Result<bool> {
        /// The number of codes for a thread at a time.
        const CODES: usize = 1 << 12;
        let Some(class) = self.classes.get(self.class) else { return Ok(false) };
        let count = executor.count();
        if self.done == 0 {
            let expected = class.expected_grams(codes);
            self.begin_part(expected, count, budget)?;
        }
        let class = &self.classes[self.class];
        let members = class.members.len();
        let end = if self.done < members { members } else { class.members.end };
        let end = end.min(self.done + CODES * count);
        // A unit of work has to be large enough to be worth a thread.
        let size = (end - self.done).div_ceil(count).max(CODES / 8);
        let of_part = |hash: u64| {
            // The upper bits are mostly 0, because selected grams have the least hashes.
            ((hash & u64::from(u32::MAX)) * self.parts) >> 32 == self.part
        };
        let mut chunks: Vec<Chunk> = (self.done..end)
            .step_by(size)
            .map(|from| Chunk::new(from..(from + size).min(end), count))
            .collect();
        let (sets, tables) = (&self.sets, &mut self.tables);
        if self.done < members {
            executor::each(executor, &mut chunks, |chunk, stop| {
                chunk.for_each(codes, class, stop, |found, hash, place| {
                    let gram = Gram { hash, place };
                    if of_part(hash) {
                        memory::push(&mut found[gram.table(count)], gram, DOING)
                    } else {
                        Ok(())
                    }
                })
            })?;
            let mut work: Vec<_> = tables.iter_mut().enumerate().map(|(n, table)| (n, table, 0)).collect();
            executor::each(executor, &mut work, |(n, table, next), stop| {
                while let Some(chunk) = chunks.get(*next) {
                    stop.check()?;
                    chunk.found[*n].iter().try_for_each(|gram| gram.add(table, sets))?;
                    *next += 1;
                }
                Ok(())
            })?;
        } else {
            let tables = &*tables;
            executor::each(executor, &mut chunks, |chunk, stop| {
                chunk.for_each(codes, class, stop, |_, hash, place| {
                    let gram = Gram { hash, place };
                    if let Some(known) =
                        of_part(hash).then(|| gram.find(&tables[gram.table(count)])).flatten()
                    {
                        sets.unite(place, known.place);
                    }
                    Ok(())
                })
            })?;
        }
        self.done = end;
        if end == class.members.end {
            (self.done, self.part) = (0, self.part + 1);
            self.tables.clear();
            if self.part == self.parts {
                (self.class, self.part) = (self.class + 1, 0);
            }
        }
        Ok(true)
    }

    /// Returns the share of the classes and their parts that are done.
    pub fn progress(&self) -> f64 {
        let of_class = self.part as f64 / self.parts.max(1) as f64;
        (self.class as f64 + of_class) / self.classes.len().max(1) as f64
    }

    /// Returns the number of bytes on the heap.
    pub fn bytes(&self) -> usize {
        self.sets.bytes() + self.tables.iter().map(HashTable::allocation_size).sum::<usize>()
    }

    /// Returns the number of codes that may be in groups. These are the first codes of the order.
    pub fn grouped(&self) -> usize {
        self.sets.numbers()
    }

    /// Returns the first code of the group of a code.
    pub fn group(&self, place: usize) -> usize {
        self.sets.least(place as u32) as usize
    }
}

/// A selected gram and a code that has it.
#[derive(Debug, Clone, Copy)]
struct Gram {
    hash: u64,
    place: u32,
}

impl Gram {
    /// Returns a well distributed hash, because the hashes of selected grams are small numbers.
    fn key(&self) -> u64 {
        mix(self.hash)
    }

    /// Returns the one of `count` tables that the gram belongs to.
    fn table(&self, count: usize) -> usize {
        ((((self.key() >> 40) & 0xffff) * count as u64) >> 16) as usize
    }

    fn find<'a>(&self, table: &'a HashTable<Self>) -> Option<&'a Self> {
        table.find(self.key(), |other| other.hash == self.hash)
    }

    /// Adds the gram to its table, or unites its code with the code that the table has for this
    /// gram.
    fn add(&self, table: &mut HashTable<Self>, sets: &DisjointSets) -> Result<()> {
        if let Some(known) = self.find(table) {
            sets.unite(self.place, known.place);
            return Ok(());
        }
        memory::attempt(DOING, || table.try_reserve(1, Self::key))?;
        table.insert_unique(self.key(), *self, Self::key);
        Ok(())
    }
}

/// Some of the codes that are processed for a class, which are its members and the longer codes: a
/// unit of work for a thread.
struct Chunk {
    todo: Range<usize>,
    windows: RunHashes,
    hashes: Vec<u64>,
    /// The grams that were found, for each table.
    found: Vec<Vec<Gram>>,
}

impl Chunk {
    fn new(todo: Range<usize>, tables: usize) -> Self {
        let found = (0..tables).map(|_| Vec::new()).collect();
        Self { todo, windows: RunHashes::default(), hashes: Vec::new(), found }
    }

    /// Calls `each` with the hash of every selected gram of the codes, and with the place of the
    /// gram's code. After an interrupt, the next call starts again with the code at which it was
    /// interrupted.
    fn for_each<C: Codes + ?Sized>(
        &mut self,
        codes: &C,
        class: &LengthClass,
        stop: &Stop,
        mut each: impl FnMut(&mut [Vec<Gram>], u64, u32) -> Result<()>,
    ) -> Result<()> {
        while !self.todo.is_empty() {
            stop.check_every(self.todo.start, CHECK_EVERY)?;
            let place = match self.todo.start.checked_sub(class.members.len()) {
                None => class.members.start + self.todo.start,
                Some(longer) => longer,
            };
            let Self { windows, hashes, found, .. } = self;
            windows.set(codes.code(place))?;
            let length = codes.length(place);
            class.grams.for_each_selected(windows, length, hashes, |hash| each(found, hash, place as u32))?;
            self.todo.start += 1;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::executor::PlainThreads;
    use crate::verify::repeatability::repeatability;
    use proptest::prelude::*;
    use std::cmp::Reverse;

    #[test]
    fn classes_cover_all_lengths() {
        for length in SHORTEST..10_000 {
            let least = LengthClass::least(length);
            let class = LengthClass::new(0..0, least);
            assert!(
                least <= length && length <= 2 * least && class.grams.gram > 2 * least / 3 - 1,
                "{length}"
            );
            assert_eq!(class.grams.gram as usize + class.grams.window - 1, least as usize);
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
            let mut grouping = CodeGrouping::new(&codes[..], threshold).expect("memory");
            while grouping.advance(&codes[..], budget, &PlainThreads(threads)).expect("memory") {}
            let long = codes.iter().take_while(|code| least_common(code.len() as u32, threshold) >= SHORTEST);
            prop_assert_eq!(grouping.grouped(), long.count());
            for later in 0..grouping.grouped() {
                for earlier in 0..later {
                    if repeatability(&codes[earlier], &codes[later], &Stop::default()).expect("memory") >= threshold {
                        prop_assert_eq!(grouping.group(earlier), grouping.group(later));
                    }
                }
            }
        }
    }
}
