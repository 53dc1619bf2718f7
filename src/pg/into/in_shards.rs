//! Fills the working tables in Citus. Nodes send rows directly to each other; only the order of
//! tokens passes through the coordinator.

use pgrx::PgSqlErrorCode;
use pgrx::pg_sys::{self, Oid};

use super::columns::Type;
use super::groups;
use super::layout::Distribution;
use super::refusal;
use super::spread::{SLOTS, Scratch};
use super::stars;
use super::statements::citus::IdBytes;
use super::statements::fill::{Join, Named, no_ranks};
use super::statements::{citus, citus_catalog, citus_result, outcome};
use super::update;
use super::work::{Backend, Work, not_here};
use crate::into::state::{Ids, Sizes, most_candidates};
use crate::into::step::{Stage, Table};
use crate::pg::procedure::statement::Statement;
use crate::pg::query::as_user::set;
use crate::pg::server::error::Result;

/// Working tables in shards of Citus.
pub(super) struct InShards;

impl Backend for InShards {
    fn complete_sets(&self, work: &Work) -> Result<()> {
        let spread = work.spread()?;
        let Some(layout) = spread.citus else { return Ok(()) };
        if layout.how != Distribution::Reference {
            return Ok(());
        }
        let (name, oid) = spread.make_scratch(Scratch::Slots, SLOTS, "key", Some(Table::Sets))?;
        let keys = layout.keys(oid, layout.shards)?.unwrap_or_else(|| "{0}".to_owned());
        citus::slots((&name, oid), &keys).run().map(|_| ())
    }

    fn read_documents(&self, work: &Work, sets: &str) -> Result<(String, Option<Oid>)> {
        let spread = work.spread()?;
        let in_parts = work.in_parts()?;
        // The token has twelve hexadecimal digits, so it fits.
        let salt = i64::from_str_radix(spread.token, 16).unwrap_or_default();
        let slots = match spread.citus {
            Some(layout) if layout.how == Distribution::Reference => {
                let (name, oid) = spread.open_slots()?;
                Some((name, oid, layout.shards))
            }
            _ => None,
        };
        let of = slots.as_ref().map(|(name, _, shards)| (name.as_str(), *shards));
        let bytes = match citus::is_hashable(work.asked.id_oid).holds()? {
            true => IdBytes::Hash,
            false => IdBytes::Sent,
        };
        let wanted = update::wanted(work)?;
        let sql =
            citus::sets(sets, &in_parts.documents, (salt, bytes, spread.members_have_sets), of, &wanted);
        Ok((sql, slots.map(|(_, oid, _)| oid)))
    }

    fn check_ids(&self, work: &mut Work) -> Result<Option<String>> {
        let spread = work.spread()?;
        spread.drop_scratch(Scratch::Slots)?;
        let (name, oid) = spread.open(Table::Sets)?;
        let sets = (name.as_str(), oid);
        let counted = citus::check_sets(sets).row([pg_sys::INT8OID; 5])?.unwrap_or_default();
        let [nulls, moved, bytes, largest, collisions] =
            counted.map(|number| number.map_or(0, |number| number.value() as i64));
        if nulls > 0 {
            work.state.ids = Some(Ids::Null);
            return Ok(None);
        }
        let is_unique = match work.in_parts()?.id_number {
            Some(number) => citus_catalog::is_unique(work.asked.docs, number).holds()?,
            None => false,
        };
        let double = if is_unique {
            None
        } else if citus::is_hashable(work.asked.id_oid).holds()? {
            let (ids, ids_oid) = spread.make_scratch(Scratch::Ids, &[("id", Type::Id)], "id", None)?;
            let ids = (ids.as_str(), ids_oid);
            citus::ids(ids, sets).run()?;
            let double = outcome::double_id(ids).text()?;
            spread.drop_scratch(Scratch::Ids)?;
            double
        } else {
            outcome::double_id(sets).text()?
        };
        let is_double = double.is_some();
        if !is_double && collisions > 0 {
            let message = "two sets have one number by chance";
            let why = (PgSqlErrorCode::ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE, message.to_owned());
            refusal::remember(
                work.began,
                (why.0, why.1, "Call it again: it takes other numbers.".to_owned()),
                false,
            );
        }
        work.moved = moved;
        work.state.sizes = Some(Sizes { bytes, largest });
        work.state.ids = Some(if is_double || collisions > 0 { Ids::Double } else { Ids::Good });
        Ok(double)
    }

