//! The steps of a call, and the tables that they work on.

/// A working table.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Table {
    /// The set of each document, with a number and a digest by which equal sets are known.
    Sets,
    /// By its number, each document whose set has tokens: the least number with an equal set, which stands for all of these.
    Members,
    /// The order of tokens.
    Ranks,
    /// The rows of the parts, of one document for all that have an equal set.
    Routes,
    /// Two numbers whose sets may be similar.
    Candidates,
    /// Candidates of a round with the set of the first of both.
    Halves,
    /// Two numbers whose sets are similar.
    Pairs,
    /// Of a star round: the greater ends of edges, each with the least end that is known to be connected with it.
    Larger,
    /// The edges between numbers whose sets are in one cluster, from both ends; fewer and fewer of them in each round, until they
    /// lead from the least number of a cluster to all others of it.
    Edges,
    /// Each number with each other whose set is similar, how similar they are, and how many documents have that set.
    Neighbours,
    /// By its number, each set that is in a cluster: what the cluster is called, its size, and who represents it.
    Clusters,
}

impl Table {
    /// All of them, in the order in which they are made.
    pub const ALL: [Self; 11] = [
        Self::Sets,
        Self::Members,
        Self::Ranks,
        Self::Routes,
        Self::Candidates,
        Self::Halves,
        Self::Pairs,
        Self::Larger,
        Self::Edges,
        Self::Neighbours,
        Self::Clusters,
    ];

    /// What its name ends with.
    pub fn name(self) -> &'static str {
        match self {
            Self::Sets => "sets",
            Self::Members => "members",
            Self::Ranks => "ranks",
            Self::Routes => "routes",
            Self::Candidates => "candidates",
            Self::Halves => "halves",
            Self::Pairs => "pairs",
            Self::Larger => "larger",
            Self::Edges => "edges",
            Self::Neighbours => "neighbours",
            Self::Clusters => "clusters",
        }
    }
}

/// What a transaction adds to the log.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stage {
    /// A table was filled once and for all.
    Table(Table),
    /// Some of the candidates were compared: of as many rounds as there are, this one, from 0 on.
    Round(i64),
    /// The edges were brought nearer to stars: for the first time or later, from 0 on.
    Stars(i64),
    /// The pairs are in the table that the caller named.
    Result,
}

/// Why a call ends without a result.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Refusal {
    /// A relation of the name of the result is there.
    Taken,
    /// A document has no id.
    NullId,
    /// Two documents have one id.
    DoubleId,
    /// There are more candidates than these.
    Candidates(i64),
    /// There are more pairs than the caller wants.
    Pairs,
}

/// What a transaction leads to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum End {
    /// To another one.
    More,
    /// To the end of the call.
    Ended,
}

/// One step.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Step {
    /// Makes the result by the join of one server.
    JoinHere,
    /// Makes the clusters of the result from its pairs, on one server.
    ClusterHere,
    /// Makes the log, with the arguments of the call.
    TakeLog,
    /// Drops the working tables that the log tells of, here and on the servers.
    DropTables,
    /// Drops the log.
    DropLog,
    /// Tells how many rows a table has, if it is there.
    Count(Table),
    /// Takes what was done from a place on out of the log.
    Forget {
        /// How many of its rows stay.
        keep: usize,
    },
    /// Makes a table without rows; one of that name goes.
    Make(Table),
    /// Fills a table, and tells how many rows came.
    Fill(Table),
    /// Tells whether each document has an id of its own.
    CheckIds,
    /// Tells how large the sets are.
    Measure,
    /// Tells how many pairs equal sets make.
    CountEqual,
    /// Tells how many pairs there are, counted up to one more than the caller wants.
    CountPairs,
    /// Makes the result, and tells how many pairs it has.
    MakeResult,
    /// Tells how many numbers the edges do not yet connect with the least one of their cluster alone.
    CountUnsettled,
    /// Makes the clusters of the result from the working tables.
    MakeClusters,
    /// Writes into the log what was done.
    Log(Stage),
    /// Remembers why the call is to end, once what it made is gone.
    Refuse(Refusal),
    /// The end of the transaction.
    Done(End),
}
