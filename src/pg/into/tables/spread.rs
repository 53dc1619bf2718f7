//! Working tables by the names in the log, and the place of their rows.

use pgrx::pg_sys::Oid;

use super::own::{self, Owned};
use crate::into::state::Count;
use crate::into::step::WorkingTable;
use crate::pg::into::nodes::Nodes;
use crate::pg::into::place::TablePlace;
use crate::pg::into::statements::catalog;
use crate::pg::into::statements::definitions::{self, Distribution, FarTable};
use crate::pg::into::statements::servers::Requests;
use crate::pg::procedure::definition::{Column, drop_tables};
use crate::pg::procedure::form::TableForm;
use crate::pg::procedure::table::Table;
use crate::pg::query::names::quote_identifier;
use crate::pg::server::error::Result;

/// The working tables of a call.
#[derive(Debug)]
pub(crate) struct SpreadTables<'a> {
    /// A place in the schema of the tables.
    pub home: &'a TablePlace,
    /// The common part of the names of the tables.
    pub token: &'a str,
    /// The nodes that hold their rows.
    pub nodes: Nodes<'a>,
    /// The requests to the servers.
    pub requests: &'a Requests,
    /// Set if some of the tables are kept, to bring the result up to date.
    pub update: bool,
    /// Set if, in Citus, the sets are moved to where the members are.
    pub members_have_sets: bool,
    /// The owner of the tables, and the types of their columns.
    pub owned: Owned<'a>,
    /// The number of parts of the join.
    pub parts: i64,
    /// How many rows with sets are fetched at a time.
    pub fetched: i64,
}

