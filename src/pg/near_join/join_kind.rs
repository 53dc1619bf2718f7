//! The kinds of joins that a batch join serves, and which rows each of them gives.

use std::ffi::CStr;

use pgrx::PgSqlErrorCode;
use pgrx::pg_sys::JoinType;

use crate::pg::server::error::{Result, SqlError};

/// A kind of join. The rows of the outer side come first in its name: a left join keeps these.
///
/// The planner asks for each left, semi, anti and full join with the sides in this order. It asks
/// for some of them with the sides swapped, too, as right joins: they would be the same batch join,
/// so they have no kind here. Semi joins of which one side is made unique first have none, either.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum JoinKind {
    Inner = JoinType::JOIN_INNER as isize,
    Left = JoinType::JOIN_LEFT as isize,
    Full = JoinType::JOIN_FULL as isize,
    /// The rows of the outer side that have a match: EXISTS.
    Semi = JoinType::JOIN_SEMI as isize,
    /// Those that have none: NOT EXISTS.
    Anti = JoinType::JOIN_ANTI as isize,
}

impl JoinKind {
    /// All kinds, with their names as EXPLAIN shows them of other joins.
    const ALL: [(Self, &CStr); 5] = [
        (Self::Inner, c"Inner"),
        (Self::Left, c"Left"),
        (Self::Full, c"Full"),
        (Self::Semi, c"Semi"),
        (Self::Anti, c"Anti"),
    ];

    /// Returns the kind of a join of the planner, if a batch join serves it.
    pub(super) fn from_type(join: JoinType::Type) -> Option<Self> {
        Self::ALL.iter().map(|&(kind, _)| kind).find(|&kind| kind as JoinType::Type == join)
    }

    /// Returns the kind with the number by which plans name it.
    pub(super) fn numbered(number: i32) -> Result<Self> {
        Self::from_type(number.cast_unsigned()).ok_or_else(|| {
            let message = format!("a plan has a join of the unknown kind {number}");
            SqlError::new(PgSqlErrorCode::ERRCODE_INTERNAL_ERROR, message)
        })
    }

    /// Returns the name.
    pub(super) fn name(self) -> &'static CStr {
        Self::ALL.iter().find(|&&(kind, _)| kind == self).map_or(c"", |&(_, name)| name)
    }

    /// Reports whether the join may have rows with NULL in the columns of a side. Then conditions
    /// that say which rows match are told from those on the rows of the join.
    pub(super) fn has_null_rows(self) -> bool {
        matches!(self, Self::Left | Self::Full | Self::Anti)
    }

    /// Reports whether rows of the outer or of the inner side come without a match, with NULL in
    /// the columns of the other side.
    pub(super) fn keeps(self, is_outer: bool) -> bool {
        self == Self::Full || self.has_null_rows() && is_outer
    }

    /// Reports whether the first match of an outer row decides about it.
    pub(super) fn is_of_first_matches(self) -> bool {
        matches!(self, Self::Semi | Self::Anti)
    }
}
