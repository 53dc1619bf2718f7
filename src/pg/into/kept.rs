//! Which working tables are kept when a result is made, to bring it up to date later, and which are
//! dropped.

use super::own;
use super::spread::{Scratch, Spread};
use super::statements::definitions;
use crate::into::step::Table;
use crate::pg::server::error::Result;

impl Spread<'_> {
    /// Returns the tables that are kept when a result is made.
    pub(super) fn kept(&self) -> &'static [Table] {
        match (self.update, self.citus) {
            (false, _) => &[],
            (true, None) => &[Table::Known, Table::Sets, Table::Ranks, Table::Routes, Table::Pairs],
            (true, Some(_)) => &[Table::Known, Table::Stored, Table::Ranks, Table::Routed, Table::Pairs],
        }
    }

    /// Returns the tables that are made, if they are missing, before this table.
    pub(super) fn made_with(&self, table: Table) -> &'static [Table] {
        match (self.update, self.citus.is_some(), table) {
            (true, true, Table::Seen) => &[Table::Known, Table::Stored, Table::Routed],
            (true, false, Table::Seen) => &[Table::Known],
            _ => &[],
        }
    }

    /// Reports whether a table is there, with all that it has on servers.
    pub(super) fn is_whole(&self, table: Table) -> Result<bool> {
        if self.place(table).relation()?.is_none() {
            return Ok(false);
        }
        if self.has_partitions(table) {
            for (n, server) in self.servers.iter().enumerate() {
                if self.partition(table, n).relation()?.is_none()
                    || !self.requests.has(server, &self.name(table))?
                {
                    return Ok(false);
                }
            }
        }
        self.open(table).map(|_| true)
    }

    /// Drops the tables that are not kept.
    pub(super) fn drop_others(&self) -> Result<()> {
        self.drop_all_but(self.kept())
    }

    /// Drops all tables: the tables on servers first, because dropping local tables can be rolled
    /// back.
    pub(super) fn drop_all(&self) -> Result<()> {
        self.drop_all_but(&[])
    }

    fn drop_all_but(&self, kept: &[Table]) -> Result<()> {
        let goes = |table: &Table| !kept.contains(table);
        let spread = |table: &Table| definitions::spread_by(*table).is_some() && goes(table);
        let far: Vec<String> = Table::ALL.into_iter().filter(spread).map(|table| self.name(table)).collect();
        for server in self.servers {
            self.requests.drop(server, &far)?;
        }
        let mut here = Vec::new();
        let scratch = Scratch::ALL.map(|scratch| self.scratch(scratch));
        let tables = Table::ALL.into_iter().filter(goes).map(|table| self.place(table));
        for place in tables.chain(scratch) {
            if let Some(oid) = place.relation()?
                && let Some(table) = own::open(oid, self.owned.caller)?
            {
                here.push(table.name);
            }
        }
        if here.is_empty() { Ok(()) } else { definitions::drop(&here).run().map(|_| ()) }
    }
}
