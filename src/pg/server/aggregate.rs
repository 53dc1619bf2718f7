//! States of aggregates, which are kept between the calls of the aggregates' functions.

use pgrx::pg_sys::{self, Datum};
use pgrx::{PgMemoryContexts, PgSqlErrorCode};

use super::call::FunctionCall;
use super::error::{Result, SqlError};
use super::temp_file::{Held, end_held};

/// The state of an aggregate in a memory context of the server.
struct AggregateState<S> {
    /// What the rows have made so far.
    rows: Held<S>,
    /// The result, which takes the place of what it is made of: a rescan of groups that the server
    /// has kept asks for it again. `Some(None)` is NULL.
    result: Option<Option<Datum>>,
    /// The context, which lives as long as the state.
    context: pg_sys::MemoryContext,
}

/// Returns the state in argument 0 of a transition function. If there is no state yet, makes it in
/// a memory context that lives as long as the state.
pub(crate) fn state<S: 'static>(
    call: FunctionCall,
    make: impl FnOnce() -> Result<S>,
) -> Result<(Datum, &'static mut S)> {
    let mut context = std::ptr::null_mut();
    // SAFETY: a call of the server.
    if unsafe { pg_sys::AggCheckCallContext(call.info, &raw mut context) } == 0 {
        return Err(SqlError::new(
            PgSqlErrorCode::ERRCODE_FEATURE_NOT_SUPPORTED,
            "this function is called by its aggregate only",
        ));
    }
    // SAFETY: only the server passes internal values, here the value that an earlier call of this
    // function returned. The state is dropped once: by the callback when the aggregate or the query
    // ends, or with the context after an error.
    unsafe {
        let datum = match call.datum(0) {
            Some(datum) => datum,
            None => {
                let mut memory = PgMemoryContexts::For(context);
                let made = memory.switch_to(|_| make())?;
                let state = AggregateState { rows: Held::new(made), result: None, context };
                let held = memory.leak_and_drop_on_delete(state);
                let rows = Datum::from(&raw mut (*held).rows);
                pg_sys::AggRegisterCallback(call.info, Some(end_held::<S>), rows);
                Datum::from(held)
            }
        };
        let held: *mut AggregateState<S> = datum.cast_mut_ptr();
        (*held).rows.get().map(|state| (datum, state)).ok_or_else(ended)
    }
}

/// Returns the result in a final function. `make` makes it of the state, if the aggregate had rows,
/// in a memory context that lives as long as the state: only once, however often the server asks
/// for it. Between two times it adds no rows, as the aggregates are declared with
/// `FINALFUNC_MODIFY = READ_WRITE`.
pub(crate) fn result<S: 'static>(
    call: FunctionCall,
    make: impl FnOnce(Option<S>) -> Result<Option<Datum>>,
) -> Result<Datum> {
    let Some(datum) = call.datum(0) else { return make(None).map(|result| call.give(result)) };
    let held: *mut AggregateState<S> = datum.cast_mut_ptr();
    // SAFETY: only the server passes internal values, here the value that `state` returned. While
    // the result is made, the server calls no function of the aggregate.
    let result = unsafe {
        if let Some(result) = (*held).result {
            result
        } else {
            let state = (*held).rows.take().ok_or_else(ended)?;
            let result = PgMemoryContexts::For((*held).context).switch_to(|_| make(Some(state)))?;
            (*held).result = Some(result);
            result
        }
    };
    Ok(call.give(result))
}

fn ended() -> SqlError {
    SqlError::new(PgSqlErrorCode::ERRCODE_INTERNAL_ERROR, "the aggregate has ended")
}
