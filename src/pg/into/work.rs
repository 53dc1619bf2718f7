//! The data that the steps of a transaction work with.

use pgrx::PgSqlErrorCode;
use pgrx::pg_sys::Oid;

use super::arguments::{CallArguments, InParts, JoinArguments};
use super::columns::Types;
use super::log::LogTable;
use super::own::Owned;
use super::place::Place;
use super::servers::Requests;
use super::spread::Spread;
use super::statements::fill::{Join, Named};
use crate::into::state::State;
use crate::into::step::Table;
use crate::pg::procedure::session_lock::SessionLock;
use crate::pg::procedure::statement::Statement;
use crate::pg::query::as_user::Extension;
use crate::pg::server::error::{Result, SqlError};

/// A transaction of a call.
pub(super) struct Work {
    /// The arguments of the call.
    pub arguments: CallArguments,
    /// The extension.
    pub extension: Extension,
    /// The role that calls.
    pub caller: Oid,
    /// The arguments of the join.
    pub asked: JoinArguments,
    /// The place for the pairs.
    pub result: Place,
    /// The place for the clusters, if they are wanted.
    pub clusters: Option<Place>,
    /// The place of the log.
    pub log_place: Place,
    /// The existing log.
    pub log: Option<LogTable>,
    /// The requests to servers.
    pub requests: Requests,
    /// The backend for the place of the working tables, which fills them.
    pub backend: &'static dyn Backend,
    /// The time when the call began.
    pub began: i64,
    /// The lock of the call.
    pub lock: SessionLock,
    /// What the session does of a stage that sessions share.
    pub part: Part,
    /// The parts that the transaction joins on other nodes.
    pub group: Group,
    /// The number of bytes in rows that moved between shards in this transaction.
    pub moved: i64,
    /// The number of distinct candidates, if the table of candidates contains some of them more
    /// than once.
    pub distinct: Option<i64>,
    /// The state so far.
    pub state: State,
}

/// What a transaction does of a stage that sessions share.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Part {
    /// The number of the part that the transaction has taken, or waits for.
    pub number: u16,
    /// Set while the transaction has the turn to decide what is done next.
    pub has_turn: bool,
}

/// A group of parts that a transaction joins on other nodes.
#[derive(Debug, Clone, Default)]
pub(super) struct Group {
    /// The numbers of the parts.
    pub parts: Vec<i64>,
    /// The number of parts that were done before.
    pub done: usize,
    /// The number of all parts.
    pub all: usize,
}

/// A way to fill the working tables in their place: on servers, in shards of Citus, or on this
/// server.
pub(super) trait Backend {
    /// Makes the further tables that are needed to fill the table of the documents' sets, after
    /// that table was made.
    fn complete_sets(&self, _work: &Work) -> Result<()> {
        Ok(())
    }

    /// Returns the query that reads the documents into the table of sets, and the OID of a further
    /// table that the query reads, if there is one.
    fn read_documents(&self, work: &Work, sets: &str) -> Result<(String, Option<Oid>)>;

    /// Fills a table from other working tables.
    fn fill(&self, work: &mut Work, table: Table) -> Result<()>;

    /// Looks for ids that are NULL or in two rows, and returns an id that is in two rows.
    fn check_ids(&self, work: &mut Work) -> Result<Option<String>>;

    /// Returns the statement that counts the pairs of equal sets.
    fn count_equal(&self, members: Named<'_>) -> Statement;

    /// Counts all pairs; the count may stop at one more than the caller wants.
    fn count_pairs(&self, work: &mut Work) -> Result<()>;

    /// Fills the table of pairs, and returns the number of pairs.
    fn fill_result(&self, work: &Work, result: Named<'_>) -> Result<i64>;
}

/// Returns the error for a step without a log; no plan has such a step.
fn nothing() -> SqlError {
    SqlError::parameter("a step of near_duplicates_into has no log to work by")
}

/// Returns the error for a table that cannot be filled in this way or at this stage; no plan has
/// such a step.
pub(super) fn not_here(table: Table) -> SqlError {
    let message = format!("near_duplicates_into has no way to fill its table of {} here", table.name());
    SqlError::new(PgSqlErrorCode::ERRCODE_INTERNAL_ERROR, message)
        .hint("This is a bug of neardup: please report it with the call.")
}

impl Work {
    /// Returns the working tables of the call in the log.
    pub(super) fn spread(&self) -> Result<Spread<'_>> {
        let Self { result, log, requests, .. } = self;
        let call = log.as_ref().and_then(|log| log.call.as_ref());
        let (token, arguments) = call.ok_or_else(nothing)?;
        let (servers, citus) = (arguments.servers.as_slice(), arguments.citus.as_ref());
        let parts = arguments.is_shared().then(|| usize::try_from(arguments.parts).unwrap_or(1));
        Ok(Spread {
            home: result,
            token,
            servers,
            requests,
            citus,
            parts,
            update: arguments.update.is_some(),
            members_have_sets: arguments.members_have_sets(),
            owned: self.owned(),
        })
    }

    /// Returns the owner of the call's tables, and the types of their columns.
    pub(super) fn owned(&self) -> Owned<'_> {
        let id = (self.asked.id.as_str(), self.asked.id_oid);
        let passages = self.arguments.passages;
        Owned { caller: self.caller, types: Types { id, passages } }
    }

    /// Returns the log.
    pub(super) fn log(&self) -> Result<&LogTable> {
        self.log.as_ref().ok_or_else(nothing)
    }

    /// Returns the join in parts.
    pub(super) fn in_parts(&self) -> Result<&InParts> {
        self.asked.in_parts.as_ref().ok_or_else(nothing)
    }

    /// Returns the parts of statements that describe the join.
    pub(super) fn join(&self) -> Result<Join> {
        let InParts { parts, carried, .. } = self.in_parts()?;
        Ok(Join::new(&self.extension.internal, *parts, carried))
    }
}
