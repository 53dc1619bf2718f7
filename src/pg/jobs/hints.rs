//! Hints for a job that cannot go on.

use pgrx::PgSqlErrorCode;

use crate::pg::query::relation::Relation;
use crate::pg::request::example::{Example, literal};
use crate::pg::server::error::SqlError;

/// The hint for the case that a job's tables are not as expected and the relation is not known.
pub(super) const ANEW: &str =
    "Begin the job anew: SELECT neardup_unwatch('docs'); SELECT neardup_watch('docs', 0.8);";

/// Returns the hint to start the job of a relation from scratch.
pub(super) fn anew(docs: &str) -> String {
    format!("Begin anew: SELECT neardup_unwatch({0}); SELECT neardup_watch({0}, 0.8);", literal(docs))
}

/// Returns a call of a function, `neardup_watch` or `near_duplicates`, on a relation that works,
/// with the columns that have to be named; for a key of several columns, with a view that makes one
/// id of them.
pub(super) fn works(relation: &Relation, function: &'static str) -> String {
    let is_watch = function == "neardup_watch";
    let call = |relation: &str, named: &[(&'static str, &str)], id_type: Option<String>| {
        let mut example = Example::new(function, [relation.to_owned()]);
        if let Some(of) = id_type.filter(|_| !is_watch) {
            example = example.with("id_type", format!("NULL::{of}"));
        }
        for (name, value) in named {
            example = example.with(name, literal(value));
        }
        format!("SELECT {}{example};", if is_watch { "" } else { "* FROM " })
    };
    if relation.has_key_of_several()
        && let Some(view) = relation.one_key_view(relation.is_temporary)
    {
        let columns = [("id_column", "id"), ("text_column", "body")];
        return format!("{view} {}", call("one_key", &columns, Some("text".to_owned())));
    }
    let mut named = Vec::new();
    let Some((id, text)) = relation.likely_columns(None, None) else {
        return call("docs", &[], None);
    };
    if !relation.id_column(None, "").is_ok_and(|found| found.name == id.name) {
        named.push(("id_column", &*id.name));
    }
    if !relation.text_column(None, "", id).is_ok_and(|found| found.name == text.name) {
        named.push(("text_column", &*text.name));
    }
    let id_type = (!id.is_integer()).then(|| id.type_name());
    call(&relation.shown, &named, id_type)
}

/// Returns the error for a relation that has the name that a table of a job needs.
pub(super) fn in_the_way(name: &str) -> SqlError {
    let message = format!("relation \"{name}\" already exists, and the job needs a table of this name");
    SqlError::new(PgSqlErrorCode::ERRCODE_DUPLICATE_TABLE, message)
        .hint("Rename or drop it, or watch a view of another name.")
}

/// Returns the error for a job that cannot go on in the current state.
pub(super) fn not_now(message: impl Into<String>, hint: String) -> SqlError {
    SqlError::new(PgSqlErrorCode::ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE, message).hint(hint)
}

/// Returns the error if a table that was made is not found: the owner of the schema interfered.
pub(super) fn renamed(shown: &str) -> SqlError {
    let hint = "Try again, in a schema whose owner you trust.".to_owned();
    not_now(format!("the schema of {shown} was renamed meanwhile"), hint)
}
