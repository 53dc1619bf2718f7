//! Memory kept back for the moment when there is none left.
//!
//! Data-sized allocations may fail (`crate::memory`), and the call ends in an error. The small ones
//! in between, of the standard library and others, cannot: where the allocator refuses, Rust
//! aborts, and with the backend the whole server restarts. So an allocator stands before the
//! system's that holds some blocks and gives them up, one by one, to such small requests. From the first
//! of them on memory is short: data-sized allocations fail, and so does work that looks whether to stop;
//! so the call ends in order before the reserve does. The next call fills it again.

use std::alloc::{GlobalAlloc, Layout, System};
use std::ptr::null_mut;
use std::sync::Once;
use std::sync::atomic::{AtomicBool, AtomicPtr, AtomicUsize, Ordering};

use crate::memory;

/// Blocks of a size that the C library takes from its heap, where what is freed can be used for anything.
const BLOCKS: usize = 16;
const BLOCK: Layout = match Layout::from_size_align(64 << 10, 16) {
    Ok(layout) => layout,
    Err(_) => unreachable!(),
};

struct Reserve {
    blocks: [AtomicPtr<u8>; BLOCKS],
    held: AtomicUsize,
    /// Whether there were large blocks since memory was given back.
    had_large: AtomicBool,
}

/// What makes it worth while to look for memory to give back.
const LARGE: usize = 1 << 20;

#[global_allocator]
static RESERVE: Reserve = Reserve {
    blocks: [const { AtomicPtr::new(null_mut()) }; BLOCKS],
    held: AtomicUsize::new(0),
    had_large: AtomicBool::new(false),
};

/// Fills the reserve as far as there is memory; one load if it is full. For the start of every call.
pub(crate) fn fill() {
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
        // With less than half of them a call might come to its end with none left.
        memory::set_short(RESERVE.held.load(Ordering::Relaxed) < BLOCKS / 2);
    }
}

/// Whether there is memory for what a new thread needs before it works. A thread that finds none for its own variables
/// ends the process: the C library knows no other answer.
pub(crate) fn has_room() -> bool {
    // SAFETY: the size is not 0, and what is allocated is freed with the same layout.
    unsafe {
        let block = System.alloc(BLOCK);
        if !block.is_null() {
            System.dealloc(block, BLOCK);
        }
        !block.is_null()
    }
}

/// Lets the C library give freed memory back to the system. By default it takes the largest block that was ever
/// freed for a measure of what to keep, in the heap of every thread: up to 64 MB each, beside what is counted.
pub(crate) fn keep_little() {
    static ONCE: Once = Once::new();
    // SAFETY: sets limits of the allocator, under its lock.
    #[cfg(target_env = "gnu")]
    ONCE.call_once(|| unsafe {
        libc::mallopt(libc::M_MMAP_THRESHOLD, 2 << 20);
        libc::mallopt(libc::M_TRIM_THRESHOLD, 4 << 20);
        // A heap for every thread takes 64 MB of addresses at once and for good. Where there is no end of them that
        // costs nothing, and threads do not wait for each other; where there is, they share the process's heap: a
        // thread that found no room for its own would have to ask the system for every single block.
        if addresses_are_limited() {
            libc::mallopt(libc::M_ARENA_MAX, 1);
        }
    });
}

/// Whether the process may have only so much address space (`ulimit -v`).
#[cfg(target_env = "gnu")]
fn addresses_are_limited() -> bool {
    let mut limit = libc::rlimit { rlim_cur: libc::RLIM_INFINITY, rlim_max: libc::RLIM_INFINITY };
    // SAFETY: writes to the struct.
    unsafe { libc::getrlimit(libc::RLIMIT_AS, &raw mut limit) };
    limit.rlim_cur != libc::RLIM_INFINITY
}

/// Gives freed memory back to the system after a call that ran out of it or had large blocks, and is one load after
/// any other. By itself the C library does so only with what lies at the end of a heap.
pub(crate) fn give_back(ran_out: bool) {
    if ran_out || RESERVE.had_large.load(Ordering::Relaxed) {
        RESERVE.had_large.store(false, Ordering::Relaxed);
        // SAFETY: looks through the heaps, under their locks.
        #[cfg(target_env = "gnu")]
        unsafe {
            libc::malloc_trim(0)
        };
    }
}

impl Reserve {
    #[inline]
    fn look_at(&self, size: usize) {
        if size >= LARGE {
            self.had_large.store(true, Ordering::Relaxed);
        }
    }

    /// Frees a block; false if there is none left.
    #[cold]
    fn give_up_one(&self) -> bool {
        self.blocks.iter().any(|place| {
            let block = place.swap(null_mut(), Ordering::Acquire);
            if block.is_null() {
                return false;
            }
            self.held.fetch_sub(1, Ordering::Relaxed);
            memory::set_short(true);
            // SAFETY: allocated in `fill` with this layout, and the swap made it ours alone.
            unsafe { System.dealloc(block, BLOCK) };
            true
        })
    }

    /// Tries again with the help of the reserve. Requests as large as a block are of those that may fail.
    #[cold]
    fn again(&self, size: usize, try_once: impl Fn() -> *mut u8) -> *mut u8 {
        let mut got: *mut u8 = null_mut();
        while got.is_null() && size < BLOCK.size() && self.give_up_one() {
            got = try_once();
        }
        got
    }
}

// SAFETY: every request goes to the system's allocator as it is; a refused one again, unchanged.
unsafe impl GlobalAlloc for Reserve {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        self.look_at(layout.size());
        // SAFETY: as the caller promises.
        let got = unsafe { System.alloc(layout) };
        // SAFETY: the same.
        if got.is_null() { self.again(layout.size(), || unsafe { System.alloc(layout) }) } else { got }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        self.look_at(layout.size());
        // SAFETY: as the caller promises.
        let got = unsafe { System.alloc_zeroed(layout) };
        // SAFETY: the same.
        if got.is_null() { self.again(layout.size(), || unsafe { System.alloc_zeroed(layout) }) } else { got }
    }

    unsafe fn realloc(&self, old: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        self.look_at(size);
        // SAFETY: as the caller promises.
        let got = unsafe { System.realloc(old, layout, size) };
        // SAFETY: the same; a refused realloc leaves the old block as it was.
        if got.is_null() { self.again(size, || unsafe { System.realloc(old, layout, size) }) } else { got }
    }

    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        // SAFETY: as the caller promises.
        unsafe { System.dealloc(block, layout) }
    }
}
