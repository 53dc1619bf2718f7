//! Counts tokens that are numbers, such as shingles, once all sets are known: partition by
//! partition of all blocks ([`super::token_blocks`]), each in a processor's cache. There each token
//! gets its rank, too, so that no token waits for memory.

use super::equal_tokens::{EqualTokens, TokenTable, add_frequencies, take_ranks};
use super::number_sets::Sets;
use super::token_blocks::{MOST_BITS, hash_of};
use crate::error::Result;
use crate::executor::{self, Executor, Pool, Stop};
use crate::features::dictionary::by_content::Weigher;
use crate::features::dictionary::lookup::ContentKind;
use crate::features::dictionary::rank::{LONE, OtherTokens};
use crate::features::dictionary::weights::TokenWeights;
use crate::hash::unmix;
use crate::memory;
use crate::simd::prefetch::prefetch;

const DOING: &str = "counting tokens";

/// The greatest number of tokens of a partition on average, unless there are very many.
const TOKENS_A_PARTITION: usize = if cfg!(test) { 8 } else { 1 << 15 };

/// The counted tokens.
#[derive(Debug, Default)]
pub(super) struct CountedNumbers {
    partitions: Vec<EqualTokens>,
    /// The number of distinct tokens.
    pub(super) distinct: usize,
}

/// How the tokens are counted.
struct Counting<'a> {
    two_tables: bool,
    /// The number of bits of a hash that tell its partition.
    bits: u32,
    weigher: Option<&'a Weigher<'a>>,
}

/// The tokens of a partition in some block of a part, and whether that is of the right table.
type BlockTokens<'p> = (bool, &'p mut [u64]);

/// The tokens of a partition.
struct Partition<'p> {
    number: usize,
    tokens: Vec<BlockTokens<'p>>,
    counted: EqualTokens,
}

impl CountedNumbers {
    /// Counts the tokens of the sets that are numbers, and replaces each by its place among the
    /// counted ones of its partition. The parts from number `lefts` on are of the right table. O(n)
    /// for n tokens.
    pub(super) fn new(
        parts: &mut [Sets],
        lefts: usize,
        two_tables: bool,
        weigher: Option<&Weigher<'_>>,
        executor: &dyn Executor,
    ) -> Result<Self> {
        let all: usize = parts.iter().map(|part| part.numbers.len()).sum();
        if all == 0 {
            return Ok(Self::default());
        }
        let bits = (usize::BITS - (all / TOKENS_A_PARTITION).leading_zeros()).clamp(1, MOST_BITS);
        let blocks = parts.iter_mut().flat_map(|part| part.numbers.with_ends());
        executor::each(executor, &mut memory::collect(blocks, DOING)?, |(block, ends), stop| {
            block.order(ends, bits, stop)
        })?;
        let counting = Counting { two_tables, bits, weigher };
        let mut partitions = memory::collect(
            by_partition(parts, lefts)?.into_iter().enumerate().map(|(number, tokens)| Partition {
                number,
                tokens,
                counted: EqualTokens::default(),
            }),
            DOING,
        )?;
        let scratch = Pool::default();
        executor::each(executor, &mut partitions, |partition, stop| {
            scratch.with(
                || Ok((TokenTable::new()?, Vec::new())),
                |(table, places)| partition.count(&counting, table, places, stop),
            )
        })?;
        let partitions = memory::collect(partitions.into_iter().map(|partition| partition.counted), DOING)?;
        let distinct = partitions.iter().map(|partition| partition.distinct).sum();
        Ok(Self { partitions, distinct })
    }

    /// Returns the frequencies of the tokens that can be shared.
    pub(super) fn frequencies(&self, executor: &dyn Executor) -> Result<OtherTokens> {
        let mut frequencies = OtherTokens::default();
        for partition in &self.partitions {
            executor.check_interrupts()?;
            add_frequencies(&partition.ranks, &mut frequencies)?;
        }
        Ok(frequencies)
    }

