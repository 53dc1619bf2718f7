//! Classes of sentences with equal signatures, and the parts in which they are joined.

use super::frequent_sentences::ClassStores;
use crate::error::Result;
use crate::features::sets::records::Members;
use crate::features::sets::store::Store;
use crate::resources::Resources;

/// Sentences of equal signatures: those of the left table, then those of the right one.
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

    /// The class of a record that a join of all classes calls the right one of a pair.
    pub(super) fn right(&self, record: u32) -> u32 {
        // Units are numbered with 32 bits, so that classes are.
        if self.two { self.left.len() as u32 + record } else { record }
    }

    /// The sentences of a class.
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

/// A part of the join. Sentences that are frequent for certain ("hot") are not compared with each
/// other.
#[derive(Debug, Clone, Copy)]
pub(super) enum Part {
    /// The whole join: no sentence is hot.
    Whole,
    /// The sentences that are not hot, with each other.
    Others,
    /// The sentences that are not hot, of the left table, with hot ones.
    OthersWithHot,
    /// The hot sentences of the left table, with those of the right one that are not.
    HotWithOthers,
}

impl Part {
    /// The parts of a join, of one table or of two.
    pub(super) fn of_join(has_hot: bool, two: bool) -> &'static [Self] {
        match (has_hot, two) {
            (false, _) => &[Self::Whole],
            (true, false) => &[Self::Others, Self::OthersWithHot],
            (true, true) => &[Self::Others, Self::OthersWithHot, Self::HotWithOthers],
        }
    }

    /// The records to join, none on the right where they are joined with each other, and the
    /// classes that they are.
    pub(super) fn take(
        self,
        of: &mut ClassStores<'_>,
        hot: Option<&[bool]>,
        two: bool,
        resources: Resources<'_>,
    ) -> Result<(Store, Option<Store>, PartClasses)> {
        let Some(hot) = hot else {
            let right = if two { Some(of.stores[1].take_all()) } else { None };
            return Ok((of.stores[0].take_all(), right, PartClasses::Whole));
        };
        let mut part =
            |table: usize, wanted| of.part(table, hot, wanted, resources.files, resources.budget / 8);
        let (left, left_classes) = part(0, matches!(self, Self::HotWithOthers))?;
        let right = match (self, two) {
            (Self::OthersWithHot, _) => Some(part(usize::from(two), true)?),
            (_, true) => Some(part(1, false)?),
            (_, false) => None,
        };
        let (right, right_classes) = right.unzip();
        Ok((left, right, PartClasses::Some { left: left_classes, right: right_classes }))
    }
}

/// The classes that the records of a part are.
pub(super) enum PartClasses {
    /// All classes, by their numbers.
    Whole,
    /// Some, by record; those of the left side where there is no other one.
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
