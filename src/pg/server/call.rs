//! Arguments and results of functions that SQL calls, and the C entry points of these functions.

use std::borrow::Cow;
use std::cell::Cell;
use std::ffi::CStr;

use pgrx::fcinfo::{pg_getarg, pg_getarg_datum};
use pgrx::{FromDatum, IntoDatum, PgSqlErrorCode, pg_sys};

use super::error::{Result, SqlError, catch};
use super::executor::OnDrop;
use super::{encoding, settings};
use neardup_core::allowance::Allowance;
use neardup_core::memory;

/// Declares C functions that SQL calls, as rows `name: body;`, where the body is a function from a
/// [`FunctionCall`] to a result with a datum. A function is within the setting `neardup.memory`, or
/// else its row says `within` what ([`Within`]). Beside each of them is the function that says that
/// it uses the version 1 calling convention.
macro_rules! sql_functions {
    (@within) => { $crate::pg::server::call::Within::Setting };
    (@within $within:ident) => { $crate::pg::server::call::Within::$within };
    ($($(#[$doc:meta])* $symbol:ident $(, within $within:ident)?: $body:expr;)*) => {$(
        const _: () = {
            #[unsafe(export_name = concat!("pg_finfo_", stringify!($symbol)))]
            extern "C" fn info() -> &'static pgrx::pg_sys::Pg_finfo_record {
                static INFO: pgrx::pg_sys::Pg_finfo_record = pgrx::pg_sys::Pg_finfo_record { api_version: 1 };
                &INFO
            }
        };

        $(#[$doc])*
        ///
        /// # Safety
        /// Called by the server's function manager only.
        #[unsafe(no_mangle)]
        pub(crate) unsafe extern "C-unwind" fn $symbol(info: pgrx::pg_sys::FunctionCallInfo) -> pgrx::pg_sys::Datum {
            let body: fn($crate::pg::server::call::FunctionCall) -> $crate::pg::server::error::Result<pgrx::pg_sys::Datum> = $body;
            let within = $crate::pg::server::call::sql_functions!(@within $($within)?);
            // SAFETY: the outermost frame of a call.
            unsafe { $crate::pg::server::guard::guard(|| $crate::pg::server::call::FunctionCall::new(info).run(within, body)) }
        }
    )*};
}
pub(crate) use sql_functions;

/// How much memory a call may hold, so that no call has no limit.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Within {
    /// What `neardup.memory` says. So is every function that reads a table.
    Setting,
    /// As much as the calls may that it makes by statements: it holds no data itself.
    ItsCalls,
    /// Some times the arguments, because the function is IMMUTABLE and reads nothing else; the
    /// state of an aggregate has an allowance of its own.
    Arguments,
    /// What `maintenance_work_mem` says: work on an index counts what it holds itself.
    Maintenance,
}

thread_local! {
    /// The allowance of the call that runs.
    static ALLOWANCE: Cell<Option<Allowance>> = const { Cell::new(None) };
}

/// A call of a function by the server.
#[derive(Debug, Clone, Copy)]
pub(crate) struct FunctionCall {
    /// The call as the server describes it.
    pub info: pg_sys::FunctionCallInfo,
}

impl FunctionCall {
    /// Wraps the call that `info` describes. Used only in [`sql_functions!`], with the value that
    /// the server passed.
    pub(crate) fn new(info: pg_sys::FunctionCallInfo) -> Self {
        Self { info }
    }

    /// Runs the body of the function, which may hold as much memory as `within` says.
    pub(crate) fn run(
        self,
        within: Within,
        body: fn(Self) -> Result<pg_sys::Datum>,
    ) -> Result<pg_sys::Datum> {
        let bytes = match within {
            // The allowance is that of the rows, which hold it.
            _ if self.is_for_next_row() => None,
            Within::Setting => Some(settings::memory()),
            Within::ItsCalls => Some(0),
            Within::Arguments | Within::Maintenance => None,
        };
        // That of the call that made this one.
        let outer = Cell::new(ALLOWANCE.replace(bytes.map(Allowance::new)));
        let _restored = OnDrop(|| ALLOWANCE.set(outer.take()));
        body(self)
    }

    /// Takes the allowance of the call, for rows that go on after it.
    pub(crate) fn take_allowance(self) -> Option<Allowance> {
        ALLOWANCE.take()
    }

    /// Reports whether the server asks for the next row of a set that an earlier call has begun.
    fn is_for_next_row(self) -> bool {
        // SAFETY: `flinfo` is set by the function manager.
        unsafe { (*(*self.info).flinfo).fn_retset && !(*(*self.info).flinfo).fn_extra.is_null() }
    }

    /// Returns the number of arguments that SQL declares.
    pub(crate) fn count(self) -> usize {
        // SAFETY: `info` came from the function manager.
        unsafe { (*self.info).nargs as usize }
    }

