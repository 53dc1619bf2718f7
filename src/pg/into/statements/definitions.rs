//! The working tables: their columns, the column by which their rows are spread, and how they are
//! made and dropped.

use std::fmt::{Display, Formatter, Result as Formatted};

use super::on;
use crate::into::step::WorkingTable;
use crate::pg::into::columns::{Column, Type};
use crate::pg::into::nodes::Nodes;
use crate::pg::into::own::OwnTable;
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
        match (nodes, key(table)) {
            (Nodes::Citus(_), by) => Self::Shards(by),
            (Nodes::Fdw(_), Some(by)) if is_large => Self::Servers(by),
            (Nodes::Home(Some(_)), Some(by)) if is_large => Self::Parts(by),
            _ => Self::Home,
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

/// Returns the column by whose values rows are distributed, or None if all nodes need all rows.
/// Each row is where the row is with which it is joined next.
fn key(table: WorkingTable) -> Option<&'static str> {
    match table {
        WorkingTable::Sets
        | WorkingTable::Members
        | WorkingTable::Neighbours
        | WorkingTable::Clusters
        | WorkingTable::Stored => Some("n"),
        WorkingTable::Larger | WorkingTable::Edges => Some("u"),
        WorkingTable::Routes | WorkingTable::Routed => Some("part"),
        WorkingTable::Seen | WorkingTable::Changes | WorkingTable::Known => Some("id"),
        WorkingTable::Candidates => Some("l"),
        WorkingTable::Halves | WorkingTable::Pairs => Some("r"),
        WorkingTable::Ranks => None,
    }
}

/// Returns the columns of a table. `members_have_sets` says that, in Citus, the sets are moved to
/// where the members are.
pub(crate) fn columns(table: WorkingTable, nodes: Nodes<'_>, members_have_sets: bool) -> &'static [Column] {
    match table {
        // Documents without tokens have no digest.
        WorkingTable::Sets => &[
            ("n", Type::Int8),
            ("id", Type::Id),
            ("bytes", Type::Int4),
            ("digest", Type::Bytea),
            ("set", Type::Packed),
        ],
        // Only the first of the documents with an equal set stores the set.
        WorkingTable::Members if members_have_sets => columns(WorkingTable::Stored, nodes, false),
        WorkingTable::Members => &[("n", Type::Int8), ("r", Type::Int8), ("id", Type::Id)],
        WorkingTable::Ranks => &[("ranks", Type::Bytea)],
        WorkingTable::Routes if nodes.are_shared() => &[("part", Type::Int4), ("rows", Type::Packed)],
        WorkingTable::Routes | WorkingTable::Routed => &[
            ("part", Type::Int4),
            ("n", Type::Int8),
            ("size", Type::Int4),
            ("bitmap", Type::Packed),
            ("prefix", Type::Packed),
        ],
        WorkingTable::Candidates => &[("l", Type::Int8), ("r", Type::Int8)],
        // Which of two documents has the lesser id may matter.
        WorkingTable::Halves if nodes.citus().is_some() => {
            &[("l", Type::Int8), ("r", Type::Int8), ("id", Type::Id), ("set", Type::Packed)]
        }
        WorkingTable::Halves => &[("l", Type::Int8), ("r", Type::Int8), ("set", Type::Packed)],
        WorkingTable::Pairs => &[("l", Type::Int8), ("r", Type::Int8), ("similarity", Type::Found)],
        WorkingTable::Larger | WorkingTable::Edges => &[("u", Type::Int8), ("v", Type::Int8)],
        WorkingTable::Neighbours => {
            &[("n", Type::Int8), ("other", Type::Int8), ("similarity", Type::Float8), ("count", Type::Int8)]
        }
        WorkingTable::Clusters => {
            &[("n", Type::Int8), ("id", Type::Id), ("size", Type::Int8), ("representative", Type::Int8)]
        }
        WorkingTable::Seen => &[("id", Type::Id), ("hash", Type::Uuid), ("rows", Type::Int8)],
        WorkingTable::Changes => {
            &[("id", Type::Id), ("hash", Type::Uuid), ("gone", Type::Bool), ("batch", Type::Int8)]
        }
        WorkingTable::Known => &[
            ("id", Type::Id),
            ("hash", Type::Uuid),
            ("n", Type::Int8),
            ("r", Type::Int8),
            ("digest", Type::Bytea),
        ],
        WorkingTable::Stored => {
            &[("n", Type::Int8), ("r", Type::Int8), ("id", Type::Id), ("set", Type::Packed)]
        }
    }
}

/// Returns the first of the numbers in the part of this number, or of the documents that the call
/// of this number reads. Numbers of documents are spread over these in ranges of this length.
pub(crate) fn first_number(part: i64) -> i64 {
    const LENGTH: u32 = 40;
    part << LENGTH
}

/// Makes a table whose rows are kept after a crash. `sql` are its columns as SQL text. Values that
/// cannot be compressed further are not compressed.
pub(crate) fn create(name: &str, columns: &[Column], sql: &str, distribution: Distribution) -> Result<()> {
    Statement::new(format!("CREATE TABLE {name} ({sql}){distribution}")).run()?;
    if matches!(distribution, Distribution::Servers(_)) {
        return Ok(());
    }
    for (column, _) in columns.iter().filter(|(_, of)| matches!(of, Type::Packed | Type::Int8Array)) {
        Statement::new(format!("ALTER TABLE {name} ALTER COLUMN {column} SET STORAGE EXTERNAL")).run()?;
    }
    Ok(())
}

/// Makes a local part of a table.
pub(crate) fn create_part(table: WorkingTable, of: &str, name: &str, part: i64) -> Statement {
    let [from, to] =
        [part, part + 1].map(|at| if table == WorkingTable::Routes { at } else { first_number(at) });
    Statement::new(format!(
        "CREATE TABLE {name} PARTITION OF {of} FOR VALUES FROM ({from}) TO ({to}) {PLAIN}"
    ))
}

/// A partition on a server.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Partition<'a> {
    /// The local name.
    pub name: &'a str,
    /// The server, quoted for SQL text.
    pub server: &'a str,
    /// The schema of the table on the server.
    pub schema: &'a str,
    /// The name of the table on the server.
    pub far_name: &'a str,
    /// The number of this partition, starting at 0, and the number of partitions.
    pub number: (usize, usize),
    /// The numbers of rows that are fetched and sent at a time.
    pub rows: (i64, i64),
}

