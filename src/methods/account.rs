//! What a call did, in numbers.

use std::time::Instant;

use crate::joins::Counts;

/// The account of one call.
#[derive(Debug, Clone, Default)]
pub struct Account {
    /// The rows that were read.
    pub documents: u64,
    /// Rows without a text.
    pub skipped_null: u64,
    /// Documents without a token.
    pub skipped_empty: u64,
    /// Tokens of all sets.
    pub tokens: u64,
    /// Distinct tokens.
    pub distinct_tokens: u64,
    /// Distinct sets.
    pub distinct_sets: u64,
    /// What the filters did.
    pub counts: Counts,
    /// Pairs given so far.
    pub pairs: u64,
    /// The most bytes held at a time, outside the server's own memory.
    pub peak_memory: u64,
    /// Threads worked with.
    pub threads: u64,
    /// The recall of minhash at the threshold, as promised and as measured on a sample.
    pub promised_recall: Option<f64>,
    /// What was measured.
    pub measured_recall: Option<f64>,
    /// Milliseconds of reading and tokenising, of ordering, and of joining until now.
    pub phases: [f64; 3],
}

/// The milliseconds since then.
pub fn milliseconds(since: Instant) -> f64 {
    since.elapsed().as_secs_f64() * 1000.0
}
