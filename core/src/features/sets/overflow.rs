//! Tokens that a full dictionary has no number for, in temporary files.
//!
//! Once the dictionary takes its share of the memory it is frozen: it numbers no further tokens. A
//! token that it does not have goes to a file with the number of its set. At the end equal tokens
//! are brought together, part by part of their hashes, and counted. So sets can have any number of
//! distinct tokens in any memory.
//!
//! A short string or a number is compared whole, a longer string by a hash of 128 bits.

use bytemuck::{Pod, Zeroable};

use super::set_weights::SetWeights;
use crate::error::Result;
use crate::executor::{self, Executor};
use crate::features::dictionary::by_content::{Weigher, of_long};
use crate::features::dictionary::lookup::{ContentKind, Lookup, long_bytes};
use crate::features::dictionary::rank::OtherTokens;
use crate::features::dictionary::weights::TokenWeights;
use crate::hash;
use crate::memory;
use crate::storage::files::TempFiles;
use crate::storage::log::Log;
use crate::storage::sort::{Sorted, Sorter, both, order_by_key};

const DOING: &str = "spilling tokens";

/// A token of a set that the dictionary has no number for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Pod, Zeroable)]
#[repr(C)]
pub(super) struct OverflowToken {
    /// The content of a short string or a number, or a hash of a long string.
    content: [u64; 2],
    /// The kind of the content in the lowest two bits, and above them, if repeats count, the number
    /// of earlier occurrences in the document.
    tag: u32,
    /// The number of the set.
    pub(super) set: u32,
}

impl OverflowToken {
    /// Takes a token that was looked up; `long` has the long strings. The number of its set is
    /// given later.
    pub(super) fn new(lookup: &Lookup, long: &[u8]) -> Self {
        let content = match lookup.kind {
            ContentKind::Long => of_long(long_bytes(long, lookup.content)),
            _ => lookup.content,
        };
        Self { content, tag: lookup.kind as u32, set: 0 }
    }

    /// Takes the number of this hash, which its document has so many times before. The number of
    /// its set is given later.
    pub(super) fn of_hash(hash: u64, before: u32) -> Self {
        let tag = ContentKind::Number as u32 | before << KIND_BITS;
        Self { content: [hash::unmix(hash), 0], tag, set: 0 }
    }

    /// Returns a hash of the token.
    fn hash(&self) -> u64 {
        hash::mix(self.content[0] ^ hash::mix(self.content[1] ^ u64::from(self.tag)))
    }

    /// Returns a hash that all occurrences of the token have.
    fn hash_of_all(&self) -> u64 {
        Self { tag: self.kind() as u32, ..*self }.hash()
    }

    fn kind(&self) -> ContentKind {
        match self.tag & ((1 << KIND_BITS) - 1) {
            tag if tag == ContentKind::Short as u32 => ContentKind::Short,
            tag if tag == ContentKind::Long as u32 => ContentKind::Long,
            _ => ContentKind::Number,
        }
    }

    fn is_like(&self, other: &Self) -> bool {
        (self.content, self.tag) == (other.content, other.tag)
    }
}

/// Makes the tokens from `from` on, which are those of one document, distinct: repeats are removed
/// or, if they count, become tokens of their own. Gives them the number of their set. Returns the
/// sum of their hashes.
pub(super) fn settle_document(
    tokens: &mut Vec<OverflowToken>,
    from: usize,
    set: u32,
    repeats_count: bool,
) -> u64 {
    let own = &mut tokens[from..];
    own.sort_unstable();
    let mut kept = 0;
    let mut repeats = 0;
    for n in 0..own.len() {
        repeats = if n > 0 && own[n].is_like(&own[n - 1]) { repeats + 1 } else { 0 };
        if repeats > 0 && !repeats_count {
            continue;
        }
        // The tag stays as it is for now: tokens are compared by it.
        own[kept] = OverflowToken { set: repeats, ..own[n] };
        kept += 1;
    }
    tokens.truncate(from + kept);
    let mut hashes = 0u64;
    for token in &mut tokens[from..] {
        let repeats = std::mem::replace(&mut token.set, set);
        token.tag |= repeats << KIND_BITS;
        hashes = hashes.wrapping_add(token.hash());
    }
    hashes
}

/// The number of bits of [`OverflowToken::tag`] that have the kind.
const KIND_BITS: u32 = 2;

/// The number of bits of a hash that choose among the files.
const PART_BITS: u32 = 6;
/// The number of tokens that are written at one time. In tests it is so small that parts are split.
const PIECE: usize = if cfg!(test) { 2 } else { 1 << 10 };

/// Tokens with hashes of some range.
type TokenPart = Log<OverflowToken>;

