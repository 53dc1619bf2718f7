//! Looks at those rows of a search for strings whose grams do not tell enough: by edit distance,
//! rows that need not share any gram, and rows of which grams leave out white space; by either
//! measure, strings that are too long to have elements in the index.

use std::ops::Range;

use super::gram_search::{SegmentSearch, Taker, UNSETTLED, WINDOW};
use crate::pg::index::families::sets::probe::step_of;
use crate::pg::index::pages::buffer::Looked;
use crate::pg::index::storage::list_reader::PartReader;
use crate::pg::index::storage::segment::COLLECTING;
use crate::pg::index::storage::sort::place_of_size;
use crate::pg::server::error::or_raise;
use neardup_core::joins::search::grams::{BITS, spaced};
use neardup_core::memory;

impl SegmentSearch<'_> {
    /// Gives the rows of a group to `each` that share nothing with the sought string, as far as
    /// they were counted, if such rows are still wanted.
    pub(super) fn visit_others(&mut self, start: u32, group: u32, each: &mut dyn Taker) -> Looked<()> {
        let Some(best) = self.probe.demand.greatest(group, 0) else { return Ok(()) };
        if u64::from(step_of(best)) > self.greatest {
            return Ok(());
        }
        let rows = self.rows_of_place(1 + group as usize)?;
        let rows = rows.start.max(start)..rows.end.min(start.saturating_add(WINDOW));
        for first in rows.clone().step_by(UNSETTLED) {
            let some = first..rows.end.min(first.saturating_add(UNSETTLED as u32));
            let mut rows = std::mem::take(&mut self.rows);
            rows.clear();
            or_raise(memory::reserve(&mut rows, UNSETTLED, COLLECTING));
            rows.extend(some.filter(|&row| self.counts.count(row) == 0));
            self.give(rows.iter().copied(), |_, _| 0, each)?;
            self.rows = rows;
            if u64::from(step_of(best)) > self.greatest {
                break;
            }
        }
        Ok(())
    }

    /// By edit distance, gives the rows without grams to `each`, and those of whose strings grams
    /// leave out white space.
    pub(super) fn visit_spaced(&mut self, each: &mut dyn Taker) -> Looked<()> {
        let Some(demand) = self.probe.demand.edit() else { return Ok(()) };
        for group in demand.groups_of_spaced() {
            let class = spaced(group) >> (u64::BITS - BITS);
            let mut part = PartReader::of_class(self.segment, class)?;
            let mut more = part.find(class)?;
            while more {
                let mut rows = std::mem::take(&mut self.rows);
                rows.clear();
                more = part.rows_of_piece(&mut rows)?;
                self.look(&rows, each)?;
                self.rows = rows;
            }
        }
        let without = self.rows_of_place(0)?;
        for first in without.clone().step_by(UNSETTLED) {
            let mut rows = std::mem::take(&mut self.rows);
            rows.clear();
            or_raise(memory::reserve(&mut rows, UNSETTLED, COLLECTING));
            rows.extend(first..without.end.min(first.saturating_add(UNSETTLED as u32)));
            self.look(&rows, each)?;
            self.rows = rows;
        }
        Ok(())
    }

    /// Gives the rows to `each` of which the index has no elements, if their sizes allow it.
    pub(super) fn long_strings(&mut self, each: &mut dyn Taker) -> Looked<()> {
        let mut part = PartReader::of_split(self.segment)?;
        let mut rows = std::mem::take(&mut self.rows);
        while part.next(&mut rows)?.is_some() {
            self.look(&rows, each)?;
        }
        self.rows = rows;
        Ok(())
    }

    /// Gives those of these rows to `each` whose sizes allow that they are similar enough.
    fn look(&mut self, rows: &[u32], each: &mut dyn Taker) -> Looked<()> {
        for rows in rows.chunks(UNSETTLED) {
            self.give(rows.iter().copied(), |_, _| u32::MAX, each)?;
        }
        Ok(())
    }

    /// Returns the rows of a place in the order of rows.
    fn rows_of_place(&self, place: usize) -> Looked<Range<u32>> {
        Ok(self.first_of_place(place)?..self.first_of_place(place + 1)?)
    }

    /// Returns the first row of a place, or of a later one.
    fn first_of_place(&self, place: usize) -> Looked<u32> {
        let (mut low, mut high) = (0, self.segment.about.rows);
        while low < high {
            let middle = low + (high - low) / 2;
            let mut found = 0;
            self.segment.look([middle], |_, _, bytes| found = place_of_size(bytes))?;
            if found < place {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        Ok(low)
    }
}
