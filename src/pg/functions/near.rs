//! Balls around sketches, membership in a ball, and the estimate of how many rows match
//! (docs/reference/index.md).

use pgrx::pg_sys::{self, Datum};

use crate::pg::server::call::{Call, sql_function};
use crate::pg::server::checks;
use crate::pg::server::error::{Result, catch};
use neardup_core::sketches::balls::{MinhashBall, SimhashBall};
use neardup_core::sketches::wire::{Minhash, Simhash};

/// The assumed share of rows that a search finds if there are no statistics: near duplicates are
/// few.
pub(crate) const USUAL_SHARE: f64 = 0.0001;

sql_function! {
    /// `near(minhash_sketch, similarity) → minhash_ball`
    neardup_near_minhash, pg_finfo_neardup_near_minhash, |call| {
        let Some(middle) = call.bytes(0) else { return Ok(call.give::<i32>(None)) };
        Minhash::parse(middle)?;
        Ok(call.give(Some(checks::with_similarity(MinhashBall::build(middle, call.need(1, "similarity")?))?)))
    }
}
sql_function! {
    /// `near(simhash_sketch, distance) → simhash_ball`
    neardup_near_simhash, pg_finfo_neardup_near_simhash, |call| {
        let Some(middle) = call.bytes(0) else { return Ok(call.give::<i32>(None)) };
        Ok(call.give(Some(checks::with_distance(SimhashBall::build(middle, call.need(1, "distance")?))?)))
    }
}

sql_function! {
    /// `minhash_in_ball(minhash_sketch, minhash_ball) → bool`
    neardup_minhash_in_ball, pg_finfo_neardup_minhash_in_ball, |call| minhash_in_ball(call, 0, 1)
}
sql_function! {
    /// `minhash_ball_contains(minhash_ball, minhash_sketch) → bool`
    neardup_minhash_ball_contains, pg_finfo_neardup_minhash_ball_contains, |call| minhash_in_ball(call, 1, 0)
}
sql_function! {
    /// `simhash_in_ball(simhash_sketch, simhash_ball) → bool`
    neardup_simhash_in_ball, pg_finfo_neardup_simhash_in_ball, |call| simhash_in_ball(call, 0, 1)
}
sql_function! {
    /// `simhash_ball_contains(simhash_ball, simhash_sketch) → bool`
    neardup_simhash_ball_contains, pg_finfo_neardup_simhash_ball_contains, |call| simhash_in_ball(call, 1, 0)
}
sql_function! {
    /// `near_selectivity(internal, oid, internal, int) → float8`
    neardup_near_selectivity, pg_finfo_neardup_near_selectivity, |call| {
        let root = call.datum(0).map_or(std::ptr::null_mut(), Datum::cast_mut_ptr);
        let operator: pg_sys::Oid = call.need(1, "the operator")?;
        let arguments = call.datum(2).map_or(std::ptr::null_mut(), Datum::cast_mut_ptr);
        let relation: i32 = call.need(3, "the relation")?;
        // SAFETY: the planner passes the arguments that it would pass to a selectivity function of
        // its own.
        let share = unsafe {
            let collation = call.collation();
            catch(|| server::generic_restriction_selectivity(root, operator, collation, arguments, relation, USUAL_SHARE))?
        };
        Ok(call.give(Some(share)))
    }
}
sql_function! {
    /// `near_join_selectivity(internal, oid, internal, smallint, internal) → float8`
    neardup_near_join_selectivity, pg_finfo_neardup_near_join_selectivity, |call| Ok(call.give(Some(USUAL_SHARE)))
}

/// The server's function, declared without the guard of pgrx, because it calls operators. Their
/// errors are handled by [`catch`].
mod server {
    use pgrx::pg_sys::{List, Oid, PlannerInfo};

    unsafe extern "C-unwind" {
        pub(super) fn generic_restriction_selectivity(
            root: *mut PlannerInfo,
            operator: Oid,
            collation: Oid,
            arguments: *mut List,
            relation: i32,
            default: f64,
        ) -> f64;
    }
}

fn minhash_in_ball(call: Call, value: usize, ball: usize) -> Result<Datum> {
    let Some((value, ball)) = call.bytes(value).zip(call.bytes(ball)) else {
        return Ok(call.give::<bool>(None));
    };
    let ball = MinhashBall::parse(ball, "minhash_ball")?;
    Ok(call.give(Some(ball.contains(&Minhash::parse(value)?)?)))
}

fn simhash_in_ball(call: Call, value: usize, ball: usize) -> Result<Datum> {
    let Some((value, ball)) = call.bytes(value).zip(call.bytes(ball)) else {
        return Ok(call.give::<bool>(None));
    };
    Ok(call.give(Some(SimhashBall::parse(ball)?.contains(&Simhash::parse(value)?)?)))
}
