//! Worker threads inside a backend.
//!
//! The rules: no PostgreSQL call ever from a worker; all signals are blocked in workers, so that the
//! server's handlers run in the leader alone; no worker outlives the call that started it. The
//! leader only waits. When an interrupt is pending it stops and joins the workers *before* it
//! processes the interrupt, because that may end the process without unwinding (FATAL) or leave by
//! an error; if it was a harmless one, the work is taken up again where it stopped.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

use pgrx::pg_sys;

use super::{allocator, settings};
use crate::error::{Error, Result};
use crate::executor::{Executor, PlainThreads, Stop, Task};

/// The worker threads of this backend.
#[derive(Debug, Clone, Copy)]
pub(crate) struct BackendExecutor {
    threads: usize,
    allowed: usize,
}

impl BackendExecutor {
    /// As many as `neardup.threads` says, but no more than there are processors: these would take time from each other, and
    /// from the leader, whom they wait for.
    pub(crate) fn new() -> Self {
        static PROCESSORS: OnceLock<usize> = OnceLock::new();
        // What the system does not tell is no limit.
        let processors = || std::thread::available_parallelism().map_or(usize::MAX, usize::from);
        let allowed = settings::threads();
        Self { threads: allowed.min(*PROCESSORS.get_or_init(processors)), allowed }
    }

    /// A single one: for work that only has to be interruptible.
    pub(crate) const fn single() -> Self {
        Self { threads: 1, allowed: 1 }
    }
}

impl Executor for BackendExecutor {
    fn count(&self) -> usize {
        self.threads
    }

    fn allowed(&self) -> usize {
        self.allowed
    }

    fn run(&self, threads: usize, work: &Task<'_>) -> Result<()> {
        self.run_beside(threads, work, &mut || {})
    }

    fn run_beside(&self, threads: usize, work: &Task<'_>, beside: &mut dyn FnMut()) -> Result<()> {
        let mut beside = Some(beside);
        loop {
            pgrx::check_for_interrupts!();
            match run_until_interrupt(threads.clamp(1, self.threads), work, beside.take()) {
                Err(Error::Stopped) => {}
                end => return end,
            }
        }
    }

    fn check_interrupts(&self) -> Result<()> {
        pgrx::check_for_interrupts!();
        Ok(())
    }
}

/// The workers for texts of that many bytes, or for work that takes as long: beside the leader where it may take long
/// enough to be cancelled.
pub(crate) fn executor_for(bytes: usize) -> &'static dyn Executor {
    const LONG: usize = 1 << 18;
    static HERE: PlainThreads = PlainThreads(1);
    static BESIDE: BackendExecutor = BackendExecutor::single();
    if bytes < LONG { &HERE } else { &BESIDE }
}

/// Runs the workers until they are done or an interrupt is pending; they are all joined on return.
/// Meanwhile the leader does what is `beside`, if anything; interrupts wait for the end of that.
fn run_until_interrupt(threads: usize, work: &Task<'_>, beside: Option<&mut dyn FnMut()>) -> Result<()> {
    const LOOK_EVERY: Duration = Duration::from_millis(5);
    // Before the first thread: one that found no room for a heap of its own would get nothing of what is kept back.
    allocator::keep_little();
    let stop = &Stop::default();
    let running = &AtomicUsize::new(0);
    let leader = std::thread::current();
    // A new thread that finds no memory for its own variables ends the process: the C library knows no
    // other answer. So where memory is short all of them begin before the first one works and takes more.
    let gate = &Gate::new(is_roomy(ROOM_OF_THREADS));
    std::thread::scope(|scope| {
        let mut executor = Vec::new();
        let mut failed = None;
        let signals = SignalsBlocked::new();
        for n in 0..threads {
            if !gate.is_open() && !allocator::has_room() {
                failed = Some(Error::OutOfMemory { doing: "starting threads" });
                break;
            }
            running.fetch_add(1, Ordering::SeqCst);
            let leader = leader.clone();
            let spawned =
                std::thread::Builder::new().name(format!("neardup {n}")).spawn_scoped(scope, move || {
                    // Tells the leader also when the work panics.
                    let _finished = OnDrop(|| {
                        running.fetch_sub(1, Ordering::SeqCst);
                        leader.unpark();
                    });
                    gate.pass();
                    work(n, stop)
                });
            match spawned {
                Ok(worker) => {
                    gate.await_waiting(executor.len() + 1);
                    executor.push(worker);
                }
                Err(error) => {
                    running.fetch_sub(1, Ordering::SeqCst);
                    // With fewer threads it is the same work, only slower.
                    failed = Some(if is_roomy(ROOM_OF_A_STACK) {
                        Error::Thread(error.to_string())
                    } else {
                        Error::OutOfMemory { doing: "starting threads" }
                    });
                    break;
                }
            }
        }
        gate.open();
        drop(signals);
        if let (true, Some(error)) = (executor.is_empty(), failed) {
            return Err(error);
        }
        if let Some(beside) = beside {
            let _held = InterruptsHeld::new();
            beside();
        }
        while running.load(Ordering::SeqCst) > 0 {
            if interrupt_pending() {
                stop.request();
                break;
            }
            std::thread::park_timeout(LOOK_EVERY);
        }
        // A panic of a worker goes on in the leader, where pgrx makes an error of it.
        let results: Vec<Result<()>> = executor
            .into_iter()
            .map(|worker| worker.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)))
            .collect();
        // A real error counts more than a stop.
        let stopped = results.contains(&Err(Error::Stopped));
        results.into_iter().find(|r| !matches!(r, Ok(()) | Err(Error::Stopped))).unwrap_or(Ok(()))?;
        if stopped { Err(Error::Stopped) } else { Ok(()) }
    })
}

