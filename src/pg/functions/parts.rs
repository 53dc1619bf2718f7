//! The exact join of sets in parts: `prefix_groups`, `join_part`, `candidate_pairs`
//! (docs/reference/functions.md).

use pgrx::pg_sys::{self, Datum};
use pgrx::{PgMemoryContexts, PgSqlErrorCode};

use super::token_sets::measure_of;
use crate::pg::query::decode::elements;
use crate::pg::query::ids::{Ids, has_order};
use crate::pg::query::names::type_name;
use crate::pg::server::aggregate;
use crate::pg::server::call::{Call, is_on_disk, sql_function, varlena_bytes};
use crate::pg::server::error::{Result, SqlError};
use crate::pg::server::executor::{BackendExecutor, executor_for};
use crate::pg::server::set_returning::{self, Rows};
use crate::pg::server::settings;
use crate::pg::server::temp_file::ServerFiles;
use crate::pg::server::values::LARGEST;
use neardup_core::allowance::Allowance;
use neardup_core::error::Error;
use neardup_core::executor;
use neardup_core::joins::parts::groups::{self, Groups, groups};
use neardup_core::joins::parts::part::Part;
use neardup_core::joins::parts::ranks::{Places, TokenRanks};
use neardup_core::joins::parts::rows::Shared;
use neardup_core::joins::parts::token_set::TokenSet;
use neardup_core::joins::sets::bounds::Bounds;
use neardup_core::memory;
use neardup_core::verify::predicate::Predicate;

const EXAMPLE: &str = "For example: prefix_groups(set, ranks, 'jaccard', 0.8, 64), and then join_part(id, size, bitmap, prefix, 'jaccard', 0.8)";

sql_function! {
    /// `prefix_groups(token_set, token_ranks, method, threshold, parts)`
    neardup_prefix_groups, pg_finfo_neardup_prefix_groups, within Arguments, |call| {
        give_rows(call, prefixes(call, 0)?)
    }
}
sql_function! {
    /// `join_part_step(internal, id, size, bitmap, prefix, method, threshold) → internal`
    neardup_join_part_step, pg_finfo_neardup_join_part_step, within Arguments, |call| {
        step(call, |bytes| Shared::Tokens(bytes), MORE_PARTS)
    }
}
sql_function! {
    /// `neardup_join_bands_step(internal, id, size, bitmap, keys, method, threshold) → internal`
    neardup_join_bands_step, pg_finfo_neardup_join_bands_step, within Arguments, |call| {
        step(call, |bytes| Shared::Keys(bytes), MORE_ROWS)
    }
}
sql_function! {
    /// `join_part_result(internal, …) → anyarray`
    neardup_join_part_result, pg_finfo_neardup_join_part_result, within Arguments, |call| {
        aggregate::result(call, |state: Option<Joined>| state.map(Joined::candidates).transpose())
    }
}
sql_function! {
    /// `candidate_pairs(anyarray) → (left_id, right_id)`
    neardup_candidate_pairs, pg_finfo_neardup_candidate_pairs, within Arguments, |call| {
        let Some(array) = call.datum(0) else { return Ok(call.give::<i32>(None)) };
        // SAFETY: our SQL declares an array; its elements live as long as the call.
        let ids = unsafe {
            let plain: *mut pg_sys::ArrayType = pg_sys::pg_detoast_datum(array.cast_mut_ptr()).cast();
            elements(plain.into(), (*plain).elemtype)?
        };
        if !ids.len().is_multiple_of(2) {
            let message = format!("{} ids are no whole number of pairs", ids.len());
            return Err(SqlError::parameter(message).hint("What join_part gives has two ids for each pair."));
        }
        set_returning::all(call, PairsOf { ids, next: 0 })
    }
}

