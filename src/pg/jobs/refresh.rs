//! A transaction of a refresh: carries out what is planned from what is known of the job, until that is the end.

use pgrx::PgSqlErrorCode;
use pgrx::pg_sys::{self, Datum};

use super::hints::{anew, not_now};
use super::job::Job;
use super::registry::{Entry, LockedJob, Wait};
use super::statements::names::Names;
use super::steps::work::Work;
use super::steps::{clusters, lists, pairs, registry, rows, tables};
use super::tables::all::Tables;
use super::{definition, foreign_code, home, upkeep};
use crate::jobs::plan::plan;
use crate::jobs::state::{self, State, Upkeep};
use crate::jobs::step::Step;
use crate::pg::query::as_user::{as_user, set};
use crate::pg::query::moment::Moment;
use crate::pg::request::example::literal;
use crate::pg::server::activity::Activity;
use crate::pg::server::call::sql_function;
use crate::pg::server::error::{Result, SqlError};
use crate::pg::server::session_lock::SessionLock;
use crate::turns::Turns;

sql_function! {
    /// `neardup_refresh_step(docs, started, batch_rows)`: a batch of a refresh; what is to be done then.
    neardup_refresh_step, pg_finfo_neardup_refresh_step, |call| {
        let job = Job::of(call, "neardup_refresh")?;
        let status = job.refresh(call.need(1, "started")?, call.need(2, "batch_rows")?)?;
        Ok(call.give(Some(status)))
    }
}

impl Job {
    /// Does one batch of a refresh that began at `started`: whether there is more to do, or another session is at it.
    fn refresh(&self, started: Datum, batch_rows: i32) -> Result<&'static str> {
        let Self { relation, registry, .. } = self;
        let shown = &relation.shown;
        if batch_rows < 1 {
            return Err(SqlError::parameter(format!("batch_rows must be at least 1, not {batch_rows}"))
                .hint(format!("CALL neardup_refresh({}, batch_rows => 100000);", literal(shown))));
        }
        // SAFETY: looks at the state of the transaction, and at whether the caller can commit it.
        if unsafe { pg_sys::IsSubTransaction() || !pg_sys::SPI_inside_nonatomic_context() } {
            let message = "invalid transaction termination: neardup_refresh commits its batches, so it cannot run inside a transaction";
            return Err(SqlError::new(PgSqlErrorCode::ERRCODE_INVALID_TRANSACTION_TERMINATION, message).hint(
                format!(
                    "Call it by itself, with autocommit on (psycopg: connection.autocommit = True; JDBC: setAutoCommit(true)): CALL neardup_refresh({});",
                    literal(shown)
                ),
            ));
        }
        registry.clean()?;
        let lock = SessionLock { class: registry.jobs, object: relation.oid };
        let began = started.value() as i64;
        let first = !lock.is_held_since(began);
        let mut entry = match registry.lock(relation.oid, Wait::Skip)? {
            LockedJob::None => return Err(self.not_watched()),
            LockedJob::Job(entry) if lock.take(began) => entry,
            LockedJob::Job(_) | LockedJob::Busy => {
                lock.release();
                return Ok("skipped");
            }
        };
        let mut work = self.begin(&mut entry, started, first, batch_rows.into())?;
        if run(&mut work)? {
            return Ok("more");
        }
        // Until this transaction ends its lock of the job's row keeps others out.
        lock.release();
        Ok("done")
    }

    /// Reads what there is to know before anything is done.
    fn begin<'a>(
        &'a self,
        entry: &'a mut Entry,
        started: Datum,
        first: bool,
        batch_rows: i64,
    ) -> Result<Work<'a>> {
        let Self { relation, .. } = self;
        let shown = &relation.shown;
        let mut settings = entry.settings.clone().map_err(|why| {
            not_now(format!("the settings of the job of {shown} cannot be read: {why}"), anew(shown))
        })?;
        let (columns, renewed) = settings.renew_columns(relation)?;
        let definition = definition::of(self)?;
        let tables = Tables::open(entry, shown, relation.owner)?;
        foreign_code::check(self, &tables)?;
        let other_type = tables.check(shown, columns.id.base_type)? != columns.id.base_type;
        let ((upkeep, how), home, misplaced) = as_user(relation.owner, || {
            let home = home::of(self, &columns)?;
            let misplaced = home::is_left(self, home, tables.hashes.as_ref())?;
            Ok((upkeep::of(self, &settings, &columns)?, home, misplaced))
        })?;
        if upkeep == Upkeep::Sets && tables.lists.is_none() {
            return Err(not_now(format!("the job of {shown} has no table of lists"), anew(shown)));
        }
        let names = as_user(relation.owner, || Names::new(self, (&settings, &columns), how, tables))?;
        let seen = definition.if_told(&settings);
        let state = State::new(state::Job {
            upkeep,
            whole_clusters: settings.whole_clusters(),
            batch_rows,
            first,
            other_type,
            misplaced,
            told: seen.is_some(),
            same_definition: seen == entry.seen,
            renewed,
        });
        Ok(Work {
            job: self,
            entry,
            settings,
            seen,
            started,
            names,
            home,
            moment: None,
            state,
            waiting: 0,
            near: None,
        })
    }
}