    /// Ends the call with an error if SQL definitions that are older than the library declare no
    /// argument `n`.
    fn check_place(self, n: usize) {
        if n >= self.count() {
            declared_otherwise(format!(
                "a function has {} arguments in SQL, more in its library",
                self.count()
            ))
            .raise();
        }
    }

    /// Returns argument `n`, counted from 0, or `None` if it is NULL. `T` is the type in the SQL
    /// declaration.
    pub(crate) fn get<T: FromDatum>(self, n: usize) -> Option<T> {
        self.check_place(n);
        // SAFETY: `info` came from the function manager, and our SQL declares this argument.
        unsafe { pg_getarg(self.info, n) }
    }

    /// Returns argument `n`, which must not be NULL.
    pub(crate) fn need<T: FromDatum>(self, n: usize, name: &str) -> Result<T> {
        self.get(n).ok_or_else(|| is_null(name))
    }

    /// Returns argument `n`, which must be an integer of at least 0.
    pub(crate) fn whole(self, n: usize, name: &'static str) -> Result<u32> {
        let value = self.need::<i32>(n, name)?;
        u32::try_from(value).map_err(|_| {
            let allowed = "a whole number of at least 0";
            neardup_core::error::Error::Parameter { name, value: value.to_string(), allowed }.into()
        })
    }

    /// Returns argument `n` as a datum, or `None` if it is NULL.
    pub(crate) fn datum(self, n: usize) -> Option<pg_sys::Datum> {
        self.check_place(n);
        // SAFETY: as in `get`.
        unsafe { pg_getarg_datum(self.info, n) }
    }

    /// Returns the bytes of argument `n`, whose type has a variable length, or `None` if the
    /// argument is NULL.
    pub(crate) fn bytes(self, n: usize) -> Option<&'static [u8]> {
        // SAFETY: the bytes live as long as the call; detoasted copies live in its memory context.
        self.datum(n).map(|datum| unsafe { varlena_bytes(datum) })
    }

    /// Returns the collation of the call.
    pub(crate) fn collation(self) -> pg_sys::Oid {
        // SAFETY: `info` came from the function manager.
        unsafe { (*self.info).fncollation }
    }

    /// Returns argument `n`, which is a text, or `None` if it is NULL.
    pub(crate) fn text(self, n: usize) -> Result<Option<Cow<'static, str>>> {
        // SAFETY: a text that lives as long as the call; detoasted copies live in its memory
        // context.
        self.datum(n).map(|datum| unsafe { self.text_in(n, datum) }).transpose()
    }

    /// Returns a value of argument `n` as a text.
    ///
    /// # Safety
    /// `datum` is a text that lives as long as the call.
    pub(crate) unsafe fn text_in(self, n: usize, datum: pg_sys::Datum) -> Result<Cow<'static, str>> {
        // SAFETY: the caller's promise.
        let bytes = unsafe { varlena_bytes(datum) };
        encoding::to_utf8(bytes)?.ok_or_else(|| argument_not_utf8(n))
    }

    /// Returns argument `n`, which names something, or `None` if it is NULL. Errors and statements
    /// quote it, so it may not be as long as a document.
    pub(crate) fn name(self, n: usize) -> Result<Option<Cow<'static, str>>> {
        const LONGEST: usize = 16 << 10;
        let text = self.text(n)?;
        match text.as_ref().map(|text| text.len()).filter(|&length| length > LONGEST) {
            None => Ok(text),
            Some(length) => Err(too_long(&format!("argument {}", n + 1), length, LONGEST)),
        }
    }

    /// Returns argument `n`, which is a JSON value, or `None` if it is NULL.
    pub(crate) fn json(self, n: usize, name: &str) -> Result<Option<serde_json::Value>> {
        const LONGEST: usize = 48 << 10;
        /// A value takes at most this many times the bytes of its text.
        const TIMES: usize = 64;
        let Some(datum) = self.datum(n) else { return Ok(None) };
        // SAFETY: a jsonb, whose output is a C string.
        let json =
            unsafe { CStr::from_ptr(pg_sys::OidOutputFunctionCall(pg_sys::F_JSONB_OUT.into(), datum)) };
        let json = encoding::long_text(json)?;
        if json.len() > LONGEST {
            return Err(too_long(name, json.len(), LONGEST));
        }
        memory::with_room(TIMES * json.len(), "reading arguments", || serde_json::from_str(&json))?
            .map(Some)
            .map_err(|error| SqlError::parameter(format!("{name} cannot be read: {error}")))
    }

    /// Returns the first two arguments as texts, or `None` if one of them is NULL.
    pub(crate) fn two_texts(self) -> Result<Option<[Cow<'static, str>; 2]>> {
        Ok(self.text(0)?.zip(self.text(1)?).map(|(a, b)| [a, b]))
    }

    /// Reports whether the statement has argument `n`, or if `unless_literal` is set, has it as
    /// something other than a constant. The server puts the defaults of missing arguments into the
    /// call as constants that have no place in the statement.
    pub(crate) fn is_given(self, n: usize, unless_literal: bool) -> bool {
        // SAFETY: `flinfo` is set by the function manager; the expression of a call is null or a
        // node, and a call of a function has its arguments in a list.
        unsafe {
            let call: *const pg_sys::FuncExpr = (*(*self.info).flinfo).fn_expr.cast();
            if call.is_null() || (*call).xpr.type_ != pg_sys::NodeTag::T_FuncExpr {
                return false;
            }
            let arguments = (*call).args;
            if arguments.is_null() || (*arguments).length as usize <= n {
                return false;
            }
            let argument: *const pg_sys::Const = pg_sys::list_nth(arguments, n as i32).cast();
            (*argument).xpr.type_ != pg_sys::NodeTag::T_Const || !unless_literal && (*argument).location >= 0
        }
    }

    /// Returns the type of argument `n` in this call, for polymorphic arguments.
    pub(crate) fn type_of(self, n: i32) -> pg_sys::Oid {
        // SAFETY: `flinfo` is set by the function manager.
        unsafe { pg_sys::get_fn_expr_argtype((*self.info).flinfo, n) }
    }

    /// Makes the datum of a result. `None` becomes NULL.
    pub(crate) fn give<T: IntoDatum>(self, value: Option<T>) -> pg_sys::Datum {
        match value.and_then(IntoDatum::into_datum) {
            Some(datum) => datum,
            None => {
                // SAFETY: `info` came from the function manager.
                unsafe { (*self.info).isnull = true };
                pg_sys::Datum::null()
            }
        }
    }
}

