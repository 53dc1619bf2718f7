//! Balls around sketches, membership in a ball, and the estimate of how many rows match
//! (docs/signature-index.md).
//!
//! In the message of an exclusion constraint, the server and its log would get a ball with the
//! whole documents of two rows: shortened, with the length of the document, and with the primary
//! key of the row that is in the table.

use pgrx::pg_sys::{self, Datum};

use crate::pg::near_join::planner::call::BallCall;
use crate::pg::near_join::planner::share::{USUAL, ValueSample};
use crate::pg::near_join::planner::{price, short_query};
use crate::pg::query::column::UserColumn;
use crate::pg::query::nodes::support;
use crate::pg::query::relation::Relation;
use crate::pg::server::call::{FunctionCall, sql_functions};
use crate::pg::server::checks::hinted;
use crate::pg::server::encoding;
use crate::pg::server::error::{Result, catch};
use crate::pg::server::executor::compute;
use crate::pg::server::explaining::Conflict;
use neardup_core::error::Result as CoreResult;
use neardup_core::executor::Stop;
use neardup_core::features::tokens::Document;
use neardup_core::search::ball::SetBall;
use neardup_core::search::edit_ball::{EditBall, characters};
use neardup_core::sketches::balls::{MinhashBall, SimhashBall};
use neardup_core::sketches::wire::{Minhash, Simhash};

sql_functions! {
    /// `near(minhash_sketch, similarity) → minhash_ball`
    neardup_near_minhash, within Arguments: |call| {
        let Some(middle) = call.bytes(0) else { return Ok(call.give::<i32>(None)) };
        Minhash::parse(middle)?;
        let ball = MinhashBall::build(middle, call.need(1, "similarity")?);
        Ok(call.give(Some(hinted(ball, "Texts that share four fifths of their shingles: near('some text', 0.8)")?)))
    };

    /// `near(simhash_sketch, distance) → simhash_ball`
    neardup_near_simhash, within Arguments: |call| {
        let Some(middle) = call.bytes(0) else { return Ok(call.give::<i32>(None)) };
        let ball = SimhashBall::build(middle, call.need(1, "distance")?);
        Ok(call.give(Some(hinted(ball, "At most 3 unlike bits of 64 are usual: near(simhash('some text'), 3)")?)))
    };

    /// `minhash_in_ball(minhash_sketch, minhash_ball) → bool`
    neardup_minhash_in_ball, within Arguments: |call| minhash_in_ball(call, 0, 1);

    /// `minhash_ball_contains(minhash_ball, minhash_sketch) → bool`
    neardup_minhash_ball_contains, within Arguments: |call| minhash_in_ball(call, 1, 0);

    /// `simhash_in_ball(simhash_sketch, simhash_ball) → bool`
    neardup_simhash_in_ball, within Arguments: |call| simhash_in_ball(call, 0, 1);

    /// `simhash_ball_contains(simhash_ball, simhash_sketch) → bool`
    neardup_simhash_ball_contains, within Arguments: |call| simhash_in_ball(call, 1, 0);

    /// `near_selectivity(internal, oid, internal, int) → float8`
    neardup_near_selectivity: |call| {
        let root = call.datum(0).map_or(std::ptr::null_mut(), Datum::cast_mut_ptr);
        let operator: pg_sys::Oid = call.need(1, "the operator")?;
        let arguments = call.datum(2).map_or(std::ptr::null_mut(), Datum::cast_mut_ptr);
        let relation: i32 = call.need(3, "the relation")?;
        // SAFETY: the planner passes the arguments that it would pass to a selectivity function of
        // its own.
        let share = unsafe {
            let collation = call.collation();
            short_query::tell(root, arguments);
            match ValueSample::new(root, operator, collation, arguments) {
                Some(sample) => sample.of_pairs(),
                None => catch(|| generic_restriction_selectivity(root, operator, collation, arguments, relation, USUAL))?,
            }
        };
        Ok(call.give(Some(share)))
    };

    /// `near_join_selectivity(internal, oid, internal, smallint, internal) → float8`
    neardup_near_join_selectivity: |call| {
        let operator: pg_sys::Oid = call.need(1, "the operator")?;
        let kind: i16 = call.need(3, "the kind of join")?;
        let pointer = |n| call.datum(n).map_or(std::ptr::null_mut(), Datum::cast_mut_ptr::<std::ffi::c_void>);
        let (root, arguments, join) = (pointer(0).cast(), pointer(2).cast(), pointer(4).cast());
        let is_exists = [pg_sys::JoinType::JOIN_SEMI, pg_sys::JoinType::JOIN_ANTI].contains(&(kind as u32));
        // SAFETY: the planner passes the arguments that it would pass to a selectivity function of
        // its own.
        let share = unsafe {
            let sample = ValueSample::new(root, operator, call.collation(), arguments);
            let inner = if is_exists { inner_rows(root, join).map(usual_share_with_match) } else { None };
            match (sample, inner) {
                (Some(sample), Some(usual)) => sample.of_matched(row_is_outer(root, join, arguments), usual),
                (None, Some(usual)) => usual,
                (Some(sample), None) => sample.of_pairs(),
                (None, None) => USUAL,
            }
        };
        Ok(call.give(Some(share)))
    };
}

/// Reports whether the value of a row is of the outer side of a semi join or an anti join.
///
/// # Safety
/// The state of the planner, a join that it plans, and the arguments of its condition.
unsafe fn row_is_outer(
    root: *mut pg_sys::PlannerInfo,
    join: *mut pg_sys::SpecialJoinInfo,
    arguments: *mut pg_sys::List,
) -> bool {
    // SAFETY: the caller's promise.
    unsafe {
        BallCall::parse(arguments).is_some_and(|condition| {
            let relations = pg_sys::pull_varnos(root, condition.row);
            !pg_sys::bms_overlap(relations, (*join).syn_righthand)
        })
    }
}

