//! The clusters of a job, as rows that a statement stores: cluster, id, and a flag for the
//! representative.

use pgrx::PgSqlErrorCode;
use pgrx::pg_sys::{self, Datum, Oid};

use super::hints::anew;
use super::statements::names::Names;
use crate::pg::functions::clusters::{GroupedRows, warn_of_chains};
use crate::pg::query::ids::RowIds;
use crate::pg::read::pairs::{AskedPairs, PairGraph};
use crate::pg::request::such_as;
use crate::pg::server::call::FunctionCall;
use crate::pg::server::error::{Result, SqlError};
use crate::pg::server::set_returning::RowStore;
use crate::pg::server::temp_file::ServerFiles;
use neardup_core::clusters::Clustering;
use neardup_core::clusters::grouping::Clusters;

/// Returns the types of the columns, where `id` is the type of ids.
pub(super) fn columns(id: Oid) -> [Oid; 3] {
    [id, id, pg_sys::BOOLOID]
}

/// Stores the clusters of pairs. The query in argument 0 of `call` reads the pairs from the job's
/// table of pairs.
pub(super) fn of_pairs(names: &Names, call: FunctionCall, store: &mut RowStore) -> Result<()> {
    let how = names.clustering;
    let files = ServerFiles::in_current_context();
    let asked = AskedPairs {
        name: "clusters_of_pairs",
        id_type: Some(names.id_oid),
        relations: &[names.tables.pairs.oid],
        hint: &anew(&names.docs_name),
    };
    let mut pairs = PairGraph::read(call, asked, &files)?;
    let clusters = pairs.clusters(how.clustering, how.largest)?;
    if how.clustering == Clustering::Connected {
        warn_of_chains(&clusters);
    }
    put(store, &pairs.ids, &pairs.places, &clusters);
    Ok(())
}

/// Stores the clusters that the method makes from the signatures of all rows instead of from pairs.
pub(super) fn of_signatures(names: &Names, store: &mut RowStore) -> Result<()> {
    let request = names.request()?;
    let Some(grouping) = names.clustering.grouping(&request) else {
        let message = "clusters of this method are made of its pairs";
        return Err(SqlError::new(PgSqlErrorCode::ERRCODE_FEATURE_NOT_SUPPORTED, message)
            .hint(such_as(&request.example)));
    };
    let GroupedRows { ids, order, clusters } = GroupedRows::new(&request, grouping)?;
    put(store, &ids, &order, &clusters);
    Ok(())
}

/// Stores the members of all clusters. The id of a vertex is in `ids`, at the place that `places`
/// holds for the vertex.
fn put(store: &mut RowStore, ids: &RowIds, places: &[u32], clusters: &Clusters) {
    let id = |vertex: u32| ids.datum(places[vertex as usize]);
    for cluster in clusters.iter() {
        for &vertex in cluster.members {
            let is_representative = Datum::from(vertex == cluster.representative);
            store.put([id(cluster.id), id(vertex), is_representative], [false; 3]);
        }
    }
}
