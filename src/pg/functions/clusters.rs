//! `near_duplicate_clusters`: the pairs of a join as clusters (docs/reference/functions.md).

use std::time::Instant;

use pgrx::datum::FromDatum;
use pgrx::pg_sys::panic::ErrorReport;
use pgrx::pg_sys::{self, Datum};
use pgrx::{PgLogLevel, PgSqlErrorCode};

use super::eliminate::read_ranks;
use super::near_duplicates::{Run, milliseconds, too_many_pairs};
use super::near_duplicates_stats;
use crate::clusters::Clustering;
use crate::clusters::edges::{Edge, Edges};
use crate::clusters::grouping::Clusters;
use crate::memory;
use crate::pg::query::ids::Ids;
use crate::pg::query::relation::Relation;
use crate::pg::read::documents::Reading;
use crate::pg::request::example::{Example, literal};
use crate::pg::request::methods::Grouping;
use crate::pg::request::{Form, Request, such_as};
use crate::pg::server::call::{Call, sql_function};
use crate::pg::server::error::{Result, SqlError};
use crate::pg::server::set_returning::{self, Rows};
use crate::pg::server::settings;
use crate::pg::server::temp_file::ServerFiles;
use crate::pg::server::workers::BackendWorkers;

sql_function! {
    /// `near_duplicate_clusters(docs, threshold, …)`
    neardup_clusters, pg_finfo_neardup_clusters, |call| answer(call, false)
}
sql_function! {
    /// `near_duplicate_clusters(docs, threshold, id_type, …)`
    neardup_clusters_typed, pg_finfo_neardup_clusters_typed, |call| answer(call, true)
}

/// The arguments of a join of one table in front of those of the function.
pub const ARGUMENTS_OF_JOIN: usize = 11;

fn answer(call: Call, typed: bool) -> Result<Datum> {
    set_returning::answer(call, || {
        let form = Form { name: "near_duplicate_clusters", relations: 1, typed };
        let request = Request::new(call, form)?;
        let first = ARGUMENTS_OF_JOIN + usize::from(typed);
        let how = How::new(call, [first, first + 1], &request.example)?;
        if let Some(grouping) = how.grouping(&request) {
            let Grouped { ids, order, clusters } = Grouped::new(call, &request, grouping)?;
            return Ok(Listing::new(ids, order, clusters));
        }
        let files = ServerFiles::in_current_context();
        let mut joined = Joined::new(&request, &files)?;
        let vertices = joined.order.len();
        let workers = joined.workers;
        let clusters = Clusters::new(&mut joined.edges, vertices, how.clustering, how.largest, &workers)?;
        if how.clustering == Clustering::Connected {
            warn_of_chains(&clusters);
        }
        Ok(Listing::new(joined.ids, joined.order, clusters))
    })
}

/// How pairs are to become clusters.
#[derive(Debug, Clone, Copy)]
pub struct How {
    /// The rule.
    pub clustering: Clustering,
    /// The most rows of a connected cluster.
    pub largest: Option<u32>,
}

impl How {
    /// Reads the arguments `clustering` and `max_cluster_size`, which stand at these places.
    pub fn new(call: Call, [clustering, largest]: [usize; 2], example: &Example) -> Result<Self> {
        let Self { clustering, .. } = Self::clustering(call, clustering, example)?;
        let Some(most) = call.get::<i32>(largest) else { return Ok(Self { clustering, largest: None }) };
        let hint = || such_as(&example.with("max_cluster_size", 1000));
        if clustering != Clustering::Connected {
            return Err(SqlError::parameter("max_cluster_size is for connected clusters only").hint(hint()));
        }
        match u32::try_from(most).ok().filter(|&most| most > 1) {
            Some(most) => Ok(Self { clustering, largest: Some(most) }),
            None => {
                let message = format!("max_cluster_size must be at least 2, not {most}");
                Err(SqlError::parameter(message).hint(hint()))
            }
        }
    }
}

