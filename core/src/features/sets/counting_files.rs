//! Counts the tokens that are in files: part by part, each in memory.

use super::equal_tokens::{EqualTokens, NO_PLACE, TokenTable, add_frequencies};
use super::overflow::OverflowToken;
use super::token_files::{FileToken, PART_BITS, TokenPart};
use super::token_tree::{HashDigit, LogCursor, TokenTree};
use crate::error::Result;
use crate::executor::{self, Executor, Stop};
use crate::features::dictionary::by_content::Weigher;
use crate::features::dictionary::rank::OtherTokens;
use crate::memory;
use crate::radix::sort_by_bits;
use crate::storage::files::TempFiles;
use crate::storage::log::Log;

const DOING: &str = "spilling tokens";

/// The least number of tokens that are counted at a time.
const LEAST: u64 = if cfg!(test) { 2 } else { 1 << 15 };
/// The greatest number of tokens of a range on average, of which each has room in a cache.
const TOKENS_A_RANGE: usize = if cfg!(test) { 4 } else { 1 << 15 };
/// The number of bits of a hash that choose among the parts of a part, all together.
const SPLIT_BITS: u32 = 24;
/// The number of records between two checks for interrupts.
const PIECE: usize = 1 << 14;

/// The parts of the tokens of a full dictionary, and of those that are numbers.
pub(super) type TokenTrees = (Vec<TokenTree<OverflowToken>>, Vec<TokenTree<u64>>);

/// What was counted, part after part.
#[derive(Default)]
pub(super) struct CountedFiles {
    /// For each token, its place among those of its part.
    pub(super) places: Log<u32>,
    /// The number of tokens of each part, and the number of its distinct ones that have places.
    pub(super) leaves: Vec<(u64, usize)>,
    /// The frequency of each of them, and what it weighs.
    pub(super) frequencies: Log<u32>,
    pub(super) weights: Log<u16>,
    /// The frequencies by which they are ranked.
    pub(super) others: OtherTokens,
    pub(super) distinct: u64,
}

pub(super) struct CountingFiles<'a, 'w> {
    files: &'a dyn TempFiles,
    two_tables: bool,
    weigher: Option<&'w Weigher<'w>>,
    budget: usize,
    executor: &'w dyn Executor,
    /// The number of tokens of the parts before.
    next: u64,
    counted: CountedFiles,
}

/// The tokens of a part that a thread counts.
struct LoadedPart<T> {
    part: usize,
    right_from: usize,
    tokens: Vec<(T, u32)>,
    places: Vec<u32>,
    counted: EqualTokens,
}

impl<T: FileToken> LoadedPart<T> {
    /// Counts the tokens, range by range of hashes, so that each range has room in a processor's
    /// cache.
    fn count(
        &mut self,
        two_tables: bool,
        weigh: Option<&impl Fn(&T, u64) -> u16>,
        stop: &Stop,
    ) -> Result<()> {
        let Self { right_from, tokens, places, .. } = self;
        let key = |token: &(T, u32)| token.0.sort_key();
        // The first bits are the same in all of them, and the last one does not count.
        let first = tokens.first().map_or(0, key);
        let differ = tokens.iter().fold(0, |differ, token| differ | (key(token) ^ first));
        let telling = (u64::BITS - differ.leading_zeros()).saturating_sub(1);
        let bits = (usize::BITS - (tokens.len() / TOKENS_A_RANGE).leading_zeros()).min(telling);
        let from = telling + 1 - bits;
        // Equal tokens stay in the order of the sets.
        sort_by_bits(tokens, &mut Vec::new(), from, bits, stop, DOING, key)?;
        let range = |token: &(T, u32)| key(token).checked_shr(from).unwrap_or(0);
        let (mut table, mut own, mut counted) = (TokenTable::new()?, Vec::new(), EqualTokens::default());
        for tokens in tokens.chunk_by(|a, b| range(a) == range(b)) {
            own.clear();
            table.clear(tokens.len());
            for &(token, number) in tokens {
                stop.check_every(own.len() + 1, TokenTable::<T>::CHECK_EVERY)?;
                memory::push(&mut own, table.add(token, number as usize >= *right_from)?, DOING)?;
            }
            let before = counted.append(table.counted(two_tables, weigh, stop)?)?;
            table.places(&mut own, stop)?;
            for (&(_, number), &place) in tokens.iter().zip(&own) {
                places[number as usize] = if place == NO_PLACE { NO_PLACE } else { before + place };
            }
        }
        self.counted = counted;
        Ok(())
    }
}

impl<'a, 'w> CountingFiles<'a, 'w> {
    /// Prepares to count tokens with about `budget` bytes.
    pub(super) fn new(
        files: &'a dyn TempFiles,
        two_tables: bool,
        weigher: Option<&'w Weigher<'w>>,
        budget: usize,
        executor: &'w dyn Executor,
    ) -> Self {
        Self { files, two_tables, weigher, budget, executor, next: 0, counted: CountedFiles::default() }
    }

    /// Counts the tokens of all parts. O(n) for n tokens.
    pub(super) fn count(
        mut self,
        words: Vec<TokenPart<OverflowToken>>,
        numbers: Vec<TokenPart<u64>>,
    ) -> Result<(TokenTrees, CountedFiles)> {
        Ok(((self.all(words)?, self.all(numbers)?), self.counted))
    }

    /// Returns the greatest number of tokens that are counted at a time by a thread.
    fn most<T: FileToken>(&self) -> u64 {
        let each = 2 * size_of::<(T, u32)>() + 3 * size_of::<u32>();
        ((self.budget / self.executor.count().max(1) / each) as u64).max(LEAST)
    }

