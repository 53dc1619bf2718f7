//! Any method in parts, for `near_duplicates_into`: what is carried of a document, the rows by
//! which documents meet in parts, and the comparison of two documents
//! (core/src/methods/carrier.rs). Any user may call these functions with any arguments.

use std::cell::RefCell;
use std::rc::Rc;

use pgrx::PgSqlErrorCode;
use pgrx::pg_sys::Datum;

use super::parts::{give_rows, ranks, size_or_known};
use super::sketches::document_of;
use super::token_sets::order;
use crate::pg::query::decode::Kind;
use crate::pg::request::in_parts::{Described, MethodCall};
use crate::pg::server::aggregate;
use crate::pg::server::call::{Call, is_null, sql_function};
use crate::pg::server::error::{Result, SqlError};
use crate::pg::server::executor::{BackendExecutor, executor_for};
use crate::pg::server::settings;
use crate::pg::server::temp_file::ServerFiles;
use crate::pg::server::values::{self, LARGEST, number_array};
use neardup_core::allowance::Allowance;
use neardup_core::error::Error;
use neardup_core::executor;
use neardup_core::joins::parts::groups::{Groups, check_parts, groups};
use neardup_core::joins::parts::keys::{self, KeyPart};
use neardup_core::joins::parts::part::Part;
use neardup_core::joins::parts::ranks::TokenRanks;
use neardup_core::joins::parts::rows::Shared;
use neardup_core::joins::parts::token_set::TokenSet;
use neardup_core::joins::set_index::token_counts::TokenCounts;
use neardup_core::joins::sets::bounds::Bounds;
use neardup_core::memory;
use neardup_core::methods::carrier::{Carrier, LeftOut, Meeting, carried, content};
use neardup_core::spool::Spool;

/// An example call, for hints.
const EXAMPLE: &str = "CALL near_duplicates_into('docs', 0.8, 'docs_pairs', method => 'edit', parts => 16);";
const DOING: &str = "meeting in parts";
/// The number of tokens that an order lists.
const KEPT: usize = 200_000;

/// A method of which a description is known.
pub(super) struct Known(pub(super) Described);

impl Known {
    fn carrier(&self) -> Result<&dyn Carrier> {
        self.0.carrier().ok_or_else(Self::is_whole)
    }

    pub(super) fn is_whole() -> SqlError {
        let message = "the method is not made in parts with these arguments";
        SqlError::new(PgSqlErrorCode::ERRCODE_FEATURE_NOT_SUPPORTED, message).hint(EXAMPLE)
    }
}

/// Returns the method that the JSON object in argument `n` describes. The method of the last call
/// is kept, because all calls of a query have the same.
pub(super) fn method(call: Call, n: usize) -> Result<Rc<Known>> {
    thread_local! {
        static LAST: RefCell<Option<(Vec<u8>, Rc<Known>)>> = const { RefCell::new(None) };
    }
    let bytes = call.bytes(n).ok_or_else(|| is_null("method").hint(EXAMPLE))?;
    let last = LAST.with_borrow(|last| {
        last.as_ref().filter(|(known, _)| known == bytes).map(|(_, method)| Rc::clone(method))
    });
    if let Some(method) = last {
        return Ok(method);
    }
    let json = call.json(n, "method")?.unwrap_or_default();
    let described: MethodCall = serde_json::from_value(json)
        .map_err(|error| SqlError::parameter(format!("method cannot be read: {error}")).hint(EXAMPLE))?;
    let method = Rc::new(Known(described.parse()?));
    LAST.set(Some((bytes.to_vec(), Rc::clone(&method))));
    Ok(method)
}

/// Returns what is carried of the document in argument 0, whose site is in argument 1.
fn carry(call: Call, kind: Kind) -> Result<Datum> {
    let method = method(call, 2)?;
    let carrier = method.carrier()?;
    let Some(document) = document_of(call, kind)? else { return Ok(call.give::<i32>(None)) };
    let site = call.text(1)?;
    let mut bytes = Vec::new();
    executor::one(executor_for(document.bytes()), &mut bytes, |bytes, stop| {
        *bytes = carried(carrier, &document, site.as_deref(), stop)?;
        Ok(())
    })?;
    values::bytea(&bytes, "a carried document")
}

