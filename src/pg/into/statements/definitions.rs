//! Definitions of working tables, local ones and partitions that are foreign tables.

use pgrx::pg_sys::Oid;

use crate::into::step::Table;
use crate::pg::into::columns::{Column, Type};
use crate::pg::procedure::statement::Statement;
use crate::pg::request::example::literal;

/// Returns the column by whose hash the rows of a table are distributed over the servers, or None
/// for a table that is not on servers. The parts of [`Table::Routes`] have about the same size, and
/// so are distributed in ranges.
pub(crate) fn spread_by(table: Table) -> Option<&'static str> {
    match table {
        Table::Sets | Table::Members => Some("n"),
        Table::Routes => Some("part"),
        // Each row is on the server of the set with which it is joined next.
        Table::Candidates => Some("l"),
        Table::Halves => Some("r"),
        Table::Ranks | Table::Pairs => None,
        // These tables exist only in shards.
        Table::Larger | Table::Edges | Table::Neighbours | Table::Clusters => None,
        Table::Seen | Table::Changes | Table::Known | Table::Stored | Table::Routed => None,
    }
}

/// Returns the columns of a table.
pub(crate) fn columns(table: Table) -> &'static [Column] {
    match table {
        // Documents without tokens have no digest.
        Table::Sets => &[
            ("n", Type::Int8),
            ("id", Type::Id),
            ("bytes", Type::Int4),
            ("digest", Type::Bytea),
            ("set", Type::Bytea),
        ],
        Table::Members => &[("n", Type::Int8), ("r", Type::Int8), ("id", Type::Id)],
        Table::Ranks => &[("ranks", Type::Bytea)],
        Table::Routes => &[
            ("part", Type::Int4),
            ("n", Type::Int8),
            ("size", Type::Int4),
            ("bitmap", Type::Bytea),
            ("prefix", Type::Bytea),
        ],
        Table::Candidates => &[("l", Type::Int8), ("r", Type::Int8)],
        Table::Halves => &[("l", Type::Int8), ("r", Type::Int8), ("set", Type::Bytea)],
        Table::Pairs => &[("l", Type::Int8), ("r", Type::Int8), ("similarity", Type::Found)],
        Table::Larger | Table::Edges => &[("u", Type::Int8), ("v", Type::Int8)],
        Table::Neighbours => {
            &[("n", Type::Int8), ("other", Type::Int8), ("similarity", Type::Float8), ("count", Type::Int8)]
        }
        Table::Clusters => {
            &[("n", Type::Int8), ("id", Type::Id), ("size", Type::Int8), ("representative", Type::Int8)]
        }
        Table::Seen => &[("id", Type::Id), ("hash", Type::Uuid), ("rows", Type::Int8)],
        Table::Changes => {
            &[("id", Type::Id), ("hash", Type::Uuid), ("gone", Type::Bool), ("batch", Type::Int8)]
        }
        Table::Known => &[
            ("id", Type::Id),
            ("hash", Type::Uuid),
            ("n", Type::Int8),
            ("r", Type::Int8),
            ("digest", Type::Bytea),
        ],
        Table::Stored => &[("n", Type::Int8), ("r", Type::Int8), ("id", Type::Id), ("set", Type::Bytea)],
        Table::Routed => columns(Table::Routes),
    }
}

/// Returns the columns of a table that sessions share.
pub(crate) fn columns_in_parts(table: Table) -> &'static [Column] {
    match table {
        Table::Routes => &[("part", Type::Int4), ("rows", Type::Bytea)],
        _ => columns(table),
    }
}

/// Makes a table whose rows are distributed by a column: by its hash, or in ranges if `ranges` is
/// set.
pub(crate) fn create_spread(name: &str, columns: &str, by: &str, ranges: bool) -> Statement {
    let how = if ranges { "RANGE" } else { "HASH" };
    Statement::new(format!("CREATE TABLE {name} ({columns}) PARTITION BY {how} ({by})"))
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

/// Returns the first of the numbers in the part of this number. Numbers of documents are spread
/// over the parts in ranges of this length.
pub(crate) fn first_number(part: i64) -> i64 {
    const LENGTH: u32 = 40;
    part << LENGTH
}

/// Makes a table of this server whose rows are kept after a crash. Its parts are ranges of the
/// column `by`, if there are parts. Rows that fit into a page are stored in one piece, and columns
/// that cannot be compressed further are not compressed.
pub(crate) fn create_in_parts(table: Table, name: &str, columns: &str) -> Vec<Statement> {
    let key = if table == Table::Sets { ", PRIMARY KEY (n)" } else { "" };
    let by = spread_by(table).map(|by| format!(" PARTITION BY RANGE ({by})")).unwrap_or_default();
    let create = Statement::new(format!("CREATE TABLE {name} ({columns}{key}){by}"));
    let incompressible: &[&str] = match table {
        Table::Routes => &["rows"],
        Table::Sets => &["set"],
        _ => &[],
    };
    let external =
        |column| Statement::new(format!("ALTER TABLE {name} ALTER COLUMN {column} SET STORAGE EXTERNAL"));
    [create].into_iter().chain(incompressible.iter().map(external)).collect()
}

/// Makes a part of such a table. Nobody updates its rows, and it is dropped soon, so that it is not
/// to be vacuumed.
pub(crate) fn create_part(table: Table, of: &str, name: &str, part: i64) -> Statement {
    let [from, to] = [part, part + 1].map(|at| if table == Table::Routes { at } else { first_number(at) });
    Statement::new(format!(
        "CREATE TABLE {name} PARTITION OF {of} FOR VALUES FROM ({from}) TO ({to}) \
         WITH (toast_tuple_target = 8160, autovacuum_enabled = false)"
    ))
}

/// Makes a table of this server whose rows are kept after a crash.
pub(crate) fn create_kept(name: &str, columns: &str) -> Statement {
    Statement::new(format!("CREATE TABLE {name} ({columns})"))
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
pub(crate) fn count(name: &str, oid: Oid) -> Statement {
    Statement::new(format!("SELECT count(*) FROM {name}")).about([oid])
}
