//! Pages of the index through the server's buffers, changes of them through generic WAL. No other
//! file touches a pointer to a page.

use std::marker::PhantomData;

use pgrx::PgSqlErrorCode;
use pgrx::pg_sys;

use super::format::{CONTENTS, HEADER, Kind, NONE, PAGE, Tail};
use crate::pg::encoding;
use crate::pg::error::SqlError;

const _: () = assert!(PAGE == pg_sys::BLCKSZ as usize);

/// An open index.
#[derive(Debug, Clone, Copy)]
pub struct Index {
    relation: pg_sys::Relation,
    strategy: pg_sys::BufferAccessStrategy,
}

/// A page that is not what was looked for: it was freed meanwhile, or it is corrupted.
#[derive(Debug, Clone, Copy)]
pub struct Moved {
    /// The page.
    pub block: u32,
}

/// What may come upon a page that is something else by now.
pub type Looked<T> = std::result::Result<T, Moved>;

impl Index {
    /// An index that the server has opened.
    ///
    /// # Safety
    /// `relation` is open as long as this value and its pages are used.
    pub unsafe fn new(relation: pg_sys::Relation) -> Self {
        Self { relation, strategy: std::ptr::null_mut() }
    }

    /// The same index, read through a ring of buffers that the server made, or with all of them.
    #[must_use]
    pub fn with(self, strategy: pg_sys::BufferAccessStrategy) -> Self {
        Self { strategy, ..self }
    }

    /// The same index, read through a small ring of buffers: to go through much of it once.
    #[must_use]
    pub fn in_bulk(self) -> Self {
        // SAFETY: makes a ring in the current memory context, with which it goes.
        self.with(unsafe { pg_sys::GetAccessStrategy(pg_sys::BufferAccessStrategyType::BAS_BULKREAD) })
    }

    /// The server's description of it.
    pub fn relation(self) -> pg_sys::Relation {
        self.relation
    }

    /// Its name.
    pub fn name(self) -> String {
        // SAFETY: an open relation has a row of pg_class, whose name is a C string.
        unsafe { encoding::c_string((*(*self.relation).rd_rel).relname.data.as_ptr()) }
    }

    /// Its number of pages. Every page of these is locked or no longer new.
    pub fn blocks(self) -> u32 {
        // SAFETY: an open relation. Who extends it locks the new page before it lets the others extend.
        unsafe {
            let lock = pg_sys::ExclusiveLock as i32;
            pg_sys::LockRelationForExtension(self.relation, lock);
            let blocks = self.blocks_now();
            pg_sys::UnlockRelationForExtension(self.relation, lock);
            blocks
        }
    }

    /// Its number of pages, the last of which may not be written yet.
    pub fn blocks_now(self) -> u32 {
        // SAFETY: an open relation.
        unsafe { pg_sys::RelationGetNumberOfBlocksInFork(self.relation, pg_sys::ForkNumber::MAIN_FORKNUM) }
    }

    /// Ends the call: the page says what it cannot say.
    pub fn corrupted(self, block: u32, what: &str) -> ! {
        let name = self.name();
        SqlError::new(
            PgSqlErrorCode::ERRCODE_INDEX_CORRUPTED,
            format!("index \"{name}\" is corrupted in block {block}: {what}"),
        )
        .hint(format!("Please REINDEX it: REINDEX INDEX \"{name}\";"))
        .raise()
    }

    /// Pins a page and locks it for reading.
    pub fn read(self, block: u32) -> Page {
        self.get(block, pg_sys::BUFFER_LOCK_SHARE)
    }

    /// Pins a page and locks it for writing.
    pub fn write(self, block: u32) -> Page {
        self.get(block, pg_sys::BUFFER_LOCK_EXCLUSIVE)
    }

    fn get(self, block: u32, lock: u32) -> Page {
        // SAFETY: an open relation; the server raises an error for blocks that it does not have.
        unsafe {
            let fork = pg_sys::ForkNumber::MAIN_FORKNUM;
            let mode = pg_sys::ReadBufferMode::RBM_NORMAL;
            let buffer = pg_sys::ReadBufferExtended(self.relation, fork, block, mode, self.strategy);
            pg_sys::LockBuffer(buffer, lock as i32);
            Page::new(buffer)
        }
    }

