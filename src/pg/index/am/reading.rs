//! What a search reads, and what takes the rows that it finds.

use crate::pg::index::families::keys::ClassKeys;
use crate::pg::index::layout::format::NONE;
use crate::pg::index::layout::items::{HeapRow, Item};
use crate::pg::index::layout::meta::Directory;
use crate::pg::index::pages::buffer::{Looked, OpenIndex};
use crate::pg::index::storage::pending::{self, PendingPages};
use crate::pg::index::storage::segment::Segment;

/// Calls `each` with the sought items of one pending page after another, without dead ones and
/// without their groups, until it returns false. Reports whether there are no more.
///
/// The pending pages are read before the directory that names the segments, so that a row that is
/// moving from the pending pages to a segment is seen.
pub(super) fn read_pending(
    index: OpenIndex,
    keys: &ClassKeys,
    mut each: impl FnMut(&mut dyn Iterator<Item = Item<'_>>) -> bool,
) -> Looked<bool> {
    let mut pages = PendingPages::all(index, &Directory::read(index).meta);
    while let Some((block, contents)) = pages.next()? {
        let items = pending::items(index, block, &contents).inspect(|item| keys.check(index, block, item));
        if !each(
            &mut items.filter_map(|item| keys.sought_item(item)).filter(|item| !item.row.has(HeapRow::DEAD)),
        ) {
            return Ok(false);
        }
    }
    Ok(true)
}

/// Calls `search` with the segments that have live rows, and the keys of the index as they are now.
pub(super) fn in_segments<T>(
    index: OpenIndex,
    keys: &ClassKeys,
    search: impl FnOnce(&ClassKeys, Vec<Segment>) -> Looked<T>,
) -> Looked<T> {
    let directory = Directory::read(index);
    let now = keys.now(index, &directory.meta);
    let keys = now.as_ref().unwrap_or(keys);
    let living = directory.segments.iter().filter(|about| about.root != NONE && about.rows > about.dead);
    let segments = living.map(|&about| Segment::open(index, about, keys.layout()));
    let mut segments: Vec<Segment> = segments.collect::<Looked<_>>()?;
    segments.iter_mut().for_each(|segment| segment.sought = keys.sought());
    search(keys, segments)
}

/// What a search wants: every row that a probe finds, or rows in the order of their distance.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum WantedRows {
    /// Every row that the probe finds, and no other.
    All,
    /// The nearest rows. Others are welcome if they cost little to find.
    Nearest,
    /// The same, but any row with something in common is welcome, because there are no near ones.
    Farther,
}

/// A row that a search finds.
#[derive(Debug, Clone, Copy)]
pub(super) struct FoundRow<'a> {
    /// The row.
    pub row: HeapRow,
    /// The bytes next to the row, if the probe is one for rows with sketches.
    pub sketch: &'a [u8],
    /// A lower bound of its difference from what is sought, if the search knows one.
    pub key: Option<u64>,
    /// Set if the key is the difference itself.
    pub is_exact: bool,
}

impl<'a> FoundRow<'a> {
    /// Describes a row of which only the bytes next to it are known.
    pub(super) fn plain(row: HeapRow, sketch: &'a [u8]) -> Self {
        Self { row, sketch, key: None, is_exact: false }
    }

    /// Describes a row with a lower bound of its difference.
    pub(super) fn near(row: HeapRow, key: u64) -> Self {
        Self { row, sketch: &[], key: Some(key), is_exact: false }
    }
}

/// What takes the rows that a search finds.
pub(super) trait Taker {
    /// Takes a row that may be wanted, perhaps more than once. Returns the greatest key that is
    /// still wanted. The page of the row may be locked.
    fn row(&mut self, found: FoundRow<'_>) -> u64;

    /// Is called again and again while no page is locked. Returns the greatest key that is still
    /// wanted if this has changed.
    fn settle(&mut self) -> Option<u64> {
        None
    }
}

impl<F: FnMut(FoundRow<'_>) -> u64> Taker for F {
    fn row(&mut self, found: FoundRow<'_>) -> u64 {
        self(found)
    }
}

/// What else is known after a search.
#[derive(Debug, Default)]
pub(crate) struct SearchEnd {
    /// The difference up to which all rows were found, if it is not the probe's.
    pub reached: Option<u32>,
    /// True if some rows were left out because they were not wanted.
    pub left_out: bool,
}
