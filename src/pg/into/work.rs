//! What the steps of a transaction work with: the call, which stays as it is, and what the
//! transaction knows of the progress.

use std::fmt;

use pgrx::PgSqlErrorCode;
use pgrx::pg_sys::Oid;

use super::arguments::{CallArguments, InParts, JoinArguments, OutputTables};
use super::nodes::Nodes;
use super::statements::citus::CitusLayout;
use super::statements::definitions::first_number;
use super::statements::join::JoinStatements;
use super::statements::log::{LogTable, LoggedArguments};
use super::statements::servers::Requests;
use super::tables::own::Owned;
use super::tables::spread::SpreadTables;
use crate::into::state::CallFacts;
use crate::into::step::WorkingTable;
use crate::pg::procedure::definition::Types;
use crate::pg::procedure::session_lock::{LockedShare, SessionLock};
use crate::pg::procedure::statement::Statement;
use crate::pg::procedure::table::Table;
use crate::pg::query::as_user::Extension;
use crate::pg::server::error::{Result, SqlError};
use crate::pg::server::notices::notice;

/// A call of one of the procedures.
pub(super) struct IntoCall {
    /// The arguments of the call.
    pub arguments: CallArguments,
    /// The extension.
    pub extension: Extension,
    /// The role that calls.
    pub caller: Oid,
    /// The arguments of the join.
    pub asked: JoinArguments,
    /// The places for the pairs, for the clusters and for the log.
    pub places: OutputTables,
    /// The requests to servers.
    pub requests: Requests,
    /// The time when the call began.
    pub began: i64,
    /// The lock of the call.
    pub lock: SessionLock,
}

/// A transaction of a call.
pub(super) struct CallWork {
    /// The call.
    pub call: IntoCall,
    /// The existing log.
    pub log: Option<LogTable>,
    /// The parts of a stage that the transaction does.
    pub claimed: Claimed,
    /// Set while the transaction has the turn to decide what sessions do next.
    pub has_turn: bool,
    /// The number of bytes in rows that moved between shards in this transaction.
    pub moved: i64,
    /// The number of distinct candidates, if the table of candidates contains some of them more
    /// than once.
    pub distinct: Option<i64>,
    /// An id that two documents have. If there is none although a check failed, two sets have one
    /// number.
    pub double_id: Option<String>,
    /// The state so far.
    pub state: CallFacts,
}

/// The parts of a stage that a transaction has taken, or the part that it waits for.
#[derive(Debug, Clone, Default)]
pub(super) struct Claimed {
    /// The numbers of the parts.
    pub parts: Vec<i64>,
    /// The number of parts that were done before.
    pub done: usize,
    /// The number of all parts.
    pub all: usize,
}

impl Claimed {
    /// Returns the number of the only part.
    pub(super) fn part(&self) -> u16 {
        self.parts.first().and_then(|&part| u16::try_from(part).ok()).unwrap_or_default()
    }

    /// Returns the condition that a row `p` of the parts is in one of these, or nothing if they are
    /// all parts.
    pub(super) fn condition(&self) -> String {
        if self.parts.len() == self.all {
            return String::new();
        }
        let parts: Vec<String> = self.parts.iter().map(i64::to_string).collect();
        format!(" WHERE p.part = ANY ('{{{}}}'::int4[])", parts.join(","))
    }
}

/// Returns the error for a step without a log; no plan has such a step.
fn nothing() -> SqlError {
    SqlError::parameter("a step of near_duplicates_into has no log to work by")
}

/// Returns the error for a table that cannot be filled in this way or at this stage; no plan has
/// such a step.
pub(super) fn not_here(table: &str) -> SqlError {
    let message = format!("near_duplicates_into has no way to fill its table of {table} here");
    SqlError::new(PgSqlErrorCode::ERRCODE_INTERNAL_ERROR, message)
        .hint("This is a bug of neardup: please report it with the call.")
}

impl IntoCall {
    /// Tells the caller what the procedure does.
    pub(super) fn tell(&self, what: impl fmt::Display) {
        notice(format!("{}: {what}", self.arguments.name()));
    }

    /// Returns the layout of the nodes of Citus that hold the documents.
    pub(super) fn citus(&self) -> Option<&CitusLayout> {
        self.asked.logged()?.citus.as_ref()
    }
}

impl CallWork {
    /// Returns the working tables of the call in the log.
    pub(super) fn spread(&self) -> Result<SpreadTables<'_>> {
        let LogTable { call, progress, .. } = self.log()?;
        let (token, arguments) = call.as_ref().ok_or_else(nothing)?;
        Ok(SpreadTables {
            home: &self.call.places.pairs,
            token,
            nodes: arguments.nodes(),
            requests: &self.call.requests,
            update: arguments.update.is_some(),
            members_have_sets: arguments.members_have_sets(),
            owned: self.owned(),
            parts: arguments.parts,
            fetched: progress.sizes.rows_a_fetch(progress.expected(WorkingTable::Sets)),
        })
    }

    /// Returns the nodes that hold the working tables.
    pub(super) fn nodes(&self) -> Result<Nodes<'_>> {
        Ok(self.spread()?.nodes)
    }

    /// Opens working tables, each as the call made it.
    pub(super) fn open<const N: usize>(&self, tables: [WorkingTable; N]) -> Result<[Table; N]> {
        let spread = self.spread()?;
        let opened = tables.into_iter().map(|table| spread.open(table)).collect::<Result<Vec<Table>>>()?;
        opened.try_into().map_err(|_| nothing())
    }

    /// Returns the owner of the call's tables, and the types of their columns.
    pub(super) fn owned(&self) -> Owned<'_> {
        let IntoCall { asked, arguments, caller, .. } = &self.call;
        let id = (asked.id.as_str(), asked.id_oid);
        Owned { caller: *caller, types: Types { id, passages: arguments.others.passages } }
    }

    /// Returns the log.
    pub(super) fn log(&self) -> Result<&LogTable> {
        self.log.as_ref().ok_or_else(nothing)
    }

    /// Returns the join in parts.
    pub(super) fn in_parts(&self) -> Result<&InParts> {
        self.call.asked.in_parts.as_ref().ok_or_else(nothing)
    }

    /// Reports whether a result is brought up to date.
    pub(super) fn is_update(&self) -> bool {
        self.call.asked.is_update()
    }

    /// Returns the number below that of the first document which this call reads. In Citus, numbers
    /// say nothing about the time.
    pub(super) fn first_new(&self) -> Result<i64> {
        Ok(first_number(self.log()?.kept.calls))
    }

    /// Returns the parts of statements that describe the join. Documents that are known make no new
    /// candidates with each other.
    pub(super) fn join(&self) -> Result<JoinStatements> {
        let LoggedArguments { parts, carried, .. } = &self.in_parts()?.logged;
        let join = JoinStatements::new(&self.call.extension.internal, *parts, carried);
        let by_numbers = self.is_update() && self.nodes()?.citus().is_none();
        Ok(JoinStatements { known_before: by_numbers.then(|| self.first_new()).transpose()?, ..join })
    }

    /// Lets other sessions decide, because all tables that the part needs are locked.
    pub(super) fn give_turn(&mut self) {
        if std::mem::take(&mut self.has_turn) {
            LockedShare::Turn.give_back(self.call.lock);
        }
    }

    /// Runs a statement on tables that are open, and returns the number of rows.
    pub(super) fn run(&mut self, statement: &Statement) -> Result<i64> {
        self.give_turn();
        statement.run()
    }
}
