//! Steps that make the tables which the caller named.

use pgrx::pg_sys::Oid;

use super::nodes::citus::CitusLayout;
use super::place::TablePlace;
use super::statements::{result as statements, stars};
use super::tables::columns::{Column, Type};
use super::tables::own::{self, OwnTable};
use super::work::CallWork;
use crate::into::step::WorkingTable;
use crate::pg::functions::clusters::{MemberRows, warn_of_chains};
use crate::pg::functions::near_duplicates::RunningJoin;
use crate::pg::functions::passages;
use crate::pg::procedure::form::{IndexForm, TableForm};
use crate::pg::procedure::rows::supplying;
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

/// A table that the caller named.
struct Made {
    /// Its columns.
    columns: &'static [Column],
    /// The only column that can be NULL.
    nullable: &'static str,
    /// The primary key, where it has one.
    key: &'static [IndexForm],
    /// The column of ids by which Citus distributes it.
    by: &'static str,
}

const PAIRS: Made = Made {
    columns: &[("left_id", Type::Id), ("right_id", Type::Id), ("similarity", Type::Float8)],
    nullable: "",
    key: &[IndexForm::key(&["left_id", "right_id"])],
    by: "left_id",
};

const PASSAGES: Made = Made {
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
    key: &[IndexForm::key(&["left_id", "right_id", "left_sentence", "right_sentence"])],
    ..PAIRS
};

const CLUSTERS: Made = Made {
    columns: &[
        ("cluster_id", Type::Id),
        ("id", Type::Id),
        ("representative", Type::Bool),
        ("size", Type::Int8),
        ("similarity", Type::Float8),
    ],
    nullable: "similarity",
    key: &[IndexForm::key(&["id"])],
    by: "id",
};

impl Made {
    /// Returns the table of pairs or of passages.
    fn for_work(work: &CallWork) -> &'static Self {
        if work.call.arguments.others.passages { &PASSAGES } else { &PAIRS }
    }

    /// Makes the table without rows, or one of the same columns for what it is to have, which is
    /// distributed like it.
    fn make(&self, work: &CallWork, place: &TablePlace, like: Option<&OwnTable>) -> Result<OwnTable> {
        let (types, has_key) = (work.owned().types, like.is_none() && has_key(work));
        let columns = self.columns.iter().map(|column| {
            let constraint = if column.0 == self.nullable { "" } else { " NOT NULL" };
            format!("{}{constraint}", types.sql(&[*column]))
        });
        let keys = self.key.iter().filter(|_| has_key);
        let key = keys.map(|key| format!("PRIMARY KEY ({})", key.keys.join(", ")));
        let columns: Vec<String> = columns.chain(key).collect();
        statements::create(&place.qualified()?, &columns).run()?;
        match (citus(work), like) {
            (Some(layout), None) => layout.spread_result(place, self.by, work.call.asked.id_oid)?,
            (Some(layout), Some(like)) => layout.spread_like(place, self.by, like)?,
            (None, _) => {}
        }
        self.open_as(work, place, has_key)
    }

    fn open(&self, work: &CallWork, place: &TablePlace) -> Result<OwnTable> {
        self.open_as(work, place, has_key(work))
    }

    fn open_as(&self, work: &CallWork, place: &TablePlace, has_key: bool) -> Result<OwnTable> {
        let form = TableForm { indexes: if has_key { self.key } else { &[] }, ..own::TABLE };
        work.owned().open(place, form, self.columns)
    }

    /// Makes and fills the table. One that an earlier call made gets the rows that differ, from a
    /// table of its own. Returns the number of rows.
    fn put(
        &self,
        work: &CallWork,
        place: &TablePlace,
        scratch: WorkingTable,
        fill: impl FnOnce(&OwnTable) -> Result<i64>,
    ) -> Result<i64> {
        if !work.is_update() || place.relation()?.is_none() {
            return fill(&self.make(work, place, None)?);
        }
        let (old, spread) = (self.open(work, place)?, work.spread()?);
        spread.drop(scratch)?;
        let made = self.make(work, &spread.place(scratch), Some(&old))?;
        let rows = fill(&made)?;
        let eq = equality(work.call.asked.id_oid)?;
        let same = self.columns.iter().map(|&(name, of)| match of {
            Type::Id => format!("f.{name} {eq} p.{name}"),
            _ if name == self.nullable => format!("f.{name} IS NOT DISTINCT FROM p.{name}"),
            _ => format!("f.{name} = p.{name}"),
        });
        statements::become_equal(&old, &made, &same.collect::<Vec<_>>().join(" AND "))?;
        spread.drop(scratch)?;
        Ok(rows)
    }
}

/// Returns the layout of the nodes of Citus that hold the documents.
fn citus(work: &CallWork) -> Option<&CitusLayout> {
    work.call.asked.in_parts.as_ref()?.logged.citus.as_ref()
}

/// Reports whether the tables have primary keys: Citus moves a shard while it is written to only if
/// the shards that move with it have one, and results are colocated with the documents. Elsewhere a
/// key would only cost time.
fn has_key(work: &CallWork) -> bool {
    citus(work).is_some()
}

/// Makes the table of pairs from the working tables.
pub(super) fn make(work: &mut CallWork) -> Result<()> {
    set(c"enable_nestloop", c"off");
    let fill = |pairs: &OwnTable| statements::fill_pairs(work, pairs);
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
    let (types, columns) = (work.owned().types, made.columns);
    let sql = statements::supply(&work.call.extension.internal, &result, None, &types.sql(columns));
    let query = Query { relations: &[result.oid], read_only: false, ..Query::new(&sql) };
    let columns: Vec<Oid> = types.oids(columns).into_iter().map(|(_, of)| of).collect();
    let passages = work.call.arguments.others.passages;
    let mut supply = |_: FunctionCall, store: &mut RowStore| {
        if passages {
            store.put_all(passages::RunningSearch::new(&PassageRequest::of_kept(join, id)?)?)
        } else {
            store.put_all(RunningJoin::new(&Request::of_kept(join, id)?)?)
        }
    };
    let inserted = supplying(&columns, &mut supply, || query.run([]))?;
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
fn make_clusters(work: &CallWork, fill: impl FnOnce(&OwnTable) -> Result<i64>) -> Result<()> {
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
        let (id, types) = (work.call.asked.id_oid, work.owned().types);
        let columns = types.sql(CLUSTERS.columns);
        let statement = statements::clusters(&work.call.extension.internal, clusters, &result, &columns);
        let columns: Vec<Oid> = types.oids(CLUSTERS.columns).into_iter().map(|(_, of)| of).collect();
        let mut clusters = |call, store: &mut RowStore| clusters_here(call, id, result.oid, store);
        supplying(&columns, &mut clusters, || statement.run())
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
    store.put_all(MemberRows::<5>::new(pairs.vertices, clusters))
}
