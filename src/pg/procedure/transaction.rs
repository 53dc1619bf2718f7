//! A transaction of a procedure that commits: what it may begin in, and its turns.

use std::fmt::Debug;

use pgrx::PgSqlErrorCode;
use pgrx::check_for_interrupts;
use pgrx::pg_sys;

use crate::pg::server::error::{Result, SqlError};
use crate::turns::Turns;

/// Refuses to begin where the procedure could not commit: in a transaction block, a function or a subtransaction. `what` names
/// what it commits; `example` is a call that works.
pub(crate) fn check_can_commit(procedure: &str, what: &str, example: &str) -> Result<()> {
    // SAFETY: reads the state of the transaction, and whether the caller of the function can commit it.
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

/// A transaction that plans its next steps from what it knows.
pub(crate) trait Transaction {
    /// What it knows.
    type State: Clone + PartialEq;
    /// A step.
    type Step: Debug;
    /// What ends it.
    type End;

    /// What it knows so far.
    fn state(&self) -> &Self::State;

    /// The next steps, up to the first one that tells what the others depend on, or to the end.
    fn plan(state: &Self::State) -> Vec<Self::Step>;

    /// Carries out a step, and tells the end of the transaction if it is that.
    fn carry_out(&mut self, step: Self::Step) -> Result<Option<Self::End>>;
}

/// Plans and carries out, until the transaction is done. A plan that follows from a state that there was before is an error
/// ([`Turns`]), and interrupts are checked at each turn.
pub(crate) fn run<T: Transaction>(transaction: &mut T) -> Result<T::End> {
    let mut turns = Turns::default();
    loop {
        check_for_interrupts!();
        for step in turns.plan(transaction.state(), T::plan)? {
            if let Some(end) = transaction.carry_out(step)? {
                return Ok(end);
            }
        }
    }
}