/// Returns the error for argument `n`, which should be text.
pub(crate) fn argument_not_utf8(n: usize) -> SqlError {
    SqlError::not_utf8(format_args!("argument {}", n + 1))
}

fn too_long(what: &str, bytes: usize, longest: usize) -> SqlError {
    let message = format!("{what} has {bytes} bytes, and may have {longest}");
    SqlError::new(PgSqlErrorCode::ERRCODE_PROGRAM_LIMIT_EXCEEDED, message)
}

/// Returns the error for an argument that must not be NULL.
pub(crate) fn is_null(name: &str) -> SqlError {
    SqlError::new(PgSqlErrorCode::ERRCODE_NULL_VALUE_NOT_ALLOWED, format!("{name} must not be NULL"))
}

/// Returns the error for a function whose SQL declaration does not fit the library, because one of
/// the two is older.
pub(crate) fn declared_otherwise(message: String) -> SqlError {
    SqlError::new(PgSqlErrorCode::ERRCODE_INVALID_FUNCTION_DEFINITION, message).hint(
        "The extension and its library are of different versions: ALTER EXTENSION neardup UPDATE; or, where that was done, start a new session.",
    )
}

/// Reports whether a value is stored out of line, in the TOAST table of its table.
///
/// # Safety
/// The pointer points to a varlena.
pub(crate) unsafe fn is_on_disk(varlena: *const pg_sys::varlena) -> bool {
    // SAFETY: the caller's promise.
    unsafe {
        pgrx::varatt_is_1b_e(varlena)
            && u32::from(pgrx::vartag_1b_e(varlena)) == pg_sys::vartag_external::VARTAG_ONDISK
    }
}

// Declared without the guard of pgrx, which ends all sessions if the server has no memory for the
// copy of an error about memory (`catch` leaves room for it).
unsafe extern "C-unwind" {
    fn pg_detoast_datum_packed(datum: *mut pg_sys::varlena) -> *mut pg_sys::varlena;
}

/// Returns the bytes of a text, bytea or similar value.
///
/// # Safety
/// `datum` is a varlena that stays in place as long as the bytes are used; a detoasted copy is made
/// in the current memory context.
pub(crate) unsafe fn varlena_bytes<'a>(datum: pg_sys::Datum) -> &'a [u8] {
    // SAFETY: the caller's promise.
    unsafe {
        let mut varlena: *mut pg_sys::varlena = datum.cast_mut_ptr();
        if pgrx::varatt_is_1b_e(varlena) || pgrx::varatt_is_4b_c(varlena) {
            varlena = catch(|| pg_detoast_datum_packed(varlena)).unwrap_or_else(|error| error.raise());
        }
        std::slice::from_raw_parts(pgrx::vardata_any(varlena).cast(), pgrx::varsize_any_exhdr(varlena))
    }
}

/// Returns the bytes of a varlena as they are, with their header.
///
/// # Safety
/// `datum` is a varlena that stays in place as long as the bytes are used.
pub(crate) unsafe fn raw_bytes<'a>(datum: pg_sys::Datum) -> &'a [u8] {
    // SAFETY: the caller's promise.
    unsafe {
        let varlena: *const pg_sys::varlena = datum.cast_mut_ptr();
        std::slice::from_raw_parts(varlena.cast(), pgrx::varsize_any(varlena))
    }
}
