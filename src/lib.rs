//! neardup finds near-duplicate documents.
//!
//! The modules are the stages of a pipeline; each uses only earlier ones:
//!
//! * [`error`], [`memory`], [`hash`], [`radix`], [`workers`]: what everything stands on
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
pub mod hash;
pub mod joins;
pub mod memory;
pub mod passages;
#[cfg(any(feature = "pg15", feature = "pg16", feature = "pg17"))]
mod pg;
pub mod radix;
pub mod report;
pub mod sketches;
pub mod text;
pub mod verify;
pub mod workers;

#[cfg(feature = "pg_test")]
#[path = "../pg_test/mod.rs"]
mod pg_tests;

/// What the runner of the tests inside a server asks for.
#[cfg(test)]
pub mod pg_test {
    /// Nothing to set up.
    pub fn setup(_options: Vec<&str>) {}

    /// Nothing beside the defaults.
    #[must_use]
    pub fn postgresql_conf_options() -> Vec<&'static str> {
        Vec::new()
    }
}
