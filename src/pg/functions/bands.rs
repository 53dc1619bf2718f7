//! Minhash in parts, for `near_duplicates_into`: the parts that the bands of a set fall into, and who shares one. Anyone may call
//! these functions, with anything.

use pgrx::PgSqlErrorCode;
use pgrx::pg_sys::Datum;

use crate::error::Error;
use crate::joins::parts::bands::{self, Banded};
use crate::joins::parts::groups::check_parts;
use crate::joins::parts::token_set::TokenSet;
use crate::joins::sketches::banding::Banding;
use crate::pg::server::aggregate;
use crate::pg::server::call::{Call, sql_function};
use crate::pg::server::error::{Result, SqlError};
use crate::pg::server::set_returning::{self, Rows};
use crate::pg::server::settings;
use crate::pg::server::temp_file::ServerFiles;
use crate::pg::server::values::{LARGEST, number_array};
use crate::pg::server::workers::{BackendWorkers, workers_for};
use crate::workers;

/// A call that works, for hints.
const EXAMPLE: &str =
    "CALL near_duplicates_into('docs', 0.8, 'docs_pairs', method => 'minhash', parts => 1024);";

sql_function! {
    /// `neardup_band_groups(token_set, bands, rows, seed, parts)`: one row for each part, as of `prefix_groups`.
    neardup_band_groups, pg_finfo_neardup_band_groups, |call| {
        let Some(set) = call.bytes(0) else { return Ok(call.give::<i32>(None)) };
        let (bands, rows) = (call.whole(1, "bands")?, call.whole(2, "rows")?);
        let with_hint = |error| SqlError::from(error).hint(EXAMPLE);
        let plan = Banding::new(bands.into(), rows.into()).map_err(with_hint)?;
        let seed: i64 = call.need(3, "seed")?;
        let parts = check_parts(call.need::<i32>(4, "parts")?.into()).map_err(with_hint)?;
        let set = TokenSet::parse(set)?;
        let mut groups = Vec::new();
        workers::one(workers_for(set.len() as usize * plan.values()), &mut groups, |groups, stop| {
            *groups = bands::groups(&set, &mut bands::minhasher(plan, seed), plan.rows, parts, stop)?;
            Ok(())
        })?;
        set_returning::all(call, Grouped { size: set.len(), groups, next: 0 })
    }
}
sql_function! {
    /// `neardup_join_bands_step(internal, id, keys) → internal`
    neardup_join_bands_step, pg_finfo_neardup_join_bands_step, |call| step(call)
}
sql_function! {
    /// `neardup_join_bands_result(internal, …) → bigint[]`
    neardup_join_bands_result, pg_finfo_neardup_join_bands_result, |call| {
        const MOST: usize = (LARGEST - (1 << 10)) / size_of::<[i64; 2]>();
        let Some(state) = aggregate::take::<Joined>(call)? else { return Ok(call.give::<i32>(None)) };
        let Some(pairs) = state.pairs(MOST, &BackendWorkers::single()).map_err(too_short)? else {
            let message = "the candidates of a part would be larger than 1 GB";
            return Err(SqlError::new(PgSqlErrorCode::ERRCODE_PROGRAM_LIMIT_EXCEEDED, message).hint(
                "Raise the threshold, or have more rows in a band: options => '{\"bands\": 14, \"rows\": 8}'",
            ));
        };
        number_array(pairs.as_flattened())
    }
}

/// The rows of a set.
struct Grouped {
    size: u32,
    groups: Vec<(u32, Vec<u8>)>,
    next: usize,
}

impl Rows<4> for Grouped {
    fn columns(&self) -> [&'static str; 4] {
        ["part", "size", "bitmap", "prefix"]
    }

    fn next(&mut self) -> Result<Option<[Datum; 4]>> {
        let Some((part, keys)) = self.groups.get(self.next) else { return Ok(None) };
        self.next += 1;
        let bytea = |bytes: &[u8]| pgrx::IntoDatum::into_datum(bytes).unwrap_or(Datum::null());
        Ok(Some([Datum::from(*part), Datum::from(self.size), bytea(&[]), bytea(keys)]))
    }
}

/// The state of the aggregate.
type Joined = Banded<ServerFiles>;

fn step(call: Call) -> Result<Datum> {
    let (datum, state) =
        aggregate::state(call, || Ok(Joined::new(ServerFiles::in_current_context(), settings::memory())))?;
    let id: i64 = call.need(1, "id")?;
    let keys = call.bytes(2).ok_or_else(|| {
        SqlError::new(PgSqlErrorCode::ERRCODE_NULL_VALUE_NOT_ALLOWED, "keys must not be NULL")
    })?;
    state.add(id, keys, &BackendWorkers::single()).map_err(|error| match error {
        Error::Malformed { .. } => SqlError::parameter(error.to_string())
            .hint("The bytes are those of the column prefix of neardup_band_groups."),
        error => error.into(),
    })?;
    Ok(datum)
}

/// The error where one of many slices of a part is too large.
fn too_short(error: Error) -> SqlError {
    let Error::OutOfMemory { .. } = error else { return error.into() };
    let message = "the bands of a part take more than neardup.memory, even in a file";
    SqlError::new(PgSqlErrorCode::ERRCODE_OUT_OF_MEMORY, message)
        .hint(format!("Make more parts, or raise neardup.memory on all servers: {EXAMPLE}"))
}
