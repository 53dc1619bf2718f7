//! What a method counts of documents before they meet: the order of tokens, or the terms that do
//! not count.

use std::rc::Rc;

use pgrx::{PgMemoryContexts, pg_sys};

use super::{DOING, Described, method};
use crate::pg::server::aggregate;
use crate::pg::server::call::{FunctionCall, is_on_disk, sql_functions, varlena_bytes};
use crate::pg::server::contexts::new_context;
use crate::pg::server::error::Result;
use crate::pg::server::executor::{BackendExecutor, compute, compute_with};
use crate::pg::server::settings;
use crate::pg::server::temp_file::ServerFiles;
use crate::pg::server::values;
use neardup_core::allowance::Allowance;
use neardup_core::memory;
use neardup_core::methods::carrier::{Carrier, Meeting, content};
use neardup_core::parts::ranks::{self, TokenPlaces, TokenRanks};
use neardup_core::set_index::token_counts::TokenCounts;
use neardup_core::storage::log::Log;

/// The number of tokens that an order lists.
const KEPT: usize = 200_000;

/// The state of `neardup_part_ranks`.
enum RankState {
    /// How many sets have each token.
    Tokens(TokenCounts<u64>),
    /// The terms of all documents, and the number of documents.
    Terms {
        method: Rc<Described>,
        terms: Log<u64>,
        files: ServerFiles,
        documents: u64,
        _allowance: Allowance,
    },
    /// Nothing needs to be counted.
    Nothing,
}

sql_functions! {
    /// `neardup_part_ranks_step(internal, carried, method) → internal`
    neardup_part_ranks_step, within Arguments: |call| {
        let method = method(call, 2)?;
        let carrier = method.carrier()?;
        let (datum, state) = aggregate::state(call, || {
            let memory = settings::memory();
            Ok(match carrier.meeting() {
                Meeting::Keys { .. } => RankState::Nothing,
                Meeting::Sets(_) | Meeting::Rarest => {
                    RankState::Tokens(TokenCounts::new(memory / TokenCounts::<u64>::ENTRY))
                }
                Meeting::Terms { .. } => RankState::Terms {
                    method: Rc::clone(&method),
                    terms: Log::new(memory / 4),
                    files: ServerFiles::in_current_context(),
                    documents: 0,
                    _allowance: Allowance::new(memory),
                },
            })
        })?;
        let (false, Some(bytes)) = (matches!(state, RankState::Nothing), call.bytes(1)) else { return Ok(datum) };
        let set = compute(8 * bytes.len(), |stop| carrier.set(content(bytes)?, stop))?;
        match state {
            RankState::Nothing => {}
            RankState::Tokens(counts) => compute_with(8 * set.len(), counts, |counts, stop| {
                set.iter().try_for_each(|&token| counts.add(token, stop))
            })?,
            RankState::Terms { terms, files, documents, .. } => {
                *documents += 1;
                terms.extend(&set, files)?;
            }
        }
        Ok(datum)
    };

    /// `neardup_part_ranks_result(internal, …) → bytea`
    neardup_part_ranks_result, within Arguments: |call| {
        aggregate::result(call, |state: Option<RankState>| {
            let bytes = match state.unwrap_or(RankState::Nothing) {
                RankState::Nothing => Vec::new(),
                RankState::Tokens(mut counts) => compute_with(usize::MAX, &mut counts, |counts, stop| ranks::ranks(counts, KEPT, stop))?,
                RankState::Terms { method, terms, files, documents, _allowance } => {
                    left_out(&method.carrier()?, terms, files, documents)?
                }
            };
            Ok(Some(values::bytea(&bytes, "an order of tokens")?))
        })
    };
}

/// Returns the terms that do not count, as `LeftOut` of the core reads them.
fn left_out(carrier: &dyn Carrier, terms: Log<u64>, files: ServerFiles, documents: u64) -> Result<Vec<u8>> {
    let executor = BackendExecutor::single();
    let mut terms = terms.sorted(&files, settings::memory() / 2, &executor)?;
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

/// Reads the token ranks in argument `n`. If the value is stored out of line, its ranks and the
/// positions of its tokens are kept from call to call until a call has another value: there are
/// many ranks, and they are the same for all rows of a query.
pub(super) fn ranks(call: FunctionCall, n: usize) -> Result<Option<TokenRanks<'static>>> {
    /// The size of a pointer to a value on disk: the header, the tag and the struct that varatt.h
    /// calls varatt_external.
    const POINTER: usize = 2 + size_of::<pg_sys::varatt_external>();
    struct CachedRanks {
        pointer: [u8; POINTER],
        bytes: &'static [u8],
        places: Option<TokenPlaces>,
        /// The memory context that holds only the bytes.
        context: pg_sys::MemoryContext,
    }
    let Some(datum) = call.datum(n) else { return Ok(None) };
    // The bytes live in a child context, which is reset when other bytes replace them; the bytes of
    // an earlier call are then no longer used. While the query runs, its snapshot keeps the stored
    // value, so the OID of this value cannot refer to another value.
    // SAFETY: the argument is of variable length, and a pointer to a value on disk has `POINTER`
    // bytes. The cached ranks live in the memory context of the function's state in the query, as
    // long as the field `fn_extra` that points to them.
    unsafe {
        let varlena: *mut pg_sys::varlena = datum.cast_mut_ptr();
        if !is_on_disk(varlena) {
            // No bytes are what was counted of no documents: no order.
            let bytes = call.bytes(n).filter(|bytes| !bytes.is_empty());
            return Ok(bytes.map(TokenRanks::parse).transpose()?);
        }
        let pointer: [u8; POINTER] = *varlena.cast();
        let function = (*call.info).flinfo;
        if (*function).fn_extra.is_null() {
            let context = new_context((*function).fn_mcxt, c"neardup: an order of tokens");
            let kept = CachedRanks { pointer: [0; POINTER], bytes: &[], places: None, context };
            (*function).fn_extra =
                PgMemoryContexts::For((*function).fn_mcxt).leak_and_drop_on_delete(kept).cast();
        }
        let kept: &'static mut CachedRanks = &mut *(*function).fn_extra.cast();
        if kept.pointer != pointer {
            // Until all fields are set, nothing counts as cached.
            (kept.pointer, kept.bytes, kept.places) = ([0; POINTER], &[], None);
            pg_sys::MemoryContextReset(kept.context);
            kept.bytes = PgMemoryContexts::For(kept.context).switch_to(|_| varlena_bytes(datum));
            kept.places = Some(TokenPlaces::new(&TokenRanks::parse(kept.bytes)?)?);
            kept.pointer = pointer;
        }
        let ranks = TokenRanks::parse(kept.bytes)?;
        Ok(Some(kept.places.as_ref().map_or(ranks, |places| ranks.with(places))))
    }
}
