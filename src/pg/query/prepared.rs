//! A single SQL statement with its parameters, and statements that are prepared and checked, in
//! sessions of SPI.

use std::ffi::{CString, c_char, c_int};

use pgrx::pg_sys::{self, Datum};
use pgrx::{PgList, PgSqlErrorCode};

use super::columns::check_columns;
use crate::pg::server::contexts::in_context;
use crate::pg::server::encoding::{self, c_string};
use crate::pg::server::error::{Result, SqlError, catch, is_failing};

// Parsing a statement may run user-defined functions, whose errors must be returned with all
// details.
unsafe extern "C-unwind" {
    fn SPI_prepare_cursor(
        source: *const c_char,
        parameters: c_int,
        types: *mut pg_sys::Oid,
        options: c_int,
    ) -> pg_sys::SPIPlanPtr;
}

/// A session of SPI. After an error the server itself cleans up.
#[derive(Debug)]
struct Session;

impl Session {
    fn new() -> Result<Self> {
        // SAFETY: connects once and finishes in drop.
        match in_session(|| unsafe { pg_sys::SPI_connect() }) {
            code if code == pg_sys::SPI_OK_CONNECT as i32 => Ok(Self),
            _ => Err(SqlError::new(PgSqlErrorCode::ERRCODE_INTERNAL_ERROR, "SPI_connect failed")),
        }
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        if !cleans_up() {
            // SAFETY: connected by us, once; sessions end in the reverse of the order in which they
            // began.
            in_session(|| unsafe { pg_sys::SPI_finish() });
        }
    }
}

/// Reports whether the server is about to drop all sessions and cursors with the transaction.
pub(super) fn cleans_up() -> bool {
    is_failing() || std::thread::panicking()
}

/// Calls SPI, which changes the memory context, and restores the caller's context afterwards.
pub(super) fn in_session<T>(call: impl FnOnce() -> T) -> T {
    // SAFETY: the context of the caller, which is valid.
    unsafe { in_context(pg_sys::CurrentMemoryContext, call) }
}

/// A prepared statement in its own SPI session. The end of the session frees the statement.
#[derive(Debug)]
pub(super) struct Prepared {
    /// The plan, as SPI stores it.
    pub plan: pg_sys::SPIPlanPtr,
    /// The values of the statement's parameters.
    pub values: Vec<Datum>,
    /// The null flags in the form that the server expects: `n` for NULL.
    pub nulls: Vec<c_char>,
    /// Set if the statement must not change anything.
    pub read_only: bool,
    /// The text of the statement, in the server's encoding.
    pub sql: CString,
    relations: Vec<pg_sys::Oid>,
    _session: Session,
}

impl Prepared {
    /// Prepares a statement.
    pub(super) fn new(query: &Query<'_>) -> Result<Self> {
        let &Query { sql, parameters, relations, read_only } = query;
        let sql = encoding::to_server(sql)?.to_own()?;
        let mut types: Vec<pg_sys::Oid> = parameters.iter().map(|&(of, _)| of).collect();
        let values = parameters.iter().map(|&(_, value)| value.unwrap_or(Datum::null())).collect();
        let null = |value: Option<Datum>| if value.is_none() { b'n' } else { b' ' };
        let nulls = parameters.iter().map(|&(_, value)| null(value).cast_signed()).collect();
        let session = Session::new()?;
        let (source, count) = (sql.as_ptr(), types.len() as c_int);
        let options = pg_sys::CURSOR_OPT_NO_SCROLL as i32;
        // SAFETY: a C string and as many types as the call says; both are copied.
        let plan = in_session(|| unsafe {
            catch(|| SPI_prepare_cursor(source, count, types.as_mut_ptr(), options))
        })?;
        let relations = relations.to_vec();
        Ok(Self { plan, values, nulls, read_only, sql, relations, _session: session })
    }

    /// Checks that there is a single statement, that it refers to the locked relations, and that it
    /// returns columns with the types `types`.
    pub(super) fn check(&self, types: &[pg_sys::Oid]) -> Result<()> {
        // SAFETY: the source lives as long as the plan; its list contains OIDs.
        unsafe {
            let source = self.source()?;
            let here = (*source).relationOids;
            if let Some(&gone) = self.relations.iter().find(|&&oid| !pg_sys::list_member_oid(here, oid)) {
                return Err(no_longer(gone));
            }
            check_columns((*source).resultDesc, types)
        }
    }

    /// Checks that there is a single statement, a SELECT.
    pub(super) fn select(&self) -> Result<()> {
        // SAFETY: the source lives as long as the plan; its list contains queries.
        let is_select = unsafe {
            let queries = PgList::<pg_sys::Query>::from_pg((*self.source()?).query_list);
            let is_select = |query: *mut pg_sys::Query| (*query).commandType == pg_sys::CmdType::CMD_SELECT;
            queries.len() == 1 && queries.get_ptr(0).is_some_and(is_select)
        };
        if is_select { Ok(()) } else { Err(not_one("the query is not a SELECT")) }
    }

    /// Returns the server's plan source for the only statement.
    pub(super) fn source(&self) -> Result<*mut pg_sys::CachedPlanSource> {
        // SAFETY: a list, or null, that lives as long as the plan.
        unsafe {
            let sources = PgList::from_pg(pg_sys::SPI_plan_get_plan_sources(self.plan));
            match (sources.get_ptr(0), sources.len()) {
                (None, _) => Err(not_one("the query is empty")),
                (Some(source), 1) => Ok(source),
                (_, count) => Err(not_one(&format!("the query has {count} statements, not one"))),
            }
        }
    }
}

fn not_one(message: &str) -> SqlError {
    SqlError::new(PgSqlErrorCode::ERRCODE_SYNTAX_ERROR, message)
        .hint("Give one query that reads, as SELECT, VALUES, TABLE or WITH begins it.")
}

/// Returns the error for a locked relation to which a statement no longer refers.
fn no_longer(relation: pg_sys::Oid) -> SqlError {
    // SAFETY: any OID may be looked up.
    let name = unsafe {
        let name = pg_sys::get_rel_name(relation);
        if name.is_null() { relation.to_u32().to_string() } else { c_string(name) }
    };
    let message = format!("\"{name}\" is no longer the relation that was locked");
    SqlError::new(PgSqlErrorCode::ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE, message)
        .hint("It, or its schema, was renamed meanwhile: try again.")
}

/// A parameter, `$1` and so on: its type, and a value or NULL.
pub(crate) type Parameter = (pg_sys::Oid, Option<Datum>);

/// A single SQL statement.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Query<'a> {
    /// The text.
    pub sql: &'a str,
    /// The types and values of the statement's parameters.
    pub parameters: &'a [Parameter],
    /// Relations that the statement names and that the caller has locked. Whether the names still
    /// refer to these relations is checked, because the owner of a schema can rename relations.
    pub relations: &'a [pg_sys::Oid],
    /// Set if the statement uses the snapshot of the calling statement and must not change
    /// anything.
    pub read_only: bool,
}

impl<'a> Query<'a> {
    /// Makes a statement that only reads, without parameters.
    pub(crate) fn new(sql: &'a str) -> Self {
        Self { sql, parameters: &[], relations: &[], read_only: true }
    }
}
