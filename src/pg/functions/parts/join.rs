//! The join of a part: an aggregate that finds its candidates.
//!
//! The rows of parts also come in pieces, for `near_duplicates_into` on tables that sessions share:
//! an aggregate that makes the rows of many documents, and an aggregate that joins the pieces of a
//! part (core/src/parts/packed.rs). Any user may call these functions with any arguments.

use std::rc::Rc;

use pgrx::PgSqlErrorCode;
use pgrx::pg_sys::{self, Datum};

use super::{DOING, Described, EXAMPLE, document, method};
use crate::pg::server::call::{FunctionCall, is_null, sql_functions};
use crate::pg::server::error::{Result, SqlError};
use crate::pg::server::executor::BackendExecutor;
use crate::pg::server::set_returning::{self, Rows};
use crate::pg::server::temp_file::ServerFiles;
use crate::pg::server::values::{LARGEST, bytes_array, number_array};
use crate::pg::server::{aggregate, settings};
use neardup_core::allowance::Allowance;
use neardup_core::error::Error;
use neardup_core::executor::Executor;
use neardup_core::memory;
use neardup_core::methods::carrier::{Carrier as _, Meeting};
use neardup_core::parts::groups::RowGroups;
use neardup_core::parts::keys::KeyPart;
use neardup_core::parts::packed::{PackedRow, Packer, for_each_row};
use neardup_core::parts::part::Part;
use neardup_core::parts::rows::Shared;

/// The state of `neardup_part_join`.
pub(super) struct PartJoinState {
    method: Rc<Described>,
    part: PartRowsState,
    /// Dropped last.
    _allowance: Allowance,
}

