//! The steps of a refresh.

/// A selection of rows by their entries in the job's table of states.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RowSelection {
    /// The rows that are being brought up to date.
    Batch,
    /// The rows that have been seen, including the batch once it has been read.
    Known,
}

/// A selection of rows to join.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum JoinSelection {
    /// All rows with each other.
    All,
    /// The rows of the batch with each other, because there are no other rows.
    Batch,
    /// The rows of the batch with all known rows.
    BatchWithKnown,
}

/// The way in which clusters are brought up to date.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ClusterUpdate {
    /// Rebuild all clusters from the signatures of all rows.
    OfSignatures,
    /// Rebuild all clusters from all pairs.
    OfPairs,
    /// Update the clusters that contained or contain rows of the batch or their partners. Rows
    /// without pairs were in no cluster.
    Touched {
        /// True if rows of the batch can have been in pairs.
        had_pairs: bool,
    },
    /// Update the clusters of all rows that pairs connected or connect with the batch.
    Reached,
}

/// A step of a transaction of a refresh. Each such transaction processes one batch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RefreshStep {
    /// Empties the tables and gives them the type of the ids. Then planning starts from scratch.
    Retype,
    /// Moves the data about rows as they were seen to the place where it belongs. No known data is
    /// lost.
    Move,
    /// Clears the note that rows changed whose ids triggers did not record, and reports whether
    /// there was one. This happens before rows are compared, so that the note of a later change is
    /// not lost.
    TakeUnnoted,
    /// Looks at the relation: up to [`RefreshStep::EndBatch`], steps see all rows and their marks
    /// as they are now. Reports whether triggers noted every row that differs from what was seen.
    ///
    /// So the pairs, clusters and list entries of the rows of the batch are made from the same
    /// contents that become the known contents of these rows.
    Look,
    /// Reports whether rows have been seen and, if not, whether at most `limit` rows exist.
    LookAtRows {
        /// The most rows that fit into the batch.
        limit: i64,
    },
    /// Deletes the marks of waiting rows, because all rows are taken.
    ForgetWaiting,
    /// Puts all rows into the batch, stores them as seen, and reports their number.
    TakeAll,
    /// Compares all rows with their known contents, by hash. The rows that differ and the rows that
    /// waited are put into the batch, or wait for the next batch. Reports the number of rows in the
    /// batch.
    ///
    /// A row that waited may have its known contents again, but a batch in between can have been
    /// joined with other contents of this row. Rows that are in doubt count as rows that waited.
    CompareAll {
        /// The most rows of the batch.
        limit: i64,
    },
    /// Takes rows whose change was noted into the batch, and reports their number.
    TakeMarks {
        /// The most rows of the batch.
        limit: i64,
    },
    /// Reports the number of known rows.
    CountKnown {
        /// The number up to which rows are counted.
        limit: i64,
    },
    /// Marks the rows that pairs connect with the batch, before its pairs are changed.
    ReachBefore,
    /// Removes all pairs, and reports their number.
    RemoveAllPairs,
    /// Removes the pairs of the batch, and reports their number and whether there can have been
    /// any.
    RemovePairs {
        /// True to look for pairs only if rows of the batch are in clusters. Every row of a pair is
        /// in a cluster.
        by_clusters: bool,
    },
    /// Reads the rows of the batch again and updates their known contents. Reports whether there
    /// are no other rows, and how many rows of the batch still exist.
    Reread,
    /// Reports the number of the segment that the rows of the batch become in the lists, or `None`
    /// if all lists have to be rebuilt.
    NextSegment {
        /// The number of rows that the segment will have.
        rows: i64,
    },
    /// Looks up the rows of the batch in the lists, adds them to the lists, and reports how many
    /// pairs they have.
    LookUp {
        /// The segment that the rows become.
        segment: Option<i64>,
        /// True if rows that are found in the lists, whether similar or not, are put in doubt when
        /// they differ from the rows as they were seen.
        doubts: bool,
    },
    /// Joins rows, and reports the number of new pairs.
    JoinRows(JoinSelection),
    /// Adds the rows of the batch to the lists.
    Outline {
        /// The segment that the rows become.
        segment: i64,
    },
    /// Merges small segments of the lists, and reports whether the lists are damaged.
    MergeSegments,
    /// Rebuilds the lists, from these rows or from all rows.
    MakeLists(Option<RowSelection>),
    /// Compares all rows that have been seen with their known contents. Rows that differ are put in
    /// doubt. Such rows can have been joined, or put into lists, with contents that were never
    /// stored as seen, and can have their former contents again when all rows are compared the next
    /// time.
    Doubt,
    /// Brings the clusters up to date.
    Cluster(ClusterUpdate),
    /// Ends the batch and deletes its marks. Reports whether rows wait for another batch.
    EndBatch,
    /// Runs ANALYZE on the job's tables. Otherwise the statements of the next batch would be
    /// planned as if the tables were empty.
    Analyze,
    /// Writes the facts that this refresh found out about the relation into the registry.
    WriteEntry,
    /// Logs the batch.
    Log {
        /// True if rows wait for another batch.
        more: bool,
    },
    /// Ends the transaction.
    Done {
        /// True if rows wait for another batch.
        more: bool,
    },
}
