//! Prefetches memory, so that the processor need not wait for one memory access after the other.
#![allow(unsafe_code)] // A processor instruction, which reads nothing.

/// Prefetches the item at index `at`, if there is one. On processors without prefetch it does
/// nothing.
#[inline(always)]
pub fn prefetch<T>(items: &[T], at: usize) {
    #[cfg(target_arch = "x86_64")]
    if let Some(item) = items.get(at) {
        // SAFETY: every x86-64 has SSE.
        unsafe { x86::prefetch(item) }
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = (items, at);
}

#[cfg(target_arch = "x86_64")]
mod x86 {
    use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};

    #[inline]
    #[target_feature(enable = "sse")]
    pub(super) fn prefetch<T>(item: &T) {
        _mm_prefetch::<_MM_HINT_T0>(std::ptr::from_ref(item).cast());
    }
}
