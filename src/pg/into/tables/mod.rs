//! The working tables: [`spread`] says how the rows of each are spread over the nodes, makes it and
//! opens it, and which of them bring a finished result up to date. [`own`] accepts and locks only
//! tables that belong to the caller and are exactly as the call made them, with their original
//! columns. Here they are made and filled, each by the file of its name in `statements`.

pub(crate) mod own;
pub(crate) mod spread;

use crate::into::state::Count;
use crate::into::step::WorkingTable;
use crate::pg::into::nodes::Nodes;
use crate::pg::into::statements::{candidates, members, pairs, ranks, routes, seen, sets, stars};
use crate::pg::into::work::{CallWork, not_here};
use crate::pg::server::error::Result;

/// Makes a table.
pub(crate) fn make(work: &CallWork, table: WorkingTable) -> Result<()> {
    let spread = work.spread()?;
    if spread.kept().contains(&table) && spread.is_whole(table)? {
        return Ok(());
    }
    // What is kept is made before what is put beside it.
    for kept in spread.made_with(table) {
        if !spread.is_whole(*kept)? {
            spread.make(*kept)?;
        }
    }
    spread.make(table)?;
    match spread.nodes {
        Nodes::Citus(layout) if table == WorkingTable::Sets => sets::make_slots(work, layout),
        _ => Ok(()),
    }
}

/// Counts the rows of a table. Those of a table that sessions share are kept after a crash, so that
/// they are not counted each time that a part of them is read.
pub(crate) fn count(work: &mut CallWork, table: WorkingTable) -> Result<()> {
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
pub(crate) fn fill(work: &mut CallWork, table: WorkingTable) -> Result<()> {
    work.nodes()?.reach(Some(table));
    work.state.filled = Some(match table {
        WorkingTable::Changes => seen::fill_changes(work)?,
        WorkingTable::Members => members::fill(work)?,
        WorkingTable::Ranks => ranks::fill(work)?,
        WorkingTable::Routes => routes::fill(work)?,
        WorkingTable::Candidates => candidates::fill(work)?,
        // The log counts what is made from the rows of these, not these rows themselves.
        WorkingTable::Halves => return pairs::fill_halves(work),
        WorkingTable::Larger => return stars::fill_larger(work),
        WorkingTable::Pairs => pairs::fill(work)?,
        WorkingTable::Known => seen::fill_known(work)?,
        WorkingTable::Edges => stars::fill_edges(work)?,
        WorkingTable::Neighbours => stars::fill_neighbours(work)?,
        WorkingTable::Clusters => stars::fill_clusters(work)?,
        // Documents are read like in any query of the caller, and what is stored is stored with the
        // new rows.
        _ => return Err(not_here(&table.name())),
    });
    Ok(())
}
