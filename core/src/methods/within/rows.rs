//! The rows that a search finds in all groups, other than pairs of a method: the nearest rows, and
//! passages.

use super::{GroupWork, HeldGroup, each_group};
use crate::error::{Error, Result};
use crate::joins::grouped_rows::{GroupedRow, GroupedRows};
use crate::memory;
use crate::methods::reading::Reading;
use crate::storage::files::TempFiles;
use crate::storage::log::Log;

/// Gets the rows that a search finds.
pub(crate) type Take<'t, T> = dyn FnMut(T) -> Result<()> + 't;
/// A search among the rows of one group, whose right rows are numbered from 0 if there are two
/// tables. It gives up where `take` returns an error.
pub(crate) type GroupSearch<'s, T> = dyn Fn(&mut Reading<'_>, &mut Take<'_, T>) -> Result<()> + Sync + 's;

/// Searches each group by itself, and returns what all searches find. The rows of the right table,
/// if there is one, are numbered from 0.
pub(crate) fn rows_of_groups<T: GroupedRow>(
    search: &GroupSearch<'_, T>,
    reading: &mut Reading<'_>,
) -> Result<GroupedRows<T>> {
    const MOST: usize = 1 << 14;
    let mut work =
        RowsOfGroups { search, has_right: reading.has_right(), rows: Log::new(reading.memory / 4) };
    let small = |reading: &mut Reading<'_>| {
        let (mut found, mut is_too_much) = (Vec::new(), false);
        let done = search(reading, &mut |row| {
            is_too_much = found.len() == MOST;
            if is_too_much {
                return Err(Error::Source);
            }
            memory::push(&mut found, row, "keeping rows of a group")
        });
        if is_too_much { Ok(None) } else { done.map(|()| Some(found)) }
    };
    each_group(reading, &small, &mut work)?;
    reading.held(work.rows.bytes());
    Ok(GroupedRows::new(work.rows))
}

struct RowsOfGroups<'s, T> {
    search: &'s GroupSearch<'s, T>,
    has_right: bool,
    rows: Log<T>,
}

impl<T: GroupedRow> RowsOfGroups<'_, T> {
    fn push(&mut self, mut row: T, [left, right]: [u32; 2], files: &dyn TempFiles) -> Result<()> {
        row.shift([left, if self.has_right { right } else { left }]);
        self.rows.push(row, files)
    }
}

impl<T: GroupedRow> GroupWork<Vec<T>> for RowsOfGroups<'_, T> {
    fn keep(&mut self, found: &Vec<T>, group: &HeldGroup, reading: &Reading<'_>) -> Result<()> {
        found.iter().try_for_each(|&row| self.push(row, group.first, reading.files))
    }

    fn large(&mut self, reading: &mut Reading<'_>, first: [u32; 2]) -> Result<()> {
        let (search, files) = (self.search, reading.files);
        search(reading, &mut |row| self.push(row, first, files))
    }

    fn is_enough(&self, most: Option<u64>) -> bool {
        most.is_some_and(|most| self.rows.len() > most)
    }

    fn bytes(&self) -> usize {
        self.rows.bytes()
    }
}
