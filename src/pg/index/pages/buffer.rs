//! Pages of the index through the server's buffers. Besides this file only `page` and `record` touch a pointer to a page.

use pgrx::PgSqlErrorCode;
use pgrx::pg_sys;

use super::page::{Image, Page};
use crate::memory;
use crate::pg::compat;
use crate::pg::index::layout::format::{Kind, NONE, PAGE, Tail};
use crate::pg::server::encoding;
use crate::pg::server::error::{SqlError, or_raise};

const _: () = assert!(PAGE == pg_sys::BLCKSZ as usize);

/// An open index.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Index {
    relation: pg_sys::Relation,
    strategy: pg_sys::BufferAccessStrategy,
}

/// A page that is not what was looked for: it was freed meanwhile, or it is corrupted.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Moved {
    /// The page.
    pub block: u32,
}

/// What may come upon a page that is something else by now.
pub(crate) type Looked<T> = std::result::Result<T, Moved>;

impl Index {
    /// An index that the server has opened.
    ///
    /// # Safety
    /// `relation` is open as long as this value and its pages are used.
    pub(crate) unsafe fn new(relation: pg_sys::Relation) -> Self {
        Self { relation, strategy: std::ptr::null_mut() }
    }

    /// The same index, read through a ring of buffers that the server made, or with all of them.
    #[must_use]
    pub(crate) fn with(self, strategy: pg_sys::BufferAccessStrategy) -> Self {
        Self { strategy, ..self }
    }

    /// The same index, read through a small ring of buffers: to go through much of it once.
    #[must_use]
    pub(crate) fn in_bulk(self) -> Self {
        // SAFETY: makes a ring in the current memory context, with which it goes.
        self.with(unsafe { pg_sys::GetAccessStrategy(pg_sys::BufferAccessStrategyType::BAS_BULKREAD) })
    }

    /// The server's description of it.
    pub(crate) fn relation(self) -> pg_sys::Relation {
        self.relation
    }

    /// Its name.
    pub(crate) fn name(self) -> String {
        // SAFETY: an open relation has a row of pg_class, whose name is a C string.
        unsafe { encoding::c_string((*(*self.relation).rd_rel).relname.data.as_ptr()) }
    }

    /// Its name as SQL text needs it.
    pub(crate) fn quoted(self) -> String {
        // SAFETY: as in `name`; looks at nothing but the name.
        unsafe {
            let name = (*(*self.relation).rd_rel).relname.data.as_ptr();
            encoding::c_string(pg_sys::quote_identifier(name))
        }
    }

    /// Its number of pages. Every page of these is locked or no longer new.
    pub(crate) fn blocks(self) -> u32 {
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
    pub(crate) fn blocks_now(self) -> u32 {
        // SAFETY: an open relation.
        unsafe { pg_sys::RelationGetNumberOfBlocksInFork(self.relation, pg_sys::ForkNumber::MAIN_FORKNUM) }
    }

    /// Whether it has this page, which may not be written yet. The system is asked only for pages that come after those that
    /// were there when it was asked last: an index gets no shorter, and where the server puts another file in its place, or
    /// empties that, it forgets the number, too.
    pub(crate) fn has(self, block: u32) -> bool {
        // SAFETY: an open relation; what an access method keeps there is its own, and lives in the context of the index,
        // until the server frees both.
        unsafe {
            let relation = &mut *self.relation;
            let known: *mut u32 = relation.rd_amcache.cast();
            if !known.is_null() && block < *known {
                return true;
            }
            let blocks = self.blocks_now();
            if known.is_null() {
                relation.rd_amcache = pg_sys::MemoryContextAlloc(relation.rd_indexcxt, size_of::<u32>());
            }
            *relation.rd_amcache.cast::<u32>() = blocks;
            block < blocks
        }
    }

    /// Ends the call: the page says what it cannot say.
    pub(crate) fn corrupted(self, block: u32, what: &str) -> ! {
        let name = self.name();
        SqlError::new(
            PgSqlErrorCode::ERRCODE_INDEX_CORRUPTED,
            format!("index \"{name}\" is corrupted in block {block}: {what}"),
        )
        .hint(format!("Please REINDEX it: REINDEX INDEX {};", self.quoted()))
        .raise()
    }

    /// Pins a page and locks it for reading.
    pub(crate) fn read(self, block: u32) -> Page {
        self.get(block, pg_sys::BUFFER_LOCK_SHARE)
    }

    /// Pins a page and locks it for writing.
    pub(crate) fn write(self, block: u32) -> Page {
        self.get(block, pg_sys::BUFFER_LOCK_EXCLUSIVE)
    }

    fn get(self, block: u32, lock: u32) -> Page {
        // What is small cannot fail, however much there is of it.
        or_raise(memory::suffices("reading an index"));
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
    pub(crate) fn expect(self, block: u32, kind: Kind, id: u64, number: u32) -> Looked<Page> {
        let page = self.read(block);
        page.is(kind, id, number).then_some(page).ok_or(Moved { block })
    }

    /// A page that is not in use, locked for writing: a free one, or one at the end.
    pub(crate) fn new_page(self) -> Page {
        // SAFETY: an open relation. Blocks of the map may be anything: only empty and deleted ones
        // are taken, and only if no other backend looks at them.
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

    /// A new page at the end, locked for writing.
    pub(crate) fn extend(self, fork: pg_sys::ForkNumber::Type) -> Page {
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

    /// Writes other contents to a page, locked for writing, of an index that is logged at the end.
    pub(crate) fn rewrite(self, page: &Page, contents: &[u8]) {
        // SAFETY: the buffer's own page, locked for writing, of a relation that no other backend sees.
        unsafe {
            Image::of(page.start()).fill(contents);
            pg_sys::MarkBufferDirty(page.buffer);
        }
    }

    /// Logs all pages of an index that was built without that.
    pub(crate) fn log_all(self) {
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
                && (level >= pg_sys::WalLevel::WAL_LEVEL_REPLICA as i32 || !compat::has_new_files(relation))
        }
    }

    /// Writes the only page of an empty unlogged index.
    pub(crate) fn write_init_fork(self, tail: Tail, contents: &[u8]) {
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

    /// Tells the free space map of a page.
    pub(crate) fn offer(self, block: u32) {
        // SAFETY: an open relation.
        unsafe { pg_sys::RecordFreeIndexPage(self.relation, block) };
    }

    /// Makes the upper levels of the free space map right.
    pub(crate) fn tidy_map(self) {
        // SAFETY: an open relation.
        unsafe { pg_sys::IndexFreeSpaceMapVacuum(self.relation) };
    }
}
