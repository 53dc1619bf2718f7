//! The arguments that control how pairs become clusters.

use super::example::{Example, did_you_mean, literal, such_as};
use crate::pg::server::error::{Result, SqlError};
use neardup_core::clusters::Clustering;

/// The rule for making clusters from pairs, and the limit on the size of clusters.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ClusteringArguments {
    /// The rule.
    pub clustering: Clustering,
    /// The maximum number of rows in a connected cluster.
    pub largest: Option<u32>,
}

impl ClusteringArguments {
    /// Reads the arguments `clustering` and `max_cluster_size`.
    pub(crate) fn new(clustering: Option<&str>, largest: Option<i32>, example: &Example) -> Result<Self> {
        let clustering = match clustering {
            None | Some("connected") => Clustering::Connected,
            Some("star") => Clustering::Star,
            Some("perhaps_similar") => Clustering::PerhapsSimilar,
            Some(other) => {
                return Err(SqlError::parameter(format!("unknown clustering \"{other}\"")).hint(format!(
                    "{}Clusterings: connected, star, perhaps_similar. {}",
                    did_you_mean(other, ["connected", "star", "perhaps_similar"]),
                    such_as(&example.with("clustering", literal("star")))
                )));
            }
        };
        let Some(most) = largest else { return Ok(Self { clustering, largest: None }) };
        let hint = || such_as(&example.with("max_cluster_size", 1000));
        if clustering != Clustering::Connected {
            return Err(SqlError::parameter("max_cluster_size is for connected clusters only").hint(hint()));
        }
        match u32::try_from(most).ok().filter(|&most| most > 1) {
            Some(most) => Ok(Self { clustering, largest: Some(most) }),
            None => {
                let message = format!("max_cluster_size must be at least 2, not {most}");
                Err(SqlError::parameter(message).hint(hint()))
            }
        }
    }
}