impl How {
    /// Reads the argument `clustering`, which stands at this place; there is none for the size.
    pub fn clustering(call: Call, clustering: usize, example: &Example) -> Result<Self> {
        let clustering = match call.text(clustering)?.as_deref() {
            None | Some("connected") => Clustering::Connected,
            Some("star") => Clustering::Star,
            Some("perhaps_similar") => Clustering::PerhapsSimilar,
            Some(other) => {
                return Err(SqlError::parameter(format!("unknown clustering \"{other}\"")).hint(format!(
                    "Clusterings: connected, star, perhaps_similar. {}",
                    such_as(&example.with("clustering", literal("star")))
                )));
            }
        };
        Ok(Self { clustering, largest: None })
    }

    /// What makes the clusters where they are not made of pairs: of perhaps-similar sets the method itself, if it
    /// can.
    pub fn grouping<'a>(&self, request: &'a Request) -> Option<&'a dyn Grouping> {
        request.method.grouping().filter(|_| self.clustering == Clustering::PerhapsSimilar)
    }
}

/// Perhaps-similar sets that a method made itself: vertices are rows in the order of their ids.
pub struct Grouped {
    /// The ids by row.
    pub ids: Ids,
    /// The row of each vertex.
    pub order: Vec<u32>,
    /// The sets.
    pub clusters: Clusters,
}

impl Grouped {
    /// Makes the sets of the table that argument 0 names.
    pub fn new(call: Call, request: &Request, grouping: &dyn Grouping) -> Result<Self> {
        let began = Instant::now();
        let weight = match grouping.weight() {
            None => None,
            Some(name) => {
                let relation = Relation::open(call.need(0, "docs")?)?;
                let column = relation.named(name, "weight").map_err(|error| {
                    let columns = relation.column_names();
                    error.hint(format!("{} Columns: {columns}.", such_as(&request.example)))
                })?;
                Some(format!("d.{}", column.quoted()?))
            }
        };
        let source = &request.left;
        let mut reading = Reading::new(request);
        let mut sets = grouping.sets(&mut reading, &mut |ids, order| {
            let Some(weight) = &weight else { return Ok(None) };
            let mut weights = memory::filled(0i64, order.len(), "weighing documents")?;
            let sql = format!(
                "SELECT {}, pg_catalog.dense_rank() OVER (ORDER BY {weight} NULLS FIRST) FROM {} AS d",
                source.id, source.table
            );
            read_ranks(&sql, source, ids, order, &mut weights)?;
            Ok(Some(weights))
        })?;
        let Reading { left: ids, workers, mut progress, mut stats, .. } = reading;
        stats.phases[1] = milliseconds(began) - stats.phases[0];
        let began = Instant::now();
        let made = loop {
            if let Some(most) = request.max_pairs.filter(|&most| sets.pairs() > most) {
                break Err(too_many_pairs(request, most));
            }
            match sets.advance(&workers) {
                Err(error) => break Err(error.into()),
                Ok(false) => break Ok(()),
                Ok(true) => progress.report(|| {
                    format!("comparing, {:.0} %, {} pairs", 100.0 * sets.progress(), sets.pairs())
                }),
            }
        };
        stats.counts = sets.counts();
        stats.pairs = sets.pairs();
        stats.peak_memory = stats.peak_memory.max((sets.bytes() + ids.bytes()) as u64);
        stats.phases[2] = milliseconds(began);
        // SAFETY: a look at a variable of the session.
        near_duplicates_stats::keep(unsafe { pg_sys::GetUserId() }, &stats);
        made?;
        let order = ids.in_order(&workers)?;
        let clusters = sets.clusters(&workers)?;
        Ok(Self { ids, order, clusters })
    }
}

/// The pairs of a join as a graph: vertices are rows in the order of their ids.
pub struct Joined<'f> {
    /// The ids by row.
    pub ids: Ids,
    /// The row of each vertex.
    pub order: Vec<u32>,
    /// The pairs.
    pub edges: Edges<'f>,
    /// The threads to work with.
    pub workers: BackendWorkers,
}

