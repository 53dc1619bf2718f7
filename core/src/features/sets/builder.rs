//! Builds the sets of many documents. Workers collect tokens, the tokens are numbered batch by
//! batch, sets that do not fit in memory go to a file, and at the end all sets are ordered for a
//! join.
//!
//! While tokens are numbered, they take far more memory than their text. So the tokens of *long*
//! documents are numbered one by one as they come, in one thread, and are never held twice.

use std::ops::Range;

use super::collect::Collector;
use super::order::{Ordered, order};
use super::spill::Spill;
use crate::error::Result;
use crate::executor::{self, Executor};
use crate::features::FeatureSpec;
use crate::features::dictionary::Dictionary;
use crate::features::dictionary::numbering::number;
use crate::features::dictionary::weights::Weighing;
use crate::features::tokens::Document;
use crate::storage::files::TempFiles;

/// The part of the memory that the tokens and their numbers may take: one of so many.
const DICTIONARY_SHARE: usize = 4;

/// The sets of documents, while the documents are read.
pub struct SetBuilder<'a> {
    /// The collectors, one for each worker. [`SetBuilder::number`] numbers their tokens.
    pub collectors: Vec<Collector>,
    dictionary: Dictionary,
    /// The destination of sets that do not fit in memory, if files are allowed.
    spill: Option<Spill<'a>>,
    right_from: Option<u32>,
    weighing: Weighing,
    /// The number of bytes above which documents must be added by [`SetBuilder::add_long`].
    pub long: usize,
}

impl<'a> SetBuilder<'a> {
    /// The number of bytes above which a document is long, even if there is much memory.
    pub const LONG: usize = 1 << 20;

    /// Creates a builder without documents.
    pub fn new(spec: FeatureSpec, threads: usize) -> Self {
        Self {
            collectors: (0..threads).map(|_| Collector::new(spec)).collect(),
            dictionary: Dictionary::default(),
            spill: None,
            right_from: None,
            weighing: Weighing::default(),
            long: Self::LONG,
        }
    }

    /// Prepares for so few documents that one thread adds them, by `alone`.
    #[must_use]
    pub(crate) fn small(self) -> Self {
        Self { dictionary: Dictionary::small(), ..self }
    }

    /// Returns what one thread needs to add documents of about so many bytes at once. Their tokens
    /// are only in the dictionary, because a vocabulary takes longer to make than it saves.
    pub(crate) fn alone(&mut self, bytes: usize) -> Result<(&mut Collector, &mut Dictionary)> {
        const BYTES_A_TOKEN: usize = 6;
        if !self.collectors[0].spec.hashes_texts() {
            self.dictionary.expect(bytes / BYTES_A_TOKEN)?;
        }
        Ok((&mut self.collectors[0], &mut self.dictionary))
    }

    /// Allows sets to go to files, and leaves tokens that are numbers without a dictionary.
    #[must_use]
    pub fn with_files(mut self, files: &'a dyn TempFiles) -> Self {
        self.collectors.iter_mut().for_each(|collector| collector.keeps_hashes = true);
        Self { spill: Some(Spill::new(files)), ..self }
    }

    /// Gives the tokens weights.
    #[must_use]
    pub fn weighed(self, weighing: Weighing) -> Self {
        Self { weighing, ..self }
    }

    /// Lowers the size above which documents are long if `memory`, which is for all documents,
    /// would hold only a few documents of that size.
    #[must_use]
    pub fn within(self, memory: usize) -> Self {
        Self { long: Self::LONG.min(memory / 32), ..self }
    }

    /// Starts the right table: the rows from number `from` on are in it. No document may be
    /// pending.
    pub fn go_right(&mut self, from: u32) {
        self.right_from = Some(from);
        if let Some(spill) = &mut self.spill {
            spill.go_right(from);
        }
        self.collectors.iter_mut().for_each(Collector::go_right);
    }

    /// Makes the sets of all collected documents. Returns the number of bytes that the collectors
    /// held before that.
    pub fn number(&mut self, executor: &dyn Executor) -> Result<usize> {
        let pending = self.collectors.iter().map(Collector::bytes).sum();
        number(&mut self.dictionary, &mut self.collectors, executor)?;
        Ok(pending)
    }

