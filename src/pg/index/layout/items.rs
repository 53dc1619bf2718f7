//! The entries of pages: rows, pairs of signature and row, pending items. See
//! docs/design/signature-index.md, "Pages".

use super::format::{CONTENTS, NONE};
use super::group::GROUP;

/// A heap address: block << 16 | offset.
pub(crate) type Tid = u64;

/// A row: a heap address and flags.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct HeapRow(pub u64);

impl HeapRow {
    /// The number of bytes of a row.
    pub(crate) const SIZE: usize = 8;
    /// The value is NULL.
    pub(crate) const NULL: u16 = 1;
    /// The row was deleted.
    pub(crate) const DEAD: u16 = 2;
    /// The row has the signatures for which an earlier item of the same row had no room.
    pub(crate) const CONTINUED: u16 = 4;

    /// The document has no words and is similar to nothing.
    pub(crate) const EMPTY: u16 = 8;
    /// The item is a pending set with all its tokens, from which a prefix has not been taken yet.
    pub(crate) const WHOLE: u16 = 16;
    /// The set has more tokens than an item has room for. Its tokens are split over several rows of
    /// the index.
    pub(crate) const SPLIT: u16 = 32;

    /// Makes a row.
    pub(crate) fn new(tid: Tid, flags: u16) -> Self {
        Self(tid << 16 | u64::from(flags))
    }

    /// Reads a row.
    pub(crate) fn read(bytes: &[u8]) -> Self {
        Self(number(bytes))
    }

    /// Returns the heap address.
    pub(crate) fn tid(self) -> Tid {
        self.0 >> 16
    }

    /// Reports whether the row has one of these flags.
    pub(crate) fn has(self, flags: u16) -> bool {
        self.0 as u16 & flags != 0
    }

    /// Returns the row with these flags added.
    #[must_use]
    pub(crate) fn with(self, flags: u16) -> Self {
        Self(self.0 | u64::from(flags))
    }

    /// Returns the row without these flags.
    #[must_use]
    pub(crate) fn without(self, flags: u16) -> Self {
        Self(self.0 & !u64::from(flags))
    }

    /// Reports whether this can be a row of a table.
    pub(crate) fn is_valid(self) -> bool {
        /// MaxHeapTuplesPerPage of htup_details.h, for pages of 8 kB.
        const MOST: u64 = 291;
        let flags = Self::NULL | Self::DEAD | Self::CONTINUED | Self::EMPTY | Self::WHOLE | Self::SPLIT;
        (1..=MOST).contains(&(self.tid() & 0xffff))
            && self.tid() >> 16 < u64::from(NONE)
            && self.0 as u16 & !flags == 0
    }
}

/// Returns the number of rows on a row page for sketches of this size.
pub(crate) fn rows_per_page(payload: usize) -> usize {
    CONTENTS / (HeapRow::SIZE + payload)
}

/// The largest number of bytes of an item, without those of its group.
pub(crate) const CONTENTS_OF_ITEM: usize = CONTENTS - Item::HEAD - GROUP;

/// The size of the largest sketch. A page holds the sketch, its row and its length.
pub(crate) const LARGEST_PAYLOAD: usize = 8000;
const _: () = assert!(LARGEST_PAYLOAD <= CONTENTS_OF_ITEM);

/// A pair of a signature and the number of a row or of a list.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct SignaturePair {
    /// The signature.
    pub signature: u64,
    /// The number of a row or, with [`SignaturePair::LIST`], of a list.
    pub row: u32,
}

impl SignaturePair {
    /// The number of bytes of a pair.
    pub(crate) const SIZE: usize = 12;
    /// The bit that marks a list.
    pub(crate) const LIST: u32 = 1 << 31;
    /// The least number of rows of a signature for which the rows are stored as a list.
    pub(crate) const LISTED: usize = 17;

    /// Reads the n-th pair of a page.
    pub(crate) fn read(page: &[u8], n: usize) -> Self {
        let bytes = &page[n * Self::SIZE..][..Self::SIZE];
        Self { signature: number(bytes), row: short(&bytes[8..]) }
    }

    /// Appends the pair to a page.
    pub(crate) fn write(self, page: &mut Vec<u8>) {
        page.extend_from_slice(&self.signature.to_le_bytes());
        page.extend_from_slice(&self.row.to_le_bytes());
    }

