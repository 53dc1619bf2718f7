//! What a record takes from some blocks of records of which each has a count of shared tokens.
//!
//! At first nearly all records share enough tokens. So those with the greatest counts are taken
//! first, which rules most of the others out.

use super::index::RecordIndex;
use super::probe::RecordProbe;
use super::top::Partner;
use crate::error::Result;
use crate::joins::Counts;
use crate::memory;
use crate::simd::columns::{BitColumn, RECORDS, at_least, sum};
use crate::simd::prefetch::prefetch;

const DOING: &str = "finding the nearest";

/// The search for a record.
pub struct RecordSearch<'a> {
    /// What is searched.
    pub index: &'a RecordIndex,
    /// The record.
    pub record: usize,
    /// What was found so far.
    pub probe: &'a mut RecordProbe,
    /// The columns of its frequent tokens.
    pub columns: ColumnsToAdd<'a>,
    /// The counters of the search.
    pub counts: &'a mut Counts,
    /// The number of tokens that the best rows of the record before share with it at least.
    pub usual: &'a mut u32,
}

/// The columns that are added to the counts of a block.
#[derive(Debug, Clone, Copy)]
pub struct ColumnsToAdd<'a> {
    /// The numbers of the columns, by the bit of the weight for which they are added: the greatest
    /// bit first. Those of the lowest bit are last.
    pub numbers: &'a [u32],
    /// The number of the columns of each bit but the lowest one; none if tokens do not weigh.
    pub of_bits: &'a [(u8, u32)],
}

/// The counts of the records of a window.
pub struct WindowCounts<'a> {
    /// The first block.
    pub first: usize,
    /// The number of planes of a block.
    pub planes: usize,
    /// The planes of all blocks.
    pub all: &'a mut [BitColumn],
}

impl WindowCounts<'_> {
    /// Returns the planes of a block.
    fn for_block(&mut self, block: usize) -> &mut [BitColumn] {
        &mut self.all[(block - self.first) * self.planes..][..self.planes]
    }
}

