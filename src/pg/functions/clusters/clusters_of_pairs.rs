//! Clusters of the pairs that any query returns: `clusters_of_pairs`, `cluster_stats`,
//! `cluster_links`.

use pgrx::pg_sys::Datum;

use super::near_duplicate_clusters::{how, member_rows};
use crate::pg::query::names::type_name;
use crate::pg::read::pairs::{AskedPairs, PairGraph};
use crate::pg::request::ClusteringArguments;
use crate::pg::request::example::{Example, literal, such_as};
use crate::pg::request::form::{Argument, CLUSTER_LINKS, CLUSTER_STATS, CLUSTERS_OF_PAIRS, Named};
use crate::pg::server::call::{FunctionCall, sql_functions};
use crate::pg::server::error::{Result, SqlError};
use crate::pg::server::set_returning::{self, Rows, float};
use crate::pg::server::temp_file::ServerFiles;
use neardup_core::clusters::Clustering;
use neardup_core::clusters::grouping::Clusters;
use neardup_core::clusters::strongest::{Link, links};
use neardup_core::clusters::summary::{Summary, summaries};
use neardup_core::memory;

const DOING: &str = "reading pairs";

sql_functions! {
    /// `clusters_of_pairs(pairs, max_cluster_size, clustering, thresholds)`
    neardup_clusters_of_pairs: list;

    /// `cluster_stats(pairs, max_cluster_size, clustering)`
    neardup_cluster_stats: describe;

    /// `cluster_links(pairs, links)`
    neardup_cluster_links: weakest;
}

/// Returns the example call that hints show.
fn example(given: Named<'_>) -> Example {
    let mut example =
        Example::new(given.form.name, ["SELECT * FROM near_duplicates('docs', 0.8)".to_owned()]);
    example.threshold = None;
    match given.id_type() {
        // The type is passed by name: an example that passes it by position puts a threshold before
        // it, and these functions have no threshold.
        Some(id_type) => example.with(Argument::IdType.name(), format!("NULL::{}", type_name(id_type))),
        None => example,
    }
}

/// Reads the pairs of a call.
fn read<'f>(
    call: FunctionCall,
    given: Named<'_>,
    example: &Example,
    files: &'f ServerFiles,
) -> Result<PairGraph<'f>> {
    let hint = &such_as(example);
    let asked = AskedPairs { name: given.form.name, id_type: given.id_type(), relations: &[], hint };
    PairGraph::read(call, asked, files)
}

fn list(call: FunctionCall) -> Result<Datum> {
    set_returning::answer(call, || {
        let given = CLUSTERS_OF_PAIRS.bind(call);
        let example = example(given);
        let how = how(given, &example)?;
        let mut thresholds = Vec::new();
        for threshold in given.get::<Vec<Option<f64>>>(Argument::Thresholds).unwrap_or_default() {
            match threshold.filter(|t| (0.0..=1.0).contains(t)) {
                Some(threshold) => thresholds.push(threshold),
                None => {
                    let value = threshold.map_or("NULL".to_owned(), |t| t.to_string());
                    let message = format!("thresholds must be between 0 and 1, not {value}");
                    let example = example.with("thresholds", literal("{0.8,0.9}"));
                    return Err(SqlError::parameter(message).hint(such_as(&example)));
                }
            }
        }
        let files = ServerFiles::in_current_context();
        let mut pairs = read(call, given, &example, &files)?;
        let mut levels = Vec::new();
        if thresholds.is_empty() {
            levels.push((None, how.clusters(&mut pairs)?));
        }
        for threshold in thresholds {
            let mut graph = pairs.at(threshold, &files)?;
            let clusters = Clusters::new(&mut graph, how.clustering, how.largest, &pairs.executor)?;
            levels.push((Some(threshold), clusters));
        }
        Ok(member_rows::<6>(pairs.vertices, levels))
    })
}

fn describe(call: FunctionCall) -> Result<Datum> {
    /// The maximum number of steps for computing the diameter of a cluster. They take a few
    /// seconds.
    const EFFORT: u64 = 1 << 30;
    set_returning::answer(call, || {
        let given = CLUSTER_STATS.bind(call);
        let example = example(given);
        let how = how(given, &example)?;
        let files = ServerFiles::in_current_context();
        let mut pairs = read(call, given, &example, &files)?;
        let clusters = pairs.clusters(how.clustering, how.largest)?;
        let summaries = summaries(&mut pairs.graph, &clusters, EFFORT, &pairs.executor)?;
        let PairGraph { vertices, .. } = pairs;
        let columns = [
            "cluster_id",
            "representative",
            "size",
            "pairs",
            "least_similarity",
            "mean_similarity",
            "diameter",
        ];
        let row = move |(number, summary): (usize, Summary)| {
            let cluster = clusters.get(number);
            Ok([
                vertices.at(cluster.id),
                vertices.at(cluster.representative),
                Some(Datum::from(cluster.members.len())),
                Some(Datum::from(summary.pairs)),
                float(summary.least),
                float(summary.mean),
                summary.diameter.map(Datum::from),
            ])
        };
        Ok(Rows(columns, summaries.into_iter().enumerate().map(row)))
    })
}

fn weakest(call: FunctionCall) -> Result<Datum> {
    const DEFAULT_LINKS: i32 = 10;
    set_returning::answer(call, || {
        let given = CLUSTER_LINKS.bind(call);
        let example = example(given);
        let most = given.get::<i32>(Argument::Links).unwrap_or(DEFAULT_LINKS);
        if most < 1 {
            let example = example.with("links", DEFAULT_LINKS);
            return Err(
                SqlError::parameter(format!("links must be at least 1, not {most}")).hint(such_as(&example))
            );
        }
        let files = ServerFiles::in_current_context();
        let mut pairs = read(call, given, &example, &files)?;
        let vertices = pairs.vertices.len();
        let how = ClusteringArguments { clustering: Clustering::Connected, largest: None };
        let clusters = pairs.clusters(how.clustering, how.largest)?;
        let mut cluster_of = memory::filled(0u32, vertices, DOING)?;
        for (number, cluster) in (0..).zip(clusters.iter()) {
            cluster.members.iter().for_each(|&vertex| cluster_of[vertex as usize] = number);
        }
        let mut given = memory::filled(0i32, clusters.len(), DOING)?;
        let mut chosen: Vec<(u32, Link)> = Vec::new();
        for link in links(&mut pairs.graph, &pairs.executor)?.into_iter().rev() {
            let cluster = cluster_of[link.edge.left as usize];
            if given[cluster as usize] < most {
                given[cluster as usize] += 1;
                memory::push(&mut chosen, (cluster, link), DOING)?;
            }
        }
        // The sort is stable: the weakest links of each cluster come first.
        chosen.sort_by_key(|(cluster, _)| *cluster);
        let PairGraph { vertices, .. } = pairs;
        let columns = ["cluster_id", "size", "left_id", "right_id", "similarity", "left_size", "right_size"];
        let row = move |(cluster, Link { edge, parts }): (u32, Link)| {
            let cluster = clusters.get(cluster as usize);
            let [left_size, right_size] = parts.map(|size| Some(Datum::from(u64::from(size))));
            Ok([
                vertices.at(cluster.id),
                Some(Datum::from(cluster.members.len())),
                vertices.at(edge.left),
                vertices.at(edge.right),
                float(edge.similarity),
                left_size,
                right_size,
            ])
        };
        Ok(Rows(columns, chosen.into_iter().map(row)))
    })
}
