//! `duplicates_report`: makes one HTML page about the near duplicates of a table.

mod arguments;
mod cards;
mod documents;

use std::time::Instant;

use pgrx::pg_sys::{self, Datum};

use self::arguments::{ReportArguments, as_called};
use self::cards::Cards;
use self::documents::{ReportDocuments, with_room};
use super::clusters::near_duplicate_clusters::{Chains, Joining, grouped_rows, how, is_chain};
use crate::pg::request::Request;
use crate::pg::request::form::DUPLICATES_REPORT;
use crate::pg::server::call::{FunctionCall, sql_functions};
use crate::pg::server::encoding::c_string;
use crate::pg::server::error::{Result, SqlError};
use crate::pg::server::own_schema::calls;
use crate::pg::server::temp_file::ServerFiles;
use crate::pg::server::values::text;
use crate::pg::server::version::LIBRARY;
use neardup_core::clusters::Clustering;
use neardup_core::clusters::curve::{curve, thresholds};
use neardup_core::clusters::edges::Edge;
use neardup_core::clusters::grouping::Clusters;
use neardup_core::clusters::samples::{self, least_of, samples, step_of};
use neardup_core::clusters::strongest::links;
use neardup_core::clusters::summary::summaries;
use neardup_core::executor;
use neardup_core::methods::account::milliseconds;
use neardup_core::methods::repeats;
use neardup_core::repeats::Unit;
use neardup_core::report::facts::RepeatedTokens;
use neardup_core::report::numbers::Number;
use neardup_core::report::pair::ShownDocument;
use neardup_core::report::{facts::Facts, page::ReportPage};

sql_functions! {
    /// `duplicates_report(docs, threshold, …)`
    neardup_duplicates_report: report;
}

fn report(call: FunctionCall) -> Result<Datum> {
    /// The maximum number of steps for computing the diameter of a cluster. They take about a
    /// second.
    const EFFORT: u64 = 1 << 28;
    let began = Instant::now();
    let given = DUPLICATES_REPORT.bind(call);
    let request = Request::new(given)?;
    if request.left.kind.sketches().is_some() {
        return Err(SqlError::parameter("duplicates_report shows texts, and the column has sketches")
            .hint("Name a column of texts with text_column => '…'."));
    }
    let how = how(given, &request.example)?;
    let asked = ReportArguments::new(given, &request.example)?;

    let files = ServerFiles::in_current_context();
    let joining = Joining::new(&request)?;
    let documents = joining.documents();
    let grouping = how.grouping(&request);
    // The rows of the method's own clusters are in the order of all ids.
    let (mut joined, _) = joining.graph(&files, grouping.is_some())?;
    let executor = joined.executor;
    let clusters = match grouping {
        Some(grouping) => grouped_rows(&request, grouping)?.1,
        None => Clusters::new(&mut joined.graph, how.clustering, how.largest, &executor)?,
    };
    let summaries = summaries(&mut joined.graph, &clusters, EFFORT, &executor)?;
    let (mut pairs, mut least) = (0, 1.0f64);
    joined.graph.for_each_similarity(&executor, |similarity, more| {
        least = least.min(similarity);
        pairs += more;
    })?;
    let samples = samples(&mut joined.graph, asked.samples, &executor)?;
    let links = links(&mut joined.graph, &executor)?;
    let lowest = match request.example.threshold {
        Some(threshold) if threshold <= least => threshold,
        _ => least_of(step_of(least)),
    };
    let points = curve(&mut joined.graph, &links, &thresholds(lowest), &executor)?;
    let steps = curve(&mut joined.graph, &links, &samples::thresholds(lowest), &executor)?;

    let title = asked.title.as_deref();
    let shown = ReportDocuments { request: &request, vertices: &joined.vertices, title };
    let mut page = ReportPage::new(asked.link.clone());
    add_pairs(&mut page, &by_turns(&samples), &shown, &executor)?;
    let cards = Cards { clusters: &clusters, summaries: &summaries, documents: &shown, asked: &asked };
    cards.add_to(&mut page, &links, &executor)?;

    let least_run = add_runs(&mut page, &request)?;
    let members: usize = clusters.iter().map(|cluster| cluster.members.len()).sum();
    let facts = Facts {
        relation: request.left.relation.clone(),
        call: calls(&format!("SELECT {};", as_called(given, &request.left.relation)?)).into_owned(),
        made: statement_time(),
        version: LIBRARY,
        took: milliseconds(began),
        threshold: request.example.threshold,
        documents: documents as u64,
        pairs,
        clustered: members as u64,
        clusters: clusters.len() as u64,
        equal: summaries.iter().filter(|summary| summary.pairs > 0 && summary.least >= 1.0).count() as u64,
        redundant: (members - clusters.len()) as u64,
        points,
        steps,
        is_connected: how.clustering == Clustering::Connected && how.largest.is_none(),
        least_run,
        warnings: warnings(&clusters, documents),
    };
    text(&with_room(|| page.finish(&facts))?)
}

