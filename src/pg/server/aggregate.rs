//! States of aggregates, which are kept between the calls of the aggregates' functions.

use pgrx::pg_sys::{self, Datum};
use pgrx::{PgMemoryContexts, PgSqlErrorCode};

use super::call::FunctionCall;
use super::error::{Result, SqlError};
use super::guard::guard;
use super::temp_file::drop_abandoned;

/// The state of an aggregate in a memory context of the server.
struct AggregateState<S> {
    now: Now<S>,
    /// The context, which lives as long as the state.
    context: pg_sys::MemoryContext,
}

enum Now<S> {
    Rows(S),
    /// The result, which takes the place of what it is made of: a rescan of groups that the server
    /// has kept asks for it again. `None` is NULL.
    Result(Option<Datum>),
    Ended,
}

impl<S> AggregateState<S> {
    /// Takes the state out.
    fn take(&mut self) -> Option<S> {
        match std::mem::replace(&mut self.now, Now::Ended) {
            Now::Rows(state) => Some(state),
            Now::Result(_) | Now::Ended => None,
        }
    }
}

impl<S> Drop for AggregateState<S> {
    /// If the state is still there when its memory context is freed, the query ended with an error.
    fn drop(&mut self) {
        drop_abandoned(self.take());
    }
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
                let held = memory.leak_and_drop_on_delete(AggregateState { now: Now::Rows(made), context });
                let datum = Datum::from(held);
                pg_sys::AggRegisterCallback(call.info, Some(end::<S>), datum);
                datum
            }
        };
        let held: *mut AggregateState<S> = datum.cast_mut_ptr();
        match &mut (*held).now {
            Now::Rows(state) => Ok((datum, state)),
            Now::Result(_) | Now::Ended => Err(ended()),
        }
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
        if let Now::Result(result) = (*held).now {
            result
        } else {
            let state = (*held).take().ok_or_else(ended)?;
            let result = PgMemoryContexts::For((*held).context).switch_to(|_| make(Some(state)))?;
            (*held).now = Now::Result(result);
            result
        }
    };
    Ok(call.give(result))
}

fn ended() -> SqlError {
    SqlError::new(PgSqlErrorCode::ERRCODE_INTERNAL_ERROR, "the aggregate has ended")
}

/// Called when the aggregate or the query ends without an error.
unsafe extern "C-unwind" fn end<S>(argument: Datum) {
    // SAFETY: the outermost frame; registered with the held state, and called before the memory
    // context is freed.
    unsafe {
        guard(|| {
            let held: *mut AggregateState<S> = argument.cast_mut_ptr();
            drop((*held).take());
            Ok(())
        });
    }
}
