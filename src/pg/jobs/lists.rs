//! The stored lists of jobs: outlines of all rows, and what is found by them (`candidates/delta`).
//!
//! A job's table of lists has rows `(kind, segment, part, documents, data, ids)`: one of kind `o`, the order of tokens;
//! and for each segment one of kind `s`, with the numbers of its parts and documents, one of kind `l` for each part that is not
//! empty, and for each block of documents one of kind `d` and one of kind `i` with their ids. A document that changes
//! gets an outline in a new segment; what was said of it before only leads to a row that is compared in vain. A row of kind
//! `!` is none of the table: it says that the lists are damaged, or of another version, and have to be made anew.

use pgrx::pg_sys::{self, Datum};
use pgrx::{PgSqlErrorCode, check_for_interrupts};

use super::arguments::{self, ANEW, Rows, request};
use super::stored::{Header, damaged, documents, headers, ids, parts, read_order, unless_damaged};
use super::tables::Table;
use super::writer::Writer;
use super::{BATCH, NEXT};
use crate::error::Error;
use crate::features::FeatureSpec;
use crate::joins::incremental::digest::{Digester, Digests, words};
use crate::joins::incremental::segment::{PART, Segment};
use crate::joins::incremental::token_order::{Order, TokenCounts, VERSION};
use crate::joins::sets::bounds::Bounds;
use crate::memory;
use crate::methods::Update;
use crate::methods::reading::Reading;
use crate::pg::query::ids::Ids;
use crate::pg::server::call::sql_function;
use crate::pg::server::error::{Result, SqlError};
use crate::pg::server::set_returning::{Store, wants_all};
use crate::pg::server::settings;
use crate::pg::server::workers::BackendWorkers;
use crate::verify::predicate::Predicate;
use crate::workers::{self, Workers};

/// Columns of the table of lists.
const COLUMNS: usize = 6;

sql_function! {
    /// `neardup_job_lists(…, state, rows, lists, segment)`: the outlines of rows, `batch` or `known` by the table `state` or
    /// all, as rows of the table of lists, in segments numbered from `segment`. Without the table, also an order of tokens;
    /// where that of the table is damaged, or of another version, one row of kind `!`.
    neardup_job_lists, pg_finfo_neardup_job_lists, |call| {
        wants_all(call)?;
        let mut request = request(call)?;
        let Update::Sets(spec, predicate) = request.method.update() else {
            return Err(SqlError::parameter("this method has no lists"));
        };
        let rows = Rows::new(call, NEXT, &request)?;
        let condition = rows.condition(call, NEXT + 1, &request.left)?;
        request.left = rows.only(&request.left, condition.as_deref());
        let lists = arguments::lists(call, NEXT + 2)?;
        let segment = call.need(NEXT + 3, "first_segment")?;
        let mut store = Store::new(call);
        let mut writer = Writer::<COLUMNS>::new(&mut store, segment);
        let order = match lists {
            None => None,
            Some(lists) => match unless_damaged(read_order(&lists))?.flatten() {
                Some(order) => Some(order),
                None => {
                    writer.put(b'!', [0, 0], None, None, None)?;
                    return Ok(Datum::null());
                }
            },
        };
        let mut reading = request.reading();
        // Until an order is made, tokens take far more than outlines; to put these in order takes them twice again.
        let enough = reading.memory / 4;
        let new = order.is_none();
        let (order, _) = reading.run(|reading| {
            if !new {
                reading.batch_bytes = BATCH;
            }
            outline(reading, (&spec, predicate), order, enough, |outlines, order, workers| {
                writer.write(Segment::new(&outlines, order.words, workers)?)
            })
        })?;
        if new {
            let count = i32::try_from(reading.left().len()).unwrap_or(i32::MAX);
            writer.put(b'o', [0, VERSION.into()], Some(count), Some(&order.to_bytes()?), None)?;
        }
        writer.ids(|row| reading.left().show(row))?;
        Ok(Datum::null())
    }
}

