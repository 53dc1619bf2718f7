//! `near_duplicate_clusters`: groups the pairs of a join into clusters
//! (docs/reference/functions.md).

use std::time::Instant;

use pgrx::pg_sys::{self, Datum};

use crate::pg::functions::pairs::near_duplicates::{RunningJoin, too_many_pairs};
use crate::pg::functions::pairs::near_duplicates_stats::{StoredAccount, tell_weak};
use crate::pg::query::ids::{OrderedIds, RowIds, RowPlaces};
use crate::pg::query::relation::Relation;
use crate::pg::read::documents::Finished;
use crate::pg::read::pairs::PairGraph;
use crate::pg::request::example::{Example, named};
use crate::pg::request::form::{Argument, NEAR_DUPLICATE_CLUSTERS, Named};
use crate::pg::request::{ClusteringArguments, Request};
use crate::pg::server::call::{FunctionCall, sql_functions};
use crate::pg::server::error::Result;
use crate::pg::server::executor::BackendExecutor;
use crate::pg::server::notices::warning_with;
use crate::pg::server::set_returning::{self, RowSource, Rows, float};
use crate::pg::server::settings;
use crate::pg::server::temp_file::ServerFiles;
use neardup_core::clusters::edges::{Edge, Edges};
use neardup_core::clusters::graph::Graph;
use neardup_core::clusters::grouping::{Cluster, Clusters};
use neardup_core::clusters::needed::{NeededSets, Purpose};
use neardup_core::clusters::{Clustering, LARGEST_COUNTED};
use neardup_core::methods::Grouping;
use neardup_core::methods::account::milliseconds;

sql_functions! {
    /// `near_duplicate_clusters(docs, threshold, …)`
    neardup_near_duplicate_clusters: answer;
}

fn answer(call: FunctionCall) -> Result<Datum> {
    set_returning::answer(call, || {
        let given = NEAR_DUPLICATE_CLUSTERS.bind(call);
        let request = Request::new(given)?;
        let how = how(given, &request.example)?;
        if let Some(grouping) = how.grouping(&request) {
            let (vertices, clusters) = grouped_rows(&request, grouping)?;
            return Ok(member_rows::<5>(vertices, vec![(None, clusters)]));
        }
        let files = ServerFiles::in_current_context();
        let mut joining = Joining::new(&request)?;
        // Perhaps-similar sets and weakest links depend on all pairs.
        let all = how.clustering == Clustering::PerhapsSimilar || how.largest.is_some();
        if !all {
            let by_id =
                |ids: &RowIds, executor: &BackendExecutor| RowPlaces::new(&ids.order_if_any(executor)?);
            joining.needed(&files, Purpose::Clusters(LARGEST_COUNTED), by_id)?;
        }
        let (mut joined, _) = joining.graph(&files, false)?;
        let clusters = how.clusters(&mut joined)?;
        Ok(member_rows(joined.vertices, vec![(None, clusters)]))
    })
}

/// Returns how to group the pairs of a call into clusters.
pub(crate) fn how(given: Named<'_>, example: &Example) -> Result<ClusteringArguments> {
    let clustering = given.text(Argument::Clustering)?;
    ClusteringArguments::new(clustering.as_deref(), given.get(Argument::MaxClusterSize), example)
}

impl ClusteringArguments {
    /// Returns the method's own grouping if the call asks for perhaps-similar sets and the method
    /// can make them itself. Returns `None` if the clusters are made from pairs.
    pub(crate) fn grouping<'a>(&self, request: &'a Request) -> Option<&'a dyn Grouping> {
        // That of a method is of all rows.
        let is_whole = self.clustering == Clustering::PerhapsSimilar && !request.left.is_limited();
        request.method.grouping().filter(|_| is_whole)
    }

    /// Makes the clusters of pairs, and warns the caller of chains.
    pub(crate) fn clusters(&self, pairs: &mut PairGraph<'_>) -> Result<Clusters> {
        let clusters = pairs.clusters(self.clustering, self.largest)?;
        if self.clustering == Clustering::Connected {
            warn_of_chains(&clusters);
        }
        Ok(clusters)
    }
}

