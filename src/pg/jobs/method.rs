//! What can be brought up to date of the method of a job.

use pgrx::pg_sys;

use super::Job;
use super::settings::{Columns, Settings};
use super::statements::{read_text, row};
use crate::pg::server::error::Result;

/// What can be brought up to date.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Method {
    /// The pairs of changed rows, which are looked up in lists of all rows.
    Sets,
    /// The pairs of changed rows with all others.
    Pairs,
    /// Nothing: all pairs are made anew.
    Whole,
    /// Nothing, and clusters are not made of pairs.
    Signatures,
}

impl Method {
    /// Whether all pairs are made anew.
    pub fn is_whole(self) -> bool {
        matches!(self, Self::Whole | Self::Signatures)
    }
}

/// Checks the arguments of a job, and says what its method is like. Runs as the owner of the relation.
pub fn of(job: &Job, settings: &Settings, columns: &Columns<'_>) -> Result<Method> {
    let arguments = settings.arguments(&job.relation, columns.id_type());
    let [clustering, size] = settings.cluster_arguments();
    let schema = &job.extension.schema;
    let sql = format!("SELECT {schema}.neardup_job_check({arguments}, {clustering}, {size})");
    let [answer] = row(&sql, &[], &[], [pg_sys::TEXTOID])?.unwrap_or_default();
    Ok(match answer.map(read_text).transpose()?.as_deref() {
        Some("sets") => Method::Sets,
        Some("pairs") => Method::Pairs,
        Some("signatures") => Method::Signatures,
        _ => Method::Whole,
    })
}
