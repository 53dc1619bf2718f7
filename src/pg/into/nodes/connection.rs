//! A request to a server of postgres_fdw, which neither a cancel nor a deadline has to wait for:
//! nothing here waits within libpq, and each wait answers to interrupts and ends in time.
//!
//! The connection is the one that postgres_fdw would make: the options of the server and of the
//! caller's user mapping, and the same rule about passwords. Otherwise the role of the server's
//! process, which the other side may trust, would stand in for a caller who has none.

use std::ffi::{CStr, c_char, c_int, c_long, c_void};
use std::time::{Duration, Instant};

use pgrx::{PgSqlErrorCode, pg_sys};

use super::libpq::{Handle, Libpq};
use super::mapping::ConnectionOptions;
use crate::pg::server::encoding;
use crate::pg::server::error::{SqlError, catch};
use neardup_core::memory;

unsafe extern "C-unwind" {
    fn WaitLatchOrSocket(
        latch: *mut pg_sys::Latch,
        events: c_int,
        socket: c_int,
        milliseconds: c_long,
        event: u32,
    ) -> c_int;
    fn ProcessInterrupts();
}

/// Why a request has no answer.
#[derive(Debug)]
pub(crate) enum Fault {
    /// The server was not reached, with libpq's reason.
    Unreached(String),
    /// The server has said nothing for this many milliseconds.
    Silent(u128),
    /// The error that the server answered with: SQLSTATE, message and hint.
    Answered(PgSqlErrorCode, String, Option<String>),
    /// An error of this server, which ends the statement.
    Own(SqlError),
}

impl From<SqlError> for Fault {
    fn from(error: SqlError) -> Self {
        Self::Own(error)
    }
}

type NodeAnswer<T> = std::result::Result<T, Fault>;

/// The longest time in which a connection is made, unless the options of the server say another one
/// or a deadline is shorter.
const CONNECT: Duration = Duration::from_secs(30);

/// Sends statements to a server, and returns the last text that they return. The server ends the
/// request after these milliseconds, if there are any, and this session a second later: then the
/// server does not answer at all.
pub(crate) fn exchange(server: &str, sql: &str, milliseconds: i32) -> NodeAnswer<Option<String>> {
    /// What the session waits beyond the time in which the server ends the request by itself.
    const GRACE: Duration = Duration::from_secs(1);
    let limit = u64::try_from(milliseconds).ok().filter(|&limit| limit > 0).map(Duration::from_millis);
    let connection = Connection::open(server, limit)?;
    let clock = Clock::new(limit.map(|limit| limit + GRACE));
    let answer = connection.send(sql, &clock).and_then(|()| connection.last_text(&clock));
    match answer {
        // No message tells, as it may be in any language: the request is cancelled, and the time is
        // over. A cancel of this session is met while it waits.
        Err(Fault::Answered(PgSqlErrorCode::ERRCODE_QUERY_CANCELED, ..))
            if limit.is_some_and(|limit| clock.began.elapsed() >= limit) =>
        {
            Err(Fault::Silent(limit.unwrap_or_default().as_millis()))
        }
        answer => answer,
    }
}

/// The time since when, and how long, a session waits.
struct Clock {
    began: Instant,
    limit: Option<Duration>,
}

impl Clock {
    fn new(limit: Option<Duration>) -> Self {
        Self { began: Instant::now(), limit }
    }
}

/// An open connection, which is closed when it is dropped.
struct Connection {
    libpq: Libpq,
    handle: Handle,
}

/// `CONNECTION_BAD` of libpq-fe.h.
const BAD: c_int = 1;

/// The states of `PostgresPollingStatusType`.
const POLL_READING: c_int = 1;
const POLL_WRITING: c_int = 2;
const POLL_OK: c_int = 3;

/// The states of `ExecStatusType` that are no errors.
const COMMAND_OK: c_int = 1;
const TUPLES_OK: c_int = 2;
const EMPTY_QUERY: c_int = 0;

