//! The pairs of a table that its rows to keep and its clusters depend on. Of many rows with one
//! template nearly every two are a pair, but a row that follows a leader needs no more comparisons.
//!
//! 1. *Leaders*: records are taken in the order of their ranks; a record that is no pair of a
//!    leader becomes one. Half of the records after the other: the records of the second half that
//!    are pairs of leaders of the first are left out before the leaders of the second are chosen in
//!    the same way. Then all other records are joined with all leaders.
//! 2. *Paths*, for clusters: records that these pairs connect are in one group. Large groups are
//!    joined with each other, and with the records outside of them, but not with themselves. A pair
//!    within a group is dropped.
//! 3. *Small clusters*: all their pairs, because their representatives depend on them.
//!
//! For n records of one template these are about 2 n comparisons, and n pairs. If few pairs are
//! expected, from a sample, all pairs are returned instead, because that takes fewer passes over
//! the records. Rows to keep and clusters are the same.

mod choosing;
mod parts;
mod paths;

use crate::error::{Error, Result};
use crate::executor::Executor;
use crate::features::sets::members::Members;
use crate::joins::{Counts, JoinedSets, RecordJoin, RecordPair};
use crate::memory;
use crate::storage::files::TempFiles;
use choosing::Choosing;
use parts::{SetParts, named};
use paths::Paths;

const DOING: &str = "choosing rows to compare";

/// The use that is made of the pairs.
#[derive(Debug, Clone, Copy)]
pub enum Purpose {
    /// The rows to keep.
    Leaders,
    /// Clusters; the pairs of those of at most this many rows are counted.
    Clusters(u32),
}

/// The sizes from which on pairs are left out.
#[derive(Debug, Clone, Copy)]
pub struct Limits {
    /// Up to this number of records, all are compared with each other.
    pub few: usize,
    /// Up to this number of expected pairs for each record, all pairs are returned.
    pub pairs: usize,
}

impl Limits {
    /// Returns the limits for a number of records.
    fn for_records(records: usize) -> Self {
        Self { few: (records / 256).max(64), pairs: 64 }
    }
}

/// The sets of one table, of whose pairs some are needed.
pub struct NeededSets {
    parts: SetParts,
    records: usize,
    purpose: Purpose,
    limits: Limits,
}

impl std::fmt::Debug for NeededSets {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} sets for {:?}", self.records, self.purpose)
    }
}

impl NeededSets {
    /// Takes the sets of a join.
    pub fn new(sets: JoinedSets, purpose: Purpose, files: Box<dyn TempFiles>) -> Self {
        let records = sets.left.len();
        Self { parts: SetParts::new(sets, files), records, purpose, limits: Limits::for_records(records) }
    }

    /// Sets other limits, for tests.
    #[must_use]
    pub fn with(self, limits: Limits) -> Self {
        Self { limits, ..self }
    }

    /// Prepares the join that returns the needed pairs: all of them if few are expected. Otherwise
    /// `ranks` is called for the rank of each row; no two rows have the same.
    pub fn join<E: From<Error>, R: Fn(u32) -> u32>(
        mut self,
        members: &Members,
        ranks: impl FnOnce() -> std::result::Result<R, E>,
        executor: &dyn Executor,
    ) -> std::result::Result<Box<dyn RecordJoin>, E> {
        if self.expects_few(executor)? {
            return Ok(self.parts.whole()?);
        }
        let Self { parts, records, purpose, limits } = self;
        let row_rank = ranks()?;
        let rows = |record: usize| members.rows(record).iter();
        let rank = (0..records).map(|record| rows(record).map(|&row| row_rank(row)).min());
        let rank = memory::collect(rank.map(|least| least.unwrap_or(u32::MAX)), DOING)?;
        let rows = match purpose {
            Purpose::Leaders => Vec::new(),
            Purpose::Clusters(_) => {
                memory::collect((0..records).map(|record| rows(record).len() as u32), DOING)?
            }
        };
        let choosing = Choosing::new(rank, limits.few)?;
        let paths = Paths::new(rows)?;
        let state = JoinState::Choosing;
        Ok(Box::new(Needed { parts, records, purpose, few: limits.few, choosing, paths, state }))
    }

    /// Reports whether few pairs are expected, from a sample.
    fn expects_few(&mut self, executor: &dyn Executor) -> Result<bool> {
        /// How many records are compared with how many.
        const SAMPLES: [usize; 2] = [1 << 13, 1 << 6];
        let records = self.records;
        if records <= 2 * self.limits.few {
            return Ok(true);
        }
        let [left, right] = SAMPLES.map(|most| most.min(records));
        let sample = |of: usize| memory::collect((0..of).map(|n| (n * records / of) as u32), DOING);
        // Each pair counts in both directions.
        let most = (2 * self.limits.pairs * left * right / records).max(right / 4);
        let mut found = 0;
        self.parts.join_all(&sample(left)?, Some(&sample(right)?), executor, |pair| {
            found += usize::from(pair.left != pair.right);
            Ok(found <= most)
        })?;
        self.parts.counts = Counts::default();
        Ok(found <= most)
    }
}

