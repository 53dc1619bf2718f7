//! Brings a result up to date. The sets of all documents, the rows of their parts, the order of
//! tokens and the pairs of sets are kept in working tables. A call finds, by a hash of their texts,
//! which documents are new, have changed or are gone, and joins only sets that are new, with each
//! other and with the kept ones. What was found before stays: a pair of sets does not depend on the
//! documents that have these sets. So the kept tables only grow, and nothing is undone in them on
//! many servers at once; if most of the kept sets are no longer those of documents, all is made
//! from scratch.
//!
//! What is known of the documents (their hashes and their sets) changes in one transaction, and the
//! tables of the caller change in one transaction, by the rows that differ.

use pgrx::PgSqlErrorCode;
use pgrx::pg_sys::{self, Oid};

use super::log::{Arguments, LogTable};
use super::on_servers::OnServers;
use super::statements::fill::{self, Named};
use super::statements::update as statements;
use super::statements::{citus, outcome as outcomes};
use super::work::{Backend, Work};
use crate::into::state::Ids;
use crate::into::step::Table;
use crate::pg::procedure::statement::Statement;
use crate::pg::query::as_user::{as_user, set};
use crate::pg::query::operators::equality;
use crate::pg::query::{Parameter, Query};
use crate::pg::server::error::{Result, SqlError};

/// Returns the number of the first new document.
pub(super) fn first_new(work: &Work) -> Result<i64> {
    Ok(statements::first_of_call(work.log()?.kept.calls))
}

/// Returns the equality operator of ids.
pub(super) fn eq(work: &Work) -> Result<String> {
    equality(work.asked.id_oid)
}

/// Returns the condition for the documents whose sets are read, or nothing if all are.
pub(super) fn wanted(work: &Work) -> Result<String> {
    if !work.asked.is_update() || work.log()?.kept.calls == 0 {
        return Ok(String::new());
    }
    let changes = work.spread()?.open(Table::Changes)?;
    Ok(statements::is_changed(&work.in_parts()?.documents.id, &changes.0, &eq(work)?))
}

/// Reports whether the kept tables of a log are all there, and most of their sets are those of
/// documents. If not, says why all is made from scratch.
pub(super) fn is_kept(work: &Work, log: &LogTable, known: &Arguments, asked: &Arguments) -> Result<bool> {
    let (spread, name) = (work.spread()?, work.arguments.name());
    let from_scratch = |why: &str| {
        pgrx::notice!("{name}: {} is made anew: {why}", known.pairs);
        Ok(false)
    };
    if known.update.is_none() {
        return from_scratch("nothing was kept when it was made");
    }
    if known.update != asked.update {
        return from_scratch("it was made by another version of the library");
    }
    if known != asked {
        return from_scratch("it was made with other arguments");
    }
    if log.is_finished {
        for table in spread.kept() {
            if !spread.is_whole(*table)? {
                return from_scratch("a table that was kept is gone");
            }
        }
        let documents = spread.open(Table::Known)?;
        let documents = statements::count((&documents.0, documents.1)).number()?.unwrap_or_default();
        let kept = log.kept.read.saturating_add(log.progress.expected(Table::Sets));
        if kept > documents.saturating_mul(2).saturating_add(1000) {
            return from_scratch("most of the texts that were kept have changed or are gone");
        }
    }
    Ok(true)
}

/// Runs a query of the caller, which reads the documents.
fn query(work: &Work, sql: &str, parameters: &[Parameter], relations: &[Oid]) -> Result<i64> {
    let relations: Vec<Oid> = [work.asked.docs].iter().chain(relations).copied().collect();
    Ok(Query { sql, parameters, relations: &relations, read_only: false }.run([])?.rows as i64)
}

