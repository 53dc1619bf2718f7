//! The facts that a transaction of a refresh plans with: facts about its job, known from the
//! beginning, and facts about the rows, reported by steps.

/// The data on which the pairs of a job depend, which determines what is updated when rows change.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Upkeep {
    /// Token sets: the pairs of changed rows are looked up in lists of all rows.
    Sets,
    /// The two documents of each pair: changed rows are joined with all rows.
    Pairs,
    /// All rows: all pairs are recomputed.
    #[default]
    Whole,
    /// All rows, and clusters are built from signatures instead of pairs.
    Signatures,
}

impl Upkeep {
    /// Reports whether all pairs are recomputed.
    pub fn is_whole(self) -> bool {
        matches!(self, Self::Whole | Self::Signatures)
    }
}

/// Facts about a job from the registry, the catalog and the settings.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct RegisteredJob {
    /// The data on which the pairs of the job depend.
    pub upkeep: Upkeep,
    /// True if each cluster of the job consists of all rows that pairs connect.
    pub whole_clusters: bool,
    /// The largest number of rows of a batch, at least 1.
    pub batch_rows: i64,
    /// True if this is the first transaction of the refresh.
    pub first: bool,
    /// True if the ids of the relation have a different type from those of the job's tables.
    pub other_type: bool,
    /// True if the data about rows as they were seen is not stored where it belongs.
    pub misplaced: bool,
    /// True if triggers saw every change since the relation got its present definition.
    pub told: bool,
    /// True if the relation had the same definition when all rows were last compared. All
    /// definitions under which triggers do not see every change count as the same.
    pub same_definition: bool,
    /// True if columns have other names or numbers than in the registry.
    pub renewed: bool,
}

/// The knowledge about rows before rows are taken into the batch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum KnownRows {
    /// No row has been seen yet.
    Unseen {
        /// True if all existing rows fit into one batch.
        fits: bool,
    },
    /// Some rows have been seen.
    Seen,
}

/// The pairs that were removed to make room for the pairs of a batch.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Removed {
    /// The number of removed pairs.
    pub pairs: i64,
    /// True if rows of the batch can have been in pairs.
    pub had_pairs: bool,
}

/// The present rows of a batch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Present {
    /// True if there are no rows other than those of the batch.
    pub alone: bool,
    /// The number of rows of the batch that still exist. The other rows of the batch were deleted.
    pub rows: i64,
}

/// The pairs of the rows of a batch.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct BatchPairs {
    /// The number of new pairs.
    pub pairs: i64,
    /// True if the rows were also added to the lists.
    pub listed: bool,
}

/// All known facts. `None` means that a fact is not known yet.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct JobFacts {
    /// The facts known from the beginning.
    pub job: RegisteredJob,
    /// True if rows changed whose ids triggers did not record.
    pub unnoted: Option<bool>,
    /// True if triggers noted every row that differs from what was seen.
    pub noted: Option<bool>,
    /// The knowledge about rows before rows are taken into the batch.
    pub contents: Option<KnownRows>,
    /// The number of changed rows that were taken.
    pub rows: Option<i64>,
    /// The number of rows that had been seen before, counted up to [`RowBatch::limit`].
    pub known: Option<i64>,
    /// The pairs that were removed.
    pub removed: Option<Removed>,
    /// The rows that were taken and still exist.
    pub present: Option<Present>,
    /// The number of the segment of the lists that the rows of the batch become; the inner `None`
    /// means that the lists have to be rebuilt.
    pub segment: Option<Option<i64>>,
    /// The pairs of the rows of the batch that were found.
    pub found: Option<BatchPairs>,
    /// True if the lists turned out to be damaged.
    pub damaged: Option<bool>,
    /// True if rows wait for another batch.
    pub more: Option<bool>,
}

impl JobFacts {
    /// Creates the state at the beginning of a transaction.
    pub fn new(job: RegisteredJob) -> Self {
        Self { job, ..Self::default() }
    }

    /// Records that the tables were emptied and now have the type of the ids. Everything is
    /// rebuilt, as in a first transaction.
    pub fn emptied(&mut self) {
        self.job.other_type = false;
        self.job.first = true;
    }

    /// Returns the largest number of rows that are taken. A method that recomputes all pairs takes
    /// all changes at once.
    pub fn limit(&self) -> i64 {
        if self.job.upkeep.is_whole() { i64::MAX - 1 } else { self.job.batch_rows }
    }

    /// Reports whether all rows are compared with their known contents because some changes may be
    /// unknown. This happens once in a refresh, or each time if all pairs are recomputed.
    pub fn compares(&self) -> bool {
        let unknown = self.unnoted == Some(true) || self.noted == Some(false);
        unknown && (self.job.first || self.job.upkeep.is_whole())
    }

    /// Reports whether rows that are joined with the batch may differ from the rows as they were
    /// seen without a mark that says so.
    pub fn doubts(&self) -> bool {
        self.noted == Some(false) && !self.compares()
    }

    /// Reports whether the registry has to be updated with the facts that this refresh found out.
    pub fn changes_entry(&self) -> bool {
        self.job.renewed || (self.job.first && !self.job.same_definition)
    }

    /// Returns the batch, once its rows have been counted.
    pub fn batch(&self) -> Option<RowBatch> {
        let everything = self.contents == Some(KnownRows::Unseen { fits: true });
        let (rows, known) = (self.rows?, if everything { 0 } else { self.known? });
        let most = everything || self.job.upkeep.is_whole() || rows.saturating_mul(5) > known;
        Some(RowBatch { rows, everything, known, most })
    }
}

/// The rows of a transaction.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RowBatch {
    /// The number of rows.
    pub rows: i64,
    /// True if the batch consists of all existing rows, and no row was known before.
    pub everything: bool,
    /// The number of known rows, counted up to [`RowBatch::limit`], because only the ratio matters.
    pub known: i64,
    /// True if so much has changed that clusters are rebuilt.
    pub most: bool,
}

impl RowBatch {
    /// Returns the number up to which known rows are counted, given the number of changed rows.
    pub fn limit(rows: i64) -> i64 {
        rows.saturating_mul(20).saturating_add(1)
    }

    /// Reports whether the batch has many rows, and these are not few in comparison with the known
    /// rows. In that case indexes are of no use.
    pub fn is_large(&self) -> bool {
        self.rows > 1000 && self.rows.saturating_mul(20) > self.known
    }

    /// Reports whether the rows of the batch are so few, in comparison with the known rows, that
    /// they are looked up in lists.
    pub fn is_small(&self) -> bool {
        self.rows.saturating_mul(4) < self.known
    }
}
