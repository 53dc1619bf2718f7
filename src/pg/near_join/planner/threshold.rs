//! Turns thresholds that are written by functions and distances into conditions on balls, which
//! indexes and batch joins serve: `near_similarity(body, near('x', 0.5)) >= 0.8` and
//! `body <-> near('x', 0.5) <= 0.2` become `body <@ near('x', 0.8)`.
//!
//! A support function sees a call and not the comparison around it. But the planner asks about
//! each table of a query after it has simplified the conditions and before it assigns them to
//! tables and joins; here they are replaced by conditions that are true of exactly the same rows.
//! The library is loaded by then, as the support function of each such call is in it.

use pgrx::{PgList, pg_sys};

use super::call::BallCall;
use crate::pg::near_join::clause::IN_BALL;
use crate::pg::query::catalog::type_row;
use crate::pg::query::nodes::{call_of, constant, float_constant, with_argument};
use crate::pg::query::ours::symbol;
use crate::pg::server::call::varlena_bytes;
use crate::pg::server::guard::guard;
use crate::pg::server::values;
use neardup_core::search::edit_ball::{least_of, with_least};

/// The functions of the similarity of a value to the middle of a ball.
const SIMILARITIES: [&[u8]; 3] =
    [b"neardup_near_similarity_text", b"neardup_near_similarity_lexemes", b"neardup_near_similarity_array"];
/// The functions of the distance, which is Infinity outside of the ball.
pub(super) const DISTANCES: [&[u8]; 3] = [
    b"neardup_text_ball_distance_text",
    b"neardup_text_ball_distance_lexemes",
    b"neardup_text_ball_distance_array",
];
/// The similarity that a ball has if none is given.
const DEFAULT: f64 = 0.8;

/// The hook that another library had set before.
static mut BEFORE: pg_sys::get_relation_info_hook_type = None;

/// Lets the planner ask about tables. Called once when the library is loaded.
pub(crate) fn define() {
    // SAFETY: in the only thread of the backend.
    unsafe {
        BEFORE = pg_sys::get_relation_info_hook;
        pg_sys::get_relation_info_hook = Some(replace);
    }
}

/// Replaces conditions of the query that a table is in. For its second table, none is left.
unsafe extern "C-unwind" fn replace(
    root: *mut pg_sys::PlannerInfo,
    relation: pg_sys::Oid,
    inherited: bool,
    table: *mut pg_sys::RelOptInfo,
) {
    // SAFETY: called by the planner; nodes of the planner, which changes the query itself.
    unsafe {
        if let Some(before) = BEFORE {
            before(root, relation, inherited, table);
        }
        guard(|| {
            replace_in((*(*root).parse).jointree.cast());
            Ok(())
        });
    }
}

/// # Safety
/// A part of the FROM of a query, or a condition, or null.
unsafe fn replace_in(node: *mut pg_sys::Node) {
    // SAFETY: the caller's promise; a node of a tag is of its type.
    unsafe {
        if node.is_null() {
            return;
        }
        match (*node).type_ {
            pg_sys::NodeTag::T_FromExpr => {
                let from: *mut pg_sys::FromExpr = node.cast();
                replace_in((*from).fromlist.cast());
                replace_in((*from).quals);
            }
            pg_sys::NodeTag::T_JoinExpr => {
                let join: *mut pg_sys::JoinExpr = node.cast();
                replace_in((*join).larg);
                replace_in((*join).rarg);
                replace_in((*join).quals);
            }
            pg_sys::NodeTag::T_BoolExpr => replace_in((*node.cast::<pg_sys::BoolExpr>()).args.cast()),
            pg_sys::NodeTag::T_List => {
                let mut list = PgList::<pg_sys::Node>::from_pg(node.cast());
                for n in 0..list.len() {
                    let Some(part) = list.get_ptr(n) else { continue };
                    match in_ball(part) {
                        Some(condition) => list.replace_ptr(n, condition),
                        None => replace_in(part),
                    }
                }
            }
            _ => {}
        }
    }
}

/// What is compared with a constant.
struct ComparedValue {
    arguments: *mut pg_sys::List,
    collation: pg_sys::Oid,
    /// The place of the function among those for other types.
    kind: usize,
    is_distance: bool,
    /// The number from which it is subtracted, if it is.
    from: Option<f64>,
}