    /// The page, read, if it is what it should be.
    pub fn expect(self, block: u32, kind: Kind, id: u64, number: u32) -> Looked<Page> {
        let page = self.read(block);
        page.is(kind, id, number).then_some(page).ok_or(Moved { block })
    }

    /// A page that belongs to nobody, locked for writing: a free one, or one at the end.
    pub fn new_page(self) -> Page {
        // SAFETY: an open relation. Blocks of the map may be anything: only empty and deleted ones
        // are taken, and only if nobody else looks at them.
        unsafe {
            loop {
                let block = pg_sys::GetFreeIndexPage(self.relation);
                if block == NONE {
                    return self.extend(pg_sys::ForkNumber::MAIN_FORKNUM);
                }
                if block == 0 || block >= self.blocks_now() {
                    continue;
                }
                let fork = pg_sys::ForkNumber::MAIN_FORKNUM;
                let mode = pg_sys::ReadBufferMode::RBM_NORMAL;
                let buffer = pg_sys::ReadBufferExtended(self.relation, fork, block, mode, self.strategy);
                if !pg_sys::ConditionalLockBuffer(buffer) {
                    pg_sys::ReleaseBuffer(buffer);
                    continue;
                }
                let page = Page::new(buffer);
                if page.is_free() {
                    return page;
                }
            }
        }
    }

    fn extend(self, fork: pg_sys::ForkNumber::Type) -> Page {
        // SAFETY: an open relation; the block number that is none asks for a new page at the end.
        unsafe {
            let lock = pg_sys::ExclusiveLock as i32;
            pg_sys::LockRelationForExtension(self.relation, lock);
            let mode = pg_sys::ReadBufferMode::RBM_NORMAL;
            let buffer = pg_sys::ReadBufferExtended(self.relation, fork, NONE, mode, self.strategy);
            pg_sys::LockBuffer(buffer, pg_sys::BUFFER_LOCK_EXCLUSIVE as i32);
            pg_sys::UnlockRelationForExtension(self.relation, lock);
            Page::new(buffer)
        }
    }

    /// Writes a page with these contents where there is room, and says where.
    pub fn add(self, tail: Tail, contents: &[u8], logging: Logging) -> u32 {
        let page = match logging {
            Logging::Now => self.new_page(),
            // A new index has no free pages.
            Logging::AtEnd => self.extend(pg_sys::ForkNumber::MAIN_FORKNUM),
        };
        match logging {
            Logging::Now => {
                let mut record = Record::new(self);
                record.initialise(&page, tail, |copy| copy.fill(contents));
                record.commit();
            }
            Logging::AtEnd => {
                // SAFETY: the buffer's own page, locked for writing, of a relation that nobody else
                // sees and that is logged at the end.
                unsafe {
                    let mut image = Image::initialised(page.start(), tail);
                    image.fill(contents);
                    pg_sys::MarkBufferDirty(page.buffer);
                }
            }
        }
        page.block()
    }

    /// Writes other contents to a page, locked for writing, of an index that is logged at the end.
    pub fn rewrite(self, page: &Page, contents: &[u8]) {
        // SAFETY: the buffer's own page, locked for writing, of a relation that nobody else sees.
        unsafe {
            Image { start: page.start().cast(), page: PhantomData }.fill(contents);
            pg_sys::MarkBufferDirty(page.buffer);
        }
    }

    /// Logs all pages of an index that was built without that.
    pub fn log_all(self) {
        if self.is_logged() {
            let fork = pg_sys::ForkNumber::MAIN_FORKNUM;
            // SAFETY: an open relation; all its pages have the standard header.
            unsafe { pg_sys::log_newpage_range(self.relation, fork, 0, self.blocks_now(), true) };
        }
    }

    /// RelationNeedsWAL of rel.h.
    fn is_logged(self) -> bool {
        // SAFETY: an open relation.
        unsafe {
            let relation = &*self.relation;
            let permanent = (*relation.rd_rel).relpersistence as u8 == pg_sys::RELPERSISTENCE_PERMANENT;
            let level = pg_sys::wal_level;
            permanent
                && (level >= pg_sys::WalLevel::WAL_LEVEL_REPLICA as i32
                    || (relation.rd_createSubid == 0 && relation.rd_firstRelfilenodeSubid == 0))
        }
    }

