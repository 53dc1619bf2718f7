//! A transaction of a call: finds out what there is, and carries out what is planned from that.

use pgrx::PgSqlErrorCode;
use pgrx::pg_sys::{self, Oid};

use super::arguments::{InParts, JoinArguments, NEXT};
use super::layout::CitusLayout;
use super::log::{Arguments, LogTable, StageDetails};
use super::place::{Place, such_as, taken};
use super::refusal::{self, Pending, Why};
use super::servers::Dblink;
use super::work::Work;
use super::{outcome, stars, tables};
use crate::into::plan::plan;
use crate::into::state::{self, Log, State, rounds};
use crate::into::step::{End, Refusal, Stage, Step, Table};
use crate::pg::query::as_user::{Extension, as_user};
use crate::pg::query::relation::Relation;
use crate::pg::request::example::literal;
use crate::pg::server::call::{Call, sql_function};
use crate::pg::server::error::{Result, SqlError};
use crate::pg::server::session_lock::SessionLock;
use crate::pg::server::settings;
use crate::turns::Turns;

/// Hints show it.
const CALL: &str = "CALL near_duplicates_into('docs', 0.8, 'docs_pairs');";

sql_function! {
    /// `neardup_into_step(docs, threshold, options, …, site_column, pairs, parts, clusters, resume, began)`: what one transaction
    /// does of a call that began then; `more` or `done`.
    neardup_into_step, pg_finfo_neardup_into_step, |call| {
        let status = step(call)?;
        Ok(call.give(Some(status)))
    }
}

fn step(call: Call) -> Result<&'static str> {
    // SAFETY: looks at the state of the server.
    if unsafe { pg_sys::RecoveryInProgress() } {
        let message = "cannot execute near_duplicates_into during recovery";
        return Err(SqlError::new(PgSqlErrorCode::ERRCODE_READ_ONLY_SQL_TRANSACTION, message)
            .hint("Call it on the primary."));
    }
    let docs: Oid = call.need(0, "docs").map_err(|error| error.hint(CALL))?;
    let shown = Relation::open(docs).map_err(|error| error.hint(CALL))?.shown;
    // SAFETY: looks at the state of the transaction, and at whether the caller can commit it.
    if unsafe { pg_sys::IsSubTransaction() || !pg_sys::SPI_inside_nonatomic_context() } {
        let message = "invalid transaction termination: near_duplicates_into commits its steps, so it cannot run inside a transaction";
        return Err(SqlError::new(PgSqlErrorCode::ERRCODE_INVALID_TRANSACTION_TERMINATION, message).hint(
            format!(
                "Call it by itself, with autocommit on (psycopg: connection.autocommit = True; JDBC: setAutoCommit(true)): {}",
                such_as(&shown)
            ),
        ));
    }
    let began = call.datum(NEXT + 4).map_or(0, |began| began.value() as i64);
    let refused = match refusal::left(began) {
        Pending::Raise(error) => return Err(error),
        Pending::Drop => true,
        Pending::Nothing => false,
    };
    let pairs = call.text(NEXT)?.ok_or_else(|| {
        SqlError::new(PgSqlErrorCode::ERRCODE_NULL_VALUE_NOT_ALLOWED, "pairs must not be NULL")
            .hint(format!("Name the table to be made: {}", such_as(&shown)))
    })?;
    let result = Place::parse(&pairs, "pairs")?;
    let clusters = call.text(NEXT + 2)?;
    let clusters = clusters.map(|clusters| Place::parse(&clusters, "clusters")).transpose()?;
    let log_place = result.log()?;
    for other in clusters.iter() {
        if [&result, &log_place].contains(&other) {
            let message = format!("{} cannot be the table of clusters, too", other.qualified()?);
            return Err(SqlError::new(PgSqlErrorCode::ERRCODE_DUPLICATE_TABLE, message).hint(
                "The pairs, their log and the clusters are tables of their own: clusters => 'docs_clusters'",
            ));
        }
    }
    // SAFETY: a look at the session.
    let caller = unsafe { pg_sys::GetUserId() };
    result.check_right(caller)?;
    clusters.iter().try_for_each(|clusters| clusters.check_right(caller))?;
    // Of relations the server locks no objects of the catalogue.
    let lock = SessionLock { class: pg_sys::RelationRelationId, object: result.number() };
    let first = !lock.is_held_since(began);
    if !lock.take(began) {
        let message = format!("another session is making {}", result.qualified()?);
        return Err(SqlError::new(PgSqlErrorCode::ERRCODE_OBJECT_IN_USE, message)
            .hint("Name another table for the pairs, or wait until it is made."));
    }
    let extension = Extension::of(call)?;
    extension.check_version("near_duplicates_into")?;
    let asked = JoinArguments::new(call, &extension, caller, &result)?;
    let call_state = state::Call {
        in_parts: asked.in_parts.is_some(),
        first,
        max_pairs: asked.max_pairs.filter(|_| asked.in_parts.is_some()),
        clusters: clusters.is_some(),
        by_stars: false,
        members_have_sets: asked.in_parts.as_ref().is_some_and(|in_parts| in_parts.citus.is_some()),
        allowance: i64::try_from(settings::memory()).unwrap_or(i64::MAX),
    };
    let state = State::new(call_state, Log::None);
    let (log, dblink) = (None, None);
    let mut work = Work {
        call,
        extension,
        caller,
        asked,
        result,
        clusters,
        log_place,
        log,
        dblink,
        began,
        moved: 0,
        distinct: None,
        state,
    };
    as_user(caller, || begin(&mut work))?;
    work.state.refused = refused;
    if run(&mut work)? == End::More {
        return Ok("more");
    }
    lock.release();
    pgrx::notice!(
        "near_duplicates_into: {} pairs in {}",
        work.state.filled.or_else(|| made(&work)).unwrap_or_default(),
        work.result.qualified()?
    );
    if let Some((moved, documents)) = moved(&work) {
        pgrx::notice!(
            "near_duplicates_into: {} bytes of rows went from shard to shard, {} a document",
            moved,
            moved / documents.max(1)
        );
    }
    Ok("done")
}

