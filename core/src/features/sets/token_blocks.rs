//! Tokens that are numbers, by set, until they are ranked.
//!
//! A dictionary is read at a random place for each token, which waits for memory. Hashes of numbers
//! instead go into blocks, each of which fits into a processor's cache. A closed block has its
//! tokens by partition, which their first bits tell, so that a partition of all blocks can be
//! counted in a cache ([`super::counted`]). A set finds its tokens again by their partitions, which
//! the block has in the order of the sets ([`NextTokens`]).

use std::ops::Range;

use crate::error::{Error, Result};
use crate::executor::{self, Stop};
use crate::memory;
use crate::simd::prefetch::prefetch;

const DOING: &str = "collecting token sets";

/// The number of tokens from which on a block is closed. Those of shorter texts take a megabyte.
const TOKENS_A_BLOCK: usize = if cfg!(test) { 64 } else { 1 << 17 };
/// The number of bits of a hash that tell its partition, if there are several blocks.
pub(super) const MOST_BITS: u32 = 10;
/// The number of tokens between two checks for a stop.
const CHECK_EVERY: usize = 1 << 14;
/// Places in a block have 32 bits. Sets go to a file long before there are so many tokens.
const MOST_TOKENS: usize = u32::MAX as usize;
/// No set.
const NONE: u32 = u32::MAX;

/// The tokens of some sets. Where repeats count, a token is there as often as its document has it.
#[derive(Debug, Default)]
pub(super) struct TokenBlocks {
    /// The closed blocks.
    pub(super) blocks: Vec<TokenBlock>,
    /// The hashes of the open block, set by set: a bijection of the numbers.
    open: Vec<u64>,
    /// Whether the next set must begin a block.
    is_sealed: bool,
    /// The end of each set among all tokens; those of the last sets may be missing if they have
    /// none.
    ends: Vec<usize>,
}

/// A closed block.
#[derive(Debug)]
pub(super) struct TokenBlock {
    /// The tokens by partition, and in a partition by set. A token is the hash without the bits
    /// that tell the partition; the lowest bit is set if the same set has an equal token before.
    /// Who has counted the tokens replaces them by what is known of them.
    pub(super) tokens: Vec<u64>,
    /// The start of each partition in `tokens`, and the end of the last one.
    starts: Vec<u32>,
    /// The partition of each token, in the order of the sets.
    partitions: Vec<u16>,
    /// The number of tokens of this block and those before.
    end: usize,
}

/// Which tokens are next, in the order of the sets.
#[derive(Debug, Default)]
pub(super) struct NextTokens {
    block: usize,
    /// For each partition, the index of its next token in the block.
    next: Vec<u32>,
}

/// Returns the number of the partition of a hash, which so many of its first bits tell.
#[inline]
fn partition_of(hash: u64, bits: u32) -> usize {
    (hash >> (u64::BITS - bits)) as usize
}

/// Returns the hash of a token, and the bit that is set if it repeats.
pub(super) fn hash_of(partition: usize, token: u64, bits: u32) -> (u64, u64) {
    ((partition as u64) << (u64::BITS - bits) | token >> bits, token & 1)
}

impl TokenBlocks {
    /// Reports whether no set has a token.
    pub(super) fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns the number of tokens.
    pub(super) fn len(&self) -> usize {
        self.closed() + self.open.len()
    }

    /// Reports whether there are so many tokens that they should go to a file.
    pub(super) fn is_full(&self) -> bool {
        self.len() > MOST_TOKENS / 2
    }

    /// Returns the number of tokens of the closed blocks.
    fn closed(&self) -> usize {
        self.blocks.last().map_or(0, |block| block.end)
    }

    /// Returns the place of the tokens of set `n` among all tokens.
    #[inline]
    fn range(&self, n: usize) -> Range<usize> {
        let end = |n: usize| self.ends.get(n).copied().unwrap_or(self.len());
        n.checked_sub(1).map_or(0, end)..end(n)
    }

    /// Returns the number of tokens of set `n`.
    pub(super) fn count(&self, n: usize) -> usize {
        self.range(n).len()
    }

    /// Returns the hashes of the open block, to which those of the next set are added. After an
    /// error, they must be as they were before.
    pub(super) fn open(&mut self, stop: &Stop) -> Result<&mut Vec<u64>> {
        if self.is_sealed || self.open.len() >= TOKENS_A_BLOCK {
            self.close(MOST_BITS, stop)?;
        }
        Ok(&mut self.open)
    }

