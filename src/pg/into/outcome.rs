//! Steps that make the tables which the caller named.

use pgrx::pg_sys::{self, Oid};

use super::columns::{Column, Type};
use super::own;
use super::stars;
use super::statements::outcome as statements;
use super::work::Work;
use crate::pg::query::as_user::{as_user, set};
use crate::pg::query::{Parameter, Query};
use crate::pg::server::error::Result;

/// The columns of the table of pairs.
const PAIRS: &[Column] = &[("left_id", Type::Id), ("right_id", Type::Id), ("similarity", Type::Float8)];
/// The columns of the table of clusters.
const CLUSTERS: &[Column] = &[
    ("cluster_id", Type::Id),
    ("id", Type::Id),
    ("representative", Type::Bool),
    ("size", Type::Int8),
    ("similarity", Type::Float8),
];

/// Makes the table of pairs from the working tables.
pub(super) fn make(work: &mut Work) -> Result<()> {
    set(c"enable_nestloop", c"off");
    let (name, oid) = create(work)?;
    work.state.filled = Some(work.backend.fill_result(work, (&name, oid))?);
    Ok(())
}

/// Makes the table of pairs by a join on this server, which reads the documents like any query of
/// the caller.
pub(super) fn join_here(work: &mut Work) -> Result<()> {
    let (name, oid) = as_user(work.caller, || create(work))?;
    let call = work.call;
    // The argument types of near_duplicates, with the type of the ids as the third.
    let types = [
        pg_sys::REGCLASSOID,
        pg_sys::FLOAT8OID,
        pg_sys::JSONBOID,
        pg_sys::TEXTOID,
        pg_sys::TEXTOID,
        pg_sys::TEXTOID,
        pg_sys::TEXTOID,
        pg_sys::INT4OID,
        pg_sys::BOOLOID,
        pg_sys::INT8OID,
        pg_sys::TEXTOID,
    ];
    let mut parameters: Vec<Parameter> =
        types.iter().enumerate().map(|(n, &of)| (of, call.datum(n))).collect();
    parameters.insert(2, (pg_sys::REGTYPEOID, Some(work.asked.id_oid.into())));
    let sql = statements::join_here(&name, &work.asked.id, &work.extension.schema);
    let relations = [oid];
    let query = Query { sql: &sql, parameters: &parameters, relations: &relations, read_only: false };
    work.state.filled = Some(query.run([])?.rows as i64);
    Ok(())
}

fn create(work: &Work) -> Result<(String, Oid)> {
    let name = work.result.qualified()?;
    statements::create_result(&name, &work.asked.id).run()?;
    if let Some(layout) = work.asked.in_parts.as_ref().and_then(|in_parts| in_parts.citus.as_ref()) {
        layout.spread_result(&work.result, "left_id", work.asked.id_oid)?;
    }
    open_result(work)
}

/// Opens the table of pairs that this transaction made.
fn open_result(work: &Work) -> Result<(String, Oid)> {
    work.owned().open(&work.result, own::TABLE, PAIRS)
}

/// Makes the table of clusters, without rows.
fn create_clusters(work: &Work) -> Result<Option<(String, Oid)>> {
    let Some(place) = &work.clusters else { return Ok(None) };
    let name = place.qualified()?;
    statements::create_clusters(&name, &work.asked.id).run()?;
    if let Some(layout) = work.asked.in_parts.as_ref().and_then(|in_parts| in_parts.citus.as_ref()) {
        layout.spread_result(place, "id", work.asked.id_oid)?;
    }
    work.owned().open(place, own::TABLE, CLUSTERS).map(Some)
}

/// Fills the table of clusters from working tables.
pub(super) fn clusters(work: &Work) -> Result<()> {
    let Some((name, oid)) = create_clusters(work)? else { return Ok(()) };
    stars::result(work, (&name, oid))
}

/// Fills the table of clusters from the table of pairs, which is read locally.
pub(super) fn cluster_here(work: &Work) -> Result<()> {
    let Some((name, oid)) = create_clusters(work)? else { return Ok(()) };
    let (result, result_oid) = open_result(work)?;
    let extension = (work.extension.schema.as_str(), work.extension.internal.as_str());
    let ids = (work.asked.id.as_str(), work.asked.id_oid);
    statements::clusters(extension, (&name, oid), (&result, result_oid), ids).run().map(|_| ())
}
