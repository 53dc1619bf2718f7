//! Records: the distinct sets of a table in ascending order of size.
//!
//! The sizes ascend and few of them differ, so they are kept as runs of records of equal size,
//! which take hardly any memory, however many records there are.

use std::ops::Range;

use crate::error::Result;
use crate::executor::{self, Executor};
use crate::features::dictionary::weights::RankedTokens;
use crate::memory;
use crate::row_set::RowSet;
use crate::simd::prefetch::prefetch;

/// Distinct sets in ascending order of size. Tokens are numbered by ascending frequency.
#[derive(Debug, Default)]
pub struct Records {
    /// The tokens of all records, in several parts. Within a part, the records are in any order,
    /// because sets stay where they were made.
    parts: Vec<Vec<u32>>,
    /// The place of the tokens of each record.
    places: Vec<TokensPlace>,
    sizes: Vec<u32>,
}

/// The place of the tokens of a record.
#[derive(Debug, Clone, Copy)]
pub struct TokensPlace {
    /// The part that the tokens are in.
    pub part: u32,
    /// The number of the tokens.
    pub length: u32,
    /// The place of the first token in the part.
    pub start: usize,
}

/// The number of bytes that a record takes in memory in addition to its tokens.
pub const RECORD: usize = size_of::<TokensPlace>() + size_of::<u32>();

impl Records {
    /// Creates records with these tokens. `starts` has the start of each record and the end of the
    /// last record.
    pub fn new(tokens: Vec<u32>, starts: &[usize], sizes: Vec<u32>) -> Result<Self> {
        let place =
            |ends: &[usize]| TokensPlace { part: 0, length: (ends[1] - ends[0]) as u32, start: ends[0] };
        let places = memory::collect(starts.windows(2).map(place), "placing records")?;
        Ok(Self::of_parts(vec![tokens], places, sizes))
    }

    /// Creates records whose tokens are at these places of some parts.
    pub fn of_parts(parts: Vec<Vec<u32>>, places: Vec<TokensPlace>, sizes: Vec<u32>) -> Self {
        debug_assert_eq!(places.len(), sizes.len());
        Self { parts, places, sizes }
    }

    /// Takes all records, and returns those with these numbers, some of which may be equal.
    pub(crate) fn repeated(&mut self, numbers: &[u32]) -> Result<Self> {
        const DOING: &str = "repeating records";
        let Self { parts, places, sizes } = std::mem::take(self);
        let places = memory::collect(numbers.iter().map(|&n| places[n as usize]), DOING)?;
        Ok(Self::of_parts(parts, places, memory::collect(numbers.iter().map(|&n| sizes[n as usize]), DOING)?))
    }

    /// Adds further records, which are no smaller.
    pub(crate) fn append(&mut self, others: Self) -> Result<()> {
        const DOING: &str = "adding records";
        let before = self.parts.len() as u32;
        let places =
            others.places.into_iter().map(|place| TokensPlace { part: before + place.part, ..place });
        memory::append(&mut self.places, places, DOING)?;
        memory::extend(&mut self.sizes, &others.sizes, DOING)?;
        memory::append(&mut self.parts, others.parts, DOING)
    }

    /// Numbers those of `tokens` that the records have, from 0 in the same order. Returns these.
    pub(crate) fn renumber(
        &mut self,
        tokens: &RankedTokens,
        executor: &dyn Executor,
    ) -> Result<RankedTokens> {
        const PIECE: usize = 1 << 16;
        let mut used = RowSet::new(tokens.count)?;
        for piece in self.parts.iter().flat_map(|part| part.chunks(PIECE)) {
            executor.check_interrupts()?;
            piece.iter().for_each(|&token| used.insert(token as usize));
        }
        let weights = tokens.weights.of_some(|token| used.contains(token))?;
        let numbered = used.numbered()?;
        let pieces = self.parts.iter_mut().flat_map(|part| part.chunks_mut(PIECE));
        let mut pieces: Vec<&mut [u32]> = memory::collect(pieces, "numbering tokens")?;
        executor::each(executor, &mut pieces, |piece, stop| {
            // A piece must not be numbered again.
            stop.check()?;
            piece.iter_mut().for_each(|token| *token = numbered.up_to(*token) - 1);
            Ok(())
        })?;
        let last = tokens.count.checked_sub(1);
        Ok(RankedTokens { count: last.map_or(0, |last| numbered.up_to(last as u32) as usize), weights })
    }

    /// Returns the number of records.
    pub fn len(&self) -> usize {
        self.sizes.len()
    }

    /// Returns the number of tokens of a record that no other record has, if tokens do not weigh.
    #[inline]
    pub fn lone(&self, record: usize) -> u32 {
        self.sizes[record] - self.places[record].length
    }

    /// Returns the number of tokens of a record, including those that no other record has, or their
    /// weight.
    #[inline]
    pub fn size(&self, record: usize) -> u32 {
        self.sizes[record]
    }

    /// Returns all sizes, ascending.
    pub fn sizes(&self) -> &[u32] {
        &self.sizes
    }

    /// Returns the tokens of a record that other records may have, too, rarest first. They come
    /// after still rarer tokens, which cannot be shared and are not stored.
    #[inline]
    pub fn tokens(&self, record: usize) -> &[u32] {
        let TokensPlace { part, length, start } = self.places[record];
        &self.parts[part as usize][start..][..length as usize]
    }

