//! Accesses pages of the index through the server's buffers. Only this file, `page` and `record`
//! use pointers to pages.

use pgrx::PgSqlErrorCode;
use pgrx::pg_sys;

use super::page::LockedPage;
use crate::pg::compat;
use crate::pg::index::layout::format::{NONE, PAGE, PageKind, Tail};
use crate::pg::server::encoding;
use crate::pg::server::error::{SqlError, or_raise};
use neardup_core::memory;

const _: () = assert!(PAGE == pg_sys::BLCKSZ as usize);

/// An open index.
#[derive(Debug, Clone, Copy)]
pub(crate) struct OpenIndex {
    relation: pg_sys::Relation,
    strategy: pg_sys::BufferAccessStrategy,
}

/// A page that is not the expected one. It was freed meanwhile, or it is corrupted.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Moved {
    /// The block of the page.
    pub block: u32,
}

/// The result of a read that may meet a page that has been reused.
pub(crate) type Looked<T> = std::result::Result<T, Moved>;

impl OpenIndex {
    /// Wraps an index that the server has opened.
    ///
    /// # Safety
    /// `relation` stays open as long as this value and its pages are used.
    pub(crate) unsafe fn new(relation: pg_sys::Relation) -> Self {
        Self { relation, strategy: std::ptr::null_mut() }
    }

    /// Returns the same index, read through a ring of buffers that the server made, or through all
    /// buffers if `strategy` is null.
    #[must_use]
    pub(crate) fn with(self, strategy: pg_sys::BufferAccessStrategy) -> Self {
        Self { strategy, ..self }
    }

    /// Returns the same index, read through a small ring of buffers, for one pass through much of
    /// it.
    #[must_use]
    pub(crate) fn in_bulk(self) -> Self {
        // SAFETY: makes a ring in the current memory context, which frees it.
        self.with(unsafe { pg_sys::GetAccessStrategy(pg_sys::BufferAccessStrategyType::BAS_BULKREAD) })
    }

    /// Returns the server's descriptor of the index.
    pub(crate) fn relation(self) -> pg_sys::Relation {
        self.relation
    }

    /// Returns the number of group columns: those before the column that is searched.
    pub(crate) fn group_columns(self) -> usize {
        // SAFETY: an open index has its row of pg_index.
        unsafe { ((*(*self.relation).rd_index).indnkeyatts as usize).saturating_sub(1) }
    }

    /// Returns the number of the column of the table that is searched, or 0 for an expression.
    pub(crate) fn table_column(self) -> i16 {
        let column = self.group_columns();
        // SAFETY: an open index has its row of pg_index, which has a number for each column.
        unsafe { (*(*self.relation).rd_index).indkey.values.as_slice(column + 1)[column] }
    }

    /// Returns the name of the index.
    pub(crate) fn name(self) -> String {
        // SAFETY: an open relation has a row of pg_class, whose name is a C string.
        unsafe { encoding::c_string((*(*self.relation).rd_rel).relname.data.as_ptr()) }
    }

    /// Returns the name of the index as SQL text needs it.
    pub(crate) fn quoted(self) -> String {
        // SAFETY: as in `name`; reads only the name.
        unsafe {
            let name = (*(*self.relation).rd_rel).relname.data.as_ptr();
            encoding::c_string(pg_sys::quote_identifier(name))
        }
    }

    /// Returns the number of pages of the index. Each of these pages is either locked by the
    /// backend that added it or no longer new.
    pub(crate) fn blocks(self) -> u32 {
        // SAFETY: an open relation. A backend that extends it locks the new page before it lets
        // other backends extend the relation.
        unsafe {
            let lock = pg_sys::ExclusiveLock as i32;
            pg_sys::LockRelationForExtension(self.relation, lock);
            let blocks = self.blocks_now();
            pg_sys::UnlockRelationForExtension(self.relation, lock);
            blocks
        }
    }

    /// Returns the number of pages of the index. The last of them may not be written yet.
    pub(crate) fn blocks_now(self) -> u32 {
        // SAFETY: an open relation.
        unsafe { pg_sys::RelationGetNumberOfBlocksInFork(self.relation, pg_sys::ForkNumber::MAIN_FORKNUM) }
    }

