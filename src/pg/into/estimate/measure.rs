//! Takes the steps of a call on a sample of the documents, and measures them: the sets of the
//! sample are in memory, and nothing is written.

use std::collections::HashMap;

use pgrx::pg_sys::{self, Datum, Oid};
use pgrx::{PgLogLevel, PgMemoryContexts, PgSqlErrorCode};

use crate::into::estimate::{Sampled, Seconds};
use crate::pg::into::arguments::InParts;
use crate::pg::into::statements::estimate as statements;
use crate::pg::into::statements::join::{CountedTokens, JoinStatements};
use crate::pg::procedure::statement::Statement;
use crate::pg::query::as_user::{as_user, set, with_settings};
use crate::pg::query::cursor::OpenCursor;
use crate::pg::query::decode::ColumnContent;
use crate::pg::query::subtransaction::apart;
use crate::pg::query::{Parameter, Query};
use crate::pg::read::sample::CallSample;
use crate::pg::read::source::DocumentSource;
use crate::pg::server::activity::processor_seconds;
use crate::pg::server::call::varlena_bytes;
use crate::pg::server::error::{Result, SqlError};
use crate::pg::server::notices::report;
use crate::pg::server::settings;
use crate::pg::server::values::array_of;
use neardup_core::{hash, memory};

const DOING: &str = "reading a sample";

/// A document of the sample.
struct SampledDocument {
    hash: i64,
    text_bytes: i64,
    partition: Oid,
    /// A copy of the set in the memory context of the sample, and its bytes.
    set: Option<Datum>,
    bytes: u64,
}

/// The documents of the sample, and what they took.
pub(crate) struct MeasuredSample {
    sample: CallSample,
    members: Vec<SampledDocument>,
    context: PgMemoryContexts,
    seconds: Seconds,
}

/// What is measured.
pub(crate) struct MeasuredCall<'a> {
    pub caller: Oid,
    pub docs: Oid,
    pub in_parts: &'a InParts,
    pub source: &'a DocumentSource,
    pub join: &'a JoinStatements,
}

/// Runs statements as the caller, with settings for a sample.
fn as_caller<T>(caller: Oid, work: impl FnOnce() -> Result<T>) -> Result<T> {
    as_user(caller, || {
        // The processor time of parallel workers is not that of this process.
        set(c"max_parallel_workers_per_gather", c"0");
        work()
    })
}

fn timed<T>(work: impl FnOnce() -> Result<T>) -> Result<(T, f64)> {
    let began = processor_seconds();
    let done = work()?;
    Ok((done, processor_seconds() - began))
}

impl MeasuredSample {
    /// Reads a sample. If its sets take more than a quarter of the memory, it is halved.
    pub(crate) fn read(asked: &MeasuredCall<'_>, sample: CallSample) -> Result<Self> {
        let in_parts = asked.in_parts;
        let budget = (settings::memory() / 4).max(4 << 20) as u64;
        let is_far = !in_parts.logged.servers.is_empty();
        let mut measured = Self {
            sample,
            members: Vec::new(),
            context: PgMemoryContexts::new("neardup: sample"),
            seconds: Seconds::default(),
        };
        let (hash, below) = sample.hash(asked.source);
        let text = is_far.then_some(asked.source.column.as_str());
        let sql = statements::sample(&in_parts.documents, &hash, below, text, is_far);
        let relations = [asked.docs];
        let query = Query { relations: &relations, ..Query::new(&sql) };
        let is_here = !is_far && in_parts.logged.citus.is_none();
        let find_seconds = if is_here { sample.find_seconds(asked.source)? } else { 0.0 };
        let began = processor_seconds();
        let (mut bytes, mut read) = (0, 0u64);
        with_settings(&[(c"max_parallel_workers_per_gather", c"0")], || {
            let columns = [pg_sys::INT8OID, pg_sys::INT4OID, pg_sys::OIDOID, pg_sys::BYTEAOID];
            OpenCursor::open(&query, columns)?.for_each(100, |row| {
                bytes += measured.add(row)?;
                read += 1;
                while bytes > budget && measured.members.len() > 1 {
                    bytes = measured.halve();
                }
                Ok(())
            })
        })?;
        // The sets of documents that were dropped were made, too.
        let stayed = measured.members.len() as f64 / read.max(1) as f64;
        measured.seconds.sets = (processor_seconds() - began - find_seconds).max(0.0) * stayed;
        if in_parts.logged.citus.is_some() {
            measured.seconds.sets = measured.cut(asked)?;
        }
        Ok(measured)
    }

