//! The facts that a transaction of a call plans with.

use super::step::{LoggedStage, WorkingTable};

/// The request of the caller.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct CallRequest {
    /// True if the documents are on servers and the method can work in parts.
    pub in_parts: bool,
    /// True if the documents are on this server and each stage is done in parts that are committed
    /// one by one, perhaps by several sessions. The working tables keep their rows in a crash.
    pub shared: bool,
    /// True if the parts of the candidates are joined on other nodes, some of them in each
    /// transaction, and their rows are kept in a crash.
    pub by_groups: bool,
    /// True if this is the first transaction.
    pub first: bool,
    /// True if the result is brought up to date, by working tables that are kept.
    pub update: bool,
    /// The largest number of pairs that the caller wants.
    pub max_pairs: Option<i64>,
    /// True if clusters are wanted.
    pub clusters: bool,
    /// True if clusters are computed where the pairs are, by stars.
    pub by_stars: bool,
    /// True if the comparison of two sets depends on [`WorkingTable::Ranks`].
    pub compares_by_ranks: bool,
    /// The approximate number of bytes of sets that may be in [`WorkingTable::Halves`], if this is
    /// more than the number of bytes of all sets.
    pub allowance: i64,
}

/// The sizes of sets.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct SetSizes {
    /// The number of bytes of all sets.
    pub bytes: i64,
    /// The number of bytes of the largest set.
    pub largest: i64,
}

impl SetSizes {
    /// Returns how many rows with a set are fetched at a time, given the number of all sets. These
    /// are about as many rows as fill 8 MB, but at most as many as fill 64 MB if all of them have
    /// the largest set.
    pub fn rows_a_fetch(&self, sets: i64) -> i64 {
        const USUAL: i64 = 8 << 20;
        const MOST: i64 = 64 << 20;
        let mean = self.bytes / sets.max(1);
        (USUAL / mean.max(1)).min(MOST / self.largest.max(1)).clamp(1, 1000)
    }
}

/// The completed stages, according to the log.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct DoneStages {
    /// The number of new rows of each stage, in the order of the stages.
    pub rows: Vec<i64>,
    /// The sizes of the sets, once the sets exist.
    pub sizes: SetSizes,
    /// The number of rounds in which candidates are compared, once the candidates exist.
    pub rounds: i64,
    /// The number of unsettled numbers when the edges were created, and after each star round.
    pub unsettled: Vec<i64>,
    /// True if the result is brought up to date. Then new, changed and deleted documents are found
    /// first, and what is known of the documents is noted last.
    pub update: bool,
}

/// The largest number of star rounds. A chain of 100000 sets takes 13 rounds, and a chain twice as
/// long takes about one round more. If more rounds than this are needed, clusters are computed on
/// one server.
pub const MOST_STARS: usize = 100;

impl DoneStages {
    const TABLES: [WorkingTable; 7] = [
        WorkingTable::Seen,
        WorkingTable::Changes,
        WorkingTable::Sets,
        WorkingTable::Members,
        WorkingTable::Ranks,
        WorkingTable::Routes,
        WorkingTable::Candidates,
    ];

    /// Returns the tables that are filled before candidates are compared.
    fn tables(&self) -> &'static [WorkingTable] {
        if self.update { &Self::TABLES } else { &Self::TABLES[2..] }
    }

    /// Returns the next stage. After the pairs, clusters are computed by stars if `by_stars` is
    /// set.
    pub fn next(&self, by_stars: bool) -> LoggedStage {
        let done = self.rows.len();
        if let Some(&table) = self.tables().get(done) {
            return LoggedStage::Table(table);
        }
        let compared = self.tables().len().saturating_add(usize::try_from(self.rounds).unwrap_or_default());
        if done < compared {
            return LoggedStage::Round((done - self.tables().len()) as i64);
        }
        if done < self.compared() {
            return LoggedStage::Table(WorkingTable::Known);
        }
        match self.unsettled.len().checked_sub(1) {
            _ if !by_stars => LoggedStage::Result,
            None => LoggedStage::Table(WorkingTable::Edges),
            Some(round) if !self.is_settled() && round < MOST_STARS => LoggedStage::Stars(round as i64),
            Some(_) if !self.is_settled() => LoggedStage::Result,
            Some(_) if done < self.before(WorkingTable::Clusters) => {
                LoggedStage::Table(WorkingTable::Neighbours)
            }
            Some(_) if done == self.before(WorkingTable::Clusters) => {
                LoggedStage::Table(WorkingTable::Clusters)
            }
            Some(_) => LoggedStage::Result,
        }
    }

    /// Returns the number of stages in the log when all pairs are known.
    fn compared(&self) -> usize {
        let rounds = usize::try_from(self.rounds).unwrap_or_default();
        self.tables().len().saturating_add(rounds).saturating_add(usize::from(self.update))
    }

    /// Reports whether the edges lead from the least number of each cluster to all its other
    /// numbers.
    pub fn is_settled(&self) -> bool {
        self.unsettled.last() == Some(&0)
    }

    /// Returns the number of stages in the log before a table was filled.
    pub fn before(&self, table: WorkingTable) -> usize {
        match table {
            WorkingTable::Edges => self.compared(),
            WorkingTable::Neighbours => self.compared() + self.unsettled.len(),
            WorkingTable::Clusters => self.compared() + self.unsettled.len() + 1,
            table => self.tables().iter().position(|&other| other == table).unwrap_or(self.tables().len()),
        }
    }

    /// Returns the number of rows that a table should have.
    pub fn expected(&self, table: WorkingTable) -> i64 {
        let rows = |stage: usize| self.rows.get(stage).copied().unwrap_or_default();
        match table {
            WorkingTable::Pairs => {
                let rounds = usize::try_from(self.rounds).unwrap_or_default();
                self.rows
                    .iter()
                    .skip(self.tables().len())
                    .take(rounds)
                    .fold(0, |sum, rows| sum.saturating_add(*rows))
            }
            // These tables are refilled in each round.
            WorkingTable::Halves | WorkingTable::Larger => 0,
            // The table has the rows that the last round left.
            WorkingTable::Edges => rows((self.compared() + self.unsettled.len()).saturating_sub(1)),
            table => rows(self.before(table)),
        }
    }

    /// Removes the stages after the first `keep`.
    #[cfg(test)]
    pub fn forget(&mut self, keep: usize) {
        self.unsettled.truncate(keep.saturating_sub(self.compared()));
        self.rows.truncate(keep);
    }
}