    /// Adds documents that the caller has, by their sizes in bytes: the worker threads share them,
    /// and the long ones follow one by one. Makes their sets. Returns the number of bytes that the
    /// collectors held before that.
    pub fn add_all(
        &mut self,
        rows: Range<u32>,
        size: impl Fn(u32) -> usize + Sync,
        document: impl Fn(u32) -> Result<Document> + Sync,
        executor: &dyn Executor,
    ) -> Result<usize> {
        let share = rows.clone().map(|row| size(row) + 1).sum::<usize>().div_ceil(self.collectors.len());
        let (mut from, long, mut shares) = (rows.start, self.long, Vec::new());
        for collector in &mut self.collectors {
            let mut filled = 0;
            let count = (from..rows.end).take_while(|&row| {
                let fits = filled < share;
                filled += size(row) + 1;
                fits
            });
            let to = from + count.count() as u32;
            shares.push((collector, from..to));
            from = to;
        }
        executor::each(executor, &mut shares, |(collector, rows), stop| {
            while let Some(row) = rows.clone().next() {
                stop.check()?;
                if size(row) <= long {
                    collector.add(row, &document(row)?, stop)?;
                }
                rows.start += 1;
            }
            Ok(())
        })?;
        let pending = self.number(executor)?;
        for row in rows.filter(|&row| size(row) > long) {
            self.add_long(row, &document(row)?, executor)?;
        }
        Ok(pending)
    }

    /// Makes the set of a long document at once. No document may be pending.
    pub fn add_long(&mut self, row: u32, document: &Document, executor: &dyn Executor) -> Result<()> {
        let mut state = (&mut self.collectors[0], &mut self.dictionary);
        executor::one(executor, &mut state, |(collector, dictionary), stop| {
            collector.add_at_once(row, document, dictionary, stop)
        })
    }

    /// Writes the sets to a file if all that is held, `others` and the memory for ordering the sets
    /// take more than `memory` bytes. Returns the number of bytes that were held before that.
    pub fn spill(&mut self, others: usize, memory: usize) -> Result<usize> {
        let (held, sets) = (self.bytes(), self.sets_bytes());
        let Some(spill) = &mut self.spill else { return Ok(held) };
        let Self { dictionary, collectors, .. } = self;
        // A full table of tokens grows by as much again.
        if dictionary.bytes() > memory / DICTIONARY_SHARE && !dictionary.is_frozen() {
            collectors.iter_mut().for_each(|collector| collector.freeze(dictionary));
            dictionary.freeze();
        }
        // The index of a join takes about as much memory as the sets.
        let is_full = collectors.iter().any(|collector| collector.sets.numbers.is_full());
        if dictionary.is_frozen() || is_full || (held + sets + others > memory && sets > memory / 8) {
            spill.take(collectors)?;
        }
        Ok(held)
    }

    /// Returns the number of documents without any token.
    pub fn empty(&self) -> u64 {
        self.collectors.iter().map(|collector| collector.empty).sum()
    }

    /// Returns the number of tokens of all sets.
    pub fn tokens(&self) -> u64 {
        self.collectors.iter().map(|collector| collector.tokens).sum()
    }

    /// Orders all sets for a join. Sets in files are ordered with about `budget` bytes.
    pub fn order(self, budget: usize, executor: &dyn Executor) -> Result<Ordered> {
        let Self { collectors, dictionary, spill, right_from, weighing, .. } = self;
        match spill.filter(Spill::is_used) {
            Some(spill) => spill.order(collectors, dictionary, &weighing, budget, executor),
            None => order(collectors, dictionary, right_from, &weighing, executor),
        }
    }

    /// Returns the collectors and the dictionary unchanged. This must not be called after
    /// [`SetBuilder::with_files`].
    pub fn into_parts(self) -> (Vec<Collector>, Dictionary) {
        debug_assert!(self.spill.is_none());
        (self.collectors, self.dictionary)
    }

    /// Returns the tokens, and for each the number of documents that have it, including the
    /// documents that only the workers have counted so far.
    pub fn dictionary(&mut self) -> &Dictionary {
        self.collectors.iter_mut().for_each(|collector| collector.settle(&mut self.dictionary));
        &self.dictionary
    }

    /// Drops the sets. This is for callers that need only the tokens.
    pub fn forget_sets(&mut self) {
        self.collectors.iter_mut().for_each(|collector| collector.sets = Default::default());
    }

    /// Returns the number of bytes that the tokens and their numbers take on the heap.
    pub fn dictionary_bytes(&self) -> usize {
        self.dictionary.bytes()
    }

    /// Returns the number of bytes on the heap.
    pub fn bytes(&self) -> usize {
        self.dictionary.bytes() + self.collectors.iter().map(Collector::bytes).sum::<usize>()
    }

    fn sets_bytes(&self) -> usize {
        self.collectors.iter().map(|collector| collector.sets.bytes()).sum()
    }
}

impl std::fmt::Debug for SetBuilder<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "SetBuilder of {} collectors", self.collectors.len())
    }
}
