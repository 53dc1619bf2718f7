//! The columns of the tables of a job, and the checks that tables have the form that a job makes.

use pgrx::pg_sys::{self, Oid};

use crate::pg::jobs::statements::definitions::JobTable;
use crate::pg::procedure::table::Table;

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
