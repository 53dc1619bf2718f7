//! Worker threads inside a backend.
//!
//! The rules: a worker never calls PostgreSQL; all signals are blocked in workers, so that the
//! server's signal handlers run only in the leader, which is the backend's own thread; no worker
//! outlives the call that started it.
//! The leader only waits. When an interrupt is pending, the leader stops and joins the workers
//! *before* it processes the interrupt, because processing may end the process without unwinding
//! (FATAL) or raise an error. If the interrupt was harmless, the work continues where it stopped.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

use pgrx::pg_sys;

use super::{allocator, settings};
use neardup_core::error::{Error, Result};
use neardup_core::executor::{self, Executor, PlainThreads, Stop, Task};

/// The greatest number of threads that worked at a time since [`begin_count`].
static WORKED: AtomicUsize = AtomicUsize::new(0);

/// Begins to count the threads of another call.
pub(crate) fn begin_count() {
    WORKED.store(0, Ordering::Relaxed);
}

/// Returns the greatest number of threads that worked at a time since the call began: none if the
/// work was so little that the backend did it itself.
pub(crate) fn worked() -> usize {
    WORKED.load(Ordering::Relaxed)
}

/// The worker threads of this backend.
#[derive(Debug, Clone, Copy)]
pub(crate) struct BackendExecutor {
    threads: usize,
    /// See [`Executor::scale`].
    scale: f64,
}

impl BackendExecutor {
    /// Returns an executor with as many threads as `neardup.threads` says, but no more threads than
    /// there are processors: further threads would take processor time from each other, and from
    /// the leader, for which they wait.
    pub(crate) fn new() -> Self {
        static PROCESSORS: OnceLock<usize> = OnceLock::new();
        // If the system does not report the number, there is no limit.
        let processors = || std::thread::available_parallelism().map_or(usize::MAX, usize::from);
        Self { threads: settings::threads().min(*PROCESSORS.get_or_init(processors)), scale: 1.0 }
    }

    /// Returns an executor with a single thread, for work that only has to be interruptible.
    pub(crate) const fn single() -> Self {
        Self { threads: 1, scale: 1.0 }
    }

    /// Returns this executor for work on a sample: `scale` records stand for each of its records.
    pub(crate) fn for_sample(self, scale: f64) -> Self {
        Self { scale, ..self }
    }
}

impl Executor for BackendExecutor {
    fn count(&self) -> usize {
        self.threads
    }

    fn scale(&self) -> f64 {
        self.scale
    }

    fn run(&self, threads: usize, work: &Task<'_>) -> Result<()> {
        self.run_beside(threads, work, &mut || {})
    }

