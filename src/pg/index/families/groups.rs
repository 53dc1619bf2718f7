//! Group columns: the columns before the one that is searched. The values of a row in them are
//! hashed with the hash functions of their classes, by which equal values have equal hashes.

use pgrx::PgSqlErrorCode;
use pgrx::pg_sys::{self, Datum, Oid};

use crate::pg::compat;
use crate::pg::index::layout::group::{MOST_COLUMNS, NO_GROUP};
use crate::pg::index::pages::buffer::OpenIndex;
use crate::pg::server::encoding::c_string;
use crate::pg::server::error::{Result, SqlError};
use neardup_core::hash;

/// The number of the support function by which the values of a group column are hashed.
pub(crate) const HASH: u16 = 3;

/// What an index keeps of a row of its table.
#[derive(Debug, Clone, Copy)]
pub(crate) struct IndexedRow {
    /// The hash of the group columns.
    pub group: u64,
    /// The value of the column that is searched, unless it is NULL.
    pub value: Option<Datum>,
}

impl IndexedRow {
    /// Takes the values of an index's columns.
    ///
    /// # Safety
    /// Both arrays have an element for each column of the index; a value that is not NULL is of the
    /// type of its column.
    pub(crate) unsafe fn read(index: OpenIndex, values: *const Datum, nulls: *const bool) -> Self {
        let columns = index.group_columns();
        let mut hashes = GroupHashes::new(index);
        // SAFETY: the caller's promise.
        unsafe {
            for column in 0..columns {
                if !*nulls.add(column) {
                    hashes.add(column, Oid::INVALID, *values.add(column));
                }
            }
            let value = (!*nulls.add(columns)).then(|| *values.add(columns));
            Self { group: hashes.group().unwrap_or(NO_GROUP), value }
        }
    }
}

/// The hashes of values of the group columns, as far as there are values.
pub(crate) struct GroupHashes {
    index: OpenIndex,
    hashes: [Option<u64>; MOST_COLUMNS],
}

impl GroupHashes {
    /// Starts without values.
    pub(crate) fn new(index: OpenIndex) -> Self {
        Self { index, hashes: [None; MOST_COLUMNS] }
    }

    /// Adds the value of a column. Reports whether the values of the column that were added before
    /// can be equal to it. `of` is the type of the value if it is not known to be that of the
    /// column.
    ///
    /// # Safety
    /// `value` is of this type and not NULL.
    pub(crate) unsafe fn add(&mut self, column: usize, of: Oid, value: Datum) -> bool {
        // SAFETY: an open index has a class, a type and a collation for each column.
        let hash = unsafe {
            let relation = self.index.relation();
            let function = if [Oid::INVALID, *(*relation).rd_opcintype.add(column)].contains(&of) {
                pg_sys::index_getprocid(relation, column as i16 + 1, HASH)
            } else {
                let family = *(*relation).rd_opfamily.add(column);
                pg_sys::get_opfamily_proc(family, of, of, HASH as i16)
            };
            let collation = *(*relation).rd_indcollation.add(column);
            pg_sys::OidFunctionCall2Coll(function, collation, value, Datum::from(0_i64))
        };
        let hash = hash.value() as u64;
        *self.hashes[column].get_or_insert(hash) == hash
    }

    /// Returns the group, or None unless each column has a value.
    pub(crate) fn group(&self) -> Option<u64> {
        let hashes = &self.hashes[..self.index.group_columns()];
        let add = |all, hash: &Option<u64>| Some(hash::mix(all ^ (*hash)?));
        let group = hashes.iter().try_fold(0, add)?;
        (!hashes.is_empty()).then_some(if group == NO_GROUP { 1 } else { group })
    }
}

/// Fails unless the columns of a new index are at most two group columns and then one that is
/// searched.
pub(super) fn check_columns(index: OpenIndex) -> Result<()> {
    // SAFETY: an open index, whose columns have names.
    let names: Vec<String> = unsafe {
        let columns = compat::attributes((*index.relation()).rd_att);
        columns.iter().map(|column| c_string(column.attname.data.as_ptr())).collect()
    };
    let is_group = |column: usize| {
        // SAFETY: an open index has this column.
        unsafe { pg_sys::index_getprocid(index.relation(), column as i16 + 1, HASH) != Oid::INVALID }
    };
    let named = |columns: &[usize]| {
        columns.iter().map(|&column| names[column].as_str()).collect::<Vec<_>>().join(", ")
    };
    let keys = 0..index.group_columns() + 1;
    if keys.len() < names.len() {
        let hint = format!(
            "Leave INCLUDE out: USING signature ({}). Queries read other columns from the table.",
            named(&keys.collect::<Vec<_>>())
        );
        let message = "an index of access method signature has no included columns";
        return Err(SqlError::new(PgSqlErrorCode::ERRCODE_FEATURE_NOT_SUPPORTED, message).hint(hint));
    }
    let (groups, searched): (Vec<usize>, Vec<usize>) = keys.partition(|&column| is_group(column));
    let (message, hint) = match (groups.as_slice(), searched.as_slice()) {
        (all, []) => (
            "an index of access method signature searches one column, and all of this one are of groups"
                .to_owned(),
            format!(
                "Put the column of texts, sketches or signatures last: USING signature ({}, body)",
                named(all)
            ),
        ),
        (_, [first, .., last]) => (
            format!("an index of access method signature searches one column, not {}", searched.len()),
            // SAFETY: an open index has a type for each column.
            match unsafe { *(*index.relation()).rd_opcintype.add(*first) } {
                pg_sys::TEXTOID => format!(
                    "Make an index for each. Texts whose equal values make groups have another class: USING signature ({} text_group_ops, {})",
                    names[*first], names[*last]
                ),
                _ => "Make an index for each.".to_owned(),
            },
        ),
        (all, _) if all.len() > MOST_COLUMNS => (
            format!("an index of access method signature has at most {MOST_COLUMNS} group columns"),
            format!("USING signature ({}, {})", named(&all[..MOST_COLUMNS]), named(&searched)),
        ),
        (all, [column]) if *column < all.len() => (
            "the group columns of an index come before the column that is searched".to_owned(),
            format!("USING signature ({}, {})", named(all), named(&[*column])),
        ),
        _ => return Ok(()),
    };
    Err(SqlError::parameter(message).hint(hint))
}
