//! What the functions of jobs are called with. They are known by their numbers and are not polymorphic, so that calls of
//! them lead nowhere else; anybody may call them, with anything.

use pgrx::PgSqlErrorCode;
use pgrx::pg_sys::{self, Datum};

use super::{FORM, equality};
use crate::pg::call::Call;
use crate::pg::columns::{quote_identifier, type_name};
use crate::pg::encoding::c_string;
use crate::pg::error::{Result, SqlError};
use crate::pg::request::Request;
use crate::pg::source::Source;

/// The hint where a job's tables are not what they should be.
pub const ANEW: &str =
    "Begin the job anew: SELECT neardup_unwatch('docs'); SELECT neardup_watch('docs', 0.8);";

/// The join that the arguments in front describe, with the type of the ids as the third of them.
pub fn request(call: Call) -> Result<Request> {
    let id_type = call.need(2, "id_type")?;
    Request::of_ids(call, FORM, Some(id_type))
}

/// A table of a job, with a lock that stays to the end of the transaction.
#[derive(Debug)]
pub struct Table {
    /// Its number.
    pub oid: pg_sys::Oid,
    /// Its name with its schema, as SQL text needs it.
    pub name: String,
}

/// The table of lists.
const LISTS: [(&str, pg_sys::Oid); 6] = [
    ("kind", pg_sys::CHAROID),
    ("segment", pg_sys::INT8OID),
    ("part", pg_sys::INT4OID),
    ("documents", pg_sys::INT4OID),
    ("data", pg_sys::BYTEAOID),
    ("ids", pg_sys::TEXTARRAYOID),
];

impl Table {
    /// The table of lists that argument `n` names; none if it is NULL.
    pub fn lists(call: Call, n: usize) -> Result<Option<Self>> {
        let Some(oid) = call.get(n) else { return Ok(None) };
        let (table, columns) = Self::open(oid)?;
        if columns.iter().map(|(name, of)| (name.as_str(), *of)).eq(LISTS) {
            return Ok(Some(table));
        }
        let wanted = LISTS.map(|(name, of)| format!("{name} {}", type_name(of))).join(", ");
        Err(table.unlike(&wanted))
    }

    /// The table of what a job knows of the rows of a source that argument `n` names; none if it is NULL.
    fn state(call: Call, n: usize, source: &Source) -> Result<Option<Self>> {
        const INTEGERS: [pg_sys::Oid; 3] = [pg_sys::INT2OID, pg_sys::INT4OID, pg_sys::INT8OID];
        let Some(oid) = call.get(n) else { return Ok(None) };
        let (table, columns) = Self::open(oid)?;
        let is_id =
            |of| of == source.column_type || [of, source.column_type].iter().all(|of| INTEGERS.contains(of));
        match columns.as_slice() {
            [(id, of), (hash, pg_sys::UUIDOID), (change, pg_sys::INT2OID)]
                if is_id(*of) && [id, hash, change].map(String::as_str) == ["id", "hash", "change"] =>
            {
                Ok(Some(table))
            }
            _ => {
                Err(table
                    .unlike(&format!("id {}, hash uuid, change smallint", type_name(source.column_type))))
            }
        }
    }

    /// Opens a plain table, and gives its columns with their types.
    fn open(oid: pg_sys::Oid) -> Result<(Self, Vec<(String, pg_sys::Oid)>)> {
        // SAFETY: any number is looked up; an open relation has its catalogue row and as many attributes as it says. What
        // is read is copied before it is closed; its lock stays.
        unsafe {
            let relation = pg_sys::try_relation_open(oid, pg_sys::AccessShareLock as i32);
            if relation.is_null() {
                let message = format!("relation with OID {} does not exist", oid.to_u32());
                return Err(SqlError::new(PgSqlErrorCode::ERRCODE_UNDEFINED_TABLE, message).hint(ANEW));
            }
            let class = &*(*relation).rd_rel;
            let is_table = class.relkind.cast_unsigned() == pg_sys::RELKIND_RELATION;
            let name = c_string(class.relname.data.as_ptr());
            let schema = c_string(pg_sys::get_namespace_name(class.relnamespace));
            let descriptor = (*relation).rd_att;
            let attributes = (*descriptor).attrs.as_slice((*descriptor).natts as usize);
            let columns = attributes
                .iter()
                .filter(|attribute| !attribute.attisdropped)
                .map(|attribute| (c_string(attribute.attname.data.as_ptr()), attribute.atttypid))
                .collect();
            pg_sys::relation_close(relation, pg_sys::NoLock as i32);
            if !is_table {
                let message = format!("\"{name}\" is not a table");
                return Err(SqlError::new(PgSqlErrorCode::ERRCODE_WRONG_OBJECT_TYPE, message).hint(ANEW));
            }
            let name = format!("{}.{}", quote_identifier(&schema)?, quote_identifier(&name)?);
            Ok((Self { oid, name }, columns))
        }
    }

    fn unlike(&self, wanted: &str) -> SqlError {
        let message = format!("{} is not a table of a job with the columns {wanted}", self.name);
        SqlError::new(PgSqlErrorCode::ERRCODE_DATATYPE_MISMATCH, message).hint(ANEW)
    }
}

/// Which rows of a relation are meant, by what its job knows of them.
#[derive(Debug)]
pub struct Rows {
    state: Option<Table>,
    equals: String,
}

impl Rows {
    /// By the table of what is known that argument `n` names.
    pub fn new(call: Call, n: usize, request: &Request) -> Result<Self> {
        Ok(Self { state: Table::state(call, n, &request.left)?, equals: equality(request.id_type)? })
    }

    /// The condition, in terms of the alias `d`, that argument `n` names: `batch` for rows that are being brought up to
    /// date, `known` for those that have been seen; none for all.
    pub fn condition(&self, call: Call, n: usize, source: &Source) -> Result<Option<String>> {
        let marks = match call.text(n)?.as_deref() {
            None => return Ok(None),
            Some("batch") => "b.change OPERATOR(pg_catalog.=) 0::pg_catalog.int2",
            Some("known") => "b.change IS NULL",
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
        let Self { equals, .. } = self;
        let (state, key) = (&state.name, &source.key);
        Ok(Some(format!("EXISTS (SELECT FROM {state} AS b WHERE {marks} AND b.id {equals} {key})")))
    }

    /// The rows of a source that a condition holds for: all, without one.
    pub fn only(&self, source: &Source, condition: Option<&str>) -> Source {
        let Some(condition) = condition else { return source.clone() };
        let state = self.state.as_ref().map(|state| state.oid);
        source.only(condition, &[], state.as_slice())
    }

    /// The same with a further value for `$1`.
    pub fn only_with(&self, source: &Source, condition: &str, value: (pg_sys::Oid, Option<Datum>)) -> Source {
        let state = self.state.as_ref().map(|state| state.oid);
        source.only(condition, &[value], state.as_slice())
    }
}
