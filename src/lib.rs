//! neardup finds near-duplicate documents.
//!
//! The modules are the stages of a pipeline; each uses only earlier ones:
//!
//! * [`error`], [`memory`], [`hash`], [`workers`]: what everything stands on
//! * [`text`]: text into words and other units
//! * [`features`]: units into sets of tokens or shingles
//! * [`verify`]: how similar two sets are
//! * [`candidates`]: which sets are worth comparing, and the exact join

pub mod candidates;
pub mod error;
pub mod features;
pub mod hash;
pub mod memory;
pub mod text;
pub mod verify;
pub mod workers;

#[cfg(any(feature = "pg15", feature = "pg16", feature = "pg17"))]
mod pg;
