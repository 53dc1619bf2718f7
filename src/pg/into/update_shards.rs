//! Brings a result up to date in Citus. The number of a set is a hash of it, so a set that was
//! there before is found by its number. Stored sets and the rows of their parts are in tables of
//! their own, so that new ones are told from them.

use pgrx::PgSqlErrorCode;
use pgrx::pg_sys::Oid;

use super::columns::Type;
use super::in_shards::{InShards, fill_candidates, fill_ranks};
use super::spread::Scratch;
use super::statements::fill::{Named, no_ranks};
use super::statements::update as statements;
use super::statements::{citus, citus_result};
use super::update::{check_ids, eq, fill_changes};
use super::work::{Backend, Work};
use crate::into::step::{Stage, Table};
use crate::pg::procedure::statement::Statement;
use crate::pg::query::as_user::set;
use crate::pg::server::error::{Result, SqlError};

/// Working tables that are kept in shards of Citus.
pub(super) struct UpdatedShards;

fn named((name, oid): &(String, Oid)) -> Named<'_> {
    (name, *oid)
}

impl Backend for UpdatedShards {
    fn complete_sets(&self, work: &Work) -> Result<()> {
        InShards.complete_sets(work)
    }

    fn read_documents(&self, work: &Work, sets: &str) -> Result<(String, Option<Oid>)> {
        InShards.read_documents(work, sets)
    }

    fn fill(&self, work: &mut Work, table: Table) -> Result<()> {
        set(c"citus.enable_repartitioned_insert_select", c"on");
        let spread = work.spread()?;
        let of = |table: Table| spread.open(table);
        let join = work.join()?;
        let rows = match table {
            Table::Changes => {
                let to = of(table)?;
                fill_changes(work, named(&to))?
            }
            Table::Members => {
                let (to, sets, stored) = (of(table)?, of(Table::Sets)?, of(Table::Stored)?);
                let [sets, stored] = [named(&sets), named(&stored)];
                spread.drop_scratch(Scratch::Slots)?;
                let mut equal = citus::collisions(sets).number()?.unwrap_or_default();
                equal += statements::shard_collisions(sets, stored).number()?.unwrap_or_default();
                if equal > 0 {
                    let message = "two sets have one number by chance";
                    return Err(SqlError::new(
                        PgSqlErrorCode::ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE,
                        message,
                    )
                    .hint("Call it with resume => false: it takes other numbers."));
                }
                let rows = statements::shard_members(named(&to), [sets, stored]).run()?;
                statements::store(stored, named(&to)).run()?;
                spread.drop_one(Table::Sets)?;
                rows
            }
            Table::Ranks if work.log()?.kept.read > 0 => 1,
            Table::Ranks => {
                let to = of(table)?;
                // It was made of no documents.
                statements::empty(named(&to)).run()?;
                if join.counts_nothing() {
                    no_ranks(named(&to)).run()?
                } else {
                    fill_ranks(work, named(&to))?
                }
            }
            Table::Candidates => {
                let (to, routes, routed) = (of(table)?, of(Table::Routes)?, of(Table::Routed)?);
                let all = statements::all_routes([&routed.0, &routes.0]);
                let rows = fill_candidates(work, named(&to), &[routes.1, routed.1], &all)?;
                statements::store_routes(named(&routed), named(&routes)).run()?;
                spread.drop_one(Table::Routes)?;
                work.moved += rows.saturating_mul(16);
                work.distinct = citus::distinct_candidates(named(&to)).number()?;
                rows
            }
            Table::Halves => {
                let progress = &work.log()?.progress;
                let Stage::Round(round) = progress.next(false) else { return InShards.fill(work, table) };
                let (to, candidates, stored) = (of(table)?, of(Table::Candidates)?, of(Table::Stored)?);
                let from = [named(&candidates), named(&stored)];
                citus_result::halves(named(&to), from, (round, progress.rounds)).run()?;
                return Ok(());
            }
            Table::Pairs => {
                let (to, halves, stored) = (of(table)?, of(Table::Halves)?, of(Table::Stored)?);
                let from = [named(&halves), named(&stored)];
                citus_result::pairs(&join, named(&to), from, (None, false)).run()?
            }
            Table::Known => fill_known(work)?,
            Table::Edges if work.log()?.progress.next(true) == Stage::Table(table) => fill_edges(work)?,
            _ => return InShards.fill(work, table),
        };
        work.state.filled = Some(rows);
        Ok(())
    }

    fn check_ids(&self, work: &mut Work) -> Result<Option<String>> {
        check_ids(work)
    }

    fn count_equal(&self, members: Named<'_>) -> Statement {
        InShards.count_equal(members)
    }

    fn count_pairs(&self, work: &mut Work) -> Result<()> {
        InShards.count_pairs(work)
    }

    fn fill_result(&self, work: &Work, result: Named<'_>) -> Result<i64> {
        InShards.fill_result(work, result)
    }
}

/// Inserts the edges between sets that documents have: stored pairs may be of other sets.
fn fill_edges(work: &Work) -> Result<i64> {
    let spread = work.spread()?;
    let of = |table: Table| spread.open(table);
    let [edges, pairs, members] = [of(Table::Edges)?, of(Table::Pairs)?, of(Table::Members)?];
    let columns = &[("l", Type::Int8), ("r", Type::Int8)];
    let living = spread.make_scratch(Scratch::Named, columns, "l", Some(Table::Members))?;
    statements::with_right(named(&living), named(&pairs), named(&members)).run()?;
    let rows = statements::edges(named(&edges), named(&living), named(&members)).run()?;
    spread.drop_scratch(Scratch::Named)?;
    Ok(rows)
}

/// Notes what is known of new and changed documents, and makes the table of all documents by the
/// numbers of their sets.
fn fill_known(work: &Work) -> Result<i64> {
    let spread = work.spread()?;
    let of = |table: Table| spread.open(table);
    let eq = eq(work)?;
    let [known, changes, members] = [of(Table::Known)?, of(Table::Changes)?, of(Table::Members)?];
    let [known, changes, members] = [named(&known), named(&changes), named(&members)];
    let columns = &[("id", Type::Id), ("n", Type::Int8), ("r", Type::Int8), ("digest", Type::Bytea)];
    let numbers = spread.make_scratch(Scratch::Ids, columns, "id", Some(Table::Known))?;
    statements::numbers(named(&numbers), members).run()?;
    statements::forget(known, changes, &eq).run()?;
    let rows = statements::know(known, changes, (&numbers.0, &[numbers.1]), &eq).run()?;
    spread.drop_scratch(Scratch::Ids)?;
    spread.make(Table::Sets, 0, 0)?;
    let sets = of(Table::Sets)?;
    statements::known_sets(named(&sets), known).run()?;
    spread.make(Table::Members, 0, 0)?;
    let members = of(Table::Members)?;
    citus::members(named(&members), named(&sets), true).run()?;
    spread.drop_one(Table::Sets)?;
    Ok(rows)
}