/// How many pairs the log says that the result has.
fn made(work: &Work) -> Option<i64> {
    work.log.as_ref()?.progress.rows.last().copied()
}

/// How many bytes of rows went from shard to shard in all steps, and for how many documents; none where there are no shards.
fn moved(work: &Work) -> Option<(i64, i64)> {
    let log = work.log.as_ref()?;
    work.asked.in_parts.as_ref()?.citus.as_ref()?;
    Some((log.moved.saturating_add(work.moved), log.progress.expected(Table::Sets)))
}

/// Reads what there is to know before anything is done.
fn begin(work: &mut Work) -> Result<()> {
    work.log = LogTable::open(&work.log_place, work.caller)?;
    let first = work.state.call.first;
    if first && work.asked.is_elsewhere {
        pgrx::notice!(
            "near_duplicates_into: what is asked for is not made in parts, so all documents are read here"
        );
    }
    if first {
        work.state.taken = work.result.relation()?.is_some()
            || work.clusters.as_ref().map(Place::relation).transpose()?.flatten().is_some();
    }
    let on_servers = work.asked.in_parts.as_ref().is_some_and(|in_parts| in_parts.citus.is_none());
    let known = work.log.as_ref().and_then(|log| log.call.as_ref()).map(|(_, arguments)| arguments);
    if on_servers || known.is_some_and(|arguments| arguments.citus.is_none()) {
        // What an older call left can be dropped here where there is no way to servers any more.
        work.dblink = match Dblink::open() {
            Ok(dblink) => Some(dblink),
            Err(error) if on_servers => return Err(error),
            Err(_) => None,
        };
    }
    if let Some(layout) = work.asked.in_parts.as_ref().and_then(|of| of.citus.as_ref()) {
        work.state.call.by_stars = work.clusters.is_some() && layout.spreads_results(work.asked.id_oid)?;
        CitusLayout::set_up_nodes()?;
        if first {
            layout.check_versions(&work.extension)?;
        }
    }
    if let (true, Some(dblink), Some(in_parts)) = (first, &work.dblink, &work.asked.in_parts) {
        for server in &in_parts.servers {
            dblink.check_version(server, &work.extension)?;
        }
    }
    let Some(log) = &work.log else { return Ok(()) };
    let is_known = log.call.as_ref().is_some_and(|(_, of)| of.citus.is_some() || work.dblink.is_some());
    if !is_known {
        work.state.log = if log.is_finished { Log::Finished } else { Log::Other };
        return Ok(());
    }
    let spread = work.spread()?;
    spread.lock()?;
    let is_ours = log.call.as_ref().map(|(_, known)| known) == arguments(work)?.as_ref();
    let (log_state, left) = if log.is_finished {
        (Log::Finished, spread.is_left()?)
    } else if is_ours && (!first || goes_on(work, log)) {
        (Log::Ours(log.progress.clone()), true)
    } else {
        (Log::Other, true)
    };
    (work.state.log, work.state.left) = (log_state, left);
    Ok(())
}