impl<'f> Joined<'f> {
    /// Joins.
    pub fn new(request: &Request, files: &'f ServerFiles) -> Result<Self> {
        let mut run = Run::new(request)?;
        let workers = run.workers;
        let order = run.left.in_order(&workers)?;
        let vertex = Ids::places(&order)?;
        let mut edges = Edges::new(files, settings::memory() / 4);
        while let Some(pair) = run.next_pair()? {
            let (left, right) = (vertex[pair.left as usize], vertex[pair.right as usize]);
            edges.push(Edge::new(left, right, pair.similarity))?;
        }
        let ids = std::mem::replace(&mut run.left, Ids::new(pg_sys::INT8OID));
        Ok(Self { ids, order, edges, workers })
    }
}

/// The members of clusters as rows: cluster, id, whether it is the representative, size, similarity to the
/// representative.
pub struct Listing {
    ids: Ids,
    /// The row of each vertex.
    order: Vec<u32>,
    clusters: Clusters,
    cluster: usize,
    member: usize,
    similar: bool,
}

impl Listing {
    /// All members of all clusters.
    pub fn new(ids: Ids, order: Vec<u32>, clusters: Clusters) -> Self {
        Self { ids, order, clusters, cluster: 0, member: 0, similar: true }
    }

    /// The id of a vertex, as long as this lives.
    pub fn id(&self, vertex: u32) -> Datum {
        self.ids.datum(self.order[vertex as usize])
    }
}

impl Rows<5> for Listing {
    fn next(&mut self) -> Result<Option<[Datum; 5]>> {
        if self.cluster == self.clusters.len() {
            return Ok(None);
        }
        let cluster = self.clusters.get(self.cluster);
        let (vertex, similarity) = (cluster.members[self.member], cluster.similarity[self.member]);
        let row = [
            self.id(cluster.id),
            self.id(vertex),
            Datum::from(vertex == cluster.representative),
            Datum::from(cluster.members.len()),
            Datum::from(similarity.to_bits()),
        ];
        self.similar = !similarity.is_nan();
        self.member += 1;
        if self.member == cluster.members.len() {
            (self.cluster, self.member) = (self.cluster + 1, 0);
        }
        Ok(Some(row))
    }

    fn nulls(&self) -> [bool; 5] {
        [false, false, false, false, !self.similar]
    }
}

/// Says so where large clusters are chains: most of their rows are no pairs with the representative.
pub fn warn_of_chains(clusters: &Clusters) {
    /// Smaller ones a reader sees through.
    const LARGE: usize = 100;
    let chains = clusters.iter().filter(|cluster| {
        let apart = cluster.similarity.iter().filter(|similarity| similarity.is_nan()).count();
        cluster.members.len() >= LARGE && apart > cluster.members.len() / 2
    });
    let (count, largest) = chains.fold((0, 0), |(count, largest): (usize, usize), cluster| {
        (count + 1, largest.max(cluster.members.len()))
    });
    if count == 0 {
        return;
    }
    let message = format!(
        "{count} of {} clusters, of up to {largest} rows, hold together by chains: most of their rows are no near duplicates of the representative",
        clusters.len()
    );
    let hint = "clustering => 'star' gives clusters around representatives, max_cluster_size breaks large ones at their weakest links, and cluster_links shows these.";
    ErrorReport::new(PgSqlErrorCode::ERRCODE_WARNING, message, "neardup")
        .set_hint(hint)
        .report(PgLogLevel::WARNING);
}

/// An array argument of float8, none if it is NULL.
pub fn numbers(call: Call, n: usize) -> Option<Vec<Option<f64>>> {
    call.get::<Vec<Option<f64>>>(n)
}

/// A value of a type that SQL says it is of.
///
/// # Safety
/// The datum is of that type.
pub unsafe fn value<T: FromDatum>(datum: Datum) -> Option<T> {
    // SAFETY: the caller's promise.
    unsafe { T::from_datum(datum, false) }
}