/// Makes the perhaps-similar sets of a request, which must have only one table, by the method
/// itself, without a join. Vertices are rows in the order of their ids.
pub(crate) fn grouped_rows(request: &Request, grouping: &dyn Grouping) -> Result<(OrderedIds, Clusters)> {
    let weight = match grouping.weight() {
        None => None,
        Some(name) => {
            let relation = Relation::open(request.left.oid)?;
            Some(format!("d.{}", named(&relation, name, "weight", &request.example)?.quoted()?))
        }
    };
    let mut reading = request.reading();
    reading.weigh_by(weight);
    let (mut sets, finished, mut account) = reading.prepare(|reading| grouping.sets(reading))?;
    let Finished { left: ids, mut progress, executor, .. } = finished;
    tell_weak(request.name, &account, &request.of_words);
    let began = Instant::now();
    let made = loop {
        if let Some(most) = request.max_pairs.filter(|&most| sets.pairs() > most) {
            break Err(too_many_pairs(request.name, &request.example, most));
        }
        match sets.advance(&executor) {
            Err(error) => break Err(error.into()),
            Ok(false) => break Ok(()),
            Ok(true) => progress
                .report(|| format!("comparing, {:.0} %, {} pairs", 100.0 * sets.progress(), sets.pairs())),
        }
    };
    account.counts = sets.counts();
    account.pairs = sets.pairs();
    account.peak_memory = account.peak_memory.max((sets.bytes() + ids.bytes()) as u64);
    account.phases[2] = milliseconds(began);
    drop(StoredAccount::from_account(account));
    made?;
    Ok((OrderedIds::new(ids, &executor)?, sets.clusters(&executor)?))
}

/// A join whose documents are read and whose pairs are not found yet.
pub(crate) struct Joining(RunningJoin);

impl Joining {
    /// Reads the documents.
    pub(crate) fn new(request: &Request) -> Result<Self> {
        RunningJoin::new(request).map(Self)
    }

    /// Lets only the pairs be found on which the rows to keep or the clusters depend, if the method
    /// can find them alone and there are many. Then `rank` returns the rank of each row, which is
    /// returned.
    pub(crate) fn needed(
        &mut self,
        files: &ServerFiles,
        purpose: Purpose,
        rank: impl FnOnce(&RowIds, &BackendExecutor) -> Result<RowPlaces>,
    ) -> Result<Option<RowPlaces>> {
        let mut ranks = None;
        self.0.narrow(|sets, members, Finished { left: ids, executor, .. }| {
            let of_row = || {
                let ranks = ranks.insert(rank(ids, executor)?);
                Ok(|row: u32| ranks.place_of(row))
            };
            NeededSets::new(sets, purpose, Box::new(*files)).join(members, of_row, executor)
        })?;
        Ok(ranks)
    }

    /// Finds the pairs. Vertices are the rows that are in a pair or equal another row, or all rows
    /// of a `whole` graph, in the order of their ids. Also returns the row of each vertex.
    pub(crate) fn graph(self, files: &ServerFiles, whole: bool) -> Result<(PairGraph<'_>, Vec<u32>)> {
        let Self(mut run) = self;
        let executor = run.finished.executor;
        let mut edges = Edges::new(files, settings::memory() / 4);
        while let Some(pair) = run.next_of_groups()? {
            edges.push(Edge::new(pair.left, pair.right, pair.similarity))?;
        }
        let ids = std::mem::replace(&mut run.finished.left, RowIds::new(pg_sys::INT8OID));
        let order = |rows: &mut Vec<u32>| ids.put_in_order(rows, &executor);
        let (graph, rows) = Graph::of_rows(edges, run.equal_rows(), ids.len(), whole, order, &executor)?;
        drop(run);
        Ok((PairGraph { vertices: OrderedIds::of_rows(ids, &rows)?, graph, executor }, rows))
    }