    /// Writes the only page of an empty unlogged index.
    pub fn write_init_fork(self, tail: Tail, contents: &[u8]) {
        let fork = pg_sys::ForkNumber::INIT_FORKNUM;
        let page = self.extend(fork);
        // SAFETY: the buffer's own page, locked for writing; logged by hand because generic WAL leaves
        // out unlogged relations. Logging locks the page itself.
        unsafe {
            Image::initialised(page.start(), tail).fill(contents);
            pg_sys::MarkBufferDirty(page.buffer);
            drop(page);
            pg_sys::log_newpage_range(self.relation, fork, 0, 1, true);
        }
    }

    /// Stamps pages as deleted and offers them for reuse. Nothing may refer to them any more.
    pub fn free(self, blocks: impl IntoIterator<Item = u32>) {
        for block in blocks {
            pgrx::check_for_interrupts!();
            let page = self.write(block);
            if !page.is_free() {
                let mut record = Record::new(self);
                record.initialise(&page, Tail::new(Kind::Deleted, 0, 0), |_| ());
                record.commit();
            }
            drop(page);
            self.offer(block);
        }
    }

    /// Tells the free space map of a page.
    pub fn offer(self, block: u32) {
        // SAFETY: an open relation.
        unsafe { pg_sys::RecordFreeIndexPage(self.relation, block) };
    }

    /// Makes the upper levels of the free space map right.
    pub fn tidy_map(self) {
        // SAFETY: an open relation.
        unsafe { pg_sys::IndexFreeSpaceMapVacuum(self.relation) };
    }
}

/// When new pages are logged.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Logging {
    /// Each when it is written.
    Now,
    /// All by [`Index::log_all`].
    AtEnd,
}

/// A page, pinned and locked; released when it is dropped.
#[derive(Debug)]
pub struct Page {
    buffer: pg_sys::Buffer,
}

impl Page {
    /// # Safety
    /// The buffer is pinned and locked, and both are left to this value.
    unsafe fn new(buffer: pg_sys::Buffer) -> Self {
        Self { buffer }
    }

    fn start(&self) -> pg_sys::Page {
        // SAFETY: a pinned buffer.
        unsafe { pg_sys::BufferGetPage(self.buffer) }
    }

    fn bytes(&self) -> &[u8] {
        // SAFETY: a page that is locked as long as this value lives.
        unsafe { std::slice::from_raw_parts(self.start().cast(), PAGE) }
    }

    /// Its number.
    pub fn block(&self) -> u32 {
        // SAFETY: a pinned buffer.
        unsafe { pg_sys::BufferGetBlockNumber(self.buffer) }
    }

    /// Where its contents end, from their beginning; none if the header is not that of a page of ours.
    fn end(&self) -> Option<usize> {
        // SAFETY: every page begins with space for a header, of which any bytes are valid.
        let header = unsafe { &*self.start().cast::<pg_sys::PageHeaderData>() };
        let (lower, upper, special) = (header.pd_lower, header.pd_upper, header.pd_special);
        let in_order = HEADER <= lower.into() && lower <= upper && upper <= special;
        (in_order && usize::from(special) == PAGE - Tail::SIZE).then(|| usize::from(lower) - HEADER)
    }

    /// All zero, as a crash may leave it.
    pub fn is_new(&self) -> bool {
        // SAFETY: a pinned page.
        unsafe { pg_sys::PageIsNew(self.start()) }
    }

    /// Whether it may be taken.
    pub fn is_free(&self) -> bool {
        self.is_new() || self.kind() == Some(Kind::Deleted)
    }

    /// Its contents.
    pub fn contents(&self) -> &[u8] {
        &self.bytes()[HEADER..][..self.end().unwrap_or(0)]
    }

    /// Its tail.
    pub fn tail(&self) -> Tail {
        Tail::read(&self.bytes()[PAGE - Tail::SIZE..])
    }

    /// What it is; none if it is not a page of ours.
    pub fn kind(&self) -> Option<Kind> {
        self.end().and_then(|_| self.tail().kind())
    }

