//! What the last call did: `near_duplicates_stats()`.

use std::cell::RefCell;

use pgrx::pg_sys::{self, Datum};

use crate::pg::server::call::sql_function;
use crate::pg::server::error::Result;
use crate::pg::server::set_returning::{self, Rows};

/// The account of one call.
#[derive(Debug, Clone, Default)]
pub struct Stats {
    /// The rows that were read.
    pub documents: u64,
    /// Rows without a text.
    pub skipped_null: u64,
    /// Documents without a token.
    pub skipped_empty: u64,
    /// Tokens of all sets.
    pub tokens: u64,
    /// Different tokens.
    pub distinct_tokens: u64,
    /// Different sets.
    pub distinct_sets: u64,
    /// What the filters did.
    pub counts: crate::joins::Counts,
    /// Pairs given so far.
    pub pairs: u64,
    /// The most bytes held at a time, outside the server's own memory.
    pub peak_memory: u64,
    /// Threads worked with.
    pub threads: u64,
    /// The recall of minhash at the threshold, as promised and as measured on a sample.
    pub promised_recall: Option<f64>,
    /// What was measured.
    pub measured_recall: Option<f64>,
    /// Milliseconds of reading and tokenising, of ordering, and of joining until now.
    pub phases: [f64; 3],
}

thread_local! {
    /// The last call's account and the role it belongs to.
    static LAST: RefCell<Option<(pg_sys::Oid, Stats)>> = const { RefCell::new(None) };
}

/// Keeps the account of a call that `role` made.
pub fn keep(role: pg_sys::Oid, stats: &Stats) {
    LAST.with(|last| *last.borrow_mut() = Some((role, stats.clone())));
}

sql_function! {
    /// `near_duplicates_stats()`: one row, or none where the present role made no call.
    neardup_stats, pg_finfo_neardup_stats, |call| {
        // SAFETY: a look at a variable of the session.
        let role = unsafe { pg_sys::GetUserId() };
        let last = LAST.with(|last| last.borrow().as_ref().filter(|(owner, _)| *owner == role).map(|(_, s)| s.clone()));
        set_returning::all(call, Account { stats: last, nulls: [false; COLUMNS] })
    }
}

/// The account as a single row.
struct Account {
    stats: Option<Stats>,
    nulls: [bool; COLUMNS],
}

/// Columns of the account.
const COLUMNS: usize = 25;

impl Rows<COLUMNS> for Account {
    fn next(&mut self) -> Result<Option<[Datum; COLUMNS]>> {
        let Some(stats) = self.stats.take() else { return Ok(None) };
        let counts = stats.counts;
        let numbers = [
            stats.documents,
            stats.skipped_null,
            stats.skipped_empty,
            stats.tokens,
            stats.distinct_tokens,
            stats.distinct_sets,
            counts.candidates,
            counts.pruned_by_size,
            counts.pruned_by_bitmap,
            counts.pruned_by_position,
            counts.pruned_by_suffix,
            counts.verified,
            stats.pairs,
            stats.peak_memory,
            stats.threads,
        ];
        let mut row = [Datum::null(); COLUMNS];
        let later = [
            Some(counts.pruned_by_sketch),
            Some(counts.stop_signatures),
            Some(counts.stop_documents),
            stats.promised_recall.map(f64::to_bits),
            stats.measured_recall.map(f64::to_bits),
            Some(counts.hot_buckets),
            Some(counts.hot_records),
        ];
        let values = numbers.into_iter().chain(stats.phases.map(f64::to_bits)).map(Some).chain(later);
        for ((column, null), value) in row.iter_mut().zip(&mut self.nulls).zip(values) {
            (*column, *null) = (Datum::from(value.unwrap_or(0)), value.is_none());
        }
        Ok(Some(row))
    }

    fn nulls(&self) -> [bool; COLUMNS] {
        self.nulls
    }
}
