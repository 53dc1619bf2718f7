//! The data that the pairs of a job depend on, which follows from the job's method, and the rule
//! for making clusters of pairs.

use super::job::LockedRelation;
use super::settings::{Columns, Settings};
use crate::jobs::state::Upkeep;
use crate::pg::request::{ClusteringArguments, Request};
use crate::pg::server::error::Result;
use neardup_core::methods::Update;

/// Checks the arguments of a job, and returns the data that its pairs depend on and the rule for
/// its clusters. Runs as the owner of the relation.
pub(super) fn check(
    job: &LockedRelation,
    settings: &Settings,
    columns: &Columns<'_>,
) -> Result<(Upkeep, ClusteringArguments)> {
    let request = Request::of_kept(&settings.join(job.relation.oid), columns.id_type())?;
    let how = ClusteringArguments::new(
        settings.clustering.as_deref(),
        settings.max_cluster_size,
        &request.example,
    )?;
    let upkeep = match request.method.update() {
        // Clusters that are not made of pairs depend on all rows.
        _ if how.grouping(&request).is_some() => Upkeep::Signatures,
        Update::Sets(..) => Upkeep::Sets,
        Update::Pairs => Upkeep::Pairs,
        Update::Whole => Upkeep::Whole,
    };
    Ok((upkeep, how))
}
