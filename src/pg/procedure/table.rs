//! A table that a procedure works on, found by its OID and locked until the end of the transaction.
//!
//! This is the one door to tables that another role may own, may have owned, or may have put in
//! place of ours. What a table brings along is code: rules, triggers, policies, defaults, checks,
//! domains, the expressions and predicates of indexes and of statistics objects, partition keys. It
//! runs as the role that uses the table, and expressions that look constant run as soon as the
//! planner, or the server's cache of relations, reads them. So a table is looked at through the
//! catalogues only, which runs nothing, and is used if it has exactly the [`TableForm`] in which
//! the procedure made it. Until then no statement names it.

use std::ffi::CStr;
use std::fmt::{Display, Formatter, Result as Formatted};

use pgrx::pg_sys::{self, Oid};

use super::brought_along::{self, Brought};
use super::form::{TableForm, TableIndex};
use crate::pg::compat;
use crate::pg::query::catalog::owner_of;
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
    /// The schema.
    namespace: Oid,
    /// The kind of relation, as in the catalog.
    kind: u8,
    /// Set for a partition.
    is_partition: bool,
    /// The columns, without dropped columns.
    columns: Vec<TableColumn>,
    /// Set if columns were dropped, so that the positions of the remaining columns differ from
    /// their stored attribute numbers.
    has_gaps: bool,
    /// What else it has.
    brought: Brought,
}

impl Display for Table {
    fn fmt(&self, to: &mut Formatter<'_>) -> Formatted {
        to.write_str(&self.name)
    }
}

/// A column of a table.
#[derive(Debug)]
struct TableColumn {
    name: String,
    type_oid: Oid,
    number: i16,
    /// Set if the column is of a domain or computed in another way than by a function of the server
    /// without arguments, such as `now()`.
    computes: bool,
    /// Set if the column refuses NULL.
    needs_value: bool,
}

/// The result of opening a table by its OID.
#[derive(Debug)]
pub(crate) enum OpenedTable {
    /// There is no such relation: it was dropped.
    Gone,
    /// A relation whose owner is not accepted. It is not locked, unless its owner changed while it
    /// was opened.
    Others(Oid),
    /// Another session has locked the table, and the caller does not wait.
    Busy,
    /// A table.
    Table(Table),
}

/// What to do about a table that another session has locked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Patience {
    /// Wait until it is free.
    Wait,
    /// Leave it alone. Whoever owns a table can keep it locked.
    Skip,
}

impl Table {
    /// Opens and locks a table if `may` accepts its owner, so that no caller can make us lock
    /// tables of others. Runs no code of the table, whatever it has.
    pub(crate) fn open(oid: Oid, lock: u32, may: impl Fn(Oid) -> bool) -> Result<OpenedTable> {
        Self::open_with(Patience::Wait, oid, lock, may)
    }

    /// Does the same as [`open`](Self::open), with this patience.
    pub(crate) fn open_with(
        patience: Patience,
        oid: Oid,
        lock: u32,
        may: impl Fn(Oid) -> bool,
    ) -> Result<OpenedTable> {
        match owner_of(oid) {
            None => return Ok(OpenedTable::Gone),
            Some(owner) if !may(owner) => return Ok(OpenedTable::Others(owner)),
            Some(_) => {}
        }
        // SAFETY: any OID may be locked and looked up; the result is null if it is no relation.
        let relation = unsafe {
            if patience == Patience::Wait {
                pg_sys::LockRelationOid(oid, lock as i32);
            } else if !pg_sys::ConditionalLockRelationOid(oid, lock as i32) {
                return Ok(OpenedTable::Busy);
            }
            pg_sys::try_relation_open(oid, pg_sys::NoLock as i32)
        };
        if relation.is_null() {
            return Ok(OpenedTable::Gone);
        }
        // SAFETY: an open relation has its catalog row and its tuple descriptor; everything that is
        // read is copied before it is closed. The lock stays.
        unsafe {
            let class = &*(*relation).rd_rel;
            let owner = class.relowner;
            if !may(owner) {
                pg_sys::relation_close(relation, pg_sys::NoLock as i32);
                return Ok(OpenedTable::Others(owner));
            }
            let attributes = compat::attributes((*relation).rd_att);
            let columns =
                attributes.iter().filter(|attribute| !attribute.attisdropped).map(|attribute| TableColumn {
                    name: c_string(attribute.attname.data.as_ptr()),
                    type_oid: attribute.atttypid,
                    number: attribute.attnum,
                    computes: brought_along::computes(relation, attribute),
                    needs_value: attribute.attnotnull,
                });
            let table = Self {
                oid,
                name: name_of(oid)?,
                owner,
                namespace: class.relnamespace,
                kind: class.relkind.cast_unsigned(),
                is_partition: class.relispartition,
                columns: columns.collect(),
                has_gaps: attributes.iter().any(|attribute| attribute.attisdropped),
                brought: brought_along::find(relation),
            };
            pg_sys::relation_close(relation, pg_sys::NoLock as i32);
            Ok(OpenedTable::Table(table))
        }
    }