impl Connection {
    fn open(server: &str, limit: Option<Duration>) -> NodeAnswer<Self> {
        let libpq = Libpq::get()?;
        let options = ConnectionOptions::read(server, &libpq)?;
        let [mut keys, mut values] = [Vec::new(), Vec::new()];
        for (key, value) in options.all() {
            keys.push(key.as_ptr());
            values.push(value.as_ptr());
        }
        keys.push(std::ptr::null());
        values.push(std::ptr::null());
        // SAFETY: a counter of this process.
        if !unsafe { pg_sys::AcquireExternalFD() } {
            let message = "there are too many open files to connect to a server";
            return Err(SqlError::new(PgSqlErrorCode::ERRCODE_INSUFFICIENT_RESOURCES, message).into());
        }
        // SAFETY: lists of C strings that end with a null pointer, and are copied.
        let handle = unsafe { (libpq.PQconnectStartParams)(keys.as_ptr(), values.as_ptr(), 0) };
        if handle.is_null() {
            // SAFETY: as above.
            unsafe { pg_sys::ReleaseExternalFD() };
            let message = "out of memory for a connection";
            return Err(SqlError::new(PgSqlErrorCode::ERRCODE_OUT_OF_MEMORY, message).into());
        }
        let connection = Self { libpq, handle };
        let patience = options.connect_timeout().unwrap_or(CONNECT);
        let clock = Clock::new(Some(limit.map_or(patience, |limit| limit.min(patience))));
        connection.complete(&clock).map_err(|fault| match fault {
            Fault::Silent(waited) => {
                Fault::Unreached(format!("it has not taken the connection within {waited} ms"))
            }
            fault => fault,
        })?;
        // SAFETY: an open connection; the callback is a function of ours.
        let used_password = unsafe {
            (libpq.PQsetNoticeProcessor)(handle, ignore, std::ptr::null_mut());
            (libpq.PQsetnonblocking)(handle, 1);
            (libpq.PQconnectionUsedPassword)(handle) != 0
        };
        options.check_password(used_password)?;
        Ok(connection)
    }

    /// Waits until the connection is made.
    fn complete(&self, clock: &Clock) -> NodeAnswer<()> {
        let mut state = POLL_WRITING;
        // SAFETY: an open connection.
        unsafe {
            if (self.libpq.PQstatus)(self.handle) == BAD {
                return Err(self.unreached());
            }
            loop {
                let events = match state {
                    POLL_OK => return Ok(()),
                    POLL_READING => pg_sys::WL_SOCKET_READABLE,
                    POLL_WRITING => pg_sys::WL_SOCKET_WRITEABLE,
                    _ => return Err(self.unreached()),
                };
                self.wait(events, clock)?;
                state = (self.libpq.PQconnectPoll)(self.handle);
            }
        }
    }

    /// Sends statements. The other side may be slow to take them.
    fn send(&self, sql: &str, clock: &Clock) -> NodeAnswer<()> {
        let sql = encoding::to_server(sql)?;
        // SAFETY: an open connection, and a C string, which is copied.
        unsafe {
            if (self.libpq.PQsendQuery)(self.handle, sql.as_ptr()) == 0 {
                return Err(self.unreached());
            }
            loop {
                match (self.libpq.PQflush)(self.handle) {
                    0 => return Ok(()),
                    1 => self.wait(pg_sys::WL_SOCKET_READABLE | pg_sys::WL_SOCKET_WRITEABLE, clock)?,
                    _ => return Err(self.unreached()),
                }
                if (self.libpq.PQconsumeInput)(self.handle) == 0 {
                    return Err(self.unreached());
                }
            }
        }
    }

    /// Reads all results, and returns the text of the last one that has a row of one column.
    fn last_text(&self, clock: &Clock) -> NodeAnswer<Option<String>> {
        let mut last = None;
        loop {
            // SAFETY: an open connection.
            let result = unsafe {
                while (self.libpq.PQisBusy)(self.handle) != 0 {
                    self.wait(pg_sys::WL_SOCKET_READABLE, clock)?;
                    if (self.libpq.PQconsumeInput)(self.handle) == 0 {
                        return Err(self.unreached());
                    }
                }
                (self.libpq.PQgetResult)(self.handle)
            };
            if result.is_null() {
                return Ok(last);
            }
            let result = Outcome { libpq: self.libpq, handle: result };
            last = result.text()?.or(last);
        }
    }

    /// Waits for the socket, and answers to interrupts.
    fn wait(&self, events: u32, clock: &Clock) -> NodeAnswer<()> {
        let waited = clock.began.elapsed();
        let left = clock.limit.map(|limit| limit.saturating_sub(waited).as_millis());
        if left == Some(0) {
            return Err(Fault::Silent(waited.as_millis()));
        }
        let milliseconds = left.map_or(60_000, |left| left.min(60_000)) as c_long;
        let events = events | pg_sys::WL_LATCH_SET | pg_sys::WL_TIMEOUT | pg_sys::WL_EXIT_ON_PM_DEATH;
        // SAFETY: an open connection has a socket, or none (-1) when it failed; the latch of this
        // process; the interrupt may raise an error, which is caught.
        unsafe {
            let socket = (self.libpq.PQsocket)(self.handle);
            if socket < 0 {
                return Err(self.unreached());
            }
            catch(|| {
                let latch = pg_sys::MyLatch;
                WaitLatchOrSocket(latch, events as c_int, socket, milliseconds, pg_sys::PG_WAIT_EXTENSION);
                pg_sys::ResetLatch(latch);
                if pg_sys::InterruptPending != 0 {
                    ProcessInterrupts();
                }
            })?;
        }
        Ok(())
    }

