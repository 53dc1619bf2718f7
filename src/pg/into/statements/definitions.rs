//! The working tables: their columns, the column by which their rows are spread, and how they are
//! made and dropped.

use std::fmt::{Display, Formatter, Result as Formatted};

use crate::into::step::WorkingTable;
use crate::pg::into::nodes::Nodes;
use crate::pg::procedure::definition::{Column, Type, store_as_they_are};
use crate::pg::procedure::statement::Statement;
use crate::pg::request::example::literal;
use crate::pg::server::error::Result;

/// How the rows of a table are distributed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Distribution {
    /// They are in one table of this server.
    Home,
    /// They are in local partitions, by ranges of this column.
    Parts(&'static str),
    /// They are on servers, by the hash of this column, or by ranges of it.
    Servers(&'static str),
    /// They are in shards of Citus, by the hash of this column, or on all nodes.
    Shards(Option<&'static str>),
}

impl Distribution {
    /// Returns how the rows of a table are distributed over these nodes.
    pub(crate) fn for_table(table: WorkingTable, nodes: Nodes<'_>) -> Self {
        let is_large = matches!(
            table,
            WorkingTable::Sets
                | WorkingTable::Members
                | WorkingTable::Routes
                | WorkingTable::Candidates
                | WorkingTable::Halves
        );
        match (nodes, key(table, nodes)) {
            _ if matches!(table, WorkingTable::Parts | WorkingTable::Found | WorkingTable::Grouped) => {
                Self::Home
            }
            (Nodes::Citus(_), by) => Self::Shards(by),
            (Nodes::Fdw(_), Some(by)) if is_large => Self::Servers(by),
            (Nodes::Home(Some(_)), Some(by)) if is_large => Self::Parts(by),
            _ => Self::Home,
        }
    }

    /// Returns the values in partition `n` of `count`, in a join in this number of parts. Ranges
    /// have equal lengths.
    pub(crate) fn bounds(self, n: usize, count: usize, parts: i64) -> String {
        let (n, count) = (n as i64, count as i64);
        match self {
            Self::Servers(by) if by != "part" => format!("WITH (MODULUS {count}, REMAINDER {n})"),
            Self::Parts(by) if by != "part" => {
                format!("FROM ({}) TO ({})", first_number(n), first_number(n + 1))
            }
            _ => format!("FROM ({}) TO ({})", parts * n / count, parts * (n + 1) / count),
        }
    }

    /// Reports whether the rows are in partitions.
    pub(crate) fn has_partitions(self) -> bool {
        matches!(self, Self::Parts(_) | Self::Servers(_))
    }
}

/// What follows the columns in `CREATE TABLE`.
impl Display for Distribution {
    fn fmt(&self, to: &mut Formatter<'_>) -> Formatted {
        match self {
            Self::Home => Ok(()),
            // The parts of the rows have about the same size, and so are distributed in ranges.
            Self::Servers("part") => to.write_str(" PARTITION BY RANGE (part)"),
            Self::Servers(by) => write!(to, " PARTITION BY HASH ({by})"),
            Self::Parts(by) => write!(to, " PARTITION BY RANGE ({by})"),
            Self::Shards(_) => write!(to, " {PLAIN}"),
        }
    }
}

/// The options of a table whose rows are stored here or in shards. Rows that fit into a page are
/// stored in one piece: all rows are read again and again, and assembling a set from pieces takes
/// longer than reading it. Nobody updates the rows, and the table is dropped soon, so that it is
/// not to be vacuumed.
const PLAIN: &str = "WITH (toast_tuple_target = 8160, autovacuum_enabled = false)";

/// Returns the column by which a table is distributed, or `None` if each node has all of its rows.
/// It is the first one, but of pairs the right one: right sets are where they are compared.
fn key(table: WorkingTable, nodes: Nodes<'_>) -> Option<&'static str> {
    match table {
        WorkingTable::Halves | WorkingTable::Pairs => Some("r"),
        WorkingTable::Ranks | WorkingTable::Parts => None,
        _ => columns(table, nodes, false).first().map(|(name, _)| *name),
    }
}

/// Returns the table of Citus with which a table in shards is colocated. All tables that are
/// distributed by numbers of sets are colocated with the sets; parts are distributed independently.
/// `update` says that some tables are kept.
pub(crate) fn like(table: WorkingTable, update: bool) -> Option<WorkingTable> {
    match table {
        WorkingTable::Seen | WorkingTable::Changes | WorkingTable::Numbers => Some(WorkingTable::Known),
        WorkingTable::Stored | WorkingTable::Routed | WorkingTable::Ids => None,
        WorkingTable::Joined => Some(WorkingTable::Routes),
        WorkingTable::Routes if update => Some(WorkingTable::Routed),
        _ if update => Some(WorkingTable::Stored),
        WorkingTable::Sets | WorkingTable::Routes => None,
        WorkingTable::Members | WorkingTable::Slots => Some(WorkingTable::Sets),
        _ => Some(WorkingTable::Members),
    }
}

/// Returns the columns of a table. `members_have_sets` says that, in Citus, the sets are moved to
/// where the members are.
pub(crate) fn columns(table: WorkingTable, nodes: Nodes<'_>, members_have_sets: bool) -> &'static [Column] {
    match table {
        // Documents without tokens have no digest.
        WorkingTable::Sets => &[N, ID, ("bytes", Type::Int4), DIGEST, SET],
        // Only the first of the documents with an equal set stores the set.
        WorkingTable::Members if members_have_sets => columns(WorkingTable::Stored, nodes, false),
        WorkingTable::Members => &[N, R, ID],
        WorkingTable::Ranks => &[("ranks", Type::Bytea)],
        WorkingTable::Routes if nodes.are_shared() => &[PART, ("rows", Type::Packed)],
        WorkingTable::Routes | WorkingTable::Routed => {
            &[PART, N, ("size", Type::Int4), ("bitmap", Type::Packed), ("prefix", Type::Packed)]
        }
        WorkingTable::Candidates | WorkingTable::Living => &[L, R],
        // Which of two documents has the lesser id may matter.
        WorkingTable::Halves if nodes.citus().is_some() => &[L, R, ID, SET],
        WorkingTable::Halves => &[L, R, SET],
        WorkingTable::Pairs => &[L, R, ("similarity", Type::Found)],
        WorkingTable::Larger | WorkingTable::Edges => &[("u", Type::Int8), ("v", Type::Int8)],
        WorkingTable::Neighbours => &[N, ("other", Type::Int8), ("similarity", Type::Float8), COUNT],
        WorkingTable::Clusters => &[N, ID, ("size", Type::Int8), ("representative", Type::Int8)],
        WorkingTable::Seen => &[ID, HASH, ("rows", Type::Int8)],
        WorkingTable::Changes => &[ID, HASH, ("gone", Type::Bool), ("batch", Type::Int8)],
        WorkingTable::Known => &[ID, HASH, N, R, DIGEST],
        WorkingTable::Stored => &[N, R, ID, SET],
        WorkingTable::Slots => &[("key", Type::Int8), ("slot", Type::Int8)],
        WorkingTable::Ids => &[ID],
        WorkingTable::Numbers => &[ID, N, R, DIGEST],
        WorkingTable::Samples => &[("k", Type::Int8), ("set", Type::Bytea)],
        WorkingTable::Joined => &[PART, ("ids", Type::Int8Array)],
        WorkingTable::Named => &[L, ID, ("similarity", Type::Found)],
        WorkingTable::Counted => &[L, COUNT],
        WorkingTable::Vertices => {
            &[("root", Type::Int8), N, ID, COUNT, ("pairs", Type::Int8), ("weight", Type::Numeric)]
        }
        WorkingTable::Parts => &[("step", Type::Int8), ("part", Type::Int8), ("rows", Type::Int8)],
        // These have the columns of the caller's tables.
        WorkingTable::Found | WorkingTable::Grouped => &[],
    }
}

const N: Column = ("n", Type::Int8);
const L: Column = ("l", Type::Int8);
const R: Column = ("r", Type::Int8);
const ID: Column = ("id", Type::Id);
const PART: Column = ("part", Type::Int4);
const HASH: Column = ("hash", Type::Uuid);
const DIGEST: Column = ("digest", Type::Bytea);
const COUNT: Column = ("count", Type::Int8);
const SET: Column = ("set", Type::Packed);

/// Returns the first of the numbers in the part of this number, or of the documents that the call
/// of this number reads. Numbers of documents are spread over these in ranges of this length.
pub(crate) fn first_number(part: i64) -> i64 {
    const LENGTH: u32 = 40;
    part << LENGTH
}

/// Makes a table whose rows are kept after a crash. `sql` are its columns as SQL text.
pub(crate) fn create(name: &str, columns: &[Column], sql: &str, distribution: Distribution) -> Result<()> {
    Statement::new(format!("CREATE TABLE {name} ({sql}){distribution}")).run()?;
    if matches!(distribution, Distribution::Servers(_)) {
        return Ok(());
    }
    store_as_they_are(name, columns)
}

/// The table on a server for which a partition stands.
#[derive(Debug, Clone, Copy)]
pub(crate) struct FarTable<'a> {
    /// The server, quoted for SQL text.
    pub server: &'a str,
    /// The schema of the table there.
    pub schema: &'a str,
    /// The name of the table there.
    pub name: &'a str,
    /// The number of rows that are fetched at a time.
    pub fetched: i64,
    /// The number of rows that are sent at a time.
    pub sent: i64,
}

/// Makes a partition of the table `of`, here or on a server.
pub(crate) fn create_partition(of: &str, name: &str, bounds: &str, far: Option<FarTable<'_>>) -> Statement {
    Statement::new(match far {
        None => format!("CREATE TABLE {name} PARTITION OF {of} FOR VALUES {bounds} {PLAIN}"),
        Some(FarTable { server, schema, name: far_name, fetched, sent }) => format!(
            "CREATE FOREIGN TABLE {name} PARTITION OF {of} FOR VALUES {bounds} SERVER {server} OPTIONS (schema_name {}, table_name {}, \
             fetch_size '{fetched}', batch_size '{sent}', async_capable 'true')",
            literal(schema),
            literal(far_name)
        ),
    })
}

/// Sets how many rows of a partition are fetched at a time.
pub(crate) fn fetch(partition: &str, rows: i64) -> Statement {
    Statement::new(format!("ALTER FOREIGN TABLE {partition} OPTIONS (SET fetch_size '{rows}')"))
}

/// Returns the SQL expression for the size in bytes of these columns of a row `t`.
pub(super) fn size_of_row(columns: &[Column]) -> String {
    let fixed = |of: Type| match of {
        Type::Int4 => 4,
        Type::Int8 | Type::Float8 => 8,
        _ => 0,
    };
    let sum: i32 = columns.iter().map(|&(_, of)| fixed(of)).sum();
    let others = columns.iter().filter(|&&(_, of)| fixed(of) == 0);
    let others = others.map(|(name, _)| format!(" + pg_column_size(t.{name})"));
    format!("{sum}{}", others.collect::<String>())
}
