//! The columns of the frequent tokens: which records have each of them, a bit for each record.
//!
//! The list of a frequent token holds so large a share of all records that an instruction for some
//! hundred records takes less time.

use super::lists::TokenLists;
use crate::allowance;
use crate::error::Result;
use crate::executor::{self, Executor};
use crate::features::sets::records::Records;
use crate::memory;
use crate::simd::columns::{BitColumn, RECORDS};

const DOING: &str = "preparing the search for the nearest";

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
        let mut columns: Vec<BitColumn> = memory::zeroed(blocks * count, DOING)?;
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
    let has_room = allowance::has_room(TIMES * many, DOING).is_ok();
    let bytes = if has_room { many.max(FREE[0] * records) } else { FREE[1] * records };
    let most = bytes / (records.div_ceil(RECORDS) * size_of::<BitColumn>()).max(1);
    let length = |token: usize| lists.for_token(token as u32).0.len();
    let is_frequent = |&token: &usize| length(token) * records_of_an_entry > records;
    (0..tokens).rev().take(most).take_while(is_frequent).count()
}
