//! What a call keeps in its session from one of its transactions to the next, with its limits.

use std::cell::RefCell;

use crate::pg::server::error::{Result, SqlError};

/// What is kept of the call of this session.
#[derive(Debug, Default)]
pub(super) struct CallSession {
    /// When the call began, by which it is told from an earlier one.
    began: i64,
    /// Set if the call was found to be able to commit.
    pub is_checked: bool,
    /// The name of the procedure.
    pub procedure: &'static str,
    pub limits: CallLimits,
    /// Set once a transaction of the call was committed.
    pub has_begun: bool,
    /// The greatest number of steps that were done.
    pub steps: usize,
    /// How often a step failed since then.
    pub failures: i32,
    /// The seconds to wait before the next transaction.
    pub pause: f64,
    /// The servers that a transaction needs, and whether it needs the nodes of Citus.
    pub servers: Vec<String>,
    pub in_citus: bool,
    /// The number of the call of which the session does parts.
    pub joined: Option<u64>,
    /// Why the call ends, which is raised once its tables are dropped: the transaction that drops
    /// them must commit first.
    pub refusal: Option<SqlError>,
    /// Set if nothing is left to be dropped.
    pub is_settled: bool,
}

thread_local! {
    static SESSION: RefCell<CallSession> = RefCell::new(CallSession::default());
}

/// Reads or changes what is kept of the call that began at this time; nothing is, at first. What is
/// kept of an interrupted call is discarded.
pub(super) fn of_call<T>(began: i64, work: impl FnOnce(&mut CallSession) -> T) -> T {
    SESSION.with_borrow_mut(|session| {
        if session.began != began {
            *session = CallSession { began, ..CallSession::default() };
        }
        work(session)
    })
}

impl CallSession {
    /// Reports whether earlier transactions of the call left its tables to be dropped. Fails with
    /// the reason why the call ends once they are dropped.
    pub(super) fn is_refused(&mut self) -> Result<bool> {
        match self.refusal.take_if(|_| self.is_settled) {
            Some(error) => Err(error),
            None => Ok(self.refusal.is_some()),
        }
    }
}

/// How a call goes about its steps: how long it waits between two of them, how many parts are
/// joined at once, how long nodes may take, and how often a step is repeated.
#[derive(Debug, Clone, Copy)]
pub(super) struct CallLimits {
    /// The seconds to wait between two transactions.
    pub pause: f64,
    /// The number of parts that are joined at once on other nodes, or `None` if the call decides.
    pub at_once: Option<usize>,
    /// The milliseconds that a statement that other nodes take part in may take, or 0.
    pub node_timeout: i32,
    /// How often a step is repeated.
    pub retries: i32,
}

impl Default for CallLimits {
    fn default() -> Self {
        Self { pause: 0.0, at_once: None, node_timeout: 0, retries: 2 }
    }
}
