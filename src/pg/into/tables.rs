//! Steps on working tables.

use std::ffi::CStr;

use super::in_shards;
use super::statements::{citus, fill, outcome};
use super::work::{Work, not_here};
use crate::into::state::{Ids, Sizes};
use crate::into::step::{Stage, Table};
use crate::pg::query::Query;
use crate::pg::query::as_user::{as_user, set};
use crate::pg::server::error::Result;
use pgrx::pg_sys;

/// Makes a table.
pub(super) fn make(work: &Work, table: Table) -> Result<()> {
    let progress = &work.log()?.progress;
    let fetched = progress.sizes.rows_a_fetch(progress.expected(Table::Sets));
    let in_parts = work.in_parts()?;
    work.spread()?.make(table, in_parts.parts, fetched)?;
    if in_parts.citus.is_some() { in_shards::made(work, table) } else { Ok(()) }
}

/// Reads the documents, as any query of the caller does.
pub(super) fn read_documents(work: &mut Work) -> Result<()> {
    let in_parts = work.in_parts()?;
    let (sql, oid, slots) = as_user(work.caller, || {
        let (name, oid) = work.spread()?.open(Table::Sets)?;
        if in_parts.citus.is_some() {
            let (sql, slots) = in_shards::read_documents(work, &name)?;
            return Ok((sql, oid, slots));
        }
        Ok((fill::sets(&name, &in_parts.documents.query(), &work.extension.schema), oid, None))
    })?;
    let relations: Vec<pg_sys::Oid> = [oid, work.asked.docs].into_iter().chain(slots).collect();
    let query = Query { sql: &sql, parameters: &[], relations: &relations, read_only: false };
    work.state.filled = Some(query.run([])?.rows as i64);
    Ok(())
}

/// Fills a table from others, as the caller where the settings last as long as the step.
pub(super) fn fill(work: &mut Work, table: Table) -> Result<()> {
    /// Other joins than those that servers make.
    const JOINS: [&CStr; 3] = [c"enable_mergejoin", c"enable_hashjoin", c"enable_nestloop"];
    if work.in_parts()?.citus.is_some() {
        return in_shards::fill(work, table);
    }
    set(c"enable_partitionwise_aggregate", c"on");
    set(c"enable_partitionwise_join", c"on");
    if fill::joins_on_servers(table) {
        JOINS.iter().for_each(|join| set(join, c"off"));
    }
    let spread = work.spread()?;
    let of = |table: Table| spread.open(table);
    let (join, progress) = (work.join()?, &work.log()?.progress);
    let (name, oid) = of(table)?;
    let to = (name.as_str(), oid);
    let documents = progress.expected(Table::Sets);
    let statement = match table {
        // Clusters are made here.
        Table::Sets | Table::Larger | Table::Edges | Table::Neighbours | Table::Clusters => {
            return Err(not_here(table));
        }
        Table::Members => {
            let sets = of(Table::Sets)?;
            fill::members(to, (&sets.0, sets.1))
        }
        Table::Ranks => {
            let sets = of(Table::Sets)?;
            fill::ranks(&join, to, (&sets.0, sets.1), documents)
        }
        Table::Routes => {
            let [sets, members, ranks] = [of(Table::Sets)?, of(Table::Members)?, of(Table::Ranks)?];
            fill::routes(&join, to, [(&sets.0, sets.1), (&members.0, members.1), (&ranks.0, ranks.1)])
        }
        Table::Candidates => {
            let routes = of(Table::Routes)?;
            fill::candidates(&join, to, (&routes.0, routes.1), documents)
        }
        Table::Halves => {
            let Stage::Round(round) = progress.next(false) else { return Err(not_here(table)) };
            let [candidates, sets] = [of(Table::Candidates)?, of(Table::Sets)?];
            let from = [(candidates.0.as_str(), candidates.1), (&sets.0, sets.1)];
            fill::halves(to, from, (round, progress.rounds))
        }
        Table::Pairs => {
            let [halves, sets] = [of(Table::Halves)?, of(Table::Sets)?];
            fill::pairs(&join, to, [(&halves.0, halves.1), (&sets.0, sets.1)])
        }
    };
    let rows = statement.run()?;
    // What halves become is what counts.
    if table != Table::Halves {
        work.state.filled = Some(rows);
    }
    Ok(())
}

/// Looks at the ids.
pub(super) fn check_ids(work: &mut Work) -> Result<Option<String>> {
    if work.in_parts()?.citus.is_some() {
        return in_shards::check_ids(work);
    }
    let sets = work.spread()?.open(Table::Sets)?;
    let sets = (sets.0.as_str(), sets.1);
    let double = if outcome::null_id(sets).holds()? {
        work.state.ids = Some(Ids::Null);
        return Ok(None);
    } else {
        outcome::double_id(sets).text()?
    };
    work.state.ids = Some(if double.is_some() { Ids::Double } else { Ids::Good });
    Ok(double)
}

/// Looks at how large sets are, so that not too many are fetched at a time.
pub(super) fn measure(work: &mut Work) -> Result<()> {
    let spread = work.spread()?;
    let sets = spread.open(Table::Sets)?;
    let row = outcome::measure((&sets.0, sets.1)).row([pg_sys::INT8OID; 2])?.unwrap_or_default();
    let [bytes, largest] = row.map(|number| number.map_or(0, |number| number.value() as i64));
    let sizes = Sizes { bytes, largest };
    let count = work.state.filled.unwrap_or_default();
    spread.fetch_sets(sizes.rows_a_fetch(count))?;
    work.state.sizes = Some(sizes);
    Ok(())
}

/// Counts the pairs of equal sets.
pub(super) fn count_equal(work: &mut Work) -> Result<()> {
    let members = work.spread()?.open(Table::Members)?;
    let members = (members.0.as_str(), members.1);
    let in_shards = work.in_parts()?.citus.is_some();
    let equal = if in_shards { citus::equal(members) } else { outcome::equal(members) };
    work.state.equal = equal.number()?.or(Some(0));
    Ok(())
}

/// Counts all pairs, up to one more than are wanted.
pub(super) fn count_pairs(work: &mut Work) -> Result<()> {
    if work.in_parts()?.citus.is_some() {
        return in_shards::count_pairs(work);
    }
    set(c"enable_nestloop", c"off");
    let spread = work.spread()?;
    let [members, pairs] = [spread.open(Table::Members)?, spread.open(Table::Pairs)?];
    let most = work.state.call.max_pairs.unwrap_or(i64::MAX).saturating_add(1);
    let total = outcome::total((&members.0, members.1), (&pairs.0, pairs.1), most);
    work.state.total = total.number()?.or(Some(0));
    Ok(())
}
