//! Turns token sets that do not fit in memory into ordered records, through temporary files.
//!
//! Sets are first written as the workers made them, with the numbers of their tokens. Once all sets
//! are known, and with them the frequency of every token, the sets are read again: the numbers of
//! tokens are replaced by ranks, and each set goes to the file of its size range. In each range,
//! equal sets are merged into one record, and the records are written in order of size. The
//! dictionary and about 20 bytes for each document stay in memory.

use std::collections::BTreeMap;

use super::collect::Collector;
use super::distinct::{DistinctSets, HEAD, SizeRanges, sets_in};
use super::order::Ordered;
use super::overflow::{Overflow, OverflowRanks, SetRank, SharedTokens};
use super::record_places::RecordPlaces;
use super::records::Members;
use super::store::{RecordStore, RecordTable};
use super::translate::order_ranks;
use crate::error::Result;
use crate::executor::{self, Executor, Stop};
use crate::features::dictionary::Dictionary;
use crate::features::dictionary::rank::{Ranks, rank};
use crate::features::dictionary::weights::TokenWeights;
use crate::memory;
use crate::simd::sorting_network;
use crate::storage::files::TempFiles;
use crate::storage::log::Log;

const DOING: &str = "spilling token sets";

/// The number of `u32` values read or written at one time.
const PIECE: usize = 1 << 18;
/// The number of bytes of records that are written at one time.
const WRITE: usize = 1 << 16;

/// A file of sets that workers made.
pub struct Spill<'a> {
    files: &'a dyn TempFiles,
    words: Log<u32>,
    /// The runs that workers wrote: the place of each in the file and its length, both in `u32`
    /// values.
    runs: Vec<(u64, usize)>,
    /// The number of sets of each size in each table. The key has true for the right table.
    sizes: BTreeMap<(bool, u32), u64>,
    right_from: Option<u32>,
    /// The number of sets in the file.
    sets: u32,
    /// The tokens of these sets that the dictionary has no number for, if there are any.
    overflow: Option<Overflow<'a>>,
}

impl<'a> Spill<'a> {
    /// Creates an empty spill. All rows belong to the only table, or to the left one until
    /// [`Spill::go_right`] is called.
    pub fn new(files: &'a dyn TempFiles) -> Self {
        Self {
            files,
            words: Log::default(),
            runs: Vec::new(),
            sizes: BTreeMap::new(),
            right_from: None,
            sets: 0,
            overflow: None,
        }
    }

    /// Reports whether anything was spilled.
    pub fn is_used(&self) -> bool {
        self.words.is_in_file()
    }

    /// Starts the right table: the rows from number `right_from` on are in it.
    pub fn go_right(&mut self, right_from: u32) {
        self.right_from = Some(right_from);
    }

    /// Moves the sets of all workers from memory to the file.
    pub fn take(&mut self, collectors: &mut [Collector]) -> Result<()> {
        self.words.spill(self.files)?;
        for collector in collectors {
            let sets = std::mem::take(&mut collector.sets);
            let mut overflow = sets.overflow.as_slice();
            if !overflow.is_empty() && self.overflow.is_none() {
                self.overflow = Some(Overflow::new(self.files));
            }
            let mut words = Vec::new();
            let from = self.words.len();
            for (set, &row) in sets.rows.iter().enumerate() {
                let tokens = &sets.tokens[sets.range(set)];
                let right = self.right_from.is_some_and(|from| row >= from);
                let own = overflow.iter().take_while(|token| token.set as usize == set).count();
                if let Some(all) = &mut self.overflow {
                    for &token in &overflow[..own] {
                        all.push(token, self.sets, right)?;
                    }
                }
                overflow = &overflow[own..];
                self.sets += 1;
                let size = (tokens.len() + own) as u32;
                *self.sizes.entry((right, size)).or_insert(0) += 1;
                push_set(&mut words, row, sets.fingerprints[set], size, tokens.iter().copied())?;
                if words.len() >= PIECE || set + 1 == sets.rows.len() {
                    self.words.extend(&words, self.files)?;
                    words.clear();
                }
            }
            if self.words.len() > from {
                self.runs.push((from, (self.words.len() - from) as usize));
            }
        }
        Ok(())
    }

