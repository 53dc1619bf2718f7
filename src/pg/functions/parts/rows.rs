//! The rows by which a carried document meets others in parts.

use pgrx::pg_sys::Datum;

use super::ranks::ranks;
use super::{EXAMPLE, method};
use crate::pg::server::call::{FunctionCall, sql_function};
use crate::pg::server::error::{Result, SqlError};
use crate::pg::server::executor::executor_for;
use crate::pg::server::set_returning::{self, RowSource};
use neardup_core::executor;
use neardup_core::joins::parts::groups::{RowGroups, check_parts, groups};
use neardup_core::joins::parts::ranks::TokenRanks;
use neardup_core::joins::parts::{filtered_keys, keys};
use neardup_core::joins::sets::bounds::Bounds;
use neardup_core::methods::carrier::{LeftOut, Meeting, content};

sql_function! {
    /// `neardup_part_rows(carried, ranks, method, parts)`: returns one row for each part.
    neardup_part_rows, pg_finfo_neardup_part_rows, within Arguments, |call| {
        match of_document(call, 0)? {
            Some(rows) => set_returning::all(call, PartRows::new(rows)),
            None => Ok(call.give::<i32>(None)),
        }
    }
}

/// Returns the rows of the carried document in argument `n`, by what was counted, the method and
/// the number of parts in the next arguments. Returns `None` without a document.
pub(super) fn of_document(call: FunctionCall, n: usize) -> Result<Option<RowGroups>> {
    let method = method(call, n + 2)?;
    let carrier = method.carrier()?;
    let Some(bytes) = call.bytes(n) else { return Ok(None) };
    let carried = content(bytes)?;
    let parts = check_parts(call.need::<i32>(n + 3, "parts")?.into())
        .map_err(|error| SqlError::from(error).hint(EXAMPLE))?;
    let mut rows = RowGroups::default();
    let executor = executor_for(8 * bytes.len());
    if let meeting @ (Meeting::Sets(_) | Meeting::Rarest) = carrier.meeting() {
        let none = [1, 0, 0, 0, 0, 0, 0, 0];
        let order = ranks(call, n + 1)?.map_or_else(|| TokenRanks::parse(&none), Ok)?;
        executor::one(executor, &mut rows, |rows, stop| {
            *rows = match meeting {
                Meeting::Sets(predicate) => {
                    groups(&carrier.set(carried, stop)?, &order, &Bounds::new(predicate), parts, stop)?
                }
                _ => {
                    let (mut weighted, mut own) = (Vec::new(), Vec::new());
                    let needed = carrier.weights(carried, &mut weighted, stop)?;
                    keys::rarest(&weighted, needed, &order, &mut own, stop)?;
                    keys::groups(&mut own, parts, stop)?
                }
            };
            Ok(())
        })?;
        return Ok(Some(rows));
    }
    let left_out = LeftOut::parse(call.bytes(n + 1).unwrap_or_default())?;
    executor::one(executor, &mut rows, |rows, stop| {
        let mut own = Vec::new();
        carrier.keys(carried, left_out, &mut own, stop)?;
        *rows = match carrier.meeting() {
            Meeting::Keys { filter: Some(predicate), .. } => {
                let set = carrier.set(carried, stop)?;
                filtered_keys::groups(&own, &set, &Bounds::new(predicate), parts, stop)?
            }
            _ => keys::groups(&mut own, parts, stop)?,
        };
        Ok(())
    })?;
    Ok(Some(rows))
}

/// The rows of a document.
struct PartRows {
    rows: RowGroups,
    bitmap: Datum,
    next: usize,
}

impl PartRows {
    /// Makes the values in the current memory context.
    fn new(rows: RowGroups) -> Self {
        let bitmap = bytea(&rows.bitmap);
        Self { rows, bitmap, next: 0 }
    }
}

impl RowSource<4> for PartRows {
    fn columns(&self) -> [&'static str; 4] {
        ["part", "size", "bitmap", "prefix"]
    }

    fn next(&mut self) -> Result<Option<[Datum; 4]>> {
        let Some((part, prefix)) = self.rows.parts.get(self.next) else { return Ok(None) };
        self.next += 1;
        // There are at most 2²⁰ parts, and a value of 1 GB has fewer tokens than an int can count.
        Ok(Some([Datum::from(*part), Datum::from(self.rows.size), self.bitmap, bytea(prefix)]))
    }
}

/// Makes a bytea in the current memory context.
fn bytea(bytes: &[u8]) -> Datum {
    pgrx::IntoDatum::into_datum(bytes).unwrap_or(Datum::null())
}
