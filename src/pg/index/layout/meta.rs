//! The metapage: the options, the ends of the pending chain, and the segment directory. Also the
//! locks that changes of the metapage take.

use pgrx::PgSqlErrorCode;
use pgrx::pg_sys;

use super::format::{Descriptor, FORMAT, MAGIC, MOST_SEGMENTS, Meta, NONE, PageKind, Tail};
use super::items::HeapRow;
use crate::pg::compat;
use crate::pg::index::pages::buffer::OpenIndex;
use crate::pg::index::pages::page::{Image, LockedPage};
use crate::pg::index::pages::record::Record;
use crate::pg::server::error::SqlError;
use neardup_core::hash;

/// The metapage's contents.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Directory {
    /// Everything but the segments.
    pub meta: Meta,
    /// The segments.
    pub segments: Vec<Descriptor>,
}

impl Directory {
    /// Makes the directory of a new index.
    pub(crate) fn new(meta: Meta) -> Self {
        let meta = Meta {
            magic: MAGIC,
            version: FORMAT.into(),
            hash_version: hash::VERSION,
            next_id: 1,
            head: NONE,
            tail: NONE,
            head_sequence: 1,
            tail_sequence: 0,
            ..meta
        };
        Self { meta, segments: Vec::new() }
    }

    /// Reads the directory.
    pub(crate) fn read(index: OpenIndex) -> Self {
        Self::read_page(index, &index.read(0))
    }

    /// Reads the directory from the locked metapage.
    pub(crate) fn read_page(index: OpenIndex, page: &LockedPage) -> Self {
        let contents = page.contents();
        if !page.is_new() && page.tail().version != FORMAT {
            unlike(index, "pages", page.tail().version.into(), FORMAT.into());
        }
        if !page.has(PageKind::Meta) || contents.len() < Meta::SIZE {
            index.corrupted(0, "this is no metapage");
        }
        let meta = Meta::read(contents);
        if meta.magic != MAGIC {
            index.corrupted(0, "this is no metapage");
        }
        if meta.version != u16::from(FORMAT) {
            unlike(index, "format", meta.version.into(), FORMAT.into());
        }
        if meta.hash_version != hash::VERSION {
            unlike(index, "hash", meta.hash_version.into(), hash::VERSION.into());
        }
        let segments = meta.segments as usize;
        if segments > MOST_SEGMENTS || contents.len() != Meta::SIZE + segments * Descriptor::SIZE {
            index.corrupted(0, "the directory has another length than it says");
        }
        let segments: Vec<_> =
            contents[Meta::SIZE..].chunks_exact(Descriptor::SIZE).map(Descriptor::read).collect();
        // No index lives long enough to count this far. The limit keeps additions to these numbers
        // and sums of them from overflowing.
        const MOST: u64 = 1 << 56;
        let counted = segments.iter().flat_map(|s| [s.pairs, s.postings, s.signatures, s.list_bytes]);
        let counters = [meta.next_id, meta.generation, meta.head_sequence, meta.tail_sequence];
        if counters.into_iter().chain(counted).any(|count| count > MOST) {
            index.corrupted(0, "a number is larger than it can be");
        }
        Self { meta, segments }
    }

    /// Writes the directory to the metapage.
    pub(crate) fn put(&self, image: &mut Image<'_>) {
        image.fill(&self.to_bytes());
    }

    /// Returns the bytes of the directory.
    pub(crate) fn to_bytes(&self) -> Vec<u8> {
        let meta = Meta { segments: self.segments.len() as u32, ..self.meta };
        let mut bytes = meta.to_bytes().to_vec();
        bytes.extend(self.segments.iter().copied().flat_map(Descriptor::to_bytes));
        bytes
    }

    /// Returns the tail of the metapage.
    pub(crate) fn tail() -> Tail {
        Tail::new(PageKind::Meta, 0, 0)
    }

    /// Changes the directory on the metapage; a directory that stays as it was is not written.
    pub(crate) fn update<T>(index: OpenIndex, change: impl FnOnce(&mut Self) -> T) -> T {
        let page = index.write(0);
        let mut directory = Self::read_page(index, &page);
        let before = directory.clone();
        let result = change(&mut directory);
        if directory != before {
            let mut record = Record::new(index);
            record.change(&page, |image| directory.put(image));
            record.commit();
        }
        result
    }

