//! Working tables by the names in the log, and the place of their rows: local, in partitions that
//! are foreign tables of tables on servers, in shards of Citus, or in local partitions that
//! sessions share.

use pgrx::pg_sys::Oid;

use super::columns::{Column, Type};
use super::layout::CitusLayout;
use super::own::{self, Owned};
use super::place::Place;
use super::servers::{Requests, Server};
use super::statements::{catalog, citus, definitions};
use crate::into::state::Count;
use crate::into::step::Table;
use crate::pg::procedure::form::Form;
use crate::pg::query::names::quote_identifier;
use crate::pg::server::error::Result;

/// The working tables of a call.
#[derive(Debug)]
pub(super) struct Spread<'a> {
    /// A place in the schema of the tables.
    pub home: &'a Place,
    /// The common part of the names of the tables.
    pub token: &'a str,
    /// The servers.
    pub servers: &'a [Server],
    /// The requests to the servers.
    pub requests: &'a Requests,
    /// The distribution of the tables, if they are in Citus.
    pub citus: Option<&'a CitusLayout>,
    /// The number of local partitions of a table, if sessions share the tables.
    pub parts: Option<usize>,
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
pub(super) enum Scratch {
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
    /// The parts that are done, of each stage that sessions share.
    Parts,
    /// The pairs that a table of the caller is to have.
    Found,
    /// The clusters that a table of the caller is to have.
    Grouped,
}

/// The columns of [`Scratch::Slots`].
pub(super) const SLOTS: &[Column] = &[("key", Type::Int8), ("slot", Type::Int8)];

impl Scratch {
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

    /// Returns the suffix of its name.
    fn name(self) -> &'static str {
        match self {
            Self::Slots => "slots",
            Self::Ids => "ids",
            Self::Samples => "samples",
            Self::Joined => "joined",
            Self::Named => "named",
            Self::Vertices => "vertices",
            Self::Parts => "parts",
            Self::Found => "found",
            Self::Grouped => "grouped",
        }
    }
}

/// The number of rows that are sent to a server at a time; smaller for tables with sets.
const SENT: i64 = 1000;
const SETS_SENT: i64 = 50;

