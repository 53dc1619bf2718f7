//! The work of the one backend at a time that changes what is stored in an index in other ways
//! than by appending rows.

use pgrx::pg_sys;

use crate::pg::index::layout::format::{Descriptor, Meta};
use crate::pg::index::layout::meta::{Directory, Lock};
use crate::pg::index::pages::buffer::{Looked, OpenIndex};

/// The right to flush, merge or vacuum an index; no other backend has it at the same time.
pub(crate) struct Maintenance {
    pub(super) index: OpenIndex,
    _lock: Lock,
}

/// Returns the result of a read under the maintenance lock. Pages cannot move while this backend
/// holds the lock, so a moved page is corrupted.
pub(crate) fn sure<T>(index: OpenIndex, looked: Looked<T>) -> T {
    looked.unwrap_or_else(|moved| index.corrupted(moved.block, "this page is not what refers to it says"))
}

/// Returns the number of bytes of memory for a flush or a merge.
pub(crate) fn budget() -> usize {
    // SAFETY: an int that only this thread writes.
    let kilobytes = unsafe { pg_sys::maintenance_work_mem };
    (kilobytes.max(1024) as usize) << 10
}

/// A change of the directory.
#[derive(Default)]
pub(super) struct Change {
    pub(super) added: Option<Descriptor>,
    /// The new first page of the pending area, and its sequence number.
    pub(super) head: Option<(u32, u64)>,
    /// The metapage with the settled parameters of an index of sets.
    pub(super) settled: Option<Meta>,
}

impl Maintenance {
    /// Waits until no other backend maintains the index.
    pub(crate) fn begin(index: OpenIndex) -> Self {
        Self { index, _lock: Lock::maintenance(index) }
    }

    /// Returns `None` if another backend maintains the index.
    pub(super) fn begin_if_free(index: OpenIndex) -> Option<Self> {
        Lock::maintenance_if_free(index).map(|lock| Self { index, _lock: lock })
    }

    /// Returns an id that no segment has had.
    pub(super) fn reserve(&self) -> u64 {
        Directory::update(self.index, |directory| {
            directory.meta.next_id += 1;
            directory.meta.next_id - 1
        })
    }

    /// Changes the directory, then frees `blocks`, to which the directory no longer refers.
    pub(super) fn publish(&self, removed: &[u64], Change { added, head, settled }: Change, blocks: &[u32]) {
        let index = self.index;
        let removal = Lock::removal(index);
        Directory::update(index, |directory| {
            directory.segments.retain(|segment| !removed.contains(&segment.id));
            directory.segments.extend(added);
            directory.meta.generation += 1;
            if let Some((block, sequence)) = head {
                directory.meta.head = block;
                directory.meta.head_sequence = sequence;
            }
            if let Some(Meta { width, bands, seed, payload, order, .. }) = settled {
                directory.meta = Meta { width, bands, seed, payload, order, ..directory.meta };
            }
        });
        index.free(blocks.iter().copied());
        drop(removal);
        index.tidy_map();
    }

    /// Stores the number of dead rows of segments.
    pub(crate) fn count_dead(&self, dead: &[(u64, u32)]) {
        Directory::update(self.index, |directory| {
            for segment in &mut directory.segments {
                if let Some((_, dead)) = dead.iter().find(|(id, _)| *id == segment.id) {
                    segment.dead = *dead;
                }
            }
        });
    }
}
