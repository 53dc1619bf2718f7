//! Fills working tables whose rows are on servers, in partitions that are foreign tables.

use std::ffi::CStr;

use pgrx::pg_sys::Oid;

use super::groups;
use super::statements::fill::Named;
use super::statements::{fill, outcome};
use super::work::{Backend, Work, not_here};
use crate::into::state::Ids;
use crate::into::step::{Stage, Table};
use crate::pg::procedure::statement::Statement;
use crate::pg::query::as_user::set;
use crate::pg::server::error::Result;

/// Working tables on servers.
pub(super) struct OnServers;

impl Backend for OnServers {
    fn read_documents(&self, work: &Work, sets: &str) -> Result<(String, Option<Oid>)> {
        Ok((fill::sets(sets, &work.in_parts()?.documents), None))
    }

    fn fill(&self, work: &mut Work, table: Table) -> Result<()> {
        /// The local join methods, which are disabled so that the servers join.
        const JOINS: [&CStr; 3] = [c"enable_mergejoin", c"enable_hashjoin", c"enable_nestloop"];
        set(c"enable_partitionwise_aggregate", c"on");
        set(c"enable_partitionwise_join", c"on");
        if fill::joins_on_servers(table) && !work.in_parts()?.servers.is_empty() {
            JOINS.iter().for_each(|join| set(join, c"off"));
        }
        let spread = work.spread()?;
        let of = |table: Table| spread.open(table);
        let (join, progress) = (work.join()?, &work.log()?.progress);
        let (name, oid) = of(table)?;
        let to = (name.as_str(), oid);
        let documents = progress.expected(Table::Sets);
        let statement = match table {
            // The table of sets is filled elsewhere, and clusters are made locally.
            Table::Sets | Table::Larger | Table::Edges | Table::Neighbours | Table::Clusters => {
                return Err(not_here(table));
            }
            Table::Seen | Table::Changes | Table::Known | Table::Stored | Table::Routed => {
                return Err(not_here(table));
            }
            Table::Members => {
                let sets = of(Table::Sets)?;
                fill::members(to, (&sets.0, sets.1), None)
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
                let group = (groups::condition(work), groups::repeats(work));
                fill::candidates(&join, to, (&routes.0, routes.1), documents, (&group.0, group.1))
            }
            Table::Halves => {
                let Stage::Round(round) = progress.next(false) else { return Err(not_here(table)) };
                let [candidates, sets] = [of(Table::Candidates)?, of(Table::Sets)?];
                let from = [(candidates.0.as_str(), candidates.1), (&sets.0, sets.1)];
                fill::halves(to, from, (round, progress.rounds))
            }
            Table::Pairs => {
                let [halves, sets] = [of(Table::Halves)?, of(Table::Sets)?];
                let ranks = join.compares_by_ranks().then(|| of(Table::Ranks)).transpose()?;
                let ranks = ranks.as_ref().map(|(name, oid)| (name.as_str(), *oid));
                fill::pairs(&join, to, [(&halves.0, halves.1), (&sets.0, sets.1)], ranks)
            }
        };
        let rows = statement.run()?;
        // The log counts the pairs that are made from halves, not the halves themselves.
        if table != Table::Halves {
            work.state.filled = Some(rows);
        }
        Ok(())
    }

    fn check_ids(&self, work: &mut Work) -> Result<Option<String>> {
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

    fn count_equal(&self, members: Named<'_>) -> Statement {
        outcome::equal(members)
    }

    fn count_pairs(&self, work: &mut Work) -> Result<()> {
        set(c"enable_nestloop", c"off");
        let spread = work.spread()?;
        let [members, pairs] = [spread.open(Table::Members)?, spread.open(Table::Pairs)?];
        let most = work.state.call.max_pairs.unwrap_or(i64::MAX).saturating_add(1);
        let total = outcome::total(&work.join()?, (&members.0, members.1), (&pairs.0, pairs.1), most);
        work.state.total = total.number()?.or(Some(0));
        Ok(())
    }

    fn fill_result(&self, work: &Work, result: Named<'_>) -> Result<i64> {
        let spread = work.spread()?;
        let [members, pairs] = [spread.open(Table::Members)?, spread.open(Table::Pairs)?];
        outcome::result(&work.join()?, result, (&members.0, members.1), (&pairs.0, pairs.1)).run()
    }
}