impl Spread<'_> {
    pub(super) fn name(&self, table: Table) -> String {
        format!("neardup_{}_{}", self.token, table.name())
    }

    pub(super) fn place(&self, table: Table) -> Place {
        self.home.beside(self.name(table))
    }

    /// Returns the number of partitions of a table that has some.
    pub(super) fn partitions(&self) -> usize {
        self.parts.unwrap_or(self.servers.len())
    }

    /// Returns the place of the partition with this number: the number of a server, or of a part.
    /// Numbers start at 0.
    pub(super) fn partition(&self, table: Table, n: usize) -> Place {
        self.home.beside(format!("{}_{}", self.name(table), n + 1))
    }

    /// Returns the places of a table and of its partitions.
    pub(super) fn places(&self, table: Table) -> Vec<Place> {
        let partitions = if definitions::spread_by(table).is_some() { self.partitions() } else { 0 };
        [self.place(table)].into_iter().chain((0..partitions).map(|n| self.partition(table, n))).collect()
    }

    /// Returns the place of a table of one step.
    pub(super) fn scratch(&self, scratch: Scratch) -> Place {
        self.home.beside(format!("neardup_{}_{}", self.token, scratch.name()))
    }

    /// Returns the places of all tables that may exist locally.
    pub(super) fn all(&self) -> Vec<Place> {
        let scratch = Scratch::ALL.map(|scratch| self.scratch(scratch));
        Table::ALL.iter().flat_map(|&table| self.places(table)).chain(scratch).collect()
    }

    /// Locks all existing local working tables, and checks that they belong to the caller. Those
    /// that sessions share are locked when they are used.
    pub(super) fn lock(&self) -> Result<()> {
        if self.parts.is_some() {
            return Ok(());
        }
        for place in self.all() {
            if let Some(oid) = place.relation()? {
                own::open(oid, self.owned.caller)?;
            }
        }
        Ok(())
    }

    /// Opens a local table as the call made it. Returns its name, quoted for SQL text, and its OID.
    pub(super) fn open(&self, table: Table) -> Result<(String, Oid)> {
        let columns = self.columns(table);
        let place = self.place(table);
        if !self.has_partitions(table) {
            return self.owned.open(&place, self.keyed(table, own::TABLE), columns);
        }
        let (name, oid) = self.owned.open(&place, self.keyed(table, own::PARTITIONED), columns)?;
        let mut partitions = Vec::new();
        for part in 0..self.parts.unwrap_or(0) {
            partitions.push(self.open_part(table, part)?.1);
        }
        for (n, server) in self.servers.iter().enumerate() {
            let (partition, of) = self.owned.open(&self.partition(table, n), own::FOREIGN, columns)?;
            let home = self.requests.home(server)?;
            if !catalog::stands_for(of, &server.name, &home, &self.name(table))?.holds()? {
                return Err(own::refused(&partition, "is not as near_duplicates_into made it"));
            }
            partitions.push(of);
        }
        if !catalog::has_partitions(oid, &partitions).holds()? {
            return Err(own::refused(&name, "has partitions that near_duplicates_into did not make"));
        }
        Ok((name, oid))
    }

    /// Opens one of the parts of a table that sessions share.
    pub(super) fn open_part(&self, table: Table, part: usize) -> Result<(String, Oid)> {
        let form = self.keyed(table, own::PARTITION);
        self.owned.open(&self.partition(table, part), form, self.columns(table))
    }

    /// Reports whether the tables are plain tables of this server, because some of them are kept.
    pub(super) fn is_plain(&self) -> bool {
        self.update && self.citus.is_none() && self.servers.is_empty()
    }

    /// Returns the form of a table that may have a key.
    fn keyed(&self, table: Table, form: Form) -> Form {
        let has_key = (self.parts.is_some() || self.is_plain()) && table == Table::Sets;
        Form { indexes: if has_key { own::NUMBERED } else { &[] }, ..form }
    }

    /// Makes a table without rows that sessions share.
    fn make_in_parts(&self, table: Table, name: &str) -> Result<()> {
        let columns = self.owned.types.sql(self.columns(table));
        definitions::create_in_parts(table, name, &columns)
            .iter()
            .try_for_each(|statement| statement.run().map(|_| ()))?;
        let partitions = if definitions::spread_by(table).is_some() { self.partitions() } else { 0 };
        for part in 0..partitions {
            let place = self.partition(table, part).qualified()?;
            definitions::create_part(table, name, &place, part as i64).run()?;
        }
        Ok(())
    }

    /// Reports whether the rows of a table are in partitions.
    pub(super) fn has_partitions(&self, table: Table) -> bool {
        self.citus.is_none() && !self.is_plain() && definitions::spread_by(table).is_some()
    }

    /// Returns the table that has each set once, in Citus.
    pub(super) fn of_sets(&self) -> Table {
        if self.members_have_sets { Table::Members } else { Table::Sets }
    }

    pub(super) fn columns(&self, table: Table) -> &'static [Column] {
        if self.citus.is_some() {
            citus::columns(table, self.members_have_sets)
        } else if self.parts.is_some() {
            definitions::columns_in_parts(table)
        } else {
            definitions::columns(table)
        }
    }

    /// Counts the rows of a table.
    pub(super) fn count(&self, table: Table) -> Result<Count> {
        let place = self.place(table);
        if place.relation()?.is_none() {
            return Ok(Count::Missing);
        }
        if self.has_partitions(table) {
            let mut rows = 0;
            for (n, server) in self.servers.iter().enumerate() {
                // A foreign table may exist even if its remote table does not.
                if self.partition(table, n).relation()?.is_none()
                    || !self.requests.has(server, &self.name(table))?
                {
                    return Ok(Count::Missing);
                }
                // Each server counts its own rows, instead of sending them.
                rows += self.requests.count(server, &self.name(table))?;
            }
            self.open(table)?;
            return Ok(Count::Rows(rows));
        }
        let (name, oid) = self.open(table)?;
        let rows = definitions::count(&name, oid).number()?;
        Ok(Count::Rows(rows.unwrap_or_default()))
    }

    /// Makes a table without rows, in `parts` parts. Rows with sets are fetched `fetched` at a
    /// time.
    pub(super) fn make(&self, table: Table, parts: i64, fetched: i64) -> Result<()> {
        let place = self.place(table);
        let name = place.qualified()?;
        self.drop_place(&place)?;
        if let Some(layout) = self.citus {
            return self.make_in_shards(layout, table, &name);
        }
        if self.parts.is_some() {
            return self.make_in_parts(table, &name);
        }
        let columns = self.owned.types.sql(self.columns(table));
        let key = if self.update && table == Table::Sets { ", PRIMARY KEY (n)" } else { "" };
        let Some(by) = definitions::spread_by(table).filter(|_| !self.is_plain()) else {
            return definitions::create_kept(&name, &format!("{columns}{key}")).run().map(|_| ());
        };
        let far_name = self.name(table);
        for server in self.servers {
            self.requests.create(server, &far_name, &format!("{columns}{key}"))?;
        }
        let ranges = (table == Table::Routes).then_some(parts);
        definitions::create_spread(&name, &columns, by, ranges.is_some()).run()?;
        let rows = match table {
            // Each row that is fetched holds the candidates of a whole part.
            Table::Routes => (1, SENT),
            // This applies until the size of sets is known.
            Table::Sets => (SETS_SENT, SETS_SENT),
            Table::Halves => (fetched, fetched.min(SETS_SENT)),
            // For a join of two tables on a server, postgres_fdw uses the greater of their two
            // numbers.
            _ => (fetched, SENT),
        };
        for (n, server) in self.servers.iter().enumerate() {
            let home = self.requests.home(server)?;
            let partition = definitions::Partition {
                name: &self.partition(table, n).qualified()?,
                server: &quote_identifier(&server.name)?,
                schema: &home,
                far_name: &far_name,
                number: (n, self.servers.len()),
                rows,
            };
            definitions::create_partition(&name, partition, ranges).run()?;
        }
        Ok(())
    }

    /// Sets how many sets are fetched at a time.
    pub(super) fn fetch_sets(&self, rows: i64) -> Result<()> {
        for n in 0..self.servers.len() {
            definitions::fetch(&self.partition(Table::Sets, n).qualified()?, rows).run()?;
        }
        Ok(())
    }

    /// Reports whether any local working tables are left.
    pub(super) fn is_left(&self) -> Result<bool> {
        for place in self.all() {
            if place.relation()?.is_some() {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Makes a table without rows in shards.
    fn make_in_shards(&self, layout: &CitusLayout, table: Table, name: &str) -> Result<()> {
        let place = self.place(table);
        citus::create(name, &self.owned.types.sql(self.columns(table))).run()?;
        let mut incompressible = citus::incompressible(table).to_vec();
        if table == Table::Members && self.members_have_sets {
            incompressible.push("set");
        }
        citus::uncompressed(name, &incompressible).iter().try_for_each(|of| of.run().map(|_| ()))?;
        // All tables that are distributed by numbers of sets are colocated with the sets; parts are
        // distributed independently.
        let like = match table {
            Table::Known => return layout.spread_by_ids(&place, "id", self.owned.types.id.1),
            Table::Seen | Table::Changes => Some(Table::Known),
            Table::Stored | Table::Routed => None,
            Table::Routes if self.update => Some(Table::Routed),
            _ if self.update => Some(Table::Stored),
            Table::Sets | Table::Routes => None,
            Table::Members => Some(Table::Sets),
            _ => Some(Table::Members),
        };
        let like = like.map(|like| self.place(like).qualified()).transpose()?;
        layout.spread(&place, citus::spread_by(table), like.as_deref())
    }

    /// Makes a table of one step, in place of a table that was left behind, and colocated with the
    /// table `like`. Returns its name and its OID.
    pub(super) fn make_scratch(
        &self,
        scratch: Scratch,
        columns: &[Column],
        by: &str,
        like: Option<Table>,
    ) -> Result<(String, Oid)> {
        let place = self.scratch(scratch);
        let name = place.qualified()?;
        self.drop_scratch(scratch)?;
        citus::create(&name, &self.owned.types.sql(columns)).run()?;
        if scratch == Scratch::Joined {
            citus::uncompressed(&name, &["ids"]).iter().try_for_each(|of| of.run().map(|_| ()))?;
        }
        if let Some(layout) = self.citus {
            let like = like.map(|like| self.place(like).qualified()).transpose()?;
            layout.spread(&place, Some(by), like.as_deref())?;
        }
        self.owned.open(&place, own::TABLE, columns)
    }

    /// Opens the existing table of shards and their keys.
    pub(super) fn open_slots(&self) -> Result<(String, Oid)> {
        self.owned.open(&self.scratch(Scratch::Slots), own::TABLE, SLOTS)
    }

    /// Drops a table of one step, if it exists.
    pub(super) fn drop_scratch(&self, scratch: Scratch) -> Result<()> {
        self.drop_place(&self.scratch(scratch))
    }

    /// Drops a table that is no longer read.
    pub(super) fn drop_one(&self, table: Table) -> Result<()> {
        self.drop_place(&self.place(table))
    }

    fn drop_place(&self, place: &Place) -> Result<()> {
        let Some(oid) = place.relation()? else { return Ok(()) };
        match own::open(oid, self.owned.caller)? {
            Some(table) => definitions::drop(&[table.name]).run().map(|_| ()),
            None => Ok(()),
        }
    }
}