    /// Drops the hashes of the open block from number `start` on.
    pub(super) fn forget_open(&mut self, start: usize) {
        self.open.truncate(start);
    }

    /// Makes a set of the hashes after the last one, of which there are `before`.
    pub(super) fn end_set(&mut self, before: usize) -> Result<()> {
        if self.open.len() > MOST_TOKENS {
            return Err(Error::TooMany { what: "tokens in a block", limit: MOST_TOKENS as u64 });
        }
        if !self.is_empty() {
            memory::lengthen(&mut self.ends, 0, before, DOING)?;
            let end = self.len();
            memory::push(&mut self.ends, end, DOING)?;
        }
        Ok(())
    }

    /// Lets the next set begin a block.
    pub(super) fn seal(&mut self) {
        self.is_sealed = true;
    }

    /// Closes the open block, if it has tokens, with so many bits that tell a partition, at least 1.
    /// After an error, everything is as it was before. O(n) for n tokens.
    pub(super) fn close(&mut self, bits: u32, stop: &Stop) -> Result<()> {
        if !self.open.is_empty() {
            let first = self.closed();
            let ends = &self.ends[self.ends.partition_point(|&end| end <= first)..];
            let mut block = TokenBlock::new(&self.open, first, ends, bits, stop)?;
            block.mark_repeats(stop)?;
            memory::push(&mut self.blocks, block, DOING)?;
            self.open.clear();
        }
        self.is_sealed = false;
        Ok(())
    }

    /// Reports whether some block is closed.
    pub(super) fn has_closed(&self) -> bool {
        !self.blocks.is_empty()
    }

    /// Splits off the sets from number `set` on, before which no block or a block ends that was
    /// [sealed](Self::seal).
    pub(super) fn split_off(&mut self, set: usize) -> Result<Self> {
        let at = self.range(set).start;
        let mut right = Self::default();
        let block = self.blocks.partition_point(|block| block.end <= at);
        memory::append(&mut right.blocks, self.blocks.drain(block..), DOING)?;
        right.blocks.iter_mut().for_each(|block| block.end -= at);
        if let Some(open) = at.checked_sub(self.closed() + right.closed()) {
            memory::append(&mut right.open, self.open.drain(open..), DOING)?;
        } else {
            std::mem::swap(&mut right.open, &mut self.open);
        }
        let from = set.min(self.ends.len());
        memory::append(&mut right.ends, self.ends.drain(from..).map(|end| end - at), DOING)?;
        Ok(right)
    }

    /// Returns the number of bytes on the heap.
    pub(super) fn bytes(&self) -> usize {
        let of_block = |block: &TokenBlock| {
            memory::bytes(&block.tokens) + memory::bytes(&block.starts) + memory::bytes(&block.partitions)
        };
        memory::bytes(&self.open)
            + memory::bytes(&self.ends)
            + memory::bytes(&self.blocks)
            + self.blocks.iter().map(of_block).sum::<usize>()
    }
}

impl TokenBlock {
    /// Puts the hashes of some sets, which have these ends among all tokens, in the order of their
    /// partitions. `first` is the number of tokens before. The lowest bit of each token is set if
    /// the token before in its partition is of the same set.
    fn new(hashes: &[u64], first: usize, ends: &[usize], bits: u32, stop: &Stop) -> Result<Self> {
        let mut starts = memory::filled(0u32, (1 << bits) + 1, DOING)?;
        let mut partitions = Vec::new();
        memory::reserve(&mut partitions, hashes.len(), DOING)?;
        for hashes in hashes.chunks(CHECK_EVERY) {
            stop.check()?;
            stop.work(hashes.len());
            partitions.extend(hashes.iter().map(|&hash| partition_of(hash, bits) as u16));
            partitions[partitions.len() - hashes.len()..]
                .iter()
                .for_each(|&partition| starts[usize::from(partition) + 1] += 1);
        }
        (1..starts.len()).for_each(|n| starts[n] += starts[n - 1]);
        let mut next = memory::collect(starts.iter().copied(), DOING)?;
        let mut last_sets = memory::filled(NONE, 1 << bits, DOING)?;
        let mut tokens = memory::zeroed(hashes.len(), DOING)?;
        let mut from = 0;
        for (set, end) in ends.iter().map(|end| end - first).enumerate() {
            for (n, (&hash, &partition)) in hashes[from..end].iter().zip(&partitions[from..end]).enumerate() {
                stop.check_every(n + 1, CHECK_EVERY)?;
                let last = std::mem::replace(&mut last_sets[usize::from(partition)], set as u32);
                let next = &mut next[usize::from(partition)];
                tokens[*next as usize] = hash << bits | u64::from(last == set as u32);
                *next += 1;
            }
            from = end;
        }
        Ok(Self { tokens, starts, partitions, end: first + hashes.len() })
    }