/// Returns a part for each value of some bits of the hash.
fn parts() -> Vec<TokenPart> {
    (0..1 << PART_BITS).map(|_| TokenPart::new(PIECE * size_of::<OverflowToken>())).collect()
}

fn part_of(token: &OverflowToken, depth: u32) -> usize {
    (token.hash_of_all() >> (64 - PART_BITS * (depth + 1))) as usize & ((1 << PART_BITS) - 1)
}

/// The tokens of all sets, in files.
pub(super) struct Overflow<'a> {
    files: &'a dyn TempFiles,
    parts: Vec<TokenPart>,
    /// The first set of the right table.
    right_from: u32,
}

impl<'a> Overflow<'a> {
    /// Creates files without tokens.
    pub(super) fn new(files: &'a dyn TempFiles) -> Self {
        Self { files, parts: parts(), right_from: u32::MAX }
    }

    /// Adds a token of the set with this number; sets come in ascending order.
    pub(super) fn push(&mut self, token: OverflowToken, set: u32, is_right: bool) -> Result<()> {
        if is_right {
            self.right_from = self.right_from.min(set);
        }
        self.parts[part_of(&token, 0)].push(OverflowToken { set, ..token }, self.files)
    }

    /// Counts the tokens, with about `budget` bytes. O(n log n) for n tokens. If tokens weigh, adds
    /// their weights to those of their sets.
    pub(super) fn count(
        self,
        two_tables: bool,
        weighing: Option<(&Weigher<'_>, &SetWeights)>,
        budget: usize,
        executor: &dyn Executor,
    ) -> Result<SharedTokens<'a>> {
        let Self { files, parts, right_from } = self;
        let most = (budget / 2 / executor.count().max(1) / size_of::<OverflowToken>()).max(PIECE);
        let mut shared = SharedTokens::new(files, two_tables.then_some(right_from));
        let mut todo: Vec<(TokenPart, u32)> = Vec::new();
        for part in parts.into_iter().rev() {
            memory::push(&mut todo, (part, 0), DOING)?;
        }
        let mut counting: Vec<OverflowCounting> = Vec::new();
        while let Some((mut part, depth)) = todo.pop() {
            // Splitting does not help if the tokens are all equal, so it ends at some depth.
            if part.len() > most as u64 && depth < MOST_DEPTH {
                let smaller = split(part, depth + 1, files, executor, most)?;
                todo.extend(smaller.into_iter().rev().map(|part| (part, depth + 1)));
                continue;
            }
            let mut tokens = Vec::new();
            part.append(0, part.len() as usize, &mut tokens)?;
            counting.push(OverflowCounting { tokens, ..OverflowCounting::default() });
            if counting.len() >= executor.count() {
                shared.take(&mut counting, weighing, executor)?;
            }
        }
        shared.take(&mut counting, weighing, executor)?;
        Ok(shared)
    }
}

/// The number of times that a part is split again.
const MOST_DEPTH: u32 = 4;

/// Splits a part by the next bits of the hash.
fn split(
    mut part: TokenPart,
    depth: u32,
    files: &dyn TempFiles,
    executor: &dyn Executor,
    most: usize,
) -> Result<Vec<TokenPart>> {
    let mut smaller = parts();
    part.for_each(most, executor, |tokens| {
        tokens.iter().try_for_each(|&token| smaller[part_of(&token, depth)].push(token, files))
    })?;
    Ok(smaller)
}

/// Tokens of a part that are being counted.
#[derive(Default)]
struct OverflowCounting {
    tokens: Vec<OverflowToken>,
    /// The shared tokens, as [`SharedTokens::words`] has them.
    words: Vec<u32>,
    distinct: u64,
    /// The last content of each kind, and what it weighs.
    last: [([u64; 2], u16); 1 << KIND_BITS],
    /// The number of tokens that are done.
    done: usize,
}

