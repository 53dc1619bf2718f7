//! Tokens that are numbers, such as shingles: they are counted without a dictionary, once all sets
//! are known.
//!
//! A dictionary is read at a random place for each token, which waits for memory. Hashes of numbers
//! are instead copied into partitions by their upper bits, each of which fits into a processor's
//! cache, where it is sorted and counted. The places of the counts come back in the order of the
//! copies, so that the sets, too, are read and written from the beginning to the end. Each round
//! does so for some of the partitions, so that few hashes are copied at a time.

use super::equal_tokens::{EqualTokens, NO_PLACE};
use super::number_sets::Sets;
use crate::error::Result;
use crate::executor::{self, Executor, Stop};
use crate::features::dictionary::by_content::Weigher;
use crate::features::dictionary::lookup::ContentKind;
use crate::features::dictionary::rank::{LONE, OtherTokens};
use crate::features::dictionary::weights::TokenWeights;
use crate::hash::unmix;
use crate::memory;

const DOING: &str = "counting tokens";

/// The greatest number of tokens of a partition on average. With what sorting takes, so many take a
/// megabyte.
const TOKENS_A_PARTITION: usize = if cfg!(test) { 4 } else { 1 << 15 };
/// The greatest number of bits of a hash that tell its partition.
const MOST_BITS: u32 = 16;
/// The number of bits that tell the round of a hash.
const ROUND_BITS: u32 = 1;
/// The place of a token that only one document has.
const ALONE: u64 = u32::MAX as u64;
/// The number of tokens between two checks for a stop.
const CHECK_EVERY: usize = 1 << 14;

/// The counted tokens.
#[derive(Debug, Default)]
pub(super) struct CountedHashes {
    partitions: Vec<EqualTokens>,
    /// The number of distinct tokens.
    pub(super) distinct: usize,
    /// The greatest number of bytes of copies.
    pub(super) copied_bytes: usize,
}

/// How the tokens are counted.
struct Counting<'a> {
    /// The parts from this number on are of the right table.
    lefts: usize,
    two_tables: bool,
    /// The number of bits of a hash that tell its partition, at least 1, and its round.
    bits: u32,
    round_bits: u32,
    round: usize,
    weigher: Option<&'a Weigher<'a>>,
}

impl Counting<'_> {
    /// Returns the partitions of the round.
    fn partitions(&self) -> std::ops::Range<usize> {
        let count = 1 << (self.bits - self.round_bits);
        self.round * count..(self.round + 1) * count
    }

    /// Returns the number of a hash's partition in the round, if it is of the round.
    #[inline]
    fn partition(&self, hash: u64) -> Option<usize> {
        ((hash >> (u64::BITS - self.bits)) as usize)
            .checked_sub(self.partitions().start)
            .filter(|&partition| partition < self.partitions().len())
    }

    /// Counts the tokens of the partition with this number, of which the parts have copies.
    fn count(&self, number: usize, parts: &[PartCopies<'_>], stop: &Stop) -> Result<EqualTokens> {
        let in_round = number - self.partitions().start;
        let copies =
            |parts: &[PartCopies<'_>]| parts.iter().map(|part| part.partition(in_round).len()).sum::<usize>();
        let mut tokens: Vec<(u64, u32)> = Vec::new();
        memory::reserve(&mut tokens, copies(parts), DOING)?;
        for part in parts {
            stop.check()?;
            let first = tokens.len() as u32;
            tokens.extend(part.partition(in_round).iter().copied().zip(first..));
        }
        let weigh = self.weigher.map(|weigher| {
            move |token: &u64, having| {
                let hash = (number as u64) << (u64::BITS - self.bits) | token >> self.bits;
                weigher.weigh(ContentKind::Number, [unmix(hash), 0], having)
            }
        });
        EqualTokens::new(&mut tokens, copies(&parts[..self.lefts]), self.two_tables, weigh.as_ref(), stop)
    }
}

/// The sets of a part, and the copies of a round.
struct PartCopies<'a> {
    sets: &'a mut Sets,
    /// The hashes by partition, without the bits that tell it. The last bit is set if the set has
    /// the same hash before.
    copies: Vec<u64>,
    /// The start of each partition among the copies, and the end of the last one.
    starts: Vec<usize>,
    /// The progress of placing: the next copy of each partition, and the number of hashes done.
    next: Vec<usize>,
    placed: usize,
}

