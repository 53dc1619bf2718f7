//! The parameters of statements about the documents and their join.

use serde::{Deserialize, Serialize};

use crate::pg::query::as_user::INTERNAL;
use crate::pg::read::source::DocumentSource;

/// The SQL expressions for reading documents, relative to the alias `d`; all names are qualified
/// with their schemas.
#[derive(Debug, Clone)]
pub(super) struct DocumentColumns {
    /// The relation.
    pub table: String,
    /// The id of a row.
    pub id: String,
    /// What is carried of the document in a row.
    pub set: String,
    /// The hash of the compared content of a row, by which changes are noticed.
    pub hash: String,
    /// Set if documents are numbered in the order of their ids.
    pub are_ordered: bool,
}

impl DocumentColumns {
    /// Returns a query for `id` and `set` of all documents.
    pub(super) fn query(&self) -> String {
        let Self { table, id, set, .. } = self;
        format!("SELECT {id} AS id, {set} AS set FROM {table} AS d")
    }
}

/// How a method is made in parts.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Carried {
    /// The method and its arguments, as JSON.
    pub method: String,
    /// What is counted before documents meet.
    pub counted: CountedTokens,
    /// Set if passages of two documents are found, and not how similar these are.
    #[serde(default)]
    pub passages: bool,
}

/// What is counted of documents before they meet.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum CountedTokens {
    /// Nothing.
    Nothing,
    /// The tokens of a sample.
    Sample,
    /// The terms of all documents. The comparison of two documents depends on them, too.
    All,
}

/// Returns the SQL expression for the hash of what is compared of a document.
pub(super) fn hash(source: &DocumentSource, internal: &str) -> String {
    let text = format!("{}::pg_catalog.text", source.column);
    let content = if source.has_sites() {
        format!(
            "COALESCE('d' OPERATOR(pg_catalog.||) {text}, '') OPERATOR(pg_catalog.||) COALESCE('s' OPERATOR(pg_catalog.||) {}, '')",
            source.site
        )
    } else {
        text
    };
    format!("{INTERNAL}.neardup_job_hash({content}{internal})")
}
