//! Classes of sentences with equal signatures, and the parts of their join.

use super::frequent_sentences::ClassStores;
use crate::error::Result;
use crate::features::sets::members::Members;
use crate::features::sets::store::RecordStore;
use crate::storage::files::Resources;

/// Classes of sentences with equal signatures. The classes of the left table are numbered first,
/// then those of the right table.
pub(super) struct Classes {
    left: Members,
    right: Option<Members>,
    /// Whether there are two tables.
    pub(super) two: bool,
}

impl Classes {
    pub(super) fn new(left: Members, right: Option<Members>) -> Self {
        let two = right.is_some();
        Self { left, right, two }
    }

    pub(super) fn len(&self) -> usize {
        self.left.len() + self.right.as_ref().map_or(0, Members::len)
    }

    /// Returns the class of a record that is the right record of a pair in a join of all classes.
    pub(super) fn right(&self, record: u32) -> u32 {
        // Sentences have numbers of 32 bits, so the numbers of classes fit as well.
        if self.two { self.left.len() as u32 + record } else { record }
    }

    /// Returns the sentences of a class.
    pub(super) fn rows(&self, class: u32) -> &[u32] {
        match &self.right {
            Some(right) if class as usize >= self.left.len() => right.rows(class as usize - self.left.len()),
            _ => self.left.rows(class as usize),
        }
    }

    pub(super) fn size(&self, class: u32) -> u32 {
        self.rows(class).len() as u32
    }
}

/// Returns the parts of a join of one table or of two: whether the left and the right sentences of
/// a part are those that are certainly frequent ("hot"), which are not compared with each other.
/// The left sentences of one table are joined with each other if the right ones are the same.
pub(super) fn parts_of_join(has_hot: bool, two: bool) -> &'static [[bool; 2]] {
    match (has_hot, two) {
        (false, _) => &[[false; 2]],
        (true, false) => &[[false; 2], [false, true]],
        (true, true) => &[[false; 2], [false, true], [true, false]],
    }
}

/// Returns the left records of a part of the join, the right records, and the classes of all these
/// records. There are no right records if the left records are joined with each other.
pub(super) fn take_part(
    part: [bool; 2],
    of: &mut ClassStores<'_>,
    hot: Option<&[bool]>,
    two: bool,
    resources: Resources<'_>,
) -> Result<(RecordStore, Option<RecordStore>, PartClasses)> {
    let Some(hot) = hot else {
        let right = if two { Some(of.stores[1].take_all()) } else { None };
        return Ok((of.stores[0].take_all(), right, PartClasses::Whole));
    };
    let mut take = |table: usize, wanted| of.part(table, hot, wanted, resources.files, resources.budget / 8);
    let (left, left_classes) = take(0, part[0])?;
    let right = if two || part[1] { Some(take(usize::from(two), part[1])?) } else { None };
    let (right, right_classes) = right.unzip();
    Ok((left, right, PartClasses::Some { left: left_classes, right: right_classes }))
}

/// The classes of the records of a part.
pub(super) enum PartClasses {
    /// The part has all classes, and the records of each table are in the order of their classes.
    Whole,
    /// The part has some of the classes. `left` and `right` contain the class of each left and each
    /// right record. If `right` is `None`, the left records are joined with each other.
    Some { left: Vec<u32>, right: Option<Vec<u32>> },
}

impl PartClasses {
    pub(super) fn left(&self, record: u32) -> u32 {
        match self {
            Self::Whole => record,
            Self::Some { left, .. } => left[record as usize],
        }
    }

    pub(super) fn right(&self, classes: &Classes, record: u32) -> u32 {
        match self {
            Self::Whole => classes.right(record),
            Self::Some { left, right } => right.as_ref().unwrap_or(left)[record as usize],
        }
    }
}
