//! Calls of the internal functions of jobs. Every argument is cast to the type that it is declared with, so that a call is
//! matched by nothing better than the function that it means.

use pgrx::pg_sys::Oid;
use serde_json::Value;

use super::statement::Statement;
use crate::jobs::step::Rows;
use crate::pg::jobs::settings::Settings;
use crate::pg::jobs::tables::table::Table;
use crate::pg::query::as_user::Extension;
use crate::pg::query::relation::Relation;
use crate::pg::request::example::literal;

/// The arguments that the internal functions have in common.
pub(crate) fn arguments(settings: &Settings, docs: &Relation, id_type: Oid) -> String {
    let value = |value: Option<String>, cast: &str| match value {
        None => format!("NULL::pg_catalog.{cast}"),
        Some(value) => format!("{}::pg_catalog.{cast}", literal(&value)),
    };
    let text = |text: &Option<String>| value(text.clone(), "text");
    [
        relation(docs.oid),
        value(settings.threshold.map(|threshold| threshold.to_string()), "float8"),
        format!("'{}'::pg_catalog.regtype", id_type.to_u32()),
        value(settings.options.as_ref().map(Value::to_string), "jsonb"),
        text(&settings.id_column),
        text(&settings.text_column),
        text(&settings.method),
        text(&settings.tokenizer),
        value(settings.shingle.map(|shingle| shingle.to_string()), "int4"),
        value(settings.multiset.map(|multiset| multiset.to_string()), "bool"),
        "NULL::pg_catalog.int8".to_owned(),
        text(&settings.site_column),
    ]
    .join(", ")
}

/// How pairs become clusters, as an argument.
pub(crate) fn clustering(settings: &Settings) -> String {
    let clustering = settings.clustering.as_deref().unwrap_or("connected");
    format!("{}::pg_catalog.text", literal(clustering))
}

/// The most rows of a cluster, as an argument.
pub(crate) fn cluster_size(settings: &Settings) -> String {
    let size = settings.max_cluster_size.map_or("NULL".to_owned(), |size| format!("'{size}'"));
    format!("{size}::pg_catalog.int4")
}

/// A relation as an argument.
fn relation(oid: Oid) -> String {
    format!("'{}'::pg_catalog.regclass", oid.to_u32())
}

/// A table as an argument; NULL for none.
pub(crate) fn table(table: Option<&Table>) -> String {
    table.map_or_else(|| "NULL::pg_catalog.regclass".to_owned(), |table| relation(table.oid))
}

/// The number of a segment as an argument; NULL for none.
pub(crate) fn segment(segment: Option<i64>) -> String {
    let segment = segment.map_or_else(|| "NULL".to_owned(), |segment| format!("'{segment}'"));
    format!("{segment}::pg_catalog.int8")
}

/// Which rows are meant, as an argument; all for none.
pub(crate) fn rows(rows: Option<Rows>) -> &'static str {
    match rows {
        None => "NULL::pg_catalog.text",
        Some(Rows::Batch) => "'batch'::pg_catalog.text",
        Some(Rows::Known) => "'known'::pg_catalog.text",
    }
}

/// Checks the arguments of a job, and says what its pairs depend on.
pub(crate) fn check(extension: &Extension, settings: &Settings, docs: &Relation, id_type: Oid) -> Statement {
    let Extension { schema, internal, .. } = extension;
    let arguments = arguments(settings, docs, id_type);
    let (clustering, size) = (clustering(settings), cluster_size(settings));
    Statement::new(format!("SELECT {schema}.neardup_job_check({arguments}, {clustering}, {size}{internal})"))
}