    /// Whether it is this page.
    pub fn is(&self, kind: Kind, id: u64, number: u32) -> bool {
        let tail = self.tail();
        self.kind() == Some(kind) && tail.id == id && tail.number == number
    }
}

impl Drop for Page {
    fn drop(&mut self) {
        // After an error the server releases pins and locks itself.
        if !std::thread::panicking() {
            // SAFETY: pinned and locked by us, released once.
            unsafe { pg_sys::UnlockReleaseBuffer(self.buffer) };
        }
    }
}

/// One WAL record: what it changes on its pages is done when it is committed, and not at all if it
/// is dropped. At most four pages.
#[derive(Debug)]
pub struct Record<'a> {
    state: *mut pg_sys::GenericXLogState,
    pages: PhantomData<&'a Page>,
}

impl<'a> Record<'a> {
    /// An empty record.
    pub fn new(index: Index) -> Self {
        // SAFETY: an open relation.
        Self { state: unsafe { pg_sys::GenericXLogStart(index.relation) }, pages: PhantomData }
    }

    /// Changes a page that is locked for writing.
    pub fn change(&mut self, page: &'a Page, change: impl FnOnce(&mut Image<'_>)) {
        // SAFETY: a buffer that stays locked at least as long as this record; the answer is a copy of
        // its page that lives as long as the record.
        unsafe {
            let copy = pg_sys::GenericXLogRegisterBuffer(self.state, page.buffer, 0);
            change(&mut Image { start: copy.cast(), page: PhantomData });
        }
    }

    /// Makes a new page of one that is locked for writing.
    pub fn initialise(&mut self, page: &'a Page, tail: Tail, change: impl FnOnce(&mut Image<'_>)) {
        // SAFETY: as in `change`.
        unsafe {
            let whole = pg_sys::GENERIC_XLOG_FULL_IMAGE as i32;
            let copy = pg_sys::GenericXLogRegisterBuffer(self.state, page.buffer, whole);
            change(&mut Image::initialised(copy, tail));
        }
    }

    /// Writes the record and the pages.
    pub fn commit(mut self) {
        let state = std::mem::replace(&mut self.state, std::ptr::null_mut());
        // SAFETY: started, finished once.
        unsafe { pg_sys::GenericXLogFinish(state) };
    }
}

impl Drop for Record<'_> {
    fn drop(&mut self) {
        if !self.state.is_null() && !std::thread::panicking() {
            // SAFETY: started and not finished.
            unsafe { pg_sys::GenericXLogAbort(self.state) };
        }
    }
}

/// A page to write to.
#[derive(Debug)]
pub struct Image<'a> {
    start: *mut u8,
    page: PhantomData<&'a mut Page>,
}

impl Image<'_> {
    /// # Safety
    /// `start` is a page that nobody else reads or writes.
    unsafe fn initialised(start: pg_sys::Page, tail: Tail) -> Self {
        // SAFETY: the caller's promise.
        unsafe { pg_sys::PageInit(start, PAGE, Tail::SIZE) };
        let mut image = Self { start: start.cast(), page: PhantomData };
        image.set_tail(tail);
        image
    }

    fn bytes(&mut self) -> &mut [u8] {
        // SAFETY: a page that only this value uses.
        unsafe { std::slice::from_raw_parts_mut(self.start, PAGE) }
    }

    /// All room for contents.
    pub fn contents(&mut self) -> &mut [u8] {
        &mut self.bytes()[HEADER..][..CONTENTS]
    }

    /// Says how much of that is used.
    pub fn set_used(&mut self, used: usize) {
        assert!(used <= CONTENTS, "a page has no room for {used} bytes");
        // SAFETY: every page begins with a header; the number fits.
        unsafe { (*self.start.cast::<pg_sys::PageHeaderData>()).pd_lower = (HEADER + used) as u16 };
    }

    /// These are the contents.
    pub fn fill(&mut self, contents: &[u8]) {
        self.contents()[..contents.len()].copy_from_slice(contents);
        self.set_used(contents.len());
    }

    /// Changes the tail.
    pub fn set_tail(&mut self, tail: Tail) {
        tail.write(&mut self.bytes()[PAGE - Tail::SIZE..]);
    }
}
