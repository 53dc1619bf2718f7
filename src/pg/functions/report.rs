//! `duplicates_report`: one HTML page about the near duplicates of a table.

use std::collections::HashMap;

use pgrx::pg_sys::{self, Datum};

use super::clusters::{Grouped, Joined, how};
use crate::clusters::grouping::{Cluster, Clusters};
use crate::clusters::links::links;
use crate::clusters::summary::summaries;
use crate::pg::query::Query;
use crate::pg::query::cursor::Cursor;
use crate::pg::query::names::qualified_type;
use crate::pg::query::operators::equality;
use crate::pg::request::example::literal;
use crate::pg::request::form::{self, Argument, Form};
use crate::pg::request::{Request, such_as};
use crate::pg::server::call::{Call, sql_function, varlena_bytes};
use crate::pg::server::encoding;
use crate::pg::server::error::{Result, SqlError};
use crate::pg::server::temp_file::ServerFiles;
use crate::pg::server::values::text;
use crate::report::page::{Histogram, Member, Report, Shown};
use crate::workers;

sql_function! {
    /// `duplicates_report(docs, threshold, …)`
    neardup_duplicates_report, pg_finfo_neardup_duplicates_report, |call| report(call, form::DUPLICATES_REPORT)
}
sql_function! {
    /// `duplicates_report(docs, threshold, id_type, …)`
    neardup_duplicates_report_typed, pg_finfo_neardup_duplicates_report_typed, |call| report(call, form::DUPLICATES_REPORT.typed())
}

/// Clusters of this many rows are looked at with suspicion.
const LARGE: usize = 100;

/// Whether most of a large cluster's rows are no pairs with its representative.
fn is_chain(cluster: &Cluster<'_>) -> bool {
    let apart = cluster.similarity.iter().filter(|similarity| similarity.is_nan()).count();
    cluster.members.len() >= LARGE && apart > cluster.members.len() / 2
}

fn report(call: Call, form: Form) -> Result<Datum> {
    /// Steps for the diameter of a cluster: a second.
    const EFFORT: u64 = 1 << 28;
    const LINKS: usize = 5;
    let request = Request::new(call, form)?;
    if request.left.kind.sketches().is_some() {
        return Err(SqlError::parameter("duplicates_report shows texts, and the column has sketches")
            .hint("Name a column of texts with text_column => '…'."));
    }
    let given = form.of(call);
    let how = how(given, &request.example)?;
    let count = |argument: Argument, default: i32| {
        let number = given.get::<i32>(argument).unwrap_or(default);
        usize::try_from(number).map_err(|_| {
            let name = argument.name();
            SqlError::parameter(format!("{name} must be at least 0, not {number}"))
                .hint(such_as(&request.example.with(name, default)))
        })
    };
    let most_clusters = count(Argument::MaxClusters, 20)?;
    let most_members = count(Argument::MaxMembers, 3)?;

    let files = ServerFiles::in_current_context();
    let mut joined = Joined::new(&request, &files)?;
    let workers = joined.workers;
    let vertices = joined.order.len();
    let clusters = match how.grouping(&request) {
        Some(grouping) => Grouped::new(call, &request, grouping)?.clusters,
        None => Clusters::new(&mut joined.edges, vertices, how.clustering, how.largest, &workers)?,
    };
    let summaries = summaries(&mut joined.edges, vertices, &clusters, EFFORT, &workers)?;
    let (mut pairs, mut least) = (0, 1.0f64);
    joined.edges.for_each(&workers, |edge| {
        (pairs, least) = (pairs + 1, least.min(edge.similarity));
        Ok(())
    })?;
    let mut histogram = Histogram::new((least * 20.0).floor() / 20.0);
    joined.edges.for_each(&workers, |edge| {
        histogram.add(edge.similarity);
        Ok(())
    })?;
    let weakest = match clusters.iter().any(|cluster| cluster.members.len() >= LARGE) {
        true => links(&mut joined.edges, vertices, &workers)?,
        false => Vec::new(),
    };

    let mut largest: Vec<usize> = (0..clusters.len()).collect();
    largest.sort_by_key(|&n| std::cmp::Reverse(clusters.range(n).len()));
    largest.truncate(most_clusters);
    // The members to show: of each similarity some, so first those that differ most.
    let chosen: Vec<(usize, Vec<usize>)> = largest
        .into_iter()
        .map(|number| {
            let cluster = clusters.get(number);
            let mut others: Vec<usize> = (0..cluster.members.len())
                .filter(|&place| cluster.members[place] != cluster.representative)
                .collect();
            let likeness = |place: usize| (cluster.similarity[place] * 1e15) as i64;
            others.sort_by_key(|&place| (cluster.similarity[place].is_nan(), likeness(place)));
            others.truncate(most_members);
            (number, others)
        })
        .collect();
    let wanted = chosen.iter().flat_map(|(number, places)| {
        let cluster = clusters.get(*number);
        places.iter().map(move |&place| cluster.members[place]).chain([cluster.representative])
    });
    let mut texts = texts(&request, &joined, wanted.collect())?;
    let show = |vertex: u32| joined.ids.show(joined.order[vertex as usize]);
    let mut member = |vertex: u32, similarity: f64| Member {
        id: show(vertex),
        text: texts.remove(&vertex).unwrap_or_default(),
        similarity: (!similarity.is_nan()).then_some(similarity),
    };
    let mut shown = Vec::new();
    for (number, places) in chosen {
        let cluster = clusters.get(number);
        let holds = |vertex: u32| cluster.members.binary_search(&vertex).is_ok();
        let large = cluster.members.len() >= LARGE;
        shown.push(Shown {
            id: show(cluster.id),
            representative: member(cluster.representative, 1.0),
            members: (places.iter())
                .map(|&place| member(cluster.members[place], cluster.similarity[place]))
                .collect(),
            size: cluster.members.len(),
            summary: summaries[number],
            is_chain: is_chain(&cluster),
            links: (weakest.iter().rev())
                .filter(|link| large && holds(link.edge.left) && holds(link.edge.right))
                .take(LINKS)
                .map(|link| (show(link.edge.left), show(link.edge.right), link.edge.similarity, link.parts))
                .collect(),
        });
    }
    let members: usize = clusters.iter().map(|cluster| cluster.members.len()).sum();
    let report = Report {
        relation: request.left.relation.clone(),
        call: format!("SELECT {};", request.example),
        documents: vertices as u64,
        pairs,
        clustered: members as u64,
        clusters: clusters.len() as u64,
        redundant: (members - clusters.len()) as u64,
        histogram,
        shown,
        warnings: warnings(&clusters, vertices),
    };
    let mut html = String::new();
    workers::one(&workers, &mut html, |html, stop| {
        *html = report.html(stop)?;
        Ok(())
    })?;
    text(&html)
}