impl RecordSearch<'_> {
    /// Takes the best rows of some blocks, which are ascending. `sums` are the counts of the rare
    /// tokens; the frequent ones are added. `near` is used again.
    pub fn blocks(
        &mut self,
        blocks: &[usize],
        sums: &mut WindowCounts<'_>,
        near: &mut Vec<BitColumn>,
    ) -> Result<()> {
        let Self { index, record, .. } = *self;
        let run = index.columns.run;
        near.clear();
        memory::reserve(near, 2 * blocks.len(), DOING)?;
        let mut known = None;
        for (n, &block) in blocks.iter().enumerate() {
            if let Some(&next) = blocks.get(n + 1) {
                let columns = index.frequent.block(next);
                self.columns.numbers.iter().for_each(|&number| prefetch(columns, number as usize));
            }
            let mut found = match self.need(block, &mut known) {
                Some(need) => self.add_columns(block, sums.for_block(block), need),
                None => BitColumn::NONE,
            };
            match &index.sources {
                Some(sources) if !found.is_empty() => sources.remove(record, block, &mut found),
                None if record / RECORDS == block => found.0[record % RECORDS / 64] &= !(1 << (record % 64)),
                _ => {}
            }
            near.push(found);
        }
        near.resize(2 * blocks.len(), BitColumn::NONE);
        let (near, best) = near.split_at_mut(blocks.len());
        loop {
            let count = (index.columns.count)(near);
            let is_last = count <= self.few();
            match is_last {
                true => best.copy_from_slice(near),
                false => self.greatest(blocks, sums, near, best),
            }
            for (&block, best) in blocks.iter().zip(&*best) {
                if !best.is_empty() {
                    self.offer_all(block, best, sums.for_block(block))?;
                }
            }
            if is_last {
                return Ok(());
            }
            let mut known = None;
            for ((&block, near), best) in blocks.iter().zip(&mut *near).zip(&*best) {
                if !near.is_empty() {
                    let still = match self.need(block, &mut known) {
                        Some(need) => run(&[], &[], sums.for_block(block), need),
                        None => BitColumn::NONE,
                    };
                    *near =
                        BitColumn(std::array::from_fn(|word| near.0[word] & still.0[word] & !best.0[word]));
                }
            }
        }
    }

    /// Adds the columns of a block to its planes. Returns the records whose sums are at least
    /// `need`.
    fn add_columns(&self, block: usize, planes: &mut [BitColumn], need: u32) -> BitColumn {
        let (run, columns) = (self.index.columns.run, self.index.frequent.block(block));
        let ColumnsToAdd { mut numbers, of_bits } = self.columns;
        for &(bit, count) in of_bits {
            let (of_bit, rest) = numbers.split_at(count as usize);
            // Any count passes: what is found does not matter yet.
            run(columns, of_bit, &mut planes[bit.into()..], 0);
            numbers = rest;
        }
        run(columns, numbers, planes, need)
    }

    /// Returns how many records are offered without a search for the best of them.
    fn few(&self) -> usize {
        2 * self.index.wanted
    }

    /// Returns the least number of tokens that the record and any record of a block must share.
    /// `known` is the size and the number of an earlier block, if the condition is the same.
    #[inline]
    fn need(&mut self, block: usize, known: &mut Option<(u32, u32)>) -> Option<u32> {
        const LITTLE: u32 = 8;
        let [first, last] = self.index.sizes_in(block);
        // The number hardly grows from a size to one that is little greater.
        let need = match *known {
            Some((size, need)) if size == first => Some(need),
            Some((size, need)) if first - size <= LITTLE => self.probe.need_from(first, need),
            _ => self.probe.need_within(first, last, self.index.largest),
        };
        *known = need.map(|need| (first, need));
        need
    }

    /// Finds those of some records that have the greatest counts: few of them, but as many as are
    /// wanted. The search for the least of these counts begins at that of the record before, which
    /// is mostly close.
    fn greatest(
        &mut self,
        blocks: &[usize],
        sums: &mut WindowCounts<'_>,
        of: &[BitColumn],
        best: &mut [BitColumn],
    ) {
        let most = 1_u32.checked_shl(sums.planes as u32).unwrap_or(u32::MAX);
        let mut choose = |least: u32| {
            for ((best, of), &block) in best.iter_mut().zip(of).zip(blocks) {
                let some = (self.index.columns.run)(&[], &[], sums.for_block(block), least);
                *best = BitColumn(std::array::from_fn(|word| of.0[word] & some.0[word]));
            }
            (self.index.columns.count)(best)
        };
        // As many records as are wanted have `low` tokens or more, and fewer have `high`.
        let (mut low, mut high) = (0, most);
        let (mut least, mut step, mut chosen) = (*self.usual, 1 + *self.usual / 32, most);
        while high - low > 1 {
            chosen = if low < least && least < high { least } else { low.midpoint(high) };
            let count = choose(chosen);
            if (self.index.wanted..=self.few()).contains(&count) {
                *self.usual = chosen;
                return;
            }
            if count < self.index.wanted {
                (high, least) = (chosen, chosen.saturating_sub(step));
            } else {
                (low, least) = (chosen, chosen.saturating_add(step));
            }
            step = step.saturating_mul(2);
        }
        *self.usual = low;
        if chosen != low {
            choose(low);
        }
    }

    /// Offers these records of a block. The condition is raised now and then, and applied to the
    /// sizes of what follows.
    fn offer_all(&mut self, block: usize, records: &BitColumn, sums: &[BitColumn]) -> Result<()> {
        let index = self.index;
        for (word, &bits) in records.0.iter().enumerate() {
            if bits == 0 {
                continue;
            }
            let from = block * RECORDS + word * 64;
            let mut bits = bits;
            // It takes as long to apply the condition, if there is one, as to offer some records.
            if has_many(bits) && self.probe.top.worst().is_some() {
                let to = index.records.len().min(from + 64);
                let [first, last] = [from, to - 1].map(|record| index.records.size(record));
                let need = self.probe.need_within(first, last, index.largest);
                bits &= need.map_or(0, |need| at_least(sums, word, need));
            }
            let mut better = false;
            while bits != 0 {
                let place = bits.trailing_zeros() as usize;
                bits &= bits - 1;
                better |= self.offer(from + place, sum(sums, word * 64 + place))?;
                self.counts.candidates += 1;
            }
            if better {
                self.probe.raise(index.measure);
            }
        }
        Ok(())
    }

    /// Adds the rows of a record if they are among the best, and reports whether one of them is.
    #[inline]
    fn offer(&mut self, other: usize, shared: u32) -> Result<bool> {
        let similarity = self.probe.similarity(shared, self.index.records.size(other));
        if self.probe.top.worst().is_some_and(|worst| similarity < worst.similarity()) {
            return Ok(false);
        }
        let mut better = false;
        for &rank in self.index.ranks.rows(other) {
            if !self.probe.top.push(Partner::new(similarity, rank))? {
                break;
            }
            better = true;
        }
        Ok(better)
    }
}

/// Reports whether a word has more than two bits.
fn has_many(bits: u64) -> bool {
    let others = bits & bits.wrapping_sub(1);
    others & others.wrapping_sub(1) != 0
}