sql_functions! {
    /// `near_support(internal) → internal`
    neardup_near_support: |call| support(call, |node| {
        // SAFETY: each of the planner's requests has the structure that its tag names.
        let is_answered = unsafe {
            let is_price = (*node).type_ == pg_sys::NodeTag::T_SupportRequestCost;
            if is_price {
                short_query::tell_of_order(node.cast());
            }
            is_price && price::answer(node.cast())
        };
        Ok(is_answered.then_some(node))
    });
}

/// Returns the assumed share of rows that match at least one of so many rows, for EXISTS and NOT
/// EXISTS. It is at most half, which the planner itself assumes if it knows nothing: with more, it
/// would expect no rows of NOT EXISTS.
fn usual_share_with_match(inner: f64) -> f64 {
    (USUAL * inner).min(0.5)
}

/// Returns the number of rows that the planner expects of the inner side of a semi join or an anti
/// join.
///
/// # Safety
/// The state of the planner, and a join that it plans.
unsafe fn inner_rows(root: *mut pg_sys::PlannerInfo, join: *mut pg_sys::SpecialJoinInfo) -> Option<f64> {
    // SAFETY: the caller's promise; the array of relations has this size.
    unsafe {
        let relations = join.as_ref()?.min_righthand;
        let mut only = 0;
        let inner = if pg_sys::bms_get_singleton_member(relations, &raw mut only) {
            let all = root.as_ref()?;
            let place = usize::try_from(only).ok().filter(|_| only < all.simple_rel_array_size)?;
            *all.simple_rel_array.add(place)
        } else {
            pg_sys::find_join_rel(root, relations)
        };
        Some(inner.as_ref()?.rows)
    }
}

// The server's function, declared without the guard of pgrx, because it calls operators. Their
// errors are handled by `catch`.
unsafe extern "C-unwind" {
    fn generic_restriction_selectivity(
        root: *mut pg_sys::PlannerInfo,
        operator: pg_sys::Oid,
        collation: pg_sys::Oid,
        arguments: *mut pg_sys::List,
        relation: i32,
        default: f64,
    ) -> f64;
}

fn minhash_in_ball(call: FunctionCall, value: usize, ball: usize) -> Result<Datum> {
    let Some((value, ball)) = call.bytes(value).zip(call.bytes(ball)) else {
        return Ok(call.give::<bool>(None));
    };
    let ball = MinhashBall::parse(ball)?;
    Ok(call.give(Some(ball.contains(&Minhash::parse(value)?)?)))
}

fn simhash_in_ball(call: FunctionCall, value: usize, ball: usize) -> Result<Datum> {
    let Some((value, ball)) = call.bytes(value).zip(call.bytes(ball)) else {
        return Ok(call.give::<bool>(None));
    };
    Ok(call.give(Some(SimhashBall::parse(ball)?.contains(&Simhash::parse(value)?)?)))
}

/// Returns the output of a ball in such a message. `short` returns its text with the beginning of a
/// long document.
pub(in crate::pg::functions) fn refused(
    call: FunctionCall,
    conflict: Conflict,
    short: fn(&[u8], &Stop) -> CoreResult<String>,
) -> Result<Datum> {
    let Some(bytes) = call.bytes(0) else { return Ok(call.give::<i32>(None)) };
    let mut text = compute(bytes.len(), |stop| short(bytes, stop))?;
    let mut about: Vec<String> = length(bytes)?.into_iter().collect();
    if !conflict.is_refused {
        about.extend(key_of_row(conflict.table, conflict.row)?);
    }
    if !about.is_empty() {
        text = format!("{text} ({})", about.join(", "));
    }
    Ok(encoding::to_server(&text)?.into_datum())
}

/// Returns the length of the document of a ball, in what it is made of.
fn length(ball: &[u8]) -> Result<Option<String>> {
    if EditBall::is(ball) {
        return Ok(Some(format!("{} characters", characters(EditBall::parse(ball)?.text))));
    }
    let Ok(ball) = SetBall::parse(ball) else { return Ok(None) };
    Ok(Some(match ball.document()? {
        Document::Text(text) => format!("{} characters", characters(&text)),
        Document::Tokens(tokens) => format!("{} tokens", tokens.len()),
        Document::Numbers(numbers) => format!("{} numbers", numbers.len()),
        _ => return Ok(None),
    }))
}

/// Returns the primary key of a row: `id = 7`. Returns None if the table has none, or if the user
/// may not read all of its columns.
fn key_of_row(table: pg_sys::Oid, row: pg_sys::ItemPointerData) -> Result<Option<String>> {
    // SAFETY: any OID and any user may be looked up.
    let rights = unsafe {
        pg_sys::pg_class_aclcheck(table, pg_sys::GetUserId(), pg_sys::ACL_SELECT as pg_sys::AclMode)
    };
    if rights != pg_sys::AclResult::ACLCHECK_OK {
        return Ok(None);
    }
    let opened = Relation::open(table)?;
    let columns: Vec<&UserColumn> = opened.keys().collect();
    let values = opened.values_of_row(row, &columns)?;
    let pairs: Vec<String> = (columns.iter().zip(&values))
        .map(|(column, value)| format!("{} = {}", column.name, short(value)))
        .collect();
    Ok((!values.is_empty()).then(|| pairs.join(", ")))
}

/// Cuts off a long text after its beginning.
fn short(text: &str) -> String {
    const LONGEST: usize = 60;
    match text.char_indices().nth(LONGEST) {
        Some((end, _)) => format!("{}...", &text[..end]),
        None => text.to_owned(),
    }
}
