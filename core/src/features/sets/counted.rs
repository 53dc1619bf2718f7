//! Tokens that are numbers, such as shingles: they are counted without a dictionary, once all sets
//! are known.
//!
//! A dictionary is read at a random place for each token, which waits for memory. Hashes of numbers
//! are instead copied into partitions by their upper bits, each of which fits into a processor's
//! cache, where it is counted, and where later each token gets its rank. The ranks of a partition
//! are in the order of the copies, so that the sets, too, are read from the beginning to the end
//! ([`NextTokens`]). Each round copies the hashes of some of the partitions.

use std::ops::Range;

use super::equal_tokens::{EqualTokens, TokenTable, add_frequencies, take_ranks};
use super::number_sets::Sets;
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

/// The greatest number of tokens of a partition on average. If all of them are distinct, they take
/// a megabyte.
const TOKENS_A_PARTITION: usize = if cfg!(test) { 32 } else { 1 << 15 };
/// The greatest number of bits of a hash that tell its partition.
const MOST_BITS: u32 = 16;
/// The number of bits of a hash that tell its round.
const ROUND_BITS: u32 = 3;
/// The number of tokens between two checks for a stop.
const CHECK_EVERY: usize = 1 << 14;
/// How many items and sets in advance memory is prefetched: an item of each partition is next,
/// which are too many for the processor to foresee.
const AHEAD: usize = 16;
const SETS_AHEAD: usize = 4;

/// How the tokens are counted.
struct Counting<'a> {
    /// The parts from this number on are of the right table.
    lefts: usize,
    two_tables: bool,
    /// The number of bits of a hash that tell its partition, at least 1.
    bits: u32,
    weigher: Option<&'a Weigher<'a>>,
}

/// The counted tokens.
#[derive(Debug, Default)]
pub(super) struct CountedHashes {
    partitions: Vec<EqualTokens>,
    /// For each token of the sets, its place in its partition, if it has one; later its rank. They
    /// are ordered by partition, then by part, then as in the part.
    places: Vec<u32>,
    /// For each part, where its tokens of each partition begin in `places`.
    firsts: Vec<Vec<usize>>,
    /// The number of bits of a hash that tell its partition.
    bits: u32,
    /// The number of distinct tokens.
    pub(super) distinct: usize,
    /// The greatest number of bytes of copies.
    pub(super) copied_bytes: usize,
}

/// Which tokens of a part are next in the order of its sets: for each partition, the index of the
/// next one in `places`.
#[derive(Debug)]
pub(super) struct NextTokens(Vec<usize>);

/// The sets of a part, and the copies of a round.
struct PartCopies<'a> {
    sets: &'a Sets,
    /// The number of hashes of each partition.
    counts: Vec<u32>,
    /// The number of hashes of each set that earlier rounds and this one have copied: they are
    /// sorted, so that a round has a range of them.
    done: Vec<u32>,
    /// The progress of the round: the number of sets that are copied.
    copied: usize,
    /// The hashes by partition, without the bits that tell it. The last bit is set if the set has
    /// the same hash before.
    copies: Vec<u64>,
    /// The start of each partition of the round among the copies, and the end of the last one;
    /// `next` is where its next hash goes.
    starts: Vec<usize>,
    next: Vec<usize>,
}

/// The tokens of a partition.
struct Partition<'a> {
    number: usize,
    places: &'a mut [u32],
    counted: EqualTokens,
}

