//! What a transaction of a refresh knows when it plans: of its job from the beginning, of the rows as steps tell it.

/// What the pairs of a job depend on, and so what is brought up to date where rows change.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Upkeep {
    /// On token sets: the pairs of changed rows are looked up in lists of all rows.
    Sets,
    /// On two documents each: changed rows are joined with all rows.
    Pairs,
    /// On all rows: all pairs are made anew.
    Whole,
    /// On all rows, and clusters are made of signatures instead of pairs.
    Signatures,
}

impl Upkeep {
    /// Whether all pairs are made anew.
    pub fn is_whole(self) -> bool {
        matches!(self, Self::Whole | Self::Signatures)
    }
}

/// What the registry, the catalog and the settings say of a job.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Job {
    /// What its pairs depend on.
    pub upkeep: Upkeep,
    /// Whether its clusters are all that pairs connect.
    pub whole_clusters: bool,
    /// The most rows of a batch, at least 1.
    pub batch_rows: i64,
    /// Whether this is the first transaction of the refresh.
    pub first: bool,
    /// Whether the ids of the relation are of another type than those of its tables.
    pub other_type: bool,
    /// Whether rows as they were seen are elsewhere than they are to be.
    pub misplaced: bool,
    /// Whether triggers saw every change since the relation has been defined as it is.
    pub told: bool,
    /// Whether all rows were compared last when the relation was defined as it is, as far as triggers see its changes.
    pub same_definition: bool,
    /// Whether columns have other names or numbers than in the registry.
    pub renewed: bool,
}

/// What is known of rows before some are taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Contents {
    /// No row has been seen yet.
    Unseen {
        /// Whether one batch has room for all that there are.
        fits: bool,
    },
    /// Some rows have been seen.
    Seen,
}

/// What was removed to make room for the pairs of a batch.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Removed {
    /// How many pairs.
    pub pairs: i64,
    /// Whether rows of the batch can have been in pairs.
    pub had_pairs: bool,
}

/// The rows of a batch as they are now.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Present {
    /// Whether there are no rows but those of the batch.
    pub alone: bool,
    /// How many of the batch there are: the others were deleted.
    pub rows: i64,
}

/// The pairs that rows of a batch have.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct BatchPairs {
    /// How many pairs came.
    pub pairs: i64,
    /// Whether the rows were put into the lists as well.
    pub listed: bool,
}

/// All that is known; what is None has not been asked yet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct State {
    /// What was known from the beginning.
    pub job: Job,
    /// Whether rows changed of which triggers noted no ids.
    pub unnoted: Option<bool>,
    /// Whether triggers noted each row that is not as it was seen.
    pub noted: Option<bool>,
    /// What is known of rows.
    pub contents: Option<Contents>,
    /// How many changed rows were taken.
    pub rows: Option<i64>,
    /// How many rows had been seen before, counted up to [`Batch::limit`].
    pub known: Option<i64>,
    /// What was removed.
    pub removed: Option<Removed>,
    /// What there is of the rows that were taken.
    pub present: Option<Present>,
    /// The number of the segment of the lists that these rows become; none in it where the lists are to be made anew.
    pub segment: Option<Option<i64>>,
    /// The pairs of these rows.
    pub found: Option<BatchPairs>,
    /// Whether the lists turned out to be damaged.
    pub damaged: Option<bool>,
    /// Whether rows wait for another batch.
    pub more: Option<bool>,
}

impl State {
    /// What a transaction knows when it begins.
    pub fn new(job: Job) -> Self {
        Self {
            job,
            unnoted: None,
            noted: None,
            contents: None,
            rows: None,
            known: None,
            removed: None,
            present: None,
            segment: None,
            found: None,
            damaged: None,
            more: None,
        }
    }

    /// Says that the tables were emptied and have the type of the ids: everything is made anew, as at first.
    pub fn emptied(&mut self) {
        self.job.other_type = false;
        self.job.first = true;
    }

    /// The most rows that are taken. A method that makes all pairs anew takes all changes at once.
    pub fn limit(&self) -> i64 {
        if self.job.upkeep.is_whole() { i64::MAX - 1 } else { self.job.batch_rows }
    }

    /// Whether all rows are compared with what is known of them, as changes may be unknown: once a refresh, or each time
    /// where all pairs are made anew.
    pub fn compares(&self) -> bool {
        let unknown = self.unnoted == Some(true) || self.noted == Some(false);
        unknown && (self.job.first || self.job.upkeep.is_whole())
    }

    /// Whether rows that are joined with the batch may not be as they were seen, without a mark that says so.
    pub fn doubts(&self) -> bool {
        self.noted == Some(false) && !self.compares()
    }

    /// Whether the registry has to say what this refresh learnt.
    pub fn changes_entry(&self) -> bool {
        self.job.renewed || (self.job.first && !self.job.same_definition)
    }

    /// The rows that were taken, once they were counted.
    pub fn batch(&self) -> Option<Batch> {
        let everything = self.contents == Some(Contents::Unseen { fits: true });
        let (rows, known) = (self.rows?, if everything { 0 } else { self.known? });
        let most = everything || self.job.upkeep.is_whole() || rows.saturating_mul(5) > known;
        Some(Batch { rows, everything, known, most })
    }
}

/// The rows of a transaction.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Batch {
    /// How many they are.
    pub rows: i64,
    /// Whether they are all rows that there are, of which nothing was known.
    pub everything: bool,
    /// How many rows were known; at most [`Batch::limit`], as only the ratio is of interest.
    pub known: i64,
    /// Whether so much has changed that clusters are made anew.
    pub most: bool,
}

impl Batch {
    /// How many known rows are counted at most beside so many changed ones.
    pub fn limit(rows: i64) -> i64 {
        rows.saturating_mul(20).saturating_add(1)
    }

    /// Whether rows are many, and a part of the known ones that is not small: then indexes are of no use.
    pub fn is_large(&self) -> bool {
        self.rows > 1000 && self.rows.saturating_mul(20) > self.known
    }

    /// Whether its rows are few enough to be looked up in lists of the others.
    pub fn is_small(&self) -> bool {
        self.rows.saturating_mul(4) < self.known
    }
}