sql_function! {
    /// `neardup_carried(text, site, method) → bytea`
    neardup_carried_text, pg_finfo_neardup_carried_text, within Arguments, |call| carry(call, Kind::Text)
}
sql_function! {
    /// `neardup_carried(text[], site, method) → bytea`
    neardup_carried_tokens, pg_finfo_neardup_carried_tokens, within Arguments, |call| carry(call, Kind::Tokens)
}
sql_function! {
    /// `neardup_carried(tsvector, site, method) → bytea`
    neardup_carried_lexemes, pg_finfo_neardup_carried_lexemes, within Arguments, |call| carry(call, Kind::Vector)
}
sql_function! {
    /// `neardup_carried(bigint[], site, method) → bytea`
    neardup_carried_numbers, pg_finfo_neardup_carried_numbers, within Arguments, |call| carry(call, Kind::Numbers)
}

/// The state of `neardup_carried_ranks`.
enum Counted {
    /// How many sets have each token.
    Tokens(TokenCounts<u64>),
    /// The terms of all documents, and the number of documents.
    Terms { method: Rc<Known>, terms: Spool<ServerFiles, u64>, documents: u64, _allowance: Allowance },
    /// Nothing needs to be counted.
    Nothing,
}

sql_function! {
    /// `neardup_carried_ranks_step(internal, carried, method) → internal`
    neardup_carried_ranks_step, pg_finfo_neardup_carried_ranks_step, within Arguments, |call| {
        let method = method(call, 2)?;
        let carrier = method.carrier()?;
        let (datum, state) = aggregate::state(call, || {
            let memory = settings::memory();
            Ok(match carrier.meeting() {
                Meeting::Keys { .. } => Counted::Nothing,
                Meeting::Sets(_) => Counted::Tokens(TokenCounts::new(memory / TokenCounts::<u64>::ENTRY)),
                Meeting::Terms { .. } => Counted::Terms {
                    method: Rc::clone(&method),
                    terms: Spool::new(ServerFiles::in_current_context(), memory),
                    documents: 0,
                    _allowance: Allowance::new(memory),
                },
            })
        })?;
        let Some(bytes) = call.bytes(1) else { return Ok(datum) };
        let mut set = Vec::new();
        executor::one(executor_for(8 * bytes.len()), &mut set, |set, stop| {
            *set = carrier.set(content(bytes)?, stop)?;
            Ok(())
        })?;
        match state {
            Counted::Nothing => {}
            Counted::Tokens(counts) => executor::one(executor_for(8 * set.len()), counts, |counts, stop| {
                set.iter().try_for_each(|&token| counts.add(token, stop))
            })?,
            Counted::Terms { terms, documents, .. } => {
                *documents += 1;
                set.iter().try_for_each(|&term| terms.push(term))?;
            }
        }
        Ok(datum)
    }
}
sql_function! {
    /// `neardup_carried_ranks_result(internal, …) → bytea`
    neardup_carried_ranks_result, pg_finfo_neardup_carried_ranks_result, within Arguments, |call| {
        aggregate::result(call, |state: Option<Counted>| {
            let bytes = match state.unwrap_or(Counted::Nothing) {
                Counted::Nothing => Vec::new(),
                Counted::Tokens(counts) => order(counts, KEPT)?,
                Counted::Terms { method, terms, documents, _allowance } => {
                    left_out(method.carrier()?, terms, documents)?
                }
            };
            Ok(Some(values::bytea(&bytes, "an order of tokens")?))
        })
    }
}

