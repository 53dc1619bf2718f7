//! The stored lists of jobs: outlines of all rows, and what is found by them (`candidates/delta`).
//!
//! A job's table of lists has rows `(kind, segment, part, documents, data, ids)`: one of kind `o`, the order of tokens;
//! and for each segment one of kind `s`, with the numbers of its parts and documents, one of kind `l` for each part that is not
//! empty, and for each block of documents one of kind `d` and one of kind `i` with their ids. A document that changes
//! gets an outline in a new segment; what was said of it before only leads to a row that is compared in vain.

use pgrx::pg_sys::{self, Datum};
use pgrx::{IntoDatum, PgMemoryContexts, check_for_interrupts};

use super::call::{Call, Strings, sql_function, text_array, varlena_bytes};
use super::clusters::ARGUMENTS_OF_JOIN;
use super::cursor::Cursor;
use super::encoding;
use super::error::{Result, SqlError};
use super::example::literal;
use super::ids::Ids;
use super::job_work::FORM;
use super::jobs::{equality, qualified_type};
use super::methods::Update;
use super::reading::Reading;
use super::request::Request;
use super::rows::{Store, wants_all};
use super::settings;
use super::workers::BackendWorkers;
use crate::candidates::bounds::Bounds;
use crate::candidates::delta::lookup::{Changed, Comparison, Found};
use crate::candidates::delta::order::{Counts, Order, VERSION};
use crate::candidates::delta::outline::{Outliner, Outlines, words};
use crate::candidates::delta::segment::{BLOCK, Documents, PART, Segment};
use crate::candidates::delta::verify::{Matcher, Matches, TokenSets};
use crate::error::Error;
use crate::features::FeatureSpec;
use crate::memory;
use crate::verify::measure::Predicate;
use crate::workers::{self, Stop, Workers};

const DOING: &str = "outlining documents";
/// The first argument behind those of a join.
const NEXT: usize = ARGUMENTS_OF_JOIN + 1;

sql_function! {
    /// `neardup_job_lists(…, ids, lists, segment)`: the outlines of rows that a condition holds for, as rows of the table
    /// of lists, in segments numbered from `segment`. Without the table, also an order of tokens.
    neardup_job_lists, pg_finfo_neardup_job_lists, |call| {
        wants_all(call)?;
        let mut request = Request::new(call, FORM)?;
        let Update::Sets(spec, predicate) = request.method.update() else {
            return Err(SqlError::parameter("this method has no lists"));
        };
        if let Some(condition) = call.text(NEXT)? {
            request.left = request.left.only(&condition);
        }
        let order = match call.text(NEXT + 1)? {
            Some(lists) => Some(read_order(&lists)?.ok_or_else(no_order)?),
            None => None,
        };
        let mut writer = Writer::new(call, call.need(NEXT + 2, "segment")?);
        let mut reading = Reading::new(&request);
        // Until an order is made, tokens take far more than outlines; to put these in order takes them twice again.
        let enough = reading.memory / 4;
        let new = order.is_none();
        let order = outline(&mut reading, (&spec, predicate), order, enough, |outlines, order, workers| {
            writer.write(Segment::new(outlines, order.words, workers)?)
        })?;
        if new {
            let count = i32::try_from(reading.left.len()).unwrap_or(i32::MAX);
            writer.put(b'o', [0, VERSION.into()], Some(count), Some(&order.to_bytes()?), None)?;
        }
        writer.ids(|row| reading.left.show(row))?;
        Ok(Datum::null())
    }
}

fn no_order() -> SqlError {
    SqlError::parameter("the lists of the job are of another version")
}

/// The order of tokens that a table of lists has; none if it has none of use.
fn read_order(lists: &str) -> Result<Option<Order>> {
    let mut order = None;
    read(&format!("SELECT data FROM {lists} WHERE kind = 'o'"), |[data]: [Datum; 1]| {
        // SAFETY: a bytea.
        order = Order::from_bytes(unsafe { varlena_bytes(data) })?;
        Ok(())
    })?;
    Ok(order)
}

