//! What the steps of a transaction of a refresh work with, and the names in their statements.

use pgrx::PgSqlErrorCode;
use pgrx::pg_sys::{self, Datum, Oid};

use super::limits::{ComparedColumn, JobLimits};
use super::registry::JobEntry;
use crate::jobs::state::JobFacts;
use crate::pg::jobs::home::Home;
use crate::pg::jobs::job::LockedRelation;
use crate::pg::jobs::settings::{Columns, Settings};
use crate::pg::jobs::tables::JobTables;
use crate::pg::procedure::definition::{Column, Types};
use crate::pg::procedure::rows::Supplied;
use crate::pg::procedure::table::Table;
use crate::pg::query::Parameter;
use crate::pg::query::as_user::INTERNAL;
use crate::pg::query::citus::is_spread;
use crate::pg::query::column::UserColumn;
use crate::pg::query::moment::Moment;
use crate::pg::query::names::{equality, qualified_type};
use crate::pg::request::example::literal;
use crate::pg::request::form::KeptArguments;
use crate::pg::request::{ClusteringArguments, Request};
use crate::pg::server::activity::Activity;
use crate::pg::server::encoding::c_string;
use crate::pg::server::error::{Result, SqlError};

/// A transaction of a refresh.
pub(crate) struct RefreshWork<'a> {
    /// The job.
    pub job: &'a LockedRelation,
    /// The activity of the refresh that other sessions see.
    pub activity: Activity,
    /// The entry of the job in the registry.
    pub entry: &'a mut JobEntry,
    /// The settings of the job, with the current columns.
    pub settings: Settings,
    /// The definition of the relation, if triggers saw every change under this definition.
    pub seen: Option<String>,
    /// The start time of the refresh.
    pub started: Datum,
    /// The names for statements.
    pub names: Names,
    /// The place where the data about rows as they were seen should be; None means the table of
    /// states, next to the marks.
    pub home: Option<Home>,
    /// The snapshot in which the relation was read.
    pub moment: Option<Moment>,
    /// The state so far.
    pub state: JobFacts,
    /// The number of rows that wait for the next batch; counted only in the first batch, because
    /// there may be many batches.
    pub waiting: i64,
    /// The ids in the pairs that were found, as an array, if the rows of the batch were looked up
    /// and the clusters are updated from these ids.
    pub near: Option<Parameter>,
}

impl RefreshWork<'_> {
    /// Returns the table of lists. It was checked before that the job has this table if its method
    /// needs it.
    pub(crate) fn lists(&self) -> Result<&Table> {
        self.names.tables.lists.as_ref().ok_or_else(|| SqlError::parameter("this method has no lists"))
    }

    /// Replaces the error of a unique index of the job's tables by one on the relation. Other
    /// errors stay as they are. Does not call the server.
    ///
    /// `neardup_watch` checks that an id is in one row of the relation, but a view or a table
    /// without a unique index may repeat an id later. The unique indexes of the job's tables find
    /// it then, and their error names only these tables.
    pub(crate) fn explained(&self, error: SqlError) -> SqlError {
        let SqlError::Server(data) = error else { return error };
        // SAFETY: an error that was copied from the server; its detail is null or a C string.
        let (code, detail) = unsafe {
            let detail = (*data).detail;
            ((*data).sqlerrcode, if detail.is_null() { String::new() } else { c_string(detail) })
        };
        if code != PgSqlErrorCode::ERRCODE_UNIQUE_VIOLATION as i32 {
            return SqlError::Server(data);
        }
        let (column, shown) = (&self.names.id_column, &self.job.relation.shown);
        let (what, rows) = match repeated(&detail) {
            Some(id) => {
                (format!("id {id}"), format!("SELECT * FROM {shown} WHERE {column} = {};", literal(id)))
            }
            None => (
                "an id".to_owned(),
                format!("SELECT {column}, count(*) FROM {shown} GROUP BY {column} HAVING count(*) > 1;"),
            ),
        };
        SqlError::new(
            PgSqlErrorCode::ERRCODE_UNIQUE_VIOLATION,
            format!("{what} stands in more than one row of {shown}"),
        )
        .hint(format!(
            "Every document needs an id of its own. Once each is in one row again, the next refresh goes on. The rows: {rows}"
        ))
    }
}

/// The tables, the columns, and the other parts that are the same in all statements of a job.
pub(crate) struct Names {
    /// The watched relation.
    pub docs: Oid,
    /// The name of the relation with its schema.
    pub docs_name: String,
    /// The name of the id column, quoted for SQL text.
    pub id_column: String,
    /// The tables of the job.
    pub tables: JobTables,
    /// The last argument of internal functions, with a leading comma.
    pub internal: String,
    /// The arguments of the join.
    join: KeptArguments,
    /// The rule for making clusters of pairs.
    pub clustering: ClusteringArguments,
    /// The operator that compares ids.
    pub equals: String,
    /// The OID of the type in which functions return ids.
    pub id_oid: Oid,
    /// The name of that type.
    pub id: String,
    /// The OID of the type of ids in the job's tables.
    pub column_oid: Oid,
    /// The name of that type.
    pub column: String,
    /// Which rows are compared.
    pub(super) limits: JobLimits,
    /// The query for rows of the relation, with a hash of the compared content: `SELECT … AS id, …
    /// AS hash …`.
    rows: String,
    /// Set if Citus distributes the relation. Citus refuses statements that read the relation and
    /// change tables within `WITH`.
    pub is_spread: bool,
}