    fn run_beside(&self, threads: usize, work: &Task<'_>, beside: &mut dyn FnMut()) -> Result<()> {
        allocator::give_back_much();
        loop {
            pgrx::check_for_interrupts!();
            match run_until_interrupt(threads.clamp(1, self.threads), work, beside) {
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

/// Returns the executor for work on texts with `bytes` bytes, or for other work that takes as long.
/// The work runs in a worker thread if it may take so long that it should be interruptible.
fn executor_for(bytes: usize) -> &'static dyn Executor {
    const LONG: usize = 1 << 18;
    static HERE: PlainThreads = PlainThreads(1);
    static BESIDE: BackendExecutor = BackendExecutor::single();
    if bytes < LONG { &HERE } else { &BESIDE }
}

/// Makes a value by such work. `make` begins again if an interrupt stopped it.
pub(crate) fn compute<T: Send>(bytes: usize, make: impl Fn(&Stop) -> Result<T> + Sync) -> Result<T> {
    compute_with(bytes, &mut (), |(), stop| make(stop))
}

/// Makes a value like [`compute`], with a state that may stay as it is when the work is stopped.
pub(crate) fn compute_with<S: Send, T: Send>(
    bytes: usize,
    state: &mut S,
    make: impl Fn(&mut S, &Stop) -> Result<T> + Sync,
) -> Result<T> {
    let mut both = (state, None);
    executor::one(executor_for(bytes), &mut both, |(state, made), stop| {
        *made = Some(make(state, stop)?);
        Ok(())
    })?;
    both.1.ok_or(Error::Stopped)
}

/// Runs the workers until they are done or an interrupt is pending, and joins all of them before it
/// returns. While the workers run, the leader calls `beside` again and again; interrupts wait until
/// `beside` ends.
fn run_until_interrupt(threads: usize, work: &Task<'_>, beside: &mut dyn FnMut()) -> Result<()> {
    // Called before the first thread starts, because the call may make all threads share one heap.
    // A thread that found no room for a heap of its own could not use the freed memory that the C
    // library keeps.
    allocator::keep_little();
    let stop = &Stop::default();
    let running = &AtomicUsize::new(0);
    let leader = std::thread::current();
    // If a new thread finds no memory for its own variables, the C library ends the process. So if
    // memory is short, all threads start before the first one works and takes more memory.
    let gate = &Gate::new(is_roomy(ROOM_OF_THREADS));
    std::thread::scope(|scope| {
        let mut executor = Vec::new();
        let mut failed = None;
        let signals = block_signals();
        for n in 0..threads {
            if !gate.is_open() && !allocator::has_room() {
                failed = Some(Error::OutOfMemory { doing: "starting threads" });
                break;
            }
            running.fetch_add(1, Ordering::SeqCst);
            let leader = leader.clone();
            let spawned =
                std::thread::Builder::new().name(format!("neardup {n}")).spawn_scoped(scope, move || {
                    // Also notifies the leader if the work panics.
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
                    // With fewer threads the work is the same, only slower.
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
        WORKED.fetch_max(executor.len(), Ordering::Relaxed);
        lead(running, stop, beside);
        // A panic of a worker continues in the leader, where pgrx turns it into an error.
        let results: Vec<Result<()>> = executor
            .into_iter()
            .map(|worker| worker.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)))
            .collect();
        // A real error takes precedence over a stop.
        let stopped = results.contains(&Err(Error::Stopped));
        results.into_iter().find(|r| !matches!(r, Ok(()) | Err(Error::Stopped))).unwrap_or(Ok(()))?;
        if stopped { Err(Error::Stopped) } else { Ok(()) }
    })
}

/// Calls `beside` again and again until the workers are done, or asks them to stop if an interrupt
/// is pending.
fn lead(running: &AtomicUsize, stop: &Stop, beside: &mut dyn FnMut()) {
    const LOOK_EVERY: Duration = Duration::from_millis(5);
    loop {
        let held = hold_interrupts();
        // If it fails, the scope waits for the workers before the error leaves it.
        let failing = OnDrop(|| stop.request());
        beside();
        std::mem::forget(failing);
        drop(held);
        if running.load(Ordering::SeqCst) == 0 {
            return;
        }
        if interrupt_pending() {
            stop.request();
            return;
        }
        std::thread::park_timeout(LOOK_EVERY);
    }
}

/// If the system has at least this many free bytes, starting threads cannot use up all of them.
const ROOM_OF_THREADS: usize = 1 << 30;
/// More bytes than the stack of a thread takes. If the system has this many free bytes and a thread
/// does not start, the reason is not a lack of memory.
const ROOM_OF_A_STACK: usize = 4 << 20;

/// Reports whether the system would currently provide this many bytes.
fn is_roomy(bytes: usize) -> bool {
    // SAFETY: a new mapping at a place of the system's choice, removed at once.
    unsafe {
        let access = libc::PROT_READ | libc::PROT_WRITE;
        let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS;
        let mapping = libc::mmap(std::ptr::null_mut(), bytes, access, flags, -1, 0);
        mapping != libc::MAP_FAILED && libc::munmap(mapping, bytes) == 0
    }
}

/// A gate where threads wait until all threads have started. If it is open from the start, they do
/// not wait.
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

    /// Returns when at least `threads` threads wait or when the gate is open.
    fn await_waiting(&self, threads: usize) {
        while !self.is_open() && self.waiting.load(Ordering::Acquire) < threads {
            std::thread::yield_now();
        }
    }
}

/// Reports whether an interrupt of the backend is pending.
pub(crate) fn interrupt_pending() -> bool {
    // SAFETY: an int that signal handlers of this thread set; read again each time.
    unsafe { std::ptr::read_volatile(&raw const pg_sys::InterruptPending) != 0 }
}

/// Holds back interrupts until the result is dropped. This includes interrupts for which the
/// server's own code checks: while workers run, the backend must not end.
pub(super) fn hold_interrupts() -> OnDrop<impl Fn()> {
    // SAFETY: a counter of this thread, used like HOLD_INTERRUPTS() of miscadmin.h. An error that
    // was caught meanwhile has set the counter to 0, so the old value is restored instead of
    // counting down.
    unsafe {
        let before = pg_sys::InterruptHoldoffCount;
        pg_sys::InterruptHoldoffCount = before + 1;
        OnDrop(move || pg_sys::InterruptHoldoffCount = before)
    }
}

/// Calls a function when it goes out of scope, also after an error.
pub(crate) struct OnDrop<F: Fn()>(pub F);

impl<F: Fn()> Drop for OnDrop<F> {
    fn drop(&mut self) {
        (self.0)();
    }
}

/// Blocks all signals in this thread, so that threads it starts inherit the mask. When the result
/// is dropped, the previous mask is restored.
fn block_signals() -> OnDrop<impl Fn()> {
    // SAFETY: the sets are valid memory for the calls, which only write to them and to the mask of
    // this thread.
    unsafe {
        let (mut all, mut before) = (std::mem::zeroed(), std::mem::zeroed());
        libc::sigfillset(&raw mut all);
        libc::pthread_sigmask(libc::SIG_SETMASK, &raw const all, &raw mut before);
        OnDrop(move || {
            libc::pthread_sigmask(libc::SIG_SETMASK, &raw const before, std::ptr::null_mut());
        })
    }
}
