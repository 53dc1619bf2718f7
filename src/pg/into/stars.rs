//! Makes clusters of similar sets on the nodes of Citus. Each number of a set finds the least
//! number of its cluster by [stars], and the data about a cluster is computed on the node that has
//! that number.

use pgrx::pg_sys::{self, Oid};

use super::columns::Type;
use super::spread::Scratch;
use super::statements::fill::Named;
use super::statements::{citus, stars};
use super::work::{Work, not_here};
use crate::into::step::{Stage, Table};
use crate::pg::functions::clusters::Chains;
use crate::pg::query::as_user::set;
use crate::pg::server::error::Result;

/// The bytes of a row of two numbers.
const TWO_NUMBERS: i64 = 16;

fn named((name, oid): &(String, Oid)) -> Named<'_> {
    (name, *oid)
}

/// Fills one of the tables from which clusters are made.
pub(super) fn fill(work: &mut Work, table: Table) -> Result<()> {
    let spread = work.spread()?;
    let of = |table: Table| spread.open(table);
    let to = of(table)?;
    let to = named(&to);
    let is_round = matches!(work.log()?.progress.next(true), Stage::Stars(_));
    let (rows, moved) = match table {
        Table::Larger => {
            let rows = stars::larger(to, named(&of(Table::Edges)?)).run()?;
            // The log counts the edges that are made from these rows, not these rows themselves.
            work.moved += rows.saturating_mul(TWO_NUMBERS);
            return Ok(());
        }
        Table::Edges => {
            let statement = if is_round {
                stars::smaller(to, named(&of(Table::Larger)?))
            } else {
                stars::edges(to, named(&of(Table::Pairs)?))
            };
            let rows = statement.run()?;
            (rows, rows.saturating_mul(TWO_NUMBERS))
        }
        Table::Neighbours => {
            let [pairs, members] = [of(Table::Pairs)?, of(Table::Members)?];
            let mut rows = stars::right_neighbours(to, [named(&pairs), named(&members)]).run()?;
            rows += stars::left_neighbours(to, named(&members)).run()?;
            (rows, rows.saturating_mul(2 * TWO_NUMBERS))
        }
        Table::Clusters => {
            let columns = &[
                ("root", Type::Int8),
                ("n", Type::Int8),
                ("id", Type::Id),
                ("count", Type::Int8),
                ("pairs", Type::Int8),
                ("weight", Type::Numeric),
            ];
            let vertices = spread.make_scratch(Scratch::Vertices, columns, "root", Some(Table::Members))?;
            let vertices = named(&vertices);
            let [members, neighbours, edges] =
                [of(Table::Members)?, of(Table::Neighbours)?, of(Table::Edges)?];
            stars::vertices(vertices, [named(&members), named(&neighbours), named(&edges)]).run()?;
            let row = stars::chains(vertices).row([pg_sys::INT8OID; 3])?.unwrap_or_default();
            let [clusters, chains, largest] = row.map(|number| number.map_or(0, |number| number.value()));
            Chains { clusters, chains, largest }.warn();
            let rows = stars::clusters(to, vertices).run()?;
            let mut moved = citus::moved(vertices, columns).number()?.unwrap_or_default();
            moved += citus::moved(to, spread.columns(table)).number()?.unwrap_or_default();
            spread.drop_scratch(Scratch::Vertices)?;
            (rows, moved)
        }
        _ => return Err(not_here(table)),
    };
    work.state.filled = Some(rows);
    work.moved += moved;
    Ok(())
}

/// Counts the numbers that are not settled.
pub(super) fn count_unsettled(work: &mut Work) -> Result<()> {
    let edges = work.spread()?.open(Table::Edges)?;
    work.state.unsettled = stars::unsettled(named(&edges)).number()?.or(Some(0));
    Ok(())
}

/// Fills the table of clusters.
pub(super) fn result(work: &Work, result: Named<'_>) -> Result<()> {
    set(c"citus.enable_repartitioned_insert_select", c"on");
    let spread = work.spread()?;
    let of = |table: Table| spread.open(table);
    let [clusters, members, neighbours] = [of(Table::Clusters)?, of(Table::Members)?, of(Table::Neighbours)?];
    stars::result(result, [named(&clusters), named(&members), named(&neighbours)]).run().map(|_| ())
}
