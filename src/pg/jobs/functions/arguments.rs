//! What the functions of jobs are called with. They are known by their numbers and are not polymorphic, so that calls of
//! them lead nowhere else; anyone may call them, with anything.

use pgrx::PgSqlErrorCode;
use pgrx::pg_sys::{self, Datum};

use crate::jobs::step::Rows;
use crate::pg::jobs::hints::ANEW;
use crate::pg::jobs::queries;
use crate::pg::jobs::tables::columns::{Column, LIST_COLUMNS, hash_columns, state_columns};
use crate::pg::jobs::tables::table::{Opened, Table};
use crate::pg::query::as_user::acts_for;
use crate::pg::query::names::name_of;
use crate::pg::query::names::type_name;
use crate::pg::query::operators::equality;
use crate::pg::read::source::Source;
use crate::pg::request::Request;
use crate::pg::request::form::{self, Form};
use crate::pg::server::call::Call;
use crate::pg::server::error::{Result, SqlError};

/// The first argument after those of a join.
pub(super) const NEXT: usize = FORM.count();
/// Hints show a call that users know.
const FORM: Form = form::NEAR_DUPLICATES.typed().and_more();

/// The join that the arguments in front describe, with the type of the ids as the third of them.
pub(super) fn request(call: Call) -> Result<Request> {
    let id_type = call.need(2, "id_type")?;
    Request::of_ids(call, FORM, Some(id_type))
}

/// The table that argument `n` names, which must be the caller's; none if it is NULL.
fn table(call: Call, n: usize) -> Result<Option<Table>> {
    let Some(oid) = call.get(n) else { return Ok(None) };
    // SAFETY: any number is looked up.
    let kind = unsafe { pg_sys::get_rel_relkind(oid) }.cast_unsigned();
    if ![0, pg_sys::RELKIND_RELATION].contains(&kind) {
        let message = format!("{} is not a table", name_of(oid)?);
        return Err(SqlError::new(PgSqlErrorCode::ERRCODE_WRONG_OBJECT_TYPE, message).hint(ANEW));
    }
    let error = match Table::open(oid, pg_sys::AccessShareLock, acts_for)? {
        Opened::Table(table) => return Ok(Some(table)),
        Opened::Gone => {
            let message = format!("relation with OID {} does not exist", oid.to_u32());
            SqlError::new(PgSqlErrorCode::ERRCODE_UNDEFINED_TABLE, message)
        }
        Opened::Others(_) => {
            let message = format!("must be owner of {}", name_of(oid)?);
            SqlError::new(PgSqlErrorCode::ERRCODE_INSUFFICIENT_PRIVILEGE, message)
        }
    };
    Err(error.hint(ANEW))
}

/// The table of lists that argument `n` names; none if it is NULL.
pub(super) fn lists(call: Call, n: usize) -> Result<Option<Table>> {
    let Some(table) = table(call, n)? else { return Ok(None) };
    if table.has(&LIST_COLUMNS) { Ok(Some(table)) } else { Err(other_columns(&table, &LIST_COLUMNS)) }
}

/// The table that argument `n` names, which has these columns for ids of a source; none if it is NULL.
fn of_ids<const N: usize>(
    call: Call,
    n: usize,
    source: &Source,
    columns: fn(pg_sys::Oid) -> [Column; N],
) -> Result<Option<Table>> {
    const INTEGERS: [pg_sys::Oid; 3] = [pg_sys::INT2OID, pg_sys::INT4OID, pg_sys::INT8OID];
    let Some(table) = table(call, n)? else { return Ok(None) };
    let own = source.column_type;
    let alike = if INTEGERS.contains(&own) { &INTEGERS[..] } else { &[own] };
    if alike.iter().any(|&id_type| table.has(&columns(id_type))) {
        return Ok(Some(table));
    }
    Err(other_columns(&table, &columns(own)))
}

fn other_columns(table: &Table, columns: &[(&str, pg_sys::Oid)]) -> SqlError {
    let columns: Vec<String> =
        columns.iter().map(|&(name, of)| format!("{name} {}", type_name(of))).collect();
    let message = format!("{} is not a table of a job with the columns {}", table.name, columns.join(", "));
    SqlError::new(PgSqlErrorCode::ERRCODE_DATATYPE_MISMATCH, message).hint(ANEW)
}

/// Which rows of a relation are meant, by what its job knows of them.
#[derive(Debug)]
pub(super) struct Chosen {
    state: Option<Table>,
    hashes: Option<Table>,
    equals: String,
}

/// A condition on rows, in terms of the alias `d`, and the table that it names.
#[derive(Debug)]
pub(super) struct Condition {
    sql: String,
    table: pg_sys::Oid,
}

impl Chosen {
    /// By the table of what is known that argument `n` names, and that of rows as they were seen that argument `hashes` names, if
    /// these are apart.
    pub(super) fn new(call: Call, [n, hashes]: [usize; 2], request: &Request) -> Result<Self> {
        let state = of_ids(call, n, &request.left, state_columns)?;
        let hashes = of_ids(call, hashes, &request.left, hash_columns)?;
        Ok(Self { state, hashes, equals: equality(request.id_type)? })
    }

    /// The condition that argument `n` names: `batch` for rows that are being brought up to date, `known` for those that have
    /// been seen; none for all.
    pub(super) fn condition(&self, call: Call, n: usize, source: &Source) -> Result<Option<Condition>> {
        let marks = match call.text(n)?.as_deref() {
            None => return Ok(None),
            Some("batch") => Rows::Batch,
            Some("known") => Rows::Known,
            Some(other) => {
                let message = format!("rows of a job are batch or known, not \"{other}\"");
                return Err(SqlError::parameter(message).hint("NULL means all rows."));
            }
        };
        let (equals, key) = (&self.equals, &source.key);
        if let Some(hashes) = self.hashes.as_ref().filter(|_| marks == Rows::Known) {
            let sql = queries::was_seen(&hashes.name, equals, key);
            return Ok(Some(Condition { sql, table: hashes.oid }));
        }
        let Some(state) = &self.state else {
            let message = "state must not be NULL where rows are named by it";
            return Err(SqlError::new(PgSqlErrorCode::ERRCODE_NULL_VALUE_NOT_ALLOWED, message)
                .hint("NULL for the rows means all of them."));
        };
        Ok(Some(Condition { sql: queries::has_row(&state.name, marks, equals, key), table: state.oid }))
    }
}

impl Condition {
    /// The rows of a source that a condition holds for: all, without one.
    pub(super) fn only(condition: Option<&Self>, source: &Source) -> Source {
        condition.map_or_else(|| source.clone(), |Self { sql, table }| source.only(sql, &[], &[*table]))
    }

    /// The rows that this, or a further condition with a value for `$1`, holds for.
    pub(super) fn or(&self, source: &Source, further: &str, value: (pg_sys::Oid, Option<Datum>)) -> Source {
        source.only(&format!("({further} OR {})", self.sql), &[value], &[self.table])
    }
}
