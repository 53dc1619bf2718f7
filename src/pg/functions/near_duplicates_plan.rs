//! The estimate before the run: `near_duplicates_plan` (docs/reference/functions.md, *Pairs*).
//!
//! The method is run on a sample of the documents, and its work is scaled to all of them
//! (core/src/methods/estimate.rs).

use std::num::NonZeroU64;

use pgrx::check_for_interrupts;
use pgrx::pg_sys::{self, Datum};

use crate::pg::query::names::type_name;
use crate::pg::read::sample::Sample;
use crate::pg::request::form::{Argument, NEAR_DUPLICATES_PLAN};
use crate::pg::request::{Request, at_least_one, such_as};
use crate::pg::server::call::{Call, sql_function};
use crate::pg::server::error::Result;
use crate::pg::server::own_schema::calls;
use crate::pg::server::processor_time::processor_seconds;
use crate::pg::server::set_returning::{self, Rows};
use crate::pg::server::temp_file::{most_space, watch_space};
use crate::pg::server::values::text;
use neardup_core::methods::estimate::{Estimate, SampleRun};

sql_function! {
    /// `near_duplicates_plan(docs, threshold, …)`
    neardup_near_duplicates_plan, pg_finfo_neardup_near_duplicates_plan, |call| {
        set_returning::all(call, Plan::new(call)?)
    }
}

/// A method and the estimate for it.
pub(crate) struct Planned {
    method: &'static str,
    /// What it did for the sample.
    pub run: SampleRun,
    /// What it takes for all documents.
    pub estimate: Estimate,
    call: String,
}

/// The planned methods as rows.
struct Plan {
    methods: std::vec::IntoIter<Planned>,
    documents: u64,
    /// The least number of processor seconds of all methods.
    least: f64,
}

impl Plan {
    fn new(call: Call) -> Result<Self> {
        let given = NEAR_DUPLICATES_PLAN.of(call);
        let request = Request::of_any_id(given, NEAR_DUPLICATES_PLAN)?;
        let asked = given.get(Argument::Sample).map(|asked| at_least_one(Argument::Sample.name(), asked));
        let asked = asked
            .transpose()
            .map_err(|error| error.hint(such_as(&request.example.with(Argument::Sample.name(), 25_000))))?;
        let sample = Sample::new(&request.left, asked.and_then(NonZeroU64::new))?;
        // The other of the exact join and of minhash is planned as well, if it takes the arguments.
        let other = match request.method_name {
            "jaccard" => Request::of_any_id(given.with_method("minhash"), NEAR_DUPLICATES_PLAN).ok(),
            "minhash" => Request::of_any_id(given.with_method("jaccard"), NEAR_DUPLICATES_PLAN).ok(),
            _ => None,
        };
        let find_seconds = sample.find_seconds(&request.left)?;
        let mut methods = vec![plan(&request, sample, find_seconds)?];
        if let Some(other) = other {
            methods.push(plan(&other, sample, find_seconds)?);
        }
        tell_few_pairs(&methods[0], sample);
        let least = methods.iter().map(|method| method.estimate.cpu_seconds).fold(f64::INFINITY, f64::min);
        Ok(Self { methods: methods.into_iter(), documents: sample.documents, least })
    }
}

/// Runs the method of a request on a sample and estimates its work on all documents. If they would
/// not fit in memory, the sample gets as much less memory as it is smaller, so that it goes to
/// temporary files where the call does.
pub(crate) fn plan(request: &Request, sample: Sample, find_seconds: f64) -> Result<Planned> {
    let planned = plan_within(request, sample, find_seconds, |memory| memory)?;
    match planned.run.fits_in_memory() {
        true => Ok(planned),
        false => plan_within(request, sample, find_seconds, |memory| sample.memory(memory)),
    }
}

/// Runs the method on a sample like [`plan`]. `memory_of` returns the memory of the sample for that
/// of the call.
fn plan_within(
    request: &Request,
    sample: Sample,
    find_seconds: f64,
    memory_of: impl Fn(usize) -> usize,
) -> Result<Planned> {
    /// The join of the sample ends after this number of pairs.
    const MOST_PAIRS: u64 = 10_000_000;
    let sampled = sample.of(&request.left);
    let mut reading = request.reading_of(&sampled);
    let memory = reading.memory;
    reading.memory = memory_of(memory);
    reading.executor = reading.executor.for_sample(sample.scale());
    let (space, began) = (watch_space(), processor_seconds());
    let (mut pairs, mut account) = reading.run(|reading| request.method.pairs(reading))?;
    let mut finished = reading.finish();
    let read = processor_seconds();
    loop {
        while pairs.take_group().is_some() {
            check_for_interrupts!();
        }
        let done = pairs.given() - pairs.certain().min(pairs.given());
        if done > MOST_PAIRS && pairs.progress() > 0.0 {
            break;
        }
        if !pairs.advance(&finished.executor)? {
            break;
        }
        account.peak_memory = account.peak_memory.max(pairs.bytes() as u64);
        finished.progress.report(|| format!("joining a sample, {:.0} %", 100.0 * pairs.progress()));
    }
    account.counts = pairs.counts();
    account.pairs = pairs.given();
    let run = SampleRun {
        documents: sample.documents,
        memory: memory as u64,
        text_bytes: account.bytes,
        account,
        certain_pairs: pairs.certain().min(pairs.given()),
        joined: pairs.progress(),
        temporary_bytes: most_space() - space,
        find_seconds,
        read_seconds: read - began,
        join_seconds: processor_seconds() - read,
        compares_texts: request.method.compares_texts(),
    };
    let estimate = run.estimate();
    let id_type = (request.id_type != pg_sys::INT8OID).then(|| type_name(request.id_type));
    let call =
        calls(&format!("SELECT * FROM {};", request.example.of("near_duplicates", id_type))).into_owned();
    Ok(Planned { method: request.method_name, run, estimate, call })
}

/// Tells the caller if the sample has so few pairs that the estimate of the pairs is uncertain.
fn tell_few_pairs(planned: &Planned, sample: Sample) {
    const FEW: u64 = 20;
    let account = &planned.run.account;
    let (sampled, all) = (account.documents, sample.documents);
    if sampled < all && account.pairs < FEW {
        pgrx::notice!(
            "near_duplicates_plan: the sample of {sampled} of {all} documents has {} pairs, too few for a good estimate of \
             all pairs; sample => {} reads more documents",
            account.pairs,
            sampled.max(1).saturating_mul(4).min(all)
        );
    }
}

impl Rows<12> for Plan {
    fn columns(&self) -> [&'static str; 12] {
        [
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
        ]
    }

    fn next(&mut self) -> Result<Option<[Datum; 12]>> {
        let Some(Planned { method, run, estimate, call }) = self.methods.next() else { return Ok(None) };
        Ok(Some([
            text(method)?,
            Datum::from(self.documents),
            Datum::from(run.account.documents),
            Datum::from(run.account.pairs.min(i64::MAX as u64)),
            Datum::from(estimate.pairs),
            Datum::from(estimate.candidates),
            Datum::from(estimate.text_bytes),
            Datum::from(estimate.memory),
            Datum::from(estimate.temporary_bytes),
            Datum::from(estimate.cpu_seconds.to_bits()),
            Datum::from(estimate.cpu_seconds <= self.least),
            text(&call)?,
        ]))
    }
}
