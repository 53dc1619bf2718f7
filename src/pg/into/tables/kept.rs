//! Which working tables are kept when a result is made, to bring it up to date later, and which are
//! dropped.

use super::own;
use super::spread::SpreadTables;
use crate::into::step::WorkingTable;
use crate::pg::into::nodes::Nodes;
use crate::pg::into::statements::definitions::Distribution;
use crate::pg::procedure::definition::drop_tables;
use crate::pg::server::error::Result;

impl SpreadTables<'_> {
    /// Returns the tables that are kept when a result is made.
    pub(crate) fn kept(&self) -> &'static [WorkingTable] {
        match (self.update, self.nodes) {
            (false, _) => &[],
            (true, Nodes::Citus(_)) => &[
                WorkingTable::Known,
                WorkingTable::Stored,
                WorkingTable::Ranks,
                WorkingTable::Routed,
                WorkingTable::Pairs,
            ],
            (true, _) => &[
                WorkingTable::Known,
                WorkingTable::Sets,
                WorkingTable::Ranks,
                WorkingTable::Routes,
                WorkingTable::Pairs,
            ],
        }
    }

    /// Returns the tables that are made, if they are missing, before this table.
    pub(crate) fn made_with(&self, table: WorkingTable) -> &'static [WorkingTable] {
        match (self.update, self.nodes, table) {
            (true, Nodes::Citus(_), WorkingTable::Seen) => {
                &[WorkingTable::Known, WorkingTable::Stored, WorkingTable::Routed]
            }
            (true, _, WorkingTable::Seen) => &[WorkingTable::Known],
            _ => &[],
        }
    }

    /// Drops all tables but those that are kept: the tables on servers first, because dropping
    /// local tables can be rolled back.
    pub(crate) fn drop_all_but(&self, kept: &[WorkingTable]) -> Result<()> {
        let gone = || WorkingTable::ALL.iter().copied().filter(|table| !kept.contains(table));
        let is_far = |table: &WorkingTable| matches!(self.distribution(*table), Distribution::Servers(_));
        let far: Vec<String> = gone().filter(is_far).map(|table| self.name(table)).collect();
        for server in self.nodes.servers() {
            self.requests.drop(server, &far)?;
        }
        let mut here = Vec::new();
        for table in gone() {
            if let Some(oid) = self.place(table).relation()?
                && let Some(table) = own::open(oid, self.owned.caller)?
            {
                here.push(table.name);
            }
        }
        drop_tables(here.iter().map(String::as_str))
    }
}
