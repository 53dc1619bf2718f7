//! The columns of the tables of a job.

use pgrx::pg_sys::{self, Oid};

/// A column: its name and its type.
pub(crate) type Column = (&'static str, Oid);

/// Those of a table of pairs.
pub(crate) fn pair_columns(id_type: Oid) -> [Column; 3] {
    [("left_id", id_type), ("right_id", id_type), ("similarity", pg_sys::FLOAT8OID)]
}

/// Those of a table of clusters.
pub(crate) fn cluster_columns(id_type: Oid) -> [Column; 3] {
    [("cluster_id", id_type), ("id", id_type), ("representative", pg_sys::BOOLOID)]
}

/// Those of a table of what is known of rows.
pub(crate) fn state_columns(id_type: Oid) -> [Column; 3] {
    [("id", id_type), ("hash", pg_sys::UUIDOID), ("change", pg_sys::INT2OID)]
}

/// Those of a table of rows as they were seen, where these are apart from marks.
pub(crate) fn hash_columns(id_type: Oid) -> [Column; 2] {
    [("id", id_type), ("hash", pg_sys::UUIDOID)]
}

/// Those of a table of lists.
pub(crate) const LIST_COLUMNS: [Column; 6] = [
    ("kind", pg_sys::CHAROID),
    ("segment", pg_sys::INT8OID),
    ("part", pg_sys::INT4OID),
    ("documents", pg_sys::INT4OID),
    ("data", pg_sys::BYTEAOID),
    ("ids", pg_sys::TEXTARRAYOID),
];
