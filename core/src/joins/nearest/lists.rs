//! The records of every token, with all of their tokens and not only with a prefix: how long a
//! prefix is needed turns out during the search.
//!
//! The frequent tokens have columns as well: which records have each of them, a bit for each
//! record. The list of a frequent token holds so large a share of all records that an instruction
//! for some hundred records takes less time.

use crate::allowance;
use crate::error::Result;
use crate::executor::{self, Executor};
use crate::features::sets::records::Records;
use crate::memory;
use crate::simd::columns::{BitColumn, RECORDS};
use crate::storage::rows::Ragged;

const DOING: &str = "listing the records of tokens";

/// Lists for each token the records that have it, smallest record first. Tokens have numbers below
/// `tokens`. O(tokens of all records).
pub fn token_lists(records: &Records, tokens: usize, executor: &dyn Executor) -> Result<Ragged<u32>> {
    // Until the lists are filled, the start of each is at the index of its token plus 1.
    let mut starts = memory::filled(0usize, tokens + 2, DOING)?;
    each_record(records, executor, |_, tokens| {
        tokens.iter().for_each(|&token| starts[token as usize + 2] += 1);
    })?;
    (1..starts.len()).for_each(|token| starts[token] += starts[token - 1]);
    let mut lists = memory::zeroed(starts[tokens + 1], DOING)?;
    each_record(records, executor, |record, tokens| {
        for &token in tokens {
            let next = &mut starts[token as usize + 1];
            lists[*next] = record;
            *next += 1;
        }
    })?;
    starts.pop();
    Ok(Ragged::new(lists, starts))
}

/// Calls `work` with each record and its tokens, in order.
fn each_record(
    records: &Records,
    executor: &dyn Executor,
    work: impl FnMut(u32, &[u32]) + Send,
) -> Result<()> {
    const AHEAD: usize = 8;
    executor::one(executor, &mut (0, work), |(next, work), stop| {
        while *next < records.len() {
            stop.check()?;
            records.prefetch(*next + AHEAD, 1);
            // Records are numbered with 32 bits.
            work(*next as u32, records.tokens(*next));
            *next += 1;
        }
        Ok(())
    })
}

/// The columns of all blocks of [`RECORDS`] records. Those of a block are contiguous, because many
/// records in turn are compared with a block.
#[derive(Debug)]
pub struct Frequent {
    /// The first token that has columns. All later tokens, which are more frequent, have some, too.
    first: usize,
    /// The number of these tokens.
    count: usize,
    columns: Vec<BitColumn>,
}

impl Frequent {
    /// Makes the columns. So many `records` of a column take as long as an entry of a list.
    /// O(records + their frequent tokens).
    pub fn new(
        records: &Records,
        lists: &Ragged<u32>,
        tokens: usize,
        records_of_an_entry: usize,
        executor: &dyn Executor,
    ) -> Result<Self> {
        const BLOCKS: usize = 4;
        let blocks = records.len().div_ceil(RECORDS);
        let count = count(records.len(), lists, tokens, records_of_an_entry);
        let first = tokens - count;
        let mut columns: Vec<BitColumn> =
            memory::zeroed(blocks * count, "preparing the search for the nearest")?;
        let mut pieces: Vec<_> = columns.chunks_mut((BLOCKS * count).max(1)).enumerate().collect();
        executor::each(executor, &mut pieces, |(piece, columns), stop| {
            let from = *piece * BLOCKS * RECORDS;
            for record in from..records.len().min(from + BLOCKS * RECORDS) {
                stop.check()?;
                records.prefetch(record + 8, usize::MAX);
                let (block, place) = ((record - from) / RECORDS, record % RECORDS);
                let tokens = records.tokens(record);
                for &token in &tokens[tokens.partition_point(|&token| (token as usize) < first)..] {
                    let column = &mut columns[block * count + token as usize - first];
                    column.0[place / 64] |= 1 << (place % 64);
                }
            }
            Ok(())
        })?;
        Ok(Self { first, count, columns })
    }

    /// Returns how many tokens of a record have no columns. They come first.
    pub fn rare(&self, tokens: &[u32]) -> usize {
        tokens.partition_point(|&token| (token as usize) < self.first)
    }

    /// Returns the number of a token's column in each block.
    #[inline]
    pub fn number(&self, token: u32) -> u32 {
        token - self.first as u32
    }

    /// Returns the columns of a block.
    #[inline]
    pub fn block(&self, block: usize) -> &[BitColumn] {
        &self.columns[block * self.count..][..self.count]
    }

    /// Returns how many blocks have columns that fit into this many bytes, at least one.
    pub fn blocks_of(&self, bytes: usize) -> usize {
        (bytes / size_of::<BitColumn>() / self.count.max(1)).max(1)
    }

    /// Returns the number of bytes on the heap.
    pub fn bytes(&self) -> usize {
        memory::bytes(&self.columns)
    }
}

/// Returns how many tokens get columns: those for which the columns take less time than their
/// lists, but only as many as take three quarters of the memory of all lists, or little if the call
/// may not hold several times as much.
fn count(records: usize, lists: &Ragged<u32>, tokens: usize, records_of_an_entry: usize) -> usize {
    /// The columns of small records may take this many bytes for each record, if there is room, and
    /// if not.
    const FREE: [usize; 2] = [192, 64];
    const TIMES: usize = 4;
    let many = 3 * lists.values.len();
    let has_room = allowance::has_room(TIMES * many, "preparing the search for the nearest").is_ok();
    let bytes = if has_room { many.max(FREE[0] * records) } else { FREE[1] * records };
    let most = bytes / (records.div_ceil(RECORDS) * size_of::<BitColumn>()).max(1);
    let length = |token: usize| lists.range(token).len();
    let is_frequent = |&token: &usize| length(token) * records_of_an_entry > records;
    (0..tokens).rev().take(most).take_while(is_frequent).count()
}
