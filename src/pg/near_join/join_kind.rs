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
    Inner,
    Left,
    Full,
    /// The rows of the outer side that have a match: EXISTS.
    Semi,
    /// Those that have none: NOT EXISTS.
    Anti,
}

impl JoinKind {
    const ALL: [(Self, JoinType::Type, &CStr); 5] = [
        (Self::Inner, JoinType::JOIN_INNER, c"Inner"),
        (Self::Left, JoinType::JOIN_LEFT, c"Left"),
        (Self::Full, JoinType::JOIN_FULL, c"Full"),
        (Self::Semi, JoinType::JOIN_SEMI, c"Semi"),
        (Self::Anti, JoinType::JOIN_ANTI, c"Anti"),
    ];

    /// Returns the kind of a join of the planner, if a batch join serves it.
    pub(super) fn from_type(join: JoinType::Type) -> Option<Self> {
        Self::ALL.iter().find(|&&(_, served, _)| served == join).map(|&(kind, ..)| kind)
    }

    /// Returns the place of the kind among all kinds, by which plans name it.
    pub(super) fn number(self) -> i32 {
        Self::ALL.iter().zip(0..).find(|&(&(kind, ..), _)| kind == self).map_or(0, |(_, number)| number)
    }

    /// Returns the kind with this number.
    pub(super) fn numbered(number: i32) -> Result<Self> {
        let found = usize::try_from(number).ok().and_then(|number| Self::ALL.get(number));
        let unknown = || format!("a plan has a join of the unknown kind {number}");
        found
            .map(|&(kind, ..)| kind)
            .ok_or_else(|| SqlError::new(PgSqlErrorCode::ERRCODE_INTERNAL_ERROR, unknown()))
    }

    /// Returns the name, as EXPLAIN shows it of other joins.
    pub(super) fn name(self) -> &'static CStr {
        Self::ALL.iter().find(|&&(kind, ..)| kind == self).map_or(c"", |&(.., name)| name)
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
