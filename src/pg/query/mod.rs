//! SQL of ours, or of users, as one statement that is prepared and checked before anything of it is run or read: it is
//! about the relations that were locked, and its columns have the types that are read.

pub mod as_user;
pub mod attempt;
pub mod by_number;
pub mod cursor;
pub mod decode;
pub mod ids;
pub mod operators;
pub mod relation;
pub mod transition;
pub mod written_ids;

use std::ffi::{CString, c_char, c_int, c_long};

use pgrx::PgSqlErrorCode;
use pgrx::pg_sys::{self, Datum};

use super::server::encoding::{self, c_string};
use super::server::error::{Result, SqlError, catch, is_failing};
use relation::type_name;

// The query may run anybody's functions: errors of these are to come back whole.
unsafe extern "C-unwind" {
    fn SPI_prepare_cursor(
        source: *const c_char,
        parameters: c_int,
        types: *mut pg_sys::Oid,
        options: c_int,
    ) -> pg_sys::SPIPlanPtr;
    fn SPI_execute_plan(
        plan: pg_sys::SPIPlanPtr,
        values: *mut Datum,
        nulls: *const c_char,
        read_only: bool,
        count: c_long,
    ) -> c_int;
}

/// What `$1` and so on stand for: a type, and a value of it or NULL.
pub type Parameter = (pg_sys::Oid, Option<Datum>);

/// One statement of SQL.
#[derive(Debug, Clone, Copy)]
pub struct Query<'a> {
    /// Its text.
    pub sql: &'a str,
    /// What its parameters stand for.
    pub parameters: &'a [Parameter],
    /// Relations that it names and that the caller has locked. A name may lead to another one than before: whoever
    /// owns a schema can rename it.
    pub relations: &'a [pg_sys::Oid],
    /// Whether it sees what the calling statement sees, and may change nothing.
    pub read_only: bool,
}

/// What came of a statement.
#[derive(Debug)]
pub struct Done<const N: usize> {
    /// How many rows it gave, or changed.
    pub rows: u64,
    /// The first row that it gave, copied into the memory context of the caller.
    pub first: Option<[Option<Datum>; N]>,
}

impl<'a> Query<'a> {
    /// A text that reads, without parameters.
    pub fn new(sql: &'a str) -> Self {
        Self { sql, parameters: &[], relations: &[], read_only: true }
    }

    /// Runs the statement to its end. It gives columns of exactly these types, and few rows: all are in memory at once.
    pub fn run<const N: usize>(&self, types: [pg_sys::Oid; N]) -> Result<Done<N>> {
        let mut prepared = Prepared::new(self)?;
        prepared.check(&types)?;
        let Prepared { plan, values, nulls, read_only, .. } = &mut prepared;
        // SAFETY: the plan has as many parameters, and all is there until it was run.
        let code = in_session(|| unsafe {
            catch(|| SPI_execute_plan(*plan, values.as_mut_ptr(), nulls.as_ptr(), *read_only, 0))
        })?;
        if code < 0 {
            return Err(SqlError::new(
                PgSqlErrorCode::ERRCODE_FEATURE_NOT_SUPPORTED,
                "a statement that cannot be run inside a function",
            ));
        }
        // It may have been parsed anew.
        prepared.check(&types)?;
        // SAFETY: set by the call; the table is null or holds `numvals` rows of columns that are checked first.
        unsafe {
            let (rows, table) = (pg_sys::SPI_processed, pg_sys::SPI_tuptable);
            if table.is_null() {
                return Ok(Done { rows, first: None });
            }
            let descriptor = (*table).tupdesc;
            check_columns(descriptor, &types)?;
            let first = ((*table).numvals > 0).then(|| values_of::<N>(table, 0));
            let attributes = (*descriptor).attrs.as_slice(N);
            let copied = |column: usize, value| copy(value, &attributes[column]);
            let first =
                first.map(|row| std::array::from_fn(|column| row[column].map(|value| copied(column, value))));
            Ok(Done { rows, first })
        }
    }

