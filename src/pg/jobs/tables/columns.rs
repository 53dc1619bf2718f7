//! The columns of the tables of a job, and the checks that tables have them.

use pgrx::pg_sys::{self, Oid};

use crate::pg::procedure::table::Table;

/// A column: its name and its type.
pub(crate) type Column = (&'static str, Oid);

/// Returns the columns of a table of pairs.
pub(crate) fn pair_columns(id_type: Oid) -> [Column; 3] {
    [("left_id", id_type), ("right_id", id_type), ("similarity", pg_sys::FLOAT8OID)]
}

/// Returns the columns of a table of clusters.
pub(crate) fn cluster_columns(id_type: Oid) -> [Column; 3] {
    [("cluster_id", id_type), ("id", id_type), ("representative", pg_sys::BOOLOID)]
}

/// Returns the columns of a table of states.
pub(crate) fn state_columns(id_type: Oid) -> [Column; 3] {
    [("id", id_type), ("hash", pg_sys::UUIDOID), ("change", pg_sys::INT2OID)]
}

/// Returns the columns of a separate table of rows as they were seen.
pub(crate) fn hash_columns(id_type: Oid) -> [Column; 2] {
    [("id", id_type), ("hash", pg_sys::UUIDOID)]
}

/// The columns of a table of lists.
pub(crate) const LIST_COLUMNS: [Column; 6] = [
    ("kind", pg_sys::CHAROID),
    ("segment", pg_sys::INT8OID),
    ("part", pg_sys::INT4OID),
    ("documents", pg_sys::INT4OID),
    ("data", pg_sys::BYTEAOID),
    ("ids", pg_sys::TEXTARRAYOID),
];

impl Table {
    /// Reports whether the table has the columns of one of the tables of a job, for ids of any
    /// type.
    pub(crate) fn is_of_job(&self) -> bool {
        let of = |column: &str| self.type_of(column).unwrap_or(pg_sys::InvalidOid);
        self.has(&pair_columns(of("left_id")))
            || self.has(&cluster_columns(of("cluster_id")))
            || self.has(&state_columns(of("id")))
            || self.has(&LIST_COLUMNS)
            || self.has_hashes(of("id"))
    }

    /// Reports whether the table has only ids and hashes of rows, and so may be dropped. A user's
    /// table may well have an id and a hash among other columns.
    pub(crate) fn has_hashes(&self, id_type: Oid) -> bool {
        self.has(&hash_columns(id_type))
    }

    /// Reports whether a trigger can insert marks into the table without running other code and
    /// without an error, that is, whether it is a table of states exactly as a job makes it, where
    /// `id_type` is the type of ids.
    pub(crate) fn takes_marks(&self, id_type: Oid) -> bool {
        self.takes_any_row(&state_columns(id_type))
    }
}