/// Outlines the documents of a reading, in an order that is made if there is none; `done` takes about `enough` bytes
/// of outlines at a time.
fn outline(
    reading: &mut Reading<'_>,
    (spec, predicate): (&FeatureSpec, Predicate),
    mut order: Option<Order>,
    enough: usize,
    mut done: impl FnMut(Digests, &Order, &dyn Workers) -> Result<()>,
) -> Result<Order> {
    let bounds = Bounds::new(predicate);
    let workers = reading.workers;
    let mut outliners: Vec<Digester> = (0..workers.count()).map(|_| Digester::default()).collect();
    let mut all = |outliners: &mut Vec<Digester>, order: &Order| {
        let mut parts = outliners.iter_mut().map(|outliner| std::mem::take(&mut outliner.digests));
        let mut outlines = parts.next().unwrap_or_default();
        parts.try_for_each(|part| outlines.append(&part, |row| row))?;
        if outlines.rows.is_empty() { Ok(()) } else { done(outlines, order, workers) }
    };
    reading.read_with::<SqlError>(|batch| {
        let known = order.as_ref();
        batch.share_out(&mut outliners, |outliner, row, document, stop| match known {
            Some(order) => outliner.add(row, document, spec, order, &bounds, stop),
            None => outliner.keep(row, document, spec, stop),
        })?;
        if order.is_none() && outliners.iter().map(Digester::waiting).sum::<usize>() > enough {
            order = Some(freeze(&mut outliners, &bounds, batch.workers())?);
        }
        let bytes = outliners.iter().map(|outliner| outliner.digests.bytes()).sum::<usize>();
        if let Some(order) = order.as_ref().filter(|_| bytes > enough / 2) {
            all(&mut outliners, order)?;
        }
        Ok(bytes)
    })?;
    let order = match order {
        Some(order) => order,
        None => freeze(&mut outliners, &bounds, workers)?,
    };
    all(&mut outliners, &order)?;
    Ok(order)
}

/// Makes the order, and the outlines of what waits for it.
fn freeze(outliners: &mut [Digester], bounds: &Bounds, workers: &dyn Workers) -> Result<Order> {
    let (documents, tokens) =
        outliners.iter().map(Digester::tokens).fold((0, 0), |(d, t), (e, u)| (d + e, t + u));
    let words = words(bounds, (tokens / documents.max(1)) as u32);
    let counts: Vec<&TokenCounts> = outliners.iter().map(|outliner| &outliner.counts).collect();
    let order = Order::new(&counts, words)?;
    workers::each(workers, outliners, |outliner, stop| outliner.release(&order, bounds, stop))?;
    Ok(order)
}

sql_function! {
    /// `neardup_job_merge(lists)`: the last segments as one, where that is worth it, and a row of kind `x` for each of these.
    /// Where the lists are damaged, one row of kind `!`.
    neardup_job_merge, pg_finfo_neardup_job_merge, |call| {
        wants_all(call)?;
        let Some(lists) = arguments::lists(call, 0)? else {
            let message = "lists must not be NULL";
            return Err(SqlError::new(PgSqlErrorCode::ERRCODE_NULL_VALUE_NOT_ALLOWED, message).hint(ANEW));
        };
        let mut store = Store::new(call);
        if unless_damaged(merge(&lists, &mut store))?.is_none() {
            store.clear();
            Writer::<COLUMNS>::new(&mut store, 0).put(b'!', [0, 0], None, None, None)?;
        }
        Ok(Datum::null())
    }
}

fn merge(lists: &Table, store: &mut Store) -> Result<()> {
    let headers = headers(lists)?;
    let memory = settings::memory();
    let count = worth_merging(&headers, memory);
    let mut writer = Writer::<COLUMNS>::new(store, headers.last().map_or(0, |last| last.segment + 1));
    let merged = &headers[headers.len() - count..];
    if merged.is_empty() {
        return Ok(());
    }
    let order = read_order(lists)?.ok_or_else(|| damaged("they are of another version"))?;
    let workers = BackendWorkers::new();
    let (mut all, mut names) = (Digests::default(), Ids::new(pg_sys::TEXTOID));
    for &header in merged {
        let segment = header.segment;
        let (mut kept, mut bytes) = (Vec::new(), 0);
        parts(lists, segment, None, |part| {
            bytes += part.len();
            if bytes > memory {
                return Err(damaged("a segment is larger than it says"));
            }
            Ok(memory::push(&mut kept, part, "merging segments")?)
        })?;
        let from = names.len();
        ids(lists, segment, None, |_, ids| {
            // SAFETY: texts.
            ids.iter().try_for_each(|&id| unsafe { names.push(id) })
        })?;
        let documents = documents(lists, header, order.words)?;
        if names.len() - from != documents.sizes.len() {
            return Err(damaged("an id is missing"));
        }
        let from =
            u32::try_from(from).map_err(|_| Error::TooMany { what: "documents", limit: u32::MAX.into() })?;
        let parts = kept.iter().map(|part| {
            check_for_interrupts!();
            part.as_slice()
        });
        all.append(&documents.digests(from, parts)?, |row| row)?;
        writer.put(b'x', [segment, 0], None, None, None)?;
    }
    writer.write(Segment::new(&all, order.words, &workers)?)?;
    writer.ids(|row| names.show(row))
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
