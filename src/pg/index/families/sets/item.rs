//! The bytes that an index of sets keeps of a pending set.
//!
//! | | |
//! | --- | --- |
//! | `NULL`, `EMPTY` | nothing |
//! | `WHOLE` | size u32; all tokens |
//! | `SPLIT` | size u32; some of the tokens to be posted |
//! | else | size u32; words of the bitmap u32; the bitmap; the tokens to be posted |
//!
//! Tokens are u32, in ascending order. The flags of an item determine its format. The metapage does
//! not, because a flush may settle the order of tokens while an insert is under way.

use crate::pg::index::layout::items::{HeapRow, number, short};
use neardup_core::error::Result;
use neardup_core::memory;

const DOING: &str = "indexing a set";
const TOKEN: usize = size_of::<u32>();

/// The sizes that a bitmap can have, in 64-bit words.
pub(crate) const BITMAPS: [usize; 4] = [1, 2, 4, 8];

/// A set in an item.
#[derive(Debug, Clone, Copy)]
pub(crate) struct SetItem<'a> {
    /// The size of the set: the number of its tokens, or their weight.
    pub size: u32,
    /// The bitmap of the set, if it has one.
    pub bitmap: Option<&'a [u8]>,
    tokens: &'a [u8],
}

impl<'a> SetItem<'a> {
    /// Reads the item of a row that is neither NULL nor empty. Returns None if the bytes are not a
    /// valid item.
    pub(crate) fn read(row: HeapRow, bytes: &'a [u8]) -> Option<Self> {
        let (size, rest) = bytes.split_at_checked(TOKEN)?;
        let (bitmap, tokens) = if row.has(HeapRow::WHOLE | HeapRow::SPLIT) {
            (None, rest)
        } else {
            let (words, rest) = rest.split_at_checked(TOKEN)?;
            let words = BITMAPS.into_iter().find(|&known| known == short(words) as usize)?;
            let (bitmap, tokens) = rest.split_at_checked(words * 8)?;
            (Some(bitmap), tokens)
        };
        let right = !tokens.is_empty() && tokens.len().is_multiple_of(TOKEN);
        right.then_some(Self { size: short(size), bitmap, tokens })
    }

    /// Replaces the contents of `tokens` by the tokens of the item.
    pub(crate) fn tokens(&self, tokens: &mut Vec<u32>) -> Result<()> {
        memory::refill(tokens, self.tokens.chunks_exact(TOKEN).map(short), DOING)
    }

    /// Returns the bytes of an item. `bitmap` is None for a whole or split item.
    pub(crate) fn write(size: u32, bitmap: Option<&[u64]>, tokens: &[u32]) -> Result<Vec<u8>> {
        let mut bytes = Vec::new();
        memory::reserve(&mut bytes, (2 + tokens.len()) * TOKEN + bitmap.map_or(0, size_of_val), DOING)?;
        bytes.extend(size.to_le_bytes());
        if let Some(bitmap) = bitmap {
            bytes.extend((bitmap.len() as u32).to_le_bytes());
            bytes.extend(bitmap.iter().flat_map(|word| word.to_le_bytes()));
        }
        bytes.extend(tokens.iter().flat_map(|token| token.to_le_bytes()));
        Ok(bytes)
    }
}

/// The size and the bitmap of a set, stored next to its row in a segment.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Outline<'a> {
    /// The size of the set: the number of its tokens, or their weight.
    pub size: u32,
    bitmap: &'a [u8],
}

impl<'a> Outline<'a> {
    /// Returns the number of bytes of an outline whose bitmap has this many words.
    pub(crate) const fn bytes(words: usize) -> usize {
        TOKEN + words * 8
    }

    /// Reads an outline.
    pub(crate) fn read(bytes: &'a [u8]) -> Self {
        let (size, bitmap) = bytes.split_at(TOKEN);
        Self { size: short(size), bitmap }
    }

    /// Replaces the contents of `bytes` by the bytes of an outline.
    pub(crate) fn write(size: u32, bitmap: impl Iterator<Item = u64>, bytes: &mut Vec<u8>) {
        bytes.clear();
        bytes.extend(size.to_le_bytes());
        bytes.extend(bitmap.flat_map(u64::to_le_bytes));
    }

    /// Returns the number of bits in which the bitmap of the set differs from `bitmap`.
    pub(crate) fn differs(&self, bitmap: &[u64]) -> u32 {
        differs(self.bitmap, bitmap)
    }

    /// Reports whether a row can have this outline. Each token that weighs `unit` flips one bit of
    /// the bitmap, and no token weighs more. If a row has no set or only a part of a set, all bits
    /// of its bitmap are 0.
    pub(crate) fn is_of(&self, row: HeapRow, unit: u32) -> bool {
        let bits: u32 = words(self.bitmap).map(u64::count_ones).sum();
        if row.has(HeapRow::NULL | HeapRow::EMPTY) {
            (self.size, bits) == (0, 0)
        } else if row.has(HeapRow::SPLIT) {
            self.size > 0 && bits == 0
        } else {
            // If there are lighter tokens, it is not known how many flip none.
            let is_even = unit > 1 || self.size.wrapping_sub(bits).is_multiple_of(2);
            self.size > 0 && bits <= self.size / unit && is_even
        }
    }
}