/// Outlines the documents of a reading, in an order that is made if there is none; `done` takes about `enough` bytes
/// of outlines at a time.
fn outline(
    reading: &mut Reading<'_>,
    (spec, predicate): (&FeatureSpec, Predicate),
    mut order: Option<Order>,
    enough: usize,
    mut done: impl FnMut(Outlines, &Order, &dyn Workers) -> Result<()>,
) -> Result<Order> {
    let bounds = Bounds::new(predicate);
    let workers = reading.workers;
    let mut outliners: Vec<Outliner> = (0..workers.count()).map(|_| Outliner::default()).collect();
    let mut all = |outliners: &mut Vec<Outliner>, order: &Order| {
        let mut parts = outliners.iter_mut().map(|outliner| std::mem::take(&mut outliner.outlines));
        let mut outlines = parts.next().unwrap_or_default();
        parts.try_for_each(|part| outlines.append(&part, |row| row))?;
        if outlines.rows.is_empty() { Ok(()) } else { done(outlines, order, &workers) }
    };
    reading.read(|batch| {
        let known = order.as_ref();
        batch.share_out(&mut outliners, |outliner, row, document, stop| match known {
            Some(order) => outliner.add(row, document, spec, (order, &bounds), stop),
            None => outliner.keep(row, document, spec, stop),
        })?;
        if order.is_none() && outliners.iter().map(Outliner::waiting).sum::<usize>() > enough {
            order = Some(freeze(&mut outliners, &bounds, batch.workers())?);
        }
        let bytes = outliners.iter().map(|outliner| outliner.outlines.bytes()).sum::<usize>();
        if let Some(order) = order.as_ref().filter(|_| bytes > enough / 2) {
            all(&mut outliners, order)?;
        }
        Ok(bytes)
    })?;
    let order = match order {
        Some(order) => order,
        None => freeze(&mut outliners, &bounds, &workers)?,
    };
    all(&mut outliners, &order)?;
    Ok(order)
}

/// Makes the order, and the outlines of what waits for it.
fn freeze(outliners: &mut [Outliner], bounds: &Bounds, workers: &dyn Workers) -> Result<Order> {
    let (documents, tokens) =
        outliners.iter().map(Outliner::tokens).fold((0, 0), |(d, t), (e, u)| (d + e, t + u));
    let words = words(bounds, (tokens / documents.max(1)) as u32);
    let counts: Vec<&Counts> = outliners.iter().map(|outliner| &outliner.counts).collect();
    let order = Order::new(&counts, words)?;
    workers::each(workers, outliners, |outliner, stop| outliner.release(&order, bounds, stop))?;
    Ok(order)
}

/// Writes segments as rows.
struct Writer {
    store: Store,
    segment: i64,
    /// Segments whose ids are still to be written: their numbers, and the rows in their order.
    rows: Vec<(i64, Vec<u32>)>,
    context: PgMemoryContexts,
}

impl Writer {
    fn new(call: Call, segment: i64) -> Self {
        let context = PgMemoryContexts::new("neardup: lists");
        Self { store: Store::new(call), segment, rows: Vec::new(), context }
    }

    fn put(
        &mut self,
        kind: u8,
        [segment, part]: [i64; 2],
        documents: Option<i32>,
        data: Option<&[u8]>,
        ids: Option<&Strings>,
    ) -> Result<()> {
        let Self { store, context, .. } = self;
        // SAFETY: what is made inside is copied before the context is reset.
        unsafe {
            context.switch_to(|_| -> Result<()> {
                let nulls = [false, false, false, documents.is_none(), data.is_none(), ids.is_none()];
                let values = [
                    Datum::from(kind.cast_signed()),
                    Datum::from(segment),
                    Datum::from(part as i32),
                    Datum::from(documents.unwrap_or(0)),
                    data.and_then(IntoDatum::into_datum).unwrap_or(Datum::null()),
                    ids.map_or(Ok(Datum::null()), text_array)?,
                ];
                store.put(values, nulls);
                Ok(())
            })?;
            context.reset();
        }
        Ok(())
    }

