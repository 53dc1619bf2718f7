//! A part: it collects rows as they arrive, writes them to a file if they do not fit into memory,
//! and finds all candidates among them.
//!
//! Rows that do not fit in memory are joined run by run, each run with itself and with every other
//! run. Two runs and the index of one of them are in memory at a time.

use super::engine::{self, Engine, Partners};
use super::rows::{Rows, Shared};
use crate::error::Result;
use crate::executor::{self, Executor};
use crate::files::{TempFile, TempFiles};
use crate::joins::sets::bounds::Bounds;
use crate::memory;
use crate::verify::predicate::Predicate;

/// A callback for candidates, which receives the words of the ids of two rows.
pub type Each<'a> = dyn FnMut(&[u64], &[u64]) -> Result<()> + 'a;

/// Rows that were written to the file.
#[derive(Debug, Clone, Copy)]
struct Run {
    /// The start of the run, in words.
    at: u64,
    rows: usize,
    words: usize,
}

/// The rows of a part.
pub struct Part<F> {
    files: F,
    budget: usize,
    bounds: Bounds,
    rows: Rows,
    file: Option<Box<dyn TempFile>>,
    runs: Vec<Run>,
    written: u64,
}

impl<F> std::fmt::Debug for Part<F> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Part of {} rows and {} runs", self.rows.len(), self.runs.len())
    }
}

impl<F: TempFiles> Part<F> {
    /// Creates a part without rows, to be joined with about `budget` bytes.
    pub fn new(predicate: Predicate, files: F, budget: usize) -> Self {
        let (rows, runs) = (Rows::default(), Vec::new());
        Self { files, budget, bounds: Bounds::new(predicate), rows, file: None, runs, written: 0 }
    }

    /// Returns the predicate of the join.
    pub fn predicate(&self) -> &Predicate {
        self.bounds.predicate()
    }

    /// Adds a row: the words of its id, the size of its set, its bitmap, and its tokens or the keys
    /// of its bands.
    pub fn add(&mut self, id: &[u64], size: u32, bitmap: &[u8], shared: Shared<'_>) -> Result<()> {
        self.rows.push(id, size, bitmap, shared)?;
        // A run has half of the rows that are written at one time. Later, two runs and the index of
        // one of them are in memory.
        let index = self.rows.tokens() * engine::BYTES_A_TOKEN + self.rows.len() * engine::BYTES_A_ROW;
        if self.rows.bytes() + index > self.budget { self.spill() } else { Ok(()) }
    }

    fn spill(&mut self) -> Result<()> {
        let file = match &mut self.file {
            Some(file) => file,
            none => none.insert(self.files.create()?),
        };
        for (rows, words) in self.rows.write(&mut **file)? {
            memory::push(&mut self.runs, Run { at: self.written, rows, words }, super::rows::DOING)?;
            self.written += words as u64;
        }
        Ok(())
    }

    /// Returns the number of bytes on the heap.
    pub fn bytes(&self) -> usize {
        self.rows.bytes() + memory::bytes(&self.runs)
    }

    /// Calls `each` once for each candidate, with the ids of its two rows. The first row is not
    /// smaller than the second.
    pub fn candidates(mut self, executor: &dyn Executor, each: &mut Each<'_>) -> Result<()> {
        if self.runs.is_empty() {
            sort(&mut self.rows, executor)?;
            return join(&self.rows, &self.rows, Partners::Before, self.bounds, executor, each);
        }
        if !self.rows.is_empty() {
            self.spill()?;
        }
        let Self { file: Some(mut file), runs, bounds, .. } = self else { return Ok(()) };
        for (n, run) in runs.iter().enumerate() {
            let one = load(&mut *file, run, executor)?;
            join(&one, &one, Partners::Before, bounds, executor, each)?;
            for run in &runs[n + 1..] {
                let other = load(&mut *file, run, executor)?;
                join(&one, &other, Partners::NotLarger, bounds, executor, each)?;
                join(&other, &one, Partners::Smaller, bounds, executor, each)?;
            }
        }
        Ok(())
    }
}

fn load(file: &mut dyn TempFile, run: &Run, executor: &dyn Executor) -> Result<Rows> {
    let mut rows = Rows::read(file, run.at, run.rows, run.words)?;
    sort(&mut rows, executor)?;
    Ok(rows)
}

fn sort(rows: &mut Rows, executor: &dyn Executor) -> Result<()> {
    executor::one(executor, rows, |rows, stop| rows.sort(stop))
}

fn join(
    probes: &Rows,
    found: &Rows,
    partners: Partners,
    bounds: Bounds,
    executor: &dyn Executor,
    each: &mut Each<'_>,
) -> Result<()> {
    let mut engine = Engine::new(probes, found, partners, bounds)?;
    while let Some(batch) = engine.next_batch(executor)? {
        executor.check_interrupts()?;
        for (probe, other) in batch {
            each(probes.get(probe as usize).id(), found.get(other as usize).id())?;
        }
    }
    Ok(())
}
