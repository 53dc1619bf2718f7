//! The functions that the server calls: the handler of the access method and the functions that it
//! names.

pub(crate) mod build;
pub(crate) mod cost;
pub(crate) mod insert;
mod nearest;
mod nearest_by_edits;
pub(crate) mod ordered;
mod placeholder_ball;
mod reading;
mod row_counts;
pub(crate) mod scan;
pub(crate) mod search;
mod search_grams;
mod search_runs;
mod search_sets;
mod search_values;
pub(crate) mod state;
pub(crate) mod table;
pub(crate) mod user_index;
pub(crate) mod vacuum;

use pgrx::{PgBox, pg_sys};

use super::families::class::DISTANCE;
use super::families::groups::HASH;
use super::families::{options, validate};
use crate::pg::compat;
use crate::pg::server::call::sql_functions;

sql_functions! {
    /// `signature_handler(internal) → index_am_handler`
    neardup_signature_handler: |_call| Ok(pg_sys::Datum::from(routine()));
}

/// Returns the properties of the access method and its functions.
fn routine() -> *mut pg_sys::IndexAmRoutine {
    // SAFETY: a node of this kind, all zero.
    let mut am = unsafe { PgBox::<pg_sys::IndexAmRoutine>::alloc_node(pg_sys::NodeTag::T_IndexAmRoutine) };
    am.amstrategies = DISTANCE;
    am.amsupport = HASH;
    am.amoptsprocnum = 2;
    am.amcanorderbyop = true;
    am.amcanmulticol = true;
    // `check_columns` refuses them with a hint; the server would without.
    am.amcaninclude = true;
    // A scan without conditions can return all rows in the order of a distance, because the index
    // also has the NULLs.
    am.amoptionalkey = true;
    am.amusemaintenanceworkmem = true;
    am.amparallelvacuumoptions =
        (pg_sys::VACUUM_OPTION_PARALLEL_BULKDEL | pg_sys::VACUUM_OPTION_PARALLEL_CLEANUP) as u8;
    am.amkeytype = pg_sys::InvalidOid;
    am.ambuild = Some(build::build);
    am.ambuildempty = Some(build::build_empty);
    am.ambuildphasename = Some(build::phase_name);
    am.aminsert = Some(insert::insert);
    am.ambulkdelete = Some(vacuum::bulk_delete);
    am.amvacuumcleanup = Some(vacuum::cleanup);
    am.amcostestimate = Some(cost::estimate);
    am.amoptions = Some(options::parse);
    am.amvalidate = Some(validate::validate);
    am.ambeginscan = Some(scan::begin);
    am.amrescan = Some(scan::rescan);
    am.amgettuple = Some(scan::get_tuple);
    am.amgetbitmap = Some(scan::get_bitmap);
    am.amendscan = Some(scan::end);
    compat::complete(&mut am);
    am.into_pg()
}