    /// Adds a document, unless it is no longer in the sample. Returns the bytes of its set.
    fn add(&mut self, [hash, text, partition, set]: [Option<Datum>; 4]) -> Result<u64> {
        let number = |value: Option<Datum>| value.map_or(0, |value| value.value() as i64);
        let hash = number(hash);
        if !self.sample.has(hash) {
            return Ok(0);
        }
        // SAFETY: a varlena of the row, which is copied.
        let set = set.map(|set| unsafe {
            let copy = self.context.switch_to(|_| pg_sys::pg_detoast_datum_copy(set.cast_mut_ptr()));
            Datum::from(copy)
        });
        // SAFETY: the copy lives as long as the sample.
        let bytes = set.map_or(0, |set| unsafe { varlena_bytes(set) }.len() as u64);
        let partition = Oid::from(number(partition) as u32);
        let member = SampledDocument { hash, text_bytes: number(text) as i32 as i64, partition, set, bytes };
        memory::push(&mut self.members, member, DOING)?;
        Ok(bytes)
    }

    /// Drops half of the sample. Returns the bytes of the sets that are left.
    fn halve(&mut self) -> u64 {
        self.sample = self.sample.half();
        let sample = self.sample;
        self.members.retain(|member| {
            let stays = sample.has(member.hash);
            if let Some(set) = member.set.filter(|_| !stays) {
                // SAFETY: a copy of ours, which is not used any more.
                unsafe { pg_sys::pfree(set.cast_mut_ptr()) };
            }
            stays
        });
        self.members.iter().map(|member| member.bytes).sum()
    }

    /// Returns the seconds in which the sets of the sample are made, measured here by some texts:
    /// where documents are in Citus, the workers made the sets.
    fn cut(&self, asked: &MeasuredCall<'_>) -> Result<f64> {
        /// The number of texts.
        const TEXTS: u64 = 1000;
        /// The seconds for a byte of a set, if its documents are no texts.
        const BYTE: f64 = 20e-9;
        let bytes: u64 = self.members.iter().map(|member| member.bytes).sum();
        let usual = BYTE * bytes as f64;
        // The places of documents are not among their texts.
        let has_places = asked.source.has_sites() || asked.source.is_limited();
        if asked.source.kind != ColumnContent::Text || has_places || self.members.is_empty() {
            return Ok(usual);
        }
        let documents = &asked.in_parts.documents;
        let (hash, below) = self.sample.at_most(TEXTS).hash(asked.source);
        let sql = statements::texts(&documents.table, &asked.source.document, &hash, below);
        let relations = [asked.docs];
        let query = Query { relations: &relations, ..Query::new(&sql) };
        let [texts] = query.run([pg_sys::TEXTARRAYOID])?.first.unwrap_or_default();
        let Some(texts) = texts else { return Ok(usual) };
        let parameter = (pg_sys::TEXTARRAYOID, Some(texts));
        let Some(cut) = statements::cut(&documents.set, &asked.source.document, parameter) else {
            return Ok(usual);
        };
        let (count, seconds) = timed(|| as_caller(asked.caller, || cut.number()))?;
        Ok(match count {
            Some(count) if count > 0 => seconds / count as f64 * self.members.len() as f64,
            _ => usual,
        })
    }

    /// Returns the number of documents in the sample.
    pub(crate) fn len(&self) -> u64 {
        self.members.len() as u64
    }

    /// Returns the number of documents of the sample in each partition.
    pub(crate) fn of_partitions(&self) -> HashMap<Oid, u64> {
        let mut counts = HashMap::new();
        for member in &self.members {
            *counts.entry(member.partition).or_default() += 1;
        }
        counts
    }

    /// Takes the steps on the sample; on half of it if there are more candidates than a value can
    /// hold.
    pub(crate) fn steps(&mut self, asked: &MeasuredCall<'_>) -> Result<Sampled> {
        loop {
            match apart(|| self.steps_once(asked)) {
                Err(error) if is_too_much(&error) && self.members.len() > 100 => {
                    self.halve();
                }
                done => return done,
            }
        }
    }

