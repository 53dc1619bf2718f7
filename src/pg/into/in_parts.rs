//! Working tables on this server that sessions share: their parts, and the table of the parts that
//! are done.

use pgrx::pg_sys::Oid;

use super::columns::{Column, Type};
use super::own;
use super::spread::{Scratch, Spread};
use super::statements::definitions;
use crate::into::step::Table;
use crate::pg::server::error::Result;

/// The columns of [`Scratch::Parts`].
const PARTS: &[Column] = &[("step", Type::Int8), ("part", Type::Int8), ("rows", Type::Int8)];

impl Spread<'_> {
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
}
