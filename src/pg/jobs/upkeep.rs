//! What the pairs of a job depend on, by its method.

use pgrx::pg_sys;

use super::job::Job;
use super::settings::{Columns, Settings};
use super::statements::calls;
use super::statements::statement::read_text;
use crate::jobs::state::Upkeep;
use crate::pg::server::error::Result;

/// Checks the arguments of a job, and says what its pairs depend on. Runs as the owner of the relation.
pub(super) fn of(job: &Job, settings: &Settings, columns: &Columns<'_>) -> Result<Upkeep> {
    let check = calls::check(&job.extension, settings, &job.relation, columns.id_type());
    let [answer] = check.row([pg_sys::TEXTOID])?.unwrap_or_default();
    Ok(match answer.map(read_text).transpose()?.as_deref() {
        Some("sets") => Upkeep::Sets,
        Some("pairs") => Upkeep::Pairs,
        Some("signatures") => Upkeep::Signatures,
        _ => Upkeep::Whole,
    })
}
