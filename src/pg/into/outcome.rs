//! Steps that make the tables which the caller named.

use pgrx::pg_sys::{self, Datum, Oid};

use super::columns::{Column, Type};
use super::own;
use super::spread::Scratch;
use super::stars;
use super::statements::fill::Named;
use super::statements::outcome as statements;
use super::statements::update;
use super::work::Work;
use crate::pg::functions::clusters::warn_of_chains;
use crate::pg::functions::near_duplicates::Run;
use crate::pg::functions::passages;
use crate::pg::procedure::form::{Form, IndexForm};
use crate::pg::procedure::supplied_rows::supplying;
use crate::pg::query::Query;
use crate::pg::query::as_user::{as_user, set};
use crate::pg::query::operators::equality;
use crate::pg::read::pairs::{Asked, Pairs};
use crate::pg::request::form::KeptArguments;
use crate::pg::request::{PassageRequest, Request};
use crate::pg::server::call::Call;
use crate::pg::server::error::Result;
use crate::pg::server::set_returning::{Rows as _, Store};
use crate::pg::server::temp_file::ServerFiles;
use neardup_core::clusters::Clustering;

/// A call that works, for hints.
const EXAMPLE: &str = "CALL near_duplicates_into('docs', 0.8, 'docs_pairs', clusters => 'docs_clusters');";

/// The columns of the table of pairs.
const PAIRS: &[Column] = &[("left_id", Type::Id), ("right_id", Type::Id), ("similarity", Type::Float8)];
/// The columns of the table of passages.
const PASSAGES: &[Column] = &[
    ("left_id", Type::Id),
    ("right_id", Type::Id),
    ("left_sentence", Type::Int4),
    ("right_sentence", Type::Int4),
    ("sentences", Type::Int4),
    ("left_span", Type::Int4Range),
    ("right_span", Type::Int4Range),
    ("similarity", Type::Float8),
];
/// The columns of the table of clusters.
const CLUSTERS: &[Column] = &[
    ("cluster_id", Type::Id),
    ("id", Type::Id),
    ("representative", Type::Bool),
    ("size", Type::Int8),
    ("similarity", Type::Float8),
];

/// The primary keys, where the tables have some.
const KEY_OF_PAIRS: &[IndexForm] = &[IndexForm::key(&["left_id", "right_id"])];
const KEY_OF_PASSAGES: &[IndexForm] =
    &[IndexForm::key(&["left_id", "right_id", "left_sentence", "right_sentence"])];
const KEY_OF_CLUSTERS: &[IndexForm] = &[IndexForm::key(&["id"])];

/// Makes the table of pairs from the working tables.
pub(super) fn make(work: &mut Work) -> Result<()> {
    set(c"enable_nestloop", c"off");
    if work.asked.is_update() && work.result.relation()?.is_some() {
        return change(work);
    }
    let (name, oid) = create(work)?;
    work.state.filled = Some(work.backend.fill_result(work, (&name, oid))?);
    Ok(())
}

/// Makes the pairs in a table of their own, and changes the rows of the table of pairs that differ.
fn change(work: &mut Work) -> Result<()> {
    let (result, oid) = open_result(work)?;
    let spread = work.spread()?;
    let place = spread.scratch(Scratch::Found);
    spread.drop_scratch(Scratch::Found)?;
    statements::create_result(&place.qualified()?, &work.asked.id, false, false).run()?;
    if let Some(layout) = work.asked.in_parts.as_ref().and_then(|in_parts| in_parts.citus.as_ref()) {
        layout.spread_like(&place, "left_id", (&result, oid))?;
    }
    let found = work.owned().open(&place, own::TABLE, PAIRS)?;
    let rows = work.backend.fill_result(work, (&found.0, found.1))?;
    for statement in update::pairs_become((&result, oid), (&found.0, found.1), &equality(work.asked.id_oid)?)
    {
        statement.run()?;
    }
    spread.drop_scratch(Scratch::Found)?;
    work.state.filled = Some(rows);
    Ok(())
}

/// A table of clusters to fill, and that of an earlier call, which is to get the same rows.
struct ClustersToFill {
    made: (String, Oid),
    old: Option<(String, Oid)>,
}