impl Names {
    /// Collects the names for the job of a relation.
    pub(crate) fn new(
        job: &LockedRelation,
        settings: &Settings,
        columns: &Columns<'_>,
        clustering: ClusteringArguments,
        tables: JobTables,
    ) -> Result<Self> {
        let docs = &job.relation;
        let (id, content, name) = (id_expression(columns)?, content(columns)?, &docs.qualified);
        let internal = &job.extension.internal;
        let rows = format!(
            "SELECT {id} AS id, {INTERNAL}.neardup_job_hash({content}{internal}) AS hash FROM {name} d WHERE {id} IS NOT NULL"
        );
        let (id_oid, column_oid) = (columns.id_type(), columns.id.base_type);
        Ok(Self {
            docs: docs.oid,
            docs_name: name.clone(),
            id_column: columns.id.quoted()?,
            tables,
            internal: internal.clone(),
            join: settings.join(docs.oid),
            clustering,
            equals: equality(column_oid)?,
            id_oid,
            id: qualified_type(id_oid),
            column_oid,
            column: qualified_type(column_oid),
            limits: JobLimits::new(columns)?,
            rows,
            is_spread: is_spread(docs.oid)?,
        })
    }

    /// Returns the rows of the relation with a hash of the compared content: `(SELECT … AS id, … AS
    /// hash …)`.
    pub(super) fn source(&self) -> String {
        // Citus joins its own rows with a local table only if they are a separate query: then the
        // hashes are sent to the coordinator.
        let apart = if self.is_spread && self.tables.hashes.is_none() { " OFFSET 0" } else { "" };
        format!("({}{apart})", self.rows)
    }

    /// Returns a further condition of SQL: the rows with the ids `left_id` and `right_id` of
    /// `pairs` are compared with each other.
    pub(super) fn compared(&self, pairs: &str) -> String {
        let further = self.limits.are_compared();
        if further.is_empty() {
            return further;
        }
        let Self { docs_name, id_column, equals, .. } = self;
        format!(
            " AND EXISTS (SELECT FROM {docs_name} l, {docs_name} r WHERE l.{id_column} {equals} {pairs}.left_id \
             AND r.{id_column} {equals} {pairs}.right_id{further})"
        )
    }

    /// Returns the condition that a row `d` is of a group of the batch, if there are groups. Every
    /// name is qualified with its schema.
    pub(super) fn in_groups_of_batch(&self) -> Option<String> {
        let ComparedColumn { value, equals } = self.limits.group.as_ref()?;
        let Self { docs_name, id_column, equals: equal_ids, tables, .. } = self;
        let state = &tables.state;
        Some(format!(
            "d.{value} {equals} ANY (SELECT g.{value} FROM {state} AS b JOIN {docs_name} AS g \
             ON g.{id_column} {equal_ids} b.id WHERE b.change OPERATOR(pg_catalog.=) 0::pg_catalog.int2)"
        ))
    }

    /// Returns the join of all rows with each other.
    pub(crate) fn request(&self) -> Result<Request> {
        Request::of_kept(&self.join, self.id_oid)
    }

    /// Returns rows that the library supplies, from the result of a query if there is one.
    pub(super) fn supplied<'a>(&'a self, query: Option<&'a str>, columns: &'a [Column]) -> Supplied<'a> {
        let types = Types { id: (&self.id, self.id_oid), passages: false };
        Supplied { internal: &self.internal, query, types, columns }
    }

    /// Returns the array type for ids of the job's tables.
    pub(crate) fn array_oid(&self) -> Oid {
        // SAFETY: looks up a type; types of ids have an array type.
        unsafe { pg_sys::get_array_type(self.column_oid) }
    }
}

/// Returns the id of a row as an expression of the type in the job's tables, relative to the alias
/// `d`.
fn id_expression(columns: &Columns<'_>) -> Result<String> {
    let id = columns.id;
    let column = format!("d.{}", id.quoted()?);
    Ok(if id.is_integer() {
        column
    } else {
        format!("({column}::{}{})", qualified_type(id.base_type), id.collated())
    })
}

/// Returns an expression for all content of a row that the pairs of the row depend on, as one text,
/// relative to the alias `d`.
fn content(columns: &Columns<'_>) -> Result<String> {
    let body = format!("d.{}::pg_catalog.text", columns.text.quoted()?);
    let other = |column: &UserColumn| {
        Ok(format!(
            ", E'\\x01'::pg_catalog.text, 'v'::pg_catalog.text OPERATOR(pg_catalog.||) d.{}::pg_catalog.text",
            column.quoted()?
        ))
    };
    let others = columns.others.into_iter().flatten().map(other).collect::<Result<String>>()?;
    if others.is_empty() {
        return Ok(body);
    }
    Ok(format!("pg_catalog.concat(COALESCE({body}, ''::pg_catalog.text){others})"))
}

/// Returns the id that the detail of the error of a unique index quotes, whatever its language: it
/// has the form `… (id)=(7) …`.
fn repeated(detail: &str) -> Option<&str> {
    let (_, value) = detail.split_once("(id)=(")?;
    Some(value.rsplit_once(')')?.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_id_is_what_the_detail_quotes() {
        assert_eq!(repeated("Key (id)=(7) already exists."), Some("7"));
        assert_eq!(repeated("Schlüssel »(id)=(a)=(b)« existiert bereits."), Some("a)=(b"));
        assert_eq!(repeated("Key (left_id, right_id)=(1, 2) already exists."), None);
        assert_eq!(repeated(""), None);
    }
}
