//! Steps on the clusters that contain rows of a batch, before or after the change.

use super::work::RefreshWork;
use crate::jobs::step::ClusterUpdate;
use crate::pg::jobs::clusters as found;
use crate::pg::jobs::statements::{clusters, definitions};
use crate::pg::procedure::rows::supplying;
use crate::pg::procedure::statement::Statement;
use crate::pg::server::error::Result;
use crate::pg::server::set_returning::RowStore;

/// The marks of the batch, and of rows that pairs connect with it before and after the change.
const BATCH: i16 = 0;
const BEFORE: i16 = -1;
const AFTER: i16 = -2;

/// Marks the rows that are connected with the batch before its pairs change.
pub(crate) fn reach_before(work: &mut RefreshWork<'_>) -> Result<()> {
    clusters::reach(&work.names, BEFORE, &[BATCH]).run().map(|_| ())
}

/// Brings the clusters up to date.
pub(crate) fn renew(work: &mut RefreshWork<'_>, how: ClusterUpdate) -> Result<()> {
    let names = &work.names;
    let columns = found::columns(names.id_oid);
    let of_pairs = |statement: Statement| {
        supplying(&columns, &mut |call, store| found::of_pairs(names, call, store), || statement.run())
    };
    match how {
        ClusterUpdate::OfSignatures => {
            definitions::empty(&names.tables.clusters).run()?;
            let mut supply = |_, store: &mut RowStore| found::of_signatures(names, store);
            supplying(&columns, &mut supply, || clusters::of_signatures(names).run())?;
        }
        ClusterUpdate::OfPairs => {
            definitions::empty(&names.tables.clusters).run()?;
            of_pairs(clusters::of_pairs(names))?;
        }
        ClusterUpdate::Touched { had_pairs } => {
            of_pairs(clusters::of_touched(names, had_pairs, work.near.take()))?;
        }
        ClusterUpdate::Reached => {
            clusters::reach(names, AFTER, &[BATCH, BEFORE]).run()?;
            clusters::forget_reached(names).run()?;
            of_pairs(clusters::of_reached(names))?;
        }
    }
    Ok(())
}
