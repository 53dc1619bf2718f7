//! The statistics of the last call: `near_duplicates_stats()`.

use std::cell::RefCell;

use pgrx::pg_sys::{self, Datum};

use crate::pg::request::example::Example;
use crate::pg::server::call::sql_functions;
use crate::pg::server::error::tell;
use crate::pg::server::executor::worked;
use crate::pg::server::own_schema::calls;
use crate::pg::server::set_returning::{self, Row, Rows};
use neardup_core::joins::sketches::hamming::Hamming;
use neardup_core::methods::account::Account;

thread_local! {
    /// The account of the last call and the role that made the call.
    static LAST: RefCell<Option<(pg_sys::Oid, Account)>> = const { RefCell::new(None) };
}

/// Tells the caller if many documents or sentences are not compared, if codes carry little
/// information, if runs did not count, if long texts are compared character by character, or if all
/// sketches are compared with each other.
pub(crate) fn tell_weak(name: &str, account: &Account) {
    if account.codes.are_many() {
        pgrx::notice!("{name}: {}; edit or the measures of words tell such texts apart", account.codes);
    }
    if account.unsigned.are_many() {
        pgrx::notice!("{name}: {}; see near_duplicates_stats()", account.unsigned);
    }
    if account.frequent.windows > 0 {
        pgrx::notice!("{name}: {}", account.frequent);
    }
    if account.compared.are_long() {
        let hint = "Of bodies, jaccard compares words and tlcs sentences, in a time that hardly grows with their length; \
                    edit is for names and titles.";
        notice_with_hint(format!("{name}: {}", account.compared), hint);
    }
    if account.all_with_all.are_many() {
        let bits = account.all_with_all.bits;
        let most = Hamming::greatest_by_blocks(bits);
        let share = (f64::from(1000 * (bits - most)) / f64::from(bits)).ceil() / 1000.0;
        let hint = format!(
            "At a distance of at most {most} of {bits} bits, or a threshold of at least {share}, only those with a block in \
             common are compared. Documents that are not alike agree in about half of their bits by chance."
        );
        notice_with_hint(format!("{name}: {}", account.all_with_all), &hint);
    }
}

/// Tells the caller if half of the documents are too short for what the method compares, and shows
/// a call of the same function that compares words.
pub(crate) fn tell_short(name: &str, account: &Account, of_words: &Example) {
    if account.short_texts.are_many() {
        let hint = format!("Single words tell such texts apart: SELECT * FROM {of_words};");
        notice_with_hint(format!("{name}: {}", account.short_texts), &hint);
    }
}

fn notice_with_hint(message: String, hint: &str) {
    tell(message, Some(calls(hint).into_owned()));
}

/// The account of a call by the current role. `near_duplicates_stats()` shows it even if the call
/// fails.
#[derive(Debug)]
pub(crate) struct StoredAccount {
    /// The account of the work so far.
    pub account: Account,
    role: pg_sys::Oid,
}

impl StoredAccount {
    /// Wraps an account that the call may still change.
    pub(crate) fn from_account(account: Account) -> Self {
        // SAFETY: reads a variable of the session.
        Self { account, role: unsafe { pg_sys::GetUserId() } }
    }
}

impl Drop for StoredAccount {
    fn drop(&mut self) {
        let mut account = std::mem::take(&mut self.account);
        account.threads = worked().max(1) as u64;
        LAST.with(|last| *last.borrow_mut() = Some((self.role, account)));
    }
}

sql_functions! {
    /// `near_duplicates_stats()`: returns one row, or no row if the current role has made no call.
    neardup_near_duplicates_stats: |call| {
        // SAFETY: reads a variable of the session.
        let role = unsafe { pg_sys::GetUserId() };
        let last = LAST.with(|last| last.borrow().as_ref().filter(|(owner, _)| *owner == role).map(|(_, s)| s.clone()));
        set_returning::all(call, Rows(COLUMNS, last.iter().map(|account| Ok(row(account)))))
    };
}

const COLUMNS: [&str; 28] = [
    "documents",
    "skipped_null",
    "skipped_empty",
    "tokens",
    "distinct_tokens",
    "distinct_sets",
    "candidates",
    "pruned_by_size",
    "pruned_by_bitmap",
    "pruned_by_position",
    "pruned_by_suffix",
    "verified",
    "pairs",
    "peak_memory",
    "threads",
    "read_ms",
    "order_ms",
    "join_ms",
    "pruned_by_sketch",
    "stop_signatures",
    "stop_documents",
    "promised_recall",
    "measured_recall",
    "hot_buckets",
    "hot_documents",
    "unsigned",
    "handed_over",
    "median_words",
];

/// Returns the account as a row.
fn row(account: &Account) -> Row<{ COLUMNS.len() }> {
    let counts = account.counts;
    let numbers = [
        account.documents,
        account.skipped_null,
        account.skipped_empty,
        account.tokens,
        account.distinct_tokens,
        account.distinct_sets,
        counts.candidates,
        counts.pruned_by_size,
        counts.pruned_by_bitmap,
        counts.pruned_by_position,
        counts.pruned_by_suffix,
        counts.verified,
        account.pairs,
        account.peak_memory,
        account.threads,
    ];
    let later = [
        Some(counts.pruned_by_sketch),
        Some(counts.stop_signatures),
        Some(counts.stop_documents),
        account.promised_recall.map(f64::to_bits),
        account.measured_recall.map(f64::to_bits),
        Some(counts.hot_buckets),
        Some(counts.hot_documents),
        Some(account.unsigned.count),
        Some(account.handed_over.into()),
        account.short_texts.median_words(),
    ];
    let values = numbers.into_iter().chain(account.phases.map(f64::to_bits)).map(Some).chain(later);
    let mut row = [None; COLUMNS.len()];
    for (column, value) in row.iter_mut().zip(values) {
        *column = value.map(Datum::from);
    }
    row
}
