//! neardup finds near-duplicate documents.
//!
//! The modules are the stages of a pipeline; each uses only earlier ones:
//!
//! * [`error`], [`memory`], [`ragged`], [`files`], [`hash`], [`radix`], [`workers`]: what everything stands on
//! * [`text`]: text into words and other units
//! * [`features`]: units into sets of tokens or shingles
//! * [`sketches`]: sets into minhash and simhash sketches, and the signatures that find them
//! * [`verify`]: how similar two sets or two texts are
//! * [`joins`]: which of them are worth comparing, and the joins
//! * [`clusters`]: pairs and signatures into clusters, and what to keep of them
//! * [`passages`]: pairs of sentences into passages that documents share
//! * [`report`]: pairs and clusters for people to look at

pub mod clusters;
pub mod error;
pub mod features;
pub mod files;
pub mod hash;
pub mod joins;
pub mod memory;
pub mod passages;
#[cfg(any(feature = "pg15", feature = "pg16", feature = "pg17"))]
mod pg;
pub mod radix;
pub mod ragged;
pub mod report;
pub mod sketches;
pub mod text;
pub mod verify;
pub mod workers;

// Called by scripts/pgrx_test.sh; in the program of the unit tests there is no server.
#[cfg(all(feature = "pg_test", not(test)))]
#[path = "../pg_test/mod.rs"]
mod pg_tests;
