//! What the functions of jobs are called with. They are known by their numbers and are not polymorphic, so that calls of
//! them lead nowhere else; anyone may call them, with anything.

use pgrx::PgSqlErrorCode;
use pgrx::pg_sys::{self, Datum};

use crate::jobs::step::Rows;
use crate::pg::jobs::hints::ANEW;
use crate::pg::jobs::queries;
use crate::pg::jobs::tables::columns::{LIST_COLUMNS, state_columns};
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

/// The table of what a job knows of the rows of a source that argument `n` names; none if it is NULL.
fn state(call: Call, n: usize, source: &Source) -> Result<Option<Table>> {
    const INTEGERS: [pg_sys::Oid; 3] = [pg_sys::INT2OID, pg_sys::INT4OID, pg_sys::INT8OID];
    let Some(table) = table(call, n)? else { return Ok(None) };
    let own = source.column_type;
    let alike = if INTEGERS.contains(&own) { &INTEGERS[..] } else { &[own] };
    if alike.iter().any(|&id_type| table.has(&state_columns(id_type))) {
        return Ok(Some(table));
    }
    Err(other_columns(&table, &state_columns(own)))
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
    equals: String,
}

impl Chosen {
    /// By the table of what is known that argument `n` names.
    pub(super) fn new(call: Call, n: usize, request: &Request) -> Result<Self> {
        Ok(Self { state: state(call, n, &request.left)?, equals: equality(request.id_type)? })
    }

    /// The condition, in terms of the alias `d`, that argument `n` names: `batch` for rows that are being brought up to
    /// date, `known` for those that have been seen; none for all.
    pub(super) fn condition(&self, call: Call, n: usize, source: &Source) -> Result<Option<String>> {
        let marks = match call.text(n)?.as_deref() {
            None => return Ok(None),
            Some("batch") => Rows::Batch,
            Some("known") => Rows::Known,
            Some(other) => {
                let message = format!("rows of a job are batch or known, not \"{other}\"");
                return Err(SqlError::parameter(message).hint("NULL means all rows."));
            }
        };
        let Some(state) = &self.state else {
            let message = "state must not be NULL where rows are named by it";
            return Err(SqlError::new(PgSqlErrorCode::ERRCODE_NULL_VALUE_NOT_ALLOWED, message)
                .hint("NULL for the rows means all of them."));
        };
        Ok(Some(queries::has_row(&state.name, marks, &self.equals, &source.key)))
    }

    /// The rows of a source that a condition holds for: all, without one.
    pub(super) fn only(&self, source: &Source, condition: Option<&str>) -> Source {
        let Some(condition) = condition else { return source.clone() };
        let state = self.state.as_ref().map(|state| state.oid);
        source.only(condition, &[], state.as_slice())
    }

    /// The same with a further value for `$1`.
    pub(super) fn only_with(
        &self,
        source: &Source,
        condition: &str,
        value: (pg_sys::Oid, Option<Datum>),
    ) -> Source {
        let state = self.state.as_ref().map(|state| state.oid);
        source.only(condition, &[value], state.as_slice())
    }
}
