//! A transaction of a refresh: plans steps from the state of the job and carries them out, until
//! the end.

use pgrx::pg_sys::Datum;

use super::hints::{anew, not_now};
use super::home;
use super::job::LockedRelation;
use super::statements::registry::{BatchCounts, JobEntry, LockedJob, Wait};
use super::statements::work::{Names, RefreshWork};
use super::statements::{clusters, lists, pairs, rows, tables};
use super::statements::{definition, dependency};
use super::tables::JobTables;
use crate::jobs::plan::plan;
use crate::jobs::state::{self, JobFacts, Upkeep};
use crate::jobs::step::RefreshStep;
use crate::pg::procedure::session_lock::SessionLock;
use crate::pg::procedure::transaction::{self, check_can_commit};
use crate::pg::query::as_user::{as_user, set};
use crate::pg::query::moment::Moment;
use crate::pg::request::example::literal;
use crate::pg::server::activity::Activity;
use crate::pg::server::call::{FunctionCall, sql_functions};
use crate::pg::server::error::{Result, SqlError};

sql_functions! {
    /// `neardup_refresh_step(docs, started, batch_rows)`: does one batch of a refresh and returns
    /// what to do next.
    neardup_refresh_step, within ItsCalls: |call| {
        let status = step(call)?;
        Ok(call.give(Some(status)))
    };
}

/// Does one batch of a refresh. Returns `more` if there is more to do, `done` if there is not, and
/// `skipped` if another session is already doing it.
fn step(call: FunctionCall) -> Result<&'static str> {
    let job = LockedRelation::from_call(call, "neardup_refresh")?;
    let (started, batch_rows): (Datum, i32) = (call.need(1, "started")?, call.need(2, "batch_rows")?);
    let shown = literal(&job.relation.shown);
    if batch_rows < 1 {
        return Err(SqlError::parameter(format!("batch_rows must be at least 1, not {batch_rows}"))
            .hint(format!("CALL neardup_refresh({shown}, batch_rows => 100000);")));
    }
    check_can_commit("neardup_refresh", "batches", &format!("CALL neardup_refresh({shown});"))?;
    job.registry.clean()?;
    let lock = SessionLock { class: job.registry.jobs, object: job.relation.oid };
    let began = started.value() as i64;
    let first = !lock.is_held_since(began);
    let mut entry = match job.registry.lock(job.relation.oid, Wait::Skip)? {
        LockedJob::None => return Err(job.not_watched()),
        LockedJob::Job(entry) if lock.take(began) => entry,
        LockedJob::Job(_) | LockedJob::Busy => {
            lock.release();
            return Ok("skipped");
        }
    };
    let mut work = begin(&job, &mut entry, started, first, batch_rows.into())?;
    if transaction::run(&mut work, |work| &work.state, plan, carry_out)? {
        return Ok("more");
    }
    // Until this transaction ends, its lock on the job's row keeps other sessions out.
    lock.release();
    Ok("done")
}

