//! Passages that documents share: `partial_duplicates` and its relatives (docs/reference/functions.md,
//! *Passages*), and the signatures of a text that they are found by.

use std::time::Instant;

use pgrx::PgSqlErrorCode;
use pgrx::pg_sys::{self, Datum};

use super::building_blocks::workers_for;
use super::near_duplicates_stats::{self, Stats};
use super::spans::range;
use crate::features::imatch::IdfRange;
use crate::features::spotsigs::{Antecedents, SpotSpec, Spots};
use crate::features::tokens::Document;
use crate::features::units::sets::{Resources, Unit, Units};
use crate::features::units::signatures::{Maker, SignatureScratch, Terms};
use crate::hash::hash_bytes;
use crate::memory;
use crate::passages::progress::Phase;
use crate::passages::search::Search;
use crate::passages::{Capped, Passage, between};
use crate::pg::query::decode::{Kind, decode};
use crate::pg::query::ids::Ids;
use crate::pg::read::documents::Reading;
use crate::pg::request::example::{Example, literal};
use crate::pg::request::{Form, Given, PassageRequest, parameters};
use crate::pg::server::call::{Call, number_array, sql_function};
use crate::pg::server::error::{Result, SqlError};
use crate::pg::server::progress::Progress;
use crate::pg::server::set_returning::{self, Rows};
use crate::pg::server::workers::BackendWorkers;
use crate::text::words::words;
use crate::workers;

sql_function! {
    /// `partial_duplicates(docs, threshold, …)`
    neardup_passages, pg_finfo_neardup_passages, |call| {
        answer(call, Form { name: "partial_duplicates", relations: 1, typed: false })
    }
}
sql_function! {
    /// `partial_duplicates(docs, threshold, id_type, …)`
    neardup_passages_typed, pg_finfo_neardup_passages_typed, |call| {
        answer(call, Form { name: "partial_duplicates", relations: 1, typed: true })
    }
}
sql_function! {
    /// `partial_duplicates_between(left, right, threshold, …)`
    neardup_passages_between, pg_finfo_neardup_passages_between, |call| {
        answer(call, Form { name: "partial_duplicates_between", relations: 2, typed: false })
    }
}
sql_function! {
    /// `partial_duplicates_between(left, right, threshold, id_type, …)`
    neardup_passages_between_typed, pg_finfo_neardup_passages_between_typed, |call| {
        answer(call, Form { name: "partial_duplicates_between", relations: 2, typed: true })
    }
}

/// Where the server stores all passages, it stops at this many unless the caller said otherwise.
const DEFAULT_MAX_PASSAGES: u64 = 100_000_000;

fn answer(call: Call, form: Form) -> Result<Datum> {
    set_returning::answer(call, || {
        let mut request = PassageRequest::new(call, form)?;
        if set_returning::wants_all(call)? {
            request.max_passages.get_or_insert(DEFAULT_MAX_PASSAGES);
        }
        Run::new(&request)
    })
}

/// A search that gives its passages.
struct Run {
    name: &'static str,
    left: Ids,
    /// Ids of the right table, and the number its rows count from.
    right: Option<(Ids, u32)>,
    search: Search,
    batch: std::vec::IntoIter<Passage>,
    given: u64,
    workers: BackendWorkers,
    progress: Progress,
    max_passages: Option<u64>,
    example: Example,
    stats: Stats,
    owner: pg_sys::Oid,
}

impl Run {
    /// Reads the documents and joins their sentences.
    fn new(request: &PassageRequest) -> Result<Self> {
        let began = Instant::now();
        let mut reading = Reading::of(request.name, &request.left, request.right.as_ref(), request.id_type);
        let (library, maker) = reading.read_units(Unit::Sentence, &request.parameters.features)?;
        let left_rows = reading.left.in_order(&reading.workers)?;
        let right_rows = match &reading.right {
            Some((ids, from)) => {
                let mut rows = ids.in_order(&reading.workers)?;
                rows.iter_mut().for_each(|row| *row += from);
                Some(rows)
            }
            None => None,
        };
        let units = Units::in_order(&library, &left_rows, right_rows.as_deref())?;
        drop((left_rows, right_rows));
        let held = library.bytes() + units.bytes() + maker.bytes();
        let (files, budget) = (reading.files, reading.left_after(held));
        let resources = Resources { files: &files, budget, workers: &reading.workers };
        let progress = &mut reading.progress;
        let search =
            Search::new(library, units, &maker, &request.parameters, resources, &mut |(phase, share)| {
                progress.report(|| match phase {
                    Phase::Signing => format!("making signatures, {:.0} %", 100.0 * share),
                    Phase::Joining => format!("joining sentences, {:.0} %", 100.0 * share),
                    Phase::Pairing => format!("listing pairs, {:.0} %", 100.0 * share),
                    Phase::Sorting => "sorting pairs".to_owned(),
                });
            })?;
        let account = search.account;
        let stats = &mut reading.stats;
        stats.tokens = account.signatures;
        stats.distinct_tokens = account.distinct_signatures;
        stats.distinct_sets = account.distinct_sets;
        stats.counts = account.counts;
        stats.counts.stop_signatures = account.capped.sentences;
        stats.counts.stop_documents = account.capped.occurrences;
        reading.held(held + account.peak_bytes);
        tell_capped(request, account.capped);
        let Reading { left, right, workers, progress, mut stats, .. } = reading;
        stats.phases[1] = milliseconds(began) - stats.phases[0];
        // SAFETY: a look at a variable of the session.
        let owner = unsafe { pg_sys::GetUserId() };
        Ok(Self {
            name: request.name,
            left,
            right,
            search,
            batch: Vec::new().into_iter(),
            given: 0,
            workers,
            progress,
            max_passages: request.max_passages,
            example: request.example.clone(),
            stats,
            owner,
        })
    }

