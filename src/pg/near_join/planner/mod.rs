//! What the planner asks about conditions on balls: how many rows and pairs they accept ([`share`],
//! from the [`statistics`] of columns), and what a call costs ([`price`]). Thresholds by functions
//! and distances become such conditions ([`threshold`]).

pub(crate) mod call;
pub(crate) mod price;
pub(crate) mod share;
pub(crate) mod short_query;
mod statistics;
pub(crate) mod threshold;
