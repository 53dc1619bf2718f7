//! The objects that a job makes next to its relation: tables and triggers.

use crate::pg::procedure::form::{IndexForm, IndexedRows, TableForm};
use crate::pg::procedure::statement::Statement;
use crate::pg::procedure::table::Table;
use crate::pg::query::as_user::INTERNAL;
use crate::pg::request::example::literal;

/// A table of a job.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum JobTable {
    /// The pairs.
    Pairs,
    /// The clusters.
    Clusters,
    /// The rows of the relation as they were last seen (change is NULL), and marks of rows: 1 if a
    /// row waits for a refresh, and 2 if it is in doubt until all rows are compared. Within a
    /// refresh, 0 marks a row of the batch, -1 and -2 mark a row that pairs connect with the batch
    /// before and after the change, and 3 marks a row that is set aside.
    State,
    /// The outlines of all rows, used to find the rows that may be similar to a changed row without
    /// reading all rows.
    Lists,
    /// The rows of the relation as they were last seen, if Citus stores them next to the documents;
    /// then `State` has no such rows.
    Hashes,
}

impl JobTable {
    /// The tables that a job is set up with.
    pub(crate) const ALL: [Self; 4] = [Self::Pairs, Self::Clusters, Self::State, Self::Lists];

    /// All kinds.
    pub(crate) const EVERY: [Self; 5] = [Self::Pairs, Self::Clusters, Self::State, Self::Lists, Self::Hashes];

    /// Returns the suffix that is appended to the name of the relation.
    pub(crate) fn suffix(self) -> &'static str {
        match self {
            Self::Pairs => "pairs",
            Self::Clusters => "clusters",
            Self::State => "neardup",
            Self::Lists => "neardup_lists",
            Self::Hashes => "neardup_hash",
        }
    }

    /// Returns the columns and the primary key, where `id` is the type of ids.
    fn columns(self, id: &str) -> String {
        match self {
            Self::Pairs => format!(
                "left_id {id} NOT NULL, right_id {id} NOT NULL, similarity float8 NOT NULL, PRIMARY KEY (left_id, right_id)"
            ),
            Self::Clusters => format!(
                "cluster_id {id} NOT NULL, id {id} NOT NULL, representative bool NOT NULL, PRIMARY KEY (id, cluster_id)"
            ),
            Self::State => format!("id {id} NOT NULL, hash uuid, change int2"),
            Self::Lists => "kind \"char\" NOT NULL, segment int8 NOT NULL, part int4 NOT NULL, documents int4, data bytea, ids text[], \
                            PRIMARY KEY (segment, kind, part)"
                .to_owned(),
            Self::Hashes => format!("id {id} PRIMARY KEY, hash uuid"),
        }
    }

    /// Returns statements for indexes and storage; `{}` represents the table. A part of the lists
    /// is stored in its row and read with it.
    fn further(self) -> &'static [&'static str] {
        match self {
            Self::Pairs => &["CREATE INDEX ON {} (right_id)"],
            Self::Clusters => &["CREATE INDEX ON {} (cluster_id)"],
            Self::State => &[
                "CREATE UNIQUE INDEX ON {} (id) WHERE change IS NULL",
                "CREATE INDEX ON {} (change, id) WHERE change IS NOT NULL",
            ],
            Self::Lists => &[
                "ALTER TABLE {} ALTER data SET STORAGE external, ALTER ids SET STORAGE external",
                "ALTER TABLE {} SET (toast_tuple_target = 8160)",
            ],
            Self::Hashes => &[],
        }
    }

    /// Returns the form of the table, of which only the types of the ids differ from job to job.
    pub(crate) fn form(self) -> TableForm {
        const PAIRS: &[IndexForm] =
            &[IndexForm::key(&["left_id", "right_id"]), IndexForm::with_keys(&["right_id"])];
        const CLUSTERS: &[IndexForm] =
            &[IndexForm::key(&["id", "cluster_id"]), IndexForm::with_keys(&["cluster_id"])];
        const STATE: &[IndexForm] = &[
            IndexForm { rows: IndexedRows::Null("change"), ..IndexForm::key(&["id"]) },
            IndexForm { rows: IndexedRows::NotNull("change"), ..IndexForm::with_keys(&["change", "id"]) },
        ];
        const LISTS: &[IndexForm] = &[IndexForm::key(&["segment", "kind", "part"])];
        const HASHES: &[IndexForm] = &[IndexForm::key(&["id"])];
        let (indexes, may_grow) = match self {
            Self::Pairs => (PAIRS, true),
            Self::Clusters => (CLUSTERS, true),
            Self::State => (STATE, false),
            Self::Lists => (LISTS, false),
            Self::Hashes => (HASHES, false),
        };
        TableForm { indexes, may_grow, may_have_triggers: true, ..TableForm::TABLE }
    }

    fn comment(self, shown: &str) -> String {
        let what = match self {
            Self::Pairs => "near duplicates, kept by neardup_refresh, of",
            Self::Clusters => "clusters of near duplicates, kept by neardup_refresh, of",
            Self::State => "what neardup_refresh knows of the rows of",
            Self::Lists => "what neardup_refresh looks changed rows up in, of",
            Self::Hashes => "what neardup_refresh has seen, beside the rows, of",
        };
        literal(&format!("{what} {shown}"))
    }
}

