//! What a call tells while a cancel is pending.

use pgrx::PgLogLevel;
use pgrx::prelude::*;

use crate::pg::server::notices::{report, with_pending_cancel};

#[pg_schema]
mod tests {
    use super::*;

    /// Without the mend the cancel jumps over the frames of the test, which fails with its error.
    #[pg_test]
    fn a_cancel_waits_until_a_message_is_sent() {
        let is_pending = with_pending_cancel(|| report(PgLogLevel::LOG, "nothing is lost"));
        assert!(is_pending, "the cancel is there for the next check");
    }
}