    fn next_passage(&mut self) -> Result<Option<Passage>> {
        loop {
            if let Some(passage) = self.batch.next() {
                self.given += 1;
                return match self.max_passages.filter(|&most| self.given > most) {
                    Some(most) => Err(self.too_many(most)),
                    None => Ok(Some(passage)),
                };
            }
            let began = Instant::now();
            let batch = self.search.next_batch(&self.workers)?;
            self.stats.phases[2] += milliseconds(began);
            self.stats.peak_memory = self.stats.peak_memory.max(self.search.bytes() as u64);
            let (share, given) = (self.search.progress(), self.given);
            self.progress.report(|| format!("matching, {:.0} %, {given} passages", 100.0 * share));
            match batch {
                Some(batch) => self.batch = batch.into_iter(),
                None => return Ok(None),
            }
        }
    }

    fn too_many(&self, most: u64) -> SqlError {
        SqlError::new(
            PgSqlErrorCode::ERRCODE_PROGRAM_LIMIT_EXCEEDED,
            format!("{} has more than max_passages = {most} passages to give", self.name),
        )
        .hint(format!(
            "Raise min_sentences, the threshold or max_passages, or take passages as they are found: SELECT {} LIMIT 10;",
            self.example
        ))
    }
}

/// Passages may be missing only where somebody is told.
fn tell_capped(request: &PassageRequest, capped: Capped) {
    if capped.sentences == 0 {
        return;
    }
    let Capped { sentences, occurrences, equal_only } = capped;
    let most = request.parameters.most_similar;
    let only = if equal_only { ", and only over those that are equal" } else { "" };
    pgrx::notice!(
        "{}: sentences that more than max_similar = {most} are similar to: {sentences}, {occurrences} times in \
         documents; they count only where a passage comes to them{only}; see near_duplicates_stats()",
        request.name
    );
}

/// The columns behind the ids.
fn columns(passage: &Passage) -> Result<[Datum; 6]> {
    // As the rows of `sentences` are numbered.
    let [left, right] = [passage.left_sentence, passage.right_sentence].map(|n| Datum::from(n as i32 + 1));
    Ok([
        left,
        right,
        Datum::from(passage.sentences as i32),
        range(&passage.left_span)?,
        range(&passage.right_span)?,
        Datum::from(passage.similarity.to_bits()),
    ])
}

impl Rows<8> for Run {
    fn next(&mut self) -> Result<Option<[Datum; 8]>> {
        let Some(passage) = self.next_passage()? else { return Ok(None) };
        let left = self.left.datum(passage.left_row);
        let right = match &self.right {
            Some((ids, from)) => ids.datum(passage.right_row - from),
            None => self.left.datum(passage.right_row),
        };
        let [a, b, c, d, e, f] = columns(&passage)?;
        Ok(Some([left, right, a, b, c, d, e, f]))
    }
}

impl Drop for Run {
    /// However the call ends, its account is kept.
    fn drop(&mut self) {
        self.stats.pairs = self.given;
        near_duplicates_stats::keep(self.owner, &self.stats);
    }
}

fn milliseconds(since: Instant) -> f64 {
    since.elapsed().as_secs_f64() * 1000.0
}

sql_function! {
    /// `shared_passages(a, b, threshold, options, features, min_sentences, extend, shingle)`: the passages of two
    /// texts.
    neardup_shared_passages, pg_finfo_neardup_shared_passages, |call| {
        set_returning::answer(call, || {
            let mut example = Example::new("shared_passages", ["…".to_owned(), "…".to_owned()]);
            let given = Given {
                threshold: call.get(2),
                options: call.json(3, "options"),
                features: call.text(4)?,
                min_sentences: call.get(5),
                extend: call.get(6),
                shingle: call.get(7),
            };
            let parameters = parameters(given, &mut example)?;
            let mut found = Vec::new();
            if let Some([a, b]) = call.two_texts()? {
                workers::one(workers_for(a.len() + b.len()), &mut found, |found, stop| {
                    *found = between(&a, &b, &parameters, stop)?;
                    Ok(())
                })?;
            }
            Ok(OfTwo(found.into_iter()))
        })
    }
}