/// Opens the table of clusters of an earlier call, and makes one of the same columns for what it is
/// to have, or makes the table of clusters if there is none.
fn clusters_to_fill(work: &Work) -> Result<Option<ClustersToFill>> {
    let Some(place) = &work.clusters else { return Ok(None) };
    if !work.asked.is_update() || place.relation()?.is_none() {
        return Ok(create_clusters(work)?.map(|made| ClustersToFill { made, old: None }));
    }
    let old = work.owned().open(place, form_of_clusters(work), CLUSTERS)?;
    let spread = work.spread()?;
    let place = spread.scratch(Scratch::Grouped);
    spread.drop_scratch(Scratch::Grouped)?;
    statements::create_clusters(&place.qualified()?, &work.asked.id, false).run()?;
    if let Some(layout) = work.asked.in_parts.as_ref().and_then(|in_parts| in_parts.citus.as_ref()) {
        layout.spread_like(&place, "id", (&old.0, old.1))?;
    }
    let made = work.owned().open(&place, own::TABLE, CLUSTERS)?;
    Ok(Some(ClustersToFill { made, old: Some(old) }))
}

/// Changes the rows of an earlier table of clusters that differ.
fn change_clusters(work: &Work, made: Named<'_>, old: Option<(String, Oid)>) -> Result<()> {
    let Some(old) = old else { return Ok(()) };
    for statement in update::clusters_become((&old.0, old.1), made, &equality(work.asked.id_oid)?) {
        statement.run()?;
    }
    work.spread()?.drop_scratch(Scratch::Grouped)
}

/// Makes the table of pairs by a join on this server, which reads the documents like any query of
/// the caller.
pub(super) fn join_here(work: &mut Work) -> Result<()> {
    let (name, oid) = as_user(work.caller, || create(work))?;
    let (join, id) = (&work.arguments.join, work.asked.id_oid);
    let (types, columns) = (work.owned().types, columns(work));
    let sql = statements::join_here(&work.extension.internal, &name, &types.sql(columns));
    let query = Query { relations: &[oid], read_only: false, ..Query::new(&sql) };
    let columns: Vec<Oid> = types.oids(columns).into_iter().map(|(_, of)| of).collect();
    let passages = work.arguments.passages;
    let mut supply = |_: Call, store: &mut Store| {
        if passages { passages_here(join, id, store) } else { pairs_here(join, id, store) }
    };
    let inserted = supplying(&columns, &mut supply, || query.run([]))?;
    work.state.filled = Some(inserted.rows as i64);
    Ok(())
}

/// Stores the pairs of `near_duplicates`, where `id` is the type of ids.
fn pairs_here(join: &KeptArguments, id: Oid, store: &mut Store) -> Result<()> {
    let request = Request::of_kept(join, id)?;
    let mut run = Run::new(&request)?;
    while let Some(pair) = run.next()? {
        store.put(pair, [false; 3]);
    }
    Ok(())
}

/// Stores the passages of `partial_duplicates`, where `id` is the type of ids.
fn passages_here(join: &KeptArguments, id: Oid, store: &mut Store) -> Result<()> {
    let request = PassageRequest::of_kept(join, id)?;
    let mut run = passages::Run::new(&request)?;
    while let Some(passage) = run.next()? {
        store.put(passage, [false; 8]);
    }
    Ok(())
}

/// Returns the columns of the table of pairs or of passages.
fn columns(work: &Work) -> &'static [Column] {
    if work.arguments.passages { PASSAGES } else { PAIRS }
}

fn create(work: &Work) -> Result<(String, Oid)> {
    let name = work.result.qualified()?;
    statements::create_result(&name, &work.asked.id, has_key(work), work.arguments.passages).run()?;
    if let Some(layout) = work.asked.in_parts.as_ref().and_then(|in_parts| in_parts.citus.as_ref()) {
        layout.spread_result(&work.result, "left_id", work.asked.id_oid)?;
    }
    open_result(work)
}

/// Opens the table of pairs that this transaction made.
fn open_result(work: &Work) -> Result<(String, Oid)> {
    work.owned().open(&work.result, form_of_result(work), columns(work))
}