/// Returns the words of a bitmap.
pub(crate) fn words(bitmap: &[u8]) -> impl Iterator<Item = u64> + '_ {
    bitmap.chunks_exact(8).map(number)
}

/// Returns the number of bits in which two bitmaps differ.
pub(crate) fn differs(one: &[u8], other: &[u64]) -> u32 {
    words(one).zip(other).map(|(a, b)| (a ^ b).count_ones()).sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn row(flags: u16) -> HeapRow {
        HeapRow::new(7 << 16 | 1, flags)
    }

    proptest! {
        #[test]
        fn pg_sets_are_read_as_they_were_written(
            size in any::<u32>(),
            words in prop::option::of(prop::sample::select(BITMAPS.to_vec())),
            word in any::<u64>(),
            tokens in prop::collection::vec(any::<u32>(), 1..9),
            flags in prop::sample::select(vec![HeapRow::WHOLE, HeapRow::SPLIT, HeapRow::SPLIT | HeapRow::CONTINUED]),
        ) {
            let bitmap = words.map(|words| vec![word; words]);
            let bytes = SetItem::write(size, bitmap.as_deref(), &tokens).unwrap();
            let row = row(if bitmap.is_some() { 0 } else { flags });
            let item = SetItem::read(row, &bytes).unwrap();
            prop_assert_eq!(item.size, size);
            prop_assert_eq!(item.bitmap.map(words_of), bitmap);
            let mut read = vec![1, 2, 3];
            item.tokens(&mut read).unwrap();
            prop_assert_eq!(read, tokens);
        }

        #[test]
        fn pg_any_bytes_are_sets_or_none(
            mut bytes in prop::collection::vec(any::<u8>(), 0..90),
            words in 0..10_u8,
            flags in prop::sample::select(vec![0, HeapRow::WHOLE, HeapRow::SPLIT]),
        ) {
            if let Some(place) = bytes.get_mut(4..8) {
                place.copy_from_slice(&[words, 0, 0, 0]);
            }
            if let Some(item) = SetItem::read(row(flags), &bytes) {
                let mut tokens = Vec::new();
                item.tokens(&mut tokens).unwrap();
                let bitmap = item.bitmap.map(words_of);
                prop_assert!(!tokens.is_empty() && bitmap.is_some() == (flags == 0));
                prop_assert_eq!(SetItem::write(item.size, bitmap.as_deref(), &tokens).unwrap(), bytes);
            }
        }
    }

    fn words_of(bitmap: &[u8]) -> Vec<u64> {
        words(bitmap).collect()
    }

    #[test]
    fn pg_golden_sets() {
        let whole = SetItem::write(3, None, &[1, 1, 0x0102_0304]).unwrap();
        assert_eq!(whole, [3, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 4, 3, 2, 1]);
        let settled = SetItem::write(60, Some(&[0x8000_0000_0000_0001]), &[9]).unwrap();
        assert_eq!(settled, [60, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0x80, 9, 0, 0, 0]);
        // A bitmap of three words, tokens that end too early, and no tokens.
        assert!(SetItem::read(row(0), &[&[5, 0, 0, 0, 3, 0, 0, 0][..], &[0; 28]].concat()).is_none());
        assert!(
            SetItem::read(row(0), &settled[..18]).is_none()
                && SetItem::read(row(0), &settled[..16]).is_none()
        );
        assert!(SetItem::read(row(HeapRow::WHOLE), &whole[..4]).is_none());
        let mut outline = vec![1];
        Outline::write(2, [3, 0].into_iter(), &mut outline);
        assert_eq!(outline, [2, 0, 0, 0, 3, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]);
        assert_eq!(outline.len(), Outline::bytes(2));
        let read = Outline::read(&outline);
        assert_eq!((read.size, read.differs(&[1, 4])), (2, 2));
        // Two tokens flip an even number of bits, and three an odd number. No set flips more bits
        // than it has tokens.
        for (size, possible) in [(0, false), (1, false), (2, true), (3, false), (4, true)] {
            assert_eq!(Outline { size, ..read }.is_of(row(0), 1), possible);
        }
        // With words of the weight 3 and lighter ones.
        for (size, possible) in [(2, false), (5, false), (6, true), (7, true)] {
            assert_eq!(Outline { size, ..read }.is_of(row(0), 3), possible);
        }
        let blank = Outline { bitmap: &[0; 16], ..read };
        assert!(!read.is_of(row(HeapRow::SPLIT), 1) && blank.is_of(row(HeapRow::SPLIT), 1));
        for flags in [HeapRow::NULL, HeapRow::EMPTY] {
            assert!(!blank.is_of(row(flags), 1) && Outline { size: 0, ..blank }.is_of(row(flags), 1));
        }
    }
}
