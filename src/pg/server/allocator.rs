//! A memory reserve for the moment when no other memory is left.
//!
//! Allocations whose size depends on the data may fail (`neardup_core::memory`), and the call then
//! ends with an error. The small allocations in between, in the standard library and other crates,
//! cannot fail: if the allocator refuses one, Rust aborts the process, and the whole server
//! restarts. So an allocator is placed before the system's allocator. It holds some blocks of
//! memory, and when the system refuses a small request, it frees a block and repeats the request.
//! From the first freed block on, memory counts as short: allocations whose size depends on the
//! data fail, and so does work that checks whether to stop. So the call ends in an orderly way
//! before the reserve is used up. The next call fills the reserve again.
//!
//! A request that cannot fail has to be smaller than the reserve. Which requests can fail, the core
//! says ([`memory::request`]). In a server that is started with `NEARDUP_TEST_ALLOCATIONS`, builds
//! for tests write each request that cannot fail and is as large as a block of the reserve to the
//! server's log (pg_test/cluster/full/allocations.sh), whether memory is short or not.

use std::alloc::{GlobalAlloc, Layout, System};
use std::ptr::null_mut;
use std::sync::atomic::{AtomicBool, AtomicPtr, AtomicUsize, Ordering};
use std::sync::{Mutex, Once, PoisonError};
use std::time::Instant;

use neardup_core::allowance;
use neardup_core::memory::{self, MemoryRequest};

/// The number of blocks, and their size and alignment. The C library takes blocks of this size from
/// its heap, where freed memory can be used for any other request.
const BLOCKS: usize = 16;
const BLOCK: Layout = match Layout::from_size_align(64 << 10, 16) {
    Ok(layout) => layout,
    Err(_) => unreachable!(),
};

/// A block for what the server needs to report an error: a memory context that has grown asks for
/// a megabyte at once, and for no less.
const FOR_ERRORS: Layout = match Layout::from_size_align(3 << 19, 16) {
    Ok(layout) => layout,
    Err(_) => unreachable!(),
};

struct Reserve {
    blocks: [AtomicPtr<u8>; BLOCKS],
    for_errors: AtomicPtr<u8>,
    held: AtomicUsize,
    /// Set if a large block was requested since memory was last given back.
    had_large: AtomicBool,
}

/// The smallest size of a block for which it is worthwhile to give memory back to the system.
const LARGE: usize = 1 << 20;

#[global_allocator]
static RESERVE: Reserve = Reserve {
    blocks: [const { AtomicPtr::new(null_mut()) }; BLOCKS],
    for_errors: AtomicPtr::new(null_mut()),
    held: AtomicUsize::new(0),
    had_large: AtomicBool::new(false),
};

/// Fills the reserve as far as memory allows. If the reserve is full, this costs two loads.
/// Called at the start of every call.
pub(crate) fn fill() {
    if RESERVE.for_errors.load(Ordering::Relaxed).is_null() {
        // SAFETY: the size is not 0. Nothing is written to the block, so that it takes addresses
        // only.
        RESERVE.for_errors.store(unsafe { System.alloc(FOR_ERRORS) }, Ordering::Release);
    }
    if RESERVE.held.load(Ordering::Relaxed) < BLOCKS {
        for place in &RESERVE.blocks {
            if place.load(Ordering::Relaxed).is_null() {
                // SAFETY: the size is not 0.
                let block = unsafe { System.alloc(BLOCK) };
                if block.is_null() {
                    break;
                }
                place.store(block, Ordering::Release);
                RESERVE.held.fetch_add(1, Ordering::Relaxed);
            }
        }
        // With less than half of the blocks, a call might use up the reserve before it ends.
        memory::set_short(RESERVE.held.load(Ordering::Relaxed) < BLOCKS / 2);
    }
}