/// Reads the initial state.
fn begin<'a>(
    job: &'a LockedRelation,
    entry: &'a mut JobEntry,
    started: Datum,
    first: bool,
    batch_rows: i64,
) -> Result<RefreshWork<'a>> {
    let relation = &job.relation;
    let shown = &relation.shown;
    let mut settings = entry.settings.clone().map_err(|why| {
        not_now(format!("the settings of the job of {shown} cannot be read: {why}"), anew(shown))
    })?;
    let (columns, renewed) = settings.renew_columns(relation)?;
    let definition = definition::read(job)?;
    let tables = JobTables::open(entry, shown, relation.owner)?;
    let other_type = tables.check(shown, columns.id.base_type)? != columns.id.base_type;
    dependency::check(job, &tables)?;
    let ((upkeep, how), home, misplaced) = as_user(relation.owner, || {
        let home = home::find(job, &columns)?;
        let misplaced = home::is_left(job, home, tables.hashes.as_ref())?;
        Ok((job.upkeep(&settings, &columns)?, home, misplaced))
    })?;
    if upkeep == Upkeep::Sets && tables.lists.is_none() {
        return Err(not_now(format!("the job of {shown} has no table of lists"), anew(shown)));
    }
    let names = as_user(relation.owner, || Names::new(job, &settings, &columns, how, tables))?;
    let seen = definition.if_told(&settings);
    let state = JobFacts::new(state::RegisteredJob {
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
    Ok(RefreshWork {
        job,
        activity: Activity,
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

/// Carries out a step. Returns at the end whether rows are left for another transaction. Every step
/// names the module that carries it out; there is no default arm.
fn carry_out(work: &mut RefreshWork<'_>, step: RefreshStep) -> Result<Option<bool>> {
    work.activity.step(doing(step));
    match step {
        RefreshStep::Done { more } => return Ok(Some(more)),
        RefreshStep::Retype => tables::retype(work),
        RefreshStep::Move => tables::move_hashes(work),
        RefreshStep::TakeUnnoted => take_unnoted(work),
        RefreshStep::Look => look(work),
        RefreshStep::WriteEntry => write_entry(work),
        RefreshStep::Log { more } => log(work, more),
        // Rows whose changes were noted meanwhile wait for another batch.
        RefreshStep::EndBatch => as_owner(work, rows::end_batch),
        RefreshStep::Analyze => as_owner(work, tables::analyze),
        RefreshStep::LookAtRows { limit } => at_moment(work, |work| rows::look(work, limit)),
        RefreshStep::ForgetWaiting => at_moment(work, rows::forget_waiting),
        RefreshStep::TakeAll => at_moment(work, rows::take_all),
        RefreshStep::CompareAll { limit } => at_moment(work, |work| rows::compare_all(work, limit)),
        RefreshStep::TakeMarks { limit } => at_moment(work, |work| rows::take_marks(work, limit)),
        RefreshStep::CountKnown { limit } => at_moment(work, |work| rows::count_known(work, limit)),
        RefreshStep::Reread => at_moment(work, rows::reread),
        RefreshStep::Doubt => at_moment(work, rows::doubt),
        RefreshStep::RemoveAllPairs => at_moment(work, pairs::remove_all),
        RefreshStep::RemovePairs { by_clusters } => at_moment(work, |work| pairs::remove(work, by_clusters)),
        RefreshStep::LookUp { segment, doubts } => {
            at_moment(work, |work| pairs::look_up(work, segment, doubts))
        }
        RefreshStep::JoinRows(rows) => at_moment(work, |work| pairs::join(work, rows)),
        RefreshStep::NextSegment { rows } => at_moment(work, |work| lists::next_segment(work, rows)),
        RefreshStep::Outline { segment } => at_moment(work, |work| lists::outline(work, segment)),
        RefreshStep::MergeSegments => at_moment(work, lists::merge),
        RefreshStep::MakeLists(rows) => at_moment(work, |work| lists::make(work, rows)),
        RefreshStep::ReachBefore => at_moment(work, clusters::reach_before),
        RefreshStep::Cluster(how) => at_moment(work, |work| clusters::renew(work, how)),
    }?;
    Ok(None)
}

/// Names the activity that other sessions see during a step.
fn doing(step: RefreshStep) -> &'static str {
    match step {
        RefreshStep::TakeUnnoted
        | RefreshStep::Look
        | RefreshStep::LookAtRows { .. }
        | RefreshStep::TakeMarks { .. }
        | RefreshStep::CountKnown { .. } => "looking for changed rows",
        RefreshStep::Move | RefreshStep::TakeAll | RefreshStep::Reread => "reading rows",
        RefreshStep::CompareAll { .. } | RefreshStep::Doubt => "comparing rows",
        RefreshStep::RemoveAllPairs | RefreshStep::RemovePairs { .. } => "removing pairs",
        RefreshStep::LookUp { .. } | RefreshStep::JoinRows(_) => "finding pairs",
        RefreshStep::NextSegment { .. }
        | RefreshStep::Outline { .. }
        | RefreshStep::MergeSegments
        | RefreshStep::MakeLists(_) => "making lists",
        RefreshStep::ReachBefore | RefreshStep::Cluster(_) => "making clusters",
        RefreshStep::Retype
        | RefreshStep::ForgetWaiting
        | RefreshStep::EndBatch
        | RefreshStep::Analyze
        | RefreshStep::WriteEntry
        | RefreshStep::Log { .. }
        | RefreshStep::Done { .. } => "ending the batch",
    }
}

/// Carries out a step on the tables of the job, as the owner of the relation.
fn as_owner<'a>(
    work: &mut RefreshWork<'a>,
    step: impl FnOnce(&mut RefreshWork<'a>) -> Result<()>,
) -> Result<()> {
    as_user(work.job.relation.owner, || {
        // The planner does not know the number of rows in the batch, and index lookups suit only
        // few rows.
        if let Some(batch) = work.state.batch() {
            set(c"enable_nestloop", if batch.is_large() { c"off" } else { c"on" });
        }
        step(work)
    })
    .map_err(|error| work.explained(error))
}

/// Carries out a step like [`as_owner`], but with the snapshot in which the relation was read, so
/// that the step also sees other sessions' changes to the job's tables as of that snapshot.
fn at_moment<'a>(
    work: &mut RefreshWork<'a>,
    step: impl FnOnce(&mut RefreshWork<'a>) -> Result<()>,
) -> Result<()> {
    as_owner(work, |work| {
        let moment = work.moment.take().unwrap_or_else(Moment::of_transaction);
        let done = moment.during(|| step(work));
        work.moment = Some(moment);
        done
    })
}

/// Removes the record that rows changed without a note by a trigger.
fn take_unnoted(work: &mut RefreshWork<'_>) -> Result<()> {
    work.state.unnoted = Some(work.job.registry.take_unnoted(work.job.relation.oid)?);
    Ok(())
}

/// Takes the snapshot of the relation, and only then reads the noted changes and the definition of
/// the relation. So every change in the snapshot is covered, and a later change may be noticed,
/// too.
fn look(work: &mut RefreshWork<'_>) -> Result<()> {
    work.moment = Some(Moment::of_transaction());
    let told = work.state.job.told && work.state.job.same_definition;
    work.state.noted = Some(told && Moment::latest().during(|| is_still_told(work))?);
    Ok(())
}

/// Reports whether triggers still see every change as they did when the transaction began, and no
/// change was recorded without its id.
fn is_still_told(work: &RefreshWork<'_>) -> Result<bool> {
    let RefreshWork { job, settings, seen, .. } = work;
    let same = definition::read(job)?.if_told(settings) == *seen;
    Ok(same && !job.registry.is_unnoted(job.relation.oid)?)
}

/// Writes the new data about the relation into the registry. Also adds the dependencies, which a
/// restored dump lacks.
fn write_entry(work: &mut RefreshWork<'_>) -> Result<()> {
    let docs = work.job.relation.oid;
    let tables = &work.names.tables;
    tables.all().for_each(|(_, table)| dependency::depend(table.oid, docs));
    tables.hashes.iter().for_each(|hashes| dependency::depend_with_shards(hashes.oid, docs));
    work.entry.settings = Ok(work.settings.clone());
    if work.state.job.first {
        work.entry.seen = work.seen.take();
    }
    work.job.registry.put(docs, work.entry)
}

/// Logs the batch.
fn log(work: &mut RefreshWork<'_>, more: bool) -> Result<()> {
    let counts = BatchCounts {
        rows: work.state.rows.unwrap_or_default(),
        removed: work.state.removed.unwrap_or_default().pairs,
        added: work.state.found.unwrap_or_default().pairs,
        waiting: work.waiting,
    };
    work.job.registry.log(&work.job.extension, work.job.relation.oid, work.started, more, counts)
}