/// Plans and carries out, until the transaction is done: whether rows are left for another one.
fn run(work: &mut Work<'_>) -> Result<bool> {
    let (activity, mut turns) = (Activity, Turns::default());
    loop {
        pgrx::check_for_interrupts!();
        for step in turns.plan(&work.state, plan)? {
            activity.step(doing(step));
            if let Done::Last { more } = carry_out(work, step)? {
                return Ok(more);
            }
        }
    }
}

/// Whether a step was the last one of the transaction.
enum Done {
    /// It was, and rows are left for another one or not.
    Last { more: bool },
    /// Others follow.
    One,
}

/// Carries out a step. Each one says whose it is: there is no other place that it could fall
/// through to.
fn carry_out(work: &mut Work<'_>, step: Step) -> Result<Done> {
    match step {
        Step::Done { more } => return Ok(Done::Last { more }),
        Step::Retype => tables::retype(work),
        Step::Move => tables::move_hashes(work),
        Step::TakeUnnoted => registry::take_unnoted(work),
        Step::Look => registry::look(work),
        Step::WriteEntry => registry::write_entry(work),
        Step::Log { more } => registry::log(work, more),
        // What was noted meanwhile waits.
        Step::EndBatch => as_owner(work, rows::end_batch),
        Step::Analyze => as_owner(work, tables::analyze),
        Step::LookAtRows { limit } => at_moment(work, |work| rows::look(work, limit)),
        Step::ForgetWaiting => at_moment(work, rows::forget_waiting),
        Step::TakeAll => at_moment(work, rows::take_all),
        Step::CompareAll { limit } => at_moment(work, |work| rows::compare_all(work, limit)),
        Step::TakeMarks { limit } => at_moment(work, |work| rows::take_marks(work, limit)),
        Step::CountKnown { limit } => at_moment(work, |work| rows::count_known(work, limit)),
        Step::Reread => at_moment(work, rows::reread),
        Step::Doubt => at_moment(work, rows::doubt),
        Step::RemoveAllPairs => at_moment(work, pairs::remove_all),
        Step::RemovePairs { by_clusters } => at_moment(work, |work| pairs::remove(work, by_clusters)),
        Step::LookUp { segment, doubts } => at_moment(work, |work| pairs::look_up(work, segment, doubts)),
        Step::JoinRows(rows) => at_moment(work, |work| pairs::join(work, rows)),
        Step::NextSegment { rows } => at_moment(work, |work| lists::next_segment(work, rows)),
        Step::Outline { segment } => at_moment(work, |work| lists::outline(work, segment)),
        Step::MergeSegments => at_moment(work, lists::merge),
        Step::MakeLists(rows) => at_moment(work, |work| lists::make(work, rows)),
        Step::ReachBefore => at_moment(work, clusters::reach_before),
        Step::Cluster(how) => at_moment(work, |work| clusters::renew(work, how)),
    }?;
    Ok(Done::One)
}

/// What others see of a step.
fn doing(step: Step) -> &'static str {
    match step {
        Step::TakeUnnoted
        | Step::Look
        | Step::LookAtRows { .. }
        | Step::TakeMarks { .. }
        | Step::CountKnown { .. } => "looking for changed rows",
        Step::Move | Step::TakeAll | Step::Reread => "reading rows",
        Step::CompareAll { .. } | Step::Doubt => "comparing rows",
        Step::RemoveAllPairs | Step::RemovePairs { .. } => "removing pairs",
        Step::LookUp { .. } | Step::JoinRows(_) => "finding pairs",
        Step::NextSegment { .. } | Step::Outline { .. } | Step::MergeSegments | Step::MakeLists(_) => {
            "making lists"
        }
        Step::ReachBefore | Step::Cluster(_) => "making clusters",
        Step::Retype
        | Step::ForgetWaiting
        | Step::EndBatch
        | Step::Analyze
        | Step::WriteEntry
        | Step::Log { .. }
        | Step::Done { .. } => "ending the batch",
    }
}

/// Carries out a step on the tables of the job, as the owner of the relation.
fn as_owner<'a>(work: &mut Work<'a>, step: impl FnOnce(&mut Work<'a>) -> Result<()>) -> Result<()> {
    as_user(work.job.relation.owner, || {
        // The planner does not know how many rows are in the batch, and indexes are for few of them.
        if let Some(batch) = work.state.batch() {
            set(c"enable_nestloop", if batch.is_large() { c"off" } else { c"on" });
        }
        step(work)
    })
}

/// The same of a step that sees the relation, and what others did to the tables of the job, as they
/// were when it was looked at.
fn at_moment<'a>(work: &mut Work<'a>, step: impl FnOnce(&mut Work<'a>) -> Result<()>) -> Result<()> {
    as_owner(work, |work| {
        let moment = work.moment.take().unwrap_or_else(Moment::of_transaction);
        let done = moment.during(|| step(work));
        work.moment = Some(moment);
        done
    })
}
