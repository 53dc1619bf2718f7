//! What a transaction of a call knows when it plans.

use super::step::{Stage, Table};

/// What the caller asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Call {
    /// Whether the documents are on servers, and the method is one that is made in parts.
    pub in_parts: bool,
    /// Whether this is the first transaction.
    pub first: bool,
    /// The most pairs that the caller wants.
    pub max_pairs: Option<i64>,
    /// Whether clusters are wanted.
    pub clusters: bool,
    /// Whether clusters are made where the pairs are, by stars.
    pub by_stars: bool,
    /// Whether the sets are in [`Table::Members`] as soon as that is filled, and [`Table::Sets`] is gone then.
    pub members_have_sets: bool,
    /// About how many bytes of sets may be in [`Table::Halves`], if that is more than there are in [`Table::Sets`].
    pub allowance: i64,
}

/// How large sets are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Sizes {
    /// All of them, in bytes.
    pub bytes: i64,
    /// The largest one.
    pub largest: i64,
}

impl Sizes {
    /// How many rows with a set are fetched at a time, of so many sets in all: about as many as fill some megabytes, and
    /// never many of the largest.
    pub fn rows_a_fetch(&self, sets: i64) -> i64 {
        const USUAL: i64 = 8 << 20;
        const MOST: i64 = 64 << 20;
        let mean = self.bytes / sets.max(1);
        (USUAL / mean.max(1)).min(MOST / self.largest.max(1)).clamp(1, 1000)
    }
}

/// What was done, as the log has it.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Progress {
    /// The rows that came, for each stage in its order.
    pub rows: Vec<i64>,
    /// How large the sets are, once they are there.
    pub sizes: Sizes,
    /// In how many rounds candidates are compared, once they are there.
    pub rounds: i64,
    /// How many numbers were unsettled when there were edges, and after each star round.
    pub unsettled: Vec<i64>,
}

/// The most star rounds. A chain of 100000 takes 13, and one that is twice as long about one more: what takes more rounds than this
/// is made into clusters on one server.
pub const MOST_STARS: usize = 100;

impl Progress {
    const TABLES: [Table; 5] = [Table::Sets, Table::Members, Table::Ranks, Table::Routes, Table::Candidates];

    /// What comes next; after the pairs, clusters by stars if there are to be some.
    pub fn next(&self, by_stars: bool) -> Stage {
        let done = self.rows.len();
        if let Some(&table) = Self::TABLES.get(done) {
            return Stage::Table(table);
        }
        if done < self.compared() {
            return Stage::Round((done - Self::TABLES.len()) as i64);
        }
        match self.unsettled.len().checked_sub(1) {
            _ if !by_stars => Stage::Result,
            None => Stage::Table(Table::Edges),
            Some(round) if !self.is_settled() && round < MOST_STARS => Stage::Stars(round as i64),
            Some(_) if !self.is_settled() => Stage::Result,
            Some(_) if done < self.before(Table::Clusters) => Stage::Table(Table::Neighbours),
            Some(_) if done == self.before(Table::Clusters) => Stage::Table(Table::Clusters),
            Some(_) => Stage::Result,
        }
    }

    /// Of how many stages the log tells when all candidates were compared.
    fn compared(&self) -> usize {
        Self::TABLES.len().saturating_add(usize::try_from(self.rounds).unwrap_or_default())
    }

    /// Whether the edges lead from the least number of each cluster to all others of it.
    pub fn is_settled(&self) -> bool {
        self.unsettled.last() == Some(&0)
    }

    /// Of how many stages the log tells that came before a table was filled.
    pub fn before(&self, table: Table) -> usize {
        match table {
            Table::Edges => self.compared(),
            Table::Neighbours => self.compared() + self.unsettled.len(),
            Table::Clusters => self.compared() + self.unsettled.len() + 1,
            table => Self::TABLES.iter().position(|&other| other == table).unwrap_or(Self::TABLES.len()),
        }
    }

