//! How much memory calls may hold, whatever their parts count.
//!
//! A method counts what it holds and writes the rest to files, but some of its data has no place in
//! files. So that such data does not take more than the caller allows, the allocator counts every
//! block ([`count`]), a call takes an [`Allowance`], and `memory::reserve` and every
//! [`Stop`](crate::Stop) refuse what is beyond it. Only requests that can fail are refused: the
//! blocks between them are small and come out of the [`slack`].
//!
//! A program whose allocator does not count has no limit. Cost: an atomic addition for each block
//! that is not tiny.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Mutex, OnceLock, PoisonError};

use crate::error::{Error, Result};

/// Returns what calls may hold together in addition to their allowances: memory that each call
/// needs however little it is allowed, such as the stacks and tables of its threads. The promise to
/// the user is 100 MB; the rest of it is for memory that the allocator does not give back at once,
/// and for the program itself.
///
/// The environment variable `NEARDUP_TEST_SLACK`, in megabytes, makes it less for tests, so that
/// they reach temporary files with little data.
pub fn slack() -> usize {
    const MEGABYTE: usize = 1 << 20;
    static SLACK: OnceLock<usize> = OnceLock::new();
    *SLACK.get_or_init(|| {
        let less = std::env::var("NEARDUP_TEST_SLACK").ok().and_then(|less| less.parse().ok());
        less.unwrap_or(60).min(60) * MEGABYTE
    })
}

/// Smaller blocks are not counted. They are few, or live in larger blocks.
const LEAST: usize = 256;

/// The bytes of all blocks that are counted.
static HELD: AtomicUsize = AtomicUsize::new(0);
/// The greatest value that `HELD` may have.
static MOST: AtomicUsize = AtomicUsize::new(usize::MAX);
/// Set when a block was counted beyond the limit.
static BEYOND: AtomicBool = AtomicBool::new(false);

/// The calls that run.
static CALLS: Mutex<Calls> = Mutex::new(Calls { count: 0, allowed: 0, before: 0 });

struct Calls {
    count: usize,
    /// The sum of their allowances.
    allowed: usize,
    /// The bytes that were held before the first of them began.
    before: usize,
}

/// Counts a block whose size changes: from 0 when it is allocated, to 0 when it is freed. The
/// allocator calls this.
#[inline]
pub fn count(from: usize, to: usize) {
    if to > from && to >= LEAST {
        let more = to - if from >= LEAST { from } else { 0 };
        if HELD.fetch_add(more, Ordering::Relaxed).wrapping_add(more) > MOST.load(Ordering::Relaxed) {
            BEYOND.store(true, Ordering::Relaxed);
        }
    } else if from >= LEAST {
        HELD.fetch_sub(from - if to >= LEAST { to } else { 0 }, Ordering::Relaxed);
    }
}

/// Returns the bytes of all blocks that are counted. It costs one load.
pub fn held() -> usize {
    HELD.load(Ordering::Relaxed)
}

/// The permission of a call to hold memory, until it is dropped. Several calls may hold the sum of
/// their allowances.
#[derive(Debug)]
pub struct Allowance {
    bytes: usize,
}

impl Allowance {
    /// Allows a call to hold `bytes` bytes in addition to what is held now.
    pub fn new(bytes: usize) -> Self {
        let mut calls = CALLS.lock().unwrap_or_else(PoisonError::into_inner);
        if calls.count == 0 {
            calls.before = HELD.load(Ordering::Relaxed);
        }
        calls.count += 1;
        calls.allowed = calls.allowed.saturating_add(bytes);
        calls.set();
        Self { bytes }
    }
}

impl Drop for Allowance {
    fn drop(&mut self) {
        let mut calls = CALLS.lock().unwrap_or_else(PoisonError::into_inner);
        calls.count -= 1;
        calls.allowed = calls.allowed.saturating_sub(self.bytes);
        calls.set();
    }
}

impl Calls {
    fn set(&self) {
        let most = match self.count {
            0 => usize::MAX,
            _ => self.before.saturating_add(self.allowed).saturating_add(slack()),
        };
        MOST.store(most, Ordering::Relaxed);
        BEYOND.store(HELD.load(Ordering::Relaxed) > most, Ordering::Relaxed);
    }
}

/// Fails if more memory is held than calls may hold. It costs one load.
#[inline]
pub fn is_kept(doing: &'static str) -> Result<()> {
    if BEYOND.load(Ordering::Relaxed) { look_again(doing) } else { Ok(()) }
}

/// A block may have been freed since the limit was passed.
#[cold]
fn look_again(doing: &'static str) -> Result<()> {
    BEYOND.store(false, Ordering::Relaxed);
    has_room(0, doing).inspect_err(|_| BEYOND.store(true, Ordering::Relaxed))
}

/// Fails if calls may not hold `more` further bytes.
pub fn has_room(more: usize, doing: &'static str) -> Result<()> {
    let held = HELD.load(Ordering::Relaxed).saturating_add(more);
    if held <= MOST.load(Ordering::Relaxed) {
        return Ok(());
    }
    let calls = CALLS.lock().unwrap_or_else(PoisonError::into_inner);
    match calls.count {
        // The last call has just ended.
        0 => Ok(()),
        _ => Err(Error::BeyondAllowance {
            doing,
            needed: held.saturating_sub(calls.before),
            allowed: calls.allowed,
        }),
    }
}
