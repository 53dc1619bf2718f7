//! The nearest of each row: `nearest` (docs/reference/functions.md, *Pairs*).

use std::time::Instant;

use pgrx::check_for_interrupts;
use pgrx::pg_sys::Datum;

use super::near_duplicates_stats::StoredAccount;
use crate::pg::read::documents::{Finished, ServerReading};
use crate::pg::request::NearestRequest;
use crate::pg::request::form::NEAREST;
use crate::pg::server::call::sql_functions;
use crate::pg::server::error::Result;
use crate::pg::server::executor::interrupt_pending;
use crate::pg::server::set_returning::{self, Put, Row, RowSource, float};
use neardup_core::joins::nearest::found::NearestRow;
use neardup_core::joins::nearest::rows::NearestRows;
use neardup_core::methods::account::milliseconds;
use neardup_core::methods::nearest::search;

sql_functions! {
    /// `nearest(docs, k, …)`
    neardup_nearest: |call| {
        set_returning::answer(call, || NearestOfEach::new(&NearestRequest::new(NEAREST.bind(call))?))
    };
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
        let reading = ServerReading::open(request.name, &request.source, None, request.id_type);
        let (rows, finished, account) = reading
            .prepare(|reading| search(request.spec, request.measure, &request.weights, request.k, reading))?;
        Ok(Self { rows, finished, kept: StoredAccount::from_account(account) })
    }

    /// Searches for some more rows. Meanwhile it passes the rows that are found to `put`, if it is
    /// given. Returns false when all are found.
    fn advance(&mut self, mut put: Option<&mut Put<'_, 4>>) -> Result<bool> {
        let began = Instant::now();
        let Self { rows, finished, kept } = self;
        let executor = finished.executor;
        let more = rows.advance_beside(&executor, &mut |share, take| {
            finished.progress.report(|| format!("finding the nearest, {:.0} %", 100.0 * share));
            let Some(put) = &mut put else { return };
            while !interrupt_pending()
                && let Some(found) = take()
            {
                put(row(finished, found));
            }
        })?;
        let account = &mut kept.account;
        account.phases[2] += milliseconds(began);
        account.peak_memory = account.peak_memory.max(rows.bytes() as u64);
        Ok(more)
    }
}

/// Returns a row of the result.
fn row(finished: &Finished, found: NearestRow) -> Row<4> {
    let [id, nearest] = finished.ids(found.row, found.nearest);
    [Some(id), Some(nearest), float(found.similarity), Some(Datum::from(found.rank))]
}

impl RowSource<4> for NearestOfEach {
    fn columns(&self) -> [&'static str; 4] {
        ["id", "nearest_id", "similarity", "rank"]
    }

    fn next(&mut self) -> Result<Option<Row<4>>> {
        check_for_interrupts!();
        loop {
            if let Some(found) = self.rows.take() {
                return Ok(Some(row(&self.finished, found)));
            }
            if !self.advance(None)? {
                return Ok(None);
            }
        }
    }

    fn each(&mut self, put: &mut Put<'_, 4>) -> Result<()> {
        while self.advance(Some(put))? {}
        while let Some(row) = self.next()? {
            put(row);
        }
        Ok(())
    }
}

impl Drop for NearestOfEach {
    fn drop(&mut self) {
        self.kept.account.counts = self.rows.counts();
        self.kept.account.pairs = self.rows.given();
    }
}
