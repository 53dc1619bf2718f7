//! Minhash in parts, for `near_duplicates_into`: assigns the bands of a set to parts. The join of a
//! part ([`super::parts`]) finds the sets that share a band. Any user may call these functions with
//! any arguments.

use crate::pg::functions::parts::{Grouped, predicate};
use crate::pg::server::call::{Call, sql_function};
use crate::pg::server::error::{Result, SqlError};
use crate::pg::server::executor::executor_for;
use crate::pg::server::set_returning;
use neardup_core::executor;
use neardup_core::joins::parts::bands;
use neardup_core::joins::parts::groups::{Groups, check_parts};
use neardup_core::joins::parts::token_set::TokenSet;
use neardup_core::joins::sets::bounds::Bounds;
use neardup_core::joins::sketches::banding::Banding;

/// An example call, for hints.
const EXAMPLE: &str =
    "CALL near_duplicates_into('docs', 0.8, 'docs_pairs', method => 'minhash', parts => 1024);";

sql_function! {
    /// `neardup_band_groups(token_set, bands, rows, seed, method, threshold, parts)`: returns one
    /// row for each part, like `prefix_groups`.
    neardup_band_groups, pg_finfo_neardup_band_groups, |call| {
        match grouped(call, 0)? {
            Some(rows) => set_returning::all(call, Grouped::new(rows)),
            None => Ok(call.give::<i32>(None)),
        }
    }
}

/// Returns the rows of the set in argument `n`, by the arguments after it. Returns `None` without a
/// set.
pub(super) fn grouped(call: Call, n: usize) -> Result<Option<Groups>> {
    let Some(set) = call.bytes(n) else { return Ok(None) };
    let (bands, rows) = (call.whole(n + 1, "bands")?, call.whole(n + 2, "rows")?);
    let with_hint = |error| SqlError::from(error).hint(EXAMPLE);
    let plan = Banding::new(bands.into(), rows.into()).map_err(with_hint)?;
    let seed: i64 = call.need(n + 3, "seed")?;
    let bounds = Bounds::new(predicate(call, n + 4)?);
    let parts = check_parts(call.need::<i32>(n + 6, "parts")?.into()).map_err(with_hint)?;
    let set = TokenSet::parse(set)?;
    let mut groups = Groups::default();
    executor::one(executor_for(set.len() as usize * plan.values()), &mut groups, |groups, stop| {
        *groups = bands::groups(&set, &mut bands::minhasher(plan, seed), plan.rows, &bounds, parts, stop)?;
        Ok(())
    })?;
    Ok(Some(groups))
}
