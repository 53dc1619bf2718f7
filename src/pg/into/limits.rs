//! How a call goes about its steps: how long it waits between two of them, how many parts are
//! joined at once, how long nodes may take, and how often a step is repeated.

use super::place::such_as;
use crate::pg::server::error::{Result, SqlError};

/// The limits of a call.
#[derive(Debug, Clone, Copy)]
pub(super) struct CallLimits {
    /// The seconds to wait between two transactions.
    pub pause: f64,
    /// The number of parts that are joined at once on other nodes, or `None` if the call decides.
    pub at_once: Option<usize>,
    /// The milliseconds that a statement that other nodes take part in may take, or 0.
    pub node_timeout: i32,
    /// How often a step is repeated.
    pub retries: i32,
}

impl Default for CallLimits {
    fn default() -> Self {
        Self { pause: 0.0, at_once: None, node_timeout: 0, retries: 2 }
    }
}

impl CallLimits {
    /// Checks the arguments of a call of a procedure; times are in seconds.
    pub(super) fn new(
        procedure: &str,
        pause: Option<f64>,
        at_once: Option<i32>,
        node_timeout: Option<f64>,
        retries: Option<i32>,
    ) -> Result<Self> {
        /// The greatest number of seconds.
        const LONGEST: f64 = i32::MAX as f64 / 1000.0;
        let seconds = |name: &str, given: Option<f64>| match given {
            None => Ok(0.0),
            Some(seconds) if (0.0..=LONGEST).contains(&seconds) => Ok(seconds),
            Some(seconds) => Err(SqlError::parameter(format!(
                "{name} must be between 0 and 24 days, not {seconds} seconds"
            ))
            .hint(such_as(procedure, "docs", &format!(", {name} => '2s'")))),
        };
        let count = |name: &str, given: Option<i32>, least: i32, most: i32| match given {
            Some(count) if !(least..=most).contains(&count) => {
                Err(SqlError::parameter(format!("{name} must be between {least} and {most}, not {count}"))
                    .hint(such_as(procedure, "docs", &format!(", {name} => {}", count.clamp(least, most)))))
            }
            given => Ok(given),
        };
        Ok(Self {
            pause: seconds("pause", pause)?,
            at_once: count("at_once", at_once, 1, 65_536)?.map(|count| count.unsigned_abs() as usize),
            // At most `i32::MAX`, and at least a millisecond unless it is 0.
            node_timeout: (seconds("node_timeout", node_timeout)? * 1000.0).ceil() as i32,
            retries: count("retries", retries, 0, 1000)?.unwrap_or(Self::default().retries),
        })
    }
}
