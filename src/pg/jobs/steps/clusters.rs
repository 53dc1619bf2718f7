//! Steps on the clusters that the rows of a batch are or were in.

use super::work::Work;
use crate::jobs::step::Clusters;
use crate::pg::jobs::statements::{clusters, definitions};
use crate::pg::server::error::Result;

/// The mark of the batch, and those of rows that pairs connect with it, before and after.
const BATCH: i16 = 0;
const BEFORE: i16 = -1;
const AFTER: i16 = -2;

/// Marks the rows that are connected with the batch before its pairs change.
pub(crate) fn reach_before(work: &mut Work<'_>) -> Result<()> {
    clusters::reach(&work.names, BEFORE, &[BATCH]).run().map(|_| ())
}

/// Brings the clusters up to date.
pub(crate) fn renew(work: &mut Work<'_>, how: Clusters) -> Result<()> {
    let names = &work.names;
    match how {
        Clusters::OfSignatures => {
            definitions::empty(&names.tables.clusters).run()?;
            clusters::of_signatures(names).run()?;
        }
        Clusters::OfPairs => {
            definitions::empty(&names.tables.clusters).run()?;
            clusters::of_pairs(names).run()?;
        }
        Clusters::Touched { had_pairs } => {
            clusters::of_touched(names, had_pairs, work.near.take()).run()?;
        }
        Clusters::Reached => {
            clusters::reach(names, AFTER, &[BATCH, BEFORE]).run()?;
            clusters::forget_reached(names).run()?;
            clusters::of_reached(names).run()?;
        }
    }
    Ok(())
}
