//! The probe by which an index of runs finds the rows that may have a run in common with a query.

use super::{DOING, RunKeys};
use crate::pg::index::families::probe::Probe;
use crate::pg::server::error::Result;
use crate::pg::server::executor::executor_for;
use neardup_core::executor;
use neardup_core::joins::search::runs::query::RunQuery;
use neardup_core::joins::search::runs::signature::of_anchor;
use neardup_core::memory;

impl RunKeys {
    /// Makes a probe of the condition that a row has a run in common with a query.
    pub(in crate::pg::index::families) fn probe(&self, bytes: &[u8]) -> Result<Probe> {
        let query = RunQuery::parse(bytes)?;
        let is_like = query.origin == self.origin && query.normalization == self.normalization;
        if !is_like || query.min_run < self.least {
            return Ok(Probe::Everything);
        }
        let mut anchors = None;
        executor::one(executor_for(bytes.len()), &mut anchors, |anchors, stop| {
            *anchors = Some(query.anchors(self.least, stop)?);
            Ok(())
        })?;
        let anchors = anchors.expect("done where there was no error");
        if anchors.windows < anchors.shared {
            return Ok(Probe::Nothing);
        }
        let mut hashes = Vec::new();
        memory::reserve(&mut hashes, anchors.signatures.len(), DOING)?;
        hashes.extend(anchors.signatures.iter().map(|&signature| of_anchor(signature)));
        hashes.sort_unstable();
        hashes.dedup();
        Ok(Probe::Runs { hashes, anchors })
    }
}
