//! Of buckets that are expanded in part: which records of them are compared with which.
//!
//! Those of a bucket stand in an order, and each is compared with the nearest ones there. So a window of the
//! order says it for each, and later bands can tell whether a pair that met before was compared then. Records that are
//! not to be told apart, of one class, have one place, and are compared in any case.

use super::keys::KeyEntry;
use super::work::DOING;
use crate::error::Result;
use crate::executor::{self, Executor, Stop};
use crate::memory;

/// The classes that those of one class are compared with, both ends included.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Window {
    /// The class; of two tables one of the left table.
    pub class: u32,
    /// The first.
    pub first: u32,
    /// The last.
    pub last: u32,
}

/// Records as classes, and the windows of all bands so far.
#[derive(Debug, Default)]
pub struct Windows {
    /// The class of each record, those of the left table before those of the right one; none where each record is a class.
    classes: Option<Vec<u32>>,
    /// By band, ascending by the class; those of buckets that are expanded whole are left out.
    bands: Vec<Vec<Window>>,
}

impl Windows {
    /// No band yet.
    pub fn new(classes: Option<Vec<u32>>) -> Self {
        Self { classes, bands: Vec::new() }
    }

    /// The class of a record.
    #[inline]
    pub fn class(&self, record: u32) -> u32 {
        self.classes.as_ref().map_or(record, |classes| classes[record as usize])
    }

    /// Whether there are classes of several records.
    pub fn has_classes(&self) -> bool {
        self.classes.is_some()
    }

    /// Whether all buckets before this band are expanded whole.
    pub fn is_empty_before(&self, band: usize) -> bool {
        self.bands.iter().take(band).all(Vec::is_empty)
    }

    /// Adds those of the next band.
    pub(super) fn push(&mut self, mut windows: Vec<Window>, executor: &dyn Executor) -> Result<()> {
        executor::one(executor, &mut windows, |windows, stop| {
            executor::sort_unstable_by(windows, stop, &Ord::cmp)
        })?;
        windows.shrink_to_fit();
        memory::push(&mut self.bands, windows, DOING)
    }

    /// The window of a record in a band; none where its bucket is expanded whole.
    #[inline]
    pub fn of(&self, record: u32, band: usize) -> Option<Window> {
        let windows = self.bands.get(band).filter(|windows| !windows.is_empty())?;
        let class = self.class(record);
        let place = windows.binary_search_by_key(&class, |window| window.class).ok()?;
        Some(windows[place])
    }

    /// Whether two records of one bucket of a band, of two tables the left one first, are compared there.
    #[inline]
    pub fn compare(&self, a: u32, b: u32, band: usize) -> bool {
        self.of(a, band).is_none_or(|window| {
            let other = self.class(b);
            other == window.class || (window.first..=window.last).contains(&other)
        })
    }

    /// Bytes on the heap.
    pub fn bytes(&self) -> usize {
        self.classes.as_ref().map_or(0, memory::bytes) + self.bands.iter().map(memory::bytes).sum::<usize>()
    }
}

/// What buckets are cut by.
#[derive(Debug, Clone, Copy)]
pub(super) struct Cut<'a> {
    pub(super) all: &'a Windows,
    /// The records of the left table come before this one.
    pub(super) split: u32,
    pub(super) self_join: bool,
    /// With how many others a class is compared, on either side in one table.
    pub(super) most: usize,
    /// The records whose windows are wanted, ascending; none for all.
    pub(super) asked: Option<&'a [u32]>,
}

impl Cut<'_> {
    /// Puts a bucket in the order of its classes, and appends their windows where there are more of them than are
    /// compared; false where all are.
    pub(super) fn bucket(
        &self,
        bucket: &mut [KeyEntry],
        windows: &mut Vec<Window>,
        stop: &Stop,
    ) -> Result<bool> {
        let class = |entry: &KeyEntry| self.all.class(entry.record);
        if self.all.has_classes() {
            executor::sort_unstable_by(bucket, stop, &|a, b| {
                (class(a), a.record).cmp(&(class(b), b.record))
            })?;
        }
        let lefts = match self.self_join {
            true => bucket.len(),
            false => bucket.partition_point(|entry| entry.record < self.split),
        };
        let distinct = |entries: &[KeyEntry]| -> Result<Vec<u32>> {
            let mut classes: Vec<u32> = Vec::new();
            memory::reserve(&mut classes, entries.len(), DOING)?;
            classes.extend(entries.iter().map(class));
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
            if place.is_multiple_of(1 << 14) {
                stop.check()?;
            }
            if self.asked.is_some_and(|asked| asked.binary_search(&class).is_err()) {
                continue;
            }
            let (first, last) = if self.self_join {
                (place.saturating_sub(self.most), (place + self.most).min(others.len() - 1))
            } else {
                // Those about as far down among the right records as it is among the left ones.
                let middle = place * others.len() / lefts_of.len();
                let first = middle.saturating_sub(self.most / 2).min(others.len() - self.most);
                (first, first + self.most - 1)
            };
            memory::push(windows, Window { class, first: others[first], last: others[last] }, DOING)?;
        }
        Ok(true)
    }
}
