//! The calls that there are or were: `neardup_into_calls` ([`runs`]) lists them and what they left,
//! by the logs that [`known_log`] reads, and `neardup_into_clean` ([`clean`]) drops it.

mod clean;
mod known_log;
mod runs;
