//! The records of every token, with all of their tokens and not only with a prefix: how long a
//! prefix is needed turns out during the search.
//!
//! The frequent tokens have columns as well: which records have each of them, a bit for each
//! record. The list of a frequent token holds so large a share of all records that an instruction
//! for some hundred records takes less time.

use std::ops::Range;

use crate::allowance;
use crate::error::Result;
use crate::executor::{self, Executor, Stop};
use crate::features::sets::records::Records;
use crate::memory;
use crate::simd::columns::{BitColumn, RECORDS};

const DOING: &str = "listing the records of tokens";

/// For each token the records that have it, smallest record first. 6 bytes for each token of each
/// record.
#[derive(Debug)]
pub struct TokenLists {
    /// The start of each list, and the end of the last one.
    starts: Vec<usize>,
    records: Vec<u32>,
    /// For each record in a list, its number of tokens from the token of the list on, or
    /// [`TokenLists::MANY`].
    rests: Vec<u16>,
}

/// The lists of some consecutive tokens.
struct ListPart<'a> {
    tokens: Range<u32>,
    /// The index of the first posting.
    first: usize,
    records: &'a mut [u32],
    rests: &'a mut [u16],
}

impl TokenLists {
    /// Stands for this many tokens or more.
    pub const MANY: u16 = u16::MAX;

    /// Lists all records, whose tokens have numbers below `tokens`. O(tokens of all records).
    pub fn new(records: &Records, tokens: usize, executor: &dyn Executor) -> Result<Self> {
        let mut counting = (0, memory::filled(0usize, tokens + 1, DOING)?);
        executor::one(executor, &mut counting, |(done, starts), stop| {
            while *done < records.len() {
                stop.check()?;
                records.tokens(*done).iter().for_each(|&token| starts[token as usize + 1] += 1);
                *done += 1;
            }
            Ok(())
        })?;
        let (_, mut starts) = counting;
        (0..tokens).for_each(|token| starts[token + 1] += starts[token]);
        let all = starts[tokens];
        let mut of_lists: Vec<u32> = memory::zeroed(all, DOING)?;
        let mut rests: Vec<u16> = memory::zeroed(all, DOING)?;
        let mut parts = Vec::new();
        let (mut records_left, mut rests_left, mut token) = (&mut of_lists[..], &mut rests[..], 0);
        while token < tokens {
            let first = starts[token];
            let enough = first + (all / (4 * executor.count())).max(1 << 16);
            let end = starts.partition_point(|&start| start < enough).clamp(token + 1, tokens);
            let (records, rests);
            (records, records_left) = records_left.split_at_mut(starts[end] - first);
            (rests, rests_left) = rests_left.split_at_mut(starts[end] - first);
            // Tokens are numbered with 32 bits.
            parts.push(ListPart { tokens: token as u32..end as u32, first, records, rests });
            token = end;
        }
        executor::each(executor, &mut parts, |part, stop| part.fill(records, &starts, stop))?;
        Ok(Self { starts, records: of_lists, rests })
    }

    /// Returns the records that have a token, and their numbers of tokens from it on.
    #[inline]
    pub fn for_token(&self, token: u32) -> (&[u32], &[u16]) {
        let range = self.range(token);
        (&self.records[range.clone()], &self.rests[range])
    }

    /// Returns the place of the list of a token among the records of all lists.
    #[inline]
    pub fn range(&self, token: u32) -> Range<usize> {
        self.starts[token as usize]..self.starts[token as usize + 1]
    }

    /// Returns the records of all lists.
    #[inline]
    pub fn all(&self) -> &[u32] {
        &self.records
    }

    /// Returns the number of bytes on the heap.
    pub fn bytes(&self) -> usize {
        memory::bytes(&self.starts) + memory::bytes(&self.records) + memory::bytes(&self.rests)
    }
}

impl ListPart<'_> {
    /// Fills the lists. After a stop, the next call starts again from the beginning.
    fn fill(&mut self, records: &Records, starts: &[usize], stop: &Stop) -> Result<()> {
        const AHEAD: usize = 8;
        let Range { start, end } = self.tokens.clone();
        let mut next = Vec::new();
        memory::extend(&mut next, &starts[start as usize..end as usize], DOING)?;
        for record in 0..records.len() {
            stop.check()?;
            records.prefetch(record + AHEAD, 1);
            let tokens = records.tokens(record);
            let from = tokens.partition_point(|&token| token < start);
            for (n, &token) in tokens.iter().enumerate().skip(from).take_while(|&(_, &token)| token < end) {
                let place = &mut next[(token - start) as usize];
                self.records[*place - self.first] = record as u32;
                let rest = tokens.len() - n;
                self.rests[*place - self.first] = u16::try_from(rest).unwrap_or(TokenLists::MANY);
                *place += 1;
            }
        }
        Ok(())
    }
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
        lists: &TokenLists,
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
/// lists, but only as many as take half of the memory of all lists, or little if the call may not
/// hold several times as much.
fn count(records: usize, lists: &TokenLists, tokens: usize, records_of_an_entry: usize) -> usize {
    /// The columns of small records may take this many bytes for each record, if there is room, and
    /// if not.
    const FREE: [usize; 2] = [192, 64];
    const TIMES: usize = 4;
    let many = lists.bytes() / 2;
    let has_room = allowance::has_room(TIMES * many, "preparing the search for the nearest").is_ok();
    let bytes = if has_room { many.max(FREE[0] * records) } else { FREE[1] * records };
    let most = bytes / (records.div_ceil(RECORDS) * size_of::<BitColumn>()).max(1);
    let length = |token: usize| lists.for_token(token as u32).0.len();
    let is_frequent = |&token: &usize| length(token) * records_of_an_entry > records;
    (0..tokens).rev().take(most).take_while(is_frequent).count()
}
