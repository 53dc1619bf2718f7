//! Working tables by the names that the log gives them, and where their rows are: here, or in partitions that are foreign
//! tables, each of a table on a server.

use pgrx::PgSqlErrorCode;
use pgrx::pg_sys::{self, Oid};

use super::log::check_functions;
use super::place::Place;
use super::servers::{Dblink, Server};
use super::statements::{catalog, definitions};
use crate::into::state::Count;
use crate::into::step::Table;
use crate::pg::jobs::tables::catalog::name_of;
use crate::pg::query::names::quote_identifier;
use crate::pg::server::error::{Result, SqlError};

/// The working tables of a call.
#[derive(Debug)]
pub(super) struct Spread<'a> {
    /// A place in the schema where they are.
    pub home: &'a Place,
    /// What their names have in common.
    pub token: &'a str,
    /// The servers.
    pub servers: &'a [Server],
    /// The way to them.
    pub dblink: &'a Dblink,
}

/// How many rows are sent to a server at a time: of tables with sets fewer.
const SENT: i64 = 1000;
const SETS_SENT: i64 = 50;

impl Spread<'_> {
    fn name(&self, table: Table) -> String {
        format!("neardup_{}_{}", self.token, table.name())
    }

    fn place(&self, table: Table) -> Place {
        self.home.beside(self.name(table))
    }

    /// The place of the partition on a server, by its number from 0 on.
    fn partition(&self, table: Table, n: usize) -> Place {
        self.home.beside(format!("{}_{}", self.name(table), n + 1))
    }

    /// The places of a table and of its partitions.
    fn places(&self, table: Table) -> Vec<Place> {
        let partitions = if definitions::spread_by(table).is_some() { self.servers.len() } else { 0 };
        [self.place(table)].into_iter().chain((0..partitions).map(|n| self.partition(table, n))).collect()
    }

    /// Locks all working tables that are here, and checks that they are the caller's own, and run no code of others.
    pub(super) fn lock(&self, caller: Oid) -> Result<()> {
        let mut here = Vec::new();
        for place in Table::ALL.iter().flat_map(|&table| self.places(table)) {
            if let Some(oid) = place.relation()? {
                // SAFETY: any number can be locked.
                unsafe { pg_sys::LockRelationOid(oid, pg_sys::AccessShareLock as i32) };
                here.push(oid);
            }
        }
        if here.is_empty() {
            return Ok(());
        }
        if let Some(strange) = catalog::strange(&here, caller).number()? {
            // The number of a relation.
            let name = name_of(Oid::from(strange as u32))?;
            let message = format!("{name} has the name of a working table, and is none of this role");
            return Err(SqlError::new(PgSqlErrorCode::ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE, message)
                .hint(format!("Rename it: ALTER TABLE {name} RENAME TO other;")));
        }
        check_functions(&here, caller)
    }

    /// A table that is here: its name as SQL text needs it, and its number.
    pub(super) fn open(&self, table: Table) -> Result<(String, Oid)> {
        let place = self.place(table);
        let name = place.qualified()?;
        match place.relation()? {
            Some(oid) => Ok((name, oid)),
            None => Err(SqlError::new(PgSqlErrorCode::ERRCODE_UNDEFINED_TABLE, format!("{name} is gone"))
                .hint("Call it again: what is lost is made anew.")),
        }
    }

    /// How many rows a table has.
    pub(super) fn count(&self, table: Table) -> Result<Count> {
        let place = self.place(table);
        let Some(oid) = place.relation()? else { return Ok(Count::Missing) };
        if definitions::spread_by(table).is_some() {
            for (n, server) in self.servers.iter().enumerate() {
                // A foreign table is there even where what it stands for is not.
                if self.partition(table, n).relation()?.is_none()
                    || !self.dblink.has(server, &self.name(table))?
                {
                    return Ok(Count::Missing);
                }
            }
        }
        let rows = definitions::count(&place.qualified()?, oid).number()?;
        Ok(Count::Rows(rows.unwrap_or_default()))
    }

    /// Makes a table without rows, for ids of a type, in so many parts; `fetched` rows with sets are fetched at a time.
    pub(super) fn make(
        &self,
        table: Table,
        (id, schema): (&str, &str),
        parts: i64,
        fetched: i64,
    ) -> Result<()> {
        let place = self.place(table);
        let name = place.qualified()?;
        if place.relation()?.is_some() {
            definitions::drop(std::slice::from_ref(&name)).run()?;
        }
        let columns = definitions::columns(table, id, schema);
        let Some(by) = definitions::spread_by(table) else {
            return definitions::create_here(&name, &columns).run().map(|_| ());
        };
        let far_name = self.name(table);
        for server in self.servers {
            self.dblink
                .run(server, &super::statements::remote::create(&server.table(&far_name)?, &columns))?;
        }
        let ranges = (table == Table::Routes).then_some(parts);
        definitions::create_spread(&name, &columns, by, ranges.is_some()).run()?;
        let rows = match table {
            // A row is what is found in a whole part.
            Table::Routes => (1, SENT),
            // Until it is known how large sets are.
            Table::Sets => (SETS_SENT, SETS_SENT),
            Table::Halves => (fetched, fetched.min(SETS_SENT)),
            // The server takes the greater number of two tables that it joins.
            _ => (fetched, SENT),
        };
        for (n, server) in self.servers.iter().enumerate() {
            let partition = definitions::Partition {
                name: &self.partition(table, n).qualified()?,
                server: &quote_identifier(&server.name)?,
                schema: &server.schema,
                far_name: &far_name,
                number: (n, self.servers.len()),
                rows,
            };
            definitions::create_partition(&name, partition, ranges).run()?;
        }
        Ok(())
    }

    /// Says how many sets are fetched at a time.
    pub(super) fn fetch_sets(&self, rows: i64) -> Result<()> {
        for n in 0..self.servers.len() {
            definitions::fetch(&self.partition(Table::Sets, n).qualified()?, rows).run()?;
        }
        Ok(())
    }

    /// Whether some are here.
    pub(super) fn is_left(&self) -> Result<bool> {
        for table in Table::ALL {
            if self.place(table).relation()?.is_some() {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Drops all: on servers first, as here it can be undone.
    pub(super) fn drop_all(&self) -> Result<()> {
        let spread = |table: &Table| definitions::spread_by(*table).is_some();
        let far: Vec<String> = Table::ALL.into_iter().filter(spread).map(|table| self.name(table)).collect();
        for server in self.servers {
            self.dblink.drop(server, &far)?;
        }
        let mut here = Vec::new();
        for table in Table::ALL {
            let place = self.place(table);
            if place.relation()?.is_some() {
                here.push(place.qualified()?);
            }
        }
        if here.is_empty() { Ok(()) } else { definitions::drop(&here).run().map(|_| ()) }
    }
}
