//! Fills working tables on this server, one part at a time. Several sessions may fill parts of a
//! table at once.

use std::ffi::CString;

use pgrx::pg_sys::{self, Oid};

use super::on_servers::OnServers;
use super::parts;
use super::statements::fill::{self, Named};
use super::statements::here::{self as statements, Range};
use super::work::{Backend, Work, not_here};
use crate::into::state::{Ids, most_candidates};
use crate::into::step::Table;
use crate::pg::procedure::statement::Statement;
use crate::pg::query::as_user::set;
use crate::pg::server::error::Result;
use crate::pg::server::settings;

/// Working tables on this server, in parts.
pub(super) struct Here;

fn named((name, oid): &(String, Oid)) -> Named<'_> {
    (name, *oid)
}

/// Sets the memory of sorts and hash tables, of which a statement has a few.
pub(super) fn set_up() -> Result<()> {
    const NODES: usize = 8;
    // SAFETY: an int that only this thread writes.
    let own = usize::try_from(unsafe { pg_sys::work_mem }).unwrap_or_default();
    let kilobytes = own.max(settings::memory() / NODES / 1024).to_string();
    let kilobytes = CString::new(kilobytes).unwrap_or_default();
    set(c"work_mem", &kilobytes);
    Ok(())
}

/// Makes the rows of all parts from the sets of one part: of as many sets at a time as fit into the
/// memory with their rows, which are there three times while they are stored.
fn pack(work: &mut Work) -> Result<()> {
    const SHARE: usize = 8;
    let (spread, part) = (work.spread()?, usize::from(work.part.number));
    let [sets, members] = [Table::Sets, Table::Members].map(|table| spread.open_part(table, part));
    let (sets, members) = (sets?, members?);
    let [routes, ranks] = [Table::Routes, Table::Ranks].map(|table| spread.open(table));
    let (routes, ranks) = (routes?, ranks?);
    let join = work.join()?;
    parts::begin(work);
    // Nothing counts the rows of the tables, so that the server would expect few members, and look
    // each of their sets up by the index.
    set(c"enable_nestloop", c"off");
    let bytes = i64::try_from(settings::memory() / SHARE).unwrap_or(i64::MAX);
    let blocks = statements::blocks(named(&sets), bytes).text()?.unwrap_or_default();
    let (mut rows, mut before) = (0, -1);
    for last in parts::numbers(&blocks) {
        let from = [named(&sets), named(&members), named(&ranks)];
        rows += statements::routes(&join, named(&routes), from, (before, last)).run()?;
        before = last;
    }
    work.state.filled = Some(rows);
    Ok(())
}

impl Backend for Here {
    fn read_documents(&self, work: &Work, sets: &str) -> Result<(String, Option<Oid>)> {
        let in_parts = work.in_parts()?;
        let ranges = &work.log()?.ranges;
        let number = usize::from(work.part.number);
        let range = in_parts.key.as_deref().filter(|_| !ranges.is_empty()).map(|key| Range {
            key,
            number: number as i64,
            from: number.checked_sub(1).and_then(|before| ranges.get(before).copied()),
            to: ranges.get(number).copied(),
        });
        Ok((statements::sets(sets, &in_parts.documents, range, in_parts.parts), None))
    }

    fn fill(&self, work: &mut Work, table: Table) -> Result<()> {
        set_up()?;
        let spread = work.spread()?;
        let (of, part) = (|table: Table| spread.open(table), usize::from(work.part.number));
        let of_part = |table: Table| spread.open_part(table, part);
        let (join, progress) = (work.join()?, &work.log()?.progress);
        let to = of(table)?;
        let to = named(&to);
        let documents = progress.expected(Table::Sets);
        let statement = match table {
            Table::Members => {
                fill::members(to, named(&of(Table::Sets)?), Some((part, parts::OF_MEMBERS.into())))
            }
            Table::Ranks => fill::ranks(&join, to, named(&of(Table::Sets)?), documents),
            Table::Routes => return pack(work),
            Table::Candidates => {
                let most = most_candidates(documents).saturating_add(1);
                statements::candidates(&join, to, named(&of_part(Table::Routes)?), most)
            }
            Table::Pairs => {
                // Each candidate finds both of its sets by the index.
                set(c"enable_hashjoin", c"off");
                set(c"enable_mergejoin", c"off");
                let [candidates, left] = [of_part(Table::Candidates)?, of_part(Table::Sets)?];
                let ranks = join.compares_by_ranks().then(|| of(Table::Ranks)).transpose()?;
                let sets = of(Table::Sets)?;
                let from = [named(&candidates), named(&left), named(&sets)];
                statements::pairs(&join, to, from, ranks.as_ref().map(named))
            }
            // The table of sets is filled elsewhere; the others are not needed here.
            Table::Sets
            | Table::Halves
            | Table::Larger
            | Table::Edges
            | Table::Neighbours
            | Table::Clusters
            | Table::Seen
            | Table::Changes
            | Table::Known
            | Table::Stored
            | Table::Routed => return Err(not_here(table)),
        };
        parts::begin(work);
        work.state.filled = Some(statement.run()?);
        Ok(())
    }

    fn check_ids(&self, work: &mut Work) -> Result<Option<String>> {
        if work.in_parts()?.has_key {
            work.state.ids = Some(Ids::Good);
            return Ok(None);
        }
        OnServers.check_ids(work)
    }

    fn count_equal(&self, members: Named<'_>) -> Statement {
        OnServers.count_equal(members)
    }

    fn count_pairs(&self, work: &mut Work) -> Result<()> {
        set_up()?;
        OnServers.count_pairs(work)
    }

    fn fill_result(&self, work: &Work, result: Named<'_>) -> Result<i64> {
        set_up()?;
        // Nothing counts the rows of the tables, so that the server would sort all members thrice.
        set(c"enable_mergejoin", c"off");
        OnServers.fill_result(work, result)
    }
}