/// Reads the ids of all documents with the hashes of their texts, which are computed where the
/// documents are.
pub(super) fn see(work: &mut Work) -> Result<()> {
    let (name, oid) = as_user(work.caller, || work.spread()?.open(Table::Seen))?;
    let in_parts = work.in_parts()?;
    let grouped = !in_parts.servers.is_empty();
    if grouped {
        for (setting, value) in
            [("enable_partitionwise_aggregate", "on"), ("enable_hashagg", "off"), ("enable_sort", "off")]
        {
            Query::new(&statements::set_for_query(setting, value)).run([pg_sys::TEXTOID])?;
        }
    }
    let sql = statements::seen(&name, &in_parts.documents, grouped);
    work.state.filled = Some(query(work, &sql, &[], &[oid])?);
    Ok(())
}

/// Checks the ids of the documents that were seen.
pub(super) fn check_ids(work: &mut Work) -> Result<Option<String>> {
    let (name, oid) = work.spread()?.open(Table::Seen)?;
    let seen = (name.as_str(), oid);
    if statements::null_ids(seen).number()?.unwrap_or_default() > 0 {
        work.state.ids = Some(Ids::Null);
        return Ok(None);
    }
    let double = statements::double_id(seen).text()?;
    work.state.ids = Some(if double.is_some() { Ids::Double } else { Ids::Good });
    Ok(double)
}

/// Reads the sets of the documents that are new or have changed.
pub(super) fn read_documents(work: &mut Work) -> Result<()> {
    let caller = work.caller;
    let (sets, changes) =
        as_user(caller, || Ok((work.spread()?.open(Table::Sets)?, work.spread()?.open(Table::Changes)?)))?;
    let relations = [sets.1, changes.1];
    if work.in_parts()?.citus.is_some() {
        let (sql, besides) = as_user(caller, || work.backend.read_documents(work, &sets.0))?;
        let of_changes = (work.log()?.kept.calls > 0).then_some(changes.1);
        let relations: Vec<Oid> = [sets.1].into_iter().chain(of_changes).chain(besides).collect();
        work.state.filled = Some(query(work, &sql, &[], &relations)?);
        return Ok(());
    }
    let first = first_new(work)?;
    let in_parts = work.in_parts()?;
    let documents = &in_parts.documents;
    let is_far = !in_parts.servers.is_empty();
    if is_far {
        as_user(caller, || statements::delete_from((&sets.0, sets.1), first).run())?;
    }
    let all = work.log()?.kept.calls == 0;
    let rows = if all || !is_far {
        let of = as_user(caller, || wanted(work))?;
        let sql = statements::sets(&sets.0, documents, first, &of);
        query(work, &sql, &[], if all { &relations[..1] } else { &relations })?
    } else {
        let (changes, eq) = ((changes.0.as_str(), changes.1), as_user(caller, || eq(work))?);
        // SAFETY: any OID may be looked up; a type that has ids has arrays.
        let array = unsafe { pg_sys::get_array_type(work.asked.id_oid) };
        let of = statements::is_of_batch(&documents.id, &eq);
        let batches = as_user(caller, || statements::batches(changes).number())?.unwrap_or_default();
        let mut rows = 0;
        for batch in 0..batches {
            pgrx::check_for_interrupts!();
            let [ids] =
                as_user(caller, || statements::batch(changes, batch).row([array]))?.unwrap_or_default();
            let Some(ids) = ids else { continue };
            let sql = statements::sets(&sets.0, documents, first + rows, &of);
            rows += query(work, &sql, &[(array, Some(ids))], &relations[..1])?;
        }
        rows
    };
    work.state.filled = Some(rows);
    Ok(())
}

/// Finds the documents that are new, have changed or are gone.
pub(super) fn fill_changes(work: &mut Work, to: Named<'_>) -> Result<i64> {
    let spread = work.spread()?;
    let [seen, known] = [spread.open(Table::Seen)?, spread.open(Table::Known)?];
    let batched = spread.citus.is_none();
    let eq = eq(work)?;
    let rows = statements::changes(to, [(&seen.0, seen.1), (&known.0, known.1)], &eq, batched).run()?;
    spread.drop_one(Table::Seen)?;
    Ok(rows)
}