impl CountedHashes {
    /// Counts the tokens of the sets that are numbers, and replaces their hashes by places. The
    /// parts from number `lefts` on are of the right table. O(n log n) for n tokens, of which about
    /// half are copied at a time.
    pub(super) fn new(
        parts: &mut [Sets],
        lefts: usize,
        two_tables: bool,
        weigher: Option<&Weigher<'_>>,
        executor: &dyn Executor,
    ) -> Result<Self> {
        let all: usize = parts.iter().map(|part| part.hashes.len()).sum();
        let mut counted = Self::default();
        if all == 0 {
            return Ok(counted);
        }
        let bits = (usize::BITS - (all / TOKENS_A_PARTITION).leading_zeros()).clamp(1, MOST_BITS);
        let round_bits = (bits - 1).min(ROUND_BITS);
        for round in 0..1 << round_bits {
            let counting = Counting { lefts, two_tables, bits, round_bits, round, weigher };
            let mut copies = memory::collect(parts.iter_mut().map(PartCopies::new), DOING)?;
            executor::each(executor, &mut copies, |part, stop| part.copy(&counting, stop))?;
            let new = |number| (number, EqualTokens::default());
            let mut partitions = memory::collect(counting.partitions().map(new), DOING)?;
            executor::each(executor, &mut partitions, |(number, partition), stop| {
                *partition = counting.count(*number, &copies, stop)?;
                Ok(())
            })?;
            let copied: usize = copies.iter().map(|part| 2 * memory::bytes(&part.copies)).sum();
            counted.copied_bytes = counted.copied_bytes.max(copied);
            let places: Vec<&[u32]> =
                memory::collect(partitions.iter().map(|(_, partition)| &partition.places[..]), DOING)?;
            let mut before = memory::filled(0, places.len(), DOING)?;
            for part in &mut copies {
                part.begin_placing(&mut before)?;
            }
            executor::each(executor, &mut copies, |part, stop| part.place(&counting, &places, stop))?;
            for (_, partition) in partitions {
                counted.distinct += partition.distinct;
                memory::push(
                    &mut counted.partitions,
                    EqualTokens { places: Vec::new(), ..partition },
                    DOING,
                )?;
            }
        }
        Ok(counted)
    }

    /// Returns the frequencies of the tokens that can be shared.
    pub(super) fn frequencies(&self, executor: &dyn Executor) -> Result<OtherTokens> {
        let mut frequencies = OtherTokens::default();
        for partition in &self.partitions {
            executor.check_interrupts()?;
            let shared = partition.ranks.iter().filter(|&&frequency| frequency > 0);
            shared.copied().try_for_each(|frequency| frequencies.add(frequency))?;
        }
        Ok(frequencies)
    }

    /// Takes the ranks that these frequencies were given, and says what the ranks weigh.
    pub(super) fn take_ranks(
        &mut self,
        mut frequencies: OtherTokens,
        of_ranks: &mut TokenWeights,
        executor: &dyn Executor,
    ) -> Result<()> {
        for EqualTokens { ranks, weights, .. } in &mut self.partitions {
            executor.check_interrupts()?;
            for (place, rank) in ranks.iter_mut().enumerate() {
                *rank = if *rank == 0 { LONE } else { frequencies.next_rank(*rank) };
                if let Some(&weight) = weights.get(place).filter(|_| *rank != LONE) {
                    of_ranks.set(*rank, weight);
                }
            }
        }
        Ok(())
    }

    /// Returns the rank of the token at a place.
    #[inline]
    pub(super) fn rank(&self, place: u64) -> u32 {
        if place == ALONE {
            return LONE;
        }
        self.partitions[(place >> 32) as usize].ranks[place as u32 as usize]
    }

