//! A transaction of a procedure that commits: the check that it may begin, and its planning loop.

use std::fmt::Debug;

use pgrx::PgSqlErrorCode;
use pgrx::check_for_interrupts;
use pgrx::pg_sys;

use crate::pg::query::relation::Relation;
use crate::pg::server::call::FunctionCall;
use crate::pg::server::error::{Result, SqlError};
use neardup_core::turns::Turns;

/// Refuses to begin where the procedure could not commit: in a transaction block, a function or a
/// subtransaction. `what` names what it commits; `example` is a call that works.
pub(crate) fn check_can_commit(procedure: &str, what: &str, example: &str) -> Result<()> {
    // SAFETY: reads the state of the transaction, and whether the caller of the function can commit
    // it.
    if unsafe { !pg_sys::IsSubTransaction() && pg_sys::SPI_inside_nonatomic_context() } {
        return Ok(());
    }
    let message = format!(
        "invalid transaction termination: {procedure} commits its {what}, so it cannot run inside a transaction"
    );
    Err(SqlError::new(PgSqlErrorCode::ERRCODE_INVALID_TRANSACTION_TERMINATION, message).hint(format!(
        "Call it by itself, with autocommit on (psycopg: connection.autocommit = True; JDBC: setAutoCommit(true)): {example}"
    )))
}

/// Plans and carries out steps until one of them returns the result of the transaction. A plan has
/// the next steps, up to the first one on whose result the following steps depend, or up to the
/// end. It is an error if a plan is to be made for a state that was planned for before ([`Turns`]).
/// Interrupts are checked at each turn.
pub(crate) fn run<W, S: Clone + PartialEq, T: Debug, E>(
    work: &mut W,
    state: impl Fn(&W) -> &S,
    plan: impl Fn(&S) -> Vec<T>,
    carry_out: impl Fn(&mut W, T) -> Result<Option<E>>,
) -> Result<E> {
    let mut turns = Turns::default();
    loop {
        check_for_interrupts!();
        for step in turns.plan(state(work), &plan)? {
            if let Some(end) = carry_out(work, step)? {
                return Ok(end);
            }
        }
    }
}

/// Opens the relation that is argument 0 of a procedure, `docs`. Fails on a standby; `primary` says
/// what to do there, and `example` is a call that works.
pub(crate) fn open_docs(
    call: FunctionCall,
    procedure: &str,
    primary: &'static str,
    example: &str,
) -> Result<Relation> {
    // SAFETY: reads the state of the server.
    if unsafe { pg_sys::RecoveryInProgress() } {
        let message = format!("cannot execute {procedure} during recovery");
        let code = PgSqlErrorCode::ERRCODE_READ_ONLY_SQL_TRANSACTION;
        return Err(SqlError::new(code, message).hint(primary));
    }
    let docs: Result<pg_sys::Oid> = call.need(0, "docs");
    docs.and_then(Relation::open).map_err(|error| error.hint(example.to_owned()))
}
