//! The main functions: `near_duplicates` and `near_duplicates_between`
//! (docs/reference/functions.md, *Pairs*).

use std::time::Instant;

use pgrx::pg_sys::Datum;
use pgrx::{PgSqlErrorCode, check_for_interrupts};

use super::near_duplicates_stats::{StoredAccount, tell_weak};
use crate::pg::query::ids::OrderedIds;
use crate::pg::read::documents::Finished;
use crate::pg::request::Request;
use crate::pg::request::example::Example;
use crate::pg::request::form::{self, FunctionForm};
use crate::pg::server::call::{FunctionCall, sql_functions};
use crate::pg::server::error::{Result, SqlError};
use crate::pg::server::notices::notice;
use crate::pg::server::set_returning::{self, Row, RowSource, float};
use neardup_core::clusters::leaders::Leaders;
use neardup_core::features::sets::members::Members;
use neardup_core::joins::pairs::{Pair, Pairs};
use neardup_core::joins::{JoinedSets, RecordJoin};
use neardup_core::methods::account::{Account, milliseconds};
use neardup_core::methods::within;

sql_functions! {
    /// `near_duplicates(docs, threshold, …)`
    neardup_near_duplicates: |call| answer(call, form::NEAR_DUPLICATES);

    /// `near_duplicates_between(left, right, threshold, …)`
    neardup_near_duplicates_between: |call| answer(call, form::NEAR_DUPLICATES_BETWEEN);
}

/// The default of `max_pairs` for a call whose pairs the server stores before it uses them.
const DEFAULT_MAX_PAIRS: u64 = 100_000_000;

fn answer(call: FunctionCall, form: FunctionForm) -> Result<Datum> {
    set_returning::answer(call, || {
        let mut request = Request::new(form.bind(call))?;
        if set_returning::wants_all(call)? {
            request.max_pairs.get_or_insert(DEFAULT_MAX_PAIRS);
        }
        RunningJoin::new(&request)
    })
}

/// A running join that returns its pairs.
pub(crate) struct RunningJoin {
    name: &'static str,
    /// The result of the preparation of the join: the ids and the executor.
    pub finished: Finished,
    pairs: Pairs,
    max_pairs: Option<u64>,
    example: Example,
    kept: StoredAccount,
}

impl RunningJoin {
    /// Reads the documents and prepares the join.
    pub(crate) fn new(request: &Request) -> Result<Self> {
        let (pairs, finished, account) = request.reading().prepare(|reading| {
            reading.most_pairs = request.max_pairs;
            within::pairs(&*request.method, reading)
        })?;
        tell_weak(request.name, &account, &request.of_words);
        tell_recall(request.name, &account);
        tell_handed_over(request.name, &account);
        let run = Self {
            name: request.name,
            finished,
            pairs,
            max_pairs: request.max_pairs,
            example: request.example.clone(),
            kept: StoredAccount::from_account(account),
        };
        match run.max_pairs {
            // The pairs of equal documents alone exceed the limit, so the join need not begin.
            Some(most) if run.pairs.certain() > most => {
                Err(too_many_pairs(request.name, &request.example, most))
            }
            _ => Ok(run),
        }
    }

    /// Lets a join that returns only the needed pairs take the place of the join by sets, unless
    /// the caller limits the number of all pairs.
    pub(crate) fn narrow(
        &mut self,
        narrow: impl FnOnce(JoinedSets, &Members, &Finished) -> Result<Box<dyn RecordJoin>>,
    ) -> Result<()> {
        let Self { pairs, finished, kept, max_pairs, .. } = self;
        match max_pairs {
            Some(_) => Ok(()),
            None => kept.timed(|| pairs.narrow(|sets, members| narrow(sets, members, finished))),
        }
    }

    fn report(&mut self) {
        let pairs = &self.pairs;
        self.finished
            .progress
            .report(|| format!("joining, {:.0} %, {} pairs", 100.0 * pairs.progress(), pairs.given()));
    }

    /// Tells the caller if buckets were expanded only in part, because pairs may then be missing.
    fn tell_hot_buckets(&self) {
        let counts = self.pairs.counts();
        if counts.hot_buckets > 0 {
            let (buckets, documents) = (counts.hot_buckets, counts.hot_documents);
            notice(format!(
                "{}: {buckets} buckets of more than max_bucket documents, {documents} in all, were expanded in part, \
                 so pairs among these may be missing; see near_duplicates_stats()",
                self.name
            ));
        }
    }
}

impl RunningJoin {
    /// Returns the next pair of rows, or `None` after the last pair. All callers that take pairs
    /// use this function or [`RunningJoin::next_of_groups`], so they can be interrupted between any
    /// two pairs. This is necessary because equal rows alone may form very many pairs.
    pub(crate) fn next_pair(&mut self) -> Result<Option<Pair>> {
        self.next_by(Pairs::take)
    }

