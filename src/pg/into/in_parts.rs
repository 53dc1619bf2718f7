//! Working tables on this server that sessions share: their parts, and the table of the parts that
//! are done.

use pgrx::pg_sys::Oid;

use super::columns::{Column, Type};
use super::own;
use super::spread::{Scratch, Spread};
use super::statements::definitions;
use crate::into::step::Table;
use crate::pg::procedure::table::Shape;
use crate::pg::server::error::Result;

/// The columns of [`Scratch::Parts`].
const PARTS: &[Column] = &[("step", Type::Int8), ("part", Type::Int8), ("rows", Type::Int8)];

impl Spread<'_> {
    /// Opens one of the parts of a table that sessions share.
    pub(super) fn open_part(&self, table: Table, part: usize) -> Result<(String, Oid)> {
        let shape = self.keyed(table, own::PARTITION);
        self.owned.open(&self.partition(table, part), shape, self.columns(table))
    }

    /// Returns the shape of a table that may have a key.
    pub(super) fn keyed(&self, table: Table, shape: Shape) -> Shape {
        let has_key = self.parts.is_some() && table == Table::Sets;
        Shape { indexes: usize::from(has_key), ..shape }
    }

    /// Reports whether a table that sessions share is there with all its parts.
    pub(super) fn is_there(&self, table: Table) -> Result<bool> {
        for place in self.places(table) {
            if place.relation()?.is_none() {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Opens the table of the parts that are done, if there is one.
    pub(super) fn open_parts(&self) -> Result<Option<(String, Oid)>> {
        let place = self.scratch(Scratch::Parts);
        if place.relation()?.is_none() {
            return Ok(None);
        }
        self.owned.open(&place, own::TABLE, PARTS).map(Some)
    }

    /// Makes the table of the parts that are done.
    pub(super) fn make_parts(&self) -> Result<(String, Oid)> {
        let place = self.scratch(Scratch::Parts);
        definitions::create_kept(&place.qualified()?, &self.owned.types.sql(PARTS)).run()?;
        self.owned.open(&place, own::TABLE, PARTS)
    }

    /// Makes a table without rows that sessions share.
    pub(super) fn make_in_parts(&self, table: Table, name: &str) -> Result<()> {
        let columns = self.owned.types.sql(self.columns(table));
        definitions::create_in_parts(table, name, &columns)
            .iter()
            .try_for_each(|statement| statement.run().map(|_| ()))?;
        let partitions = if definitions::spread_by(table).is_some() { self.partitions() } else { 0 };
        for part in 0..partitions {
            let place = self.partition(table, part).qualified()?;
            definitions::create_part(table, name, &place, part as i64).run()?;
        }
        Ok(())
    }
}
