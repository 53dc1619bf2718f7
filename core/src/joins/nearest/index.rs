//! What all searches read: the records, and the records of every token.

use std::borrow::Cow;
use std::ops::Range;

use super::lists::{Frequent, token_lists};
use super::probe::{ListCost, RecordProbe, TokensLeft};
use super::sources::Sources;
use crate::error::Result;
use crate::executor::Executor;
use crate::features::dictionary::weights::{RankedTokens, TokenWeights};
use crate::features::sets::members::Members;
use crate::features::sets::records::{Records, SizeRuns};
use crate::simd::columns::{self, RECORDS};
use crate::simd::spread::{self, SpreadKernel};
use crate::storage::rows::Ragged;
use crate::verify::measure::Measure;

/// The records of a table.
#[derive(Debug)]
pub struct RecordIndex {
    /// The distinct sets.
    pub records: Records,
    /// For each record the ranks of its rows, ascending.
    pub ranks: Members,
    /// What the tokens weigh. With weights, sizes and what is shared are sums of them.
    pub weights: TokenWeights,
    /// The measure.
    pub measure: Measure,
    /// The number of rows to find for a record, its own rows among them.
    pub wanted: usize,
    /// The sources of the records, if only those of different sources are compared.
    pub sources: Option<Sources>,
    /// The similarity that rows must have for each of some records, above 0 where others were found
    /// before, and the first of these records.
    pub least: (usize, Vec<f64>),
    /// The greatest size of a record.
    pub largest: u32,
    /// The records of every token.
    pub lists: Ragged<u32>,
    /// The columns of the frequent tokens.
    pub frequent: Frequent,
    /// The sum of columns.
    pub columns: columns::ColumnsKernel,
    /// What makes planes of counts.
    pub spread: SpreadKernel,
    /// Records for which the search by counting takes less time than this, very roughly and in
    /// nanoseconds, are not searched for by lists before.
    short: u64,
    runs: SizeRuns,
}

impl RecordIndex {
    /// Makes the index of distinct sets. `tokens` are those that can be shared; the other arguments
    /// are those of the index. O(all tokens).
    pub fn new(
        records: Records,
        ranks: Members,
        tokens: RankedTokens,
        measure: Measure,
        wanted: usize,
        short: u64,
        executor: &dyn Executor,
    ) -> Result<Self> {
        let RankedTokens { count: tokens, weights } = tokens;
        let lists = token_lists(&records, tokens, executor)?;
        let runs = SizeRuns::new(records.sizes())?;
        let largest = runs.sizes().last().copied().unwrap_or(0);
        let columns = columns::kernel();
        let frequent = Frequent::new(&records, &lists, tokens, columns.records, executor)?;
        Ok(Self {
            records,
            ranks,
            weights,
            measure,
            wanted,
            sources: None,
            least: (0, Vec::new()),
            largest,
            lists,
            frequent,
            columns,
            spread: spread::kernel(),
            short,
            runs,
        })
    }

    /// Begins the search of a record.
    pub fn probe(&self, record: usize) -> Result<RecordProbe> {
        let own = self.equal_rows(record)?;
        let (first, known) = &self.least;
        let least = record.checked_sub(*first).and_then(|n| known.get(n)).copied();
        let least = least.filter(|&least| least > 0.0);
        let sizes = [self.records.size(record), self.largest];
        RecordProbe::new(self.measure, sizes, self.tokens_left(record), &own, self.wanted, least)
    }

    /// Returns the tokens of a record, before it is searched for.
    pub fn tokens_left(&self, record: usize) -> TokensLeft {
        let tokens = self.records.tokens(record);
        TokensLeft { count: tokens.len() as u32, weight: self.weights.sum(tokens) }
    }

