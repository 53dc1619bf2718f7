//! The steps of a refresh.

/// Rows by what the job's table of states says of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Rows {
    /// Those that are being brought up to date.
    Batch,
    /// Those that have been seen, the batch among them once it was read.
    Known,
}

/// Rows that are joined.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Join {
    /// All rows with each other.
    All,
    /// The rows of the batch with each other, as there are no others.
    Batch,
    /// The rows of the batch with all known ones.
    BatchWithKnown,
}

/// How clusters are brought up to date.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Clusters {
    /// Anew, of the signatures of all rows.
    OfSignatures,
    /// Anew, of all pairs.
    OfPairs,
    /// Those that rows of the batch or their partners were or are in. Where the rows had no pairs they were in none.
    Touched {
        /// Whether rows of the batch can have been in pairs.
        had_pairs: bool,
    },
    /// Those of all rows that pairs connected or connect with the batch.
    Reached,
}

/// One step, in the transaction of its batch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Step {
    /// Empties the tables and gives them the type of the ids. Then all is planned anew.
    Retype,
    /// Moves rows as they were seen to where they are to be. It loses nothing of what is known.
    Move,
    /// Forgets that rows changed of which triggers noted no ids, and tells whether some did. Before rows are compared: what
    /// changes later is not forgotten.
    TakeUnnoted,
    /// Looks at the relation: up to [`Step::EndBatch`] steps see all rows, and their marks, as they are now. Tells whether
    /// triggers noted each row that is not as it was seen.
    ///
    /// So what is known of the rows of the batch is what their pairs, their clusters and their places in lists are made of.
    Look,
    /// Tells whether rows have been seen, and if not, whether so many or fewer are there.
    LookAtRows {
        /// The most rows that fit into the batch.
        limit: i64,
    },
    /// Forgets the marks of rows that wait, as all rows are taken.
    ForgetWaiting,
    /// Puts all rows into the batch as seen, and tells how many.
    TakeAll,
    /// Compares all rows with what is known of them, by hash. Those that differ, and those that waited, are in the batch, or
    /// wait for the next one; tells how many are in it.
    ///
    /// A row that waited may be what it was before: but a batch in between can have been joined with what it was meanwhile.
    /// Rows that are in doubt wait, too.
    CompareAll {
        /// The most rows of the batch.
        limit: i64,
    },
    /// Takes rows whose change was noted into the batch, and tells how many.
    TakeMarks {
        /// The most rows of the batch.
        limit: i64,
    },
    /// Tells how many rows are known.
    CountKnown {
        /// As many as are counted at most.
        limit: i64,
    },
    /// Marks the rows that pairs connect with the batch, while its pairs are as they were.
    ReachBefore,
    /// Removes all pairs, and tells how many.
    RemoveAllPairs,
    /// Removes the pairs of the batch, and tells how many, and whether there can have been any.
    RemovePairs {
        /// Whether to look for pairs of rows only where they are in clusters: every row of a pair is.
        by_clusters: bool,
    },
    /// Reads the rows of the batch anew: what is known of them is what they are now. Tells whether there are no others, and
    /// how many of them are left.
    Reread,
    /// Tells the number of the segment that the rows of the batch become in the lists; none if all lists are to be made anew.
    NextSegment {
        /// How many rows it will have.
        rows: i64,
    },
    /// Looks the rows of the batch up in the lists and puts them into these as well, and tells how many pairs they have.
    LookUp {
        /// The segment that they become.
        segment: Option<i64>,
        /// Whether rows that were found in the lists, similar or not, are in doubt where they are not as they were seen.
        doubts: bool,
    },
    /// Joins rows, and tells how many pairs came.
    JoinRows(Join),
    /// Puts the rows of the batch into the lists.
    Outline {
        /// The segment that they become.
        segment: i64,
    },
    /// Merges small segments of the lists, and tells whether these are damaged.
    MergeSegments,
    /// Makes the lists anew, of these rows or of all.
    MakeLists(Option<Rows>),
    /// Compares all rows that have been seen with what is known of them. Those that differ are in doubt: they can have been
    /// joined, or put into lists, as they were not seen, and be again what they were when rows are compared next.
    Doubt,
    /// Brings the clusters up to date.
    Cluster(Clusters),
    /// Ends the batch: its marks go. Tells whether rows wait for another one.
    EndBatch,
    /// Lets the server count the job's tables, or the next batch would be planned as if they were empty.
    Analyze,
    /// Writes what this refresh learnt of the relation into the registry.
    WriteEntry,
    /// Logs the batch.
    Log {
        /// Whether rows wait for another one.
        more: bool,
    },
    /// The end of the transaction.
    Done {
        /// Whether rows wait for another batch.
        more: bool,
    },
}
