//! The sites of rows while they are read. Two rows are of one site if their values are equal by the
//! equality of the column's type and collation, however they are written.

use std::borrow::Cow;

use pgrx::pg_sys;

use crate::pg::query::ids::RowIds;
use crate::pg::server::error::Result;
use neardup_core::executor::Executor;
use neardup_core::methods::documents::Side;
use neardup_core::methods::sites::Sites;

/// The sites of the rows that are read.
#[derive(Debug, Default)]
pub(crate) struct ReadSites {
    /// The sites.
    pub sites: Sites,
    /// The value of each text that is a site, if sites are compared by their values.
    values: Option<RowIds>,
}

impl ReadSites {
    /// Starts without rows. Sites are compared by their values if those of all tables have the same
    /// type and collation, by which equal values may be written in different ways.
    pub(super) fn new(mut equalities: impl Iterator<Item = Option<(pg_sys::Oid, pg_sys::Oid)>>) -> Self {
        let first = equalities.next().flatten();
        let values = first
            .filter(|_| equalities.all(|other| other == first))
            .map(|(type_oid, collation)| RowIds::of_column(type_oid, collation));
        Self { values, ..Self::default() }
    }

    /// Adds the site of the next row of a table, as a text and as a value.
    ///
    /// # Safety
    /// The value has the type by which the source compares sites.
    pub(super) unsafe fn push(
        &mut self,
        side: Side,
        site: Option<Cow<'_, str>>,
        value: Option<pg_sys::Datum>,
    ) -> Result<()> {
        let is_new = self.sites.push_to(side == Side::Right, site.as_deref())?;
        if let (true, Some(values), Some(value)) = (is_new, &mut self.values, value) {
            // SAFETY: the caller's promise.
            unsafe { values.push(value)? };
        }
        Ok(())
    }

    /// Unites the sites whose values are equal, after the last row.
    pub(super) fn end(&mut self, executor: &dyn Executor) -> Result<()> {
        self.sites.join_tables()?;
        if let Some(values) = self.values.take() {
            self.sites.unite(&values.numbered(executor)?.1);
        }
        Ok(())
    }

    /// Returns the number of bytes of the values on the heap.
    pub(super) fn bytes(&self) -> usize {
        self.values.as_ref().map_or(0, RowIds::bytes)
    }
}
