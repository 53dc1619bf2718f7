//! Steps on working tables, wherever these are.

use super::nodes::Nodes;
use super::statements::{candidates, halves, members, pairs, ranks, routes, seen, sets, stars};
use super::work::{Work, not_here};
use crate::into::state::Count;
use crate::into::step::Table;
use crate::pg::server::error::Result;

/// Makes a table.
pub(super) fn make(work: &Work, table: Table) -> Result<()> {
    let spread = work.spread()?;
    if spread.kept().contains(&table) && spread.is_whole(table)? {
        return Ok(());
    }
    let parts = work.in_parts()?.parts;
    // What is kept is made before what is put beside it.
    for kept in spread.made_with(table) {
        if !spread.is_whole(*kept)? {
            spread.make(*kept, parts, 1)?;
        }
    }
    let progress = &work.log()?.progress;
    spread.make(table, parts, progress.sizes.rows_a_fetch(progress.expected(Table::Sets)))?;
    match spread.nodes {
        Nodes::Citus(layout) if table == Table::Sets => sets::make_slots(work, layout),
        _ => Ok(()),
    }
}

/// Counts the rows of a table. Those of a table that sessions share are kept after a crash, so that
/// they are not counted each time that a part of them is read.
pub(super) fn count(work: &mut Work, table: Table) -> Result<()> {
    let spread = work.spread()?;
    let count = if !spread.nodes.are_shared() {
        spread.count(table)?
    } else if spread.is_whole(table)? {
        Count::Rows(work.log()?.progress.expected(table))
    } else {
        Count::Missing
    };
    work.state.counted.push((table, count));
    Ok(())
}

/// Fills a table from other working tables.
pub(super) fn fill(work: &mut Work, table: Table) -> Result<()> {
    work.nodes()?.reach(Some(table));
    work.state.filled = Some(match table {
        Table::Changes => seen::fill_changes(work)?,
        Table::Members => members::fill(work)?,
        Table::Ranks => ranks::fill(work)?,
        Table::Routes => routes::fill(work)?,
        Table::Candidates => candidates::fill(work)?,
        // The log counts what is made from the rows of these, not these rows themselves.
        Table::Halves => return halves::fill(work),
        Table::Larger => return stars::fill_larger(work),
        Table::Pairs => pairs::fill(work)?,
        Table::Known => seen::fill_known(work)?,
        Table::Edges => stars::fill_edges(work)?,
        Table::Neighbours => stars::fill_neighbours(work)?,
        Table::Clusters => stars::fill_clusters(work)?,
        // Documents are read like in any query of the caller, and what is stored is stored with the
        // new rows.
        Table::Sets | Table::Seen | Table::Stored | Table::Routed => return Err(not_here(table)),
    });
    Ok(())
}
