//! Steps that make the tables which the caller named.

use pgrx::pg_sys::Oid;

use super::place::TablePlace;
use super::statements::{result as statements, stars};
use super::tables::own;
use super::work::CallWork;
use crate::into::step::WorkingTable;
use crate::pg::functions::clusters::near_duplicate_clusters::{member_rows, warn_of_chains};
use crate::pg::functions::pairs::near_duplicates::RunningJoin;
use crate::pg::functions::passages::partial_duplicates;
use crate::pg::procedure::definition::{TableDefinition, Type};
use crate::pg::procedure::form::{IndexForm, TableForm};
use crate::pg::procedure::rows::{Supplied, supplying};
use crate::pg::procedure::table::Table;
use crate::pg::query::Query;
use crate::pg::query::as_user::{as_user, set};
use crate::pg::query::names::equality;
use crate::pg::read::pairs::{AskedPairs, PairGraph};
use crate::pg::request::{PassageRequest, Request};
use crate::pg::server::call::FunctionCall;
use crate::pg::server::error::Result;
use crate::pg::server::set_returning::RowStore;
use crate::pg::server::temp_file::ServerFiles;
use neardup_core::clusters::Clustering;

/// A call that works, for hints.
const EXAMPLE: &str = "CALL near_duplicates_into('docs', 0.8, 'docs_pairs', clusters => 'docs_clusters');";

/// A table that the caller named: how it is made where it has a primary key.
struct Made(TableDefinition);

/// A result with this primary key.
const fn with_key(indexes: &'static [IndexForm]) -> TableForm {
    TableForm { indexes, ..own::TABLE }
}

const PAIRS: Made = Made(TableDefinition {
    columns: &[("left_id", Type::Id), ("right_id", Type::Id), ("similarity", Type::Float8)],
    nullable: &[],
    form: with_key(&[IndexForm::key(&["left_id", "right_id"])]),
});

const PASSAGES: Made = Made(TableDefinition {
    columns: &[
        ("left_id", Type::Id),
        ("right_id", Type::Id),
        ("left_sentence", Type::Int4),
        ("right_sentence", Type::Int4),
        ("sentences", Type::Int4),
        ("left_span", Type::Int4Range),
        ("right_span", Type::Int4Range),
        ("similarity", Type::Float8),
    ],
    nullable: &[],
    form: with_key(&[IndexForm::key(&["left_id", "right_id", "left_sentence", "right_sentence"])]),
});

/// Passages of edited words, which have no sentences.
const EDITED: Made = Made(TableDefinition {
    nullable: &["left_sentence", "right_sentence", "sentences"],
    form: with_key(&[IndexForm::key(&["left_id", "right_id", "left_span", "right_span"])]),
    ..PASSAGES.0
});

const CLUSTERS: Made = Made(TableDefinition {
    columns: &[
        ("cluster_id", Type::Id),
        ("id", Type::Id),
        ("representative", Type::Bool),
        ("size", Type::Int8),
        ("similarity", Type::Float8),
    ],
    nullable: &["similarity"],
    form: with_key(&[IndexForm::key(&["id"])]),
});

impl Made {
    /// Returns the table of pairs or of passages.
    fn for_work(work: &CallWork) -> &'static Self {
        let arguments = &work.call.arguments;
        match arguments.others.passages {
            true if arguments.join.edits.is_some() => &EDITED,
            true => &PASSAGES,
            false => &PAIRS,
        }
    }

    /// Returns rows of such a table that the library supplies, made of those of a query if there is
    /// one.
    fn supplied<'a>(&self, work: &'a CallWork, query: Option<&'a str>) -> Supplied<'a> {
        let internal = &work.call.extension.internal;
        Supplied { internal, query, types: work.owned().types, columns: self.0.columns }
    }

    /// Makes the table without rows, or one of the same columns for what it is to have, which is
    /// distributed like it.
    fn make(&self, work: &CallWork, place: &TablePlace, like: Option<&Table>) -> Result<Table> {
        let definition = self.definition(like.is_none() && has_key(work));
        definition.make(&place.qualified()?, &work.owned().types)?;
        // Citus distributes it by the first column of its key.
        let by = self.0.form.indexes[0].keys[0];
        match (work.call.citus(), like) {
            (Some(layout), None) => layout.spread_result(place, by, work.call.asked.id_oid)?,
            (Some(layout), Some(like)) => layout.spread_like(place, by, like)?,
            (None, _) => {}
        }
        work.owned().open(place, definition.form, definition.columns)
    }

    fn open(&self, work: &CallWork, place: &TablePlace) -> Result<Table> {
        let TableDefinition { form, columns, .. } = self.definition(has_key(work));
        work.owned().open(place, form, columns)
    }

    /// Returns how the table is made, with its primary key or without one.
    fn definition(&self, has_key: bool) -> TableDefinition {
        if has_key { self.0 } else { TableDefinition { form: own::TABLE, ..self.0 } }
    }

    /// Makes and fills the table. One that an earlier call made gets the rows that differ, from a
    /// table of its own. Returns the number of rows.
    fn put(
        &self,
        work: &CallWork,
        place: &TablePlace,
        scratch: WorkingTable,
        fill: impl FnOnce(&Table) -> Result<i64>,
    ) -> Result<i64> {
        if !work.is_update() || place.relation()?.is_none() {
            return fill(&self.make(work, place, None)?);
        }
        let (old, spread) = (self.open(work, place)?, work.spread()?);
        spread.drop(scratch)?;
        let made = self.make(work, &spread.place(scratch), Some(&old))?;
        let rows = fill(&made)?;
        let eq = equality(work.call.asked.id_oid)?;
        let same = self.0.columns.iter().map(|&(name, of)| match of {
            Type::Id => format!("f.{name} {eq} p.{name}"),
            _ if self.0.nullable.contains(&name) => {
                format!("f.{name} IS NOT DISTINCT FROM p.{name}")
            }
            _ => format!("f.{name} = p.{name}"),
        });
        statements::become_equal(&old, &made, &same.collect::<Vec<_>>().join(" AND "))?;
        spread.drop(scratch)?;
        Ok(rows)
    }
}