    /// Returns the number of the pair's list, if it has one.
    pub(crate) fn list(self) -> Option<u32> {
        (self.row & Self::LIST != 0).then_some(self.row & !Self::LIST)
    }
}

/// An item of the pending area: a row, a length, and that many bytes.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Item<'a> {
    /// The row.
    pub row: HeapRow,
    /// The row's group, if the index has groups, and its sketch or its signatures.
    pub bytes: &'a [u8],
}

impl<'a> Item<'a> {
    /// The number of bytes before the sketch or the signatures.
    pub(crate) const HEAD: usize = HeapRow::SIZE + 4;

    /// Returns the number of bytes of the item.
    pub(crate) fn size(&self) -> usize {
        Self::HEAD + self.bytes.len()
    }

    /// Reads the item at the start of these bytes. Returns None if it does not fit into them.
    pub(crate) fn read(bytes: &'a [u8]) -> Option<Self> {
        let (head, rest) = bytes.split_at_checked(Self::HEAD)?;
        let bytes = rest.get(..short(&head[HeapRow::SIZE..]) as usize)?;
        Some(Self { row: HeapRow::read(head), bytes })
    }

    /// Writes the item.
    pub(crate) fn write(&self, bytes: &mut [u8]) {
        bytes[..HeapRow::SIZE].copy_from_slice(&self.row.0.to_le_bytes());
        bytes[HeapRow::SIZE..Self::HEAD].copy_from_slice(&(self.bytes.len() as u32).to_le_bytes());
        bytes[Self::HEAD..self.size()].copy_from_slice(self.bytes);
    }
}

/// Reads the 8-byte number at the start of `bytes`.
pub(crate) fn number(bytes: &[u8]) -> u64 {
    u64::from_le_bytes(*bytes.first_chunk().expect("8 bytes"))
}

/// Reads the 4-byte number at the start of `bytes`.
pub(crate) fn short(bytes: &[u8]) -> u32 {
    u32::from_le_bytes(*bytes.first_chunk().expect("4 bytes"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// Items read from any bytes stay within these bytes.
        #[test]
        fn pg_any_bytes_are_items_or_none(bytes in prop::collection::vec(any::<u8>(), 0..80), length in 0..80u32) {
            let mut bytes = bytes;
            if let Some(place) = bytes.get_mut(HeapRow::SIZE..Item::HEAD) {
                place.copy_from_slice(&length.to_le_bytes());
            }
            let mut rest = bytes.as_slice();
            while let Some(item) = Item::read(rest) {
                rest = &rest[item.size()..];
            }
        }
    }

    #[test]
    fn pg_golden_row_pair_item() {
        let row = HeapRow::new(0x0001_0203 << 16 | 4, HeapRow::NULL | HeapRow::DEAD);
        assert_eq!(row.0.to_le_bytes(), [3, 0, 4, 0, 3, 2, 1, 0]);
        assert!(row.is_valid() && row.has(HeapRow::DEAD) && !row.has(HeapRow::CONTINUED));
        assert!(!HeapRow::new(7 << 16, 0).is_valid());
        assert!(!HeapRow::new(7 << 16 | 292, 0).is_valid());
        assert!(
            row.with(HeapRow::SPLIT).is_valid() && row.with(HeapRow::SPLIT).without(HeapRow::SPLIT) == row
        );
        assert!(!HeapRow(row.0 | 64).is_valid());
        let mut page = Vec::new();
        SignaturePair { signature: 0x1122_3344_5566_7788, row: 7 | SignaturePair::LIST }.write(&mut page);
        assert_eq!(page, [0x88, 0x77, 0x66, 0x55, 0x44, 0x33, 0x22, 0x11, 7, 0, 0, 0x80]);
        assert_eq!(SignaturePair::read(&page, 0).list(), Some(7));
        let mut bytes = [0xff; 14];
        Item { row, bytes: &[1, 2] }.write(&mut bytes);
        assert_eq!(bytes, [3, 0, 4, 0, 3, 2, 1, 0, 2, 0, 0, 0, 1, 2]);
        assert_eq!(Item::read(&bytes).expect("it fits").bytes, [1, 2]);
        assert!(Item::read(&bytes[..13]).is_none() && Item::read(&bytes[..5]).is_none());
    }
}