/// Returns the rows of the set in argument `n`, by the order of tokens, the method, the threshold
/// and the number of parts in the next arguments. Returns `None` without a set or an order.
pub(super) fn prefixes(call: Call, n: usize) -> Result<Option<Groups>> {
    let (Some(set), Some(ranks)) = (call.bytes(n), ranks(call, n + 1)?) else { return Ok(None) };
    let bounds = Bounds::new(predicate(call, n + 2)?);
    let parts = groups::check_parts(call.need::<i32>(n + 4, "parts")?.into())
        .map_err(|error| SqlError::from(error).hint("Some for each processor: parts => 64"))?;
    let tokens = TokenSet::parse(set)?;
    let mut rows = Groups::default();
    executor::one(executor_for(set.len()), &mut rows, |rows, stop| {
        *rows = groups(&tokens, &ranks, &bounds, parts, stop)?;
        Ok(())
    })?;
    Ok(Some(rows))
}

/// Returns the rows of a set, or NULL without any.
pub(super) fn give_rows(call: Call, rows: Option<Groups>) -> Result<Datum> {
    match rows {
        Some(rows) => set_returning::all(call, Grouped::new(rows)),
        None => Ok(call.give::<i32>(None)),
    }
}

/// The groups of a set as rows.
struct Grouped {
    rows: Groups,
    bitmap: Datum,
    next: usize,
}

impl Grouped {
    /// Makes the values in the current memory context.
    fn new(rows: Groups) -> Self {
        let bitmap = bytea(&rows.bitmap);
        Self { rows, bitmap, next: 0 }
    }
}

impl Rows<4> for Grouped {
    fn columns(&self) -> [&'static str; 4] {
        ["part", "size", "bitmap", "prefix"]
    }

    fn next(&mut self) -> Result<Option<[Datum; 4]>> {
        let Some((part, prefix)) = self.rows.parts.get(self.next) else { return Ok(None) };
        self.next += 1;
        // There are at most 2²⁰ parts, and a value of 1 GB has fewer tokens than an int can count.
        Ok(Some([Datum::from(*part), Datum::from(self.rows.size), self.bitmap, bytea(prefix)]))
    }
}

/// The pairs of a list of ids.
struct PairsOf {
    ids: Vec<Datum>,
    next: usize,
}

impl Rows<2> for PairsOf {
    fn columns(&self) -> [&'static str; 2] {
        ["left_id", "right_id"]
    }

    fn next(&mut self) -> Result<Option<[Datum; 2]>> {
        let pair = self.ids.get(self.next..self.next + 2).map(|ids| [ids[0], ids[1]]);
        self.next += 2;
        Ok(pair)
    }
}

/// Makes a bytea in the current memory context.
fn bytea(bytes: &[u8]) -> Datum {
    pgrx::IntoDatum::into_datum(bytes).unwrap_or(Datum::null())
}

/// Reads the predicate for similar pairs: the method from argument `n`, and the threshold from the
/// argument after it.
pub(super) fn predicate(call: Call, n: usize) -> Result<Predicate> {
    let (measure, _) = measure_of(call, n)?;
    let threshold: f64 = call.need(n + 1, "threshold")?;
    Predicate::new(measure, threshold).map_err(|error| SqlError::from(error).hint(EXAMPLE))
}

/// Reads the token ranks in argument `n`. If the value is stored out of line, its ranks and the
/// positions of its tokens are kept from call to call until a call has another value: there are
/// many ranks, and they are the same for all rows of a query.
pub(super) fn ranks(call: Call, n: usize) -> Result<Option<TokenRanks<'static>>> {
    /// The size of a pointer to a value on disk: the header, the tag and the struct that varatt.h
    /// calls varatt_external.
    const POINTER: usize = 2 + size_of::<pg_sys::varatt_external>();
    struct CachedRanks {
        pointer: [u8; POINTER],
        bytes: &'static [u8],
        places: Option<Places>,
        /// The memory context that holds only the bytes.
        context: pg_sys::MemoryContext,
    }
    let Some(datum) = call.datum(n) else { return Ok(None) };
    // SAFETY: the argument is of variable length, and a pointer to a value on disk has `POINTER`
    // bytes. The cached ranks live in the memory context of the function's state in the query, as
    // long as the field `fn_extra` that points to them. The bytes live in a child context, which is
    // reset when other bytes replace them; the bytes of an earlier call are then no longer used.
    // While the query runs, its snapshot keeps the stored value, so the OID of this value cannot
    // refer to another value.
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
            let context = pg_sys::AllocSetContextCreateInternal(
                (*function).fn_mcxt,
                c"neardup: an order of tokens".as_ptr(),
                pg_sys::ALLOCSET_DEFAULT_MINSIZE as usize,
                pg_sys::ALLOCSET_DEFAULT_INITSIZE as usize,
                pg_sys::ALLOCSET_DEFAULT_MAXSIZE as usize,
            );
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
            kept.places = Some(Places::new(&TokenRanks::parse(kept.bytes)?)?);
            kept.pointer = pointer;
        }
        let ranks = TokenRanks::parse(kept.bytes)?;
        Ok(Some(kept.places.as_ref().map_or(ranks, |places| ranks.with(places))))
    }
}

