//! The tables of a job: [`table`] is one of them, found by its number and locked, [`all`] are those of a job; [`columns`] says
//! what they are made of, [`catalog`] what the server knows of a number.

pub(super) mod all;
pub(super) mod columns;