/// The passages of two texts as rows.
struct OfTwo(std::vec::IntoIter<Passage>);

impl Rows<6> for OfTwo {
    fn next(&mut self) -> Result<Option<[Datum; 6]>> {
        self.0.next().map(|passage| columns(&passage)).transpose()
    }
}

sql_function! {
    /// `spotsigs(text, antecedents, chain, distance) → bigint[]`
    neardup_spotsigs, pg_finfo_neardup_spotsigs, |call| {
        let Some(text) = call.text(0)? else { return Ok(call.give::<i32>(None)) };
        let antecedents = match strings(call, 1)? {
            Some(listed) => Antecedents::Listed(listed),
            None => Antecedents::Common,
        };
        let hint = "For example: SELECT spotsigs(body, antecedents => ARRAY['the', 'a', 'is'], chain => 2, distance => 1);";
        let whole = |n, name| call.whole(n, name).map_err(|error| error.hint(hint));
        let spec = SpotSpec { antecedents, chain: whole(2, "chain")?, distance: whole(3, "distance")? };
        let spots = Spots::new(&spec, None).map_err(|error| SqlError::from(error).hint(hint))?;
        let mut signatures: Vec<i64> = Vec::new();
        workers::one(workers_for(text.len()), &mut signatures, |signatures, stop| {
            spots.of_text(&text, signatures, stop)
        })?;
        number_array(&signatures)
    }
}
sql_function! {
    /// `imatch(text, terms, document_counts, documents, lo, hi) → bigint[]`
    neardup_imatch, pg_finfo_neardup_imatch, |call| {
        let Some(text) = call.text(0)? else { return Ok(call.give::<i32>(None)) };
        let hint = "For example: SELECT imatch(body, terms => ARRAY['the', 'of'], document_counts => ARRAY[98, 95], \
                    documents => 100, lo => 0.1, hi => 1);";
        let counts = counts(call).map_err(|error| error.hint(hint))?;
        let documents: i64 = call.need(3, "documents")?;
        let documents = u64::try_from(documents).ok().filter(|&documents| documents > 0).ok_or_else(|| {
            SqlError::parameter(format!("documents must be at least 1, not {documents}")).hint(hint)
        })?;
        let range = IdfRange::new(call.need(4, "lo")?, call.need(5, "hi")?)
            .map_err(|error| SqlError::from(error).hint(hint))?;
        let maker = Maker::Imatch(Terms::counted(range, &counts, documents)?);
        let mut signatures = Vec::new();
        workers::one(workers_for(text.len()), &mut signatures, |signatures, stop| {
            maker.make(&text, &mut SignatureScratch::default(), signatures, stop)
        })?;
        number_array(&signatures)
    }
}

/// The terms and document counts of a call: hashes of words, and how many documents each is in.
fn counts(call: Call) -> Result<Vec<(u64, u64)>> {
    let terms = strings(call, 1)?.unwrap_or_default();
    let numbers: Vec<Option<i64>> = call.get(2).unwrap_or_default();
    if terms.len() != numbers.len() {
        return Err(SqlError::parameter(format!(
            "{} terms have {} document_counts",
            terms.len(),
            numbers.len()
        )));
    }
    let mut counts = Vec::new();
    memory::reserve(&mut counts, terms.len(), "reading terms")?;
    for (term, number) in terms.iter().zip(numbers) {
        let Some(number) = number.and_then(|number| u64::try_from(number).ok()).filter(|&number| number > 0)
        else {
            return Err(SqlError::parameter(format!(
                "the document count of {} must be at least 1",
                literal(term)
            )));
        };
        counts.extend(words(term).iter().map(|word| (hash_bytes(word.as_bytes()), number)));
    }
    Ok(counts)
}

/// The strings of an argument that is a `text[]`; none if it is NULL.
fn strings(call: Call, n: usize) -> Result<Option<Vec<String>>> {
    let Some(array) = call.datum(n) else { return Ok(None) };
    // SAFETY: our SQL declares a text[].
    match unsafe { decode(Kind::Tokens, array)? } {
        Some(Document::Tokens(strings)) => Ok(Some(strings)),
        _ => Err(SqlError::new(
            PgSqlErrorCode::ERRCODE_CHARACTER_NOT_IN_REPERTOIRE,
            format!("argument {} is not valid UTF-8", n + 1),
        )),
    }
}