    /// Writes the next segment, but for its ids.
    fn write(&mut self, segment: Segment) -> Result<()> {
        let number = self.segment;
        let documents = i32::try_from(segment.documents()).unwrap_or(i32::MAX);
        self.put(b's', [number, segment.parts.len() as i64], Some(documents), None, None)?;
        for (block, n) in segment.blocks().zip(0..) {
            self.put(b'd', [number, n], None, Some(&block?), None)?;
        }
        for (part, n) in segment.parts.iter().zip(0..).filter(|(part, _)| !part.is_empty()) {
            self.put(b'l', [number, n], None, Some(part), None)?;
        }
        memory::push(&mut self.rows, (number, segment.into_rows()), DOING)?;
        self.segment += 1;
        Ok(())
    }

    /// Writes the ids of all segments.
    fn ids(&mut self, show: impl Fn(u32) -> String) -> Result<()> {
        for (segment, rows) in std::mem::take(&mut self.rows) {
            for (block, n) in rows.chunks(BLOCK).zip(0..) {
                let mut ids = Strings::default();
                let mut collect = || -> Result<()> {
                    block
                        .iter()
                        .try_for_each(|&row| Ok(ids.push(encoding::to_server(&show(row))?.as_bytes())?))
                };
                // SAFETY: what the server makes of ids goes when the row is put.
                unsafe { self.context.switch_to(|_| collect()) }?;
                self.put(b'i', [segment, n], None, None, Some(&ids))?;
            }
        }
        Ok(())
    }
}

/// Calls `each` with the rows that a query gives, which have no NULL.
fn read<const N: usize>(sql: &str, mut each: impl FnMut([Datum; N]) -> Result<()>) -> Result<()> {
    const ROWS_A_FETCH: usize = 64;
    let mut cursor = Cursor::open(sql)?;
    // Detoasted copies live here until their row is done.
    let mut context = PgMemoryContexts::new("neardup: reading lists");
    loop {
        check_for_interrupts!();
        let mut fetched = 0;
        for row in cursor.fetch::<N>(ROWS_A_FETCH)? {
            fetched += 1;
            let row = row.map(|value| value.unwrap_or(Datum::null()));
            // SAFETY: what is kept of a row are copies.
            unsafe {
                context.switch_to(|_| each(row))?;
                context.reset();
            }
        }
        if fetched == 0 {
            return Ok(());
        }
    }
}

/// A segment as its row of kind `s` says.
#[derive(Debug, Clone, Copy)]
struct Header {
    segment: i64,
    parts: usize,
    documents: usize,
}

fn headers(lists: &str) -> Result<Vec<Header>> {
    let mut headers = Vec::new();
    let sql = format!("SELECT segment, part, documents FROM {lists} WHERE kind = 's' ORDER BY segment");
    read(&sql, |[segment, parts, documents]: [Datum; 3]| {
        let (parts, documents) = (parts.value(), documents.value());
        Ok(memory::push(&mut headers, Header { segment: segment.value() as i64, parts, documents }, DOING)?)
    })?;
    Ok(headers)
}

fn documents(lists: &str, segment: i64, words: usize) -> Result<Documents> {
    let mut documents = Documents::new(words);
    let sql = format!("SELECT data FROM {lists} WHERE kind = 'd' AND segment = {segment} ORDER BY part");
    read(&sql, |[data]: [Datum; 1]| {
        // SAFETY: a bytea.
        Ok(documents.push(unsafe { varlena_bytes(data) })?)
    })?;
    Ok(documents)
}