/// A join that returns only the pairs that are needed.
struct Needed {
    parts: SetParts,
    records: usize,
    purpose: Purpose,
    /// The limit of the same name.
    few: usize,
    choosing: Choosing,
    paths: Paths,
    state: JoinState,
}

/// How far a join is.
#[derive(Debug)]
enum JoinState {
    /// Leaders are chosen.
    Choosing,
    /// The other records are joined with the leaders.
    Following(Box<dyn RecordJoin>, [Vec<u32>; 2]),
    /// Paths between groups are looked for.
    Connecting,
    /// The pairs of small clusters are returned.
    Small(Box<dyn RecordJoin>, Vec<u32>),
    Done,
}

impl std::fmt::Debug for Needed {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Needed pairs of {} records", self.records)
    }
}

impl Needed {
    /// Returns the state after a state whose work is done.
    fn after(&mut self, executor: &dyn Executor) -> Result<JoinState> {
        Ok(match (&self.state, self.purpose) {
            (JoinState::Choosing, _) => {
                let [others, leaders] = [self.choosing.which(false)?, self.choosing.which(true)?];
                let join = self.parts.join(&others, Some(&leaders), executor)?;
                JoinState::Following(join, [others, leaders])
            }
            (JoinState::Following(..), Purpose::Clusters(_)) => {
                // Records are numbered with 32 bits.
                self.paths.plan(self.records as u32, self.few as u32)?;
                JoinState::Connecting
            }
            _ => JoinState::Done,
        })
    }

    /// Begins to return the pairs of clusters of at most `most` rows. Returns the paths of the
    /// others.
    fn begin_small(&mut self, most: u32, executor: &dyn Executor) -> Result<Vec<RecordPair>> {
        let (is_small, paths) = self.paths.small(most)?;
        // All pairs of leaders have been returned.
        let mut small = self.choosing.which(false)?;
        small.retain(|&record| is_small[record as usize]);
        self.state = JoinState::Small(self.parts.join(&small, None, executor)?, small);
        Ok(paths)
    }
}

impl RecordJoin for Needed {
    fn next_batch(&mut self, executor: &dyn Executor) -> Result<Option<Vec<RecordPair>>> {
        let goes_on = match &mut self.state {
            JoinState::Choosing => self.choosing.advance(&mut self.parts, executor)?,
            JoinState::Following(join, [others, leaders]) => {
                if let Some(batch) = join.next_batch(executor)? {
                    let pairs = named(batch, others, leaders);
                    if let Purpose::Clusters(_) = self.purpose {
                        pairs.iter().for_each(|pair| self.paths.note(pair));
                    }
                    return Ok(Some(pairs));
                }
                self.parts.counts.add(&join.counts());
                false
            }
            JoinState::Connecting => match (self.paths.advance(&mut self.parts, executor)?, self.purpose) {
                (false, Purpose::Clusters(most)) => return self.begin_small(most, executor).map(Some),
                (goes_on, _) => goes_on,
            },
            JoinState::Small(join, small) => {
                if let Some(batch) = join.next_batch(executor)? {
                    return Ok(Some(named(batch, small, small)));
                }
                self.parts.counts.add(&join.counts());
                false
            }
            JoinState::Done => return Ok(None),
        };
        if !goes_on {
            self.state = self.after(executor)?;
        }
        Ok(Some(Vec::new()))
    }

    fn counts(&self) -> Counts {
        let mut counts = self.parts.counts;
        if let JoinState::Following(join, _) | JoinState::Small(join, _) = &self.state {
            counts.add(&join.counts());
        }
        counts
    }

    fn progress(&self) -> f64 {
        match &self.state {
            JoinState::Choosing => 0.4 * self.choosing.progress(),
            JoinState::Following(join, _) => 0.4 + 0.2 * join.progress(),
            JoinState::Connecting => 0.6 + 0.2 * self.paths.progress(),
            JoinState::Small(join, _) => 0.8 + 0.2 * join.progress(),
            JoinState::Done => 1.0,
        }
    }

    fn bytes(&self) -> usize {
        let join = match &self.state {
            JoinState::Following(join, lists) => {
                join.bytes() + lists.iter().map(memory::bytes).sum::<usize>()
            }
            JoinState::Small(join, small) => join.bytes() + memory::bytes(small),
            _ => 0,
        };
        join + self.parts.bytes() + self.choosing.bytes() + self.paths.bytes()
    }
}