    fn fill(&self, work: &mut Work, table: Table) -> Result<()> {
        set(c"citus.enable_repartitioned_insert_select", c"on");
        if matches!(table, Table::Larger | Table::Edges | Table::Neighbours | Table::Clusters) {
            return stars::fill(work, table);
        }
        let spread = work.spread()?;
        let of = |table: Table| spread.open(table);
        let (join, progress) = (work.join()?, &work.log()?.progress);
        let (name, oid) = of(table)?;
        let to = (name.as_str(), oid);
        let mut moved = 0;
        let rows = match table {
            Table::Sets | Table::Larger | Table::Edges | Table::Neighbours | Table::Clusters => {
                return Err(not_here(table));
            }
            Table::Seen | Table::Changes | Table::Known | Table::Stored | Table::Routed => {
                return Err(not_here(table));
            }
            Table::Members => {
                let (sets, sets_oid) = of(Table::Sets)?;
                let sets = (sets.as_str(), sets_oid);
                let rows = citus::members(to, sets, spread.members_have_sets).run()?;
                if !spread.members_have_sets {
                    citus::keep_one_each(sets, to).run()?;
                }
                rows
            }
            Table::Ranks if join.counts_nothing() => no_ranks(to).run()?,
            Table::Ranks => fill_ranks(work, to)?,
            Table::Routes => {
                let [sets, ranks] = [of(spread.of_sets())?, of(Table::Ranks)?];
                let parts = parts(work, join.parts)?;
                let keys = match spread.citus {
                    Some(layout) => layout.keys(oid, parts)?,
                    None => None,
                };
                let from = [(sets.0.as_str(), sets.1), (&ranks.0, ranks.1)];
                let rows = citus::routes(&Join { parts, ..join }, to, from, keys.as_deref()).run()?;
                moved = citus::moved(to, spread.columns(table)).number()?.unwrap_or_default();
                rows
            }
            Table::Candidates => {
                let (routes, routes_oid) = of(Table::Routes)?;
                let of_group = format!("(SELECT p.* FROM {routes} p{}) ", groups::condition(work));
                fill_candidates(work, to, &[routes_oid], &of_group)?
            }
            Table::Halves => {
                let Stage::Round(round) = progress.next(false) else { return Err(not_here(table)) };
                let [candidates, sets] = [of(Table::Candidates)?, of(spread.of_sets())?];
                let from = [(candidates.0.as_str(), candidates.1), (&sets.0, sets.1)];
                citus_result::halves(to, from, (round, progress.rounds)).run()?;
                // The log counts the pairs that are made from halves, not the halves themselves.
                work.moved = citus::moved(to, spread.columns(table)).number()?.unwrap_or_default();
                return Ok(());
            }
            Table::Pairs => {
                let [halves, sets] = [of(Table::Halves)?, of(spread.of_sets())?];
                let ranks = join.compares_by_ranks().then(|| of(Table::Ranks)).transpose()?;
                let ranks = ranks.as_ref().map(|(name, oid)| (name.as_str(), *oid));
                let are_ordered = work.in_parts()?.documents.are_ordered;
                let from = [(halves.0.as_str(), halves.1), (&sets.0, sets.1)];
                citus_result::pairs(&join, to, from, (ranks, are_ordered)).run()?
            }
        };
        work.state.filled = Some(rows);
        work.moved += moved;
        Ok(())
    }

    fn count_equal(&self, members: Named<'_>) -> Statement {
        citus_result::equal(members)
    }

    fn count_pairs(&self, work: &mut Work) -> Result<()> {
        let spread = work.spread()?;
        let [members, pairs] = [spread.open(Table::Members)?, spread.open(Table::Pairs)?];
        let [members, pairs] = [(members.0.as_str(), members.1), (&pairs.0, pairs.1)];
        let (named, named_oid) = spread.make_scratch(
            Scratch::Named,
            &[("l", Type::Int8), ("count", Type::Int8)],
            "l",
            Some(Table::Members),
        )?;
        let named = (named.as_str(), named_oid);
        let passages = work.join()?.passages;
        citus_result::count_right(named, [pairs, members], passages).run()?;
        let unequal = citus_result::count_both(named, members).number()?.unwrap_or_default();
        let equal = citus_result::equal(members).number()?.unwrap_or_default();
        spread.drop_scratch(Scratch::Named)?;
        work.state.total = Some(unequal.saturating_add(equal));
        Ok(())
    }