impl OverflowCounting {
    /// Sorts the tokens and finds those that can be shared. After a stop, the next call goes on.
    fn count(
        &mut self,
        right_from: Option<u32>,
        weighing: Option<(&Weigher<'_>, &SetWeights)>,
        stop: &executor::Stop,
    ) -> Result<()> {
        if self.done == 0 {
            executor::sort_unstable_by(&mut self.tokens, stop, &Ord::cmp)?;
        }
        while self.done < self.tokens.len() {
            stop.check()?;
            let rest = &self.tokens[self.done..];
            let sets = rest.iter().take_while(|token| token.is_like(&rest[0])).count();
            // Sets are in ascending order, those of the right table last.
            let shared = match right_from {
                Some(from) => rest[0].set < from && rest[sets - 1].set >= from,
                None => sets > 1,
            };
            if shared {
                memory::reserve(&mut self.words, sets + 2, DOING)?;
            }
            let mut weight = 1;
            if let Some((weigher, of_sets)) = weighing {
                // Further occurrences follow the first one, perhaps among those of another kind.
                let OverflowToken { content, tag, .. } = rest[0];
                let last = &mut self.last[tag as usize & ((1 << KIND_BITS) - 1)];
                if tag >> KIND_BITS == 0 {
                    *last = (content, weigher.weigh(rest[0].kind(), content, sets as u64));
                }
                weight = last.1;
                rest[..sets].iter().for_each(|token| of_sets.add(token.set, weight.into()));
            }
            if shared {
                self.words.extend([sets as u32, weight.into()]);
                self.words.extend(rest[..sets].iter().map(|token| token.set));
            }
            self.distinct += 1;
            self.done += sets;
        }
        self.tokens = Vec::new();
        Ok(())
    }
}

/// The tokens that can be shared, with their sets.
pub(super) struct SharedTokens<'a> {
    files: &'a dyn TempFiles,
    /// The first set of the right table, if there are two tables.
    right_from: Option<u32>,
    /// For each token the number of its sets, its weight, and the sets.
    words: Log<u32>,
    /// The frequencies of the tokens, by which they are ranked.
    pub(super) frequencies: OtherTokens,
    /// The number of distinct tokens, shared or not.
    pub(super) distinct: u64,
}

impl<'a> SharedTokens<'a> {
    fn new(files: &'a dyn TempFiles, right_from: Option<u32>) -> Self {
        let (words, frequencies) = (Log::default(), OtherTokens::default());
        Self { files, right_from, words, frequencies, distinct: 0 }
    }

    /// Counts the tokens of some parts.
    fn take(
        &mut self,
        counting: &mut Vec<OverflowCounting>,
        weighing: Option<(&Weigher<'_>, &SetWeights)>,
        executor: &dyn Executor,
    ) -> Result<()> {
        let right_from = self.right_from;
        executor::each(executor, counting, |counting, stop| counting.count(right_from, weighing, stop))?;
        for OverflowCounting { words, distinct, .. } in counting.drain(..) {
            self.distinct += distinct;
            let mut at = 0;
            while let Some(&sets) = words.get(at) {
                self.frequencies.add(sets)?;
                at += 2 + sets as usize;
            }
            self.words.extend(&words, self.files)?;
        }
        executor.check_interrupts()
    }

    /// Returns the ranks of these tokens by set, and says what the ranks weigh. Ranks must have
    /// been given to the frequencies. About `budget` bytes are in memory at a time.
    pub(super) fn by_set(
        mut self,
        weights: &mut TokenWeights,
        budget: usize,
        executor: &dyn Executor,
    ) -> Result<OverflowRanks> {
        const READ: usize = 1 << 16;
        let mut ranks = Sorter::new(self.files, budget / 4);
        // The rank of the token whose sets are being read, the number of sets left, and whether its
        // weight comes before them.
        let (mut rank, mut left, mut begins) = (0, 0, false);
        let frequencies = &mut self.frequencies;
        self.words.for_each(READ, executor, |words| {
            for &word in words {
                if std::mem::take(&mut begins) {
                    // It was written as a weight of 16 bits.
                    weights.set(rank, word as u16);
                } else if left == 0 {
                    (rank, left, begins) = (frequencies.next_rank(word), word, true);
                } else {
                    ranks.push(SetRank { set: word, rank }, executor)?;
                    left -= 1;
                }
            }
            Ok(())
        })?;
        OverflowRanks::new(ranks, executor)
    }
}

/// The rank of a token of a set.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Pod, Zeroable)]
#[repr(C)]
pub(super) struct SetRank {
    pub(super) set: u32,
    pub(super) rank: u32,
}

order_by_key!(SetRank, |of| both(of.set, of.rank));

/// The ranks of all sets, by set.
pub(super) struct OverflowRanks {
    ranks: Sorted<SetRank>,
    /// The first rank that is not taken yet.
    next: Option<SetRank>,
    /// The ranks that were taken last.
    taken: Vec<SetRank>,
}

impl OverflowRanks {
    /// Sorts the ranks.
    pub(super) fn new(ranks: Sorter<'_, SetRank>, executor: &dyn Executor) -> Result<Self> {
        let mut ranks = ranks.sorted(executor)?;
        let next = ranks.next(executor)?;
        Ok(Self { ranks, next, taken: Vec::new() })
    }

    /// Takes the ranks of the sets before `end` that are not taken yet, by set.
    pub(super) fn take_until(&mut self, end: u32, executor: &dyn Executor) -> Result<&[SetRank]> {
        self.taken.clear();
        while let Some(rank) = self.next.filter(|rank| rank.set < end) {
            memory::push(&mut self.taken, rank, "reading ranks of tokens")?;
            self.next = self.ranks.next(executor)?;
        }
        Ok(&self.taken)
    }
}

#[cfg(test)]
mod tests;
