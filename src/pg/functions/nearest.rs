//! The nearest of each row: `nearest` (docs/reference/functions.md, *Pairs*).

use std::time::Instant;

use pgrx::check_for_interrupts;
use pgrx::pg_sys::Datum;

use super::near_duplicates_stats::StoredAccount;
use crate::pg::read::documents::{Finished, ServerReading};
use crate::pg::request::NearestRequest;
use crate::pg::request::form::{self, Form};
use crate::pg::server::call::{Call, sql_function};
use crate::pg::server::error::Result;
use crate::pg::server::set_returning::{self, Rows};
use neardup_core::joins::nearest::rows::NearestRows;
use neardup_core::methods::account::milliseconds;
use neardup_core::methods::nearest::search;

sql_function! {
    /// `nearest(docs, k, …)`
    neardup_nearest, pg_finfo_neardup_nearest, |call| answer(call, form::NEAREST)
}
sql_function! {
    /// `nearest(docs, k, id_type, …)`
    neardup_nearest_typed, pg_finfo_neardup_nearest_typed, |call| answer(call, form::NEAREST.typed())
}

fn answer(call: Call, form: Form) -> Result<Datum> {
    set_returning::answer_within_memory(call, || NearestOfEach::new(&NearestRequest::new(call, form)?))
}

/// A running search that returns its rows.
struct NearestOfEach {
    rows: NearestRows,
    finished: Finished,
    kept: StoredAccount,
}

impl NearestOfEach {
    /// Reads the documents and prepares the search.
    fn new(request: &NearestRequest) -> Result<Self> {
        let began = Instant::now();
        let mut reading = ServerReading::of(request.name, &request.source, None, request.id_type);
        let (rows, mut account) =
            reading.run(|reading| search(request.spec, request.measure, request.k, reading))?;
        account.phases[1] = milliseconds(began) - account.phases[0];
        Ok(Self { rows, finished: reading.finish(), kept: StoredAccount::of(account) })
    }
}

impl Rows<4> for NearestOfEach {
    fn columns(&self) -> [&'static str; 4] {
        ["id", "nearest_id", "similarity", "rank"]
    }

    fn next(&mut self) -> Result<Option<[Datum; 4]>> {
        check_for_interrupts!();
        let found = loop {
            if let Some(found) = self.rows.take() {
                break found;
            }
            let began = Instant::now();
            let more = self.rows.advance(&self.finished.executor)?;
            let account = &mut self.kept.account;
            account.phases[2] += milliseconds(began);
            account.peak_memory = account.peak_memory.max(self.rows.bytes() as u64);
            let rows = &self.rows;
            self.finished
                .progress
                .report(|| format!("finding the nearest, {:.0} %", 100.0 * rows.progress()));
            if !more {
                return Ok(None);
            }
        };
        let [id, nearest] = self.finished.ids(found.row, found.nearest);
        let similarity = Datum::from(found.similarity.to_bits());
        Ok(Some([id, nearest, similarity, Datum::from(found.rank)]))
    }
}

impl Drop for NearestOfEach {
    fn drop(&mut self) {
        self.kept.account.counts = self.rows.counts();
        self.kept.account.pairs = self.rows.given();
    }
}