/// Calls `each` with the ids of a segment's documents, by block: its number, and text datums.
fn ids(
    lists: &str,
    segment: i64,
    blocks: Option<&[u32]>,
    mut each: impl FnMut(usize, &[Datum]) -> Result<()>,
) -> Result<()> {
    let only = blocks.map_or_else(String::new, |blocks| format!(" AND part = ANY ({})", numbers(blocks)));
    let sql =
        format!("SELECT part, ids FROM {lists} WHERE kind = 'i' AND segment = {segment}{only} ORDER BY part");
    read(&sql, |[block, ids]: [Datum; 2]| {
        let (mut values, mut nulls, mut count) = (std::ptr::null_mut(), std::ptr::null_mut(), 0);
        // SAFETY: a text[] without NULLs; the values live as long as the row.
        let values = unsafe {
            pg_sys::deconstruct_array(
                pg_sys::pg_detoast_datum(ids.cast_mut_ptr()).cast(),
                pg_sys::TEXTOID,
                -1,
                false,
                pg_sys::TYPALIGN_INT as std::ffi::c_char,
                &raw mut values,
                &raw mut nulls,
                &raw mut count,
            );
            std::slice::from_raw_parts(values, count as usize)
        };
        each(block.value(), values)
    })
}

/// Numbers as an array of SQL.
fn numbers(numbers: &[u32]) -> String {
    let list: Vec<String> = numbers.iter().map(u32::to_string).collect();
    format!("'{{{}}}'::int[]", list.join(","))
}

/// Changed rows, and which of those of the lists may be similar to them.
pub struct Near {
    /// The ids of the rows that changed.
    ids: Ids,
    /// None where they are too many to be kept.
    matcher: Option<Matcher>,
    /// An array of the ids of the others, as SQL text.
    others: String,
    equals: String,
}

/// What may be similar to the rows of a request; none where the lists are of no use.
pub fn near(
    lists: &str,
    request: &Request,
    (spec, predicate): (FeatureSpec, Predicate),
) -> Result<Option<Near>> {
    let Some(order) = read_order(lists)? else { return Ok(None) };
    let (words, bounds) = (order.words, Bounds::new(predicate));
    let mut reading = Reading::new(request);
    let workers = reading.workers;
    let enough = reading.memory / 4;
    let mut states: Vec<(Outliner, TokenSets)> = (0..workers.count()).map(|_| Default::default()).collect();
    let mut fits = true;
    reading.read(|batch| {
        batch.share_out(&mut states, |(outliner, sets), row, document, stop| {
            if !fits {
                return outliner.add(row, document, &spec, (&order, &bounds), stop);
            }
            sets.add(row, document, &spec, stop)?;
            outliner.add_hashes(row, sets.last(), &order, &bounds)
        })?;
        let bytes = states.iter().map(|(_, sets)| sets.bytes()).sum::<usize>();
        if fits && bytes > enough {
            states.iter_mut().for_each(|(_, sets)| *sets = TokenSets::default());
            fits = false;
        }
        Ok(bytes)
    })?;
    let (mut outlines, mut sets) = (Outlines::default(), Vec::new());
    for (outliner, some) in states {
        outlines.append(&outliner.outlines, |row| row)?;
        sets.push(some);
    }
    let changed = Changed::new(outlines, words, bounds, &workers)?;
    let mut list = String::new();
    if !changed.is_empty() {
        for header in headers(lists)? {
            look(lists, header, &changed, words, &workers, &mut list)?;
        }
    }
    let id_type = qualified_type(request.id_type);
    let others = format!("{}::{id_type}[]", literal(&format!("{{{}}}", list.trim_end_matches(','))));
    let matcher = fits.then(|| Matcher::new(changed, sets, order, (spec, predicate))).transpose()?;
    Ok(Some(Near { ids: reading.left, matcher, others, equals: equality(request.id_type)? }))
}

impl Near {
    /// The condition for the others.
    pub fn condition(&self, key: &str) -> String {
        format!("{key} {} ANY ({})", self.equals, self.others)
    }