    /// Returns the number of documents.
    pub(crate) fn documents(&self) -> usize {
        self.0.finished.left.len()
    }
}

/// Returns the members of the clusters at each threshold as rows, of which `N` columns are wanted:
/// cluster, id, whether the member is the representative, cluster size, similarity to the
/// representative, threshold.
pub(crate) fn member_rows<const N: usize>(
    vertices: OrderedIds,
    levels: Vec<(Option<f64>, Clusters)>,
) -> impl RowSource<N> {
    let names = ["cluster_id", "id", "representative", "size", "similarity", "threshold"];
    let (mut level, mut number, mut member) = (0, 0, 0);
    Rows::made_by(std::array::from_fn(|column| names[column]), move || {
        let (threshold, clusters) = loop {
            let Some((threshold, clusters)) = levels.get(level) else { return Ok(None) };
            if number < clusters.len() {
                break (threshold, clusters);
            }
            (level, number) = (level + 1, 0);
        };
        let cluster = clusters.get(number);
        let (vertex, similarity) = (cluster.members[member], cluster.similarity[member]);
        let row = [
            vertices.at(cluster.id),
            vertices.at(vertex),
            Some(Datum::from(vertex == cluster.representative)),
            Some(Datum::from(cluster.members.len())),
            float(similarity).filter(|_| !similarity.is_nan()),
            threshold.and_then(float),
        ];
        member += 1;
        if member == cluster.members.len() {
            (number, member) = (number + 1, 0);
        }
        Ok(Some(std::array::from_fn(|column| row[column])))
    })
}

/// How many clusters there are, how many of them are chains, and the size of the largest chain. A
/// chain is a large cluster in which most rows form no pair with the representative.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Chains {
    /// The number of clusters.
    pub clusters: usize,
    /// The number of clusters that are chains.
    pub chains: usize,
    /// The number of rows in the largest chain.
    pub largest: usize,
}

impl Chains {
    /// A cluster with at least this many rows counts as large. A reader can check smaller clusters
    /// by eye.
    pub(crate) const LARGE: usize = 100;

    /// Counts the chains among clusters.
    fn from_clusters(clusters: &Clusters) -> Self {
        let chains = clusters.iter().filter(is_chain);
        let none = Self { clusters: clusters.len(), chains: 0, largest: 0 };
        chains.fold(none, |of, cluster| Self {
            chains: of.chains + 1,
            largest: of.largest.max(cluster.members.len()),
            ..of
        })
    }

    /// Warns the caller if there are chains.
    pub(crate) fn warn(self) {
        let Self { clusters, chains, largest } = self;
        if chains == 0 {
            return;
        }
        let (which, their) = match (chains, clusters) {
            (1, 1) => (format!("the only cluster, of {largest} rows, holds"), "its"),
            (1, _) => (format!("1 of {clusters} clusters, of {largest} rows, holds"), "its"),
            _ => (format!("{chains} of {clusters} clusters, of up to {largest} rows, hold"), "their"),
        };
        let message = format!(
            "{which} together by chains: most of {their} rows are no near duplicates of the representative"
        );
        let hint = "clustering => 'star' gives clusters around representatives, max_cluster_size breaks large ones at their weakest links, and cluster_links shows these.";
        warning_with(message, hint);
    }
}

/// Reports whether most rows of a large cluster form no pair with its representative.
pub(crate) fn is_chain(cluster: &Cluster<'_>) -> bool {
    let apart = cluster.similarity.iter().filter(|similarity| similarity.is_nan()).count();
    cluster.members.len() >= Chains::LARGE && apart > cluster.members.len() / 2
}

/// Warns the caller if large clusters are chains: most of their rows form no pair with the
/// representative.
pub(crate) fn warn_of_chains(clusters: &Clusters) {
    Chains::from_clusters(clusters).warn();
}
