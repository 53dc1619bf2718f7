//! What a call of `near_duplicates_into` takes on each node.

use std::collections::BTreeMap;

use pgrx::IntoDatum;
use pgrx::pg_sys::{self, Datum, Oid};

use super::measure::{MeasuredCall, MeasuredSample};
use crate::into::estimate::{CallEstimate, NodeWork, StepNodes, estimate};
use crate::pg::functions::pairs::sampled_method::plan;
use crate::pg::into::arguments::{CallArguments, JoinArguments};
use crate::pg::into::place::TablePlace;
use crate::pg::into::statements::join::JoinStatements;
use crate::pg::into::statements::log::LoggedArguments;
use crate::pg::into::statements::routes::few_parts;
use crate::pg::into::statements::servers::Requests;
use crate::pg::into::statements::{citus, estimate as statements};
use crate::pg::procedure::citus as spreading;
use crate::pg::query::Query;
use crate::pg::query::as_user::{Extension, as_user};
use crate::pg::read::sample::{CallSample, Hash};
use crate::pg::request::Request;
use crate::pg::request::form::{Argument, KeptArguments, NEAR_DUPLICATES_PLAN, Named};
use crate::pg::server::call::FunctionCall;
use crate::pg::server::error::Result;
use crate::pg::server::own_schema::calls;
use crate::pg::server::set_returning::Row;
use crate::pg::server::values::text;

/// A row of `near_duplicates_plan`.
pub(crate) type PlanRow = Row<15>;

/// Returns the rows of a call of `near_duplicates_into`: this server first, which has no name.
fn rows(request: &Request, estimate: CallEstimate, names: Vec<String>, sampled: u64) -> Result<Vec<PlanRow>> {
    let CallEstimate { candidates, pairs, nodes } = estimate;
    let call =
        request.example.for_function("near_duplicates_into", None).with("pairs", "'near_duplicate_pairs'");
    let call = calls(&format!("CALL {call};")).into_owned();
    let names = [None].into_iter().chain(names.into_iter().map(Some));
    let row = |(name, NodeWork { documents, sent, received, disk, seconds }): (Option<String>, NodeWork)| {
        Ok([
            Some(text(request.method_name)?),
            count(documents),
            count(sampled),
            None,
            count(pairs),
            count(candidates),
            None,
            None,
            count(disk),
            seconds.into_datum(),
            None,
            Some(text(&call)?),
            name.as_deref().map(text).transpose()?,
            count(sent),
            count(received),
        ])
    };
    names.zip(nodes).map(row).collect()
}

/// Returns a number of a row.
pub(crate) fn count(number: u64) -> Option<Datum> {
    i64::try_from(number).unwrap_or(i64::MAX).into_datum()
}

/// The number of documents in a sample, unless the caller names it. The order of tokens is made of
/// about as many.
const SAMPLE: u64 = 25_000;

impl CallArguments {
    /// Reads the arguments of the function, which makes no tables.
    fn of_plan(given: Named<'_>) -> Result<Self> {
        let names = [
            Argument::IdColumn,
            Argument::TextColumn,
            Argument::Method,
            Argument::Tokenizer,
            Argument::SiteColumn,
            Argument::Within,
            Argument::Across,
        ];
        let mut texts = Vec::new();
        for name in names {
            texts.extend(given.text(name)?.map(|text| (name, text.into_owned())));
        }
        let join = KeptArguments {
            docs: given.need(Argument::Docs)?,
            threshold: given.get(Argument::Threshold),
            options: given.json(Argument::Options)?,
            shingle: given.get(Argument::Shingle),
            multiset: given.get(Argument::Multiset),
            texts,
            ..KeptArguments::default()
        };
        Ok(Self::of_join(join, given.get(Argument::Parts)))
    }
}

/// Estimates the work of a call. The sample has about as many documents as `wanted`.
pub(crate) fn by_node(call: FunctionCall, given: Named<'_>, wanted: Option<u64>) -> Result<Vec<PlanRow>> {
    let arguments = CallArguments::of_plan(given)?;
    let wanted = wanted.unwrap_or(SAMPLE);
    // SAFETY: reads the state of the session.
    let caller = unsafe { pg_sys::GetUserId() };
    let extension = Extension::from_call(call)?;
    extension.check_version(NEAR_DUPLICATES_PLAN.name)?;
    let home = TablePlace::with_relation(arguments.join.docs, "")?;
    let asked = JoinArguments::new(&arguments, &extension, caller, &home)?;
    // As a call does first, and before postgres_fdw waits for a server that says nothing.
    if let Some(in_parts) = asked.logged() {
        let requests = Requests::default();
        let servers = || in_parts.servers.iter().try_for_each(|of| requests.check_version(of, &extension));
        as_user(caller, servers)?;
    }
    let request = Request::of_kept(&arguments.join, asked.id_oid)?;
    let by = match as_user(caller, || citus::is_hashable(asked.id_oid))? {
        true => Hash::OfValue,
        false => Hash::OfText,
    };
    let counted = count_on_servers(&asked, caller)?;
    let sample = CallSample::by(&request.left, by, wanted, counted)?;
    let docs = asked.docs;
    let Some(in_parts) = &asked.in_parts else { return whole(&request, sample, caller, docs) };
    let LoggedArguments { parts, carried, citus, .. } = &in_parts.logged;
    let mut parts = *parts;
    if citus.is_some() && !arguments.names_parts() {
        let nodes = as_user(caller, citus::count_nodes)?;
        parts = few_parts(parts, nodes, i64::try_from(sample.documents).unwrap_or(i64::MAX));
    }
    let join = JoinStatements::new(&extension.internal, parts, carried);
    let of = MeasuredCall { caller, docs, in_parts, source: &request.left, join: &join };
    let mut measured = MeasuredSample::read(&of, sample)?;
    let (names, layout) = as_user(caller, || layout(docs, &in_parts.logged, &measured))?;
    let sampled = measured.steps(&of)?;
    rows(&request, estimate(&sampled, &layout), names, measured.len())
}

