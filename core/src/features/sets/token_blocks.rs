//! Tokens that are numbers, by set, until they are ranked.
//!
//! A dictionary is read at a random place for each token, which waits for memory. Hashes of numbers
//! instead go into blocks, each of which fits into a processor's cache. When all sets are known, a
//! block is ordered by partition, which the first bits of a hash tell, so that a partition of all
//! blocks can be counted in a cache ([`super::counted`]). A set finds its tokens again by their
//! partitions, which the block has in the order of the sets ([`NextTokens`]).

use std::ops::Range;

use crate::error::{Error, Result};
use crate::executor::Stop;
use crate::memory;
use crate::simd::prefetch::prefetch;

const DOING: &str = "collecting token sets";

/// The number of tokens from which on a block is full. They take a megabyte.
const TOKENS_A_BLOCK: usize = if cfg!(test) { 64 } else { 1 << 17 };
/// The number of bits of a hash that tell its partition, if there are several blocks.
pub(super) const MOST_BITS: u32 = 10;
/// The number of tokens between two checks for a stop.
const CHECK_EVERY: usize = 1 << 14;
/// Places in a block have 32 bits. Sets go to a file long before there are so many tokens.
const MOST_TOKENS: usize = u32::MAX as usize;

/// The tokens of some sets. Where repeats count, a token is there as often as its document has it.
#[derive(Debug, Default)]
pub(super) struct TokenBlocks {
    pub(super) blocks: Vec<TokenBlock>,
    /// Whether the next set must begin a block.
    is_sealed: bool,
    /// The end of each set among all tokens; those of the last sets may be missing if they have
    /// none.
    ends: Vec<usize>,
}

/// The tokens of some consecutive sets.
#[derive(Debug, Default)]
pub(super) struct TokenBlock {
    /// The hashes, set by set: a bijection of the numbers. Equal ones of a set are next to each
    /// other.
    ///
    /// Ordered, the tokens are by partition, and in a partition as before. A token is the hash
    /// without the bits that tell the partition; the lowest bit is set if the same set has an equal
    /// token before. Who has counted the tokens replaces them by what is known of them.
    pub(super) tokens: Vec<u64>,
    /// The start of each partition in `tokens`, and the end of the last one, if they are ordered.
    starts: Vec<u32>,
    /// The partition of each token, in the order of the sets, if they are ordered.
    partitions: Vec<u16>,
    /// The number of the first token among those of all blocks.
    first: usize,
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

/// Returns the hash of a token of an ordered block.
pub(super) fn hash_of(partition: usize, token: u64, bits: u32) -> u64 {
    (partition as u64) << (u64::BITS - bits) | token >> bits
}

impl TokenBlocks {
    /// Reports whether no set has a token.
    pub(super) fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns the number of tokens.
    pub(super) fn len(&self) -> usize {
        self.blocks.last().map_or(0, TokenBlock::end)
    }

