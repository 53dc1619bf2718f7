//! The functions of libpq by which a connection is made and used without waiting inside of it.
//!
//! A function that waits within libpq hears neither a cancel nor a timeout while the other side is
//! silent, and before version 16 all connections of the server's own modules do. The symbols are
//! those of the library that `postgres_fdw` is linked with: whoever has a server of postgres_fdw
//! has it, and neardup itself needs no further library.

#![expect(non_snake_case, reason = "names of another library")]

use std::cell::OnceCell;
use std::ffi::{CStr, c_char, c_int, c_void};

use pgrx::{PgSqlErrorCode, pg_sys};

use crate::pg::server::error::{Result, SqlError};

/// `PGconn` and `PGresult`.
pub(crate) type Handle = *mut c_void;

/// `PQconninfoOption` of libpq-fe.h.
#[repr(C)]
pub(crate) struct KnownOption {
    pub keyword: *const c_char,
    envvar: *const c_char,
    compiled: *const c_char,
    val: *const c_char,
    label: *const c_char,
    pub dispchar: *const c_char,
    dispsize: c_int,
}

macro_rules! functions {
    ($($name:ident: fn($($argument:ty),*) $(-> $result:ty)?;)*) => {
        /// The functions, by their names in libpq.
        #[derive(Clone, Copy)]
        pub(crate) struct Libpq {
            $(pub $name: unsafe extern "C" fn($($argument),*) $(-> $result)?,)*
        }

        impl Libpq {
            /// Looks the functions up.
            ///
            /// # Safety
            /// `library` is a loaded library that is linked with libpq.
            unsafe fn look_up(library: *mut c_void) -> Option<Self> {
                $(
                    // SAFETY: the caller's promise; a function of libpq has the type that
                    // libpq-fe.h has declared since version 12, a pointer has the size of another
                    // one.
                    let $name = unsafe {
                        let name = concat!(stringify!($name), "\0");
                        let found = pg_sys::lookup_external_function(library, name.as_ptr().cast());
                        if found.is_null() {
                            return None;
                        }
                        std::mem::transmute::<*mut c_void, unsafe extern "C" fn($($argument),*) $(-> $result)?>(found)
                    };
                )*
                Some(Self { $($name),* })
            }
        }
    };
}

functions! {
    PQconndefaults: fn() -> *mut KnownOption;
    PQconninfoFree: fn(*mut KnownOption);
    PQconnectStartParams: fn(*const *const c_char, *const *const c_char, c_int) -> Handle;
    PQconnectPoll: fn(Handle) -> c_int;
    PQconnectionUsedPassword: fn(Handle) -> c_int;
    PQstatus: fn(Handle) -> c_int;
    PQsocket: fn(Handle) -> c_int;
    PQerrorMessage: fn(Handle) -> *const c_char;
    PQsetnonblocking: fn(Handle, c_int) -> c_int;
    PQsetNoticeProcessor: fn(Handle, unsafe extern "C" fn(*mut c_void, *const c_char), *mut c_void) -> *const c_void;
    PQsendQuery: fn(Handle, *const c_char) -> c_int;
    PQflush: fn(Handle) -> c_int;
    PQconsumeInput: fn(Handle) -> c_int;
    PQisBusy: fn(Handle) -> c_int;
    PQgetResult: fn(Handle) -> Handle;
    PQresultStatus: fn(Handle) -> c_int;
    PQresultErrorField: fn(Handle, c_int) -> *const c_char;
    PQntuples: fn(Handle) -> c_int;
    PQnfields: fn(Handle) -> c_int;
    PQgetisnull: fn(Handle, c_int, c_int) -> c_int;
    PQgetvalue: fn(Handle, c_int, c_int) -> *const c_char;
    PQclear: fn(Handle);
    PQfinish: fn(Handle);
}

thread_local! {
    static FOUND: OnceCell<Libpq> = const { OnceCell::new() };
}

impl Libpq {
    /// Returns the functions, which are looked up once in a session.
    pub(crate) fn get() -> Result<Self> {
        if let Some(found) = FOUND.with(|found| found.get().copied()) {
            return Ok(found);
        }
        let (library, function): (&CStr, &CStr) = (c"$libdir/postgres_fdw", c"postgres_fdw_handler");
        // SAFETY: C strings; loads a library of the server's, or raises an error.
        let found = unsafe {
            let mut handle = std::ptr::null_mut();
            pg_sys::load_external_function(library.as_ptr(), function.as_ptr(), true, &raw mut handle);
            Self::look_up(handle)
        };
        let found = found.ok_or_else(|| {
            let message = "the library of postgres_fdw is not linked with a libpq that neardup knows";
            SqlError::new(PgSqlErrorCode::ERRCODE_FEATURE_NOT_SUPPORTED, message)
        })?;
        Ok(FOUND.with(|cell| *cell.get_or_init(|| found)))
    }
}