impl CountedHashes {
    /// Counts the tokens of the sets that are numbers. The parts from number `lefts` on are of the
    /// right table. O(n) for n tokens, of which an eighth is copied at a time.
    pub(super) fn new(
        parts: &[Sets],
        lefts: usize,
        two_tables: bool,
        weigher: Option<&Weigher<'_>>,
        executor: &dyn Executor,
    ) -> Result<Self> {
        let all: usize = parts.iter().map(|part| part.hashes.len()).sum();
        if all == 0 {
            return Ok(Self::default());
        }
        let bits = (usize::BITS - (all / TOKENS_A_PARTITION).leading_zeros()).clamp(1, MOST_BITS);
        let mut copies = memory::collect(parts.iter().map(PartCopies::new), DOING)?;
        executor::each(executor, &mut copies, |part, stop| part.count(bits, stop))?;
        let mut counted =
            Self { firsts: firsts(&copies, bits)?, places: memory::zeroed(all, DOING)?, ..Self::default() };
        counted.bits = bits;
        let round = 1 << (bits - bits.min(ROUND_BITS));
        let counting = Counting { lefts, two_tables, bits, weigher };
        let tables = Pool::default();
        let mut partitions = memory::collect(
            of_partitions(&mut counted.places, &counted.firsts)?
                .into_iter()
                .enumerate()
                .map(|(number, places)| Partition { number, places, counted: EqualTokens::default() }),
            DOING,
        )?;
        for partitions in partitions.chunks_mut(round) {
            let first = partitions[0].number;
            let range = first..first + round;
            copies.iter_mut().try_for_each(|part| part.begin(&range))?;
            executor::each(executor, &mut copies, |part, stop| part.copy(bits, &range, stop))?;
            executor::each(executor, partitions, |partition, stop| {
                tables.with(TokenTable::new, |table| partition.count(first, &counting, &copies, table, stop))
            })?;
        }
        let partitions = partitions.into_iter().map(|partition| partition.counted);
        counted.partitions = memory::collect(partitions, DOING)?;
        counted.distinct = counted.partitions.iter().map(|partition| partition.distinct).sum();
        counted.copied_bytes = copies.iter().map(|part| memory::bytes(&part.copies)).sum();
        Ok(counted)
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

    /// Gives each token the rank that its frequency was given, and says what the ranks weigh.
    pub(super) fn take_ranks(
        &mut self,
        mut frequencies: OtherTokens,
        of_ranks: &mut TokenWeights,
        executor: &dyn Executor,
    ) -> Result<()> {
        for EqualTokens { ranks, weights, .. } in &mut self.partitions {
            executor.check_interrupts()?;
            take_ranks(ranks, weights, &mut frequencies, of_ranks);
        }
        let places = of_partitions(&mut self.places, &self.firsts)?.into_iter();
        let ranks = self.partitions.iter_mut().map(|partition| std::mem::take(&mut partition.ranks));
        let mut partitions = memory::collect(ranks.zip(places), DOING)?;
        executor::each(executor, &mut partitions, |(ranks, places), stop| {
            stop.check()?;
            let rank = |place: u32| ranks.get(place as usize).copied().unwrap_or(LONE);
            places.iter_mut().for_each(|place| *place = rank(*place));
            Ok(())
        })
    }

    /// Returns the places of the first tokens of a part.
    pub(super) fn places(&self, part: usize) -> Result<NextTokens> {
        Ok(NextTokens(memory::collect(self.firsts.get(part).into_iter().flatten().copied(), DOING)?))
    }

    /// Returns the number of bytes on the heap.
    pub(super) fn bytes(&self) -> usize {
        memory::bytes(&self.partitions)
            + self.partitions.iter().map(EqualTokens::bytes).sum::<usize>()
            + memory::bytes(&self.places)
            + self.firsts.iter().map(memory::bytes).sum::<usize>()
    }
}

impl Partition<'_> {
    /// Counts the tokens, of which the parts have copies since partition `first`.
    fn count(
        &mut self,
        first: usize,
        counting: &Counting<'_>,
        parts: &[PartCopies<'_>],
        table: &mut TokenTable<u64>,
        stop: &Stop,
    ) -> Result<()> {
        let Counting { lefts, two_tables, bits, weigher } = *counting;
        let number = self.number;
        let lefts: usize = parts[..lefts].iter().map(|part| part.partition(number - first).len()).sum();
        let tokens = parts.iter().flat_map(|part| part.partition(number - first).iter().copied());
        let weigh = weigher.map(|weigher| {
            move |token: &u64, having| {
                let hash = (number as u64) << (u64::BITS - bits) | token >> bits;
                weigher.weigh(ContentKind::Number, [unmix(hash), 0], having)
            }
        });
        self.counted = table.count(tokens, lefts, self.places, two_tables, weigh.as_ref(), stop)?;
        Ok(())
    }
}

/// Returns the number of the partition of a hash, which so many of its first bits tell.
#[inline]
fn partition_of(hash: u64, bits: u32) -> usize {
    (hash >> (u64::BITS - bits)) as usize
}

/// Numbers the tokens of all parts: by partition, then by part. Returns for each part where its
/// tokens of each partition begin.
fn firsts(parts: &[PartCopies<'_>], bits: u32) -> Result<Vec<Vec<usize>>> {
    let mut all = memory::collect(parts.iter().map(|_| Vec::new()), DOING)?;
    let mut next = 0;
    for partition in 0..1 << bits {
        for (part, firsts) in parts.iter().zip(&mut all) {
            memory::push(firsts, next, DOING)?;
            next += part.counts[partition] as usize;
        }
    }
    Ok(all)
}

/// Splits the places of all tokens by partition. Those of the first part are its first ones.
fn of_partitions<'p>(mut places: &'p mut [u32], firsts: &[Vec<usize>]) -> Result<Vec<&'p mut [u32]>> {
    let (mut partitions, mut from, all) = (Vec::new(), 0, places.len());
    let ends = firsts.first().into_iter().flat_map(|firsts| firsts[1..].iter().copied().chain([all]));
    for end in ends {
        let (own, after) = places.split_at_mut(end - from);
        memory::push(&mut partitions, own, DOING)?;
        (places, from) = (after, end);
    }
    Ok(partitions)
}