    fn steps_once(&self, asked: &MeasuredCall<'_>) -> Result<Sampled> {
        /// About the greatest number of candidates that are compared.
        const COMPARED: i64 = 20_000;
        let join = asked.join;
        let (sets, distinct, equal) = self.distinct()?;
        let sampled = self.members.len() as u64;
        let mut of = Sampled {
            documents: self.sample.documents,
            sampled,
            text_bytes: self.members.iter().map(|member| member.text_bytes.unsigned_abs()).sum(),
            set_bytes: self.members.iter().map(|member| member.bytes).sum(),
            distinct,
            equal,
            id_bytes: 8,
            seconds: Seconds { sets: self.seconds.sets, ..Seconds::default() },
            ..Sampled::default()
        };
        as_caller(asked.caller, || {
            let order = if join.counted == CountedTokens::Nothing {
                statements::no_ranks()
            } else {
                statements::ranks(join, sets)
            };
            let ([ranks], seconds) = timed(|| Ok(order.row([pg_sys::BYTEAOID])?.unwrap_or_default()))?;
            of.seconds.ranks = seconds;
            let sample = [sets, (pg_sys::BYTEAOID, ranks)];
            let ([rows, bytes], groups) = timed(|| numbers(&statements::count_routes(join, sample)))?;
            (of.rows, of.row_bytes, of.seconds.groups) = (rows, bytes, groups);
            let ([joined, candidates], seconds) =
                timed(|| numbers(&statements::count_candidates(join, sample)))?;
            (of.joined, of.candidates) = (joined, candidates);
            of.seconds.join = (seconds - groups).max(0.0);
            let each = (candidates as i64 / COMPARED).max(1);
            let some = statements::some_candidates(join, sample, each);
            let [left, right] = some.row([pg_sys::INT8ARRAYOID; 2])?.unwrap_or_default();
            if left.is_none() {
                return Ok(());
            }
            let [left, right] = [left, right].map(|ids| (pg_sys::INT8ARRAYOID, ids));
            let compare = |times| statements::compare(join, [sample[0], sample[1], left, right], times);
            let ([compared, similar], once) = timed(|| numbers(&compare(1)))?;
            (of.compared, of.similar) = (compared, similar);
            // Few comparisons are measured by repeating them, as far as a second lasts.
            let times = (COMPARED as u64 / compared.max(1)).min((1.0 / once.max(1e-3)) as u64);
            of.seconds.compare = if times > 1 {
                let (_, more) = timed(|| numbers(&compare(times as i64 + 1)))?;
                (more - once).max(0.0) / times as f64
            } else {
                once
            };
            Ok(())
        })?;
        report(PgLogLevel::DEBUG1, format!("near_duplicates_plan: {of:?}"));
        Ok(of)
    }

    /// Returns the distinct sets as an array, their number, and the number of pairs of documents
    /// with equal ones.
    fn distinct(&self) -> Result<(Parameter, u64, u64)> {
        let mut seen: HashMap<(u64, u64), u64> = HashMap::new();
        let (mut sets, mut equal) = (Vec::new(), 0u64);
        for member in &self.members {
            let Some(set) = member.set.filter(|_| member.bytes > 0) else { continue };
            // SAFETY: a copy that lives as long as the sample.
            let hash = hash::hash_bytes(unsafe { varlena_bytes(set) });
            memory::attempt(DOING, || seen.try_reserve(1))?;
            let same = seen.entry((hash, member.bytes)).or_default();
            equal = equal.saturating_add(*same);
            *same += 1;
            if *same == 1 {
                memory::push(&mut sets, set, DOING)?;
            }
        }
        let count = sets.len() as u64;
        // SAFETY: the sets are values of bytea that stay in place; the function copies them.
        let array = unsafe { array_of(pg_sys::BYTEAOID, &mut sets)? };
        Ok(((pg_sys::BYTEAARRAYOID, Some(array)), count, equal))
    }
}

/// Runs a statement that returns two numbers.
fn numbers(statement: &Statement) -> Result<[u64; 2]> {
    Ok(statement.numbers()?.map(i64::unsigned_abs))
}

/// Reports whether an error says that something is larger than a value can be.
fn is_too_much(error: &SqlError) -> bool {
    let limit = PgSqlErrorCode::ERRCODE_PROGRAM_LIMIT_EXCEEDED;
    match error {
        // SAFETY: an error that was copied from the server.
        SqlError::Server(error) => unsafe { (**error).sqlerrcode == limit as i32 },
        SqlError::Own { code, .. } => *code == limit,
    }
}