/// The rows of a part.
enum PartRowsState {
    Keys(KeyPart<ServerFiles>),
    /// Sets with tokens, or with keys that a filter by sets follows.
    Sets(Box<Part<ServerFiles>>, fn(&[u8]) -> Shared<'_>),
}

sql_functions! {
    /// `neardup_part_join_step(internal, id, size, bitmap, prefix, method) → internal`
    neardup_part_join_step, within Arguments: |call| {
        let (datum, state) = joined(call, 5)?;
        let id: i64 = call.need(1, "id")?;
        let prefix = call.bytes(4).ok_or_else(|| is_null("prefix"))?;
        // The size of a row that is known already is given as its complement, which is negative.
        let size: i32 = call.need(2, "size")?;
        let (known, size) = (size < 0, size.max(!size).cast_unsigned());
        let bitmap = match state.part {
            PartRowsState::Keys(_) => call.bytes(3).unwrap_or_default(),
            PartRowsState::Sets(..) => call.bytes(3).ok_or_else(|| is_null("bitmap"))?,
        };
        state.add(id.cast_unsigned(), size, known, bitmap, prefix)?;
        Ok(datum)
    };
}

/// Returns the state of an aggregate that joins the rows of a part by the method in argument `n`.
pub(super) fn joined(call: FunctionCall, n: usize) -> Result<(Datum, &'static mut PartJoinState)> {
    let method = method(call, n)?;
    let carrier = method.carrier()?;
    let (datum, state) = aggregate::state(call, || {
        let (memory, files) = (settings::memory(), ServerFiles::in_current_context());
        let part = match carrier.meeting() {
            Meeting::Keys { filter: Some(predicate), .. } => {
                PartRowsState::Sets(Box::new(Part::new(predicate, files, memory)), |keys| Shared::Keys(keys))
            }
            Meeting::Rarest => PartRowsState::Keys(KeyPart::new(files, memory, None)),
            Meeting::Keys { most, filter: None } | Meeting::Terms { most } => {
                PartRowsState::Keys(KeyPart::new(files, memory, most))
            }
            Meeting::Sets(predicate) => {
                PartRowsState::Sets(Box::new(Part::new(predicate, files, memory)), |tokens| {
                    Shared::Tokens(tokens)
                })
            }
        };
        Ok(PartJoinState { method: Rc::clone(&method), part, _allowance: Allowance::new(memory) })
    })?;
    if !Rc::ptr_eq(&state.method, &method) {
        return Err(SqlError::parameter("method must be the same for all rows of a part").hint(EXAMPLE));
    }
    Ok((datum, state))
}

impl PartJoinState {
    /// Adds a row: the number of a document, the size of its set and whether it is known, and what
    /// it may share.
    pub(super) fn add(
        &mut self,
        id: u64,
        size: u32,
        known: bool,
        bitmap: &[u8],
        prefix: &[u8],
    ) -> neardup_core::error::Result<()> {
        match &mut self.part {
            PartRowsState::Keys(part) => part.add(id, prefix, known),
            PartRowsState::Sets(part, shared) => part.add(id, size, bitmap, shared(prefix), known),
        }
    }
}

sql_functions! {
    /// `neardup_part_join_result(internal, …) → bigint[]`
    neardup_part_join_result, within Arguments: |call| {
        aggregate::result(call, |state: Option<PartJoinState>| state.map(|state| candidates(state.part)).transpose())
    };
}

/// Returns the numbers of all candidates of a part, the lesser one of a pair first.
fn candidates(part: PartRowsState) -> Result<Datum> {
    /// An array is at most 1 GB.
    const MOST: usize = (LARGEST - (1 << 10)) / size_of::<i64>();
    let executor = BackendExecutor::single();
    let (mut found, mut is_full): (Vec<i64>, bool) = (Vec::new(), false);
    let mut add = |a: u64, b: u64| -> neardup_core::error::Result<()> {
        let [a, b] = [a, b].map(u64::cast_signed);
        memory::extend(&mut found, &[a.min(b), a.max(b)], DOING)?;
        is_full = found.len() > MOST;
        if is_full { Err(Error::Source) } else { Ok(()) }
    };
    let joined = match part {
        PartRowsState::Keys(part) => part.candidates(&executor, &mut add),
        PartRowsState::Sets(part, _) => part.candidates(&executor, &mut add),
    };
    if is_full {
        let message = "the candidates of a part would be larger than 1 GB".to_owned();
        return Err(SqlError::new(PgSqlErrorCode::ERRCODE_PROGRAM_LIMIT_EXCEEDED, message)
            .hint("Make more parts, or raise the threshold: parts => 1024"));
    }
    joined?;
    number_array(&found)
}

sql_functions! {
    /// `neardup_part_candidates(bigint[]) → (left_id, right_id)`
    neardup_part_candidates, within Arguments: |call| {
        let Some(array) = call.datum(0) else { return Ok(call.give::<i32>(None)) };
        // SAFETY: our SQL declares an array of bigints, which lives as long as the call.
        let ids = unsafe { numbers(pg_sys::pg_detoast_datum(array.cast_mut_ptr()).cast()) };
        let ids = ids.ok_or_else(|| is_null("ids").hint(EXAMPLE))?;
        let (pairs, []) = ids.as_chunks() else {
            let message = format!("{} numbers are no whole number of pairs", ids.len());
            return Err(SqlError::parameter(message).hint(EXAMPLE));
        };
        let row = |pair: &[i64; 2]| Ok(pair.map(|id| Some(Datum::from(id))));
        set_returning::all(call, Rows(["left_id", "right_id"], pairs.iter().map(row)))
    };
}

/// Returns the numbers of an array where they are, or `None` if it can have NULL.
///
/// # Safety
/// An array of bigints, which lives as long as the call, as the numbers then do.
unsafe fn numbers(array: *const pg_sys::ArrayType) -> Option<&'static [i64]> {
    // SAFETY: the lengths follow the header, then the lower bounds, then the elements, aligned to 8
    // bytes (utils/array.h).
    unsafe {
        let (dimensions, lengths) = ((*array).ndim, array.add(1).cast::<i32>());
        let header = size_of::<pg_sys::ArrayType>() + 2 * size_of::<i32>() * dimensions as usize;
        let elements = array.byte_add(header.next_multiple_of(align_of::<i64>())).cast::<i64>();
        let count = pg_sys::ArrayGetNItems(dimensions, lengths) as usize;
        ((*array).dataoffset == 0).then(|| std::slice::from_raw_parts(elements, count))
    }
}

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

sql_functions! {
    /// `neardup_part_pack_step(internal, n, carried, ranks, method, parts) → internal`
    neardup_part_pack_step, within Arguments: |call| {
        pack(call, document::of_document(call, 2)?)
    };

    /// `neardup_part_pack_result(internal) → bytea[]`
    neardup_part_pack_result, within Arguments: |call| {
        aggregate::result(call, |state: Option<PackState>| {
            state.map(|state| bytes_array(&state.packer.pieces()?)).transpose()
        })
    };

    /// `neardup_part_join_packed_step(internal, rows, method) → internal`
    neardup_part_join_packed_step, within Arguments: |call| {
        let (datum, state) = joined(call, 2)?;
        add(call, |row| state.add(row.id, row.size, false, row.bitmap, row.shared))?;
        Ok(datum)
    };
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