    /// Returns the reason of libpq why the connection cannot be used.
    fn unreached(&self) -> Fault {
        // SAFETY: an open connection has a message, a C string.
        let message = unsafe { encoding::c_string((self.libpq.PQerrorMessage)(self.handle)) };
        let first = message.lines().next().unwrap_or_default().trim();
        Fault::Unreached(if first.is_empty() {
            "the connection was closed".to_owned()
        } else {
            first.to_owned()
        })
    }
}

impl Drop for Connection {
    fn drop(&mut self) {
        // SAFETY: opened by us, closed once.
        unsafe {
            (self.libpq.PQfinish)(self.handle);
            pg_sys::ReleaseExternalFD();
        }
    }
}

/// Takes a notice of the other side, which would otherwise stand in the log of this server.
unsafe extern "C" fn ignore(_: *mut c_void, _: *const c_char) {}

/// The result of a statement, which is freed when it is dropped.
struct Outcome {
    libpq: Libpq,
    handle: Handle,
}

impl Outcome {
    /// Returns the text of the first row if it has one column.
    fn text(&self) -> NodeAnswer<Option<String>> {
        let Self { libpq, handle } = *self;
        // SAFETY: a result; its first value is a C string if there is a row.
        unsafe {
            match (libpq.PQresultStatus)(handle) {
                COMMAND_OK | EMPTY_QUERY => return Ok(None),
                TUPLES_OK => {}
                _ => return Err(self.fault()),
            }
            if (libpq.PQntuples)(handle) < 1
                || (libpq.PQnfields)(handle) != 1
                || (libpq.PQgetisnull)(handle, 0, 0) != 0
            {
                return Ok(None);
            }
            let bytes = CStr::from_ptr((libpq.PQgetvalue)(handle, 0, 0)).to_bytes();
            let text =
                encoding::to_utf8(bytes)?.map(|text| memory::copied(&text, "reading an answer")).transpose();
            let text = text.map_err(SqlError::from)?;
            Ok(Some(text.ok_or_else(|| {
                let message = "the answer is not valid text".to_owned();
                Fault::Answered(PgSqlErrorCode::ERRCODE_PROTOCOL_VIOLATION, message, None)
            })?))
        }
    }

    /// Returns the error that the server answered with.
    fn fault(&self) -> Fault {
        let field = |code: u8| {
            // SAFETY: a result; the field is null or a C string.
            unsafe {
                let field = (self.libpq.PQresultErrorField)(self.handle, c_int::from(code));
                if field.is_null() { None } else { Some(encoding::c_string(field)) }
            }
        };
        let code = field(b'C').and_then(|state| sqlstate(&state));
        let message = field(b'M').unwrap_or_else(|| "it sent no answer to a query".to_owned());
        let message = match field(b'D').filter(|detail| !detail.is_empty()) {
            Some(detail) => format!("{message}: {detail}"),
            None => message,
        };
        Fault::Answered(code.unwrap_or(PgSqlErrorCode::ERRCODE_PROTOCOL_VIOLATION), message, field(b'H'))
    }
}

impl Drop for Outcome {
    fn drop(&mut self) {
        // SAFETY: a result of ours, freed once.
        unsafe { (self.libpq.PQclear)(self.handle) };
    }
}

/// Returns the error that five characters name. A server can send any: the classes of success and
/// of warnings are none of an error.
fn sqlstate(state: &str) -> Option<PgSqlErrorCode> {
    let characters: [u8; 5] = state.as_bytes().try_into().ok()?;
    let is_error = !matches!(&characters[..2], b"00" | b"01" | b"02");
    let valid = characters.iter().all(|c| c.is_ascii_digit() || c.is_ascii_uppercase());
    let bits = characters.iter().rev().fold(0, |bits, &c| (bits << 6) | i32::from((c - b'0') & 0x3f));
    (is_error && valid).then(|| PgSqlErrorCode::from(bits))
}