impl SpreadTables<'_> {
    pub(crate) fn name(&self, table: WorkingTable) -> String {
        format!("neardup_{}_{}", self.token, table.name())
    }

    /// Returns the place of a table.
    pub(crate) fn place(&self, table: WorkingTable) -> TablePlace {
        self.home.beside(self.name(table))
    }

    /// Returns how the rows of a table are distributed.
    pub(crate) fn distribution(&self, table: WorkingTable) -> Distribution {
        Distribution::for_table(table, self.nodes)
    }

    /// Returns the places of the partitions of a table, each of which is that of a server or of a
    /// part.
    fn partitions(&self, table: WorkingTable) -> Vec<TablePlace> {
        let count = match self.nodes {
            _ if !self.distribution(table).has_partitions() => 0,
            Nodes::Home(parts) => parts.unwrap_or(0),
            nodes => nodes.servers().len(),
        };
        (1..=count).map(|n| self.home.beside(format!("{}_{n}", self.name(table)))).collect()
    }

    /// Returns the places of a table and of its partitions.
    fn places(&self, table: WorkingTable) -> Vec<TablePlace> {
        [self.place(table)].into_iter().chain(self.partitions(table)).collect()
    }

    /// Returns all local tables that there are.
    pub(crate) fn existing(&self) -> Result<Vec<Oid>> {
        let places = WorkingTable::ALL.iter().flat_map(|&table| self.places(table));
        places.filter_map(|place| place.relation().transpose()).collect()
    }

    /// Locks all existing local working tables, and checks that they belong to the caller. Those
    /// that sessions share are locked when they are used.
    pub(crate) fn lock(&self) -> Result<()> {
        let tables = if self.nodes.are_shared() { Vec::new() } else { self.existing()? };
        tables.into_iter().try_for_each(|oid| own::open(oid, self.owned.caller).map(|_| ()))
    }

    /// Opens a local table as the call made it.
    pub(crate) fn open(&self, table: WorkingTable) -> Result<Table> {
        let form = if self.distribution(table).has_partitions() { own::PARTITIONED } else { own::TABLE };
        let opened = self.open_as(&self.place(table), table, form)?;
        let mut partitions = Vec::new();
        for (n, place) in self.partitions(table).iter().enumerate() {
            partitions.push(match self.nodes.servers().get(n) {
                None => self.open_as(place, table, own::PARTITION)?.oid,
                Some(server) => {
                    let partition = self.owned.open(place, own::FOREIGN, self.columns(table))?;
                    let home = self.requests.home(server)?;
                    let name = self.name(table);
                    if !catalog::stands_for(partition.oid, &server.name, &home, &name)?.holds()? {
                        return Err(own::refused(&partition.name, "is not as near_duplicates_into made it"));
                    }
                    partition.oid
                }
            });
        }
        if form == own::PARTITIONED && !catalog::has_partitions(opened.oid, &partitions).holds()? {
            let why = "has partitions that near_duplicates_into did not make";
            return Err(own::refused(&opened.name, why));
        }
        Ok(opened)
    }

    /// Opens one of the parts of a table that sessions share.
    pub(crate) fn open_part(&self, table: WorkingTable, part: u16) -> Result<Table> {
        let place = self.home.beside(format!("{}_{}", self.name(table), u32::from(part) + 1));
        self.open_as(&place, table, own::PARTITION)
    }

    /// Opens a table of this form, which has a key if the table has one.
    fn open_as(&self, place: &TablePlace, table: WorkingTable, form: TableForm) -> Result<Table> {
        let indexes = if self.has_key(table) { own::NUMBERED } else { &[] };
        self.owned.open(place, TableForm { indexes, ..form }, self.columns(table))
    }

    /// Opens a local table, if there is one of its name.
    pub(crate) fn find(&self, table: WorkingTable) -> Result<Option<Table>> {
        self.place(table).relation()?.map(|_| self.open(table)).transpose()
    }

    /// Reports whether the sets are found by their numbers.
    fn has_key(&self, table: WorkingTable) -> bool {
        table == WorkingTable::Sets && matches!(self.nodes, Nodes::Home(_))
    }

    /// Returns the table that has each set once, in Citus.
    pub(crate) fn of_sets(&self) -> WorkingTable {
        if self.members_have_sets { WorkingTable::Members } else { WorkingTable::Sets }
    }

    /// Returns the table of the sets that are compared: those that documents have or had.
    pub(crate) fn compared_sets(&self) -> WorkingTable {
        if self.update && self.nodes.citus().is_some() { WorkingTable::Stored } else { self.of_sets() }
    }

    pub(crate) fn columns(&self, table: WorkingTable) -> &'static [Column] {
        definitions::columns(table, self.nodes, self.members_have_sets)
    }

    /// Reports whether a table is there, with all that it has on servers.
    pub(crate) fn is_whole(&self, table: WorkingTable) -> Result<bool> {
        for place in self.places(table) {
            if place.relation()?.is_none() {
                return Ok(false);
            }
        }
        if let Distribution::Servers(_) = self.distribution(table) {
            // A foreign table may exist even if its remote table does not.
            for server in self.nodes.servers() {
                if !self.requests.has(server, &self.name(table))? {
                    return Ok(false);
                }
            }
        }
        // What sessions share is locked when it is used.
        if self.nodes.are_shared() { Ok(true) } else { self.open(table).map(|_| true) }
    }

    /// Counts the rows of a table. Each server counts its own rows, instead of sending them.
    pub(crate) fn count(&self, table: WorkingTable) -> Result<Count> {
        if !self.is_whole(table)? {
            return Ok(Count::Missing);
        }
        if let Distribution::Servers(_) = self.distribution(table) {
            let count = |server| self.requests.count(server, &self.name(table));
            return Ok(Count::Rows(self.nodes.servers().iter().map(count).sum::<Result<i64>>()?));
        }
        Ok(Count::Rows(self.open(table)?.count()?))
    }

    /// Makes a table without rows, in place of one that was left behind.
    pub(crate) fn make(&self, table: WorkingTable) -> Result<()> {
        let place = self.place(table);
        let name = place.qualified()?;
        self.drop(table)?;
        let columns = self.columns(table);
        let sql = self.owned.types.sql(columns);
        let with_key = format!("{sql}, PRIMARY KEY (n)");
        let distribution = self.distribution(table);
        if let Distribution::Servers(_) = distribution {
            let there = if self.update && table == WorkingTable::Sets { &with_key } else { &sql };
            for server in self.nodes.servers() {
                self.requests.create(server, &self.name(table), there)?;
            }
        }
        let here = if self.has_key(table) { &with_key } else { &sql };
        definitions::create(&name, columns, here, distribution)?;
        if let (Distribution::Shards(by), Nodes::Citus(layout)) = (distribution, self.nodes) {
            if table == WorkingTable::Known {
                return layout.spread_by_ids(&place, "id", self.owned.types.id.1);
            }
            let like = definitions::like(table, self.update);
            let like = like.map(|like| self.place(like).qualified()).transpose()?;
            return layout.spread(&place, by, like.as_deref());
        }
        let partitions = self.partitions(table);
        let (fetched, sent) = self.batches(table);
        for (n, partition) in partitions.iter().enumerate() {
            let bounds = distribution.bounds(n, partitions.len(), self.parts);
            let (partition, far_name) = (partition.qualified()?, self.name(table));
            let made = match self.nodes.servers().get(n) {
                None => definitions::create_partition(&name, &partition, &bounds, None),
                Some(server) => {
                    let (schema, server) = (self.requests.home(server)?, quote_identifier(&server.name)?);
                    let far = FarTable { server: &server, schema: &schema, name: &far_name, fetched, sent };
                    definitions::create_partition(&name, &partition, &bounds, Some(far))
                }
            };
            made.run()?;
        }
        Ok(())
    }

    /// Makes a table without rows, and opens it.
    pub(crate) fn made(&self, table: WorkingTable) -> Result<Table> {
        self.make(table)?;
        self.open(table)
    }

    /// Returns the numbers of rows of a table that are fetched from a server and sent to it at a
    /// time; smaller for tables with sets.
    fn batches(&self, table: WorkingTable) -> (i64, i64) {
        const SENT: i64 = 1000;
        const SETS_SENT: i64 = 50;
        match table {
            // Each row that is fetched holds the candidates of a whole part.
            WorkingTable::Routes => (1, SENT),
            // This applies until the size of sets is known.
            WorkingTable::Sets => (SETS_SENT, SETS_SENT),
            WorkingTable::Halves => (self.fetched, self.fetched.min(SETS_SENT)),
            // For a join of two tables on a server, postgres_fdw uses the greater of their two
            // numbers.
            _ => (self.fetched, SENT),
        }
    }

    /// Sets how many sets are fetched at a time.
    pub(crate) fn fetch_sets(&self, rows: i64) -> Result<()> {
        if let Nodes::Fdw(_) = self.nodes {
            for partition in self.partitions(WorkingTable::Sets) {
                definitions::fetch(&partition.qualified()?, rows).run()?;
            }
        }
        Ok(())
    }

    /// Drops a table that is no longer read, if it exists.
    pub(crate) fn drop(&self, table: WorkingTable) -> Result<()> {
        let Some(oid) = self.place(table).relation()? else { return Ok(()) };
        match own::open(oid, self.owned.caller)? {
            Some(table) => drop_tables([&*table.name]),
            None => Ok(()),
        }
    }

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