    /// Returns the groups of two or more equal rows, and for each group the similarity of its rows
    /// to each other, or `None` if they form no pairs.
    pub(crate) fn equal_rows(&self) -> impl Iterator<Item = (&[u32], Option<f64>)> + Clone {
        self.pairs.equal_rows()
    }

    /// Returns the next pair of two groups of equal rows, in which one row represents each group,
    /// or `None` after the last pair. A row without an equal row is a group, too.
    pub(crate) fn next_of_groups(&mut self) -> Result<Option<Pair>> {
        self.next_by(Pairs::take_group)
    }

    fn next_by(&mut self, take: impl Fn(&mut Pairs) -> Option<Pair>) -> Result<Option<Pair>> {
        const REPORT_EVERY: u64 = 1 << 16;
        let before = self.pairs.given();
        check_for_interrupts!();
        let pair = loop {
            if let Some(pair) = take(&mut self.pairs) {
                break Some(pair);
            }
            let more = self.kept.timed(|| self.pairs.advance(&self.finished.executor))?;
            let account = &mut self.kept.account;
            account.peak_memory = account.peak_memory.max(self.pairs.bytes() as u64);
            self.report();
            if !more {
                self.tell_hot_buckets();
                break None;
            }
        };
        let given = self.pairs.given();
        if before / REPORT_EVERY < given / REPORT_EVERY {
            self.report();
        }
        if let Some(most) = self.max_pairs.filter(|&most| given > most) {
            return Err(too_many_pairs(self.name, &self.example, most));
        }
        Ok(pair)
    }
}

impl RowSource<3> for RunningJoin {
    fn columns(&self) -> [&'static str; 3] {
        ["left_id", "right_id", "similarity"]
    }

    fn next(&mut self) -> Result<Option<Row<3>>> {
        let Some(pair) = self.next_pair()? else { return Ok(None) };
        if let Some(rows) = self.pairs.coming() {
            self.finished.prefetch(rows);
        }
        let Finished { left: ids, right, .. } = &self.finished;
        let in_order = right.is_some() || ids.before(pair.left, pair.right);
        let [left, right] = match in_order {
            true => self.finished.ids(pair.left, pair.right),
            false => self.finished.ids(pair.right, pair.left),
        };
        Ok(Some([Some(left), Some(right), float(pair.similarity)]))
    }
}

impl Drop for RunningJoin {
    fn drop(&mut self) {
        self.kept.account.counts = self.pairs.counts();
        self.kept.account.pairs = self.pairs.given();
    }
}

/// Tells a caller who asked for minhash if the exact join was used instead of its bands.
fn tell_handed_over(name: &str, account: &Account) {
    if account.handed_over {
        notice(format!(
            "{name}: used the exact join: faster here, nothing missed; \
             options => '{{\"hand_over\": false}}' uses minhash alone"
        ));
    }
}

/// Tells the caller if the recall that was measured on a sample is below the promised recall.
fn tell_recall(name: &str, account: &Account) {
    if let Some((promised, measured)) = account.low_recall() {
        notice(format!(
            "{name}: the recall measured on {} pairs of a sample is {measured:.3}, below the promised {promised:.3}; \
             see near_duplicates_stats()",
            account.measured_by
        ));
    }
}

/// Finds the rows to remove when the longest documents are to stay, if the method of a request can
/// do so without pairs. Returns the ids in their order, and the leader of each row, or `None` if
/// the method needs pairs.
pub(crate) fn eliminated(request: &Request) -> Result<Option<(OrderedIds, Leaders)>> {
    if request.left.is_limited() {
        return Ok(None);
    }
    let began = Instant::now();
    let mut reading = request.reading();
    let (eliminated, mut account) = reading.run(|reading| request.method.eliminate(reading))?;
    let Some((order, leaders)) = eliminated else { return Ok(None) };
    let Finished { left, .. } = reading.finish();
    tell_weak(request.name, &account, &request.of_words);
    account.phases[2] = milliseconds(began) - account.phases[0];
    account.pairs = (0..).zip(&leaders.of).filter(|(vertex, leader)| vertex != *leader).count() as u64;
    drop(StoredAccount::from_account(account));
    Ok(Some((OrderedIds { ids: left, order }, leaders)))
}

/// Returns the error for a call that finds more pairs than it may.
pub(crate) fn too_many_pairs(name: &str, example: &Example, most: u64) -> SqlError {
    SqlError::new(
        PgSqlErrorCode::ERRCODE_PROGRAM_LIMIT_EXCEEDED,
        format!("{name} has more than max_pairs = {most} pairs to give"),
    )
    .hint(match name {
        "near_duplicates" | "near_duplicates_between" => format!(
            "Raise the threshold or max_pairs, make clusters by near_duplicate_clusters, or take pairs \
             as they are found: SELECT {example} LIMIT 10;"
        ),
        _ => "Raise the threshold, or leave max_pairs out.".to_owned(),
    })
}