    /// Counts the tokens of some parts.
    fn all<T: FileToken>(&mut self, parts: Vec<TokenPart<T>>) -> Result<Vec<TokenTree<T>>> {
        let (mut trees, mut counting) = (Vec::new(), Vec::new());
        for (number, part) in parts.into_iter().enumerate() {
            memory::push(&mut trees, self.tree(number, part, 0, &mut counting)?, DOING)?;
        }
        self.together(&mut counting)?;
        Ok(trees)
    }

    /// Counts the tokens of a part; splits it first as long as it has no room in memory.
    fn tree<T: FileToken>(
        &mut self,
        number: usize,
        mut part: TokenPart<T>,
        above: u32,
        counting: &mut Vec<LoadedPart<T>>,
    ) -> Result<TokenTree<T>> {
        let (length, most) = (part.tokens.len(), self.most::<T>());
        // Splitting does not help if the tokens are all equal, so it ends at some depth.
        if length <= most || above == SPLIT_BITS {
            let range = self.next..self.next + length;
            self.next = range.end;
            if length > most {
                self.together(counting)?;
                self.one_by_one(number, part)?;
            } else {
                counting.push(self.read(number, part)?);
                if counting.len() >= self.executor.count() {
                    self.together(counting)?;
                }
            }
            return Ok(TokenTree::Leaf(range, LogCursor::default()));
        }
        let needed = u64::BITS - (length / most).leading_zeros();
        let digit = HashDigit { above, bits: needed.min(PART_BITS).min(SPLIT_BITS - above) };
        let (mut smaller, mut n) = (TokenPart::some(1 << digit.bits), 0);
        let right_from = part.right_from;
        part.tokens.for_each(PIECE, self.executor, |tokens| {
            for token in tokens {
                smaller[digit.part(token)].push(*token, n >= right_from, self.files)?;
                n += 1;
            }
            Ok(())
        })?;
        part.tokens.spill(self.files)?;
        let mut parts = Vec::new();
        for part in smaller {
            memory::push(&mut parts, self.tree(number, part, above + digit.bits, counting)?, DOING)?;
        }
        Ok(TokenTree::Split { tokens: part.tokens, cursor: LogCursor::new(0..0, 0), digit, parts })
    }

    /// Reads the tokens of a part.
    fn read<T: FileToken>(&self, number: usize, mut part: TokenPart<T>) -> Result<LoadedPart<T>> {
        let mut tokens: Vec<(T, u32)> = Vec::new();
        memory::reserve(&mut tokens, part.tokens.len() as usize, DOING)?;
        part.tokens.for_each(PIECE, self.executor, |piece| {
            let first = tokens.len() as u32;
            tokens.extend(piece.iter().copied().zip(first..));
            Ok(())
        })?;
        let right_from = part.right_from.min(tokens.len() as u64) as usize;
        let places = memory::filled(0, tokens.len(), DOING)?;
        Ok(LoadedPart { part: number, right_from, tokens, places, counted: EqualTokens::default() })
    }

    /// Counts the tokens of some parts, each in a thread.
    fn together<T: FileToken>(&mut self, counting: &mut Vec<LoadedPart<T>>) -> Result<()> {
        let (two_tables, weigher) = (self.two_tables, self.weigher);
        executor::each(self.executor, counting, |part, stop| {
            let weigh = weigher.map(|weigher| weight_of(weigher, part.part));
            part.count(two_tables, weigh.as_ref(), stop)?;
            part.tokens = Vec::new();
            Ok(())
        })?;
        for LoadedPart { places, counted, .. } in counting.drain(..) {
            self.counted.places.extend(&places, self.files)?;
            self.add(&counted, places.len() as u64)?;
        }
        self.executor.check_interrupts()
    }

    /// Counts the tokens of a part, of which so few are distinct that all others have the same hash
    /// as one of them.
    fn one_by_one<T: FileToken>(&mut self, number: usize, part: TokenPart<T>) -> Result<()> {
        let TokenPart { mut tokens, right_from } = part;
        let (mut table, mut n) = (TokenTable::new()?, 0);
        tokens.for_each(PIECE, self.executor, |piece| {
            for &token in piece {
                table.add(token, n >= right_from)?;
                n += 1;
            }
            Ok(())
        })?;
        let weigh = self.weigher.map(|weigher| weight_of(weigher, number));
        let mut made = (table, EqualTokens::default());
        let two_tables = self.two_tables;
        executor::one(self.executor, &mut made, |(table, counted), stop| {
            *counted = table.counted(two_tables, weigh.as_ref(), stop)?;
            Ok(())
        })?;
        let (mut table, counted) = made;
        // The same tokens have the same entries again.
        tokens.for_each(PIECE, self.executor, |piece| {
            for &token in piece {
                let entry = table.add(token, false)?;
                self.counted.places.push(table.place(entry), self.files)?;
            }
            Ok(())
        })?;
        self.add(&counted, tokens.len())
    }

    /// Keeps what was counted of a part that has so many tokens.
    fn add(&mut self, counted: &EqualTokens, tokens: u64) -> Result<()> {
        let all = &mut self.counted;
        all.distinct += counted.distinct as u64;
        memory::push(&mut all.leaves, (tokens, counted.ranks.len()), DOING)?;
        add_frequencies(&counted.ranks, &mut all.others)?;
        all.frequencies.extend(&counted.ranks, self.files)?;
        all.weights.extend(&counted.weights, self.files)
    }
}

/// Returns a function of a token of a part, and of the number of documents that have it.
fn weight_of<T: FileToken>(weigher: &Weigher<'_>, part: usize) -> impl Fn(&T, u64) -> u16 {
    move |token, having| {
        let (kind, content) = token.content(part);
        weigher.weigh(kind, content, having)
    }
}