impl ComparedValue {
    /// # Safety
    /// A node of the planner.
    unsafe fn parse(node: *mut pg_sys::Node) -> Option<Self> {
        // SAFETY: the caller's promise; a node of a tag is of its type.
        unsafe {
            let (function, arguments, collation) = call_of(node)?;
            if function == pg_sys::Oid::from(pg_sys::F_FLOAT8MI) {
                let [first, second] = two(arguments)?;
                let from = number(first)?;
                return Self::parse(second)
                    .filter(|of| of.from.is_none())
                    .map(|of| Self { from: Some(from), ..of });
            }
            let name = symbol(function)?;
            let place = |names: [&[u8]; 3]| names.into_iter().position(|one| one == name);
            let (kind, is_distance) = match place(SIMILARITIES) {
                Some(kind) => (kind, false),
                None => (place(DISTANCES)?, true),
            };
            Some(Self { arguments, collation, kind, is_distance, from: None })
        }
    }

    /// Returns the value of a document that is so similar to the middle of the ball.
    fn value(&self, similarity: f64) -> f64 {
        let value = if self.is_distance { 1.0 - similarity } else { similarity };
        self.from.map_or(value, |from| from - value)
    }

    /// Returns the value outside of the ball, where the similarity does not matter, or of nothing
    /// in common.
    fn farthest(&self) -> f64 {
        let value = if self.is_distance { f64::INFINITY } else { 0.0 };
        self.from.map_or(value, |from| from - value)
    }
}

/// Returns the condition on a ball that is true of the same documents as a comparison, if there is
/// one.
///
/// # Safety
/// A node of the planner.
unsafe fn in_ball(node: *mut pg_sys::Node) -> Option<*mut pg_sys::Node> {
    // SAFETY: the caller's promise; a node of a tag is of its type.
    unsafe {
        if (*node).type_ != pg_sys::NodeTag::T_OpExpr {
            return None;
        }
        let comparison: *mut pg_sys::OpExpr = node.cast();
        let [first, second] = two((*comparison).args)?;
        let operator = pg_sys::get_opcode((*comparison).opno);
        let (measured, limit, is_first) = match (number(first), number(second)) {
            (None, Some(limit)) => (first, limit, true),
            (Some(limit), None) => (second, limit, false),
            _ => return None,
        };
        let compare: fn(f64, f64) -> bool = match (u32::from(operator), is_first) {
            (pg_sys::F_FLOAT8GE, true) | (pg_sys::F_FLOAT8LE, false) => |value, limit| value >= limit,
            (pg_sys::F_FLOAT8GT, true) | (pg_sys::F_FLOAT8LT, false) => |value, limit| value > limit,
            (pg_sys::F_FLOAT8LE, true) | (pg_sys::F_FLOAT8GE, false) => |value, limit| value <= limit,
            (pg_sys::F_FLOAT8LT, true) | (pg_sys::F_FLOAT8GT, false) => |value, limit| value < limit,
            _ => return None,
        };
        let measured = ComparedValue::parse(measured)?;
        let passes = |similarity: f64| compare(measured.value(similarity), limit);
        if compare(measured.farthest(), limit) {
            return None;
        }
        let least = least(passes)?;
        let call = BallCall::parse(measured.arguments)?;
        let (ball, radius) = Ball::parse_comparison(call.ball)?;
        let ball = ball.with(if measured.is_distance { least.max(radius) } else { least })?;
        let operator = operator_of(&measured, pg_sys::exprType(call.ball))?;
        let bool_type = pg_sys::BOOLOID;
        let none = pg_sys::InvalidOid;
        let condition = pg_sys::make_opclause(
            operator,
            bool_type,
            false,
            call.row.cast(),
            ball.cast(),
            none,
            measured.collation,
        );
        pg_sys::set_opfuncid(condition.cast());
        Some(condition.cast())
    }
}

/// Returns the least similarity in (0, 1] that passes, if greater ones pass, too.
fn least(passes: impl Fn(f64) -> bool) -> Option<f64> {
    // Positive numbers are in the order of their bits.
    let (mut low, mut high) = (1, 1.0f64.to_bits());
    if !passes(f64::from_bits(high)) {
        return None;
    }
    while low < high {
        let middle = low + (high - low) / 2;
        if passes(f64::from_bits(middle)) { high = middle } else { low = middle + 1 }
    }
    Some(f64::from_bits(low))
}

/// A ball whose similarity can be replaced.
enum Ball {
    Known(*mut pg_sys::Const),
    Call(*mut pg_sys::FuncExpr),
}

