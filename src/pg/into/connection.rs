//! A request to a server by dblink, which neither a cancel nor a deadline has to wait for: the
//! statements are sent, and this session looks from time to time whether their result is there.

use std::time::{Duration, Instant};

use pgrx::{PgSqlErrorCode, pg_sys};

use super::statements::remote;
use crate::pg::procedure::statement::read_text;
use crate::pg::query::subtransaction::apart;
use crate::pg::server::deadline;
use crate::pg::server::error::{Result, SqlError, catch};

unsafe extern "C-unwind" {
    fn WaitLatch(latch: *mut pg_sys::Latch, events: i32, milliseconds: i64, event: u32) -> i32;
    fn ProcessInterrupts();
}

/// Sends statements to a server, and returns the last text that they return. `schema` is that of
/// dblink. The server ends the request after these milliseconds, if there are any, and this session
/// a second later: then the server does not answer at all.
pub(super) fn exchange(schema: &str, server: &str, sql: &str, milliseconds: i32) -> Result<Option<String>> {
    let sql = remote::with_patience(sql, milliseconds);
    let answer = apart(|| {
        remote::disconnect(schema).row(remote::ANSWER)?;
        remote::connect(schema, server)?.row(remote::ANSWER)?;
        remote::send(schema, &sql)?.row([pg_sys::INT4OID])?;
        let began = Instant::now();
        let mut answer = None;
        loop {
            wait(schema, milliseconds)?;
            let result = remote::result(schema).row(remote::ANSWER);
            match result.map_err(|error| timed_out(error, began.elapsed(), milliseconds))? {
                Some([value]) => answer = value.map(read_text).transpose()?.map(|text| text.into_owned()),
                None => return Ok(answer),
            }
        }
    });
    // A connection that is not closed here is closed by the next request, or with the session.
    let closed = apart(|| remote::disconnect(schema).row(remote::ANSWER));
    let answer = answer?;
    closed?;
    Ok(answer)
}

/// Waits until the next result is there.
fn wait(schema: &str, milliseconds: i32) -> Result<()> {
    /// What the session waits beyond the time in which the server ends the request by itself.
    const GRACE: u128 = 1000;
    let began = Instant::now();
    let mut pause = 1;
    while remote::is_busy(schema).holds()? {
        let waited = began.elapsed().as_millis();
        if milliseconds > 0 && waited > u128::from(milliseconds.unsigned_abs()) + GRACE {
            return Err(silent(milliseconds));
        }
        sleep(pause)?;
        pause = (pause * 2).min(20);
    }
    Ok(())
}

/// Sleeps some milliseconds, or until an interrupt, which it answers to.
fn sleep(milliseconds: i64) -> Result<()> {
    let events = pg_sys::WL_LATCH_SET | pg_sys::WL_TIMEOUT | pg_sys::WL_EXIT_ON_PM_DEATH;
    // SAFETY: the latch of this process; the interrupt may raise an error, which is caught.
    unsafe {
        catch(|| {
            WaitLatch(pg_sys::MyLatch, events as i32, milliseconds, pg_sys::PG_WAIT_EXTENSION);
            pg_sys::ResetLatch(pg_sys::MyLatch);
            if pg_sys::InterruptPending != 0 {
                ProcessInterrupts();
            }
        })
    }
}

/// Returns the error for a server that does not answer. Who raises it puts the name of the server
/// in front.
fn silent(milliseconds: i32) -> SqlError {
    deadline::note();
    let message = format!("has not answered within {milliseconds} ms");
    SqlError::new(PgSqlErrorCode::ERRCODE_CONNECTION_FAILURE, message)
}

/// Replaces the error of a request that the server ended because of its time by the one for a
/// server that does not answer. No message tells, as it may be in any language: a request is
/// cancelled, and the time is over. A cancel of this session is met while it waits.
fn timed_out(error: SqlError, taken: Duration, milliseconds: i32) -> SqlError {
    let SqlError::Server(data) = error else { return error };
    // SAFETY: an error that was copied from the server.
    let code = unsafe { (*data).sqlerrcode };
    let is_over = milliseconds > 0 && taken.as_millis() >= u128::from(milliseconds.unsigned_abs());
    if is_over && code == PgSqlErrorCode::ERRCODE_QUERY_CANCELED as i32 {
        silent(milliseconds)
    } else {
        error
    }
}