    /// Returns what distinguishes the table from one of this form with these columns, in any order,
    /// as the end of a sentence about it; `None` if it is as it was made, so that it may be named
    /// in a statement.
    pub(crate) fn differs(&self, form: &TableForm, columns: &[(&str, Oid)]) -> Option<String> {
        if self.kind != form.kind || self.is_partition != form.is_partition {
            return Some("it is another kind of relation".to_owned());
        }
        if let Some(code) = self.brought.never {
            return Some(format!("it has {code}"));
        }
        let is_own = |name: &str| columns.iter().any(|&(own, _)| own == name);
        for &(name, of) in columns {
            if self.type_of(name) != Some(of) {
                return Some(format!("it has no column {name} of the type of then"));
            }
        }
        for column in &self.columns {
            let name = &column.name;
            if column.computes {
                return Some(format!("its column {name} has a default or a domain, or is computed"));
            }
            if !is_own(name) && (!form.may_grow || column.needs_value) {
                return Some(format!("it has the column {name}"));
            }
        }
        let is_other = |index: &&TableIndex| {
            let is_ours = form.indexes.iter().any(|of| index.is(of, |number| self.column_name(number)));
            !(is_ours || form.may_grow && index.is_plain())
        };
        if let Some(index) = self.brought.indexes.iter().find(is_other) {
            return Some(format!("it has the index {}", index.name));
        }
        if let Some(trigger) = self
            .brought
            .triggers
            .iter()
            .find(|trigger| !form.may_have_triggers || trigger.runs_code_of_others(self.owner))
        {
            return Some(trigger.described());
        }
        self.brought.only_on_results.filter(|_| !form.may_grow).map(|what| format!("it has {what}"))
    }

    /// Reports whether it is a foreign table.
    pub(crate) fn is_foreign(&self) -> bool {
        self.kind == pg_sys::RELKIND_FOREIGN_TABLE
    }

    fn column_name(&self, number: i16) -> Option<&str> {
        self.columns.iter().find(|column| column.number == number).map(|column| &*column.name)
    }

    /// Returns the type of a column.
    pub(crate) fn type_of(&self, column: &str) -> Option<Oid> {
        self.columns.iter().find(|of| of.name == column).map(|of| of.type_oid)
    }

    /// Returns the place of a column in a stored row.
    pub(crate) fn place_of(&self, column: &str) -> Option<usize> {
        let number = self.columns.iter().find(|of| of.name == column)?.number;
        usize::try_from(number - 1).ok()
    }

    /// Reports whether any row of these columns can be inserted without running other code and
    /// without an error, because the table is exactly as it was made, with all of its indexes.
    pub(crate) fn takes_any_row(&self, form: &TableForm, columns: &[(&str, Oid)]) -> bool {
        let has = |of: &_| self.brought.indexes.iter().any(|index| index.is(of, |n| self.column_name(n)));
        self.differs(form, columns).is_none()
            && self.brought.indexes.len() == form.indexes.len()
            && form.indexes.iter().all(has)
            && !self.brought.has_triggers
            && !self.has_gaps
            && self.columns.iter().map(|column| (&*column.name, column.type_oid)).eq(columns.iter().copied())
            // A column that gets no value must accept NULL.
            && self.columns.iter().skip(1).all(|column| !column.needs_value)
            // Owners can revoke their own rights.
            && has_right(pg_sys::F_HAS_TABLE_PRIVILEGE_OID_OID_TEXT, self.owner, self.oid, c"INSERT")
            && may_use(self.namespace, self.owner)
    }
}

/// Reports whether a role can create tables in a schema.
pub(crate) fn may_create_in(schema: Oid, role: Oid) -> bool {
    has_right(pg_sys::F_HAS_SCHEMA_PRIVILEGE_OID_OID_TEXT, role, schema, c"CREATE")
}

/// Reports whether a role can name what is in a schema.
pub(crate) fn may_use(schema: Oid, role: Oid) -> bool {
    has_right(pg_sys::F_HAS_SCHEMA_PRIVILEGE_OID_OID_TEXT, role, schema, c"USAGE")
}

/// Calls a function of the server that reports whether a role has a right to an object.
fn has_right(function: u32, role: Oid, object: Oid, right: &CStr) -> bool {
    // SAFETY: a function of the server that takes these types and returns a bool.
    unsafe {
        let right = pg_sys::Datum::from(pg_sys::cstring_to_text(right.as_ptr()));
        let (none, role, object) = (pg_sys::InvalidOid, role.into(), object.into());
        pg_sys::OidFunctionCall3Coll(function.into(), none, role, object, right).value() != 0
    }
}