/// What to beware of.
fn warnings(clusters: &Clusters, documents: usize) -> Vec<String> {
    let mut warnings = Vec::new();
    let chains: Vec<usize> = clusters.iter().filter(is_chain).map(|cluster| cluster.members.len()).collect();
    if let Some(largest) = chains.iter().max() {
        warnings.push(format!(
            "{} of the clusters, of up to {largest} documents, hold together by chains: most of their documents are no \
             near duplicates of the representative. Removing all but one would lose documents. Ask for clustering => 'star', \
             a higher threshold, or a max_cluster_size.",
            chains.len()
        ));
    }
    let largest = clusters.iter().map(|cluster| cluster.members.len()).max().unwrap_or(0);
    if largest >= LARGE && largest > documents / 10 {
        warnings.push(format!(
            "The largest cluster has {largest} of {documents} documents. That is often a template, an error page or a notice that \
             they share: look at its pairs, and strip what is shared before comparing."
        ));
    }
    warnings
}

/// The texts of some vertices, or how they begin.
fn texts(request: &Request, joined: &Joined<'_>, wanted: Vec<u32>) -> Result<HashMap<u32, String>> {
    const CHARACTERS: usize = 20_000;
    const ROWS_A_FETCH: usize = 16;
    let mut texts = HashMap::new();
    if wanted.is_empty() {
        return Ok(texts);
    }
    let list = wanted.iter().map(|&vertex| {
        let id = joined.ids.show(joined.order[vertex as usize]);
        format!("\"{}\"", id.replace('\\', "\\\\").replace('"', "\\\""))
    });
    let list = format!("{{{}}}", list.collect::<Vec<_>>().join(","));
    let source = &request.left;
    // An escape string means the same whatever standard_conforming_strings says.
    let sql = format!(
        "SELECT {}, pg_catalog.left({}::pg_catalog.text, {CHARACTERS}) FROM {} AS d WHERE {} {} ANY (E{}::{}[])",
        source.id,
        source.column,
        source.table,
        source.key,
        equality(request.id_type)?,
        literal(&list.replace('\\', "\\\\")),
        qualified_type(request.id_type)
    );
    let query = Query { relations: &[source.oid], ..Query::new(&sql) };
    Cursor::open(&query, [request.id_type, pg_sys::TEXTOID])?.for_each(ROWS_A_FETCH, |[id, value]| {
        let (Some(id), Some(value)) = (id, value) else { return Ok(()) };
        // SAFETY: the cursor checked that ids are of their type and the others texts; they live until the next fetch.
        let (vertex, bytes) = unsafe { (joined.ids.find(&joined.order, id), varlena_bytes(value)) };
        if let (Some(vertex), Some(text)) = (vertex, encoding::to_utf8(bytes)?) {
            texts.insert(vertex as u32, text.into_owned());
        }
        Ok(())
    })?;
    Ok(texts)
}