/// The hint for a part with too many candidates.
pub(super) const MORE_PARTS: &str = "Make more parts of the same rows, or raise the threshold: prefix_groups(set, ranks, 'jaccard', 0.9, 1024)";
/// The hint for a part of the join by bands with too many candidates.
pub(super) const MORE_ROWS: &str = "Make more parts, raise the threshold, or have more rows in a band: options => '{\"bands\": 14, \"rows\": 8}'";

/// Reads the size in argument `n` of a row that another query, with the last argument `internal`,
/// gives for a part. The size of a known row is given as its complement, which is negative.
pub(super) fn size_or_known(call: Call, n: usize) -> Result<(u32, bool)> {
    let size: i32 = call.need(n, "size")?;
    Ok(if size < 0 { ((!size).cast_unsigned(), true) } else { (size.cast_unsigned(), false) })
}

/// The state of `join_part`.
pub(super) struct Joined {
    /// Knows the type of the ids and contains none.
    ids: Ids,
    /// The measure as a value of the SQL type `set_measure`.
    method: Datum,
    threshold: f64,
    part: Part<ServerFiles>,
    id: Vec<u64>,
    hint: &'static str,
    /// Dropped last.
    _allowance: Allowance,
}

/// Adds a row to the state of the aggregate. `shared` says what the bytes of argument 4 are: the
/// tokens or the keys that the row may share with other rows. `hint` is the hint of the error for
/// too many candidates.
fn step(call: Call, shared: fn(&[u8]) -> Shared<'_>, hint: &'static str) -> Result<Datum> {
    let (datum, state) = joined(call, 5, call.type_of(1), hint)?;
    let missing = |name: &str| {
        SqlError::new(PgSqlErrorCode::ERRCODE_NULL_VALUE_NOT_ALLOWED, format!("{name} must not be NULL"))
    };
    let id = call.datum(1).ok_or_else(|| missing("id"))?;
    /// The number of arguments of functions that only our own statements call.
    const INTERNAL: usize = 8;
    let is_internal = call.count() == INTERNAL;
    let (size, known) = if is_internal { size_or_known(call, 2)? } else { (call.whole(2, "size")?, false) };
    let bitmap = call.bytes(3).ok_or_else(|| missing("bitmap"))?;
    let prefix = call.bytes(4).ok_or_else(|| missing("prefix"))?;
    state.id.clear();
    // SAFETY: the server passes ids of the declared type.
    unsafe { state.ids.to_words(id, &mut state.id)? };
    state.part.add(&state.id, size, bitmap, shared(prefix), known)?;
    Ok(datum)
}

