//! Rows of parts in pieces, for `near_duplicates_into` on tables that sessions share: an aggregate
//! that makes the rows of many documents, and an aggregate that joins the pieces of a part
//! (core/src/joins/parts/packed.rs). Any user may call these functions with any arguments.

use pgrx::pg_sys::Datum;

use super::{join, rows};
use crate::pg::server::aggregate;
use crate::pg::server::call::{FunctionCall, is_null, sql_function};
use crate::pg::server::error::Result;
use crate::pg::server::executor::BackendExecutor;
use crate::pg::server::settings;
use crate::pg::server::values::bytes_array;
use neardup_core::allowance::Allowance;
use neardup_core::executor::Executor;
use neardup_core::joins::parts::groups::RowGroups;
use neardup_core::joins::parts::packed::{PackedRow, Packer, for_each_row};

/// The state of the aggregates that pack rows.
struct PackState {
    packer: Packer,
    /// Dropped last.
    _allowance: Allowance,
}

/// Adds the rows of a document, whose number is in argument 1.
fn pack(call: FunctionCall, rows: Option<RowGroups>) -> Result<Datum> {
    let number: i64 = call.need(1, "n")?;
    let (datum, state) = aggregate::state(call, || {
        Ok(PackState { packer: Packer::default(), _allowance: Allowance::new(settings::memory()) })
    })?;
    if let Some(rows) = rows {
        state.packer.add(number.cast_unsigned(), &rows)?;
    }
    Ok(datum)
}

sql_function! {
    /// `neardup_part_pack_step(internal, n, carried, ranks, method, parts) → internal`
    neardup_part_pack_step, pg_finfo_neardup_part_pack_step, within Arguments, |call| {
        pack(call, rows::of_document(call, 2)?)
    }
}
sql_function! {
    /// `neardup_part_pack_result(internal) → bytea[]`
    neardup_part_pack_result, pg_finfo_neardup_part_pack_result, within Arguments, |call| {
        aggregate::result(call, |state: Option<PackState>| {
            state.map(|state| bytes_array(&state.packer.pieces()?)).transpose()
        })
    }
}

sql_function! {
    /// `neardup_part_join_packed_step(internal, rows, method) → internal`
    neardup_part_join_packed_step, pg_finfo_neardup_part_join_packed_step, within Arguments, |call| {
        let (datum, state) = join::joined(call, 2)?;
        add(call, |row| state.add(row.id, row.size, false, row.bitmap, row.shared))?;
        Ok(datum)
    }
}

/// Calls `each` with the rows of the piece in argument 1. Ours are small, but anyone may pass one.
fn add(
    call: FunctionCall,
    mut each: impl FnMut(PackedRow<'_>) -> neardup_core::error::Result<()>,
) -> Result<()> {
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