/// Gives up half of the reserve, for what the server needs to report an error: if it got no memory
/// for that, it would end all sessions. The next call fills the reserve again.
pub(crate) fn make_room_for_an_error() {
    let block = RESERVE.for_errors.swap(null_mut(), Ordering::Acquire);
    if !block.is_null() {
        // SAFETY: allocated in `fill` with this layout, and the swap gave it to us alone.
        unsafe { System.dealloc(block, FOR_ERRORS) };
    }
    while RESERVE.held.load(Ordering::Relaxed) > BLOCKS / 2 && RESERVE.give_up_one() {}
}

/// Reports whether there is memory for the data that a new thread needs before it starts work. If a
/// thread finds no memory for its own variables, the C library ends the process.
pub(crate) fn has_room() -> bool {
    // SAFETY: the size is not 0, and the allocation is freed with the same layout.
    unsafe {
        let block = System.alloc(BLOCK);
        if !block.is_null() {
            System.dealloc(block, BLOCK);
        }
        !block.is_null()
    }
}

/// Makes the C library give freed memory back to the system. By default, the amount that it keeps
/// in the heap of each thread depends on the largest block ever freed. It is up to 64 MB for each
/// thread, in addition to the counted memory.
pub(crate) fn keep_little() {
    static ONCE: Once = Once::new();
    // SAFETY: sets limits of the allocator, under its lock.
    #[cfg(target_env = "gnu")]
    ONCE.call_once(|| unsafe {
        libc::mallopt(libc::M_MMAP_THRESHOLD, 2 << 20);
        libc::mallopt(libc::M_TRIM_THRESHOLD, 4 << 20);
        // If every thread has its own heap, each heap takes 64 MB of the address space at once and
        // permanently. If the address space is unlimited, this costs nothing, and threads do not
        // wait for each other. If it is limited, the threads share the heap of the process: a
        // thread that found no room for its own heap would have to ask the system for every single
        // block.
        if addresses_are_limited() {
            libc::mallopt(libc::M_ARENA_MAX, 1);
        }
    });
}

/// Reports whether the address space of the process is limited (`ulimit -v`).
#[cfg(target_env = "gnu")]
fn addresses_are_limited() -> bool {
    let mut limit = libc::rlimit { rlim_cur: libc::RLIM_INFINITY, rlim_max: libc::RLIM_INFINITY };
    // SAFETY: writes to the struct.
    unsafe { libc::getrlimit(libc::RLIMIT_AS, &raw mut limit) };
    limit.rlim_cur != libc::RLIM_INFINITY
}

/// Gives freed memory back to the system after a call that ran out of memory or requested large
/// blocks. After any other call, this costs one load. Without this function, the C library gives
/// back only memory at the end of a heap.
pub(crate) fn give_back(ran_out: bool) {
    if ran_out || RESERVE.had_large.load(Ordering::Relaxed) {
        RESERVE.had_large.store(false, Ordering::Relaxed);
        // SAFETY: searches the heaps, under their locks.
        #[cfg(target_env = "gnu")]
        unsafe {
            libc::malloc_trim(0)
        };
    }
}

/// Gives freed memory back to the system if much was freed since it was last given back. Otherwise
/// memory that was freed below a block that stays, such as the documents of the last batch, is
/// there in addition to what the next step of the call holds, and no count sees it. Takes at most a
/// fiftieth of the time. The leader calls this while no worker runs.
pub(crate) fn give_back_much() {
    const MUCH: usize = 16 << 20;
    const SELDOM: u32 = 50;
    /// The most that was held, as far as it was seen, and when memory may be given back again.
    static SEEN: Mutex<(usize, Option<Instant>)> = Mutex::new((0, None));
    let held = allowance::held();
    let mut seen = SEEN.lock().unwrap_or_else(PoisonError::into_inner);
    seen.0 = seen.0.max(held);
    if seen.0 - held < MUCH || seen.1.is_some_and(|next| Instant::now() < next) {
        return;
    }
    let began = Instant::now();
    // SAFETY: searches the heaps, under their locks.
    #[cfg(target_env = "gnu")]
    unsafe {
        libc::malloc_trim(0)
    };
    *seen = (held, Instant::now().checked_add(began.elapsed() * SELDOM));
}