    /// The statement without what ends it, if it is exactly one SELECT, so that it can stand in parentheses.
    pub fn only_select(&self) -> Result<String> {
        let prepared = Prepared::new(self)?;
        let text = prepared.sql.as_bytes();
        prepared.select()?;
        // SAFETY: a source that has a query keeps its tree, which says where in the text the statement is.
        let (start, length) = unsafe {
            let tree = (*prepared.source()?).raw_parse_tree;
            ((*tree).stmt_location.max(0) as usize, (*tree).stmt_len as usize)
        };
        let rest = text.get(start..).unwrap_or_default();
        // No length means the rest.
        let statement = if length == 0 { rest } else { rest.get(..length).unwrap_or(rest) };
        let statement = encoding::to_utf8(statement)?.ok_or_else(|| {
            let message = "the query is not valid UTF-8";
            SqlError::new(PgSqlErrorCode::ERRCODE_CHARACTER_NOT_IN_REPERTOIRE, message)
        })?;
        Ok(statement.into_owned())
    }
}

/// A copy of a value, in the current memory context.
///
/// # Safety
/// The value is one of the column.
unsafe fn copy(value: Datum, column: &pg_sys::FormData_pg_attribute) -> Datum {
    // SAFETY: the caller's promise: it is kept in the datum itself, or is a varlena (-1), a C string (-2), or of a fixed
    // length.
    unsafe {
        match column.attlen {
            _ if column.attbyval => value,
            -1 => Datum::from(pg_sys::pg_detoast_datum_copy(value.cast_mut_ptr())),
            -2 => Datum::from(pg_sys::pstrdup(value.cast_mut_ptr())),
            length => {
                let copy: *mut u8 = pg_sys::palloc(length as usize).cast();
                copy.copy_from_nonoverlapping(value.cast_mut_ptr(), length as usize);
                Datum::from(copy)
            }
        }
    }
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
            // SAFETY: connected by us, once; sessions end in the order in which they began, the last one first.
            in_session(|| unsafe { pg_sys::SPI_finish() });
        }
    }
}

/// Whether the server is about to drop all sessions and cursors with the transaction.
pub(crate) fn cleans_up() -> bool {
    is_failing() || std::thread::panicking()
}

/// Calls SPI, which changes the memory context: afterwards that of the caller is the current one again.
pub(crate) fn in_session<T>(call: impl FnOnce() -> T) -> T {
    // SAFETY: a variable of the server, whose value is valid here.
    unsafe {
        let before = pg_sys::CurrentMemoryContext;
        let result = call();
        pg_sys::CurrentMemoryContext = before;
        result
    }
}

/// A prepared statement in a session of SPI of its own, whose end frees it.
#[derive(Debug)]
pub(crate) struct Prepared {
    pub plan: pg_sys::SPIPlanPtr,
    pub values: Vec<Datum>,
    /// As the server wants them: `n` for NULL.
    pub nulls: Vec<c_char>,
    pub read_only: bool,
    sql: CString,
    relations: Vec<pg_sys::Oid>,
    _session: Session,
}

impl Prepared {
    pub fn new(query: &Query<'_>) -> Result<Self> {
        let &Query { sql, parameters, relations, read_only } = query;
        let sql = encoding::to_server(sql)?;
        let mut types: Vec<pg_sys::Oid> = parameters.iter().map(|&(of, _)| of).collect();
        let values = parameters.iter().map(|&(_, value)| value.unwrap_or(Datum::null())).collect();
        let null = |value: Option<Datum>| if value.is_none() { b'n' } else { b' ' };
        let nulls = parameters.iter().map(|&(_, value)| null(value).cast_signed()).collect();
        let session = Session::new()?;
        let (source, count) = (sql.as_ptr(), types.len() as c_int);
        let options = pg_sys::CURSOR_OPT_NO_SCROLL as i32;
        // SAFETY: a C string and as many types as it is told; both are copied.
        let plan = in_session(|| unsafe {
            catch(|| SPI_prepare_cursor(source, count, types.as_mut_ptr(), options))
        })?;
        let relations = relations.to_vec();
        Ok(Self { plan, values, nulls, read_only, sql, relations, _session: session })
    }

