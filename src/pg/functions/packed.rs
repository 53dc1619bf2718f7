//! Rows of parts in pieces, for `near_duplicates_into` on tables that sessions share: aggregates
//! that make the rows of many documents, and aggregates that join the pieces of a part
//! (core/src/joins/parts/packed.rs). Any user may call these functions with any arguments.

use pgrx::pg_sys::{self, Datum};

use super::{bands, carried, parts};
use crate::pg::server::aggregate;
use crate::pg::server::call::{Call, is_null, sql_function};
use crate::pg::server::error::Result;
use crate::pg::server::executor::BackendExecutor;
use crate::pg::server::settings;
use crate::pg::server::values::bytes_array;
use neardup_core::allowance::Allowance;
use neardup_core::executor::Executor;
use neardup_core::joins::parts::groups::Groups;
use neardup_core::joins::parts::packed::{PackedRow, Packer, for_each_row};
use neardup_core::joins::parts::rows::Shared;

/// The state of the aggregates that pack rows.
struct Packed {
    packer: Packer,
    /// Dropped last.
    _allowance: Allowance,
}

/// Adds the rows of a document, whose number is in argument 1.
fn pack(call: Call, rows: Option<Groups>) -> Result<Datum> {
    let number: i64 = call.need(1, "n")?;
    let (datum, state) = aggregate::state(call, || {
        Ok(Packed { packer: Packer::default(), _allowance: Allowance::new(settings::memory()) })
    })?;
    if let Some(rows) = rows {
        state.packer.add(number.cast_unsigned(), &rows)?;
    }
    Ok(datum)
}

sql_function! {
    /// `neardup_pack_prefixes_step(internal, n, set, ranks, method, threshold, parts) → internal`
    neardup_pack_prefixes_step, pg_finfo_neardup_pack_prefixes_step, within Arguments, |call| {
        pack(call, parts::prefixes(call, 2)?)
    }
}
sql_function! {
    /// `neardup_pack_bands_step(internal, n, set, plan, method, threshold, parts) → internal`
    neardup_pack_bands_step, pg_finfo_neardup_pack_bands_step, within Arguments, |call| {
        pack(call, bands::planned(call, 2)?)
    }
}
sql_function! {
    /// `neardup_pack_carried_step(internal, n, carried, ranks, method, parts) → internal`
    neardup_pack_carried_step, pg_finfo_neardup_pack_carried_step, within Arguments, |call| {
        pack(call, carried::grouped(call, 2)?)
    }
}
sql_function! {
    /// `neardup_pack_result(internal) → bytea[]`
    neardup_pack_result, pg_finfo_neardup_pack_result, within Arguments, |call| {
        aggregate::result(call, |state: Option<Packed>| {
            state.map(|state| bytes_array(&state.packer.pieces()?)).transpose()
        })
    }
}

sql_function! {
    /// `neardup_join_packed_step(internal, rows, method, threshold) → internal`
    neardup_join_packed_step, pg_finfo_neardup_join_packed_step, within Arguments, |call| {
        join(call, |bytes| Shared::Tokens(bytes), parts::MORE_PARTS)
    }
}
sql_function! {
    /// `neardup_join_packed_bands_step(internal, rows, method, threshold) → internal`
    neardup_join_packed_bands_step, pg_finfo_neardup_join_packed_bands_step, within Arguments, |call| {
        join(call, |bytes| Shared::Keys(bytes), parts::MORE_ROWS)
    }
}
sql_function! {
    /// `neardup_join_packed_carried_step(internal, rows, method) → internal`
    neardup_join_packed_carried_step, pg_finfo_neardup_join_packed_carried_step, within Arguments, |call| {
        let (datum, state) = carried::joined(call, 2)?;
        add(call, |row| state.add(row.id, (row.size, false), row.bitmap, row.shared))?;
        Ok(datum)
    }
}

/// Adds the rows of a piece. `shared` says what they may share.
fn join(call: Call, shared: fn(&[u8]) -> Shared<'_>, hint: &'static str) -> Result<Datum> {
    let (datum, state) = parts::joined(call, 2, pg_sys::INT8OID, hint)?;
    add(call, |row| state.add(row.id, row.size, row.bitmap, shared(row.shared)))?;
    Ok(datum)
}

/// Calls `each` with the rows of the piece in argument 1. Ours are small, but anyone may pass one.
fn add(call: Call, mut each: impl FnMut(PackedRow<'_>) -> neardup_core::error::Result<()>) -> Result<()> {
    const CHECK_EVERY: usize = 1 << 12;
    let piece = call.bytes(1).ok_or_else(|| is_null("rows"))?;
    let (executor, mut rows) = (BackendExecutor::single(), 0_usize);
    Ok(for_each_row(piece, |row| {
        rows += 1;
        if rows.is_multiple_of(CHECK_EVERY) {
            executor.check_interrupts()?;
        }
        each(row)
    })?)
}