/// Reports whether the tables have primary keys: Citus moves a shard while it is written to only if
/// the shards that move with it have one, and results are colocated with the documents. Elsewhere a
/// key would only cost time.
fn has_key(work: &CallWork) -> bool {
    work.call.citus().is_some()
}

/// Makes the table of pairs from the working tables.
pub(super) fn make(work: &mut CallWork) -> Result<()> {
    set(c"enable_nestloop", c"off");
    let fill = |pairs: &Table| statements::fill_pairs(work, pairs);
    let rows = Made::for_work(work).put(work, &work.call.places.pairs, WorkingTable::Found, fill)?;
    work.state.filled = Some(rows);
    Ok(())
}

/// Makes the table of pairs by a join on this server, which reads the documents like any query of
/// the caller.
pub(super) fn join_here(work: &mut CallWork) -> Result<()> {
    let made = Made::for_work(work);
    let result = as_user(work.call.caller, || made.make(work, &work.call.places.pairs, None))?;
    let (join, id) = (&work.call.arguments.join, work.call.asked.id_oid);
    let passages = work.call.arguments.others.passages;
    let mut supply = |_: FunctionCall, store: &mut RowStore| {
        if passages {
            store.put_all(partial_duplicates::running_search(&PassageRequest::of_kept(join, id)?)?)
        } else {
            store.put_all(RunningJoin::new(&Request::of_kept(join, id)?)?)
        }
    };
    let inserted = supplying(made.supplied(work, None), &mut supply, |rows| {
        let sql = statements::supply(&result, rows);
        Query { relations: &[result.oid], read_only: false, ..Query::new(&sql) }.run([])
    })?;
    work.state.filled = Some(inserted.rows as i64);
    Ok(())
}

/// Reports whether the tables that the caller named are there. Fails if they are not as this call
/// makes them.
pub(super) fn is_made(work: &CallWork) -> Result<bool> {
    let clusters = work.call.places.clusters.as_ref().map(|place| (&CLUSTERS, place));
    for (made, place) in [(Made::for_work(work), &work.call.places.pairs)].into_iter().chain(clusters) {
        if place.relation()?.is_none() {
            return Ok(false);
        }
        made.open(work, place)?;
    }
    Ok(true)
}

/// Makes the table of clusters, if one is wanted.
fn make_clusters(work: &CallWork, fill: impl FnOnce(&Table) -> Result<i64>) -> Result<()> {
    let Some(place) = &work.call.places.clusters else { return Ok(()) };
    CLUSTERS.put(work, place, WorkingTable::Grouped, fill).map(|_| ())
}

/// Fills the table of clusters from working tables.
pub(super) fn clusters(work: &CallWork) -> Result<()> {
    make_clusters(work, |clusters| stars::fill_result(work, clusters))
}

/// Fills the table of clusters from the table of pairs, which is read locally.
pub(super) fn cluster_here(work: &CallWork) -> Result<()> {
    make_clusters(work, |clusters| {
        let result = Made::for_work(work).open(work, &work.call.places.pairs)?;
        let (id, query) = (work.call.asked.id_oid, statements::every_pair(&result));
        let mut supply = |call, store: &mut RowStore| clusters_here(call, id, result.oid, store);
        supplying(CLUSTERS.supplied(work, Some(&query)), &mut supply, |rows| {
            statements::fill(clusters, rows).run()
        })
    })
}

/// Stores the clusters of the pairs that the query in argument 0 of a call reads from the table of
/// pairs, as `clusters_of_pairs` does.
fn clusters_here(call: FunctionCall, id: Oid, result: Oid, store: &mut RowStore) -> Result<()> {
    let files = ServerFiles::in_current_context();
    let asked =
        AskedPairs { name: "clusters_of_pairs", id_type: Some(id), relations: &[result], hint: EXAMPLE };
    let mut pairs = PairGraph::read(call, asked, &files)?;
    let clusters = pairs.clusters(Clustering::Connected, None)?;
    warn_of_chains(&clusters);
    store.put_all(member_rows::<5>(pairs.vertices, vec![(None, clusters)]))
}
