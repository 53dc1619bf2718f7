//! The marks by which a check remembers what an index stores for a row.

use super::filter::NULL;
use crate::pg::index::layout::items::{HeapRow, Item};
use crate::pg::index::opclass::keys::ClassKeys;
use crate::pg::index::opclass::posted::Posted;
use crate::pg::server::error::or_raise;
use neardup_core::hash;

/// Returns the mark for the outline of a set that is split over several rows of the index. Such an
/// outline holds only the size of the set.
fn split(sketch: &[u8]) -> u64 {
    const SPLIT: u64 = 0x7370_6c69_7400 << 16;
    SPLIT ^ sketch.first_chunk().map_or(0, |size| u32::from_le_bytes(*size).into())
}

/// The marks of a row: one mark for the data stored next to the row, and the signatures of the row
/// unless they can be computed from that data.
pub(super) struct RowMarks<'a> {
    /// The mark of the data stored next to the row.
    pub row: Option<u64>,
    /// The mark of that data if the set is split over several rows of the index.
    pub split: Option<u64>,
    /// The signatures of the row.
    pub signatures: &'a [u64],
}

impl<'a> RowMarks<'a> {
    /// Returns the marks of an item.
    pub(super) fn new(keys: &ClassKeys, item: &Item<'_>, posted: &'a mut Posted) -> Self {
        posted.signatures.clear();
        if item.row.has(HeapRow::NULL) {
            return Self { row: Some(NULL), split: None, signatures: &posted.signatures };
        }
        if let Some(sets) = keys.sets.as_ref().filter(|sets| sets.settled.is_none()) {
            or_raise(sets.unsettled_marks(item, posted));
            return Self { row: None, split: None, signatures: &posted.signatures };
        }
        let row = or_raise(keys.post(item, posted));
        if keys.class.has_sketches() {
            posted.signatures.clear();
        }
        let split = keys.sets.is_some().then(|| split(&posted.sketch));
        Self { row: Self::of_row(row, &posted.sketch), split, signatures: &posted.signatures }
    }

    /// Returns the mark of the data stored next to a row of a segment.
    pub(super) fn of_row(row: HeapRow, sketch: &[u8]) -> Option<u64> {
        if row.has(HeapRow::NULL) {
            Some(NULL)
        } else if row.has(HeapRow::SPLIT) {
            Some(split(sketch))
        } else {
            (!sketch.is_empty()).then(|| hash::hash_bytes(sketch))
        }
    }

    /// Calls `each` with every mark.
    pub(super) fn each(&self, each: impl FnMut(u64)) {
        self.row.iter().chain(self.signatures).copied().for_each(each);
    }
}