    /// Replaces each token of the sets by the rank that its frequency was given, and says what the
    /// ranks weigh. Tokens that cannot be shared get the ranks from number `given` on.
    pub(super) fn take_ranks(
        self,
        parts: &mut [Sets],
        mut frequencies: OtherTokens,
        mut given: u32,
        of_ranks: &mut TokenWeights,
        executor: &dyn Executor,
    ) -> Result<()> {
        let mut ranks = Vec::new();
        for EqualTokens { ranks: mut own, weights, .. } in self.partitions {
            executor.check_interrupts()?;
            let apart = || {
                given += 1;
                given - 1
            };
            take_ranks(&mut own, &weights, &mut frequencies, apart, of_ranks);
            memory::push(&mut ranks, own, DOING)?;
        }
        let mut partitions = memory::collect(ranks.into_iter().zip(by_partition(parts, 0)?), DOING)?;
        executor::each(executor, &mut partitions, |(ranks, tokens), stop| {
            stop.check()?;
            each_prefetched(tokens, |token, _| {
                *token = ranks.get(*token as usize).copied().unwrap_or(LONE).into();
                Ok(())
            })
        })
    }

    /// Returns what a token of a partition weighs, given its place. Tokens must weigh.
    pub(super) fn weight(&self, partition: usize, place: u64) -> u64 {
        self.partitions[partition].weights[place as usize].into()
    }

    /// Returns the number of bytes on the heap.
    pub(super) fn bytes(&self) -> usize {
        memory::bytes(&self.partitions) + self.partitions.iter().map(EqualTokens::bytes).sum::<usize>()
    }
}

impl Partition<'_> {
    /// Counts the tokens, and replaces each by its place, with scratch memory. After a stop, the
    /// next call starts over.
    fn count(
        &mut self,
        counting: &Counting<'_>,
        table: &mut TokenTable<u64>,
        places: &mut Vec<u32>,
        stop: &Stop,
    ) -> Result<()> {
        let Counting { two_tables, bits, weigher } = *counting;
        let Self { number, tokens: blocks, counted } = self;
        let weigh = weigher.map(|weigher| {
            |token: &u64, having| {
                let hash = hash_of(*number, *token, bits);
                weigher.weigh(ContentKind::Number, [unmix(hash), 0], having)
            }
        });
        places.clear();
        table.clear(blocks.iter().map(|(_, tokens)| tokens.len()).sum());
        each_prefetched(blocks, |token, is_right| {
            stop.check_every(places.len() + 1, TokenTable::<u64>::CHECK_EVERY)?;
            memory::push(places, table.add(*token, is_right)?, DOING)
        })?;
        *counted = table.counted(two_tables, weigh.as_ref(), stop)?;
        table.places(places, stop)?;
        // Nothing stops from here on.
        let tokens = blocks.iter_mut().flat_map(|(_, tokens)| &mut **tokens);
        tokens.zip(places).for_each(|(token, place)| *token = (*place).into());
        Ok(())
    }
}

/// Returns the tokens of each partition, by part and then by block.
fn by_partition(parts: &mut [Sets], lefts: usize) -> Result<Vec<Vec<BlockTokens<'_>>>> {
    let count = parts.iter().map(|part| part.numbers.blocks.len()).sum();
    let mut all: Vec<Vec<BlockTokens<'_>>> = Vec::new();
    for (number, part) in parts.iter_mut().enumerate() {
        for block in &mut part.numbers.blocks {
            for (partition, tokens) in block.by_partition().enumerate() {
                if partition == all.len() {
                    memory::push(&mut all, Vec::new(), DOING)?;
                    memory::reserve(&mut all[partition], count, DOING)?;
                }
                all[partition].push((number >= lefts, tokens));
            }
        }
    }
    Ok(all)
}

/// Calls `each` with each token of a partition, while those of the next block are prefetched.
fn each_prefetched(
    blocks: &mut [BlockTokens<'_>],
    mut each: impl FnMut(&mut u64, bool) -> Result<()>,
) -> Result<()> {
    const TOKENS_A_LINE: usize = 8;
    for n in 0..blocks.len() {
        if let Some((_, later)) = blocks.get(n + 1) {
            (0..later.len()).step_by(TOKENS_A_LINE).for_each(|at| prefetch(later, at));
        }
        let (is_right, tokens) = &mut blocks[n];
        tokens.iter_mut().try_for_each(|token| each(token, *is_right))?;
    }
    Ok(())
}

#[cfg(test)]
mod tests;