    /// Sorts the tokens of each set in each partition, and sets the lowest bit of those that repeat
    /// instead.
    fn mark_repeats(&mut self, stop: &Stop) -> Result<()> {
        let mut from = 0;
        while from < self.tokens.len() {
            stop.check_every(from, CHECK_EVERY)?;
            let same = self.tokens[from + 1..].iter().position(|token| token & 1 == 0);
            let end = same.map_or(self.tokens.len(), |same| from + 1 + same);
            if end > from + 1 {
                let own = &mut self.tokens[from..end];
                own.iter_mut().for_each(|token| *token &= !1);
                executor::sort_unstable_by(own, stop, &Ord::cmp)?;
                for n in (1..own.len()).rev() {
                    own[n] |= u64::from(own[n] == own[n - 1]);
                }
            }
            from = end;
        }
        Ok(())
    }

    /// Returns the tokens of each partition.
    pub(super) fn by_partition(&mut self) -> impl Iterator<Item = &mut [u64]> {
        let mut rest = self.tokens.as_mut_slice();
        self.starts.windows(2).map(move |ends| {
            let (own, after) = std::mem::take(&mut rest).split_at_mut((ends[1] - ends[0]) as usize);
            rest = after;
            own
        })
    }
}

impl NextTokens {
    /// Goes on behind the tokens of set `n`, which is the next one, and returns the partition of each
    /// and what the block has of it. All blocks must be closed.
    pub(super) fn of_set<'t>(
        &'t mut self,
        tokens: &'t TokenBlocks,
        n: usize,
    ) -> Result<impl Iterator<Item = (usize, u64)> + 't> {
        let (partitions, tokens) = self.find(tokens, n)?;
        let next = &mut self.next;
        Ok(partitions.iter().map(move |&partition| {
            let partition = usize::from(partition);
            let next = &mut next[partition];
            *next += 1;
            (partition, tokens[*next as usize - 1])
        }))
    }

    /// Goes back before the tokens of set `n`, which were the last ones.
    pub(super) fn back(&mut self, tokens: &TokenBlocks, n: usize) -> Result<()> {
        let (partitions, _) = self.find(tokens, n)?;
        partitions.iter().for_each(|&partition| self.next[usize::from(partition)] -= 1);
        Ok(())
    }

    /// Drops the tokens of the blocks before that of the last set.
    pub(super) fn drop_before(&self, tokens: &mut TokenBlocks) {
        let before = tokens.blocks[..self.block].iter_mut().rev();
        for block in before.take_while(|block| !block.tokens.is_empty()) {
            (block.tokens, block.partitions) = (Vec::new(), Vec::new());
        }
    }

    /// Goes to the block of set `n`. Returns the partitions of its tokens, and the tokens of its block.
    fn find<'t>(&mut self, tokens: &'t TokenBlocks, n: usize) -> Result<(&'t [u16], &'t [u64])> {
        const TOKENS_A_LINE: usize = 8;
        let range = tokens.range(n);
        if range.is_empty() {
            return Ok((&[], &[]));
        }
        let is_new = self.next.is_empty();
        let later = tokens.blocks[self.block..].iter().take_while(|block| block.end <= range.start).count();
        self.block += later;
        let block = &tokens.blocks[self.block];
        if is_new || later > 0 {
            memory::refill(&mut self.next, block.starts.iter().copied(), DOING)?;
            // Its tokens are read in the order of the sets: at random places.
            (0..block.tokens.len()).step_by(TOKENS_A_LINE).for_each(|at| prefetch(&block.tokens, at));
        }
        let first = block.end - block.tokens.len();
        Ok((&block.partitions[range.start - first..range.end - first], &block.tokens))
    }
}