impl NextTokens {
    /// Returns the partition of the next token, which has this hash, and its place or rank.
    #[inline]
    fn next(&mut self, counted: &CountedHashes, hash: u64) -> (usize, u32) {
        let partition = partition_of(hash, counted.bits);
        let next = &mut self.0[partition];
        prefetch(&counted.places, *next + AHEAD);
        *next += 1;
        (partition, counted.places[*next - 1])
    }

    /// Returns the rank of the next token. Ranks must be taken.
    #[inline]
    pub(super) fn rank(&mut self, counted: &CountedHashes, hash: u64) -> u32 {
        self.next(counted, hash).1
    }

    /// Goes on behind the tokens of a set.
    pub(super) fn pass(&mut self, counted: &CountedHashes, hashes: &[u64]) {
        hashes.iter().for_each(|&hash| _ = self.next(counted, hash));
    }

    /// Goes back before the tokens of a set, which were the last ones.
    pub(super) fn back(&mut self, counted: &CountedHashes, hashes: &[u64]) {
        hashes.iter().for_each(|&hash| self.0[partition_of(hash, counted.bits)] -= 1);
    }

    /// Returns what the next token weighs. Tokens must weigh, and ranks must not be taken yet.
    pub(super) fn weight(&mut self, counted: &CountedHashes, hash: u64) -> u64 {
        let (partition, place) = self.next(counted, hash);
        counted.partitions[partition].weights[place as usize].into()
    }
}

impl<'a> PartCopies<'a> {
    fn new(sets: &'a Sets) -> Self {
        Self {
            sets,
            counts: Vec::new(),
            done: Vec::new(),
            copied: 0,
            copies: Vec::new(),
            starts: Vec::new(),
            next: Vec::new(),
        }
    }

    /// Counts the hashes of each partition. After a stop, the next call starts over.
    fn count(&mut self, bits: u32, stop: &Stop) -> Result<()> {
        self.counts = memory::filled(0, 1 << bits, DOING)?;
        self.done = memory::filled(0, self.sets.rows.len(), DOING)?;
        for hashes in self.sets.hashes.chunks(CHECK_EVERY) {
            stop.check()?;
            stop.work(hashes.len());
            hashes.iter().for_each(|&hash| self.counts[partition_of(hash, bits)] += 1);
        }
        Ok(())
    }

    /// Begins a round with these partitions.
    fn begin(&mut self, range: &Range<usize>) -> Result<()> {
        let mut end = 0;
        self.starts.clear();
        memory::push(&mut self.starts, 0, DOING)?;
        for &count in &self.counts[range.clone()] {
            end += count as usize;
            memory::push(&mut self.starts, end, DOING)?;
        }
        memory::lengthen(&mut self.copies, 0, end, DOING)?;
        memory::refill(&mut self.next, self.starts.iter().copied(), DOING)?;
        self.copied = 0;
        Ok(())
    }

    /// Copies the hashes of the round. After a stop, the next call goes on from there.
    fn copy(&mut self, bits: u32, range: &Range<usize>, stop: &Stop) -> Result<()> {
        let Self { sets, done, copied, copies, next, .. } = self;
        while *copied < done.len() {
            stop.check_every(*copied, 1 << 6)?;
            if let Some(&later) = done.get(*copied + SETS_AHEAD) {
                sets.prefetch_hashes(*copied + SETS_AHEAD, later as usize);
            }
            let (hashes, done) = (sets.hashes(*copied), &mut done[*copied]);
            let mut before = (*done as usize).checked_sub(1).map(|last| hashes[last]);
            while let Some(&hash) = hashes.get(*done as usize) {
                let partition = partition_of(hash, bits);
                if partition >= range.end {
                    break;
                }
                stop.check_every(*done as usize + 1, CHECK_EVERY)?;
                let next = &mut next[partition - range.start];
                prefetch(copies, *next + AHEAD);
                copies[*next] = hash << bits | u64::from(before == Some(hash));
                *next += 1;
                *done += 1;
                before = Some(hash);
            }
            *copied += 1;
        }
        Ok(())
    }

    /// Returns the copies of a partition of the round.
    fn partition(&self, number: usize) -> &[u64] {
        &self.copies[self.starts[number]..self.starts[number + 1]]
    }
}

#[cfg(test)]
mod tests;
