//! Working tables by the names in the log, and the place of their rows.

use super::columns::{Column, Type};
use super::nodes::Nodes;
use super::own::{self, OwnTable, Owned};
use super::place::TablePlace;
use super::servers::Requests;
use super::statements::catalog;
use super::statements::definitions::{self, Distribution};
use crate::into::state::Count;
use crate::into::step::WorkingTable;
use crate::pg::procedure::form::TableForm;
use crate::pg::query::names::quote_identifier;
use crate::pg::server::error::Result;

/// The working tables of a call.
#[derive(Debug)]
pub(super) struct SpreadTables<'a> {
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
}

/// Further tables. All but the last three are in Citus, where each is made, read and dropped within
/// one step.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ScratchTables {
    /// For each shard, a key that falls into it, and the shard's number, starting at 0.
    Slots,
    /// The ids of all documents, distributed by id.
    Ids,
    /// The sets from which the order of tokens is made.
    Samples,
    /// The candidates found in each part.
    Joined,
    /// Pairs with the id of the right document, or with the number of right documents.
    Named,
    /// The sets of clusters, distributed by cluster.
    Vertices,
    /// The parts that are done, of each stage that is done in parts.
    Parts,
    /// The pairs that a table of the caller is to have.
    Found,
    /// The clusters that a table of the caller is to have.
    Grouped,
}

/// The columns of [`ScratchTables::Slots`].
pub(super) const SLOTS: &[Column] = &[("key", Type::Int8), ("slot", Type::Int8)];

/// The columns of [`ScratchTables::Parts`].
const PARTS: &[Column] = &[("step", Type::Int8), ("part", Type::Int8), ("rows", Type::Int8)];

impl ScratchTables {
    pub(super) const ALL: [Self; 9] = [
        Self::Slots,
        Self::Ids,
        Self::Samples,
        Self::Joined,
        Self::Named,
        Self::Vertices,
        Self::Parts,
        Self::Found,
        Self::Grouped,
    ];
}