    /// Checks that it is one statement, about the relations that are locked, and gives columns of these types.
    pub fn check(&self, types: &[pg_sys::Oid]) -> Result<()> {
        // SAFETY: the source lives as long as the plan; its list is one of OIDs.
        unsafe {
            let source = self.source()?;
            let here = (*source).relationOids;
            if let Some(&gone) = self.relations.iter().find(|&&oid| !pg_sys::list_member_oid(here, oid)) {
                return Err(no_longer(gone));
            }
            check_columns((*source).resultDesc, types)
        }
    }

    /// Checks that it is one SELECT.
    pub fn select(&self) -> Result<()> {
        // SAFETY: the source lives as long as the plan; its list is one of queries.
        let is_select = unsafe {
            let queries = (*self.source()?).query_list;
            match if queries.is_null() { 0 } else { (*queries).length } {
                1 => {
                    let query: *mut pg_sys::Query = (*(*queries).elements).ptr_value.cast();
                    (*query).commandType == pg_sys::CmdType::CMD_SELECT
                }
                _ => false,
            }
        };
        if is_select { Ok(()) } else { Err(not_one("the query is not a SELECT")) }
    }

    /// What the server keeps of the only statement.
    fn source(&self) -> Result<*mut pg_sys::CachedPlanSource> {
        // SAFETY: a list, or null, that lives as long as the plan.
        unsafe {
            let sources = pg_sys::SPI_plan_get_plan_sources(self.plan);
            match if sources.is_null() { 0 } else { (*sources).length } {
                1 => Ok((*(*sources).elements).ptr_value.cast()),
                0 => Err(not_one("the query is empty")),
                count => Err(not_one(&format!("the query has {count} statements, not one"))),
            }
        }
    }
}

fn not_one(message: &str) -> SqlError {
    SqlError::new(PgSqlErrorCode::ERRCODE_SYNTAX_ERROR, message)
        .hint("Give one query that reads, as SELECT, VALUES, TABLE or WITH begins it.")
}

/// The error where a name leads to another relation than before.
fn no_longer(relation: pg_sys::Oid) -> SqlError {
    // SAFETY: any number is looked up.
    let name = unsafe {
        let name = pg_sys::get_rel_name(relation);
        if name.is_null() { relation.to_u32().to_string() } else { c_string(name) }
    };
    let message = format!("\"{name}\" is no longer the relation that was locked");
    SqlError::new(PgSqlErrorCode::ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE, message)
        .hint("It, or its schema, was renamed meanwhile: try again.")
}

/// Checks that a result has columns of exactly these types; none where it has no rows to give.
///
/// # Safety
/// The descriptor is null or one of the server's.
pub unsafe fn check_columns(descriptor: pg_sys::TupleDesc, types: &[pg_sys::Oid]) -> Result<()> {
    // SAFETY: the caller's promise; there are as many attributes as it says.
    let columns = unsafe {
        if descriptor.is_null() { &[] } else { (*descriptor).attrs.as_slice((*descriptor).natts as usize) }
    };
    let mismatch = |message| Err(SqlError::new(PgSqlErrorCode::ERRCODE_DATATYPE_MISMATCH, message));
    if columns.len() != types.len() {
        return mismatch(format!("a query gives {} columns, not {}", columns.len(), types.len()));
    }
    match columns.iter().zip(types).find(|(column, wanted)| column.atttypid != **wanted) {
        None => Ok(()),
        Some((column, &wanted)) => {
            // SAFETY: a name is a C string.
            let name = unsafe { c_string(column.attname.data.as_ptr()) };
            let (is, wanted) = (type_name(column.atttypid), type_name(wanted));
            mismatch(format!("column \"{name}\" of a query is of type {is}, not {wanted}"))
        }
    }
}

/// The values of a row.
///
/// # Safety
/// The table has the row; its columns were checked.
pub(crate) unsafe fn values_of<const N: usize>(
    table: *mut pg_sys::SPITupleTable,
    row: usize,
) -> [Option<Datum>; N] {
    // SAFETY: the caller's promise.
    unsafe {
        let tuple = *(*table).vals.add(row);
        std::array::from_fn(|column| {
            let mut null = false;
            let datum = pg_sys::SPI_getbinval(tuple, (*table).tupdesc, column as i32 + 1, &raw mut null);
            (!null).then_some(datum)
        })
    }
}