/// Counts the documents if they are on servers: each of these counts its own, if the caller may
/// read the partitions.
fn count_on_servers(asked: &JoinArguments, caller: Oid) -> Result<Option<u64>> {
    let is_far = asked.logged().is_some_and(|of| !of.servers.is_empty());
    let sql = match is_far {
        true => as_user(caller, || statements::counts(asked.docs).text())?,
        false => None,
    };
    let Some(sql) = sql else { return Ok(None) };
    let [count] = Query::new(&sql).run([pg_sys::INT8OID])?.first.unwrap_or_default();
    Ok(count.map(|count| count.value() as u64))
}

/// Estimates a call that is made on this server in one transaction.
fn whole(request: &Request, sample: CallSample, caller: Oid, docs: Oid) -> Result<Vec<PlanRow>> {
    let find_seconds = sample.find_seconds(&request.left)?;
    let planned = plan(request, sample, find_seconds)?;
    let of = planned.estimate;
    let mut nodes = vec![NodeWork {
        documents: sample.documents,
        disk: of.temporary_bytes,
        seconds: of.cpu_seconds,
        ..NodeWork::default()
    }];
    let shares = as_user(caller, || shares_of_nodes(docs))?;
    if !shares.is_empty() {
        nodes[0].documents = 0;
        nodes[0].received = of.text_bytes;
    }
    let share = |share: f64, whole: u64| (share * whole as f64).round() as u64;
    nodes.extend(shares.iter().map(|&(_, of_documents)| NodeWork {
        documents: share(of_documents, sample.documents),
        sent: share(of_documents, of.text_bytes),
        ..NodeWork::default()
    }));
    let names: Vec<String> = shares.into_iter().map(|(name, _)| name).collect();
    let estimate = CallEstimate { candidates: of.candidates, pairs: of.pairs, nodes };
    rows(request, estimate, names, planned.run.account.documents)
}

/// Returns the names of the nodes besides this server, and where the steps run.
fn layout(
    docs: Oid,
    in_parts: &LoggedArguments,
    measured: &MeasuredSample,
) -> Result<(Vec<String>, StepNodes)> {
    if !in_parts.servers.is_empty() {
        let names: Vec<String> = in_parts.servers.iter().map(|server| server.name.clone()).collect();
        let of: BTreeMap<u32, String> =
            statements::servers_of_partitions(docs).json::<Vec<(u32, String)>>()?.into_iter().collect();
        let mut shares = vec![0.0; names.len()];
        for (partition, count) in measured.of_partitions() {
            let server = of.get(&partition.to_u32()).and_then(|of| names.iter().position(|name| name == of));
            if let Some(server) = server {
                shares[server] += count as f64 / measured.len().max(1) as f64;
            }
        }
        return Ok((names, StepNodes::Servers(shares)));
    }
    if in_parts.citus.is_none() {
        return Ok((Vec::new(), StepNodes::Here));
    }
    let nodes: Vec<(String, i64, bool)> = statements::nodes_of_shards(docs).json()?;
    let working = nodes.iter().filter(|node| node.2).count().max(1) as f64;
    let shares = shares(nodes.iter().map(|node| node.1));
    let layout =
        nodes.iter().zip(shares).map(|(node, share)| (share, if node.2 { 1.0 / working } else { 0.0 }));
    let layout = StepNodes::Citus(layout.collect());
    Ok((nodes.into_iter().map(|node| node.0).collect(), layout))
}

/// Returns the share of each of these sizes; equal ones if all are zero.
fn shares(sizes: impl Iterator<Item = i64> + Clone) -> Vec<f64> {
    let all: i64 = sizes.clone().sum();
    let count = sizes.clone().count().max(1) as f64;
    sizes.map(|size| if all > 0 { size as f64 / all as f64 } else { 1.0 / count }).collect()
}

/// Returns the nodes of Citus that have documents, with their shares.
fn shares_of_nodes(docs: Oid) -> Result<Vec<(String, f64)>> {
    if !spreading::is_there().holds()? || !citus::is_known(docs)? {
        return Ok(Vec::new());
    }
    let nodes: Vec<(String, i64, bool)> = statements::nodes_of_shards(docs).json()?;
    let shares = shares(nodes.iter().map(|node| node.1));
    Ok(nodes.into_iter().map(|node| node.0).zip(shares).collect())
}
