//! Places of equal runs in two documents. Those that cannot be continued to a passage are ruled out
//! before they are sorted by documents, and without the texts, which may be in a file: a byte of
//! each word is kept.

use bytemuck::{Pod, Zeroable};

use super::EditedWords;
use super::reach::{RunReach, SeedRun};
use crate::error::Result;
use crate::executor::{self, Executor, Stop};
use crate::features::row_words::RowWords;
use crate::memory;
use crate::storage::sort::{Sorter, both, both_long, order_by_key};

const DOING: &str = "looking for runs of words";

/// Two places of a window, in two documents.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Zeroable, Pod)]
#[repr(C)]
pub struct Seed {
    /// The positions of the documents in the order of their ids; those of a right table come after
    /// those of the left one.
    pub ranks: [u32; 2],
    /// The numbers of the first words.
    pub firsts: [u32; 2],
}

order_by_key!(Seed, |seed| {
    both_long(both(seed.ranks[0], seed.ranks[1]), both(seed.firsts[0], seed.firsts[1]))
});

/// The documents of one or two tables in the order of their ids.
#[derive(Debug)]
pub struct RankedRows {
    /// The rows, first those of the left table.
    pub rows: Vec<u32>,
    /// The position of each row in `rows`.
    pub ranks: Vec<u32>,
    /// The number of rows of the left table, if there are two tables.
    pub right_from: Option<u32>,
    /// Whether two places of one document are compared, too.
    pub within: bool,
}

/// A byte of each word.
struct WordCodes<'a> {
    /// The number of words of the rows before each row, and of all rows.
    starts: &'a [u64],
    codes: Vec<u8>,
}

impl WordCodes<'_> {
    fn row(&self, row: u32) -> &[u8] {
        let [start, end] = [0, 1].map(|n| self.starts[row as usize + n] as usize);
        &self.codes[start..end]
    }
}

/// Passes seeds on that may lead to a passage.
pub(super) struct SeedFilter<'a> {
    codes: Option<WordCodes<'a>>,
    rows: &'a RankedRows,
    edits: EditedWords,
    pending: Vec<Seed>,
}

/// Some seeds, and those of them that may lead to a passage.
struct SeedShare<'a> {
    todo: &'a [Seed],
    kept: Vec<Seed>,
}

impl<'a> SeedFilter<'a> {
    /// Reads the texts, if their words are at most `most`. `starts` has the number of words of the
    /// rows before each row, and of all rows.
    pub(super) fn new(
        texts: &mut RowWords,
        starts: &'a [u64],
        rows: &'a RankedRows,
        edits: EditedWords,
        most: usize,
        executor: &dyn Executor,
    ) -> Result<Self> {
        let all = starts.last().map_or(0, |&all| all as usize);
        let mut filter = Self { codes: None, rows, edits, pending: Vec::new() };
        if all <= most {
            let mut codes = Vec::new();
            memory::reserve(&mut codes, all, DOING)?;
            let mut row = Vec::new();
            for n in 0..starts.len() - 1 {
                executor::breathe(executor, n, 1 << 6)?;
                memory::refill(&mut row, [n as u32], DOING)?;
                let loaded = texts.load(&mut row)?;
                let words = loaded.get(n as u32);
                // The other half are the places of the words.
                codes.extend(words[..words.len() / 2].iter().map(|&word| word as u8));
            }
            filter.codes = Some(WordCodes { starts, codes });
        }
        Ok(filter)
    }

    /// Adds a seed to those that are passed on to `found`.
    pub(super) fn push(
        &mut self,
        seed: Seed,
        found: &mut Sorter<'_, Seed>,
        executor: &dyn Executor,
    ) -> Result<()> {
        const AT_ONCE: usize = 1 << 16;
        if self.codes.is_none() {
            return found.push(seed, executor);
        }
        memory::push(&mut self.pending, seed, DOING)?;
        if self.pending.len() < AT_ONCE { Ok(()) } else { self.finish(found, executor) }
    }

    /// Passes on the last seeds.
    pub(super) fn finish(&mut self, found: &mut Sorter<'_, Seed>, executor: &dyn Executor) -> Result<()> {
        const SEEDS_A_SHARE: usize = 1 << 12;
        let Some(codes) = &self.codes else { return Ok(()) };
        let (rows, edits) = (self.rows, self.edits);
        let shares = self.pending.chunks(SEEDS_A_SHARE).map(|todo| SeedShare { todo, kept: Vec::new() });
        let mut shares = memory::collect(shares, DOING)?;
        executor::each(executor, &mut shares, |share, stop| share.filter(codes, rows, edits, stop))?;
        for share in shares {
            share.kept.into_iter().try_for_each(|seed| found.push(seed, executor))?;
        }
        self.pending.clear();
        Ok(())
    }
}

impl SeedShare<'_> {
    fn filter(
        &mut self,
        codes: &WordCodes,
        rows: &RankedRows,
        edits: EditedWords,
        stop: &Stop,
    ) -> Result<()> {
        // After a stop, the share starts again from the beginning.
        self.kept.clear();
        let mut reach = RunReach::default();
        for (n, &seed) in self.todo.iter().enumerate() {
            stop.check_every(n, 1 << 6)?;
            let words = seed.ranks.map(|rank| codes.row(rows.rows[rank as usize]));
            let run = SeedRun::around(words, seed.firsts.map(|first| first as usize));
            if reach.suffices(words, &run, edits)? {
                memory::push(&mut self.kept, seed, DOING)?;
            }
        }
        Ok(())
    }
}