    /// Returns the number of pages of the pending area.
    pub(crate) fn pending_pages(&self) -> u64 {
        if self.meta.head == NONE {
            0
        } else {
            (self.meta.tail_sequence + 1).saturating_sub(self.meta.head_sequence)
        }
    }

    /// Returns the number of rows in the segments, including NULLs and dead rows, but without
    /// continuations.
    pub(crate) fn rows(&self) -> u64 {
        self.segments.iter().map(|s| u64::from(s.rows - s.continued.min(s.rows))).sum()
    }
}

/// Fails because the index was made by another version.
pub(crate) fn unlike(index: OpenIndex, what: &str, found: u32, known: u32) -> ! {
    let (name, quoted) = (index.name(), index.quoted());
    SqlError::new(
        PgSqlErrorCode::ERRCODE_FEATURE_NOT_SUPPORTED,
        format!("index \"{name}\" has version {found} of its {what}, this neardup reads version {known}"),
    )
    .hint(if found > known {
        format!("A newer neardup made it: start a new session, or install that version again; or build it anew: REINDEX INDEX {quoted};")
    } else {
        format!("Build it anew: REINDEX INDEX {quoted};")
    })
    .raise()
}

/// A heavyweight lock of the index. It is released when it is dropped, or by the server after an
/// error.
#[derive(Debug)]
pub(crate) struct Lock {
    index: OpenIndex,
    offset: u16,
    mode: i32,
}

/// The lock of the backend that flushes, merges or vacuums.
const MAINTENANCE: u16 = 1;
/// The lock of a backend that removes pages from the directory, and of scans that had to start over
/// because pages were removed.
const REMOVAL: u16 = 2;

impl Lock {
    /// Takes the lock for a flush, a merge or a vacuum.
    pub(crate) fn maintenance(index: OpenIndex) -> Self {
        Self::take(index, MAINTENANCE, pg_sys::ExclusiveLock)
    }

    /// Takes the lock of [`Lock::maintenance`] if it is free.
    pub(crate) fn maintenance_if_free(index: OpenIndex) -> Option<Self> {
        let mode = pg_sys::ExclusiveLock as i32;
        // SAFETY: an open relation.
        let got = unsafe { compat::lock_tuple_if_free(index.relation(), address(MAINTENANCE), mode) };
        got.then_some(Self { index, offset: MAINTENANCE, mode })
    }

    /// Takes the lock for removing segments and pending pages.
    pub(crate) fn removal(index: OpenIndex) -> Self {
        Self::take(index, REMOVAL, pg_sys::ExclusiveLock)
    }

    /// Takes the lock that keeps pages from being removed.
    pub(crate) fn stay(index: OpenIndex) -> Self {
        Self::take(index, REMOVAL, pg_sys::ShareLock)
    }

    fn take(index: OpenIndex, offset: u16, mode: u32) -> Self {
        let mode = mode as i32;
        let mut tuple = address(offset);
        // SAFETY: an open relation; the address is copied.
        unsafe { pg_sys::LockTuple(index.relation(), &raw mut tuple, mode) };
        Self { index, offset, mode }
    }
}

impl Drop for Lock {
    fn drop(&mut self) {
        if !std::thread::panicking() {
            let mut tuple = address(self.offset);
            // SAFETY: we took the lock and release it once.
            unsafe { pg_sys::UnlockTuple(self.index.relation(), &raw mut tuple, self.mode) };
        }
    }
}

/// Returns an address in block 0 of the index, where there are no tuples.
fn address(offset: u16) -> pg_sys::ItemPointerData {
    address_of(HeapRow::new(u64::from(offset), 0).tid())
}

/// Converts a heap address to the server's format.
pub(crate) fn address_of(tid: super::items::Tid) -> pg_sys::ItemPointerData {
    let block = (tid >> 16) as u32;
    pg_sys::ItemPointerData {
        ip_blkid: pg_sys::BlockIdData { bi_hi: (block >> 16) as u16, bi_lo: block as u16 },
        ip_posid: tid as u16,
    }
}

/// Converts a heap address from the server's format.
pub(crate) fn tid_of(address: &pg_sys::ItemPointerData) -> super::items::Tid {
    let block = u64::from(address.ip_blkid.bi_hi) << 16 | u64::from(address.ip_blkid.bi_lo);
    block << 16 | u64::from(address.ip_posid)
}
