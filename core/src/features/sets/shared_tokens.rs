//! Tokens that were counted in files, and may be shared: the sets find their ranks again.

use std::ops::Range;

use super::counting_files::{CountedFiles, CountingFiles, TokenTrees};
use super::equal_tokens::take_ranks;
use super::set_weights::SetWeights;
use super::token_files::{END, PARTS, TokenFiles, WRITE};
use super::token_tree::{LogCursor, TokenTree};
use crate::error::Result;
use crate::executor::{self, Executor};
use crate::features::dictionary::by_content::Weigher;
use crate::features::dictionary::rank::{LONE, OtherTokens};
use crate::features::dictionary::weights::TokenWeights;
use crate::memory;
use crate::storage::files::TempFiles;
use crate::storage::log::Log;

const DOING: &str = "reading ranks of tokens";
/// The number of records between two checks for interrupts.
const PIECE: usize = 1 << 14;

/// The tokens that can be shared, with their sets.
pub(super) struct SharedTokens<'a> {
    files: &'a dyn TempFiles,
    trees: TokenTrees,
    places: Log<u32>,
    leaves: Vec<(u64, usize)>,
    /// The frequencies and the weights of the distinct tokens.
    counts: (Log<u32>, Log<u16>),
    /// The frequencies by which they are ranked.
    pub(super) frequencies: OtherTokens,
    /// The number of distinct tokens, shared or not.
    pub(super) distinct: u64,
    order: Log<u8>,
    cursor: LogCursor<u8>,
    /// The values of the tokens that are being read.
    values: Log<u32>,
    /// The number of the next set, and of the first one.
    next: u32,
    first: u32,
    taken: Vec<SetRank>,
}

/// The rank of a token of a set.
#[derive(Debug, Clone, Copy)]
pub(super) struct SetRank {
    pub(super) set: u32,
    pub(super) rank: u32,
}

impl<'a> SharedTokens<'a> {
    /// Counts the tokens, with about `budget` bytes.
    pub(super) fn new(
        tokens: TokenFiles<'a>,
        two_tables: bool,
        weigher: Option<&Weigher<'_>>,
        budget: usize,
        executor: &dyn Executor,
    ) -> Result<Self> {
        let TokenFiles { files, words, numbers, order, first } = tokens;
        let counting = CountingFiles::new(files, two_tables, weigher, budget, executor);
        let (trees, counted) = counting.count(words, numbers)?;
        let CountedFiles { places, leaves, frequencies, weights, others, distinct } = counted;
        Ok(Self {
            files,
            trees,
            places,
            leaves,
            counts: (frequencies, weights),
            frequencies: others,
            distinct,
            order,
            cursor: LogCursor::default(),
            values: Log::default(),
            next: first,
            first,
            taken: Vec::new(),
        })
    }

    /// Adds the weights of the tokens to those of their sets, of which there are so many.
    pub(super) fn weigh_sets(
        &mut self,
        sets: u32,
        of_sets: &SetWeights,
        budget: usize,
        executor: &dyn Executor,
    ) -> Result<()> {
        self.read_values(budget, executor, |counts, range, _| {
            let mut weights = Vec::new();
            counts.1.append(range.start, (range.end - range.start) as usize, &mut weights)?;
            memory::collect(weights.into_iter().map(u32::from), DOING)
        })?;
        while self.next < sets {
            let end = sets.min(self.next.saturating_add(1 << 10));
            self.take_until(end, executor)?.iter().for_each(|of| of_sets.add(of.set, of.rank.into()));
        }
        Ok(())
    }

    /// Prepares to read ranks by set, and says what the ranks weigh. Ranks must have been given to
    /// the frequencies. About `budget` bytes are in memory at a time.
    pub(super) fn read_ranks(
        &mut self,
        of_ranks: &mut TokenWeights,
        budget: usize,
        executor: &dyn Executor,
    ) -> Result<()> {
        self.read_values(budget, executor, |(frequencies, weights), range, others| {
            let (mut ranks, mut weighs) = (Vec::new(), Vec::new());
            let length = (range.end - range.start) as usize;
            frequencies.append(range.start, length, &mut ranks)?;
            if weights.len() > 0 {
                weights.append(range.start, length, &mut weighs)?;
            }
            take_ranks(&mut ranks, &weighs, others, || LONE, of_ranks);
            Ok(ranks)
        })?;
        // Ranks are values that stay.
        self.places = Log::default();
        Ok(())
    }

    /// Writes a value for each token, in their order, and goes to the first set. `of` returns the
    /// values of the distinct tokens in a range.
    fn read_values(
        &mut self,
        budget: usize,
        executor: &dyn Executor,
        mut of: impl FnMut(&mut (Log<u32>, Log<u16>), Range<u64>, &mut OtherTokens) -> Result<Vec<u32>>,
    ) -> Result<()> {
        let mut values = Log::new(WRITE);
        let (mut at, mut from) = (0, 0);
        let mut piece = Vec::new();
        for &(tokens, distinct) in &self.leaves {
            let range = from..from + distinct as u64;
            from = range.end;
            let of = of(&mut self.counts, range, &mut self.frequencies)?;
            let end = at + tokens;
            while at < end {
                executor.check_interrupts()?;
                let length = (end - at).min(PIECE as u64) as usize;
                piece.clear();
                self.places.append(at, length, &mut piece)?;
                piece.iter_mut().for_each(|place| *place = of.get(*place as usize).copied().unwrap_or(LONE));
                values.extend(&piece, self.files)?;
                at += length as u64;
            }
        }
        self.values = values;
        let count = self.trees.0.iter().map(TokenTree::count).sum::<usize>()
            + self.trees.1.iter().map(TokenTree::count).sum::<usize>();
        let piece = (budget / 4 / count.max(1) / size_of::<u64>()).clamp(1 << 6, PIECE);
        self.trees.0.iter_mut().for_each(|tree| tree.rewind(piece));
        self.trees.1.iter_mut().for_each(|tree| tree.rewind(piece));
        self.cursor = LogCursor::new(0..self.order.len(), PIECE);
        self.next = self.first;
        Ok(())
    }

    /// Takes the ranks of the sets before `end` that are not taken yet, by set.
    pub(super) fn take_until(&mut self, end: u32, executor: &dyn Executor) -> Result<&[SetRank]> {
        self.taken.clear();
        while self.next < end {
            executor::breathe(executor, self.taken.len(), PIECE)?;
            let rank = match self.cursor.next(&mut self.order)? {
                END => {
                    self.next += 1;
                    continue;
                }
                part => match self.trees.0.get_mut(part as usize) {
                    Some(words) => words.next(&mut self.values)?,
                    None => self.trees.1[part as usize - PARTS].next(&mut self.values)?,
                },
            };
            if rank != LONE {
                memory::push(&mut self.taken, SetRank { set: self.next, rank }, DOING)?;
            }
        }
        Ok(&self.taken)
    }
}