impl SpreadTables<'_> {
    pub(super) fn name(&self, table: WorkingTable) -> String {
        format!("neardup_{}_{}", self.token, table.name())
    }

    pub(super) fn place(&self, table: WorkingTable) -> TablePlace {
        self.home.beside(self.name(table))
    }

    /// Returns how the rows of a table are distributed.
    pub(super) fn distribution(&self, table: WorkingTable) -> Distribution {
        Distribution::for_table(table, self.nodes)
    }

    /// Returns the number of partitions of a table.
    fn partitions(&self, table: WorkingTable) -> usize {
        match self.nodes {
            _ if !self.distribution(table).has_partitions() => 0,
            Nodes::Home(parts) => parts.unwrap_or(0),
            nodes => nodes.servers().len(),
        }
    }

    /// Returns the place of the partition with this number: the number of a server, or of a part.
    /// Numbers start at 0.
    fn partition(&self, table: WorkingTable, n: usize) -> TablePlace {
        self.home.beside(format!("{}_{}", self.name(table), n + 1))
    }

    /// Returns the places of a table and of its partitions.
    fn places(&self, table: WorkingTable) -> Vec<TablePlace> {
        let partitions = (0..self.partitions(table)).map(|n| self.partition(table, n));
        [self.place(table)].into_iter().chain(partitions).collect()
    }

    /// Returns the place of a further table.
    pub(super) fn scratch(&self, scratch: ScratchTables) -> TablePlace {
        self.home.beside(format!("neardup_{}_{scratch:?}", self.token).to_lowercase())
    }

    /// Returns the places of all tables that may exist locally.
    pub(super) fn all(&self) -> Vec<TablePlace> {
        let scratch = ScratchTables::ALL.map(|scratch| self.scratch(scratch));
        WorkingTable::ALL.iter().flat_map(|&table| self.places(table)).chain(scratch).collect()
    }

    /// Locks all existing local working tables, and checks that they belong to the caller. Those
    /// that sessions share are locked when they are used.
    pub(super) fn lock(&self) -> Result<()> {
        if self.nodes.are_shared() {
            return Ok(());
        }
        for place in self.all() {
            if let Some(oid) = place.relation()? {
                own::open(oid, self.owned.caller)?;
            }
        }
        Ok(())
    }

    /// Opens a local table as the call made it.
    pub(super) fn open(&self, table: WorkingTable) -> Result<OwnTable> {
        let columns = self.columns(table);
        let place = self.place(table);
        let distribution = self.distribution(table);
        if !distribution.has_partitions() {
            return self.owned.open(&place, self.keyed(table, own::TABLE), columns);
        }
        let opened = self.owned.open(&place, self.keyed(table, own::PARTITIONED), columns)?;
        let mut partitions = Vec::new();
        if let Distribution::Parts(_) = distribution {
            for part in 0..self.partitions(table) {
                partitions.push(self.open_part(table, part)?.oid);
            }
        }
        for (n, server) in self.nodes.servers().iter().enumerate() {
            let partition = self.owned.open(&self.partition(table, n), own::FOREIGN, columns)?;
            let home = self.requests.home(server)?;
            if !catalog::stands_for(partition.oid, &server.name, &home, &self.name(table))?.holds()? {
                return Err(own::refused(&partition.name, "is not as near_duplicates_into made it"));
            }
            partitions.push(partition.oid);
        }
        if !catalog::has_partitions(opened.oid, &partitions).holds()? {
            let why = "has partitions that near_duplicates_into did not make";
            return Err(own::refused(&opened.name, why));
        }
        Ok(opened)
    }

    /// Opens one of the parts of a table that sessions share.
    pub(super) fn open_part(&self, table: WorkingTable, part: usize) -> Result<OwnTable> {
        let form = self.keyed(table, own::PARTITION);
        self.owned.open(&self.partition(table, part), form, self.columns(table))
    }

    /// Reports whether the sets are found by their numbers.
    fn has_key(&self, table: WorkingTable) -> bool {
        table == WorkingTable::Sets && matches!(self.nodes, Nodes::Home(_))
    }

    /// Returns the form of a table that may have a key.
    fn keyed(&self, table: WorkingTable, form: TableForm) -> TableForm {
        TableForm { indexes: if self.has_key(table) { own::NUMBERED } else { &[] }, ..form }
    }

    /// Returns the table that has each set once, in Citus.
    pub(super) fn of_sets(&self) -> WorkingTable {
        if self.members_have_sets { WorkingTable::Members } else { WorkingTable::Sets }
    }

    /// Returns the table of the sets that are compared: those that documents have or had.
    pub(super) fn compared_sets(&self) -> WorkingTable {
        if self.update && self.nodes.citus().is_some() { WorkingTable::Stored } else { self.of_sets() }
    }

    pub(super) fn columns(&self, table: WorkingTable) -> &'static [Column] {
        definitions::columns(table, self.nodes, self.members_have_sets)
    }

    /// Reports whether a table is there, with all that it has on servers.
    pub(super) fn is_whole(&self, table: WorkingTable) -> Result<bool> {
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
    pub(super) fn count(&self, table: WorkingTable) -> Result<Count> {
        if !self.is_whole(table)? {
            return Ok(Count::Missing);
        }
        if let Distribution::Servers(_) = self.distribution(table) {
            let count = |server| self.requests.count(server, &self.name(table));
            return Ok(Count::Rows(self.nodes.servers().iter().map(count).sum::<Result<i64>>()?));
        }
        let rows = definitions::count(&self.open(table)?).number()?;
        Ok(Count::Rows(rows.unwrap_or_default()))
    }

    /// Makes a table without rows, with `parts` parts of the join. Rows with sets are fetched
    /// `fetched` at a time.
    pub(super) fn make(&self, table: WorkingTable, parts: i64, fetched: i64) -> Result<()> {
        let place = self.place(table);
        let name = place.qualified()?;
        self.drop_place(&place)?;
        let columns = self.columns(table);
        let key = if self.has_key(table) { ", PRIMARY KEY (n)" } else { "" };
        let sql = format!("{}{key}", self.owned.types.sql(columns));
        let distribution = self.distribution(table);
        if let Distribution::Servers(_) = distribution {
            for server in self.nodes.servers() {
                let key = if self.update && table == WorkingTable::Sets { ", PRIMARY KEY (n)" } else { "" };
                self.requests.create(server, &self.name(table), &format!("{sql}{key}"))?;
            }
        }
        definitions::create(&name, columns, &sql, distribution)?;
        match (distribution, self.nodes) {
            (Distribution::Shards(by), Nodes::Citus(layout)) => {
                if table == WorkingTable::Known {
                    return layout.spread_by_ids(&place, "id", self.owned.types.id.1);
                }
                let like = self.like(table).map(|like| self.place(like).qualified()).transpose()?;
                layout.spread(&place, by, like.as_deref())
            }
            (Distribution::Parts(_), _) => (0..self.partitions(table)).try_for_each(|part| {
                let place = self.partition(table, part).qualified()?;
                definitions::create_part(table, &name, &place, part as i64).run().map(|_| ())
            }),
            (Distribution::Servers(_), _) => self.make_foreign(table, &name, parts, fetched),
            _ => Ok(()),
        }
    }

    /// Returns the table with which a table in shards is colocated. All tables that are distributed
    /// by numbers of sets are colocated with the sets; parts are distributed independently.
    fn like(&self, table: WorkingTable) -> Option<WorkingTable> {
        match table {
            WorkingTable::Seen | WorkingTable::Changes => Some(WorkingTable::Known),
            WorkingTable::Stored | WorkingTable::Routed => None,
            WorkingTable::Routes if self.update => Some(WorkingTable::Routed),
            _ if self.update => Some(WorkingTable::Stored),
            WorkingTable::Sets | WorkingTable::Routes => None,
            WorkingTable::Members => Some(WorkingTable::Sets),
            _ => Some(WorkingTable::Members),
        }
    }

    /// Makes the partitions of a table on servers.
    fn make_foreign(&self, table: WorkingTable, name: &str, parts: i64, fetched: i64) -> Result<()> {
        /// The number of rows that are sent to a server at a time; smaller for tables with sets.
        const SENT: i64 = 1000;
        const SETS_SENT: i64 = 50;
        let rows = match table {
            // Each row that is fetched holds the candidates of a whole part.
            WorkingTable::Routes => (1, SENT),
            // This applies until the size of sets is known.
            WorkingTable::Sets => (SETS_SENT, SETS_SENT),
            WorkingTable::Halves => (fetched, fetched.min(SETS_SENT)),
            // For a join of two tables on a server, postgres_fdw uses the greater of their two
            // numbers.
            _ => (fetched, SENT),
        };
        let servers = self.nodes.servers();
        for (n, server) in servers.iter().enumerate() {
            let home = self.requests.home(server)?;
            let partition = definitions::Partition {
                name: &self.partition(table, n).qualified()?,
                server: &quote_identifier(&server.name)?,
                schema: &home,
                far_name: &self.name(table),
                number: (n, servers.len()),
                rows,
            };
            let ranges = (table == WorkingTable::Routes).then_some(parts);
            definitions::create_partition(name, partition, ranges).run()?;
        }
        Ok(())
    }

    /// Sets how many sets are fetched at a time.
    pub(super) fn fetch_sets(&self, rows: i64) -> Result<()> {
        for n in 0..self.nodes.servers().len() {
            definitions::fetch(&self.partition(WorkingTable::Sets, n).qualified()?, rows).run()?;
        }
        Ok(())
    }

    /// Makes a table of one step, in place of a table that was left behind, and colocated with the
    /// table `like`.
    pub(super) fn make_scratch(
        &self,
        scratch: ScratchTables,
        columns: &[Column],
        by: &'static str,
        like: Option<WorkingTable>,
    ) -> Result<OwnTable> {
        let place = self.scratch(scratch);
        self.drop_scratch(scratch)?;
        let (name, sql) = (place.qualified()?, self.owned.types.sql(columns));
        definitions::create(&name, columns, &sql, Distribution::Shards(Some(by)))?;
        if let Nodes::Citus(layout) = self.nodes {
            let like = like.map(|like| self.place(like).qualified()).transpose()?;
            layout.spread(&place, Some(by), like.as_deref())?;
        }
        self.owned.open(&place, own::TABLE, columns)
    }

    /// Opens the existing table of shards and their keys.
    pub(super) fn open_slots(&self) -> Result<OwnTable> {
        self.owned.open(&self.scratch(ScratchTables::Slots), own::TABLE, SLOTS)
    }

    /// Opens the table of the parts that are done, if there is one.
    pub(super) fn open_parts(&self) -> Result<Option<OwnTable>> {
        let place = self.scratch(ScratchTables::Parts);
        if place.relation()?.is_none() {
            return Ok(None);
        }
        self.owned.open(&place, own::TABLE, PARTS).map(Some)
    }

    /// Opens the table of the parts that are done, or makes it.
    pub(super) fn make_parts(&self) -> Result<OwnTable> {
        if let Some(parts) = self.open_parts()? {
            return Ok(parts);
        }
        let place = self.scratch(ScratchTables::Parts);
        let sql = self.owned.types.sql(PARTS);
        definitions::create(&place.qualified()?, PARTS, &sql, Distribution::Home)?;
        self.owned.open(&place, own::TABLE, PARTS)
    }

    /// Drops a table of one step, if it exists.
    pub(super) fn drop_scratch(&self, scratch: ScratchTables) -> Result<()> {
        self.drop_place(&self.scratch(scratch))
    }

    /// Drops a table that is no longer read.
    pub(super) fn drop_one(&self, table: WorkingTable) -> Result<()> {
        self.drop_place(&self.place(table))
    }

    fn drop_place(&self, place: &TablePlace) -> Result<()> {
        let Some(oid) = place.relation()? else { return Ok(()) };
        match own::open(oid, self.owned.caller)? {
            Some(table) => definitions::drop(&[table.name]).run().map(|_| ()),
            None => Ok(()),
        }
    }
}
