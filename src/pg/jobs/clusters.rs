//! The clusters of a job, as rows that a statement stores: cluster, id, and a flag for the
//! representative.

use pgrx::PgSqlErrorCode;
use pgrx::pg_sys::{self, Oid};

use super::hints::anew;
use super::statements::names::Names;
use crate::pg::functions::clusters::{MemberRows, grouped_rows, warn_of_chains};
use crate::pg::read::pairs::{AskedPairs, PairGraph};
use crate::pg::request::such_as;
use crate::pg::server::call::FunctionCall;
use crate::pg::server::error::{Result, SqlError};
use crate::pg::server::set_returning::RowStore;
use crate::pg::server::temp_file::ServerFiles;
use neardup_core::clusters::Clustering;

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
    store.put_all(MemberRows::<3>::new(pairs.vertices, clusters))
}

/// Stores the clusters that the method makes from the signatures of all rows instead of from pairs.
pub(super) fn of_signatures(names: &Names, store: &mut RowStore) -> Result<()> {
    let request = names.request()?;
    let Some(grouping) = names.clustering.grouping(&request) else {
        let message = "clusters of this method are made of its pairs";
        return Err(SqlError::new(PgSqlErrorCode::ERRCODE_FEATURE_NOT_SUPPORTED, message)
            .hint(such_as(&request.example)));
    };
    let (vertices, clusters) = grouped_rows(&request, grouping)?;
    store.put_all(MemberRows::<3>::new(vertices, clusters))
}