    /// Reports whether the index has this page, which may not be written yet. The operating system
    /// is asked only for pages beyond the last known number of pages, because an index never gets
    /// shorter. When the server replaces or empties the file of the index, it also forgets this
    /// number.
    pub(crate) fn has(self, block: u32) -> bool {
        // SAFETY: an open relation; the access method owns the number in `rd_amcache`, whose memory
        // is in the context of the index until the server frees both.
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

    /// Fails because the page has impossible contents.
    pub(crate) fn corrupted(self, block: u32, what: &str) -> ! {
        let name = self.name();
        self.damaged(format!("index \"{name}\" is corrupted in block {block}: {what}")).raise()
    }

    /// Returns the error for an index that has not what it must have.
    pub(crate) fn damaged(self, message: String) -> SqlError {
        SqlError::new(PgSqlErrorCode::ERRCODE_INDEX_CORRUPTED, message)
            .hint(format!("Please REINDEX it: REINDEX INDEX {};", self.quoted()))
    }

    /// Pins a page and locks it for reading.
    pub(crate) fn read(self, block: u32) -> LockedPage {
        self.get(block, pg_sys::BUFFER_LOCK_SHARE)
    }

    /// Pins a page and locks it for writing.
    pub(crate) fn write(self, block: u32) -> LockedPage {
        self.get(block, pg_sys::BUFFER_LOCK_EXCLUSIVE)
    }

    /// Pins a page, or a new one at the end if `block` is [`NONE`].
    fn buffer(self, fork: pg_sys::ForkNumber::Type, block: u32) -> pg_sys::Buffer {
        let mode = pg_sys::ReadBufferMode::RBM_NORMAL;
        // SAFETY: an open relation; the server raises an error for blocks that it does not have.
        unsafe { pg_sys::ReadBufferExtended(self.relation, fork, block, mode, self.strategy) }
    }

    fn get(self, block: u32, lock: u32) -> LockedPage {
        // A small allocation never fails by itself, so each read of a page checks whether memory is
        // short.
        or_raise(memory::suffices("reading an index"));
        // SAFETY: an open relation; the server raises an error for blocks that it does not have.
        unsafe {
            let buffer = self.buffer(pg_sys::ForkNumber::MAIN_FORKNUM, block);
            pg_sys::LockBuffer(buffer, lock as i32);
            let page = LockedPage::new(buffer);
            page.prefetch_tail();
            page
        }
    }

    /// Reads a page and returns it if it is the expected one.
    pub(crate) fn expect(self, block: u32, kind: PageKind, id: u64, number: u32) -> Looked<LockedPage> {
        let page = self.read(block);
        page.is(kind, id, number).then_some(page).ok_or(Moved { block })
    }

    /// Returns a page that is not in use, locked for writing: a free page, or a new page at the
    /// end.
    pub(crate) fn new_page(self) -> LockedPage {
        // SAFETY: an open relation. The free space map may name any block: only empty and deleted
        // pages are taken, and only if no other backend holds a lock on them.
        unsafe {
            loop {
                let block = pg_sys::GetFreeIndexPage(self.relation);
                if block == NONE {
                    return self.extend(pg_sys::ForkNumber::MAIN_FORKNUM);
                }
                if block == 0 || block >= self.blocks_now() {
                    continue;
                }
                let buffer = self.buffer(pg_sys::ForkNumber::MAIN_FORKNUM, block);
                if !pg_sys::ConditionalLockBuffer(buffer) {
                    pg_sys::ReleaseBuffer(buffer);
                    continue;
                }
                let page = LockedPage::new(buffer);
                if page.is_free() {
                    return page;
                }
            }
        }
    }

    /// Adds a new page at the end, locked for writing.
    pub(crate) fn extend(self, fork: pg_sys::ForkNumber::Type) -> LockedPage {
        // SAFETY: an open relation; the invalid block number asks for a new page at the end.
        unsafe {
            let lock = pg_sys::ExclusiveLock as i32;
            pg_sys::LockRelationForExtension(self.relation, lock);
            let buffer = self.buffer(fork, NONE);
            pg_sys::LockBuffer(buffer, pg_sys::BUFFER_LOCK_EXCLUSIVE as i32);
            pg_sys::UnlockRelationForExtension(self.relation, lock);
            LockedPage::new(buffer)
        }
    }

    /// Logs all pages of an index that was built without logging.
    pub(crate) fn log_all(self) {
        if self.is_logged() {
            let fork = pg_sys::ForkNumber::MAIN_FORKNUM;
            // SAFETY: an open relation; all its pages have the standard header.
            unsafe { pg_sys::log_newpage_range(self.relation, fork, 0, self.blocks_now(), true) };
        }
    }

    /// Reports whether changes of the index are logged, like RelationNeedsWAL of rel.h.
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
        self.extend(fork).rewrite(Some(tail), contents);
        // SAFETY: an open relation; logged by hand because generic WAL skips unlogged relations.
        // Logging locks the page itself.
        unsafe { pg_sys::log_newpage_range(self.relation, fork, 0, 1, true) };
    }

    /// Reports a page to the free space map as free.
    pub(crate) fn offer(self, block: u32) {
        // SAFETY: an open relation.
        unsafe { pg_sys::RecordFreeIndexPage(self.relation, block) };
    }

    /// Updates the upper levels of the free space map.
    pub(crate) fn tidy_map(self) {
        // SAFETY: an open relation.
        unsafe { pg_sys::IndexFreeSpaceMapVacuum(self.relation) };
    }
}
