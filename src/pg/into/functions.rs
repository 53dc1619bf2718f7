//! The functions for work that SQL cannot do. Any user may call them with any arguments. They are
//! not polymorphic, so that a call cannot resolve to another function.

use pgrx::PgSqlErrorCode;
use pgrx::pg_sys::{self, Datum};

use crate::pg::functions::clusters::warn_of_chains;
use crate::pg::functions::near_duplicates::Run;
use crate::pg::query::ids::{self};
use crate::pg::query::names::type_name;
use crate::pg::read::pairs::Pairs;
use crate::pg::request::Request;
use crate::pg::request::form::{self, Form};
use crate::pg::server::call::sql_function;
use crate::pg::server::error::SqlError;
use crate::pg::server::set_returning::{Rows as _, Store};
use crate::pg::server::temp_file::ServerFiles;
use neardup_core::clusters::Clustering;

/// Hints show a call that users know.
const FORM: Form = form::NEAR_DUPLICATES.typed().and_more();
const EXAMPLE: &str = "CALL near_duplicates_into('docs', 0.8, 'docs_pairs', clusters => 'docs_clusters');";

sql_function! {
    /// `neardup_into_pairs(docs, threshold, id_type, …)`: returns the pairs of `near_duplicates`,
    /// with ids of a type that is named.
    neardup_into_pairs, pg_finfo_neardup_into_pairs, |call| {
        let id_type = call.need(2, "id_type")?;
        let request = Request::of_ids(call, FORM, Some(id_type))?;
        let mut store = Store::expected(call, &[id_type, id_type, pg_sys::FLOAT8OID])?;
        let mut run = Run::new(&request)?;
        while let Some(pair) = run.next()? {
            store.put(pair, [false; 3]);
        }
        Ok(Datum::null())
    }
}

sql_function! {
    /// `neardup_into_clusters(pairs, id_type, relation)`: returns the result of `clusters_of_pairs`
    /// for a query. The query must refer to that relation, which the caller has locked.
    neardup_into_clusters, pg_finfo_neardup_into_clusters, |call| {
        let id_type: pg_sys::Oid = call.need(1, "id_type")?;
        let relation: Option<pg_sys::Oid> = call.get(2);
        if !ids::has_order(id_type) {
            let message = format!("values of type {} cannot be ids: they have no order", type_name(id_type));
            return Err(SqlError::new(PgSqlErrorCode::ERRCODE_UNDEFINED_FUNCTION, message).hint(EXAMPLE));
        }
        let mut store =
            Store::expected(call, &[id_type, id_type, pg_sys::BOOLOID, pg_sys::INT8OID, pg_sys::FLOAT8OID])?;
        let files = ServerFiles::in_current_context();
        let mut pairs = Pairs::read(call, Some(id_type), relation.as_slice(), EXAMPLE, &files)?;
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
        Ok(Datum::null())
    }
}
