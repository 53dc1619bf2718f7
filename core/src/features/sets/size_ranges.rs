//! Which sets of a spill file go together: those of a table whose sizes are in a range.

use std::collections::BTreeMap;

use super::distinct::HEAD;

/// The assignment of sets to files. A file is for the sets of one table with a range of sizes, or,
/// if there are too many sets of one size, for a part of these, chosen by fingerprint.
pub(super) struct SizeRanges {
    /// For each size in each table, in ascending order, its first range, and the number of bits of
    /// the fingerprint that choose among the ranges of this size.
    first_of: BTreeMap<(bool, u32), (usize, u32)>,
    /// The number of files.
    pub(super) count: usize,
    /// The first file of the right table.
    pub(super) first_right: usize,
}

impl SizeRanges {
    /// Divides the sets, whose number is known for each size, so that the sets of a file take about
    /// an eighth of `budget`.
    pub(super) fn new(sizes: &BTreeMap<(bool, u32), u64>, budget: usize) -> Self {
        const MOST_FILES: u64 = 128;
        let words = |(&(_, size), &count): (&(bool, u32), &u64)| (u64::from(size) + HEAD as u64) * count;
        let total: u64 = sizes.iter().map(words).sum();
        let most = ((budget / 8 / size_of::<u32>()) as u64).max(total / MOST_FILES).max(1);
        let mut ranges = Self { first_of: BTreeMap::new(), count: 0, first_right: usize::MAX };
        let mut filled = most;
        for (key, count) in sizes {
            let length = words((key, count));
            let begins_right = key.0 && ranges.first_right == usize::MAX;
            let bits = (length / most).checked_ilog2().map_or(0, |bits| bits + 1).min(6);
            if filled + length > most || begins_right {
                ranges.count += 1;
                filled = 0;
            }
            if begins_right {
                ranges.first_right = ranges.count - 1;
            }
            filled += length;
            ranges.first_of.insert(*key, (ranges.count - 1, bits));
            if bits > 0 {
                ranges.count += (1 << bits) - 1;
                filled = most;
            }
        }
        ranges
    }

    /// Returns the file of a set.
    pub(super) fn range(&self, right: bool, size: u32, fingerprint: u64) -> usize {
        let (first, bits) = self.first_of[&(right, size)];
        first + fingerprint.checked_shr(64 - bits).unwrap_or(0) as usize
    }
}