impl Reserve {
    #[inline]
    fn look_at(&self, size: usize) {
        if size >= LARGE {
            self.had_large.store(true, Ordering::Relaxed);
        }
        #[cfg(feature = "pg_test")]
        if size >= BLOCK.size() {
            report::large(size);
        }
    }

    /// Frees a block; returns false if there is none left.
    #[cold]
    fn give_up_one(&self) -> bool {
        self.blocks.iter().any(|place| {
            let block = place.swap(null_mut(), Ordering::Acquire);
            if block.is_null() {
                return false;
            }
            self.held.fetch_sub(1, Ordering::Relaxed);
            memory::set_short(true);
            // SAFETY: allocated in `fill` with this layout, and the swap gave it to us alone.
            unsafe { System.dealloc(block, BLOCK) };
            true
        })
    }

    /// Repeats a refused request after freeing blocks of the reserve, unless the code that makes
    /// the request handles a failure.
    #[cold]
    fn again(&self, try_once: impl Fn() -> *mut u8) -> *mut u8 {
        let mut got: *mut u8 = null_mut();
        while got.is_null() && memory::request() != MemoryRequest::Fallible && self.give_up_one() {
            got = try_once();
        }
        got
    }

    /// Serves a request for a block that has `from` bytes, to have `to` bytes. The block is counted
    /// unless the request is refused.
    #[inline]
    fn serve(&self, from: usize, to: usize, try_once: impl Fn() -> *mut u8) -> *mut u8 {
        // There is always room for a block that becomes smaller.
        if to > from {
            self.look_at(to);
        }
        let mut got = try_once();
        if got.is_null() {
            got = self.again(try_once);
        }
        if !got.is_null() {
            allowance::count(from, to);
        }
        got
    }
}

// SAFETY: every request goes to the system's allocator unchanged, also when a refused one is
// repeated.
unsafe impl GlobalAlloc for Reserve {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: by the caller's promise.
        self.serve(0, layout.size(), || unsafe { System.alloc(layout) })
    }

    // SAFETY: as `alloc`.
    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        // SAFETY: by the caller's promise.
        self.serve(0, layout.size(), || unsafe { System.alloc_zeroed(layout) })
    }

    // SAFETY: as `alloc`; of the old block, the system knows the layout by the caller's promise.
    unsafe fn realloc(&self, old: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        // SAFETY: by the caller's promise; a refused realloc leaves the old block as it was.
        self.serve(layout.size(), size, || unsafe { System.realloc(old, layout, size) })
    }

    // SAFETY: the block is the system's, since every block is, and its layout the caller's promise.
    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        allowance::count(layout.size(), 0);
        // SAFETY: by the caller's promise.
        unsafe { System.dealloc(block, layout) }
    }
}

/// Reports requests that cannot fail and are larger than the reserve can be relied on to hold.
#[cfg(feature = "pg_test")]
pub(crate) mod report {
    use std::backtrace::Backtrace;
    use std::cell::Cell;
    use std::sync::atomic::{AtomicBool, Ordering};

    use neardup_core::memory::{self, MemoryRequest};

    static ASKED: AtomicBool = AtomicBool::new(false);

    thread_local! {
        static REPORTING: Cell<bool> = const { Cell::new(false) };
    }

    /// Begins to report, if the environment of the server asks for it. Called when the library is
    /// loaded.
    pub(crate) fn begin() {
        ASKED.store(std::env::var_os("NEARDUP_TEST_ALLOCATIONS").is_some(), Ordering::Relaxed);
    }

    #[cold]
    pub(super) fn large(size: usize) {
        if memory::request() != MemoryRequest::Infallible
            || !ASKED.load(Ordering::Relaxed)
            || REPORTING.replace(true)
        {
            return;
        }
        eprintln!("memory allocation of {size} bytes cannot fail:\n{}", Backtrace::force_capture());
        REPORTING.set(false);
    }
}
