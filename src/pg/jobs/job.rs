//! A locked relation with the data about its job. The relation is the first argument of every
//! function of jobs.

use pgrx::PgSqlErrorCode;

use super::hints::works;
use super::settings::{Columns, Settings};
use super::statements::definitions;
use super::statements::registry::Registry;
use crate::jobs::state::Upkeep;
use crate::pg::procedure::transaction::open_docs;
use crate::pg::query::as_user::{Extension, acts_for};
use crate::pg::query::citus::is_spread;
use crate::pg::query::relation::Relation;
use crate::pg::request::{ClusteringArguments, Request};
use crate::pg::server::call::FunctionCall;
use crate::pg::server::error::{Result, SqlError};
use neardup_core::methods::Update;

/// The events that triggers report, used in the names of the triggers.
///
/// TRUNCATE need not be among them: it changes the definition of the table
/// ([`definition`](super::statements::definition)).
pub(super) const EVENTS: [&str; 3] = ["insert", "update", "delete"];

/// A locked relation with the data about its job.
pub(super) struct LockedRelation {
    /// The watched relation.
    pub relation: Relation,
    /// The extension.
    pub extension: Extension,
    /// The tables of the extension.
    pub registry: Registry,
}

impl LockedRelation {
    /// Opens the job of the relation in argument 0; the caller must own it, or act for its owner.
    pub(super) fn from_call(call: FunctionCall, function: &'static str) -> Result<Self> {
        let primary = "Call it on the primary; the job's tables follow on the standby.";
        let relation = open_docs(call, function, primary, "SELECT neardup_watch('docs', 0.8);")?;
        if !acts_for(relation.owner) {
            let message = format!("must be owner of {}", relation.shown);
            return Err(SqlError::new(PgSqlErrorCode::ERRCODE_INSUFFICIENT_PRIVILEGE, message)
                .hint("Jobs run as the owner of the relation; watch a view of your own on it."));
        }
        let extension = Extension::from_call(call)?;
        // A job can be ended with SQL definitions of any version.
        if function != "neardup_unwatch" {
            extension.check_version(function)?;
        }
        let registry = Registry::open(&extension)?;
        Ok(Self { relation, extension, registry })
    }

    /// Reports whether the relation has our trigger for an event.
    pub(super) fn has_trigger(&self, event: &str) -> Result<bool> {
        definitions::has_trigger(self.relation.oid, event)?.holds()
    }

    /// Returns the error for a relation that has no job.
    pub(super) fn not_watched(&self) -> SqlError {
        let message = format!("{} is not watched", self.relation.shown);
        SqlError::new(PgSqlErrorCode::ERRCODE_UNDEFINED_OBJECT, message)
            .hint(works(&self.relation, "neardup_watch"))
    }

    /// Checks the arguments of a job, and returns the data that its pairs depend on, which follows
    /// from its method, and the rule for its clusters. Runs as the owner of the relation.
    pub(super) fn upkeep(
        &self,
        settings: &Settings,
        columns: &Columns<'_>,
    ) -> Result<(Upkeep, ClusteringArguments)> {
        let request = Request::of_kept(&settings.join(self.relation.oid), columns.id_type())?;
        let (clustering, largest) = (settings.clustering.as_deref(), settings.max_cluster_size);
        let how = ClusteringArguments::new(clustering, largest, &request.example)?;
        let upkeep = match request.method.update() {
            // Clusters that are not made of pairs depend on all rows.
            _ if how.grouping(&request).is_some() => Upkeep::Signatures,
            // Citus does not compare the groups of rows in the statement that stores pairs.
            Update::Sets(..) if request.left.is_limited() && is_spread(self.relation.oid)? => Upkeep::Pairs,
            Update::Sets(..) => Upkeep::Sets,
            Update::Pairs => Upkeep::Pairs,
            Update::Whole => Upkeep::Whole,
        };
        Ok((upkeep, how))
    }
}
