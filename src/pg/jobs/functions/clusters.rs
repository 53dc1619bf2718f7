//! The clusters of a job, made anew.

use pgrx::PgSqlErrorCode;
use pgrx::pg_sys::{self, Datum};

use super::arguments::{NEXT, request};
use crate::clusters::Clustering;
use crate::clusters::grouping::Clusters;
use crate::pg::functions::clusters::{Grouped, warn_of_chains};
use crate::pg::query::ids::{self, Ids};
use crate::pg::query::names::type_name;
use crate::pg::read::pairs::Pairs;
use crate::pg::request::example::Example;
use crate::pg::request::{How, such_as};
use crate::pg::server::call::sql_function;
use crate::pg::server::error::SqlError;
use crate::pg::server::set_returning::Store;
use crate::pg::server::temp_file::ServerFiles;

sql_function! {
    /// `neardup_job_clusters(pairs, id_type, max_cluster_size, clustering, relation)`: what `clusters_of_pairs` gives of a
    /// query, which is about that relation if there is one, locked by the caller: clusters, ids, and whether these are
    /// representatives.
    neardup_job_clusters, pg_finfo_neardup_job_clusters, |call| {
        let id_type: pg_sys::Oid = call.need(1, "id_type")?;
        let relation: Option<pg_sys::Oid> = call.get(4);
        let mut example = Example::new("clusters_of_pairs", ["SELECT * FROM near_duplicates('docs', 0.8)".to_owned()]);
        example.threshold = None;
        if ids::has_order(id_type) {
            example = example.with("id_type", format!("NULL::{}", type_name(id_type)));
        }
        let how = How::new(call.text(3)?.as_deref(), call.get(2), &example)?;
        let mut store = Store::expected(call, &[id_type, id_type, pg_sys::BOOLOID])?;
        let files = ServerFiles::in_current_context();
        let mut pairs = Pairs::read(call, Some(id_type), relation.as_slice(), &such_as(&example), &files)?;
        let clusters = pairs.clusters(how.clustering, how.largest)?;
        if how.clustering == Clustering::Connected {
            warn_of_chains(&clusters);
        }
        put(&mut store, &pairs.ids, &pairs.places, &clusters);
        Ok(Datum::null())
    }
}

sql_function! {
    /// `neardup_job_grouping(…, clustering)`: the same of a method that makes clusters of signatures, not of pairs.
    neardup_job_grouping, pg_finfo_neardup_job_grouping, |call| {
        let request = request(call)?;
        let how = How::new(call.text(NEXT)?.as_deref(), None, &request.example)?;
        let mut store = Store::expected(call, &[request.id_type, request.id_type, pg_sys::BOOLOID])?;
        let Some(grouping) = how.grouping(&request) else {
            let message = "clusters of this method are made of its pairs";
            return Err(SqlError::new(PgSqlErrorCode::ERRCODE_FEATURE_NOT_SUPPORTED, message)
                .hint(such_as(&request.example)));
        };
        let Grouped { ids, order, clusters } = Grouped::new(call, &request, grouping)?;
        put(&mut store, &ids, &order, &clusters);
        Ok(Datum::null())
    }
}

/// Gives the members of all clusters; a vertex has its id at a place of `ids`.
fn put(store: &mut Store, ids: &Ids, places: &[u32], clusters: &Clusters) {
    let id = |vertex: u32| ids.datum(places[vertex as usize]);
    for cluster in clusters.iter() {
        for &vertex in cluster.members {
            let is_representative = Datum::from(vertex == cluster.representative);
            store.put([id(cluster.id), id(vertex), is_representative], [false; 3]);
        }
    }
}
