//! The bytes that an index of grams keeps of a string.

use crate::pg::index::families::family::SIGNATURES;
use crate::pg::index::layout::items::{HeapRow, short};
use neardup_core::error::Result;
use neardup_core::memory;
use neardup_core::search::edit_ball::characters;
use neardup_core::search::grams::{MOST_ELEMENTS, StoredSize};
use neardup_core::verify::character_counts::CharacterCounts;

/// The number of bytes of a size, and of an element in an item.
pub(super) const NUMBER: usize = size_of::<u32>();
/// The number of bytes of the sizes of a string: its elements and its characters.
const SIZES: usize = 2 * NUMBER;
/// The number of bytes of the start of a string, which is all of most short strings. A longer start
/// spares reading more rows of the table, and makes the index larger.
pub(super) const START: usize = 56;
/// Where the start of a string is, after its sizes and the counts of its characters.
pub(super) const BEFORE: usize = SIZES + CharacterCounts::SIZE;
/// The number of bytes that stand next to a row.
pub(crate) const HEAD: usize = BEFORE + START;
const _: () = assert!(HEAD + MOST_ELEMENTS as usize * NUMBER <= SIGNATURES);

/// A string in the bytes of an item, which is not NULL: the number of its elements, the number of
/// its characters, how often these occur, its start in UTF-8 with zeros after it, and unless it is
/// too long, its elements. The numbers are u32.
#[derive(Debug, Clone, Copy)]
pub(crate) struct GramItem<'a> {
    /// The sizes of the string.
    pub sizes: StoredSize,
    /// The bytes that stand next to the row.
    pub head: &'a [u8],
    elements: &'a [u8],
}

impl<'a> GramItem<'a> {
    /// Reads an item. Returns None if the bytes are not a valid one.
    pub(crate) fn read(row: HeapRow, bytes: &'a [u8]) -> Option<Self> {
        let (head, elements) = bytes.split_at_checked(HEAD)?;
        let sizes = sizes_of(head);
        let size = sizes.size;
        let right = if row.has(HeapRow::SPLIT) {
            size > MOST_ELEMENTS && elements.is_empty()
        } else {
            size <= MOST_ELEMENTS
                && row.has(HeapRow::EMPTY) == (size == 0)
                && elements.len() == size as usize * NUMBER
        };
        (right && is_start(head)).then_some(Self { sizes, head, elements })
    }

    /// Returns the number of its elements, unless it is too long.
    pub(super) fn size(&self) -> usize {
        self.elements.len() / NUMBER
    }

    /// Iterates over the elements, in ascending order.
    pub(crate) fn elements(&self) -> impl Iterator<Item = u32> + use<'a> {
        self.elements.chunks_exact(NUMBER).map(short)
    }
}

/// Reads the sizes of a string, which stand next to its row.
pub(crate) fn sizes_of(bytes: &[u8]) -> StoredSize {
    StoredSize { size: short(bytes), characters: short(&bytes[NUMBER..]) }
}

/// Returns how often the characters of a string occur, which stands next to its row.
pub(crate) fn counts_of(head: &[u8]) -> CharacterCounts {
    CharacterCounts(*head[SIZES..].first_chunk().unwrap_or(&[0; CharacterCounts::SIZE]))
}

/// Returns the start of a string, which stands next to its row, or "" if it cannot be read.
pub(crate) fn start_of(head: &[u8]) -> &str {
    let start = &head[BEFORE..];
    let end = start.iter().position(|&byte| byte == 0).unwrap_or(start.len());
    std::str::from_utf8(&start[..end]).unwrap_or_default()
}

/// Reports whether the start of a string has no more characters than the string, and only zeros
/// after it.
pub(super) fn is_start(head: &[u8]) -> bool {
    let start = start_of(head);
    characters(start) <= sizes_of(head).characters
        && head[BEFORE + start.len()..].iter().all(|&byte| byte == 0)
}

/// Returns the bytes that stand next to the row of a string.
pub(super) fn head_of(sizes: StoredSize, text: &str) -> [u8; HEAD] {
    let mut head = [0; HEAD];
    let StoredSize { size, characters } = sizes;
    head[..NUMBER].copy_from_slice(&size.to_le_bytes());
    head[NUMBER..SIZES].copy_from_slice(&characters.to_le_bytes());
    let start = &text[..text.floor_char_boundary(START)];
    head[SIZES..BEFORE].copy_from_slice(&CharacterCounts::new(text).0);
    head[BEFORE..][..start.len()].copy_from_slice(start.as_bytes());
    head
}

/// Reports whether a row of a segment can have these bytes next to it.
pub(super) fn is_head_of(row: HeapRow, head: &[u8]) -> bool {
    let right = match sizes_of(head).size {
        0 => row.has(HeapRow::NULL | HeapRow::EMPTY),
        size => !row.has(HeapRow::NULL | HeapRow::EMPTY) && row.has(HeapRow::SPLIT) == (size > MOST_ELEMENTS),
    };
    right && is_start(head)
}

/// Returns the bytes of an item.
pub(super) fn write(head: [u8; HEAD], elements: &[u32]) -> Result<Vec<u8>> {
    let mut bytes = Vec::new();
    memory::reserve(&mut bytes, HEAD + elements.len() * NUMBER, "indexing the grams of a text")?;
    bytes.extend(head);
    bytes.extend(elements.iter().flat_map(|element| element.to_le_bytes()));
    Ok(bytes)
}