    fn fill_result(&self, work: &Work, result: Named<'_>) -> Result<i64> {
        set(c"citus.enable_repartitioned_insert_select", c"on");
        let spread = work.spread()?;
        let [members, pairs] = [spread.open(Table::Members)?, spread.open(Table::Pairs)?];
        let [members, pairs] = [(members.0.as_str(), members.1), (&pairs.0, pairs.1)];
        let columns = &[("l", Type::Int8), ("id", Type::Id), ("similarity", Type::Found)];
        let (named, named_oid) = spread.make_scratch(Scratch::Named, columns, "l", Some(Table::Members))?;
        let named = (named.as_str(), named_oid);
        citus_result::name_right(named, [pairs, members]).run()?;
        let join = work.join()?;
        // Documents with equal texts are compared for their passages.
        let rows = citus_result::name_both(&join, result, [named, members], !join.passages).run()?;
        spread.drop_scratch(Scratch::Named)?;
        Ok(rows)
    }
}

/// Returns the number of parts, which is `usual` if the caller wants so many or rows of parts are
/// kept.
fn parts(work: &Work, usual: i64) -> Result<i64> {
    if work.asked.is_update() || work.arguments.names_parts() {
        return Ok(usual);
    }
    let nodes = citus_catalog::nodes().number()?.unwrap_or(1);
    Ok(few_parts(usual, nodes, work.log()?.progress.expected(Table::Sets)))
}

/// Returns the number of parts for so many documents. Each part costs every document up to a row,
/// so few documents have only a part for each node.
pub(super) fn few_parts(usual: i64, nodes: i64, documents: i64) -> i64 {
    /// The number of documents for which a part more is made.
    const EACH: i64 = 50_000;
    usual.min(nodes.max(1).max(documents / EACH))
}

/// Fills the table of ranks with the order of tokens in a sample of the sets, or with what the
/// method counts of all of them.
pub(super) fn fill_ranks(work: &Work, to: Named<'_>) -> Result<i64> {
    let (spread, join) = (work.spread()?, work.join()?);
    let columns = &[("k", Type::Int8), ("set", Type::Bytea)];
    let (samples, samples_oid) = spread.make_scratch(Scratch::Samples, columns, "k", Some(Table::Members))?;
    let samples = (samples.as_str(), samples_oid);
    if join.compares_by_ranks() {
        let (sets, sets_oid) = spread.open(Table::Sets)?;
        citus::all_terms(samples, (&sets, sets_oid)).run()?;
    } else {
        let (sets, sets_oid) = spread.open(spread.of_sets())?;
        let sets = (sets.as_str(), sets_oid);
        let distinct = citus::distinct(sets).number()?.unwrap_or_default();
        citus::samples(samples, sets, distinct).run()?;
    }
    let mut rows = citus::ranks(&join, to, samples).run()?;
    if rows == 0 {
        rows = no_ranks(to).run()?;
    }
    spread.drop_scratch(Scratch::Samples)?;
    Ok(rows)
}

/// Fills the table of candidates, unless there are so many that the plan refuses to go on. Returns
/// the number of candidates.
pub(super) fn fill_candidates(work: &Work, to: Named<'_>, oids: &[Oid], routes: &str) -> Result<i64> {
    let (spread, join) = (work.spread()?, work.join()?);
    let columns = &[("part", Type::Int4), ("ids", Type::Int8Array)];
    let (joined, joined_oid) = spread.make_scratch(Scratch::Joined, columns, "part", Some(Table::Routes))?;
    let joined = (joined.as_str(), joined_oid);
    citus::joined(&join, joined, (routes, oids)).run()?;
    let mut rows = citus::count_joined(joined).number()?.unwrap_or_default();
    if rows <= most_candidates(work.log()?.progress.expected(Table::Sets)) {
        rows = citus::candidates(&join, to, joined).run()?;
    }
    spread.drop_scratch(Scratch::Joined)?;
    Ok(rows)
}
