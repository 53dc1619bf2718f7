//! Changes of pages, as records of generic WAL.

use std::marker::PhantomData;

use pgrx::pg_sys;

use super::buffer::OpenIndex;
use super::page::{Image, LockedPage};
use crate::pg::index::layout::format::{PageKind, Tail};
use crate::pg::index::layout::items::HeapRow;

/// One WAL record of changes to at most four pages. The changes happen when the record is
/// committed. If it is dropped, they do not happen.
#[derive(Debug)]
pub(crate) struct Record<'a> {
    state: *mut pg_sys::GenericXLogState,
    pages: PhantomData<&'a LockedPage>,
}

impl<'a> Record<'a> {
    /// Starts an empty record.
    pub(crate) fn new(index: OpenIndex) -> Self {
        // SAFETY: an open relation.
        Self { state: unsafe { pg_sys::GenericXLogStart(index.relation()) }, pages: PhantomData }
    }

    /// Changes a page that is locked for writing.
    pub(crate) fn change(&mut self, page: &'a LockedPage, change: impl FnOnce(&mut Image<'_>)) {
        // SAFETY: the buffer stays locked at least as long as this record; the result is a copy of
        // its page that lives as long as the record.
        unsafe {
            let copy = pg_sys::GenericXLogRegisterBuffer(self.state, page.buffer, 0);
            change(&mut Image::at(copy));
        }
    }

    /// Initialises a page that is locked for writing as a new page.
    pub(crate) fn initialise(
        &mut self,
        page: &'a LockedPage,
        tail: Tail,
        change: impl FnOnce(&mut Image<'_>),
    ) {
        // SAFETY: as in `change`.
        unsafe {
            let whole = pg_sys::GENERIC_XLOG_FULL_IMAGE as i32;
            let copy = pg_sys::GenericXLogRegisterBuffer(self.state, page.buffer, whole);
            change(&mut Image::initialised(copy, tail));
        }
    }

    /// Flags the rows at `places` of a page as dead, and clears `places`. The page must be locked
    /// for writing. Most pages that VACUUM visits have no such rows, and for these pages nothing is
    /// copied.
    pub(crate) fn flag_dead(index: OpenIndex, page: &'a LockedPage, places: &mut Vec<usize>) {
        if places.is_empty() {
            return;
        }
        let mut record = Self::new(index);
        record.change(page, |image| {
            for at in places.drain(..) {
                let bytes = &mut image.contents()[at..at + HeapRow::SIZE];
                let row = HeapRow::read(bytes).with(HeapRow::DEAD);
                bytes.copy_from_slice(&row.0.to_le_bytes());
            }
        });
        record.commit();
    }

    /// Writes the record and the pages.
    pub(crate) fn commit(mut self) {
        let state = std::mem::replace(&mut self.state, std::ptr::null_mut());
        // SAFETY: the record was started and is finished once.
        unsafe { pg_sys::GenericXLogFinish(state) };
    }
}

impl Drop for Record<'_> {
    fn drop(&mut self) {
        if !self.state.is_null() && !std::thread::panicking() {
            // SAFETY: the record was started and is not finished.
            unsafe { pg_sys::GenericXLogAbort(self.state) };
        }
    }
}

/// The time at which new pages are logged.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Logging {
    /// Each page is logged when it is written.
    Now,
    /// All pages are logged by [`OpenIndex::log_all`].
    AtEnd,
}

impl OpenIndex {
    /// Writes a page with these contents, free or new, and returns its block.
    pub(crate) fn add(self, tail: Tail, contents: &[u8], logging: Logging) -> u32 {
        if logging == Logging::Now {
            let page = self.new_page();
            let mut record = Record::new(self);
            record.initialise(&page, tail, |copy| copy.fill(contents));
            record.commit();
            return page.block();
        }
        // A new index has no free pages.
        let page = self.extend(pg_sys::ForkNumber::MAIN_FORKNUM);
        page.rewrite(Some(tail), contents);
        page.block()
    }

    /// Marks pages as deleted and offers them for reuse. Nothing may refer to them any more.
    pub(crate) fn free(self, blocks: impl IntoIterator<Item = u32>) {
        for block in blocks {
            pgrx::check_for_interrupts!();
            let page = self.write(block);
            if !page.is_free() {
                let mut record = Record::new(self);
                record.initialise(&page, Tail::new(PageKind::Deleted, 0, 0), |_| ());
                record.commit();
            }
            drop(page);
            self.offer(block);
        }
    }
}