/// Returns the start time of the statement in the session's time zone, without fractions of a
/// second.
fn statement_time() -> String {
    // SAFETY: the text is in a buffer of the server until the next call, and is copied.
    let time = unsafe { c_string(pg_sys::timestamptz_to_str(pg_sys::GetCurrentStatementStartTimestamp())) };
    match time.split_once('.') {
        None => time,
        Some((seconds, rest)) => {
            format!("{seconds}{}", rest.trim_start_matches(|c: char| c.is_ascii_digit()))
        }
    }
}

/// Returns the pairs of each step of similarity by turns, so that all steps are shown where there
/// is not room for all pairs. The pairs are in ascending order of similarity.
fn by_turns(samples: &[Edge]) -> Vec<Edge> {
    let steps: Vec<&[Edge]> =
        samples.chunk_by(|a, b| step_of(a.similarity) == step_of(b.similarity)).collect();
    let turns = steps.iter().map(|step| step.len()).max().unwrap_or(0);
    (0..turns).flat_map(|turn| steps.iter().filter_map(move |step| step.get(turn).copied())).collect()
}

/// Adds pairs of documents side by side. It reads the texts of a few pairs at a time, so memory
/// holds no more texts than are shown.
fn add_pairs(
    page: &mut ReportPage,
    edges: &[Edge],
    documents: &ReportDocuments<'_>,
    executor: &dyn executor::Executor,
) -> Result<()> {
    const AT_ONCE: usize = 8;
    /// The number of characters of a text, so that there is room for some pairs of each step.
    const CHARACTERS: usize = 8_000;
    for edges in edges.chunks(AT_ONCE) {
        if !page.has_room_for_pairs() {
            page.leave_pairs(edges.len());
            continue;
        }
        let vertices = edges.iter().flat_map(|edge| [edge.left, edge.right]);
        let texts = documents.beginnings(vertices, CHARACTERS)?;
        for edge in edges {
            let none = ShownDocument::default();
            let of = [edge.left, edge.right].map(|vertex| texts.get(&vertex).unwrap_or(&none));
            executor::one(executor, page, |page, stop| {
                with_room(|| page.add_pair(of, edge.similarity, stop))?
            })?;
        }
    }
    Ok(())
}

/// Adds the runs that most documents have, if the method compares texts by runs, and returns their
/// least length. It reads the documents a second time; other methods would find nothing by it.
fn add_runs(page: &mut ReportPage, request: &Request) -> Result<Option<u64>> {
    const RUNS: usize = 20;
    const CHARACTERS: usize = 300;
    let Some(parameters) = request.method.runs() else { return Ok(None) };
    let Unit::Window(least) = parameters.unit else { return Ok(None) };
    let documents = request.left.of_all_groups();
    let mut reading = request.reading_of(&documents);
    let (runs, _) = reading.run(|reading| repeats::most_repeated(&parameters, RUNS, CHARACTERS, reading))?;
    let ids = reading.left();
    for run in runs {
        let (tokens, documents) = (run.tokens.into(), run.documents.into());
        let (id, text, is_cut) = (ids.show(run.row), run.beginning, run.is_cut);
        with_room(|| page.add_run(&RepeatedTokens { id, text, is_cut, tokens, documents }))?;
    }
    Ok(Some(least as u64))
}

/// Returns the warnings for the reader.
fn warnings(clusters: &Clusters, documents: usize) -> Vec<String> {
    let mut warnings = Vec::new();
    let chains: Vec<usize> = clusters.iter().filter(is_chain).map(|cluster| cluster.members.len()).collect();
    if let Some(largest) = chains.iter().max() {
        let largest = Number(*largest as u64);
        let which = match chains.len() {
            1 => {
                format!("One of the clusters, of {largest} documents, holds together by chains: most of its")
            }
            many => format!(
                "{} of the clusters, of up to {largest} documents, hold together by chains: most of their",
                Number(many as u64)
            ),
        };
        warnings.push(format!(
            "{which} documents are no near duplicates of the representative. Removing all but one would lose documents. \
             Ask for clustering => 'star', a higher threshold, or a max_cluster_size."
        ));
    }
    let largest = clusters.iter().map(|cluster| cluster.members.len()).max().unwrap_or(0);
    if largest >= Chains::LARGE && largest > documents / 10 {
        warnings.push(format!(
            "The largest cluster has {} of {} documents. That is often a template, an error page or a notice that \
             they share: look at its pairs, and strip what is shared before comparing.",
            Number(largest as u64),
            Number(documents as u64)
        ));
    }
    warnings
}
