//! The access method `signature`. README.md beside this file is its description.

mod buffer;
mod build;
mod check;
mod choose;
mod class;
mod cost;
mod format;
mod insert;
mod items;
mod keys;
mod merge;
mod meta;
mod opened;
mod options;
mod ordered;
mod page;
mod pending;
mod probe;
mod record;
mod scan;
mod search;
mod segment;
mod sort;
mod spool;
mod stats;
mod texts;
mod vacuum;
mod validate;
mod values;
mod writer;

use pgrx::{PgBox, pg_sys};

use super::call::sql_function;
use class::Class;
use probe::DISTANCE;

pub use options::define;

sql_function! {
    /// `signature_handler(internal) → index_am_handler`
    neardup_signature_handler, pg_finfo_neardup_signature_handler, |_call| Ok(pg_sys::Datum::from(routine()))
}

sql_function! {
    /// `signature_class(bigint[]) → int`: which class this is; does not look at its argument.
    neardup_class_bigint, pg_finfo_neardup_class_bigint, |call| Ok(call.give(Some(Class::Bigint as i32)))
}

sql_function! {
    /// `signature_class(uuid[]) → int`, likewise.
    neardup_class_uuid, pg_finfo_neardup_class_uuid, |call| Ok(call.give(Some(Class::Uuid as i32)))
}

sql_function! {
    /// `signature_class(minhash_sketch) → int`, likewise.
    neardup_class_minhash, pg_finfo_neardup_class_minhash, |call| Ok(call.give(Some(Class::Minhash as i32)))
}

sql_function! {
    /// `signature_class(simhash_sketch) → int`, likewise.
    neardup_class_simhash, pg_finfo_neardup_class_simhash, |call| Ok(call.give(Some(Class::Simhash as i32)))
}

sql_function! {
    /// `signature_class(text) → int`, likewise.
    neardup_class_text, pg_finfo_neardup_class_text, |call| Ok(call.give(Some(Class::Text as i32)))
}

sql_function! {
    /// `signature_options_minhash(internal) → void`: options of minhash_jaccard_ops.
    neardup_options_minhash, pg_finfo_neardup_options_minhash, |call| Ok(options::declare(call, Class::Minhash))
}

sql_function! {
    /// `signature_options_simhash(internal) → void`: options of simhash_hamming_ops.
    neardup_options_simhash, pg_finfo_neardup_options_simhash, |call| Ok(options::declare(call, Class::Simhash))
}

sql_function! {
    /// `signature_options_text(internal) → void`: options of text_minhash_ops.
    neardup_options_text, pg_finfo_neardup_options_text, |call| Ok(options::declare(call, Class::Text))
}

/// What the access method can do, and the functions for it.
fn routine() -> *mut pg_sys::IndexAmRoutine {
    // SAFETY: a node of this kind, all zero.
    let mut am = unsafe { PgBox::<pg_sys::IndexAmRoutine>::alloc_node(pg_sys::NodeTag::T_IndexAmRoutine) };
    am.amstrategies = DISTANCE;
    am.amsupport = 2;
    am.amoptsprocnum = 2;
    am.amcanorderbyop = true;
    // An index without conditions can give all rows, in the order of a distance: it has the NULLs.
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
    am.into_pg()
}