/// Whether a call goes on with what one before did; the caller is told of which day the documents are.
fn goes_on(work: &Work, log: &LogTable) -> bool {
    let Some((read, fresh)) = &log.read else { return true };
    let resume = work.call.get::<bool>(NEXT + 3);
    let goes_on = resume.unwrap_or(*fresh);
    if work.state.taken {
        return goes_on;
    }
    if goes_on {
        pgrx::notice!(
            "near_duplicates_into: goes on with the documents as they were read at {read}; resume => false reads them anew"
        );
    } else {
        let why =
            if resume.is_some() { "" } else { ", more than a day ago; resume => true goes on with them" };
        pgrx::notice!(
            "near_duplicates_into: begins anew, and not with the documents as they were read at {read}{why}"
        );
    }
    goes_on
}

/// What the log is to say that the call asked for; none of one that is not made in parts.
fn arguments(work: &Work) -> Result<Option<Arguments>> {
    let Some(in_parts) = &work.asked.in_parts else { return Ok(None) };
    let InParts { documents, measure, threshold, bands, parts, servers, citus } = in_parts;
    Ok(Some(Arguments {
        docs: work.asked.docs.to_u32(),
        documents: documents.query(),
        measure: (*measure).to_owned(),
        threshold: threshold.to_string(),
        bands: *bands,
        parts: *parts,
        ids: work.asked.id.clone(),
        pairs: work.result.qualified()?,
        servers: servers.clone(),
        citus: citus.clone(),
    }))
}

/// Plans and carries out, until the transaction is done.
fn run(work: &mut Work) -> Result<End> {
    let mut turns = Turns::default();
    loop {
        pgrx::check_for_interrupts!();
        for step in turns.plan(&work.state, plan)? {
            if let Some(end) = carry_out(work, step)? {
                return Ok(end);
            }
        }
    }
}

/// Carries out a step, and tells the end of the transaction if it is that.
fn carry_out(work: &mut Work, step: Step) -> Result<Option<End>> {
    match step {
        Step::Done(end) => return Ok(Some(end)),
        // Documents are read as in any query of the caller.
        Step::Fill(Table::Sets) => tables::read_documents(work),
        Step::JoinHere => outcome::join_here(work),
        Step::TakeLog => as_caller(work, |work| take_log(work)),
        Step::DropTables => as_caller(work, |work| {
            work.spread()?.drop_all()?;
            settle(work);
            Ok(())
        }),
        Step::DropLog => as_caller(work, |work| {
            if let Some(log) = &work.log {
                log.drop()?;
            }
            settle(work);
            Ok(())
        }),
        Step::Count(table) => as_caller(work, |work| {
            let count = work.spread()?.count(table)?;
            work.state.counted.push((table, count));
            Ok(())
        }),
        Step::Forget { keep } => as_caller(work, |work| {
            pgrx::notice!(
                "near_duplicates_into: a server has lost rows of working tables, so these are made again"
            );
            work.log()?.forget(keep)
        }),
        Step::Make(table) => as_caller(work, |work| tables::make(work, table)),
        Step::Fill(table) => as_caller(work, |work| tables::fill(work, table)),
        Step::CheckIds => as_caller(work, |work| {
            if let Some(id) = tables::check_ids(work)? {
                // The plan ends the call for this, and has no words for it.
                let message = format!("id {id} stands in more than one row of {}", work.asked.shown);
                let hint = "Every document needs an id of its own; name another column with id_column.";
                let why = (PgSqlErrorCode::ERRCODE_UNIQUE_VIOLATION, message, hint.to_owned());
                refusal::remember(work.began, why, false);
            }
            Ok(())
        }),
        Step::Measure => as_caller(work, tables::measure),
        Step::CountEqual => as_caller(work, tables::count_equal),
        Step::CountPairs => as_caller(work, tables::count_pairs),
        Step::MakeResult => as_caller(work, outcome::make),
        Step::CountUnsettled => as_caller(work, stars::count_unsettled),
        Step::MakeClusters => as_caller(work, |work| outcome::clusters(work)),
        Step::ClusterHere => as_caller(work, |work| outcome::cluster_here(work)),
        Step::Log(stage) => as_caller(work, |work| log(work, stage)),
        Step::Refuse(why) => as_caller(work, |work| {
            if let Some(reason) = reason(work, why)? {
                refusal::remember(work.began, reason, why == Refusal::Taken);
            }
            Ok(())
        }),
    }?;
    Ok(None)
}

