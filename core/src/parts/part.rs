//! A part: it collects rows as they arrive, writes them to a file if they do not fit into memory,
//! and finds all candidates among them.
//!
//! Rows that do not fit in memory are joined run by run, each run with itself and with every other
//! run. Two runs and the index of one of them are in memory at a time.
//!
//! Rows may be known from an earlier join of the same part. Then only candidates with a row that is
//! not known are found, and known rows that share no token with such a row are passed over.

use super::engine::{self, PartEngine, Partners};
use super::rows::{Shared, WireRows, WrittenRows};
use crate::error::Result;
use crate::executor::{self, Executor};
use crate::joins::sets::bounds::Bounds;
use crate::storage::files::TempFiles;
use crate::storage::log::Log;
use crate::verify::predicate::Predicate;

/// A callback for candidates, which receives the ids of two rows.
pub type Each<'a> = dyn FnMut(u64, u64) -> Result<()> + 'a;

/// Rows of one kind, in memory and in the file.
#[derive(Debug, Default)]
struct Collected {
    rows: WireRows,
    runs: Vec<WrittenRows>,
}

impl Collected {
    /// Returns the bytes of the rows in memory, with those of an index of them.
    fn bytes(&self) -> usize {
        let index = self.rows.tokens() * engine::BYTES_A_TOKEN + self.rows.len() * engine::BYTES_A_ROW;
        self.rows.bytes() + index
    }
}

/// The rows of a part. Candidates of two known rows are of no interest.
pub struct Part<F> {
    files: F,
    budget: usize,
    bounds: Bounds,
    rows: Collected,
    known: Collected,
    file: Log<u64>,
}

impl<F> std::fmt::Debug for Part<F> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Part of {} rows and {} runs", self.rows.rows.len(), self.rows.runs.len())
    }
}

impl<F: TempFiles> Part<F> {
    /// Creates a part without rows, to be joined with about `budget` bytes.
    pub fn new(predicate: Predicate, files: F, budget: usize) -> Self {
        let (rows, known) = (Collected::default(), Collected::default());
        Self { files, budget, bounds: Bounds::new(predicate), rows, known, file: Log::default() }
    }

    /// Adds a row: its id, the size of its set, its bitmap, and its tokens or the keys
    /// of its bands. A row that is `known` is a candidate only with rows that are not.
    pub fn add(&mut self, id: u64, size: u32, bitmap: &[u8], shared: Shared<'_>, known: bool) -> Result<()> {
        let kind = if known { &mut self.known } else { &mut self.rows };
        kind.rows.push(id, size, bitmap, shared)?;
        // A run has half of the rows that are written at one time. Later, two runs and the index of
        // one of them are in memory.
        if self.rows.bytes() + self.known.bytes() > self.budget { self.spill() } else { Ok(()) }
    }

    fn spill(&mut self) -> Result<()> {
        for kind in [&mut self.rows, &mut self.known] {
            kind.rows.write(&mut kind.runs, &mut self.file, &self.files)?;
        }
        Ok(())
    }

    /// Calls `each` once for each candidate, with the ids of its two rows. Unless one of them is
    /// known, the first row is not smaller than the second.
    pub fn candidates(mut self, executor: &dyn Executor, each: &mut Each<'_>) -> Result<()> {
        let bounds = self.bounds;
        if !self.file.is_in_file() {
            let (mut rows, known) = (self.rows.rows, self.known.rows);
            sort(&mut rows, executor)?;
            join(&rows, &rows, Partners::Before, bounds, executor, each)?;
            let known = sharing(known, &rows, executor)?;
            return join_both(&rows, &known, bounds, executor, each);
        }
        self.spill()?;
        let Self { mut file, rows: Collected { runs, .. }, known, .. } = self;
        for (n, run) in runs.iter().enumerate() {
            let one = load(&mut file, run, executor)?;
            join(&one, &one, Partners::Before, bounds, executor, each)?;
            for run in &runs[n + 1..] {
                let other = load(&mut file, run, executor)?;
                join_both(&one, &other, bounds, executor, each)?;
            }
            for run in &known.runs {
                let other = sharing(WireRows::read(&mut file, run)?, &one, executor)?;
                join_both(&one, &other, bounds, executor, each)?;
            }
        }
        Ok(())
    }
}

fn load(file: &mut Log<u64>, run: &WrittenRows, executor: &dyn Executor) -> Result<WireRows> {
    let mut rows = WireRows::read(file, run)?;
    sort(&mut rows, executor)?;
    Ok(rows)
}

/// Returns, sorted, those of `known` that may share a token with one of `rows`: of many known rows,
/// few do.
fn sharing(mut known: WireRows, rows: &WireRows, executor: &dyn Executor) -> Result<WireRows> {
    if known.is_empty() || rows.is_empty() {
        return Ok(WireRows::default());
    }
    executor::one(executor, &mut known, |known, stop| {
        *known = known.sharing(rows, stop)?;
        known.sort(stop)
    })?;
    Ok(known)
}

fn sort(rows: &mut WireRows, executor: &dyn Executor) -> Result<()> {
    executor::one(executor, rows, |rows, stop| rows.sort(stop))
}

/// Joins the rows of two collections with each other.
fn join_both(
    one: &WireRows,
    other: &WireRows,
    bounds: Bounds,
    executor: &dyn Executor,
    each: &mut Each<'_>,
) -> Result<()> {
    if one.is_empty() || other.is_empty() {
        return Ok(());
    }
    join(one, other, Partners::NotLarger, bounds, executor, each)?;
    join(other, one, Partners::Smaller, bounds, executor, each)
}

fn join(
    probes: &WireRows,
    found: &WireRows,
    partners: Partners,
    bounds: Bounds,
    executor: &dyn Executor,
    each: &mut Each<'_>,
) -> Result<()> {
    let mut engine = PartEngine::new(probes, found, partners, bounds)?;
    while let Some(batch) = engine.next_batch(executor)? {
        executor.check_interrupts()?;
        for (probe, other) in batch {
            each(probes.get(probe as usize).id(), found.get(other as usize).id())?;
        }
    }
    Ok(())
}
