//! A transaction of a procedure that commits: the check that it may begin, and its planning loop.

use std::fmt::Debug;

use pgrx::PgSqlErrorCode;
use pgrx::check_for_interrupts;
use pgrx::pg_sys;

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

/// A transaction that plans its next steps from its state.
pub(crate) trait Transaction {
    /// The state that plans follow from.
    type State: Clone + PartialEq;
    /// A step.
    type Step: Debug;
    /// The result that ends the transaction.
    type End;

    /// Returns the current state.
    fn state(&self) -> &Self::State;

    /// Plans the next steps, up to the first step on whose result the following steps depend, or up
    /// to the end.
    fn plan(state: &Self::State) -> Vec<Self::Step>;

    /// Carries out a step, and returns the result of the transaction if the step ends it.
    fn carry_out(&mut self, step: Self::Step) -> Result<Option<Self::End>>;
}

/// Plans and carries out steps until the transaction is done. It is an error if a plan is to be
/// made for a state that was planned for before ([`Turns`]). Interrupts are checked at each turn.
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
