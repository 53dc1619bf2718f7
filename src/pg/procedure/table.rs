//! A table that a procedure works on, found by its OID and locked until the end of the transaction.

use pgrx::pg_sys::{self, Oid};

use super::catalog::owner_of;
use crate::pg::compat;
use crate::pg::query::names::name_of;
use crate::pg::server::encoding::c_string;
use crate::pg::server::error::Result;

/// A locked table.
#[derive(Debug)]
pub(crate) struct Table {
    /// The OID of the table.
    pub oid: Oid,
    /// The name with its schema, quoted for SQL text.
    pub name: String,
    /// The owner.
    pub owner: Oid,
    /// Set for a plain, independent table without rules, triggers, policies, constraints or
    /// partitions, into which its owner may insert.
    is_bare: bool,
    /// Set for a plain, independent table without rules, forced policies or partitions. Triggers
    /// are allowed, because the owner may have made some.
    is_plain: bool,
    /// The kind of relation, as in the catalog.
    kind: u8,
    /// Set if the table runs no code except triggers: it has no rules, defaults, generated columns,
    /// checks or domains. Code that a table kept when its owner changed runs as the new owner.
    is_sound: bool,
    /// Set if the table has row security, which applies to its owner if it is forced.
    has_policies: bool,
    /// Set for a partition or an inheriting table.
    is_partition: bool,
    /// Set if other tables inherit from it.
    has_children: bool,
    /// Set if it has triggers.
    has_triggers: bool,
    /// The names and types of the columns, without dropped columns.
    columns: Vec<(String, Oid)>,
    /// Set if columns were dropped, so that the positions of the remaining columns differ from
    /// their stored attribute numbers.
    has_gaps: bool,
    /// The indexes.
    indexes: Vec<Index>,
}

/// The shape in which a procedure made a table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Shape {
    /// The kind of relation, as in the catalog.
    pub kind: u8,
    /// Set for a partition.
    pub is_partition: bool,
    /// The number of its indexes.
    pub indexes: usize,
}

/// The result of opening a table by its OID.
#[derive(Debug)]
pub(crate) enum Opened {
    /// There is no such relation: it was dropped.
    Gone,
    /// A relation whose owner is not accepted. It is not locked, unless its owner changed while it
    /// was opened.
    Others(Oid),
    /// A table.
    Table(Table),
}

impl Table {
    /// Opens and locks a table if `may` accepts its owner, so that no caller can make us lock
    /// tables of others.
    pub(crate) fn open(oid: Oid, lock: u32, may: impl Fn(Oid) -> bool) -> Result<Opened> {
        match owner_of(oid) {
            None => return Ok(Opened::Gone),
            Some(owner) if !may(owner) => return Ok(Opened::Others(owner)),
            Some(_) => {}
        }
        // SAFETY: any OID may be looked up; the result is null if it is no relation.
        let relation = unsafe { pg_sys::try_relation_open(oid, lock as i32) };
        if relation.is_null() {
            return Ok(Opened::Gone);
        }
        // SAFETY: an open relation has its catalog row and its tuple descriptor; everything that is
        // read is copied before it is closed. The lock stays.
        unsafe {
            let class = &*(*relation).rd_rel;
            let forced = class.relrowsecurity && class.relforcerowsecurity;
            let (kind, owner) = (class.relkind.cast_unsigned(), class.relowner);
            let (is_partition, has_children) = (class.relispartition, class.relhassubclass);
            let (has_policies, has_triggers) = (class.relrowsecurity, class.relhastriggers);
            let is_plain = kind == pg_sys::RELKIND_RELATION
                && !(class.relhasrules || is_partition || has_children || forced);
            let attributes = compat::attributes((*relation).rd_att);
            let is_sound = !class.relhasrules
                && class.relchecks == 0
                && attributes.iter().all(|attribute| {
                    attribute.attisdropped
                        || (!attribute.atthasdef
                            && attribute.attidentity == 0
                            && attribute.attgenerated == 0
                            && pg_sys::getBaseType(attribute.atttypid) == attribute.atttypid)
                });
            // A column that gets no value must accept NULL.
            let needs_nothing = attributes
                .iter()
                .all(|attribute| attribute.attisdropped || !attribute.attnotnull || attribute.attnum == 1);
            let is_bare = is_plain
                && is_sound
                && needs_nothing
                && !has_triggers
                && !has_policies
                && may_insert(oid, class.relnamespace, owner);
            let has_gaps = attributes.iter().any(|attribute| attribute.attisdropped);
            let columns = attributes
                .iter()
                .filter(|attribute| !attribute.attisdropped)
                .map(|attribute| (c_string(attribute.attname.data.as_ptr()), attribute.atttypid))
                .collect();
            let list = pg_sys::RelationGetIndexList(relation);
            let count = if list.is_null() { 0 } else { (*list).length };
            let indexes = (0..count).map(|n| look_at(pg_sys::list_nth_oid(list, n))).collect();
            pg_sys::relation_close(relation, pg_sys::NoLock as i32);
            if !may(owner) {
                return Ok(Opened::Others(owner));
            }
            Ok(Opened::Table(Self {
                oid,
                name: name_of(oid)?,
                owner,
                is_bare,
                is_plain,
                kind,
                is_sound,
                has_policies,
                is_partition,
                has_children,
                has_triggers,
                columns,
                has_gaps,
                indexes,
            }))
        }
    }

