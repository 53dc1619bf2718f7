//! The steps of a call, and the tables that they work on.

/// Declares the working tables, in the order in which they are created.
macro_rules! working_tables {
    ($($(#[$about:meta])* $name:ident,)*) => {
        /// A working table.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
        pub enum WorkingTable {
            $($(#[$about])* $name,)*
        }

        impl WorkingTable {
            /// All tables.
            pub const ALL: &[Self] = &[$(Self::$name,)*];
        }
    };
}

working_tables! {
    /// The set of each document, with a number and a digest by which equal sets are found.
    Sets,
    /// Each document whose set has tokens, by its number, and the least number of a document with
    /// an equal set. That number represents all documents with this set.
    Members,
    /// The order of tokens.
    Ranks,
    /// The rows of the parts in which candidates are found. One document represents all documents
    /// that have an equal set.
    Routes,
    /// Pairs of numbers whose sets may be similar.
    Candidates,
    /// The candidates of a round, and for each of them the set of its first number.
    Halves,
    /// Pairs of numbers whose sets are similar.
    Pairs,
    /// The greater ends of edges in a star round, and for each of them the least number that is
    /// known to be connected with it.
    Larger,
    /// The edges between numbers whose sets are in one cluster, stored from both ends. Each round
    /// leaves fewer edges, until the edges lead from the least number of a cluster to all its other
    /// numbers.
    Edges,
    /// For each number, every other number whose set is similar, the similarity, and the number of
    /// documents with the set of that other number.
    Neighbours,
    /// Each set that is in a cluster, by its number, and the id, the size and the representative of
    /// the cluster.
    Clusters,
    /// The ids of all documents, and a hash of what is compared of each.
    Seen,
    /// The documents that are new, have changed or are gone since the result was made.
    Changes,
    /// The documents of which the result was made: their ids, hashes and sets.
    Known,
    /// All sets that documents have or had, if these are apart from the documents.
    Stored,
    /// The rows of the parts of these sets, if these are apart from the rows of new sets.
    Routed,
    /// For each shard of Citus, a key that falls into it, and the shard's number, starting at 0.
    /// This and the next ones are made, read and dropped within one step.
    Slots,
    /// The ids of all documents, distributed by id.
    Ids,
    /// The numbers of new documents, distributed by id.
    Numbers,
    /// The sets from which the order of tokens is made.
    Samples,
    /// The candidates found in each part.
    Joined,
    /// The pairs of sets of which documents have both.
    Living,
    /// Pairs with the id of the right document.
    Named,
    /// Pairs with the number of right documents.
    Counted,
    /// The sets of clusters, distributed by cluster.
    Vertices,
    /// The parts that are done, of each stage that is done in parts.
    Parts,
    /// The pairs that a table of the caller is to have.
    Found,
    /// The clusters that a table of the caller is to have.
    Grouped,
}

impl WorkingTable {
    /// Returns the suffix of the table's name.
    pub fn name(self) -> String {
        format!("{self:?}").to_lowercase()
    }
}

/// An entry that a transaction adds to the log.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LoggedStage {
    /// A table was filled completely.
    Table(WorkingTable),
    /// Some of the candidates were compared in this round, counted from 0.
    Round(i64),
    /// The edges were brought nearer to stars in this round, counted from 0.
    Stars(i64),
    /// The pairs are in the table that the caller named.
    Result,
}

/// The reason why a call ends without a result.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RefusalReason {
    /// A relation with the name of the result exists.
    Taken,
    /// A document has no id.
    NullId,
    /// Two documents have the same id.
    DoubleId,
    /// There are more than this many candidates.
    Candidates(i64),
    /// There are more pairs than the caller wants.
    Pairs,
}

/// The continuation after a transaction.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum End {
    /// Another transaction follows.
    More,
    /// The call ends.
    Ended,
}

/// A step of a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CallStep {
    /// Creates the result by a join on one server.
    JoinHere,
    /// Creates the clusters of the result from its pairs, on one server.
    ClusterHere,
    /// Creates the log, with the arguments of the call.
    TakeLog,
    /// Drops the working tables that the log lists, here and on the servers.
    DropTables,
    /// Drops the log.
    DropLog,
    /// Begins to bring a finished result up to date: the log has no stages any more.
    BeginUpdate,
    /// Reports the number of rows of a table, if it exists.
    Count(WorkingTable),
    /// Removes all stages after the first `keep` from the log.
    Forget {
        /// The number of stages that stay in the log.
        keep: usize,
    },
    /// Creates a table without rows. A table with that name is dropped first.
    Make(WorkingTable),
    /// Fills a table, and reports the number of new rows.
    Fill(WorkingTable),
    /// Takes a part of the work that fills a table, of the parts that no session has done or is
    /// doing; reports what was taken.
    TakePart(WorkingTable),
    /// Records that the tables which the next stage fills are made, and that no part of it is done.
    Open,
    /// Records that the part that was taken is done.
    LogPart,
    /// Waits until another session has ended its part.
    Wait,
    /// Reports whether each document has an id of its own.
    CheckIds,
    /// Reports the sizes of the sets.
    Measure,
    /// Reports the number of pairs that equal sets make.
    CountEqual,
    /// Reports the number of pairs, counted up to one more than the caller wants.
    CountPairs,
    /// Creates the result, and reports the number of its pairs.
    MakeResult,
    /// Reports how many numbers have a lesser neighbour and yet another neighbour. There are none
    /// once all edges lead to the least number of a cluster.
    CountUnsettled,
    /// Creates the clusters of the result from the working tables.
    MakeClusters,
    /// Writes the completed stage into the log.
    Log(LoggedStage),
    /// Remembers why the call has to end. The call ends once the tables that it created are
    /// dropped.
    Refuse(RefusalReason),
    /// Ends the transaction.
    Done(End),
}