    /// Prefetches the first tokens of a record, if the record exists. This is for records that are
    /// read in order, as their tokens are scattered over memory.
    #[inline]
    pub fn prefetch(&self, record: usize, tokens: usize) {
        /// The number of tokens in a cache line.
        const LINE: usize = 64 / size_of::<u32>();
        if let Some(place) = self.places.get(record) {
            let all = &self.parts[place.part as usize];
            let length = tokens.min(place.length as usize);
            (0..length.div_ceil(LINE)).for_each(|line| prefetch(all, place.start + line * LINE));
        }
    }

    /// Prefetches the memory that [`Records::tokens`] and [`Records::prefetch`] read first.
    #[inline]
    pub fn prefetch_place(&self, record: u32) {
        prefetch(&self.places, record as usize);
    }

    /// Returns a copy of some records.
    pub fn copy(&self, range: Range<usize>) -> Result<Self> {
        const DOING: &str = "taking records apart";
        let (mut tokens, mut starts, mut sizes) = (Vec::new(), Vec::new(), Vec::new());
        memory::extend(&mut sizes, &self.sizes[range.clone()], DOING)?;
        memory::reserve(&mut starts, range.len() + 1, DOING)?;
        starts.push(0);
        memory::reserve(&mut tokens, range.clone().map(|record| self.tokens(record).len()).sum(), DOING)?;
        for record in range {
            tokens.extend_from_slice(self.tokens(record));
            starts.push(tokens.len());
        }
        Self::new(tokens, &starts, sizes)
    }

    /// Returns the tokens as reusable memory, if they are all in one part.
    pub fn into_tokens(mut self) -> Option<Vec<u32>> {
        if self.parts.len() == 1 { self.parts.pop() } else { None }
    }

    /// Returns the number of bytes on the heap.
    pub fn bytes(&self) -> usize {
        let tokens: usize = self.parts.iter().map(memory::bytes).sum();
        tokens + memory::bytes(&self.places) + memory::bytes(&self.sizes)
    }
}

const DOING: &str = "listing the sizes of records";

/// The distinct sizes of records, and the first record of each size.
#[derive(Debug, Clone, Default)]
pub struct SizeRuns {
    sizes: Vec<u32>,
    /// The first record of each size.
    firsts: Vec<u32>,
    /// The number of records.
    records: u32,
}

impl SizeRuns {
    /// Takes the sizes of all records, ascending.
    pub fn new(sizes: &[u32]) -> Result<Self> {
        let mut runs = Self::default();
        sizes.iter().try_for_each(|&size| runs.push(size))?;
        Ok(runs)
    }

    /// Adds a record, which is at least as large as all records before it.
    #[inline]
    pub fn push(&mut self, size: u32) -> Result<()> {
        if self.sizes.last() != Some(&size) {
            memory::push(&mut self.sizes, size, DOING)?;
            memory::push(&mut self.firsts, self.records, DOING)?;
        }
        self.records += 1;
        Ok(())
    }

    /// Returns the number of records.
    pub fn records(&self) -> usize {
        self.records as usize
    }

    /// Returns the distinct sizes, ascending.
    pub fn sizes(&self) -> &[u32] {
        &self.sizes
    }

    /// Returns the range of the records of the run with this number.
    pub fn range(&self, run: usize) -> std::ops::Range<u32> {
        self.firsts[run]..self.firsts.get(run + 1).copied().unwrap_or(self.records)
    }

    /// Returns the run of a record. O(log sizes).
    #[inline]
    pub fn run_of(&self, record: u32) -> usize {
        self.firsts.partition_point(|&first| first <= record) - 1
    }

    /// Returns the run of a record whose run is not before `run`. O(1) if it is `run`.
    #[inline]
    pub fn run_from(&self, run: usize, record: u32) -> usize {
        match self.firsts.get(run + 1) {
            Some(&next) if next <= record => {
                run + self.firsts[run + 1..].partition_point(|&first| first <= record)
            }
            _ => run,
        }
    }

    /// Returns the size of a record. O(log sizes).
    #[inline]
    pub fn size(&self, record: u32) -> u32 {
        self.sizes[self.run_of(record)]
    }

    /// Returns the first record whose size is `size` or more, or the number of records.
    pub fn first_of_size(&self, size: u32) -> u32 {
        let run = self.sizes.partition_point(|&other| other < size);
        self.firsts.get(run).copied().unwrap_or(self.records)
    }

    /// Returns the number of bytes on the heap.
    pub fn bytes(&self) -> usize {
        memory::bytes(&self.sizes) + memory::bytes(&self.firsts)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn runs_say_what_the_sizes_say(mut sizes in prop::collection::vec(1..9u32, 0..40)) {
            sizes.sort_unstable();
            let runs = SizeRuns::new(&sizes).unwrap();
            prop_assert_eq!(runs.records(), sizes.len());
            let of_runs: Vec<u32> = (0..runs.sizes().len())
                .flat_map(|run| runs.range(run).map(|_| runs.sizes()[run]).collect::<Vec<_>>())
                .collect();
            prop_assert_eq!(&of_runs, &sizes);
            for (&size, record) in sizes.iter().zip(0..) {
                prop_assert_eq!(runs.size(record), size);
                let run = runs.run_of(record);
                for before in 0..=run {
                    prop_assert_eq!(runs.run_from(before, record), run);
                }
            }
            for size in 0..10 {
                let first = sizes.partition_point(|&other| other < size);
                prop_assert_eq!(runs.first_of_size(size) as usize, first);
            }
        }
    }
}