    /// Returns what the token at a place weighs. Tokens must weigh.
    pub(super) fn weight(&self, place: u64) -> u64 {
        self.partitions[(place >> 32) as usize].weights[place as u32 as usize].into()
    }

    /// Returns the number of bytes on the heap.
    pub(super) fn bytes(&self) -> usize {
        let of = |of: &EqualTokens| memory::bytes(&of.ranks) + memory::bytes(&of.weights);
        memory::bytes(&self.partitions) + self.partitions.iter().map(of).sum::<usize>()
    }
}

/// Reports whether two sets of one table with these places are equal: a token that only one
/// document has is in no other set.
pub(super) fn are_equal(a: &[u64], b: &[u64]) -> bool {
    a == b && !a.contains(&ALONE)
}

impl<'a> PartCopies<'a> {
    fn new(sets: &'a mut Sets) -> Self {
        Self { sets, copies: Vec::new(), starts: Vec::new(), next: Vec::new(), placed: 0 }
    }

    /// Copies the hashes of a round. After a stop, the next call starts over.
    fn copy(&mut self, counting: &Counting<'_>, stop: &Stop) -> Result<()> {
        let Self { sets, copies, starts, .. } = self;
        *starts = memory::filled(0, counting.partitions().len() + 1, DOING)?;
        for hashes in sets.hashes.chunks(CHECK_EVERY) {
            stop.check()?;
            stop.work(hashes.len());
            let partitions = hashes.iter().filter_map(|&hash| counting.partition(hash));
            partitions.for_each(|partition| starts[partition + 1] += 1);
        }
        for partition in 1..starts.len() {
            starts[partition] += starts[partition - 1];
        }
        copies.clear();
        memory::fill(copies, 0, starts[starts.len() - 1], DOING)?;
        let mut next = memory::collect(starts.iter().copied(), DOING)?;
        for set in 0..sets.rows.len() {
            stop.check_every(set, 1 << 6)?;
            let mut before = None;
            for hashes in sets.hashes(set).chunks(CHECK_EVERY) {
                stop.check_every(hashes.len(), CHECK_EVERY)?;
                for &hash in hashes {
                    let repeats = before.replace(hash) == Some(hash);
                    if let Some(partition) = counting.partition(hash) {
                        let next = &mut next[partition];
                        copies[*next] = hash << counting.bits | u64::from(repeats);
                        *next += 1;
                    }
                }
            }
        }
        Ok(())
    }

    /// Returns the copies of a partition of the round.
    fn partition(&self, number: usize) -> &[u64] {
        &self.copies[self.starts[number]..self.starts[number + 1]]
    }

    /// Prepares for [`Self::place`]. `before` has the number of places of each partition that
    /// earlier parts take, and gets those of this part added.
    fn begin_placing(&mut self, before: &mut [usize]) -> Result<()> {
        self.next = memory::collect(before.iter().copied(), DOING)?;
        for (before, ends) in before.iter_mut().zip(self.starts.windows(2)) {
            *before += ends[1] - ends[0];
        }
        self.copies = Vec::new();
        Ok(())
    }

    /// Replaces the hashes of the round by the places of their partitions. After a stop, the next
    /// call goes on from there. A place is like the hash of an early round, so no later round has
    /// it.
    fn place(&mut self, counting: &Counting<'_>, places: &[&[u32]], stop: &Stop) -> Result<()> {
        let Self { sets, next, placed, .. } = self;
        let first = counting.partitions().start;
        while *placed < sets.hashes.len() {
            stop.check()?;
            let to = sets.hashes.len().min(*placed + CHECK_EVERY);
            stop.work(to - *placed);
            for hash in &mut sets.hashes[*placed..to] {
                if let Some(partition) = counting.partition(*hash) {
                    let place = places[partition][next[partition]];
                    let number = (first + partition) as u64;
                    *hash = if place == NO_PLACE { ALONE } else { number << 32 | u64::from(place) };
                    next[partition] += 1;
                }
            }
            *placed = to;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests;
