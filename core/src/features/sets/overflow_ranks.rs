//! The ranks of tokens that the dictionary has no number for, by set.

use bytemuck::{Pod, Zeroable};

use crate::error::Result;
use crate::executor::{self, Executor};
use crate::storage::files::TempFiles;
use crate::storage::log::Log;

/// The rank of a token of a set.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Pod, Zeroable)]
#[repr(C)]
pub(super) struct SetRank {
    pub(super) set: u32,
    pub(super) rank: u32,
}

/// The ranks of the sets of a range.
type RankStretch = Log<SetRank>;

/// The ranks of all sets, in files for ranges of sets.
pub(super) struct OverflowRanks<'a> {
    files: &'a dyn TempFiles,
    stretches: Vec<RankStretch>,
    /// The number of sets of a range.
    sets: u32,
    /// The ranks that were loaded, by set, and how many of them were taken.
    loaded: Vec<SetRank>,
    taken: usize,
    /// The next range to load.
    next: usize,
}

/// The number of ranks that are written at one time.
const PIECE: usize = 1 << 11;

impl<'a> OverflowRanks<'a> {
    /// Prepares for about `ranks` ranks of `sets` sets. The ranks of a range take about a quarter
    /// of `budget`, if sets have about as many each.
    pub(super) fn new(files: &'a dyn TempFiles, sets: u32, ranks: u64, budget: usize) -> Self {
        const MOST: u64 = 256;
        let room = (budget / 4 / size_of::<SetRank>()).max(PIECE) as u64;
        let count = ranks.div_ceil(room).clamp(1, MOST);
        let stretches = (0..count).map(|_| RankStretch::new(PIECE * size_of::<SetRank>())).collect();
        // There are at most as many ranges as a u32 has values.
        let sets = sets.div_ceil(count as u32).max(1);
        Self { files, stretches, sets, loaded: Vec::new(), taken: 0, next: 0 }
    }

    /// Adds a rank of a set, in any order.
    pub(super) fn push(&mut self, rank: SetRank) -> Result<()> {
        self.stretches[(rank.set / self.sets) as usize].push(rank, self.files)
    }

    /// Writes what is still held. Must be called before ranks are taken.
    pub(super) fn flush(&mut self) -> Result<()> {
        self.stretches.iter_mut().try_for_each(|stretch| stretch.spill(self.files))
    }

    /// Takes the ranks of the sets before `end` that are not taken yet, by set.
    pub(super) fn take_until(&mut self, end: u32, executor: &dyn Executor) -> Result<&[SetRank]> {
        while self.next < self.stretches.len() && self.next as u64 * u64::from(self.sets) < u64::from(end) {
            self.loaded.drain(..std::mem::take(&mut self.taken));
            let stretch = &mut self.stretches[self.next];
            let from = self.loaded.len();
            stretch.append(0, stretch.len() as usize, &mut self.loaded)?;
            executor::one(executor, &mut self.loaded, |loaded, stop| {
                executor::sort_unstable_by(&mut loaded[from..], stop, &Ord::cmp)
            })?;
            self.next += 1;
        }
        let from = self.taken;
        self.taken += self.loaded[from..].partition_point(|rank| rank.set < end);
        Ok(&self.loaded[from..self.taken])
    }
}
