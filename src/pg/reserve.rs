//! Memory kept back for the moment when there is none left.
//!
//! Data-sized allocations may fail (`crate::memory`), and the call ends in an error. The small ones
//! in between, of the standard library and others, cannot: where the allocator refuses, Rust
//! aborts, and with the backend the whole server restarts. So an allocator stands before the
//! system's that holds some blocks and gives them up, one by one, to such small requests; soon after
//! a data-sized one fails and the call ends in order. The next call fills the reserve again.

use std::alloc::{GlobalAlloc, Layout, System};
use std::ptr::null_mut;
use std::sync::Once;
use std::sync::atomic::{AtomicPtr, AtomicUsize, Ordering};

/// Blocks of a size that the C library takes from its heap, where what is freed can be used for anything.
const BLOCKS: usize = 16;
const BLOCK: Layout = match Layout::from_size_align(64 << 10, 16) {
    Ok(layout) => layout,
    Err(_) => unreachable!(),
};

struct Reserve {
    blocks: [AtomicPtr<u8>; BLOCKS],
    held: AtomicUsize,
}

#[global_allocator]
static RESERVE: Reserve =
    Reserve { blocks: [const { AtomicPtr::new(null_mut()) }; BLOCKS], held: AtomicUsize::new(0) };

/// Fills the reserve as far as there is memory; one load if it is full. For the start of every call.
pub fn fill() {
    if RESERVE.held.load(Ordering::Relaxed) < BLOCKS {
        for place in &RESERVE.blocks {
            if place.load(Ordering::Relaxed).is_null() {
                // SAFETY: the size is not 0.
                let block = unsafe { System.alloc(BLOCK) };
                if block.is_null() {
                    return;
                }
                place.store(block, Ordering::Release);
                RESERVE.held.fetch_add(1, Ordering::Relaxed);
            }
        }
    }
}

/// Lets the C library give freed memory back to the system. By default it takes the largest block that was ever
/// freed for a measure of what to keep, in the heap of every thread: up to 64 MB each, beside what is counted.
pub fn keep_little() {
    static ONCE: Once = Once::new();
    // SAFETY: sets two limits of the allocator, under its lock.
    #[cfg(target_env = "gnu")]
    ONCE.call_once(|| unsafe {
        libc::mallopt(libc::M_MMAP_THRESHOLD, 2 << 20);
        libc::mallopt(libc::M_TRIM_THRESHOLD, 4 << 20);
    });
}

impl Reserve {
    /// Frees a block; false if there is none left.
    #[cold]
    fn give_up_one(&self) -> bool {
        self.blocks.iter().any(|place| {
            let block = place.swap(null_mut(), Ordering::Acquire);
            if block.is_null() {
                return false;
            }
            self.held.fetch_sub(1, Ordering::Relaxed);
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
        // SAFETY: as the caller promises.
        let got = unsafe { System.alloc(layout) };
        // SAFETY: the same.
        if got.is_null() { self.again(layout.size(), || unsafe { System.alloc(layout) }) } else { got }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        // SAFETY: as the caller promises.
        let got = unsafe { System.alloc_zeroed(layout) };
        // SAFETY: the same.
        if got.is_null() { self.again(layout.size(), || unsafe { System.alloc_zeroed(layout) }) } else { got }
    }

    unsafe fn realloc(&self, old: *mut u8, layout: Layout, size: usize) -> *mut u8 {
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