impl Ball {
    /// Returns the ball and its least similarity, if that is known and valid.
    ///
    /// # Safety
    /// A ball, as an expression of the planner.
    unsafe fn parse_comparison(node: *mut pg_sys::Node) -> Option<(Self, f64)> {
        // SAFETY: the caller's promise; a node of a tag is of its type.
        unsafe {
            let (ball, similarity) = match (*node).type_ {
                pg_sys::NodeTag::T_Const => {
                    (Self::Known(node.cast()), least_of(varlena_bytes(constant(node)?))?)
                }
                pg_sys::NodeTag::T_FuncExpr => {
                    let call: *mut pg_sys::FuncExpr = node.cast();
                    if !symbol((*call).funcid)?.starts_with(b"neardup_near_set_") {
                        return None;
                    }
                    let similarity = PgList::<pg_sys::Node>::from_pg((*call).args).get_ptr(1)?;
                    let is_null =
                        (*similarity).type_ == pg_sys::NodeTag::T_Const && constant(similarity).is_none();
                    (Self::Call(call), if is_null { DEFAULT } else { number(similarity)? })
                }
                _ => return None,
            };
            (similarity > 0.0 && similarity <= 1.0).then_some((ball, similarity))
        }
    }

    /// Returns the ball with another least similarity.
    ///
    /// # Safety
    /// A ball that [`Ball::parse_comparison`] returned.
    unsafe fn with(self, least: f64) -> Option<*mut pg_sys::Node> {
        // SAFETY: the caller's promise; we may change the copies that we made.
        unsafe {
            match self {
                Self::Known(constant) => {
                    let bytes = with_least(varlena_bytes((*constant).constvalue), least).ok()?;
                    let copy: *mut pg_sys::Const = pg_sys::copyObjectImpl(constant.cast()).cast();
                    (*copy).constvalue = values::bytea(&bytes, "a ball").ok()?;
                    Some(copy.cast())
                }
                Self::Call(call) => Some(with_argument(call, 1, float_constant(least))),
            }
        }
    }
}

/// Returns the operator `<@` for the types of a measured value and a ball, of the schema of the
/// type of balls.
///
/// # Safety
/// Reads the catalogues.
unsafe fn operator_of(measured: &ComparedValue, ball: pg_sys::Oid) -> Option<pg_sys::Oid> {
    let of = [pg_sys::TEXTOID, pg_sys::TSVECTOROID, pg_sys::ANYARRAYOID][measured.kind];
    // SAFETY: any names may be looked up.
    unsafe {
        let schema = type_row(ball, |row| row.typnamespace)?;
        let name = pg_sys::Datum::from(c"<@".as_ptr());
        let cache = pg_sys::SysCacheIdentifier::OPERNAMENSP as i32;
        let (column, ball) = (pg_sys::Anum_pg_operator_oid as i16, ball.into());
        let operator = pg_sys::GetSysCacheOid(cache, column, name, of.into(), ball, schema.into());
        let function = symbol(pg_sys::get_opcode(operator))?;
        (function == IN_BALL[measured.kind]).then_some(operator)
    }
}

/// # Safety
/// The arguments of an expression.
unsafe fn two(arguments: *mut pg_sys::List) -> Option<[*mut pg_sys::Node; 2]> {
    // SAFETY: the caller's promise.
    unsafe {
        let arguments = PgList::<pg_sys::Node>::from_pg(arguments);
        let both = [arguments.get_ptr(0)?, arguments.get_ptr(1)?];
        (arguments.len() == 2).then_some(both)
    }
}

/// Returns the number that a node is, which is not NaN.
///
/// # Safety
/// A node of the planner.
unsafe fn number(node: *mut pg_sys::Node) -> Option<f64> {
    // SAFETY: the caller's promise; a node of this tag is of this type, and the value of this type
    // is in the datum.
    unsafe {
        let number = f64::from_bits(constant(node)?.value() as u64);
        (pg_sys::exprType(node) == pg_sys::FLOAT8OID && !number.is_nan()).then_some(number)
    }
}

#[cfg(test)]
mod tests {
    use super::least;

    #[test]
    fn the_least_similarity_is_exact() {
        for limit in [0.0, 0.1, 0.2, 0.5, 0.999, 1.0 - 1e-17, 1e-300] {
            let found = least(|similarity| 1.0 - similarity <= limit).unwrap();
            assert!(1.0 - found <= limit && found > 0.0);
            let below = f64::from_bits(found.to_bits() - 1);
            assert!(below == 0.0 || 1.0 - below > limit, "{limit} {found}");
        }
        assert_eq!(least(|similarity| similarity >= 0.8), Some(0.8));
        assert_eq!(least(|similarity| similarity > 1.0), None);
    }
}
