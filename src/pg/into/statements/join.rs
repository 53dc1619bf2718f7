//! The parts of statements that describe the documents and their join: what the method's functions
//! compute of documents and of parts.

use serde::{Deserialize, Serialize};

use crate::pg::query::as_user::INTERNAL;
use crate::pg::read::expressions::NONE;
use crate::pg::read::source::DocumentSource;
use crate::pg::request::example::literal;

/// The parts of statements that describe the join.
#[derive(Debug, Clone)]
pub(crate) struct JoinStatements {
    /// The last argument of internal functions, with a leading comma.
    pub internal: String,
    /// The method as an SQL literal.
    pub method: String,
    /// What the method counts before documents meet.
    pub counted: CountedTokens,
    /// The number of parts.
    pub parts: i64,
    /// Set if passages are found.
    pub passages: bool,
    /// The least number of a new document, if the others are known to make no new candidates with
    /// each other.
    pub known_before: Option<i64>,
}

impl JoinStatements {
    /// Makes a join by a method in this number of parts.
    pub(crate) fn new(internal: &str, parts: i64, carried: &Carried) -> Self {
        Self {
            internal: internal.to_owned(),
            method: method(&carried.method),
            counted: carried.counted,
            parts,
            passages: carried.passages,
            known_before: None,
        }
    }

    /// Returns the SQL expression for the rows that a carried document adds to parts, by what was
    /// counted, `o.ranks`.
    pub(crate) fn rows(&self, carried: &str) -> String {
        let Self { internal, method, parts, .. } = self;
        format!("{INTERNAL}.neardup_part_rows({carried}, o.ranks, {method}, {parts}::int4{internal})")
    }

    /// Returns the aggregate that packs the rows which carried documents `s.n`, `s.set` add to
    /// parts.
    pub(crate) fn packed(&self) -> String {
        let Self { internal, method, parts, .. } = self;
        format!("{INTERNAL}.neardup_part_pack(s.n, s.set, o.ranks, {method}, {parts}::int4{internal})")
    }

    /// Returns the SQL expression for the candidates among the packed rows `p` of a part.
    pub(crate) fn joined_packed(&self) -> String {
        let Self { internal, method, .. } = self;
        format!("{INTERNAL}.neardup_part_join_packed(p.rows, {method}{internal})")
    }

    /// Returns the SQL expression for the candidates among the rows `p` of a part.
    pub(crate) fn joined(&self) -> String {
        let Self { internal, method, known_before, .. } = self;
        let size = match known_before {
            None => "p.size".to_owned(),
            Some(first) => format!("CASE WHEN p.n >= {first}::int8 THEN p.size ELSE ~p.size END"),
        };
        format!("{INTERNAL}.neardup_part_join(p.n, {size}, p.bitmap, p.prefix, {method}{internal})")
    }

    /// Returns the SQL expression for the similarity of two carried documents, which is NULL if
    /// they are no pair; or for their passages, NULL if there are none. `o.ranks` has what was
    /// counted, if the comparison depends on it.
    pub(crate) fn similarity(&self, [left, right]: [&str; 2]) -> String {
        let Self { internal, method, passages, .. } = self;
        let ranks = if self.counted == CountedTokens::All { "o.ranks" } else { "NULL::bytea" };
        let compare = if *passages { "neardup_part_passages" } else { "neardup_part_similarity" };
        format!("{INTERNAL}.{compare}({left}, {right}, {ranks}, {method}{internal})")
    }

    /// Returns the columns of the result behind the two ids, for what was found, and what is to be
    /// joined for them.
    pub(crate) fn found(&self, found: &str) -> (String, String) {
        if !self.passages {
            return (found.to_owned(), String::new());
        }
        let columns =
            "v.left_sentence, v.right_sentence, v.sentences, v.left_span, v.right_span, v.similarity";
        (columns.to_owned(), format!(", {INTERNAL}.neardup_part_passage_rows({found}{}) v", self.internal))
    }

    /// Returns the SQL expression for what the method counts.
    pub(crate) fn counted(&self) -> String {
        let Self { internal, method, .. } = self;
        format!("{INTERNAL}.neardup_part_ranks(s.set, {method}{internal})")
    }
}

/// The SQL expression for what is counted of no documents.
pub(crate) const NOTHING_COUNTED: &str = "''::bytea";

/// Returns a method as an SQL literal.
pub(crate) fn method(json: &str) -> String {
    // Backslashes mean the same whatever standard_conforming_strings says.
    let escape = if json.contains('\\') { "E" } else { "" };
    format!("{escape}{}::pg_catalog.jsonb", literal(json).replace('\\', "\\\\"))
}

/// The SQL expressions for reading documents, relative to the alias `d`; all names are qualified
/// with their schemas.
#[derive(Debug, Clone)]
pub(crate) struct DocumentColumns {
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
    pub(crate) fn query(&self) -> String {
        let Self { table, id, set, .. } = self;
        format!("SELECT {id} AS id, {set} AS set FROM {table} AS d")
    }
}

/// How a method is made in parts.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Carried {
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
pub(crate) enum CountedTokens {
    /// Nothing.
    Nothing,
    /// The tokens of a sample.
    Sample,
    /// The terms of all documents. The comparison of two documents depends on them, too.
    All,
}

/// Returns the SQL expression for the hash of what is compared of a document.
pub(crate) fn hash(source: &DocumentSource, internal: &str) -> String {
    let text = format!("{}::pg_catalog.text", source.column);
    let mut content = text.clone();
    if source.has_sites() || source.is_limited() {
        let [group, across] = source.limits_as_texts().unwrap_or_default();
        content = format!("COALESCE('d' OPERATOR(pg_catalog.||) {text}, '')");
        for (mark, place) in [('s', &source.site), ('g', &group), ('a', &across)] {
            if place != NONE {
                content += &format!(
                    " OPERATOR(pg_catalog.||) COALESCE('{mark}' OPERATOR(pg_catalog.||) {place}, '')"
                );
            }
        }
    }
    format!("{INTERNAL}.neardup_job_hash({content}{internal})")
}
