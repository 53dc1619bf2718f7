//! The tables of a job: what they are, and those of one job, found by their OIDs and locked. The
//! registry's data about them is not trusted: work on them runs as the owner of the watched
//! relation, so they must belong to this owner and have the form that a job makes.

use pgrx::PgSqlErrorCode;
use pgrx::pg_sys::{self, Oid};

use super::hints::{anew, not_now};
use super::statements::registry::JobEntry;
use crate::pg::procedure::definition::{Column, TableDefinition, Type, Types};
use crate::pg::procedure::form::{IndexForm, IndexedRows, TableForm};
use crate::pg::procedure::table::{OpenedTable, Table};
use crate::pg::query::names::{name_of, role, type_name};
use crate::pg::server::error::{Result, SqlError};

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

/// The columns of a pair, of a member of a cluster, and of a table of lists.
pub(crate) const PAIR_COLUMNS: &[Column] =
    &[("left_id", Type::Id), ("right_id", Type::Id), ("similarity", Type::Float8)];
pub(crate) const MEMBER_COLUMNS: &[Column] =
    &[("cluster_id", Type::Id), ("id", Type::Id), ("representative", Type::Bool)];
pub(crate) const LIST_COLUMNS: &[Column] = &[
    ("kind", Type::Char),
    ("segment", Type::Int8),
    ("part", Type::Int4),
    ("documents", Type::Int4),
    ("data", Type::Packed),
    ("ids", Type::TextArray),
];

impl JobTable {
    /// The tables that a job is set up with.
    pub(crate) const ALL: [Self; 4] = [Self::Pairs, Self::Clusters, Self::State, Self::Lists];

    /// All kinds.
    const EVERY: [Self; 5] = [Self::Pairs, Self::Clusters, Self::State, Self::Lists, Self::Hashes];

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

    /// Returns how the table is made.
    pub(crate) fn definition(self) -> TableDefinition {
        const PLAIN: TableForm = TableForm { may_have_triggers: true, ..TableForm::TABLE };
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
        let (columns, nullable, indexes): (_, &[&str], _) = match self {
            Self::Pairs => (PAIR_COLUMNS, &[], PAIRS),
            Self::Clusters => (MEMBER_COLUMNS, &[], CLUSTERS),
            Self::State => {
                let columns: &[_] = &[("id", Type::Id), ("hash", Type::Uuid), ("change", Type::Int2)];
                (columns, &["hash", "change"], STATE)
            }
            Self::Lists => (LIST_COLUMNS, &["documents", "data", "ids"], LISTS),
            Self::Hashes => {
                let columns: &[_] = &[("id", Type::Id), ("hash", Type::Uuid)];
                (columns, &["hash"], HASHES)
            }
        };
        let may_grow = matches!(self, Self::Pairs | Self::Clusters);
        TableDefinition { columns, nullable, form: TableForm { indexes, may_grow, ..PLAIN } }
    }
}

/// All tables of a job.
#[derive(Debug)]
pub(crate) struct JobTables {
    /// The pairs.
    pub pairs: Table,
    /// The clusters.
    pub clusters: Table,
    /// The states of rows.
    pub state: Table,
    /// The rows as they were seen, if they are next to the documents; otherwise they are next to
    /// the marks in `state`.
    pub hashes: Option<Table>,
    /// The lists in which changed rows are looked up, if the method has them.
    pub lists: Option<Table>,
}

impl JobTables {
    /// Locks the tables of a job, all of which must belong to `owner`.
    pub(crate) fn open(entry: &JobEntry, docs: &str, owner: Oid) -> Result<Self> {
        let mut missing = Vec::new();
        let mut open = |oid: Oid, what: &'static str| -> Result<Option<Table>> {
            match Table::open(oid, pg_sys::RowExclusiveLock, |of| of == owner)? {
                OpenedTable::Table(table) => return Ok(Some(table)),
                OpenedTable::Gone | OpenedTable::Busy => missing.push(what),
                OpenedTable::Others(other) => {
                    let (name, other, owner) = (name_of(oid)?, role(other)?, role(owner)?);
                    return Err(not_now(
                        format!("{name} of the job of {docs} belongs to {other}, and {docs} to {owner}"),
                        format!("A job works with tables of one owner: ALTER TABLE {name} OWNER TO {owner};"),
                    ));
                }
            }
            Ok(None)
        };
        let state = open(entry.state, "neardup")?;
        let hashes = entry.hashes.map(|hashes| open(hashes, "neardup_hash")).transpose()?.flatten();
        let lists = entry.lists.map(|lists| open(lists, "neardup_lists")).transpose()?.flatten();
        let pairs = open(entry.pairs, "pairs")?;
        let clusters = open(entry.clusters, "clusters")?;
        if let (Some(pairs), Some(clusters), Some(state), []) = (pairs, clusters, state, &missing[..]) {
            return Ok(Self { pairs, clusters, state, hashes, lists });
        }
        let message = format!("tables of the job of {docs} are gone: {}", missing.join(", "));
        Err(SqlError::new(PgSqlErrorCode::ERRCODE_UNDEFINED_TABLE, message).hint(anew(docs)))
    }

    /// Lists the tables with their kinds.
    pub(crate) fn all(&self) -> impl Iterator<Item = (JobTable, &Table)> {
        let Self { pairs, clusters, state, hashes, lists } = self;
        let made = [(JobTable::State, state), (JobTable::Pairs, pairs), (JobTable::Clusters, clusters)];
        let lists = lists.iter().map(|lists| (JobTable::Lists, lists));
        made.into_iter().chain(lists).chain(hashes.iter().map(|hashes| (JobTable::Hashes, hashes)))
    }

    /// Checks that the tables have the form that a job makes, except for the type of the ids.
    /// Returns the type of the ids, which should be `wanted`.
    pub(crate) fn check(&self, docs: &str, wanted: Oid) -> Result<Oid> {
        let id_type = self.state.type_of("id").unwrap_or(wanted);
        for (kind, table) in self.all() {
            let (made, types) = (kind.definition(), Types::of_ids(id_type));
            if let Some(why) = table.differs_from(&made, &types) {
                let columns: Vec<String> = (types.oids(made.columns).iter())
                    .map(|&(name, of)| format!("{name} {}", type_name(of)))
                    .collect();
                let message = format!(
                    "{} is not as the job of {docs} made it, a table with {}: {why}",
                    table.name,
                    columns.join(", ")
                );
                return Err(not_now(message, anew(docs)));
            }
        }
        Ok(id_type)
    }
}

impl Table {
    /// Reports whether the table has the form of one of the tables of a job, for ids of any type.
    pub(crate) fn is_of_job(&self) -> bool {
        JobTable::EVERY.into_iter().any(|kind| {
            let made = kind.definition();
            let id = made.columns.iter().find(|(_, of)| *of == Type::Id);
            let id = id.and_then(|(name, _)| self.type_of(name)).unwrap_or(pg_sys::InvalidOid);
            self.differs_from(&made, &Types::of_ids(id)).is_none()
        })
    }

    /// Reports whether a trigger can insert marks into the table without running other code and
    /// without an error, that is, whether it is a table of states exactly as a job makes it, where
    /// `id` is the type of ids.
    pub(crate) fn takes_marks(&self, id: Oid) -> bool {
        let state = JobTable::State.definition();
        self.takes_any_row(&state.form, &Types::of_ids(id).oids(state.columns))
    }
}