    /// Orders the sets of all collectors and of the file, holding about `budget` bytes in addition
    /// to the dictionary.
    pub fn order(
        mut self,
        mut collectors: Vec<Collector>,
        mut dictionary: Dictionary,
        budget: usize,
        executor: &dyn Executor,
    ) -> Result<Ordered> {
        self.take(&mut collectors)?;
        collectors.iter_mut().for_each(|collector| collector.settle(&mut dictionary));
        drop(collectors);
        let two_tables = self.right_from.is_some();
        let overflow = self.overflow.take();
        let mut others = overflow.map(|overflow| overflow.count(two_tables, budget, executor)).transpose()?;
        let frequencies = others.as_mut().map(|others| &mut others.frequencies);
        let ranks = rank(&dictionary, frequencies, two_tables, executor)?;
        let overflow_tokens = others.as_ref().map_or(0, |others| others.distinct);
        let (distinct_tokens, dictionary_bytes) =
            (dictionary.len() + overflow_tokens as usize, dictionary.bytes());
        drop(dictionary);
        let by_set = |others: SharedTokens<'a>| others.by_set(budget, executor);
        let mut overflow = others.map(by_set).transpose()?;
        let (ranks_bytes, shared_tokens) = (ranks.bytes(), ranks.shared);

        let ranges = SizeRanges::new(&self.sizes, budget);
        let mut files = self.distribute(&ranges, &ranks, overflow.as_mut(), budget, executor)?;
        drop((ranks, overflow, std::mem::take(&mut self.words)));
        let right_files = files.split_off(ranges.first_right.min(files.len()));
        let left = write_records(self.files, files, executor)?;
        let right = match self.right_from {
            Some(_) => Some(write_records(self.files, right_files, executor)?),
            None => None,
        };
        let tables = left.bytes() + right.as_ref().map_or(0, RecordTable::bytes);
        let peak_bytes = (dictionary_bytes + ranks_bytes).max(ranks_bytes + budget).max(tables + budget / 2);
        let dictionary_bytes = dictionary_bytes + ranks_bytes;
        let weights = TokenWeights::default();
        Ok(Ordered { left, right, distinct_tokens, shared_tokens, weights, peak_bytes, dictionary_bytes })
    }

    /// Reads the sets again and writes each, with ranks instead of tokens, to the file of its size
    /// range.
    fn distribute(
        &mut self,
        ranges: &SizeRanges,
        ranks: &Ranks,
        mut overflow: Option<&mut OverflowRanks>,
        budget: usize,
        executor: &dyn Executor,
    ) -> Result<Vec<Log<u32>>> {
        let mut files: Vec<_> = (0..ranges.count).map(|_| Log::default()).collect();
        let (right_from, sort) = (self.right_from, sorting_network::kernel());
        let share = (budget / 8 / size_of::<u32>()).clamp(PIECE / 64, PIECE * 16);
        let mut space = Vec::new();
        let mut sets = 0;
        for &(at, length) in &self.runs {
            let mut reader = SpillReader::new(at, length, share);
            while reader.fill(&mut self.words)? {
                let from = sets;
                sets += reader.sets;
                let others = match &mut overflow {
                    Some(overflow) => overflow.take_until(sets, executor)?,
                    None => &[],
                };
                let mut pieces = reader.split(executor.count(), ranges.count, from, others, &mut space);
                executor::each(executor, &mut pieces, |piece, stop| {
                    piece.translate(ranges, ranks, right_from, sort, stop)
                })?;
                for SpilledSets { mut out, .. } in pieces {
                    for (range, words) in files.iter_mut().zip(&mut out) {
                        range.extend(words, self.files)?;
                        memory::clear(words);
                    }
                    space.push(out);
                }
                reader.forget();
            }
        }
        Ok(files)
    }
}

fn push_set(
    words: &mut Vec<u32>,
    row: u32,
    fingerprint: u64,
    size: u32,
    tokens: impl Iterator<Item = u32>,
) -> Result<()> {
    let start = words.len();
    memory::append(words, [row, fingerprint as u32, (fingerprint >> 32) as u32, size, 0], DOING)?;
    words.extend(tokens);
    let written = words.len() - start - HEAD;
    words[start + HEAD - 1] = written as u32;
    Ok(())
}

/// Reads a part of a file in pieces that consist of whole sets.
struct SpillReader {
    at: u64,
    left: usize,
    share: usize,
    words: Vec<u32>,
    /// The end of the last complete set in `words`.
    whole: usize,
    /// The number of complete sets in `words`.
    sets: u32,
}

impl SpillReader {
    fn new(at: u64, length: usize, share: usize) -> Self {
        Self { at, left: length, share, words: Vec::new(), whole: 0, sets: 0 }
    }

    /// Reads on until `words` has at least one complete set. Returns false at the end.
    fn fill(&mut self, log: &mut Log<u32>) -> Result<bool> {
        while self.whole == 0 && self.left > 0 {
            let more = self.share.min(self.left);
            log.append(self.at, more, &mut self.words)?;
            self.at += more as u64;
            self.left -= more;
            (self.whole, self.sets) = sets_in(&self.words).fold((0, 0), |(_, sets), set| (set.end, sets + 1));
        }
        Ok(self.whole > 0)
    }

