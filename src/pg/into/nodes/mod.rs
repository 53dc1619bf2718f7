//! The nodes over which the rows of working tables are spread. They decide how a table is made and
//! under which settings a statement reaches the rows where they are; what a stage computes is the
//! same everywhere.
//!
//! A part is joined where its rows are. On a server of postgres_fdw
//! ([`servers`](super::statements::servers)) that is done by the statement that joins all parts,
//! which groups rows by part: with partition-wise aggregation, postgres_fdw ships the groups of
//! each server to it. In Citus ([`citus`](super::statements::citus)) the rows of a part are in one
//! shard, whose node joins it. [`connection`] is a request to a server with a deadline, by
//! [`libpq`] and the options that a [`mapping`] has.

pub(crate) mod connection;
mod libpq;
pub(crate) mod mapping;

use std::ffi::{CStr, CString};

use pgrx::pg_sys;

use crate::into::step::WorkingTable;
use crate::pg::into::statements::citus::CitusLayout;
use crate::pg::into::statements::servers::Server;
use crate::pg::query::as_user::set;
use crate::pg::server::settings;

/// Where the documents are, and so the working tables.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Nodes<'a> {
    /// On this server, in this number of parts that sessions share, or in one piece.
    Home(Option<usize>),
    /// On servers of postgres_fdw.
    Fdw(&'a [Server]),
    /// On the nodes of Citus.
    Citus(&'a CitusLayout),
}

impl<'a> Nodes<'a> {
    /// Returns the nodes of a join in this number of parts. Sessions do not share what is kept to
    /// bring a result up to date.
    pub(crate) fn new(
        servers: &'a [Server],
        citus: Option<&'a CitusLayout>,
        parts: i64,
        update: bool,
    ) -> Self {
        match citus {
            Some(layout) => Self::Citus(layout),
            None if !servers.is_empty() => Self::Fdw(servers),
            None => Self::Home((!update).then(|| usize::try_from(parts).unwrap_or(1))),
        }
    }

    /// Reports whether sessions share the tables.
    pub(crate) fn are_shared(self) -> bool {
        matches!(self, Self::Home(Some(_)))
    }

    /// Returns the servers of postgres_fdw.
    pub(crate) fn servers(self) -> &'a [Server] {
        if let Self::Fdw(servers) = self { servers } else { &[] }
    }

    /// Returns the layout, if the nodes are those of Citus.
    pub(crate) fn citus(self) -> Option<&'a CitusLayout> {
        if let Self::Citus(layout) = self { Some(layout) } else { None }
    }

    /// Applies the settings for the statements that fill a table, or the result if there is none:
    /// each runs where the rows are.
    pub(crate) fn reach(self, table: Option<WorkingTable>) {
        let on = |names: &[&CStr]| names.iter().for_each(|name| set(name, c"on"));
        let off = |names: &[&CStr]| names.iter().for_each(|name| set(name, c"off"));
        match self {
            Self::Citus(_) => on(&[c"citus.enable_repartitioned_insert_select"]),
            Self::Fdw(_) => {
                on(&[c"enable_partitionwise_aggregate", c"enable_partitionwise_join"]);
                // The local join methods are disabled so that the servers join, even if the planner
                // expects few rows.
                if matches!(table, Some(WorkingTable::Routes | WorkingTable::Halves | WorkingTable::Pairs)) {
                    off(&[c"enable_mergejoin", c"enable_hashjoin", c"enable_nestloop"]);
                }
            }
            Self::Home(None) => {}
            // Nothing counts the rows of the tables. The server would sort all members thrice for
            // the result; for the rows of the parts it would expect few members, and look each of
            // their sets up by the index, which is what each candidate has to do.
            Self::Home(Some(_)) => {
                set_memory();
                match table {
                    None => off(&[c"enable_mergejoin"]),
                    Some(WorkingTable::Routes) => off(&[c"enable_nestloop"]),
                    Some(WorkingTable::Pairs) => off(&[c"enable_mergejoin", c"enable_hashjoin"]),
                    Some(_) => {}
                }
            }
        }
    }
}

/// Sets the memory of sorts and hash tables, of which a statement has a few.
fn set_memory() {
    const STEPS: usize = 8;
    // SAFETY: an int that only this thread writes.
    let own = usize::try_from(unsafe { pg_sys::work_mem }).unwrap_or_default();
    let kilobytes = own.max(settings::memory() / STEPS / 1024).to_string();
    set(c"work_mem", &CString::new(kilobytes).unwrap_or_default());
}