/// Where there is this much, threads that begin cannot take all of it.
const ROOM_OF_THREADS: usize = 1 << 30;
/// More than a thread's stack takes, of which the C library keeps some for later threads.
const ROOM_OF_A_STACK: usize = 4 << 20;

/// Whether the system would give that many bytes now.
fn is_roomy(bytes: usize) -> bool {
    // SAFETY: a new mapping at a place of the system's choice, taken away at once.
    unsafe {
        let access = libc::PROT_READ | libc::PROT_WRITE;
        let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS;
        let mapping = libc::mmap(std::ptr::null_mut(), bytes, access, flags, -1, 0);
        mapping != libc::MAP_FAILED && libc::munmap(mapping, bytes) == 0
    }
}

/// Where threads wait for each other to begin; or not, if it is open from the start.
struct Gate {
    open: AtomicBool,
    waiting: AtomicUsize,
}

impl Gate {
    const fn new(open: bool) -> Self {
        Self { open: AtomicBool::new(open), waiting: AtomicUsize::new(0) }
    }

    fn is_open(&self) -> bool {
        self.open.load(Ordering::Acquire)
    }

    fn open(&self) {
        self.open.store(true, Ordering::Release);
    }

    fn pass(&self) {
        self.waiting.fetch_add(1, Ordering::AcqRel);
        while !self.is_open() {
            std::thread::yield_now();
        }
    }

    /// Returns when that many threads wait, or the gate is open.
    fn await_waiting(&self, threads: usize) {
        while !self.is_open() && self.waiting.load(Ordering::Acquire) < threads {
            std::thread::yield_now();
        }
    }
}

/// Whether an interrupt of the backend is pending.
pub(crate) fn interrupt_pending() -> bool {
    // SAFETY: an int that signal handlers of this thread set; read anew each time.
    unsafe { std::ptr::read_volatile(&raw const pg_sys::InterruptPending) != 0 }
}

/// Interrupts wait until this is dropped, also those that the server's own code looks for: while workers
/// run, the backend must not end.
struct InterruptsHeld(u32);

impl InterruptsHeld {
    fn new() -> Self {
        // SAFETY: a counter of this thread's, as HOLD_INTERRUPTS() of miscadmin.h uses it.
        unsafe {
            let before = pg_sys::InterruptHoldoffCount;
            pg_sys::InterruptHoldoffCount = before + 1;
            Self(before)
        }
    }
}

impl Drop for InterruptsHeld {
    fn drop(&mut self) {
        // An error that was caught meanwhile has set the counter to 0, so it is not counted down.
        // SAFETY: as in `new`.
        unsafe { pg_sys::InterruptHoldoffCount = self.0 };
    }
}

/// Calls a function when it goes out of scope.
struct OnDrop<F: Fn()>(F);

impl<F: Fn()> Drop for OnDrop<F> {
    fn drop(&mut self) {
        (self.0)();
    }
}

/// All signals blocked in this thread, for threads it starts to inherit that; undone on drop.
struct SignalsBlocked(libc::sigset_t);

impl SignalsBlocked {
    fn new() -> Self {
        // SAFETY: both sets are valid memory for the calls, which only write to them and to the
        // mask of this thread.
        unsafe {
            let mut all = std::mem::zeroed();
            let mut before = std::mem::zeroed();
            libc::sigfillset(&raw mut all);
            libc::pthread_sigmask(libc::SIG_SETMASK, &raw const all, &raw mut before);
            Self(before)
        }
    }
}

impl Drop for SignalsBlocked {
    fn drop(&mut self) {
        // SAFETY: the mask that was in force before.
        unsafe { libc::pthread_sigmask(libc::SIG_SETMASK, &raw const self.0, std::ptr::null_mut()) };
    }
}
