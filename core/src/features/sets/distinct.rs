//! The distinct sets of a size range of a spill file, the form of a set in these files, and which
//! sets go together: those of a table whose sizes are in a range.

use std::collections::BTreeMap;

use hashbrown::HashTable;

use crate::error::Result;
use crate::executor::{self, Stop};
use crate::features::dictionary::weights::TokenWeights;
use crate::memory;

const DOING: &str = "spilling token sets";

/// The length of the head of a set in a file. The head is the row of the set, the two halves of its
/// fingerprint, its size, which is the number of all tokens or their weight, and the number of
/// written tokens; the written tokens follow it.
pub(super) const HEAD: usize = 5;

/// Returns the ranges of the complete sets in `words`.
pub(super) fn sets_in(words: &[u32]) -> impl Iterator<Item = std::ops::Range<usize>> {
    let mut from = 0;
    std::iter::from_fn(move || {
        let length = HEAD + *words.get(from + HEAD - 1)? as usize;
        let set = from..from + length;
        (set.end <= words.len()).then(|| {
            from = set.end;
            set
        })
    })
}

/// The distinct sets of a size range, while it is read.
#[derive(Default)]
pub(super) struct DistinctSets {
    table: HashTable<u32>,
    /// The sets, concatenated. `starts` has the start of each set.
    words: Vec<u32>,
    starts: Vec<usize>,
    /// For each row, the number of its set, and the row.
    pub(super) rows: Vec<(u32, u32)>,
    /// How many `u32` values of the current piece are done.
    pub(super) done: usize,
}

impl DistinctSets {
    fn fingerprint(&self, set: u32) -> u64 {
        let start = self.starts[set as usize];
        u64::from(self.words[start + 1]) | u64::from(self.words[start + 2]) << 32
    }

    /// Returns the size of a set, the number of its written tokens, and these tokens.
    pub(super) fn content(&self, set: u32) -> &[u32] {
        let start = self.starts[set as usize];
        &self.words[start + 3..start + HEAD + self.words[start + HEAD - 1] as usize]
    }

    pub(super) fn add(&mut self, piece: &[u32], weights: &TokenWeights, stop: &Stop) -> Result<()> {
        while let Some(set) = sets_in(&piece[self.done..]).next() {
            stop.check()?;
            let set = &piece[self.done..][set];
            let fingerprint = u64::from(set[1]) | u64::from(set[2]) << 32;
            // The tokens that cannot be shared are not in the file, only their number in each set.
            // So it is not known whether two sets with such tokens are equal, and they hardly ever
            // are.
            let whole = set[3] == weights.sum(&set[HEAD..]);
            let found =
                self.table.find(fingerprint, |&other| whole && self.content(other) == &set[3..]).copied();
            let number = match found {
                Some(number) => number,
                None => {
                    let number = self.starts.len() as u32;
                    memory::push(&mut self.starts, self.words.len(), DOING)?;
                    memory::extend(&mut self.words, set, DOING)?;
                    let mut table = std::mem::take(&mut self.table);
                    let hash = |&other: &u32| self.fingerprint(other);
                    memory::attempt(DOING, || table.try_reserve(1, hash))?;
                    table.insert_unique(fingerprint, number, hash);
                    self.table = table;
                    number
                }
            };
            memory::push(&mut self.rows, (number, set[0]), DOING)?;
            self.done += set.len();
        }
        Ok(())
    }

    /// Sorts the sets by size and fingerprint, and their rows in the same order. Returns the order
    /// of the sets. After a stop, the next call starts over.
    pub(super) fn sort(&mut self, stop: &Stop) -> Result<Vec<u32>> {
        let mut keys: Vec<(u32, u64, u32)> = memory::collect(
            (0..self.starts.len() as u32).map(|set| (self.content(set)[0], self.fingerprint(set), set)),
            DOING,
        )?;
        // Size and fingerprint nearly always decide the order, so the contents of sets are rarely
        // compared.
        executor::sort_unstable_by(&mut keys, stop, &|a, b| {
            (a.0, a.1).cmp(&(b.0, b.1)).then_with(|| self.content(a.2).cmp(self.content(b.2)))
        })?;
        let order = memory::collect(keys.iter().map(|&(_, _, set)| set), DOING)?;
        drop(keys);
        let mut place = memory::filled(0u32, order.len(), DOING)?;
        order.iter().zip(0..).for_each(|(&set, at)| place[set as usize] = at);
        let by_place = |&(set, row): &(u32, u32)| (place[set as usize], row);
        executor::sort_unstable_by(&mut self.rows, stop, &|a, b| by_place(a).cmp(&by_place(b)))?;
        // Only now, when no stop can come: the numbers of the sets are changed once.
        self.rows.iter_mut().for_each(|(set, _)| *set = place[*set as usize]);
        Ok(order)
    }
}

/// The assignment of sets to files. A file is for the sets of one table with a range of sizes, or,
/// if there are too many sets of one size, for a part of these, chosen by fingerprint.
pub(super) struct SizeRanges {
    /// For the least size of each range in each table, in ascending order, the range, and how many
    /// bits of the fingerprint choose among the ranges of this size, if it has several.
    first_of: BTreeMap<(bool, u32), (usize, u32)>,
    /// The number of files.
    pub(super) count: usize,
    /// The first file of the right table.
    pub(super) first_right: usize,
}

impl SizeRanges {
    /// Divides the sets so that those of a file take about an eighth of `budget`. `sizes` has each
    /// size in each table, ascending, with the length of all of its sets.
    pub(super) fn new(sizes: impl Iterator<Item = ((bool, u32), u64)> + Clone, budget: usize) -> Self {
        const MOST_FILES: u64 = 128;
        let total: u64 = sizes.clone().map(|(_, length)| length).sum();
        let most = ((budget / 8 / size_of::<u32>()) as u64).max(total / MOST_FILES).max(1);
        let mut ranges = Self { first_of: BTreeMap::new(), count: 0, first_right: usize::MAX };
        let mut filled = most;
        for (key, length) in sizes {
            let begins_right = key.0 && ranges.first_right == usize::MAX;
            let bits = (length / most).checked_ilog2().map_or(0, |bits| bits + 1).min(6);
            if filled + length > most || begins_right {
                ranges.count += 1;
                filled = 0;
                ranges.first_of.insert(key, (ranges.count - 1, bits));
            }
            if begins_right {
                ranges.first_right = ranges.count - 1;
            }
            filled += length;
            if bits > 0 {
                ranges.count += (1 << bits) - 1;
                filled = most;
            }
        }
        ranges
    }

    /// Returns the file of a set.
    pub(super) fn range(&self, right: bool, size: u32, fingerprint: u64) -> usize {
        let range = self.first_of.range(..=(right, size)).next_back();
        // The first range has the least size.
        let (first, bits) = range.map_or((0, 0), |(_, &range)| range);
        first + fingerprint.checked_shr(64 - bits).unwrap_or(0) as usize
    }
}
