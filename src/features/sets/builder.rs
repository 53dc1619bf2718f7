//! Builds the sets of many documents: workers collect tokens, these are numbered batch by batch, sets that memory has no
//! room for go to a file, and in the end all are ordered for a join.
//!
//! While tokens are numbered they take far more memory than the text they are of. So of documents that are *long* they
//! are numbered one by one as they come, in one thread, and never held twice.

use super::collect::Collector;
use super::order::{Ordered, order};
use super::spill::Spill;
use crate::error::Result;
use crate::executor::{self, Executor};
use crate::features::FeatureSpec;
use crate::features::dictionary::Dictionary;
use crate::features::dictionary::numbering::number;
use crate::features::tokens::Document;
use crate::files::TempFiles;

/// The sets of documents while these are read.
pub struct SetBuilder<'a> {
    /// One for each worker; what they are given is numbered by [`SetBuilder::number`].
    pub collectors: Vec<Collector>,
    dictionary: Dictionary,
    /// Where sets go that memory has no room for, if they may.
    spill: Option<Spill<'a>>,
    right_from: Option<u32>,
    long: usize,
}

impl<'a> SetBuilder<'a> {
    /// Documents of more bytes are long, whatever memory there is.
    pub const LONG: usize = 1 << 20;

    /// No documents yet.
    pub fn new(spec: FeatureSpec, threads: usize) -> Self {
        Self {
            collectors: (0..threads).map(|_| Collector::new(spec)).collect(),
            dictionary: Dictionary::default(),
            spill: None,
            right_from: None,
            long: Self::LONG,
        }
    }

    /// Lets sets go to files.
    #[must_use]
    pub fn with_files(self, files: &'a dyn TempFiles) -> Self {
        Self { spill: Some(Spill::new(files)), ..self }
    }

    /// Takes documents for long where `memory`, which is for all, would not hold many of them.
    #[must_use]
    pub fn within(self, memory: usize) -> Self {
        Self { long: Self::LONG.min(memory / 32), ..self }
    }

    /// Documents of more bytes than this are to be left to [`SetBuilder::add_long`].
    pub fn long(&self) -> usize {
        self.long
    }

    /// Says that rows from this one on are those of the right table; nothing may be pending.
    pub fn go_right(&mut self, from: u32) {
        self.right_from = Some(from);
        if let Some(spill) = &mut self.spill {
            spill.go_right(from);
        }
        self.collectors.iter_mut().for_each(Collector::go_right);
    }

    /// Makes the sets of all that was collected; gives the bytes that were held before.
    pub fn number(&mut self, executor: &dyn Executor) -> Result<usize> {
        let pending = self.collectors.iter().map(Collector::bytes).sum();
        number(&mut self.dictionary, &mut self.collectors, executor)?;
        Ok(pending)
    }

    /// Makes the set of a long document at once, with nothing pending.
    pub fn add_long(&mut self, row: u32, document: &Document, executor: &dyn Executor) -> Result<()> {
        let mut state = (&mut self.collectors[0], &mut self.dictionary);
        executor::one(executor, &mut state, |(collector, dictionary), stop| {
            collector.add_at_once(row, document, dictionary, stop)
        })
    }

    /// Writes the sets to a file if they, `others` and what it takes to order them are more than `memory`. Gives the bytes
    /// that were held before.
    pub fn spill(&mut self, others: usize, memory: usize) -> Result<usize> {
        let (held, sets) = (self.bytes(), self.sets_bytes());
        // The index of a join takes about as much again.
        if let Some(spill) = &mut self.spill
            && held + sets + others > memory
            && sets > memory / 8
        {
            spill.take(&mut self.collectors)?;
        }
        Ok(held)
    }

    /// Whether anything was written to a file.
    pub fn has_spilled(&self) -> bool {
        self.spill.as_ref().is_some_and(Spill::is_used)
    }

    /// Documents without any token.
    pub fn empty(&self) -> u64 {
        self.collectors.iter().map(|collector| collector.empty).sum()
    }

    /// The tokens of all sets.
    pub fn tokens(&self) -> u64 {
        self.collectors.iter().map(|collector| collector.tokens).sum()
    }

    /// Orders all sets for a join; those in files with about `budget` bytes.
    pub fn order(self, budget: usize, executor: &dyn Executor) -> Result<Ordered> {
        let Self { collectors, dictionary, spill, right_from, .. } = self;
        match spill.filter(Spill::is_used) {
            Some(spill) => spill.order(collectors, dictionary, budget, executor),
            None => order(collectors, dictionary, right_from, executor),
        }
    }

    /// The collectors and the dictionary as they are, of sets that never went to files.
    pub fn into_parts(self) -> (Vec<Collector>, Dictionary) {
        debug_assert!(self.spill.is_none());
        (self.collectors, self.dictionary)
    }

    /// What tokens there are and how many documents have each, with the counts of all workers.
    pub fn dictionary(&mut self) -> &Dictionary {
        self.collectors.iter_mut().for_each(|collector| collector.settle(&mut self.dictionary));
        &self.dictionary
    }

    /// Forgets the sets where only the tokens are wanted.
    pub fn forget_sets(&mut self) {
        self.collectors.iter_mut().for_each(|collector| collector.sets = Default::default());
    }

    /// Those of the tokens and their numbers.
    pub fn dictionary_bytes(&self) -> usize {
        self.dictionary.bytes()
    }

    /// Bytes on the heap.
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
