//! Turns token sets that do not fit in memory into ordered records, through temporary files.
//!
//! Sets are first written as the workers made them, with the numbers of their tokens. Once all sets
//! are known, and with them the frequency of every token, the sets are read again: the numbers of
//! tokens are replaced by ranks, and each set goes to the file of its size range. In each range,
//! equal sets are merged into one record, and the records are written in order of size. The
//! dictionary and about 20 bytes for each document stay in memory.

use std::collections::BTreeMap;

use super::collect::Collector;
use super::distinct::{DistinctSets, HEAD, SizeRanges};
use super::members::Members;
use super::number_sets::Sets;
use super::order::Ordered;
use super::record_places::RecordPlaces;
use super::set_weights::{SetSize, SetWeights};
use super::shared_tokens::SharedTokens;
use super::spilled_sets::{SpillReader, SpilledSets, push_set};
use super::store::{RecordStore, RecordTable};
use super::token_files::TokenFiles;
use crate::error::Result;
use crate::executor::{self, Executor};
use crate::features::dictionary::Dictionary;
use crate::features::dictionary::by_content::Weigher;
use crate::features::dictionary::rank::{ByNumber, Ranks, rank};
use crate::features::dictionary::weights::{TokenWeights, Weighing};
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
    /// The tokens of these sets that have no number in the dictionary, if there are any.
    others: Option<TokenFiles<'a>>,
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
            others: None,
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
        let parts = collectors.iter_mut().map(|collector| std::mem::take(&mut collector.sets));
        let mut parts = memory::collect(parts, DOING)?;
        if let Some(from) = self.right_from {
            // Tokens that are counted in files tell the tables apart by the order of the sets.
            let rights: Vec<Sets> =
                parts.iter_mut().map(|part| part.split_off(from)).collect::<Result<_>>()?;
            parts.extend(rights);
        }
        for sets in parts {
            let mut overflow = sets.overflow.as_slice();
            if self.others.is_none() && !(overflow.is_empty() && sets.numbers.is_empty()) {
                self.others = Some(TokenFiles::new(self.files, self.sets));
            }
            let mut words = Vec::new();
            let from = self.words.len();
            for (set, &row) in sets.rows.iter().enumerate() {
                let tokens = &sets.tokens[sets.range(set)];
                let right = self.right_from.is_some_and(|from| row >= from);
                let own = overflow.iter().take_while(|token| token.set as usize == set).count();
                if let Some(others) = &mut self.others {
                    others.push_set(&overflow[..own], sets.numbers.hashes(set), right)?;
                }
                overflow = &overflow[own..];
                self.sets += 1;
                let size = (sets.count(set) + own) as u32;
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
        weighing: &Weighing,
        budget: usize,
        executor: &dyn Executor,
    ) -> Result<Ordered> {
        self.take(&mut collectors)?;
        collectors.iter_mut().for_each(|collector| collector.settle(&mut dictionary));
        drop(collectors);
        let two_tables = self.right_from.is_some();
        let documents = self.sets as usize;
        let by_number = weighing.of_dictionary(&dictionary, documents, executor)?;
        let of_sets = by_number.as_ref().map(|_| SetWeights::new(self.sets)).transpose()?;
        let mut others = None;
        if let Some(files) = self.others.take() {
            let new = |of| Weigher::new(weighing, documents, &dictionary, of, executor);
            let weigher = by_number.as_ref().map(new).transpose()?;
            let counted =
                others.insert(SharedTokens::new(files, two_tables, weigher.as_ref(), budget, executor)?);
            if let Some(of_sets) = &of_sets {
                counted.weigh_sets(self.sets, of_sets, budget, executor)?;
            }
        }
        let frequencies = others.as_mut().map(|others| &mut others.frequencies);
        let ranks = rank(&dictionary, frequencies, two_tables, executor)?;
        let overflow_tokens = others.as_ref().map_or(0, |others| others.distinct);
        let (distinct_tokens, dictionary_bytes) =
            (dictionary.len() + overflow_tokens as usize, dictionary.bytes());
        drop(dictionary);
        let mut weights = TokenWeights::by_rank(by_number.as_ref(), &ranks)?;
        if let Some(others) = &mut others {
            others.read_ranks(&mut weights, budget, executor)?;
        }
        let of_sets = by_number.as_ref().zip(of_sets);
        let weights_bytes = of_sets.as_ref().map_or(0, |(by_number, sets)| by_number.bytes() + sets.bytes());
        let (ranks_bytes, shared_tokens) = (ranks.bytes() + weights_bytes, ranks.shared);

        let ranges = match of_sets.as_ref() {
            None => self.ranges(budget),
            Some((by_number, of_sets)) => self.weighed_ranges(by_number, of_sets, budget, executor)?,
        };
        let weighed = of_sets.as_ref().map(|(_, of_sets)| of_sets);
        let mut files = self.distribute(&ranges, &ranks, &mut others, weighed, budget, executor)?;
        drop((ranks, others, of_sets, std::mem::take(&mut self.words)));
        drop(by_number);
        let right_files = files.split_off(ranges.first_right.min(files.len()));
        let left = write_records(self.files, files, &weights, executor)?;
        let right = match self.right_from {
            Some(_) => Some(write_records(self.files, right_files, &weights, executor)?),
            None => None,
        };
        let tables = left.bytes() + right.as_ref().map_or(0, RecordTable::bytes);
        let peak_bytes = (dictionary_bytes + ranks_bytes).max(ranks_bytes + budget).max(tables + budget / 2);
        let dictionary_bytes = dictionary_bytes + ranks_bytes;
        Ok(Ordered { left, right, distinct_tokens, shared_tokens, weights, peak_bytes, dictionary_bytes })
    }

    /// Returns the ranges of sizes that are numbers of tokens.
    fn ranges(&self, budget: usize) -> SizeRanges {
        let of_size = |(&key, &sets): (&(bool, u32), &u64)| (key, length(key.1) * sets);
        SizeRanges::new(self.sizes.iter().map(of_size), budget)
    }

    /// Reads the sets and adds the weights of their tokens in the dictionary to those of their
    /// other tokens. Returns the ranges of what the sets weigh.
    fn weighed_ranges(
        &mut self,
        by_number: &ByNumber<u16>,
        of_sets: &SetWeights,
        budget: usize,
        executor: &dyn Executor,
    ) -> Result<SizeRanges> {
        let (mut sizes, mut sets, right_from) = (Vec::new(), 0, self.right_from);
        memory::reserve(&mut sizes, self.sets as usize, DOING)?;
        for &(at, length) in &self.runs {
            let mut reader = SpillReader::new(at, length, PIECE);
            while reader.fill(&mut self.words)? {
                let pieces = reader.split(executor.count(), 0, sets, &[], &mut Vec::new());
                sets += reader.sets;
                let mut pieces: Vec<_> = pieces.into_iter().map(|piece| (piece, Vec::new())).collect();
                executor::each(executor, &mut pieces, |(piece, sizes), stop| {
                    piece.weigh(by_number, of_sets, right_from, sizes, stop)
                })?;
                pieces.iter().for_each(|(_, of_piece)| sizes.extend_from_slice(of_piece));
                reader.forget();
            }
        }
        executor::sort(executor, &mut sizes, Ord::cmp)?;
        let runs = sizes.chunk_by(|a, b| (a.is_right, a.size) == (b.is_right, b.size));
        let of_run = |run: &[SetSize]| {
            let all = run.iter().map(|set| length(set.tokens)).sum();
            ((run[0].is_right, run[0].size), all)
        };
        Ok(SizeRanges::new(runs.map(of_run), budget))
    }

    /// Reads the sets again and writes each, with ranks instead of tokens, to the file of its size
    /// range.
    fn distribute(
        &mut self,
        ranges: &SizeRanges,
        ranks: &Ranks,
        others: &mut Option<SharedTokens<'_>>,
        of_sets: Option<&SetWeights>,
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
                let ranks_of_others = match others {
                    Some(others) => others.take_until(sets, executor)?,
                    None => &[],
                };
                let mut pieces =
                    reader.split(executor.count(), ranges.count, from, ranks_of_others, &mut space);
                executor::each(executor, &mut pieces, |piece, stop| {
                    piece.translate(ranges, ranks, right_from, of_sets, sort, stop)
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

/// Returns the length of a set of so many tokens in a file.
fn length(tokens: u32) -> u64 {
    u64::from(tokens) + HEAD as u64
}

/// Makes the records of a table from its size ranges, in order.
fn write_records(
    files: &dyn TempFiles,
    ranges: Vec<Log<u32>>,
    weights: &TokenWeights,
    executor: &dyn Executor,
) -> Result<RecordTable> {
    let mut all = Log::new(WRITE);
    let mut places = RecordPlaces::default();
    let (mut members, mut own) = (Members::default(), Vec::new());
    for mut range in ranges {
        let mut distinct = DistinctSets::default();
        let mut reader = SpillReader::new(0, range.len() as usize, PIECE);
        while reader.fill(&mut range)? {
            distinct.done = 0;
            executor::one(executor, &mut distinct, |distinct, stop| {
                distinct.add(reader.whole(), weights, stop)
            })?;
            reader.forget();
        }
        let mut state = (distinct, Vec::new());
        executor::one(executor, &mut state, |(distinct, order), stop| {
            *order = distinct.sort(stop)?;
            Ok(())
        })?;
        let (distinct, order) = state;
        let mut rows = distinct.rows.chunk_by(|a, b| a.0 == b.0);
        for &set in &order {
            let content = distinct.content(set);
            let tokens = &content[2..];
            all.extend(tokens, files)?;
            places.push(content[0], tokens.len())?;
            let of_set = rows.next().unwrap_or_default();
            memory::refill(&mut own, of_set.iter().map(|&(_, row)| row), DOING)?;
            members.push(&own)?;
        }
    }
    all.spill(files)?;
    Ok(RecordTable { store: RecordStore::File { tokens: all, places }, members })
}
