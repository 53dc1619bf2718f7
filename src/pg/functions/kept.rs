//! Keeps what was made of an argument from one call of a function to the next, because most calls
//! have the same argument.

use pgrx::PgMemoryContexts;

use crate::pg::server::call::FunctionCall;
use crate::pg::server::error::Result;
use neardup_core::error::Error;
use neardup_core::memory;

/// An argument's bytes, and what was made of them.
struct KeptArgument<K> {
    bytes: Vec<u8>,
    made: K,
}

/// Calls `work` with what `make` makes of the bytes of an argument, which is reused if the previous
/// call had the same bytes. The first call with a given record of the function manager (`flinfo`)
/// keeps nothing in that record: a constraint check makes a new record for every two rows, and the
/// data in such a record lives as long as the statement.
///
/// All calls of one SQL function must use the same `K`.
pub(super) fn with_kept<K, T>(
    call: FunctionCall,
    bytes: &[u8],
    make: impl Fn(&[u8]) -> Result<K>,
    work: impl FnOnce(&mut K) -> Result<T>,
) -> Result<T> {
    static CALLED: u8 = 0;
    let called = (&raw const CALLED).cast_mut().cast();
    // SAFETY: `fn_extra` belongs to the called function and is null before its first call. From the
    // second call on, the value that it points to lives as long as the function manager's record,
    // which is longer than the call. No two calls with the same record run at once.
    let place: &mut Option<KeptArgument<K>> = unsafe {
        let function = (*call.info).flinfo;
        if (*function).fn_extra.is_null() {
            (*function).fn_extra = called;
            return work(&mut make(bytes)?);
        }
        if (*function).fn_extra == called {
            let mut memory = PgMemoryContexts::For((*function).fn_mcxt);
            (*function).fn_extra = memory.leak_and_drop_on_delete(None::<KeptArgument<K>>).cast();
        }
        &mut *(*function).fn_extra.cast()
    };
    if place.as_ref().is_none_or(|kept| kept.bytes != bytes) {
        *place = None;
        let mut own = Vec::new();
        memory::extend(&mut own, bytes, "keeping an argument")?;
        *place = Some(KeptArgument { bytes: own, made: make(bytes)? });
    }
    work(&mut place.as_mut().ok_or(Error::Source)?.made)
}