/// The number of sets that are new, of which the sizes are measured.
pub(super) fn new_sets(work: &Work, sets: &str) -> Result<String> {
    if work.in_parts()?.citus.is_some() {
        return Ok(sets.to_owned());
    }
    Ok(statements::new_sets(sets, first_new(work)?))
}

/// Working tables that are kept, on servers or on this server.
pub(super) struct Updated;

impl Backend for Updated {
    fn read_documents(&self, work: &Work, sets: &str) -> Result<(String, Option<Oid>)> {
        OnServers.read_documents(work, sets)
    }

    fn fill(&self, work: &mut Work, table: Table) -> Result<()> {
        let spread = work.spread()?;
        let of = |table: Table| spread.open(table);
        let (name, oid) = of(table)?;
        let (to, first) = ((name.as_str(), oid), first_new(work)?);
        let is_far = !work.in_parts()?.servers.is_empty();
        let rows = match table {
            Table::Changes => fill_changes(work, to)?,
            Table::Members => {
                let [sets, known] = [of(Table::Sets)?, of(Table::Known)?];
                statements::members(to, [(&sets.0, sets.1), (&known.0, known.1)], first).run()?
            }
            // Any order of tokens is as good as another one, unless it was made of no documents.
            Table::Ranks if work.log()?.kept.read > 0 => 1,
            Table::Ranks => {
                statements::empty(to).run()?;
                return OnServers.fill(work, table);
            }
            Table::Routes => {
                if is_far {
                    statements::delete_from(to, first).run()?;
                }
                return OnServers.fill(work, table);
            }
            Table::Candidates => {
                set(c"enable_partitionwise_aggregate", c"on");
                let (routes, documents) = (of(Table::Routes)?, work.log()?.progress.expected(Table::Sets));
                let join = statements::knowing(work.join()?, first);
                fill::candidates(&join, to, (&routes.0, routes.1), documents, ("", false)).run()?
            }
            Table::Known => {
                let [changes, sets, members] = [of(Table::Changes)?, of(Table::Sets)?, of(Table::Members)?];
                let (eq, changes) = (eq(work)?, (changes.0.as_str(), changes.1));
                let new = statements::new_members([&sets.0, &members.0], first);
                statements::forget(to, changes, &eq).run()?;
                statements::know(to, changes, (&new, &[sets.1, members.1]), &eq).run()?
            }
            _ => return OnServers.fill(work, table),
        };
        work.state.filled = Some(rows);
        Ok(())
    }

    fn check_ids(&self, work: &mut Work) -> Result<Option<String>> {
        check_ids(work)
    }

    fn count_equal(&self, members: Named<'_>) -> Statement {
        OnServers.count_equal(members)
    }

    fn count_pairs(&self, work: &mut Work) -> Result<()> {
        let spread = work.spread()?;
        let [known, pairs] = [spread.open(Table::Known)?, spread.open(Table::Pairs)?];
        let most = work.state.call.max_pairs.unwrap_or(i64::MAX).saturating_add(1);
        let total = outcomes::total(&work.join()?, (&known.0, known.1), (&pairs.0, pairs.1), most);
        work.state.total = total.number()?.or(Some(0));
        Ok(())
    }

    fn fill_result(&self, work: &Work, result: Named<'_>) -> Result<i64> {
        let spread = work.spread()?;
        let [known, pairs] = [spread.open(Table::Known)?, spread.open(Table::Pairs)?];
        outcomes::result(&work.join()?, result, (&known.0, known.1), (&pairs.0, pairs.1)).run()
    }
}

/// Fails because ids of this type have no hash, by which Citus would distribute them.
pub(super) fn check_hashable(work: &Work) -> Result<()> {
    if citus::is_hashable(work.asked.id_oid).holds()? {
        return Ok(());
    }
    let message = format!("ids of type {} have no hash, by which nodes would keep them", work.asked.id);
    Err(SqlError::new(PgSqlErrorCode::ERRCODE_FEATURE_NOT_SUPPORTED, message)
        .hint("Make the pairs without incremental => true."))
}
