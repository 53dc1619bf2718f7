//! The records that are compared with each other in buckets that are expanded in part.
//!
//! The records of a bucket are ordered, and each is compared with its nearest neighbours in that
//! order. So the comparisons of a record are described by a window of this order, from which a
//! later band determines whether a pair that shared an earlier bucket was compared there. Records
//! of one class are indistinguishable: they have one place in the order and are always compared
//! with each other.

use super::keys::{DOING, KeyEntry};
use crate::error::Result;
use crate::executor::{self, Executor, Stop};
use crate::memory;

/// The classes that the records of one class are compared with, both ends included.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Window {
    /// The class. Between two tables, a class of the left table.
    pub class: u32,
    /// The first class of the window.
    pub first: u32,
    /// The last class of the window.
    pub last: u32,
}

/// The classes of records, and the windows of all bands so far.
#[derive(Debug, Default)]
pub struct Windows {
    /// The class of each record, or `None` if each record is its own class. The classes of the left
    /// table come before those of the right one.
    classes: Option<Vec<u32>>,
    /// The windows of each band, in ascending order of their class. Buckets that are expanded
    /// completely have no windows.
    bands: Vec<Vec<Window>>,
}

impl Windows {
    /// Starts without bands.
    pub fn new(classes: Option<Vec<u32>>) -> Self {
        Self { classes, bands: Vec::new() }
    }

    /// Returns the class of a record.
    #[inline]
    pub fn class(&self, record: u32) -> u32 {
        self.classes.as_ref().map_or(record, |classes| classes[record as usize])
    }

    /// Reports whether all buckets before this band are expanded completely.
    pub fn is_empty_before(&self, band: usize) -> bool {
        self.bands.iter().take(band).all(Vec::is_empty)
    }

    /// Adds the windows of the next band.
    pub(super) fn push(&mut self, mut windows: Vec<Window>, executor: &dyn Executor) -> Result<()> {
        executor::sort(executor, &mut windows, Ord::cmp)?;
        windows.shrink_to_fit();
        memory::push(&mut self.bands, windows, DOING)
    }

    /// Returns the window of a record in a band, or `None` if its bucket is expanded completely.
    #[inline]
    pub fn at(&self, record: u32, band: usize) -> Option<Window> {
        let windows = self.bands.get(band).filter(|windows| !windows.is_empty())?;
        let class = self.class(record);
        let place = windows.binary_search_by_key(&class, |window| window.class).ok()?;
        Some(windows[place])
    }

    /// Reports whether two records of one bucket of a band are compared there. Between two tables,
    /// `a` is a record of the left one.
    #[inline]
    pub fn compare(&self, a: u32, b: u32, band: usize) -> bool {
        self.at(a, band).is_none_or(|window| {
            let other = self.class(b);
            other == window.class || (window.first..=window.last).contains(&other)
        })
    }

    /// Returns the number of bytes on the heap.
    pub fn bytes(&self) -> usize {
        self.classes.as_ref().map_or(0, memory::bytes) + self.bands.iter().map(memory::bytes).sum::<usize>()
    }
}

/// Returns the places of the neighbours of a record among the `others` records of its bucket: of
/// one table its own neighbours, or else those of the right table, if there are `lefts` left ones.
pub(crate) fn window(
    place: usize,
    lefts: Option<usize>,
    others: usize,
    most: usize,
) -> std::ops::RangeInclusive<usize> {
    let Some(lefts) = lefts else { return place.saturating_sub(most)..=(place + most).min(others - 1) };
    // The window is at about the same relative position among the right records as this record has
    // among the left ones.
    let first = (place * others / lefts).saturating_sub(most / 2).min(others - most);
    first..=first + most - 1
}

/// The parameters by which buckets are cut.
#[derive(Debug, Clone, Copy)]
pub(super) struct BandCut<'a> {
    pub(super) all: &'a Windows,
    /// The first record of the right table.
    pub(super) split: u32,
    pub(super) self_join: bool,
    /// The number of other classes that a class is compared with. In a self-join, it is compared
    /// with this many classes on either side.
    pub(super) most: usize,
    /// The classes whose windows are wanted, in ascending order, or `None` for all.
    pub(super) asked: Option<&'a [u32]>,
}

impl BandCut<'_> {
    /// Sorts a bucket by class. If the bucket has more classes than one class is compared with,
    /// appends the windows of its classes. Returns false if all classes are compared with each
    /// other.
    pub(super) fn bucket(
        &self,
        bucket: &mut [KeyEntry],
        windows: &mut Vec<Window>,
        stop: &Stop,
    ) -> Result<bool> {
        let class = |entry: &KeyEntry| self.all.class(entry.record);
        if self.all.classes.is_some() {
            executor::sort_unstable_by(bucket, stop, &|a, b| {
                (class(a), a.record).cmp(&(class(b), b.record))
            })?;
        }
        let lefts = match self.self_join {
            true => bucket.len(),
            false => bucket.partition_point(|entry| entry.record < self.split),
        };
        let distinct = |entries: &[KeyEntry]| -> Result<Vec<u32>> {
            let mut classes = memory::collect(entries.iter().map(class), DOING)?;
            classes.dedup();
            Ok(classes)
        };
        let lefts_of = distinct(&bucket[..lefts])?;
        let rights_of = if self.self_join { Vec::new() } else { distinct(&bucket[lefts..])? };
        let others = if self.self_join { &lefts_of } else { &rights_of };
        let is_cut = others.len() > if self.self_join { self.most + 1 } else { self.most };
        if !is_cut {
            return Ok(false);
        }
        for (place, &class) in lefts_of.iter().enumerate() {
            stop.check_every(place, 1 << 14)?;
            if self.asked.is_some_and(|asked| asked.binary_search(&class).is_err()) {
                continue;
            }
            let lefts = (!self.self_join).then_some(lefts_of.len());
            let (first, last) = window(place, lefts, others.len(), self.most).into_inner();
            memory::push(windows, Window { class, first: others[first], last: others[last] }, DOING)?;
        }
        Ok(true)
    }
}