    /// Whether the changed rows are in memory.
    pub fn fits(&self) -> bool {
        self.matcher.is_some()
    }

    /// Calls `pair` with the ids of each changed row and one similar to it, changed or not, and their similarity; also
    /// with itself, and with some more than once.
    pub fn pairs(&self, request: &mut Request, mut pair: impl FnMut(&Ids, Datum, Datum, f64)) -> Result<()> {
        let Some(matcher) = &self.matcher else { return Ok(()) };
        let mut others = Ids::new(request.id_type);
        read(
            &format!("SELECT x.id FROM pg_catalog.unnest({}) AS x(id)", self.others),
            |[id]: [Datum; 1]| {
                // SAFETY: the array is of ids.
                unsafe { others.push(id) }
            },
        )?;
        request.left = request.left.listed(&self.others, &self.equals);
        request.id_type = pg_sys::INT8OID;
        let mut reading = Reading::new(request);
        let mut matches: Vec<Matches> = (0..reading.workers.count()).map(|_| Matches::default()).collect();
        // For each part, how far it is, and what was found meanwhile.
        let mut shares: Vec<_> =
            (0..matcher.parts()).map(|part| (part, 0, false, Matches::default())).collect();
        while shares.iter().any(|(_, _, ended, _)| !ended) {
            workers::each(&reading.workers, &mut shares, |(part, done, ended, matches), stop| {
                *ended = matcher.find_among(*part, done, matches, stop)?;
                Ok(())
            })?;
            for (row, changed, similarity) in
                shares.iter_mut().flat_map(|(_, _, _, matches)| matches.found.drain(..))
            {
                pair(&self.ids, self.ids.datum(row), self.ids.datum(changed), similarity);
            }
        }
        reading.read(|batch| {
            batch.share_out(&mut matches, |matches, row, document, stop| {
                matcher.find(row, document, matches, stop)
            })?;
            for matches in &mut matches {
                for (other, changed, similarity) in matches.found.drain(..) {
                    pair(&self.ids, self.ids.datum(changed), others.datum(other), similarity);
                }
            }
            Ok(0)
        })
    }
}

/// Adds the ids of a segment's documents that may be similar to a changed one.
fn look(
    lists: &str,
    header: Header,
    changed: &Changed,
    words: usize,
    workers: &BackendWorkers,
    list: &mut String,
) -> Result<()> {
    /// Bytes of parts that are shared out at one time.
    const PIECE: usize = 4 << 20;
    let Header { segment, parts, .. } = header;
    let documents = documents(lists, segment, words)?;
    let comparison = changed.against(&documents)?;
    let mut found: Vec<Found> = (0..workers.count())
        .map(|_| Found::new(documents.sizes.len()))
        .collect::<crate::error::Result<_>>()?;
    let wanted = changed.parts(parts)?;
    let only =
        if wanted.len() == parts { String::new() } else { format!(" AND part = ANY ({})", numbers(&wanted)) };
    let sql =
        format!("SELECT data FROM {lists} WHERE kind = 'l' AND segment = {segment}{only} ORDER BY part");
    let (mut pending, mut bytes) = (Vec::new(), 0);
    read(&sql, |[data]: [Datum; 1]| {
        let mut part = Vec::new();
        // SAFETY: a bytea.
        memory::extend(&mut part, unsafe { varlena_bytes(data) }, DOING)?;
        bytes += part.len();
        memory::push(&mut pending, part, DOING)?;
        if bytes > PIECE {
            compare(&comparison, &pending, &mut found, workers)?;
            pending.clear();
            bytes = 0;
        }
        Ok(())
    })?;
    compare(&comparison, &pending, &mut found, workers)?;

    let found = Found::all(found);
    let mut blocks: Vec<u32> = found.iter().map(|place| place / BLOCK as u32).collect();
    blocks.dedup();
    let mut rest = found.as_slice();
    ids(lists, segment, Some(&blocks), |block, ids| {
        while let Some(place) =
            rest.first().map(|&place| place as usize).filter(|place| place / BLOCK == block)
        {
            if let Some(&id) = ids.get(place % BLOCK) {
                // SAFETY: a text of ours.
                let id = encoding::to_utf8(unsafe { varlena_bytes(id) })?.unwrap_or_default();
                list.try_reserve(id.len() + 3).map_err(|_| Error::OutOfMemory { doing: DOING })?;
                list.push('"');
                list.push_str(&id.replace('\\', "\\\\").replace('"', "\\\""));
                list.push_str("\",");
            }
            rest = &rest[1..];
        }
        Ok(())
    })
}