/// Makes a partition: by the hash or, if `parts` is given, for a range of the parts. The ranges
/// have equal lengths.
pub(crate) fn create_partition(of: &str, partition: Partition<'_>, parts: Option<i64>) -> Statement {
    let Partition { name, server, schema, far_name, number: (n, count), rows: (fetched, sent) } = partition;
    let bounds = match parts {
        None => format!("WITH (MODULUS {count}, REMAINDER {n})"),
        Some(parts) => {
            let start = |n: usize| parts * n as i64 / count as i64;
            format!("FROM ({}) TO ({})", start(n), start(n + 1))
        }
    };
    Statement::new(format!(
        "CREATE FOREIGN TABLE {name} PARTITION OF {of} FOR VALUES {bounds} SERVER {server} OPTIONS (schema_name {}, table_name {}, \
         fetch_size '{fetched}', batch_size '{sent}', async_capable 'true')",
        literal(schema),
        literal(far_name)
    ))
}

/// Sets how many rows of a partition are fetched at a time.
pub(crate) fn fetch(partition: &str, rows: i64) -> Statement {
    Statement::new(format!("ALTER FOREIGN TABLE {partition} OPTIONS (SET fetch_size '{rows}')"))
}

/// Drops tables.
pub(crate) fn drop(tables: &[String]) -> Statement {
    Statement::new(format!("DROP TABLE {}", tables.join(", ")))
}

/// Counts the rows of a table.
pub(crate) fn count(table: &OwnTable) -> Statement {
    on([table], format!("SELECT count(*) FROM {table}"))
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

/// Returns the number of bytes of the rows that were moved into a table.
pub(super) fn moved(table: &OwnTable, columns: &[Column]) -> Statement {
    let bytes = size_of_row(columns);
    on([table], format!("SELECT COALESCE(sum({bytes}), 0)::int8 FROM {table} t"))
}
