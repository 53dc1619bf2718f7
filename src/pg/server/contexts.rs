//! Memory contexts of the server: work in one, and what is made for one row.

use std::ffi::CStr;

use pgrx::{PgMemoryContexts, pg_sys};

use super::error::Result;

/// Runs work in a memory context.
///
/// # Safety
/// The context outlives what work makes in it.
pub(crate) unsafe fn in_context<T>(context: pg_sys::MemoryContext, work: impl FnOnce() -> T) -> T {
    // SAFETY: the caller's promise; an error resets the current context anyway.
    unsafe {
        let before = pg_sys::CurrentMemoryContext;
        pg_sys::CurrentMemoryContext = context;
        let value = work();
        pg_sys::CurrentMemoryContext = before;
        value
    }
}

/// Makes a memory context below another one.
pub(crate) fn new_context(above: pg_sys::MemoryContext, name: &'static CStr) -> pg_sys::MemoryContext {
    // SAFETY: the name outlives the context, and a context its parent.
    unsafe {
        pg_sys::AllocSetContextCreateInternal(
            above,
            name.as_ptr(),
            pg_sys::ALLOCSET_SMALL_MINSIZE as usize,
            pg_sys::ALLOCSET_SMALL_INITSIZE as usize,
            pg_sys::ALLOCSET_DEFAULT_MAXSIZE as usize,
        )
    }
}

/// The memory of what is made for one row, until the next row.
pub(crate) struct RowMemory(Option<PgMemoryContexts>);

impl RowMemory {
    /// Makes an empty memory.
    pub(crate) fn new(name: &'static str) -> Self {
        Self(Some(PgMemoryContexts::new(name)))
    }

    /// Does work for a row in this memory. Nothing of the row before is needed any more.
    pub(crate) fn make<T>(&mut self, work: impl FnOnce() -> Result<T>) -> Result<T> {
        let mut context = self.0.take().unwrap_or_else(|| PgMemoryContexts::new("neardup: a row"));
        // SAFETY: only what was made for the row before is freed.
        let made = unsafe {
            context.reset();
            context.switch_to(|_| work())
        };
        match &made {
            Ok(_) => self.0 = Some(context),
            // The error may be in the context, which is freed with its parent.
            Err(_) => std::mem::forget(context),
        }
        made
    }
}