    /// How many rows a table should have.
    pub fn expected(&self, table: Table) -> i64 {
        let rows = |stage: usize| self.rows.get(stage).copied().unwrap_or_default();
        match table {
            Table::Pairs => {
                let rounds = self.compared() - Self::TABLES.len();
                self.rows
                    .iter()
                    .skip(Self::TABLES.len())
                    .take(rounds)
                    .fold(0, |sum, rows| sum.saturating_add(*rows))
            }
            // They are filled anew in each round.
            Table::Halves | Table::Larger => 0,
            // As many as the last round left.
            Table::Edges => rows((self.compared() + self.unsettled.len()).saturating_sub(1)),
            table => rows(self.before(table)),
        }
    }

    /// Takes out what was done after so many stages.
    #[cfg(test)]
    pub fn forget(&mut self, keep: usize) {
        self.unsettled.truncate(keep.saturating_sub(self.compared()));
        self.rows.truncate(keep);
    }
}

/// What is there of the log.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Log {
    /// Nothing.
    None,
    /// That of a call which this one does not go on with.
    Other,
    /// That of a call which has made its result.
    Finished,
    /// That of this call, or of one that it goes on with.
    Ours(Progress),
}

/// What was found of a table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Count {
    /// So many rows.
    Rows(i64),
    /// It is not there, or not on all servers.
    Missing,
}

/// What ids are like.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ids {
    /// Each document has one of its own.
    Good,
    /// Some have none.
    Null,
    /// Some have the same.
    Double,
}

/// All that is known; what is None has not been asked yet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct State {
    /// What was asked for.
    pub call: Call,
    /// Whether a relation has the name of the result; of interest in the first transaction.
    pub taken: bool,
    /// Whether working tables may be left of the call that the log tells of.
    pub left: bool,
    /// The log.
    pub log: Log,
    /// Whether the transaction before refused to go on.
    pub refused: bool,
    /// What was counted.
    pub counted: Vec<(Table, Count)>,
    /// How many rows came.
    pub filled: Option<i64>,
    /// What ids are like.
    pub ids: Option<Ids>,
    /// How large sets are.
    pub sizes: Option<Sizes>,
    /// How many pairs equal sets make.
    pub equal: Option<i64>,
    /// How many pairs there are in all.
    pub total: Option<i64>,
    /// How many numbers are unsettled.
    pub unsettled: Option<i64>,
}

impl State {
    /// What a transaction knows when it begins.
    pub fn new(call: Call, log: Log) -> Self {
        Self {
            call,
            taken: false,
            left: false,
            log,
            refused: false,
            counted: Vec::new(),
            filled: None,
            ids: None,
            sizes: None,
            equal: None,
            total: None,
            unsettled: None,
        }
    }

    /// What was counted of a table.
    pub fn count(&self, table: Table) -> Option<Count> {
        self.counted.iter().find(|(of, _)| *of == table).map(|&(_, count)| count)
    }

    /// Whether there are more pairs than are wanted.
    pub fn too_many(&self, pairs: i64) -> bool {
        self.call.max_pairs.is_some_and(|most| pairs > most)
    }
}

/// The most candidates of so many documents: beyond that they would fill the disks of the servers.
pub fn most_candidates(documents: i64) -> i64 {
    const ALWAYS: i64 = 100_000_000;
    const EACH: i64 = 100;
    documents.saturating_mul(EACH).saturating_add(ALWAYS)
}

/// In how many rounds so many candidates are compared: the sets that travel in one are no more than there are in all, or
/// than is allowed.
pub fn rounds(candidates: i64, documents: i64, sizes: Sizes, allowance: i64) -> i64 {
    let mean = i128::from(sizes.bytes) / i128::from(documents.max(1)) + 1;
    let room = i128::from(sizes.bytes.max(allowance).max(1));
    let rounds = (i128::from(candidates) * mean).div_euclid(room) + 1;
    // Each round costs a look at all candidates.
    i64::try_from(rounds).unwrap_or(i64::MAX).clamp(1, 1000)
}
