//! States of aggregates, which are kept between the calls of the aggregates' functions.

use pgrx::pg_sys::{self, Datum};
use pgrx::{PgMemoryContexts, PgSqlErrorCode};

use super::call::Call;
use super::error::{Result, SqlError};
use super::guard::guard;
use super::temp_file::drop_abandoned;

/// A state. It is taken out when the aggregate has its result or when the query ends.
struct Held<S>(Option<S>);

impl<S> Drop for Held<S> {
    /// If the state is still there when its memory context is freed, the query ended with an error.
    fn drop(&mut self) {
        drop_abandoned(self.0.take());
    }
}

/// Returns the state in argument 0 of a transition function. If there is no state yet, makes it in
/// a memory context that lives as long as the state.
pub(crate) fn state<S: 'static>(
    call: Call,
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
                let held = memory.leak_and_drop_on_delete(Held(Some(made)));
                let datum = Datum::from(held);
                pg_sys::AggRegisterCallback(call.info, Some(end::<S>), datum);
                datum
            }
        };
        let held: *mut Held<S> = datum.cast_mut_ptr();
        match &mut (*held).0 {
            Some(state) => Ok((datum, state)),
            None => Err(ended()),
        }
    }
}

/// Takes the state out in a final function. Returns `None` if the aggregate had no rows.
pub(crate) fn take<S: 'static>(call: Call) -> Result<Option<S>> {
    let Some(datum) = call.datum(0) else { return Ok(None) };
    let held: *mut Held<S> = datum.cast_mut_ptr();
    // SAFETY: only the server passes internal values, here the value that `state` returned.
    unsafe { (*held).0.take() }.map(Some).ok_or_else(ended)
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
            let held: *mut Held<S> = argument.cast_mut_ptr();
            drop((*held).0.take());
            Ok(())
        });
    }
}