    /// Reports whether it is a plain table of exactly these columns, in any order, that runs no
    /// code except triggers: an additional column may have a default or a domain, which would run
    /// as its owner.
    pub(crate) fn has(&self, columns: &[(&str, Oid)]) -> bool {
        self.is_plain && self.is_sound && self.has_just(columns)
    }

    fn has_just(&self, columns: &[(&str, Oid)]) -> bool {
        self.columns.len() == columns.len()
            && columns
                .iter()
                .all(|(name, of)| self.columns.iter().any(|column| column.0 == *name && column.1 == *of))
    }

    /// Reports whether it is a table of this shape with exactly these columns that runs no code
    /// except triggers. Only a partitioned table may have partitions.
    pub(crate) fn is_bare_of(&self, shape: Shape, columns: &[(&str, Oid)]) -> bool {
        self.kind == shape.kind
            && self.is_sound
            && !self.has_policies
            && self.indexes.len() == shape.indexes
            && self.has_plain_indexes()
            && self.is_partition == shape.is_partition
            && (!self.has_children || self.kind == pg_sys::RELKIND_PARTITIONED_TABLE)
            && self.has_just(columns)
    }

    /// Reports whether its indexes, like primary keys, compute nothing and call no user-defined
    /// functions.
    pub(crate) fn has_plain_indexes(&self) -> bool {
        self.indexes.iter().all(|index| index.computes_nothing)
    }

    /// Reports whether it has triggers, including those that the server makes.
    pub(crate) fn has_triggers(&self) -> bool {
        self.has_triggers
    }

    /// Returns the type of a column.
    pub(crate) fn type_of(&self, column: &str) -> Option<Oid> {
        self.columns.iter().find(|(name, _)| name == column).map(|&(_, of)| of)
    }

    /// Reports whether any row of these columns can be inserted without running other code and
    /// without an error, because the table and its two indexes are exactly as they were made.
    pub(crate) fn takes_any_row(&self, columns: &[(&str, Oid)]) -> bool {
        self.is_bare
            && self.indexes.len() == 2
            && self.indexes.iter().all(|index| index.takes_any_row)
            && !self.has_gaps
            && self.columns.iter().map(|(name, of)| (&**name, *of)).eq(columns.iter().copied())
    }
}

/// Reports whether an owner can insert rows into a table. Owners can revoke their own rights.
fn may_insert(table: Oid, schema: Oid, owner: Oid) -> bool {
    // SAFETY: functions of the server that take these types and return a bool.
    let has = |function: u32, object: Oid, right: &std::ffi::CStr| unsafe {
        let right = pg_sys::cstring_to_text(right.as_ptr());
        let arguments = [owner.into(), object.into(), pg_sys::Datum::from(right)];
        let [role, object, right] = arguments;
        pg_sys::OidFunctionCall3Coll(function.into(), pg_sys::InvalidOid, role, object, right).value() != 0
    };
    has(pg_sys::F_HAS_TABLE_PRIVILEGE_OID_OID_TEXT, table, c"INSERT")
        && has(pg_sys::F_HAS_SCHEMA_PRIVILEGE_OID_OID_TEXT, schema, c"USAGE")
}

/// An index of a table.
#[derive(Debug, Clone, Copy)]
struct Index {
    /// Set if the index runs only functions of the server and of its columns' types: it has no
    /// expressions, and its predicate only checks whether a column is NULL.
    computes_nothing: bool,
    /// Set if, in addition, the index accepts any row: it is unique only on ids of rows that match
    /// its predicate.
    takes_any_row: bool,
}

/// Reads the properties of an index.
///
/// # Safety
/// The index belongs to a table that is open and locked.
unsafe fn look_at(index: Oid) -> Index {
    // SAFETY: the caller's promise; an index has a row in pg_index with as many keys as the row
    // says.
    unsafe {
        let index = pg_sys::index_open(index, pg_sys::AccessShareLock as i32);
        let form = &*(*index).rd_index;
        let keys = form.indkey.values.as_slice(form.indnkeyatts as usize);
        let plain = keys.iter().all(|&key| key > 0) && !form.indisexclusion;
        let predicate = pg_sys::RelationGetIndexPredicate(index);
        let partial = !predicate.is_null();
        let families = std::slice::from_raw_parts((*index).rd_opfamily, keys.len());
        let types = compat::attributes((*index).rd_att).iter().map(|attribute| attribute.atttypid);
        let of_users = |object: Oid| object.to_u32() >= pg_sys::FirstNormalObjectId;
        let usual = families.iter().zip(types).all(|(&family, of)| of_users(of) || !of_users(family));
        let computes_nothing = plain && usual && (!partial || looks_for_null(predicate));
        let takes_any_row = computes_nothing && (!form.indisunique || (partial && keys == [1]));
        pg_sys::index_close(index, pg_sys::NoLock as i32);
        Index { computes_nothing, takes_any_row }
    }
}

/// Reports whether a predicate only checks that a column is NULL, or that it is not NULL.
///
/// # Safety
/// The list is the predicate of an index.
unsafe fn looks_for_null(predicate: *mut pg_sys::List) -> bool {
    // SAFETY: the caller's promise: a list of expressions that are joined by AND.
    unsafe {
        let test: *const pg_sys::NullTest = pg_sys::list_nth(predicate, 0).cast();
        (*predicate).length == 1
            && (*test).xpr.type_ == pg_sys::NodeTag::T_NullTest
            && (*(*test).arg).type_ == pg_sys::NodeTag::T_Var
    }
}
