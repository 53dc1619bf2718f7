//! The estimate before the run: `near_duplicates_plan` (docs/reference/functions.md, *Pairs*).
//!
//! Of a call on this server, a row for each method that would do; of `near_duplicates_into`, a row
//! for each node.

use pgrx::IntoDatum;

use super::by_node::{PlanRow, by_node, count};
use crate::pg::functions::pairs::sampled_method::{Planned, plan};
use crate::pg::read::sample::CallSample;
use crate::pg::request::example::Example;
use crate::pg::request::form::{Argument, NEAR_DUPLICATES_PLAN, Named};
use crate::pg::request::{Request, sample_size};
use crate::pg::server::call::{FunctionCall, sql_functions};
use crate::pg::server::error::Result;
use crate::pg::server::notices::notice;
use crate::pg::server::set_returning::{self, Rows};
use crate::pg::server::values::text;

sql_functions! {
    /// `near_duplicates_plan(docs, threshold, …)`
    neardup_near_duplicates_plan: |call| {
        set_returning::all(call, Rows(COLUMNS, rows(call)?.into_iter().map(Ok)))
    };
}

const COLUMNS: [&str; 15] = [
    "using_method",
    "documents",
    "sampled",
    "sampled_pairs",
    "pairs",
    "candidates",
    "document_bytes",
    "memory",
    "temporary",
    "cpu_seconds",
    "cheapest",
    "call",
    "node",
    "sent",
    "received",
];

fn rows(call: FunctionCall) -> Result<Vec<PlanRow>> {
    let given = NEAR_DUPLICATES_PLAN.bind(call);
    let in_parts = given.get::<i32>(Argument::Parts).is_some();
    match in_parts || given.get(Argument::ByNode).unwrap_or(false) {
        true => {
            let example = Example::new(NEAR_DUPLICATES_PLAN.name, ["docs".to_owned()]);
            by_node(call, given, sample_size(given, &example)?)
        }
        false => methods(given),
    }
}

/// Estimates a call on this server, by the method and by another that finds the same.
fn methods(given: Named<'_>) -> Result<Vec<PlanRow>> {
    let request = Request::new(given)?;
    let sample = CallSample::new(&request.left, sample_size(given, &request.example)?)?;
    // The other of the exact join and of minhash is planned as well, if it takes the arguments.
    let other = match request.method_name {
        "jaccard" => Request::new(given.with_method("minhash")).ok(),
        "minhash" => Request::new(given.with_method("jaccard")).ok(),
        _ => None,
    };
    let find_seconds = sample.find_seconds(&request.left)?;
    let mut methods = vec![plan(&request, sample, find_seconds)?];
    if let Some(other) = other {
        methods.push(plan(&other, sample, find_seconds)?);
    }
    tell_few_pairs(&methods[0], sample);
    let least = methods.iter().map(|method| method.estimate.cpu_seconds).fold(f64::INFINITY, f64::min);
    let row = |Planned { method, run, estimate, call }: &Planned| {
        Ok([
            Some(text(method)?),
            count(sample.documents),
            count(run.account.documents),
            count(run.account.pairs),
            count(estimate.pairs),
            count(estimate.candidates),
            count(estimate.text_bytes),
            count(estimate.memory),
            count(estimate.temporary_bytes),
            estimate.cpu_seconds.into_datum(),
            (estimate.cpu_seconds <= least).into_datum(),
            Some(text(call)?),
            None,
            None,
            None,
        ])
    };
    methods.iter().map(row).collect()
}

/// Tells the caller if the sample has so few pairs that the estimate of the pairs is uncertain.
fn tell_few_pairs(planned: &Planned, sample: CallSample) {
    const FEW: u64 = 20;
    let account = &planned.run.account;
    let (sampled, all) = (account.documents, sample.documents);
    if sampled < all && account.pairs < FEW {
        notice(format!(
            "near_duplicates_plan: the sample of {sampled} of {all} documents has {} pairs, too few for a good estimate of \
             all pairs; sample => {} reads more documents",
            account.pairs,
            sampled.max(1).saturating_mul(4).min(all)
        ));
    }
}
