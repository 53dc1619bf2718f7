//! The sites of rows while they are read. Two rows are of one site if their values are equal by the
//! equality of the column's type and collation, however they are written.

use std::borrow::Cow;

use pgrx::pg_sys;

use super::source::DocumentSource;
use crate::pg::query::ids::RowIds;
use crate::pg::server::error::Result;
use neardup_core::executor::Executor;
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
    /// Starts without rows. Sites are compared by their values if those of all sources can be
    /// compared, and equal values may be written in different ways.
    pub(super) fn new(sources: [Option<&DocumentSource>; 2]) -> Self {
        let mut equalities = sources.into_iter().flatten().map(|source| source.site_equality);
        let first = equalities.next().flatten();
        let values = first
            .filter(|_| equalities.all(|other| other == first))
            .map(|(type_oid, collation)| RowIds::of_column(type_oid, collation));
        Self { values, ..Self::default() }
    }

    /// Adds the site of the next row, as a text and as a value.
    ///
    /// # Safety
    /// The value has the type by which the source compares sites.
    pub(super) unsafe fn push(
        &mut self,
        site: Option<Cow<'_, str>>,
        value: Option<pg_sys::Datum>,
    ) -> Result<()> {
        let is_new = self.sites.push(site.as_deref())?;
        if let (true, Some(values), Some(value)) = (is_new, &mut self.values, value) {
            // SAFETY: the caller's promise.
            unsafe { values.push(value)? };
        }
        Ok(())
    }

    /// Unites the sites whose values are equal, after the last row.
    pub(super) fn end(&mut self, executor: &dyn Executor) -> Result<()> {
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
