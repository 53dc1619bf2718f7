//! The data that the steps of a transaction work with.

use pgrx::pg_sys::Datum;

use crate::jobs::state::JobFacts;
use crate::pg::jobs::home::Home;
use crate::pg::jobs::job::LockedRelation;
use crate::pg::jobs::registry::JobEntry;
use crate::pg::jobs::settings::Settings;
use crate::pg::jobs::statements::names::Names;
use crate::pg::procedure::table::Table;
use crate::pg::query::Parameter;
use crate::pg::query::moment::Moment;
use crate::pg::server::activity::Activity;
use crate::pg::server::error::{Result, SqlError};

/// A transaction of a refresh.
pub(crate) struct RefreshWork<'a> {
    /// The job.
    pub job: &'a LockedRelation,
    /// The activity of the refresh that other sessions see.
    pub activity: Activity,
    /// The entry of the job in the registry.
    pub entry: &'a mut JobEntry,
    /// The settings of the job, with the current columns.
    pub settings: Settings,
    /// The definition of the relation, if triggers saw every change under this definition.
    pub seen: Option<String>,
    /// The start time of the refresh.
    pub started: Datum,
    /// The names for statements.
    pub names: Names,
    /// The place where the data about rows as they were seen should be; None means the table of
    /// states, next to the marks.
    pub home: Option<Home>,
    /// The snapshot in which the relation was read.
    pub moment: Option<Moment>,
    /// The state so far.
    pub state: JobFacts,
    /// The number of rows that wait for the next batch; counted only in the first batch, because
    /// there may be many batches.
    pub waiting: i64,
    /// The ids in the pairs that were found, as an array, if the rows of the batch were looked up
    /// and the clusters are updated from these ids.
    pub near: Option<Parameter>,
}

impl RefreshWork<'_> {
    /// Returns the table of lists. It was checked before that the job has this table if its method
    /// needs it.
    pub(crate) fn lists(&self) -> Result<&Table> {
        self.names.tables.lists.as_ref().ok_or_else(|| SqlError::parameter("this method has no lists"))
    }
}
