//! A transaction of a refresh: carries out what is planned from what is known of the job, until that is the end.

use pgrx::PgSqlErrorCode;
use pgrx::pg_sys::{self, Datum};

use super::hints::{anew, not_now};
use super::job::Job;
use super::registry::{Entry, Found, Wait};
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
            Found::None => return Err(self.not_watched()),
            Found::Job(entry) if lock.take(began) => entry,
            Found::Job(_) | Found::Busy => {
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
    let activity = Activity;
    loop {
        for step in plan(&work.state) {
            activity.step(doing(step));
            match step {
                Step::Done { more } => return Ok(more),
                Step::Retype => tables::retype(work)?,
                Step::Move => tables::move_hashes(work)?,
                Step::TakeUnnoted => registry::take_unnoted(work)?,
                Step::Look => registry::look(work)?,
                Step::WriteEntry => registry::write_entry(work)?,
                Step::Log { more } => registry::log(work, more)?,
                step => as_owner(work, step)?,
            }
        }
    }
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
fn as_owner(work: &mut Work<'_>, step: Step) -> Result<()> {
    as_user(work.job.relation.owner, || {
        // The planner does not know how many rows are in the batch, and indexes are for few of them.
        if let Some(batch) = work.state.batch() {
            set(c"enable_nestloop", if batch.is_large() { c"off" } else { c"on" });
        }
        match step {
            // What was noted meanwhile waits.
            Step::EndBatch => rows::end_batch(work),
            Step::Analyze => tables::analyze(work),
            step => {
                let moment = work.moment.take().unwrap_or_else(Moment::of_transaction);
                let done = moment.during(|| at_moment(work, step));
                work.moment = Some(moment);
                done
            }
        }
    })
}

/// Carries out a step that sees the relation, and what others did to the tables of the job, as they were when it was looked
/// at.
fn at_moment(work: &mut Work<'_>, step: Step) -> Result<()> {
    match step {
        Step::LookAtRows { limit } => rows::look(work, limit),
        Step::ForgetWaiting => rows::forget_waiting(work),
        Step::TakeAll => rows::take_all(work),
        Step::CompareAll { limit } => rows::compare_all(work, limit),
        Step::TakeMarks { limit } => rows::take_marks(work, limit),
        Step::CountKnown { limit } => rows::count_known(work, limit),
        Step::Reread => rows::reread(work),
        Step::Doubt => rows::doubt(work),
        Step::RemoveAllPairs => pairs::remove_all(work),
        Step::RemovePairs { by_clusters } => pairs::remove(work, by_clusters),
        Step::LookUp { segment, doubts } => pairs::look_up(work, segment, doubts),
        Step::JoinRows(rows) => pairs::join(work, rows),
        Step::NextSegment { rows } => lists::next_segment(work, rows),
        Step::Outline { segment } => lists::outline(work, segment),
        Step::MergeSegments => lists::merge(work),
        Step::MakeLists(rows) => lists::make(work, rows),
        Step::ReachBefore => clusters::reach_before(work),
        Step::Cluster(how) => clusters::renew(work, how),
        // Not at that moment, or not as the owner: `as_owner`, `run`.
        Step::EndBatch
        | Step::Analyze
        | Step::Done { .. }
        | Step::Retype
        | Step::Move
        | Step::TakeUnnoted
        | Step::Look
        | Step::WriteEntry
        | Step::Log { .. } => Ok(()),
    }
}
