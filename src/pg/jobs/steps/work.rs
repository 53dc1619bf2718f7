//! What the steps of a transaction work with.

use pgrx::pg_sys::Datum;

use crate::jobs::state::State;
use crate::pg::jobs::home::Home;
use crate::pg::jobs::job::Job;
use crate::pg::jobs::registry::Entry;
use crate::pg::jobs::settings::Settings;
use crate::pg::jobs::statements::names::Names;
use crate::pg::procedure::table::Table;
use crate::pg::query::Parameter;
use crate::pg::query::moment::Moment;
use crate::pg::server::activity::Activity;
use crate::pg::server::error::{Result, SqlError};

/// A transaction of a refresh.
pub(crate) struct Work<'a> {
    /// The job.
    pub job: &'a Job,
    /// What other sessions see of the refresh.
    pub activity: Activity,
    /// What the registry says of it.
    pub entry: &'a mut Entry,
    /// Its settings, with the columns as they are now.
    pub settings: Settings,
    /// The definition of the relation, if triggers saw every change since it is so.
    pub seen: Option<String>,
    /// When the refresh began.
    pub started: Datum,
    /// What statements name.
    pub names: Names,
    /// Where rows as they were seen are to be; none for beside their marks.
    pub home: Option<Home>,
    /// When the relation was looked at.
    pub moment: Option<Moment>,
    /// What is known so far.
    pub state: State,
    /// How many rows wait for the next batch; counted in the first one only, since there may be many batches.
    pub waiting: i64,
    /// The rows of the pairs that were found, as an array, if they are few and wanted.
    pub near: Option<Parameter>,
}

impl Work<'_> {
    /// The table of lists. A method that needs one has it: that was checked.
    pub(crate) fn lists(&self) -> Result<&Table> {
        self.names.tables.lists.as_ref().ok_or_else(|| SqlError::parameter("this method has no lists"))
    }
}
