//! The form in which a procedure makes a table: its kind, its indexes by their definitions, and
//! what its owner may add.

use pgrx::pg_sys::{self, Oid};

use crate::pg::query::catalog::function_owner;
use crate::pg::query::names::role;

/// The form of a table, without its columns.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct TableForm {
    /// The kind of relation, as in the catalog.
    pub kind: u8,
    /// Set for a partition.
    pub is_partition: bool,
    /// The indexes.
    pub indexes: &'static [IndexForm],
    /// Set for a result, to which its owner may add columns that accept NULL, indexes of columns,
    /// policies that do not concern the owner, and publications.
    pub may_grow: bool,
    /// Set if its owner may add triggers with functions of the owner or of the server.
    pub may_have_triggers: bool,
}

impl TableForm {
    /// A plain table without indexes.
    pub(crate) const TABLE: Self = Self {
        kind: pg_sys::RELKIND_RELATION,
        is_partition: false,
        indexes: &[],
        may_grow: false,
        may_have_triggers: false,
    };
}

/// The definition of an index: a btree of these columns with the default classes of their types.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct IndexForm {
    /// The names of the columns.
    pub keys: &'static [&'static str],
    /// Set for a unique index, such as that of a primary key.
    pub is_unique: bool,
    /// The rows that are in the index.
    pub rows: IndexedRows<&'static str>,
}

impl IndexForm {
    /// The index of a primary key.
    pub(crate) const fn key(keys: &'static [&'static str]) -> Self {
        Self { keys, is_unique: true, rows: IndexedRows::All }
    }

    /// An index of all rows.
    pub(crate) const fn with_keys(keys: &'static [&'static str]) -> Self {
        Self { keys, is_unique: false, rows: IndexedRows::All }
    }
}

/// The rows that are in an index, where `C` says which column.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum IndexedRows<C> {
    /// All.
    All,
    /// Those in which a column is NULL.
    Null(C),
    /// Those in which a column is not NULL.
    NotNull(C),
    /// Those for which another condition holds.
    Other,
}

/// An index of a table, as the catalogue describes it.
#[derive(Debug)]
pub(super) struct TableIndex {
    /// The name.
    pub name: String,
    /// The numbers of the columns; 0 for an expression.
    pub keys: Vec<i16>,
    /// Set if the index is unique.
    pub is_unique: bool,
    /// Set if the index is a btree of columns alone with the default classes and the collations of
    /// their types, in the usual order, and not of an exclusion constraint.
    pub is_usual: bool,
    /// The rows that are in it.
    pub rows: IndexedRows<i16>,
}

impl TableIndex {
    /// Reports whether the index is of this form, where `name` returns the name of a column.
    pub(super) fn is<'a>(&self, form: &IndexForm, name: impl Fn(i16) -> Option<&'a str>) -> bool {
        let rows = match (self.rows, form.rows) {
            (IndexedRows::All, IndexedRows::All) => true,
            (IndexedRows::Null(of), IndexedRows::Null(column))
            | (IndexedRows::NotNull(of), IndexedRows::NotNull(column)) => name(of) == Some(column),
            _ => false,
        };
        rows && self.is_usual
            && self.is_unique == form.is_unique
            && self.keys.iter().map(|&key| name(key)).eq(form.keys.iter().map(|&key| Some(key)))
    }

    /// Reports whether the index computes nothing: no expression, no predicate that is more than a
    /// test for NULL, no class but the default ones.
    pub(super) fn is_plain(&self) -> bool {
        self.is_usual && self.rows != IndexedRows::Other
    }
}

/// A trigger that the server did not make by itself.
#[derive(Debug)]
pub(super) struct Trigger {
    /// The name.
    pub name: String,
    /// Its function.
    pub function: Oid,
    /// Set if it has a condition.
    pub has_condition: bool,
    /// Set if its function gets arguments.
    pub has_arguments: bool,
}

impl Trigger {
    /// Reports whether the trigger runs code that is neither the owner's nor the server's. Some
    /// functions of the server run a text that they are given, so a condition may run anything, and
    /// so may such a function that gets arguments. An earlier owner may have used a function of the
    /// present one.
    pub(super) fn runs_code_of_others(&self, owner: Oid) -> bool {
        let of = function_owner(self.function);
        // SAFETY: reads the roles.
        let is_of_server = of.is_some_and(|of| unsafe { pg_sys::superuser_arg(of) });
        self.has_condition || !(of == Some(owner) || (is_of_server && !self.has_arguments))
    }

    /// Describes the trigger.
    pub(super) fn described(&self) -> String {
        let of = function_owner(self.function).and_then(|of| role(of).ok()).unwrap_or_default();
        format!("it has the trigger {}, which runs a function of {of}", self.name)
    }
}
