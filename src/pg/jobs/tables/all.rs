//! The tables of a job, with their columns. The registry's data about them is not trusted: work on
//! them runs as the owner of the watched relation, so they must belong to this owner and have the
//! form that a job makes.

use pgrx::PgSqlErrorCode;
use pgrx::pg_sys::{self, Oid};

use crate::pg::jobs::hints::{anew, not_now};
use crate::pg::jobs::registry::JobEntry;
use crate::pg::jobs::statements::definitions::JobTable;
use crate::pg::procedure::catalog::role;
use crate::pg::procedure::table::{OpenedTable, Table};
use crate::pg::query::names::{name_of, type_name};
use crate::pg::server::error::{Result, SqlError};

/// All tables of a job.
#[derive(Debug)]
pub(crate) struct JobTables {
    /// The pairs.
    pub pairs: Table,
    /// The clusters.
    pub clusters: Table,
    /// The states of rows.
    pub state: Table,
    /// The rows as they were seen, if they are next to the documents; otherwise they are next to
    /// the marks in `state`.
    pub hashes: Option<Table>,
    /// The lists in which changed rows are looked up, if the method has them.
    pub lists: Option<Table>,
}

impl JobTables {
    /// Locks the tables of a job, all of which must belong to `owner`.
    pub(crate) fn open(entry: &JobEntry, docs: &str, owner: Oid) -> Result<Self> {
        let mut missing = Vec::new();
        let mut open = |oid: Oid, what: &'static str| -> Result<Option<Table>> {
            match Table::open(oid, pg_sys::RowExclusiveLock, |of| of == owner)? {
                OpenedTable::Table(table) => return Ok(Some(table)),
                OpenedTable::Gone | OpenedTable::Busy => missing.push(what),
                OpenedTable::Others(other) => {
                    let (name, other, owner) = (name_of(oid)?, role(other)?, role(owner)?);
                    return Err(not_now(
                        format!("{name} of the job of {docs} belongs to {other}, and {docs} to {owner}"),
                        format!("A job works with tables of one owner: ALTER TABLE {name} OWNER TO {owner};"),
                    ));
                }
            }
            Ok(None)
        };
        let state = open(entry.state, "neardup")?;
        let hashes = entry.hashes.map(|hashes| open(hashes, "neardup_hash")).transpose()?.flatten();
        let lists = entry.lists.map(|lists| open(lists, "neardup_lists")).transpose()?.flatten();
        let pairs = open(entry.pairs, "pairs")?;
        let clusters = open(entry.clusters, "clusters")?;
        if let (Some(pairs), Some(clusters), Some(state), []) = (pairs, clusters, state, &missing[..]) {
            return Ok(Self { pairs, clusters, state, hashes, lists });
        }
        let message = format!("tables of the job of {docs} are gone: {}", missing.join(", "));
        Err(SqlError::new(PgSqlErrorCode::ERRCODE_UNDEFINED_TABLE, message).hint(anew(docs)))
    }

    /// Lists the tables.
    pub(crate) fn all(&self) -> impl Iterator<Item = &Table> {
        [&self.pairs, &self.clusters, &self.state].into_iter().chain(&self.hashes).chain(&self.lists)
    }

    /// Checks that the tables have the form that a job makes, except for the type of the ids.
    /// Returns the type of the ids, which should be `wanted`.
    pub(crate) fn check(&self, docs: &str, wanted: Oid) -> Result<Oid> {
        let id_type = self.state.type_of("id").unwrap_or(wanted);
        let tables = [
            (JobTable::State, Some(&self.state)),
            (JobTable::Pairs, Some(&self.pairs)),
            (JobTable::Clusters, Some(&self.clusters)),
            (JobTable::Lists, self.lists.as_ref()),
            (JobTable::Hashes, self.hashes.as_ref()),
        ];
        for (kind, table) in tables.into_iter().filter_map(|(kind, table)| Some((kind, table?))) {
            if let Some(why) = table.differs_from_job(kind, id_type) {
                let columns: Vec<String> = (kind.typed_columns(id_type).iter())
                    .map(|&(name, of)| format!("{name} {}", type_name(of)))
                    .collect();
                let message = format!(
                    "{} is not as the job of {docs} made it, a table with {}: {why}",
                    table.name,
                    columns.join(", ")
                );
                return Err(not_now(message, anew(docs)));
            }
        }
        Ok(id_type)
    }
}

/// A column: its name and its type.
pub(crate) type Column = (&'static str, Oid);

/// The columns of a table of lists.
pub(crate) const LIST_COLUMNS: [Column; 6] = [
    ("kind", pg_sys::CHAROID),
    ("segment", pg_sys::INT8OID),
    ("part", pg_sys::INT4OID),
    ("documents", pg_sys::INT4OID),
    ("data", pg_sys::BYTEAOID),
    ("ids", pg_sys::TEXTARRAYOID),
];

impl JobTable {
    /// Returns the columns of the table, where `id` is the type of ids.
    pub(crate) fn typed_columns(self, id: Oid) -> Vec<Column> {
        match self {
            Self::Pairs => vec![("left_id", id), ("right_id", id), ("similarity", pg_sys::FLOAT8OID)],
            Self::Clusters => vec![("cluster_id", id), ("id", id), ("representative", pg_sys::BOOLOID)],
            Self::State => vec![("id", id), ("hash", pg_sys::UUIDOID), ("change", pg_sys::INT2OID)],
            Self::Hashes => vec![("id", id), ("hash", pg_sys::UUIDOID)],
            Self::Lists => LIST_COLUMNS.to_vec(),
        }
    }

    /// Returns a column of ids, if there is one.
    fn id_column(self) -> Option<&'static str> {
        match self {
            Self::Pairs => Some("left_id"),
            Self::Clusters | Self::State | Self::Hashes => Some("id"),
            Self::Lists => None,
        }
    }
}

impl Table {
    /// Returns what distinguishes the table from the one that a job makes, where `id` is the type
    /// of ids; `None` if it is as it was made.
    pub(crate) fn differs_from_job(&self, kind: JobTable, id: Oid) -> Option<String> {
        self.differs(&kind.form(), &kind.typed_columns(id))
    }

    /// Reports whether the table has the form of one of the tables of a job, for ids of any type.
    pub(crate) fn is_of_job(&self) -> bool {
        let id = |kind: JobTable| kind.id_column().and_then(|column| self.type_of(column));
        JobTable::EVERY
            .into_iter()
            .any(|kind| self.differs_from_job(kind, id(kind).unwrap_or(pg_sys::InvalidOid)).is_none())
    }

    /// Reports whether a trigger can insert marks into the table without running other code and
    /// without an error, that is, whether it is a table of states exactly as a job makes it, where
    /// `id` is the type of ids.
    pub(crate) fn takes_marks(&self, id: Oid) -> bool {
        self.takes_any_row(&JobTable::State.form(), &JobTable::State.typed_columns(id))
    }
}