/// Returns the terms that do not count, as [`LeftOut`] reads them.
fn left_out(carrier: &dyn Carrier, terms: Spool<ServerFiles, u64>, documents: u64) -> Result<Vec<u8>> {
    let executor = BackendExecutor::single();
    let (mut terms, _) = terms.sorted(&executor)?;
    let mut bytes = Vec::new();
    let (mut last, mut having) = (None, 0);
    loop {
        let next = terms.next(&executor)?;
        if let Some(term) = last.filter(|_| next != last)
            && !carrier.counts(having, documents)
        {
            memory::extend(&mut bytes, &u64::to_le_bytes(term), DOING)?;
        }
        having = if next == last { having + 1 } else { 1 };
        last = next;
        if next.is_none() {
            return Ok(bytes);
        }
    }
}

sql_function! {
    /// `neardup_carried_groups(carried, ranks, method, parts)`: returns one row for each part, like
    /// `prefix_groups`.
    neardup_carried_groups, pg_finfo_neardup_carried_groups, within Arguments, |call| {
        give_rows(call, grouped(call, 0)?)
    }
}

/// Returns the rows of the carried document in argument `n`, by the order of tokens, the method and
/// the number of parts in the next arguments. Returns `None` without a document.
pub(super) fn grouped(call: Call, n: usize) -> Result<Option<Groups>> {
    let method = method(call, n + 2)?;
    let carrier = method.carrier()?;
    let Some(bytes) = call.bytes(n) else { return Ok(None) };
    let carried = content(bytes)?;
    let parts = check_parts(call.need::<i32>(n + 3, "parts")?.into())
        .map_err(|error| SqlError::from(error).hint(EXAMPLE))?;
    let mut rows = Groups::default();
    let executor = executor_for(8 * bytes.len());
    if let Meeting::Sets(predicate) = carrier.meeting() {
        let none = [1, 0, 0, 0, 0, 0, 0, 0];
        let order = ranks(call, n + 1)?.map_or_else(|| TokenRanks::parse(&none), Ok)?;
        let bounds = Bounds::new(predicate);
        executor::one(executor, &mut rows, |rows, stop| {
            let mut set = Vec::new();
            for hash in carrier.set(carried, stop)? {
                memory::push(&mut set, hash.to_le_bytes(), DOING)?;
            }
            *rows = groups(&TokenSet::of_hashes(&set), &order, &bounds, parts, stop)?;
            Ok(())
        })?;
    } else {
        let left_out = LeftOut::parse(call.bytes(n + 1).unwrap_or_default())?;
        executor::one(executor, &mut rows, |rows, stop| {
            let mut own = Vec::new();
            carrier.keys(carried, left_out, &mut own, stop)?;
            *rows = keys::groups(&mut own, parts, stop)?;
            Ok(())
        })?;
    }
    Ok(Some(rows))
}

/// The state of `neardup_join_carried`.
pub(super) struct Joined {
    method: Rc<Known>,
    part: Joining,
    /// Dropped last.
    _allowance: Allowance,
}

/// The rows of a part.
enum Joining {
    Keys(KeyPart<ServerFiles>),
    Sets(Part<ServerFiles>),
}

sql_function! {
    /// `neardup_join_carried_step(internal, id, size, bitmap, prefix, method) → internal`
    neardup_join_carried_step, pg_finfo_neardup_join_carried_step, within Arguments, |call| {
        let (datum, state) = joined(call, 5)?;
        let id: i64 = call.need(1, "id")?;
        let prefix = call.bytes(4).ok_or_else(|| is_null("prefix"))?;
        let (size, known) = size_or_known(call, 2)?;
        let bitmap = match state.part {
            Joining::Keys(_) => call.bytes(3).unwrap_or_default(),
            Joining::Sets(_) => call.bytes(3).ok_or_else(|| is_null("bitmap"))?,
        };
        state.add(id.cast_unsigned(), (size, known), bitmap, prefix)?;
        Ok(datum)
    }
}