/// Reports whether the tables have primary keys: Citus moves a shard while it is written to only if
/// the shards that move with it have one, and results are colocated with the documents. Elsewhere a
/// key would only cost time.
fn has_key(work: &Work) -> bool {
    work.asked.in_parts.as_ref().is_some_and(|in_parts| in_parts.citus.is_some())
}

/// Returns the form of the table of pairs or of passages.
fn form_of_result(work: &Work) -> Form {
    let key = if work.arguments.passages { KEY_OF_PASSAGES } else { KEY_OF_PAIRS };
    Form { indexes: if has_key(work) { key } else { &[] }, ..own::TABLE }
}

/// Returns the form of the table of clusters.
fn form_of_clusters(work: &Work) -> Form {
    Form { indexes: if has_key(work) { KEY_OF_CLUSTERS } else { &[] }, ..own::TABLE }
}

/// Reports whether the tables that the caller named are there. Fails if they are not as this call
/// makes them.
pub(super) fn is_made(work: &Work) -> Result<bool> {
    if work.result.relation()?.is_none() {
        return Ok(false);
    }
    open_result(work)?;
    let Some(clusters) = &work.clusters else { return Ok(true) };
    if clusters.relation()?.is_none() {
        return Ok(false);
    }
    work.owned().open(clusters, form_of_clusters(work), CLUSTERS).map(|_| true)
}

/// Makes the table of clusters, without rows.
fn create_clusters(work: &Work) -> Result<Option<(String, Oid)>> {
    let Some(place) = &work.clusters else { return Ok(None) };
    let name = place.qualified()?;
    statements::create_clusters(&name, &work.asked.id, has_key(work)).run()?;
    if let Some(layout) = work.asked.in_parts.as_ref().and_then(|in_parts| in_parts.citus.as_ref()) {
        layout.spread_result(place, "id", work.asked.id_oid)?;
    }
    work.owned().open(place, form_of_clusters(work), CLUSTERS).map(Some)
}

/// Fills the table of clusters from working tables.
pub(super) fn clusters(work: &Work) -> Result<()> {
    let Some(ClustersToFill { made: (name, oid), old }) = clusters_to_fill(work)? else { return Ok(()) };
    stars::result(work, (&name, oid))?;
    change_clusters(work, (&name, oid), old)
}

/// Fills the table of clusters from the table of pairs, which is read locally.
pub(super) fn cluster_here(work: &Work) -> Result<()> {
    let Some(ClustersToFill { made: (name, oid), old }) = clusters_to_fill(work)? else { return Ok(()) };
    let (result, result_oid) = open_result(work)?;
    let id = work.asked.id_oid;
    let statement =
        statements::clusters(&work.extension.internal, (&name, oid), (&result, result_oid), &work.asked.id);
    let columns = [id, id, pg_sys::BOOLOID, pg_sys::INT8OID, pg_sys::FLOAT8OID];
    let mut clusters = |call, store: &mut Store| clusters_here(call, (id, result_oid), store);
    supplying(&columns, &mut clusters, || statement.run())?;
    change_clusters(work, (&name, oid), old)
}

/// Stores the clusters of the pairs that the query in argument 0 of a call reads from the table of
/// pairs, as `clusters_of_pairs` does.
fn clusters_here(call: Call, (id, result): (Oid, Oid), store: &mut Store) -> Result<()> {
    let files = ServerFiles::in_current_context();
    let asked = Asked { name: "clusters_of_pairs", id_type: Some(id), relations: &[result], hint: EXAMPLE };
    let mut pairs = Pairs::read(call, asked, &files)?;
    let clusters = pairs.clusters(Clustering::Connected, None)?;
    warn_of_chains(&clusters);
    for cluster in clusters.iter() {
        let id = |vertex: u32| pairs.ids.datum(pairs.places[vertex as usize]);
        for (&vertex, &similarity) in cluster.members.iter().zip(cluster.similarity) {
            let row = [
                id(cluster.id),
                id(vertex),
                Datum::from(vertex == cluster.representative),
                Datum::from(cluster.members.len()),
                Datum::from(similarity.to_bits()),
            ];
            store.put(row, [false, false, false, false, similarity.is_nan()]);
        }
    }
    Ok(())
}