    /// Returns the ranks of the rows with the set of a record, ascending, as far as these are
    /// compared with it: its own rows, or the first ones of other sources.
    pub fn equal_rows(&self, record: usize) -> Result<Cow<'_, [u32]>> {
        match &self.sources {
            None => Ok(Cow::Borrowed(self.ranks.rows(record))),
            Some(sources) => sources.equal_rows(record, self.wanted).map(Cow::Owned),
        }
    }

    /// Reports whether a record may be near another one, which is not equal to it.
    #[inline]
    pub fn are_compared(&self, record: usize, other: usize) -> bool {
        self.sources.as_ref().map_or(record != other, |sources| sources.are_compared(record, other))
    }

    /// Reports whether the search for a record by counting is likely to take less time than the
    /// rest of the search by lists.
    pub fn is_dear(&self, record: usize, probe: &mut RecordProbe) -> bool {
        /// What may be spent before the rest is estimated, as a part of the cost of counting: it
        /// finds the nearest of records that have very similar ones.
        const FREE: u64 = 16;
        let ListCost { entries, spent, check, counting } = probe.cost;
        if counting == 0 {
            probe.cost.counting = self.cost_of_counting(record);
            probe.cost.check = probe.cost.counting / FREE;
            return self.is_dear(record, probe);
        }
        if spent <= check {
            return false;
        }
        probe.cost.check = spent.saturating_mul(2);
        let tokens = self.records.tokens(record);
        let rest = &tokens[tokens.len() - probe.left.count as usize..];
        let rest = &rest[..self.weights.count_to(rest, probe.needed())];
        let left: usize = rest.iter().map(|&token| self.lists.range(token as usize).len()).sum();
        let cost = left as u128 * u128::from(spent) / u128::from(entries.max(1));
        cost + u128::from(spent) > u128::from(counting)
    }

    /// Reports whether the search by counting takes less time than any search by lists.
    pub fn is_cheap_to_count(&self, record: usize) -> bool {
        self.cost_of_counting(record) < self.short
    }

    /// Returns the time that the search for a record by counting takes, very roughly, in
    /// nanoseconds.
    fn cost_of_counting(&self, record: usize) -> u64 {
        const A_BLOCK: usize = 20;
        const A_LIST: usize = 60;
        const AN_ENTRY: usize = 2;
        /// What is offered, and what is done once for each record.
        const ALWAYS: usize = 2000;
        let tokens = self.records.tokens(record);
        let rare = self.frequent.rare(tokens);
        // A column is added for each bit of a weight.
        let (bits, slices) = match self.weights.each() {
            None => (tokens.len() - rare, 1),
            Some(weights) => {
                let bits = tokens[rare..].iter().map(|&token| weights[token as usize].count_ones() as usize);
                (bits.sum(), u16::BITS as usize)
            }
        };
        let columns = self.records.len() * bits / self.columns.records;
        // A list of a rare token is at most as long as its column would take.
        let lists = rare * (A_LIST + AN_ENTRY * self.records.len() / (4 * self.columns.records));
        (ALWAYS + A_BLOCK * slices * self.records.len().div_ceil(RECORDS) + columns + lists) as u64
    }

    /// Returns the part of a list whose records have sizes that a probe reaches.
    pub fn within(&self, probe: &RecordProbe, list: &[u32]) -> Range<usize> {
        let reach = self.reach(probe);
        let from = list.partition_point(|&record| (record as usize) < reach.start);
        from..from + list[from..].partition_point(|&record| (record as usize) < reach.end)
    }

    /// Returns the first of these records, as many as are searched for together.
    pub fn block(&self, records: Range<usize>, threads: usize) -> Range<usize> {
        /// The more records are searched for together, the more of them use the columns in a cache.
        const TOKENS: usize = 1 << 20;
        const PARTNERS: usize = 1 << 18;
        /// Every thread gets some blocks.
        const BLOCKS: usize = 32;
        let all = self.records.len().div_ceil(BLOCKS * threads);
        let most = (PARTNERS / self.wanted.max(1)).clamp(1, all.max(1));
        let mut tokens = 0;
        let fit = records.clone().take(most).take_while(|&record| {
            tokens += self.records.tokens(record).len();
            tokens <= TOKENS
        });
        let count = fit.count().max(1).min(records.len());
        records.start..records.start + count
    }

    /// Returns the records whose sizes a probe reaches.
    pub fn reach(&self, probe: &RecordProbe) -> Range<usize> {
        if probe.is_done() {
            return 0..0;
        }
        let sizes = self.runs.sizes();
        let first = sizes.partition_point(|&size| size < probe.least);
        let end = sizes.partition_point(|&size| size <= probe.most);
        if first >= end {
            return 0..0;
        }
        self.runs.range(first).start as usize..self.runs.range(end - 1).end as usize
    }

    /// Returns the least and the greatest size of the records of a block.
    #[inline]
    pub fn sizes_in(&self, block: usize) -> [u32; 2] {
        let sizes = &self.records.sizes()[block * RECORDS..];
        [sizes[0], sizes[sizes.len().min(RECORDS) - 1]]
    }

    /// Returns those of some blocks that are searched first for a record, around its own: at least
    /// and at most so many, and if there are more, those of similar sizes.
    pub fn first_blocks(
        &self,
        record: usize,
        blocks: &Range<usize>,
        [least, most]: [usize; 2],
    ) -> Range<usize> {
        let own = (record / RECORDS).clamp(blocks.start, blocks.end - 1);
        let Range { mut start, mut end } = own..own + 1;
        let size = self.records.size(record);
        while end - start < most.min(blocks.len()) {
            let comes_first = start > blocks.start && (own - start < end - own || end == blocks.end);
            let next = if comes_first { start - 1 } else { end };
            if end - start >= least && !self.has_similar(next, size) {
                break;
            }
            if comes_first { start = next } else { end = next + 1 }
        }
        start..end
    }

    /// Reports whether all records of a block have about this size.
    fn has_similar(&self, block: usize, size: u32) -> bool {
        let size = u64::from(size);
        let [first, last] = self.sizes_in(block).map(u64::from);
        4 * size <= 5 * first && 4 * last <= 5 * size
    }

    /// Returns the number of bytes on the heap.
    pub fn bytes(&self) -> usize {
        let sources = self.sources.as_ref().map_or(0, Sources::bytes);
        self.records.bytes()
            + self.ranks.bytes()
            + self.weights.bytes()
            + self.lists.bytes()
            + self.frequent.bytes()
            + sources
    }
}
