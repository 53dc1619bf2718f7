//! Conditions that select rows of a relation by the data that its job has stored about them.

use pgrx::pg_sys::{self, Datum};

use super::queries;
use super::tables::all::JobTables;
use crate::jobs::step::RowSelection;
use crate::pg::query::names::equality;
use crate::pg::read::source::DocumentSource;
use crate::pg::request::Request;
use crate::pg::server::error::Result;

/// A condition on rows, relative to the alias `d`, and the table that the condition names.
#[derive(Debug)]
pub(super) struct Condition {
    sql: String,
    table: pg_sys::Oid,
}

impl Condition {
    /// Makes the condition that a row of a request's documents is in the batch, or that it has been
    /// seen.
    pub(super) fn new(tables: &JobTables, rows: RowSelection, request: &Request) -> Result<Self> {
        let (equals, key) = (equality(request.id_type)?, &request.left.key);
        let seen = tables.hashes.as_ref().filter(|_| rows == RowSelection::Known);
        Ok(match seen {
            Some(hashes) => Self { sql: queries::was_seen(&hashes.name, &equals, key), table: hashes.oid },
            None => {
                let state = &tables.state;
                Self { sql: queries::has_row(&state.name, rows, &equals, key), table: state.oid }
            }
        })
    }

    /// Restricts a source to the rows for which the condition holds.
    pub(super) fn only(&self, source: &DocumentSource) -> DocumentSource {
        source.only(&self.sql, &[], &[self.table])
    }

    /// Restricts a source to the rows for which this condition or the condition `further` holds. In
    /// `further`, `$1` has the value `value`.
    pub(super) fn or(
        &self,
        source: &DocumentSource,
        further: &str,
        type_: pg_sys::Oid,
        value: Option<Datum>,
    ) -> DocumentSource {
        source.only(&format!("({further} OR {})", self.sql), &[(type_, value)], &[self.table])
    }
}
