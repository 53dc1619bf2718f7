//! Who may open, lock or query relations. A relation that another role owns, or once owned, brings
//! code along, so each way to it is known by name: `procedure/table.rs` checks the tables that
//! neardup made, and all else reads what a caller named, with the rights of the caller. Messages
//! have one way, too.

use crate::modules::Sources;

/// A way to a relation: a call by a part of its name, and the files that may have it.
struct Door {
    call: &'static str,
    files: &'static [&'static str],
}

const DOORS: &[Door] = &[
    // Relations that a caller names, opened like those of a query; tables of ours; indexes that a
    // user names, whose code is asked for first.
    Door {
        call: "relation_open(",
        files: &["index/am/user_index.rs", "procedure/table.rs", "query/relation.rs"],
    },
    // Tables that are locked and were checked before, and catalogues.
    Door {
        call: "table_open(",
        files: &["index/am/table.rs", "procedure/brought_along.rs", "procedure/rows.rs", "query/by_oid.rs"],
    },
    Door {
        call: "index_open(",
        files: &["index/am/cost.rs", "procedure/brought_along.rs", "query/relation.rs"],
    },
    Door {
        call: "LockRelationOid(",
        files: &[
            "jobs/remembered.rs",
            "jobs/statements/registry.rs",
            "jobs/watch.rs",
            "procedure/table.rs",
            "query/as_user.rs",
        ],
    },
    Door {
        call: "_beginscan",
        files: &[
            "index/admin/compare.rs",
            "procedure/brought_along.rs",
            "procedure/rows.rs",
            "query/by_oid.rs",
        ],
    },
    // After each message the server looks for interrupts, without a guard of pgrx.
    Door { call: "notice!(", files: &[] },
    Door { call: "warning!(", files: &[] },
    Door { call: "info!(", files: &[] },
    Door { call: "log!(", files: &[] },
    Door { call: "debug1!(", files: &[] },
    Door { call: "ereport!(", files: &[] },
    Door { call: "PgLogLevel::NOTICE", files: &["server/notices.rs"] },
    Door { call: "PgLogLevel::WARNING", files: &["server/notices.rs"] },
    // These compute what looks constant in the expressions of an index.
    Door { call: "BuildIndexInfo(", files: &["index/admin/compare.rs"] },
    Door { call: "ExecOpenIndices(", files: &["query/by_oid.rs"] },
    Door { call: "RelationGetIndexPredicate(", files: &[] },
    Door { call: "RelationGetIndexExpressions(", files: &[] },
    Door { call: "RelationGetPartitionKey(", files: &[] },
    Door {
        call: "SPI_",
        files: &[
            "procedure/transaction.rs",
            "query/columns.rs",
            "query/cursor.rs",
            "query/prepared.rs",
            "query/run.rs",
        ],
    },
    // Queries of a caller, with the caller's rights; those of procedures are statements.
    Door {
        call: "Query {",
        files: &[
            "functions/near/near_runs.rs",
            "functions/report/documents.rs",
            "functions/suggest/labels.rs",
            "functions/suggest/pairs.rs",
            "index/am/search_sets.rs",
            "into/estimate/measure.rs",
            "into/outcome.rs",
            "into/statements/parts.rs",
            "into/statements/sets.rs",
            "jobs/lists/stored.rs",
            "procedure/statement.rs",
            "query/citus.rs",
            "query/prepared.rs",
            "query/statement.rs",
            "read/documents.rs",
            "read/pairs.rs",
            "read/sample.rs",
            "read/source.rs",
            "read/stream.rs",
            "request/weights.rs",
        ],
    },
    Door {
        call: "Statement::new(",
        files: &["functions/internal.rs", "procedure/citus.rs", "procedure/definition.rs"],
    },
    Door { call: "on([", files: &["procedure/definition.rs"] },
    // Connections to other servers.
    Door { call: "PQconnect", files: &["into/nodes/connection.rs", "into/nodes/libpq.rs"] },
];

/// Files that open, lock or query a relation, or connect to a server, and are not among those that
/// may.
pub fn other_doors(sources: &Sources) -> Vec<String> {
    let mut found = Vec::new();
    for (path, text) in sources {
        let Some(path) = path.strip_prefix("src/pg/") else { continue };
        let code: String =
            text.lines().filter(|line| !line.trim_start().starts_with("//")).collect::<Vec<_>>().join("\n");
        for Door { call, files } in DOORS {
            // The modules of statements make nothing but statements.
            let is_statement = ["Statement::new(", "on(["].contains(call);
            let may = files.contains(&path) || is_statement && path.contains("/statements/");
            if code.contains(call) && !may {
                found.push(format!(
                    "src/pg/{path} has {call:?}: a table that others may own is opened by procedure/table.rs, which checks it"
                ));
            }
        }
    }
    found
}
