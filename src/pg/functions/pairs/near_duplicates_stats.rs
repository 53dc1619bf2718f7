//! The statistics of the last call: `near_duplicates_stats()`.

use std::cell::RefCell;
use std::time::Instant;

use pgrx::pg_sys::{self, Datum};

use crate::pg::request::example::Example;
use crate::pg::server::call::sql_functions;
use crate::pg::server::executor::worked;
use crate::pg::server::notices::{notice, notice_with};
use crate::pg::server::own_schema::calls;
use crate::pg::server::set_returning::{self, Rows};
use neardup_core::joins::sketches::hamming::Hamming;
use neardup_core::methods::account::{Account, milliseconds};

thread_local! {
    /// The account of the last call and the role that made the call.
    static LAST: RefCell<Option<(pg_sys::Oid, Account)>> = const { RefCell::new(None) };
}

/// Tells the caller if many documents or sentences are not compared, if codes carry little
/// information, if runs did not count, if long texts are compared character by character, if all
/// sketches are compared with each other, or if half of the documents are too short for what the
/// method compares; `of_words` is a call of the same function that compares words.
pub(crate) fn tell_weak(name: &str, account: &Account, of_words: &Example) {
    if account.codes.are_many() {
        notice(format!("{name}: {}; edit or the measures of words tell such texts apart", account.codes));
    }
    if account.unsigned.are_many() {
        notice(format!("{name}: {}; see near_duplicates_stats()", account.unsigned));
    }
    if account.frequent.windows > 0 {
        notice(format!("{name}: {}", account.frequent));
    }
    if account.compared.are_long() {
        let hint = "Of bodies, jaccard compares words and tlcs sentences, in a time that hardly grows with their length; \
                    edit is for names and titles.";
        notice_with(format!("{name}: {}", account.compared), calls(hint));
    }
    if account.all_with_all.are_many() {
        let bits = account.all_with_all.bits;
        let most = Hamming::greatest_by_blocks(bits);
        let share = (f64::from(1000 * (bits - most)) / f64::from(bits)).ceil() / 1000.0;
        let hint = format!(
            "At a distance of at most {most} of {bits} bits, or a threshold of at least {share}, only those with a block in \
             common are compared. Documents that are not alike agree in about half of their bits by chance."
        );
        notice_with(format!("{name}: {}", account.all_with_all), calls(&hint));
    }
    if account.short_texts.are_many() {
        let hint = format!("Single words tell such texts apart: SELECT * FROM {of_words};");
        notice_with(format!("{name}: {}", account.short_texts), calls(&hint));
    }
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

    /// Does a part of the join, whose time counts.
    pub(crate) fn timed<T>(&mut self, work: impl FnOnce() -> T) -> T {
        let began = Instant::now();
        let made = work();
        self.account.phases[2] += milliseconds(began);
        made
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
        let row = last.map(|account| Ok(columns(&account).map(|(_, value)| value.map(Datum::from))));
        set_returning::all(call, Rows(columns(&Account::default()).map(|(name, _)| name), row.into_iter()))
    };
}

/// Returns the names of the columns, and what an account has for them. Values of type double
/// precision are their bits.
fn columns(account: &Account) -> [(&'static str, Option<u64>); 28] {
    let counts = account.counts;
    let [read, order, join] = account.phases.map(|phase| Some(phase.to_bits()));
    [
        ("documents", Some(account.documents)),
        ("skipped_null", Some(account.skipped_null)),
        ("skipped_empty", Some(account.skipped_empty)),
        ("tokens", Some(account.tokens)),
        ("distinct_tokens", Some(account.distinct_tokens)),
        ("distinct_sets", Some(account.distinct_sets)),
        ("candidates", Some(counts.candidates)),
        ("pruned_by_size", Some(counts.pruned_by_size)),
        ("pruned_by_bitmap", Some(counts.pruned_by_bitmap)),
        ("pruned_by_position", Some(counts.pruned_by_position)),
        ("pruned_by_suffix", Some(counts.pruned_by_suffix)),
        ("verified", Some(counts.verified)),
        ("pairs", Some(account.pairs)),
        ("peak_memory", Some(account.peak_memory)),
        ("threads", Some(account.threads)),
        ("read_ms", read),
        ("order_ms", order),
        ("join_ms", join),
        ("pruned_by_sketch", Some(counts.pruned_by_sketch)),
        ("stop_signatures", Some(counts.stop_signatures)),
        ("stop_documents", Some(counts.stop_documents)),
        ("promised_recall", account.promised_recall.map(f64::to_bits)),
        ("measured_recall", account.measured_recall.map(f64::to_bits)),
        ("hot_buckets", Some(counts.hot_buckets)),
        ("hot_documents", Some(counts.hot_documents)),
        ("unsigned", Some(account.unsigned.count)),
        ("handed_over", Some(account.handed_over.into())),
        ("median_words", account.short_texts.median_words()),
    ]
}