/// The state of the log.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum LogState {
    /// There is no log.
    #[default]
    None,
    /// The log of a call that this call does not continue.
    Other,
    /// The log of a call that has created its result.
    Finished,
    /// The log of this call, or of an earlier call that it continues.
    Ours(DoneStages),
}

/// The result of counting a table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Count {
    /// The number of rows.
    Rows(i64),
    /// The table is missing, here or on some servers.
    Missing,
}

/// The result of checking ids.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CheckedIds {
    /// Each document has an id of its own.
    Good,
    /// Some documents have no id.
    Null,
    /// Some documents have the same id.
    Double,
}

/// The part of a stage that a session has taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Claim {
    /// None, because the tables that the stage fills are not made yet.
    Closed,
    /// One that is to be done. The parts that are done have `before` rows.
    Part {
        /// The number of rows.
        before: i64,
    },
    /// None, because other sessions are doing all parts that are left.
    Busy,
    /// None, because all parts are done, with this number of rows.
    Done(i64),
}

/// All known facts. `None` means that a fact is not known yet.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct CallFacts {
    /// The request of the caller.
    pub call: CallRequest,
    /// True if a relation with the name of the result exists. Only used in the first transaction.
    pub taken: bool,
    /// True if this call was finished before and its result is there, which the caller accepts.
    /// Only used in the first transaction.
    pub made: bool,
    /// True if working tables may remain from the call that the log describes.
    pub left: bool,
    /// The log.
    pub log: LogState,
    /// True if the previous transaction refused to continue.
    pub refused: bool,
    /// The results of counting tables.
    pub counted: Vec<(WorkingTable, Count)>,
    /// The part that this transaction has taken, or the group of parts.
    pub claim: Option<Claim>,
    /// The number of new rows.
    pub filled: Option<i64>,
    /// The result of checking ids.
    pub ids: Option<CheckedIds>,
    /// The sizes of sets.
    pub sizes: Option<SetSizes>,
    /// The number of pairs that equal sets make.
    pub equal: Option<i64>,
    /// The number of all pairs.
    pub total: Option<i64>,
    /// The number of unsettled numbers.
    pub unsettled: Option<i64>,
}

impl CallFacts {
    /// Creates the state at the beginning of a transaction.
    pub fn new(call: CallRequest, log: LogState) -> Self {
        Self { call, log, ..Self::default() }
    }

    /// Returns the result of counting a table.
    pub fn count(&self, table: WorkingTable) -> Option<Count> {
        self.counted.iter().find(|(of, _)| *of == table).map(|&(_, count)| count)
    }

    /// Reports whether there are more pairs than the caller wants.
    pub fn too_many(&self, pairs: i64) -> bool {
        self.call.max_pairs.is_some_and(|most| pairs > most)
    }
}

/// Returns the largest allowed number of candidates for this many documents. More would fill the
/// disks of the servers.
pub fn most_candidates(documents: i64) -> i64 {
    const ALWAYS: i64 = 100_000_000;
    const EACH: i64 = 100;
    documents.saturating_mul(EACH).saturating_add(ALWAYS)
}

/// Returns the number of rounds in which this many candidates are compared. The sets that are
/// transferred in one round have at most about as many bytes as all sets, or as `allowance` if that
/// is more.
pub fn rounds(candidates: i64, documents: i64, sizes: SetSizes, allowance: i64) -> i64 {
    let mean = i128::from(sizes.bytes) / i128::from(documents.max(1)) + 1;
    let room = i128::from(sizes.bytes.max(allowance).max(1));
    let rounds = (i128::from(candidates) * mean).div_euclid(room) + 1;
    // The number of rounds is limited because each round has to scan all candidates.
    i64::try_from(rounds).unwrap_or(i64::MAX).clamp(1, 1000)
}
