//! A pinned and locked page in the server's buffers.

use std::marker::PhantomData;

use pgrx::pg_sys;

use crate::pg::index::layout::format::{CONTENTS, HEADER, PAGE, PageKind, Tail};
use neardup_core::simd::prefetch::prefetch;

/// A pinned and locked page, released when it is dropped.
#[derive(Debug)]
pub(crate) struct LockedPage {
    pub(crate) buffer: pg_sys::Buffer,
}

impl LockedPage {
    /// # Safety
    /// The buffer is pinned and locked, and this value takes over the pin and the lock.
    pub(crate) unsafe fn new(buffer: pg_sys::Buffer) -> Self {
        Self { buffer }
    }

    pub(crate) fn start(&self) -> pg_sys::Page {
        // SAFETY: a pinned buffer.
        unsafe { pg_sys::BufferGetPage(self.buffer) }
    }

    fn bytes(&self) -> &[u8] {
        // SAFETY: a page that stays locked as long as this value lives.
        unsafe { std::slice::from_raw_parts(self.start().cast(), PAGE) }
    }

    /// Prefetches the tail of the page, which is looked at together with its header.
    pub(super) fn prefetch_tail(&self) {
        prefetch(self.bytes(), PAGE - 1);
    }

    /// Returns the block number of the page.
    pub(crate) fn block(&self) -> u32 {
        // SAFETY: a pinned buffer.
        unsafe { pg_sys::BufferGetBlockNumber(self.buffer) }
    }

    /// Returns the length of the contents, or None if the header is not that of a page of ours.
    fn end(&self) -> Option<usize> {
        // SAFETY: every page begins with space for a header, for which any bytes are valid.
        let header = unsafe { &*self.start().cast::<pg_sys::PageHeaderData>() };
        let (lower, upper, special) = (header.pd_lower, header.pd_upper, header.pd_special);
        let in_order = HEADER <= lower.into() && lower <= upper && upper <= special;
        (in_order && usize::from(special) == PAGE - Tail::SIZE).then(|| usize::from(lower) - HEADER)
    }

    /// Reports whether the page is all zero, as a crash may leave it.
    pub(crate) fn is_new(&self) -> bool {
        // SAFETY: a pinned page.
        unsafe { pg_sys::PageIsNew(self.start()) }
    }

    /// Reports whether the page may be reused.
    pub(crate) fn is_free(&self) -> bool {
        self.is_new() || self.has(PageKind::Deleted)
    }

    /// Returns the contents of the page.
    pub(crate) fn contents(&self) -> &[u8] {
        &self.bytes()[HEADER..][..self.end().unwrap_or(0)]
    }

    /// Returns the tail of the page.
    pub(crate) fn tail(&self) -> Tail {
        Tail::read(&self.bytes()[PAGE - Tail::SIZE..])
    }

    /// Reports whether this is a page of ours, and of this kind.
    pub(crate) fn has(&self, kind: PageKind) -> bool {
        self.end().is_some() && self.tail().has(kind)
    }

    /// Replaces the contents of the page, and initialises it if there is a tail, without logging
    /// that. The page must be locked for writing, and no other backend may see its index.
    pub(crate) fn rewrite(&self, tail: Option<Tail>, contents: &[u8]) {
        // SAFETY: the buffer's own page, by the promise that is asked for.
        unsafe {
            let mut image = match tail {
                Some(tail) => Image::initialised(self.start(), tail),
                None => Image::at(self.start()),
            };
            image.fill(contents);
            pg_sys::MarkBufferDirty(self.buffer);
        }
    }

    /// Reports whether this is the page with this kind, id and number.
    pub(crate) fn is(&self, kind: PageKind, id: u64, number: u32) -> bool {
        let tail = self.tail();
        self.has(kind) && tail.id == id && tail.number == number
    }
}

impl Drop for LockedPage {
    fn drop(&mut self) {
        // After an error the server releases pins and locks itself.
        if !std::thread::panicking() {
            // SAFETY: we pinned and locked the buffer and release it once.
            unsafe { pg_sys::UnlockReleaseBuffer(self.buffer) };
        }
    }
}

/// A page that can be written.
#[derive(Debug)]
pub(crate) struct Image<'a> {
    start: *mut u8,
    page: PhantomData<&'a mut LockedPage>,
}

impl Image<'_> {
    /// Wraps an existing page.
    ///
    /// # Safety
    /// `start` is a page that no other backend reads or writes.
    pub(crate) unsafe fn at(start: pg_sys::Page) -> Self {
        Self { start: start.cast(), page: PhantomData }
    }

    /// Initialises a new page.
    ///
    /// # Safety
    /// As in [`Self::at`].
    pub(crate) unsafe fn initialised(start: pg_sys::Page, tail: Tail) -> Self {
        // SAFETY: the caller's promise.
        unsafe { pg_sys::PageInit(start, PAGE, Tail::SIZE) };
        // SAFETY: as above.
        let mut image = unsafe { Self::at(start) };
        image.set_tail(tail);
        image
    }

    fn bytes(&mut self) -> &mut [u8] {
        // SAFETY: a page that only this value uses.
        unsafe { std::slice::from_raw_parts_mut(self.start, PAGE) }
    }

    /// Returns the whole space for contents.
    pub(crate) fn contents(&mut self) -> &mut [u8] {
        &mut self.bytes()[HEADER..][..CONTENTS]
    }

    /// Sets the length of the contents.
    pub(crate) fn set_used(&mut self, used: usize) {
        assert!(used <= CONTENTS, "a page has no room for {used} bytes");
        // SAFETY: every page begins with a header; the number fits.
        unsafe { (*self.start.cast::<pg_sys::PageHeaderData>()).pd_lower = (HEADER + used) as u16 };
    }

    /// Replaces the contents of the page.
    pub(crate) fn fill(&mut self, contents: &[u8]) {
        self.contents()[..contents.len()].copy_from_slice(contents);
        self.set_used(contents.len());
    }

    /// Replaces the tail of the page.
    pub(crate) fn set_tail(&mut self, tail: Tail) {
        self.bytes()[PAGE - Tail::SIZE..].copy_from_slice(&tail.to_bytes());
    }
}
