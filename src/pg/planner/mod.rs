//! What the planner asks about conditions on balls: how many rows and pairs they accept ([`share`],
//! from the [`statistics`] of columns), and what a call costs ([`price`]).

pub(crate) mod call;
pub(crate) mod price;
pub(crate) mod share;
mod statistics;
