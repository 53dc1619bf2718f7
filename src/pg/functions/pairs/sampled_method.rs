//! A method on a sample of the documents, and its work scaled to all of them
//! (core/src/methods/estimate.rs).

use pgrx::{check_for_interrupts, pg_sys};

use crate::pg::query::names::type_name;
use crate::pg::read::sample::CallSample;
use crate::pg::request::Request;
use crate::pg::server::activity::processor_seconds;
use crate::pg::server::error::Result;
use crate::pg::server::own_schema::calls;
use crate::pg::server::temp_file::{most_space, watch_space};
use neardup_core::methods::estimate::{Estimate, SampleRun};
use neardup_core::methods::within;

/// A method and the estimate for it.
pub(crate) struct Planned {
    /// The name of the method.
    pub method: &'static str,
    /// What it did for the sample.
    pub run: SampleRun,
    /// What it takes for all documents.
    pub estimate: Estimate,
    /// The call that is estimated.
    pub call: String,
}

/// Runs the method of a request on a sample and estimates its work on all documents. If they would
/// not fit in memory, the sample gets as much less memory as it is smaller, so that it goes to
/// temporary files where the call does.
pub(crate) fn plan(request: &Request, sample: CallSample, find_seconds: f64) -> Result<Planned> {
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
    sample: CallSample,
    find_seconds: f64,
    memory_of: impl Fn(usize) -> usize,
) -> Result<Planned> {
    /// The join of the sample ends after this number of pairs.
    const MOST_PAIRS: u64 = 10_000_000;
    let sampled = sample.narrow(&request.left);
    let mut reading = request.reading_of(&sampled);
    let memory = reading.memory;
    reading.memory = memory_of(memory);
    reading.executor = reading.executor.for_sample(sample.scale());
    let (space, began) = (watch_space(), processor_seconds());
    let (mut pairs, mut account) = reading.run(|reading| {
        reading.most_pairs = Some(MOST_PAIRS);
        within::pairs(&*request.method, reading)
    })?;
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
    let call = calls(&format!("SELECT * FROM {};", request.example.for_function("near_duplicates", id_type)))
        .into_owned();
    Ok(Planned { method: request.method_name, run, estimate, call })
}