/// Returns the state of an aggregate that joins the rows of a part by the method in argument `n`.
pub(super) fn joined(call: Call, n: usize) -> Result<(Datum, &'static mut Joined)> {
    let method = method(call, n)?;
    let carrier = method.carrier()?;
    let (datum, state) = aggregate::state(call, || {
        let (memory, files) = (settings::memory(), ServerFiles::in_current_context());
        let part = match carrier.meeting() {
            Meeting::Keys { most } | Meeting::Terms { most } => {
                Joining::Keys(KeyPart::new(files, memory, most))
            }
            Meeting::Sets(predicate) => Joining::Sets(Part::new(predicate, files, memory)),
        };
        Ok(Joined { method: Rc::clone(&method), part, _allowance: Allowance::new(memory) })
    })?;
    if !Rc::ptr_eq(&state.method, &method) {
        return Err(SqlError::parameter("method must be the same for all rows of a part").hint(EXAMPLE));
    }
    Ok((datum, state))
}

impl Joined {
    /// Adds a row: the number of a document, the size of its set and whether it is known, and what
    /// it may share.
    pub(super) fn add(
        &mut self,
        id: u64,
        (size, known): (u32, bool),
        bitmap: &[u8],
        prefix: &[u8],
    ) -> neardup_core::error::Result<()> {
        match &mut self.part {
            Joining::Keys(part) => part.add(id, prefix, known),
            Joining::Sets(part) => part.add(&[id], size, bitmap, Shared::Tokens(prefix), known),
        }
    }
}

sql_function! {
    /// `neardup_join_carried_result(internal, …) → bigint[]`
    neardup_join_carried_result, pg_finfo_neardup_join_carried_result, within Arguments, |call| {
        aggregate::result(call, |state: Option<Joined>| state.map(|state| candidates(state.part)).transpose())
    }
}

/// Returns the numbers of all candidates of a part, the lesser one of a pair first.
fn candidates(part: Joining) -> Result<Datum> {
    /// An array is at most 1 GB.
    const MOST: usize = (LARGEST - (1 << 10)) / size_of::<i64>();
    let executor = BackendExecutor::single();
    let (mut found, mut is_full): (Vec<i64>, bool) = (Vec::new(), false);
    let mut add = |a: i64, b: i64| -> neardup_core::error::Result<()> {
        memory::extend(&mut found, &[a.min(b), a.max(b)], DOING)?;
        is_full = found.len() > MOST;
        if is_full { Err(Error::Source) } else { Ok(()) }
    };
    let joined = match part {
        Joining::Keys(part) => part.candidates(&executor, &mut |a, b| add(a.cast_signed(), b.cast_signed())),
        Joining::Sets(part) => {
            part.candidates(&executor, &mut |a, b| add(a[0].cast_signed(), b[0].cast_signed()))
        }
    };
    if is_full {
        let message = "the candidates of a part would be larger than 1 GB".to_owned();
        return Err(SqlError::new(PgSqlErrorCode::ERRCODE_PROGRAM_LIMIT_EXCEEDED, message)
            .hint("Make more parts, or raise the threshold: parts => 1024"));
    }
    joined?;
    number_array(&found)
}

sql_function! {
    /// `neardup_carried_similarity(left, right, ranks, method) → float8`: NULL if the two documents
    /// are no pair.
    neardup_carried_similarity, pg_finfo_neardup_carried_similarity, within Arguments, |call| {
        let method = method(call, 3)?;
        let carrier = method.carrier()?;
        let Some((left, right)) = call.bytes(0).zip(call.bytes(1)) else { return Ok(call.give::<f64>(None)) };
        let pair = [content(left)?, content(right)?];
        let left_out = match carrier.meeting() {
            Meeting::Terms { .. } => LeftOut::parse(call.bytes(2).unwrap_or_default())?,
            _ => LeftOut::default(),
        };
        let mut similarity = None;
        let effort = left.len() + right.len() + left.len().saturating_mul(right.len()) / 1024;
        executor::one(executor_for(effort), &mut similarity, |similarity, stop| {
            *similarity = carrier.similarity(pair, left_out, stop)?;
            Ok(())
        })?;
        Ok(call.give(similarity))
    }
}