    /// Returns the complete sets in about equal shares, with memory for their output.
    /// The first set has the number `first`, and `overflow` has the ranks of further tokens of all
    /// of them.
    fn split<'a>(
        &'a self,
        shares: usize,
        ranges: usize,
        first: u32,
        overflow: &'a [SetRank],
        space: &mut Vec<Vec<Vec<u32>>>,
    ) -> Vec<SpilledSets<'a>> {
        let most = self.whole.div_ceil(shares);
        let mut pieces = Vec::new();
        let (mut from, mut begun) = (0, first);
        for (set, number) in sets_in(&self.words[..self.whole]).zip(first..) {
            if set.end - from >= most || set.end == self.whole {
                let out = space.pop().unwrap_or_else(|| vec![Vec::new(); ranges]);
                let after = overflow.partition_point(|rank| rank.set < begun);
                let (words, overflow) = (&self.words[from..set.end], &overflow[after..]);
                pieces.push(SpilledSets { words, set: begun, overflow, out });
                (from, begun) = (set.end, number + 1);
            }
        }
        pieces
    }

    /// Drops the complete sets.
    fn forget(&mut self) {
        self.words.drain(..self.whole);
        self.whole = 0;
    }
}

/// Some sets, and their output for each size range.
struct SpilledSets<'a> {
    words: &'a [u32],
    /// The number of the first set.
    set: u32,
    /// The ranks of further tokens of these sets, and of later sets.
    overflow: &'a [SetRank],
    out: Vec<Vec<u32>>,
}

impl SpilledSets<'_> {
    fn translate(
        &mut self,
        ranges: &SizeRanges,
        ranks: &Ranks,
        right_from: Option<u32>,
        sort: sorting_network::Kernel,
        stop: &Stop,
    ) -> Result<()> {
        let Self { words, set: number, overflow, out } = self;
        while let Some(set) = sets_in(words).next() {
            stop.check()?;
            let (head, tokens) = words[set.clone()].split_at(HEAD);
            let (row, size) = (head[0], head[3]);
            let fingerprint = u64::from(head[1]) | u64::from(head[2]) << 32;
            let right = right_from.is_some_and(|from| row >= from);
            let out = &mut out[ranges.range(right, size, fingerprint)];
            let start = out.len();
            let own = overflow.iter().take_while(|rank| rank.set == *number).count();
            let others = overflow[..own].iter().map(|rank| rank.rank);
            let ranks = tokens.iter().map(|&token| ranks.rank(token)).chain(others);
            push_set(out, row, fingerprint, size, ranks)?;
            // After a stop, the set is written again.
            let kept = order_ranks(&mut out[start + HEAD..], sort, stop);
            out.truncate(kept.as_ref().map_or(start, |&kept| start + HEAD + kept as usize));
            let kept = kept?;
            out[start + HEAD - 1] = kept;
            (*words, *overflow) = (&words[set.end..], &overflow[own..]);
            *number += 1;
        }
        Ok(())
    }
}

/// Makes the records of a table from its size ranges, in order.
fn write_records(
    files: &dyn TempFiles,
    ranges: Vec<Log<u32>>,
    executor: &dyn Executor,
) -> Result<RecordTable> {
    let mut all = Log::new(WRITE);
    let mut places = RecordPlaces::default();
    let (mut rows, mut row_starts) = (Vec::new(), vec![0]);
    for mut range in ranges {
        let mut distinct = DistinctSets::default();
        let mut reader = SpillReader::new(0, range.len() as usize, PIECE);
        while reader.fill(&mut range)? {
            distinct.done = 0;
            executor::one(executor, &mut distinct, |distinct, stop| {
                distinct.add(&reader.words[..reader.whole], stop)
            })?;
            reader.forget();
        }
        let mut state = (distinct, Vec::new());
        executor::one(executor, &mut state, |(distinct, order), stop| {
            *order = distinct.sort(stop)?;
            Ok(())
        })?;
        let (distinct, order) = state;
        let mut members = distinct.rows.chunk_by(|a, b| a.0 == b.0);
        for &set in &order {
            let content = distinct.content(set);
            let tokens = &content[2..];
            all.extend(tokens, files)?;
            places.push(content[0], tokens.len())?;
            for &(_, row) in members.next().unwrap_or_default() {
                memory::push(&mut rows, row, DOING)?;
            }
            memory::push(&mut row_starts, rows.len() as u32, DOING)?;
        }
    }
    all.spill(files)?;
    Ok(RecordTable {
        store: RecordStore::File { tokens: all, places },
        members: Members::new(rows, row_starts),
    })
}