    /// Reports whether there are so many tokens that they should go to a file.
    pub(super) fn is_full(&self) -> bool {
        self.len() > MOST_TOKENS / 2
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

    /// Returns the hashes of set `n`. Blocks must not be ordered.
    pub(super) fn hashes(&self, n: usize) -> &[u64] {
        let Range { start, end } = self.range(n);
        let block = self.blocks[..].partition_point(|block| block.end() <= start);
        self.blocks.get(block).map_or(&[], |block| &block.tokens[start - block.first..end - block.first])
    }

    /// Returns the hashes of a block, to which those of the next set are added. After an error,
    /// they must be as they were before.
    pub(super) fn open(&mut self) -> Result<&mut Vec<u64>> {
        let is_full = |block: &TokenBlock| self.is_sealed || block.tokens.len() >= TOKENS_A_BLOCK;
        if self.blocks.last().is_none_or(is_full) {
            let mut block = TokenBlock { first: self.len(), ..TokenBlock::default() };
            // The first block may stay small.
            if !self.blocks.is_empty() {
                memory::reserve(&mut block.tokens, TOKENS_A_BLOCK / 8 * 9, DOING)?;
            }
            memory::push(&mut self.blocks, block, DOING)?;
            self.is_sealed = false;
        }
        let last = self.blocks.len() - 1;
        Ok(&mut self.blocks[last].tokens)
    }

    /// Drops the hashes of the last block from number `start` on.
    pub(super) fn forget(&mut self, start: usize) {
        if let Some(block) = self.blocks.last_mut() {
            block.tokens.truncate(start);
        }
    }

    /// Makes a set of the hashes after the last one, of which there are `before`.
    pub(super) fn end_set(&mut self, before: usize) -> Result<()> {
        let end = self.len();
        if self.blocks.last().is_some_and(|block| block.tokens.len() > MOST_TOKENS) {
            return Err(Error::TooMany { what: "tokens in a block", limit: MOST_TOKENS as u64 });
        }
        if end > 0 {
            memory::lengthen(&mut self.ends, 0, before, DOING)?;
            memory::push(&mut self.ends, end, DOING)?;
        }
        Ok(())
    }

    /// Lets the next set begin a block.
    pub(super) fn seal(&mut self) {
        self.is_sealed = true;
    }

    /// Returns the blocks that have tokens, each with the ends of its sets among all tokens.
    pub(super) fn with_ends(&mut self) -> impl Iterator<Item = (&mut TokenBlock, &[usize])> {
        let Self { blocks, ends, .. } = self;
        blocks.iter_mut().filter(|block| !block.tokens.is_empty()).map(|block| {
            let place = |token| ends.partition_point(|&end| end <= token);
            let ends = &ends[place(block.first)..=place(block.end() - 1)];
            (block, ends)
        })
    }

    /// Splits off the sets from number `set` on. The sets before must be [sealed](Self::seal).
    pub(super) fn split_off(&mut self, set: usize) -> Result<Self> {
        let at = self.range(set).start;
        let mut right = Self::default();
        let block = self.blocks.partition_point(|block| block.first < at);
        memory::append(&mut right.blocks, self.blocks.drain(block..), DOING)?;
        right.blocks.iter_mut().for_each(|block| block.first -= at);
        let from = set.min(self.ends.len());
        memory::append(&mut right.ends, self.ends.drain(from..).map(|end| end - at), DOING)?;
        Ok(right)
    }

    /// Returns the number of bytes on the heap.
    pub(super) fn bytes(&self) -> usize {
        let of_block = |block: &TokenBlock| {
            memory::bytes(&block.tokens) + memory::bytes(&block.starts) + memory::bytes(&block.partitions)
        };
        memory::bytes(&self.ends)
            + memory::bytes(&self.blocks)
            + self.blocks.iter().map(of_block).sum::<usize>()
    }
}

impl TokenBlock {
    /// Returns the number of tokens of this block and those before.
    fn end(&self) -> usize {
        self.first + self.tokens.len()
    }

    /// Orders the tokens by partition, which so many bits tell, at least 1. The sets have these
    /// ends among all tokens. After an error, everything is as it was before. O(n) for n tokens.
    pub(super) fn order(&mut self, ends: &[usize], bits: u32, stop: &Stop) -> Result<()> {
        let Self { tokens: hashes, first, .. } = self;
        let mut starts = memory::filled(0u32, (1 << bits) + 1, DOING)?;
        let mut partitions = Vec::new();
        memory::reserve(&mut partitions, hashes.len(), DOING)?;
        for hashes in hashes.chunks(CHECK_EVERY) {
            stop.check()?;
            stop.work(hashes.len());
            let before = partitions.len();
            partitions.extend(hashes.iter().map(|&hash| partition_of(hash, bits) as u16));
            partitions[before..].iter().for_each(|&partition| starts[usize::from(partition) + 1] += 1);
        }
        (1..starts.len()).for_each(|n| starts[n] += starts[n - 1]);
        let mut next = memory::collect(starts.iter().copied(), DOING)?;
        let mut tokens = memory::zeroed(hashes.len(), DOING)?;
        let mut from = 0;
        for end in ends.iter().map(|end| end - *first) {
            let mut before = None;
            for n in from..end {
                stop.check_every(n + 1, CHECK_EVERY)?;
                let (hash, next) = (hashes[n], &mut next[usize::from(partitions[n])]);
                let repeats = before.replace(hash) == Some(hash);
                tokens[*next as usize] = hash << bits | u64::from(repeats);
                *next += 1;
            }
            from = end;
        }
        (self.tokens, self.starts, self.partitions) = (tokens, starts, partitions);
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
    /// Goes on behind the tokens of set `n`, which is the next one, and returns the partition of
    /// each and what the block has of it. All blocks must be ordered.
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

    /// Goes to the block of set `n`. Returns the partitions of its tokens, and the tokens of its
    /// block.
    fn find<'t>(&mut self, tokens: &'t TokenBlocks, n: usize) -> Result<(&'t [u16], &'t [u64])> {
        const TOKENS_A_LINE: usize = 8;
        let range = tokens.range(n);
        if range.is_empty() {
            return Ok((&[], &[]));
        }
        let is_new = self.next.is_empty();
        let later = tokens.blocks[self.block..].iter().take_while(|block| block.end() <= range.start).count();
        self.block += later;
        let block = &tokens.blocks[self.block];
        if is_new || later > 0 {
            memory::refill(&mut self.next, block.starts.iter().copied(), DOING)?;
            // Its tokens are read in the order of the sets: at random places.
            (0..block.tokens.len()).step_by(TOKENS_A_LINE).for_each(|at| prefetch(&block.tokens, at));
        }
        Ok((&block.partitions[range.start - block.first..range.end - block.first], &block.tokens))
    }
}