fn compare(
    comparison: &Comparison<'_>,
    parts: &[Vec<u8>],
    found: &mut [Found],
    workers: &BackendWorkers,
) -> Result<()> {
    if parts.is_empty() {
        return Ok(());
    }
    let share = parts.len().div_ceil(found.len());
    let mut shares: Vec<(&mut Found, &[Vec<u8>])> = found.iter_mut().zip(parts.chunks(share)).collect();
    let work = |(found, parts): &mut (&mut Found, &[Vec<u8>]), stop: &Stop| {
        while let Some((part, rest)) = parts.split_first() {
            comparison.compare(part, found, stop)?;
            *parts = rest;
        }
        Ok(())
    };
    Ok(workers::each(workers, &mut shares, work)?)
}

sql_function! {
    /// `neardup_job_merge(lists)`: the last segments as one, where that is worth it, and a row of kind `x` for each of these.
    neardup_job_merge, pg_finfo_neardup_job_merge, |call| {
        wants_all(call)?;
        let lists = call.text(0)?.unwrap_or_default();
        let headers = headers(&lists)?;
        let count = worth_merging(&headers, settings::memory());
        let mut writer = Writer::new(call, headers.last().map_or(0, |last| last.segment + 1));
        let merged = &headers[headers.len() - count..];
        if merged.is_empty() {
            return Ok(Datum::null());
        }
        let order = read_order(&lists)?.ok_or_else(no_order)?;
        let workers = BackendWorkers::new();
        let (mut all, mut names) = (Outlines::default(), Ids::new(pg_sys::TEXTOID));
        for &Header { segment, .. } in merged {
            let mut parts = Vec::new();
            read(&format!("SELECT data FROM {lists} WHERE kind = 'l' AND segment = {segment} ORDER BY part"), |[data]: [Datum; 1]| {
                let mut part = Vec::new();
                // SAFETY: a bytea.
                memory::extend(&mut part, unsafe { varlena_bytes(data) }, DOING)?;
                Ok(memory::push(&mut parts, part, DOING)?)
            })?;
            let from = names.len() as u32;
            ids(&lists, segment, None, |_, ids| {
                // SAFETY: texts.
                ids.iter().try_for_each(|&id| unsafe { names.push(id) })
            })?;
            let documents = documents(&lists, segment, order.words)?;
            all.append(&documents.outlines(from, parts.iter().map(Vec::as_slice))?, |row| row)?;
            writer.put(b'x', [segment, 0], None, None, None)?;
        }
        writer.write(Segment::new(all, order.words, &workers)?)?;
        writer.ids(|row| names.show(row))?;
        Ok(Datum::null())
    }
}

/// How many of the last segments become one: so many that each is more than twice the one behind it, and that the
/// numbers of segments a row goes through and is looked for in are both logarithmic. None that would not fit into memory.
fn worth_merging(headers: &[Header], memory: usize) -> usize {
    /// What is in memory for a byte that is stored.
    const TIMES: usize = 8;
    let (mut count, mut documents, mut parts) = (0, 0, 0);
    for header in headers.iter().rev() {
        parts += header.parts;
        if (count > 0 && header.documents > 2 * documents) || parts * PART * TIMES > memory {
            break;
        }
        documents += header.documents;
        count += 1;
    }
    if count > 1 { count } else { 0 }
}
