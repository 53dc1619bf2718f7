//! The parts of a condition that compares a value with a ball.

use pgrx::{PgList, pg_sys};

use crate::pg::query::nodes::with_argument;
use crate::pg::query::ours::is_type;

/// The arguments of an operator or a function of a value and a ball, such as
/// `value <@ near(document, …)`.
pub(crate) struct BallCall {
    /// The value of a row.
    pub row: *mut pg_sys::Node,
    /// The ball.
    pub ball: *mut pg_sys::Node,
    /// Set if the value is the first argument.
    pub row_is_first: bool,
}

impl BallCall {
    /// Tells the value from the ball. Returns None if neither argument is a ball of documents.
    ///
    /// # Safety
    /// The arguments of an expression of the planner.
    pub(crate) unsafe fn parse(arguments: *mut pg_sys::List) -> Option<Self> {
        // SAFETY: the caller's promise.
        unsafe {
            let arguments = PgList::<pg_sys::Node>::from_pg(arguments);
            let (first, second) = arguments.get_ptr(0).zip(arguments.get_ptr(1))?;
            let is_ball = |node| {
                let of = pg_sys::exprType(node);
                ["text_ball", "text_runs"].into_iter().any(|name| is_type(of, name))
            };
            if is_ball(second) {
                Some(Self { row: first, ball: second, row_is_first: true })
            } else {
                is_ball(first).then_some(Self { row: second, ball: first, row_is_first: false })
            }
        }
    }

    /// Returns the call that makes the ball of a document of the value's type, and the document, if
    /// all its other arguments are constants.
    ///
    /// # Safety
    /// As for [`BallCall::parse`].
    pub(crate) unsafe fn made_of(&self) -> Option<(*mut pg_sys::FuncExpr, *mut pg_sys::Node)> {
        // SAFETY: the caller's promise; a node of this tag is of this type.
        unsafe {
            if (*self.ball).type_ != pg_sys::NodeTag::T_FuncExpr {
                return None;
            }
            let call: *mut pg_sys::FuncExpr = self.ball.cast();
            let arguments = PgList::<pg_sys::Node>::from_pg((*call).args);
            let document = arguments.get_ptr(0)?;
            let are_known =
                arguments.iter_ptr().skip(1).all(|node| (*node).type_ == pg_sys::NodeTag::T_Const);
            let is_like = pg_sys::exprType(document) == pg_sys::exprType(self.row);
            (are_known && is_like).then_some((call, document))
        }
    }
}

/// Returns a copy of a call whose first argument is a constant of the same type.
///
/// # Safety
/// A call with arguments, and a value of the type of its first one.
pub(crate) unsafe fn call_with(call: *mut pg_sys::FuncExpr, document: pg_sys::Datum) -> *mut pg_sys::Node {
    // SAFETY: the caller's promise.
    unsafe {
        let first = pg_sys::list_nth((*call).args, 0).cast();
        let (of, collation) = (pg_sys::exprType(first), pg_sys::exprCollation(first));
        let document = pg_sys::makeConst(of, -1, collation, -1, document, false, false);
        with_argument(call, 0, document.cast())
    }
}
