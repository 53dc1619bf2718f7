//! Minhash in parts, for `near_duplicates_into`: assigns the bands of a set to parts. The join of a
//! part ([`super::parts`]) finds the sets that share a band. Any user may call these functions with
//! any arguments.

use crate::pg::functions::parts::{give_rows, predicate};
use crate::pg::server::call::{Call, sql_function};
use crate::pg::server::error::{Result, SqlError};
use crate::pg::server::executor::executor_for;
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
    neardup_band_groups, pg_finfo_neardup_band_groups, within Arguments, |call| {
        give_rows(call, grouped(call, 0)?)
    }
}

/// Returns the rows of the set in argument `n`, by the arguments after it. Returns `None` without a
/// set.
fn grouped(call: Call, n: usize) -> Result<Option<Groups>> {
    let (bands, rows) = (call.whole(n + 1, "bands")?, call.whole(n + 2, "rows")?);
    by_plan(call, n, (bands.into(), rows.into(), call.need(n + 3, "seed")?), n + 4)
}

/// Returns the rows of the set in argument `n`, with the bands, the rows of a band and the seed in
/// the array after it. Returns `None` without a set.
pub(super) fn planned(call: Call, n: usize) -> Result<Option<Groups>> {
    let plan: Vec<Option<i64>> = call.need(n + 1, "plan")?;
    let number = |n: usize| plan.get(n).copied().flatten();
    let [bands, rows] = [0, 1].map(|n| number(n).and_then(|number| u64::try_from(number).ok()));
    let (Some(bands), Some(rows), Some(seed), 3) = (bands, rows, number(2), plan.len()) else {
        let message = "plan must be three numbers: of bands, of rows in a band, and the seed";
        return Err(SqlError::parameter(message).hint("For example: ARRAY[14, 8, 1]"));
    };
    by_plan(call, n, (bands, rows, seed), n + 2)
}

/// Returns the rows of the set in argument `set`, by the method, the threshold and the number of
/// parts in the arguments from `n` on.
fn by_plan(call: Call, set: usize, (bands, rows, seed): (u64, u64, i64), n: usize) -> Result<Option<Groups>> {
    let Some(set) = call.bytes(set) else { return Ok(None) };
    let with_hint = |error| SqlError::from(error).hint(EXAMPLE);
    let plan = Banding::new(bands, rows).map_err(with_hint)?;
    let bounds = Bounds::new(predicate(call, n)?);
    let parts = check_parts(call.need::<i32>(n + 2, "parts")?.into()).map_err(with_hint)?;
    let set = TokenSet::parse(set)?;
    let mut groups = Groups::default();
    executor::one(executor_for(set.len() as usize * plan.values()), &mut groups, |groups, stop| {
        *groups = bands::groups(&set, &mut bands::minhasher(plan, seed), plan.rows, &bounds, parts, stop)?;
        Ok(())
    })?;
    Ok(Some(groups))
}