/// Makes a table of a job, where `id` is the type of ids and `shown` is the displayed name of the
/// relation.
pub(crate) fn create(kind: JobTable, table: &str, id: &str, shown: &str) -> Vec<Statement> {
    let mut statements = vec![Statement::new(format!("CREATE TABLE {table} ({})", kind.columns(id)))];
    statements.extend(kind.further().iter().map(|further| Statement::new(further.replace("{}", table))));
    statements.push(Statement::new(format!("COMMENT ON TABLE {table} IS {}", kind.comment(shown))));
    statements
}

/// Drops tables.
pub(crate) fn drop(tables: &[String]) -> Statement {
    Statement::new(format!("DROP TABLE {}", tables.join(", ")))
}

/// Deletes all rows of a table.
pub(crate) fn empty(table: &Table) -> Statement {
    Statement::new(format!("DELETE FROM {}", table.name)).about([table.oid])
}

/// Changes the type of columns of an empty table.
pub(crate) fn retype(table: &Table, columns: &[&str], to: &str) -> Statement {
    let alter: Vec<String> =
        columns.iter().map(|column| format!("ALTER {column} TYPE {to} USING NULL::{to}")).collect();
    Statement::new(format!("ALTER TABLE {} {}", table.name, alter.join(", ")))
}

/// Analyzes tables.
pub(crate) fn analyze(tables: [&Table; 3]) -> Statement {
    Statement::new(format!("ANALYZE {}", tables.map(|table| table.name.as_str()).join(", ")))
}

/// Drops the trigger of a job for an event.
pub(crate) fn drop_trigger(docs: &str, event: &str) -> Statement {
    Statement::new(format!("DROP TRIGGER neardup_{event} ON {docs}"))
}

/// Makes the trigger of a job for an event. The trigger always fires; otherwise each refresh would
/// have to compare all rows.
pub(crate) fn create_trigger(docs: &str, event: &str) -> [Statement; 2] {
    let [old, new] = [" OLD TABLE AS old_rows", " NEW TABLE AS new_rows"];
    let [old, new] = [if event == "insert" { "" } else { old }, if event == "delete" { "" } else { new }];
    [
        format!(
            "CREATE TRIGGER neardup_{event} AFTER {event} ON {docs} REFERENCING{old}{new} \
             FOR EACH STATEMENT EXECUTE FUNCTION {INTERNAL}.neardup_changed()"
        ),
        format!("ALTER TABLE {docs} ENABLE ALWAYS TRIGGER neardup_{event}"),
    ]
    .map(Statement::new)
}