/// Carries out a step as the caller, for whom settings last as long as it.
fn as_caller(work: &mut Work, step: impl FnOnce(&mut Work) -> Result<()>) -> Result<()> {
    as_user(work.caller, || step(work))
}

/// What the call made is gone, if that is what this transaction was for.
fn settle(work: &Work) {
    if work.state.refused {
        refusal::settle();
    }
}

/// Makes the log, with a new name for working tables.
fn take_log(work: &Work) -> Result<()> {
    let Some(arguments) = arguments(work)? else { return Ok(()) };
    // SAFETY: a function of the server without arguments, and 16 bytes that it made.
    let random = unsafe {
        let uuid = pg_sys::OidFunctionCall0Coll(pg_sys::F_GEN_RANDOM_UUID.into(), pg_sys::InvalidOid);
        *uuid.cast_mut_ptr::<[u8; 16]>()
    };
    // Bytes in front of those that tell of the version.
    let token: String = random[..6].iter().map(|byte| format!("{byte:02x}")).collect();
    LogTable::create(&work.log_place, work.caller, &token, arguments)
}

/// Writes what was done, and tells the caller.
fn log(work: &Work, stage: Stage) -> Result<()> {
    let (log, state) = (work.log()?, &work.state);
    let rows = state.filled.unwrap_or_default();
    let sizes = state.sizes.filter(|_| stage == Stage::Table(Table::Sets));
    let rounds = match stage {
        Stage::Table(Table::Candidates) => {
            let candidates = work.distinct.unwrap_or(rows);
            rounds(candidates, log.progress.expected(Table::Sets), log.progress.sizes, state.call.allowance)
        }
        _ => 0,
    };
    let (step, name) =
        log.write(stage, rows, StageDetails::new(sizes, rounds, work.moved, state.unsettled))?;
    let moved = if work.moved > 0 { format!(", {} bytes", work.moved) } else { String::new() };
    let unsettled = state.unsettled.map(|numbers| format!(", {numbers} sets to settle")).unwrap_or_default();
    pgrx::notice!("near_duplicates_into: step {step}, {name}: {rows} rows{moved}{unsettled}");
    Ok(())
}

/// Why a call ends, in words; none where that was said already.
fn reason(work: &Work, why: Refusal) -> Result<Option<Why>> {
    let docs = &work.asked.shown;
    let limit = PgSqlErrorCode::ERRCODE_PROGRAM_LIMIT_EXCEEDED;
    Ok(Some(match why {
        Refusal::DoubleId => return Ok(None),
        Refusal::Taken => {
            let clusters = work.clusters.as_ref();
            let result = work.result.relation()?.is_some();
            taken(clusters.filter(|_| !result).unwrap_or(&work.result))?
        }
        Refusal::NullId => (
            PgSqlErrorCode::ERRCODE_NULL_VALUE_NOT_ALLOWED,
            format!("a row of {docs} has NULL as its id"),
            "Name a column without NULL with id_column => '…'.".to_owned(),
        ),
        Refusal::Candidates(most) => (
            limit,
            format!("near_duplicates_into has more than {most} candidates to compare"),
            format!("Raise the threshold: CALL near_duplicates_into({}, 0.95, 'docs_pairs');", literal(docs)),
        ),
        Refusal::Pairs => (
            limit,
            format!(
                "near_duplicates_into has more than max_pairs = {} pairs to give",
                work.state.call.max_pairs.unwrap_or_default()
            ),
            "Raise the threshold or max_pairs.".to_owned(),
        ),
    }))
}