/// Returns the state of an aggregate that joins the rows of a part, whose method and threshold are
/// the arguments from `n` on, and whose ids have this type.
pub(super) fn joined(
    call: Call,
    n: usize,
    id_type: pg_sys::Oid,
    hint: &'static str,
) -> Result<(Datum, &'static mut Joined)> {
    let (_, method) = measure_of(call, n)?;
    let threshold: f64 = call.need(n + 1, "threshold")?;
    let (datum, state) = aggregate::state(call, || {
        if !has_order(id_type) {
            let message = format!("values of type {} cannot be ids: they have no order", type_name(id_type));
            return Err(SqlError::new(PgSqlErrorCode::ERRCODE_UNDEFINED_FUNCTION, message)
                .hint("Cast the ids to a type with an order: join_part(id::text, size, bitmap, prefix, 'jaccard', 0.8)"));
        }
        let memory = settings::memory();
        Ok(Joined {
            ids: Ids::new(id_type),
            method,
            threshold,
            part: Part::new(predicate(call, n)?, ServerFiles::in_current_context(), memory),
            id: Vec::new(),
            hint,
            _allowance: Allowance::new(memory),
        })
    })?;
    if state.method.value() != method.value() || state.threshold.to_bits() != threshold.to_bits() {
        return Err(
            SqlError::parameter("method and threshold must be the same for all rows of a part").hint(EXAMPLE)
        );
    }
    Ok((datum, state))
}

impl Joined {
    /// Adds a row whose id is a number.
    pub(super) fn add(
        &mut self,
        id: u64,
        size: u32,
        bitmap: &[u8],
        shared: Shared<'_>,
    ) -> neardup_core::error::Result<()> {
        self.part.add(&[id], size, bitmap, shared, false)
    }

    /// Returns the array of the ids of all candidates.
    fn candidates(self) -> Result<Datum> {
        let Self { ids, part, hint, .. } = self;
        let mut found = PairIds::new(&ids);
        let joined = part.candidates(&BackendExecutor::single(), &mut |a, b| found.add(&ids, a, b));
        if found.is_full {
            let message = "the candidates of a part would be larger than 1 GB".to_owned();
            return Err(SqlError::new(PgSqlErrorCode::ERRCODE_PROGRAM_LIMIT_EXCEEDED, message).hint(hint));
        }
        joined?;
        found.array(&ids)
    }
}

/// The ids of pairs, concatenated.
struct PairIds {
    words: Vec<u64>,
    /// The end of each id in `words`, or empty if each id is one word that is its value.
    ends: Vec<usize>,
    by_value: bool,
    is_full: bool,
}

impl PairIds {
    fn new(ids: &Ids) -> Self {
        // SAFETY: looks up a type.
        let by_value = unsafe { pg_sys::get_typbyval(ids.type_oid()) };
        Self { words: Vec::new(), ends: Vec::new(), by_value, is_full: false }
    }

    fn add(&mut self, ids: &Ids, a: &[u64], b: &[u64]) -> neardup_core::error::Result<()> {
        const DOING: &str = "collecting candidates";
        let in_order = ids.compare(ids.of_words(a), ids.of_words(b)).is_lt();
        for id in if in_order { [a, b] } else { [b, a] } {
            memory::extend(&mut self.words, id, DOING)?;
            if !self.by_value {
                memory::push(&mut self.ends, self.words.len(), DOING)?;
            }
        }
        // The values from which the server makes the array take another 8 bytes for each id.
        let values = self.words.len().max(self.ends.len()) * size_of::<u64>();
        self.is_full = values > LARGEST - (1 << 10);
        if self.is_full { Err(Error::Source) } else { Ok(()) }
    }

    fn array(&self, ids: &Ids) -> Result<Datum> {
        let mut values: Vec<Datum> = Vec::new();
        memory::reserve(&mut values, self.ends.len(), "making an array")?;
        let mut start = 0;
        for &end in &self.ends {
            values.push(ids.of_words(&self.words[start..end]));
            start = end;
        }
        let (values, count) = if self.by_value {
            // A datum is a word.
            (self.words.as_ptr().cast_mut().cast(), self.words.len())
        } else {
            (values.as_mut_ptr(), values.len())
        };
        let type_oid = ids.type_oid();
        let (mut length, mut by_value, mut align) = (0, false, 0);
        // SAFETY: the values have that type and stay in place until they are copied, and their
        // number fits in an int.
        Ok(unsafe {
            pg_sys::get_typlenbyvalalign(type_oid, &raw mut length, &raw mut by_value, &raw mut align);
            pg_sys::construct_array(values, count as i32, type_oid, length.into(), by_value, align)
        }
        .into())
    }
}
