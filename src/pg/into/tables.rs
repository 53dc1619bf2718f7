//! Steps on working tables, in any place.

use pgrx::pg_sys;

use super::parts;
use super::statements::outcome;
use super::update;
use super::work::Work;
use crate::into::state::Sizes;
use crate::into::step::Table;
use crate::pg::query::Query;
use crate::pg::query::as_user::as_user;
use crate::pg::server::error::Result;

/// Makes a table.
pub(super) fn make(work: &Work, table: Table) -> Result<()> {
    let spread = work.spread()?;
    if spread.kept().contains(&table) && spread.is_whole(table)? {
        return Ok(());
    }
    // What is kept is made before what is put beside it.
    for kept in spread.made_with(table) {
        if !spread.is_whole(*kept)? {
            spread.make(*kept, work.in_parts()?.parts, 1)?;
        }
    }
    let progress = &work.log()?.progress;
    let fetched = progress.sizes.rows_a_fetch(progress.expected(Table::Sets));
    work.spread()?.make(table, work.in_parts()?.parts, fetched)?;
    if table == Table::Sets { work.backend.complete_sets(work) } else { Ok(()) }
}

/// Reads the documents like any query of the caller.
pub(super) fn read_documents(work: &mut Work) -> Result<()> {
    if work.asked.is_update() {
        return update::read_documents(work);
    }
    let (sql, oid, besides) = as_user(work.caller, || {
        let (name, oid) = work.spread()?.open(Table::Sets)?;
        let (sql, besides) = work.backend.read_documents(work, &name)?;
        Ok((sql, oid, besides))
    })?;
    let relations: Vec<pg_sys::Oid> = [oid, work.asked.docs].into_iter().chain(besides).collect();
    parts::begin(work);
    let query = Query { sql: &sql, parameters: &[], relations: &relations, read_only: false };
    work.state.filled = Some(query.run([])?.rows as i64);
    Ok(())
}

/// Determines the size of sets, so that not too many are fetched at a time.
pub(super) fn measure(work: &mut Work) -> Result<()> {
    let spread = work.spread()?;
    let sets = spread.open(Table::Sets)?;
    let name = if work.asked.is_update() { update::new_sets(work, &sets.0)? } else { sets.0 };
    let row = outcome::measure((&name, sets.1)).row([pg_sys::INT8OID; 2])?.unwrap_or_default();
    let [bytes, largest] = row.map(|number| number.map_or(0, |number| number.value() as i64));
    // What is kept may have larger ones.
    let sizes = Sizes { bytes, largest: largest.max(work.log()?.kept.largest) };
    let count = work.state.filled.unwrap_or_default();
    spread.fetch_sets(sizes.rows_a_fetch(count))?;
    work.state.sizes = Some(sizes);
    Ok(())
}

/// Counts the pairs of equal sets.
pub(super) fn count_equal(work: &mut Work) -> Result<()> {
    let members = work.spread()?.open(Table::Members)?;
    work.state.equal = work.backend.count_equal((&members.0, members.1)).number()?.or(Some(0));
    Ok(())
}
