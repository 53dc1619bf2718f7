//! Reads the rows of one or two tables group by group. The server returns the rows of each table in
//! the order of their groups, so rows of equal groups of the two tables are found as in a merge.

use std::cmp::Ordering;

use super::source::{DocumentSource, ValueOrder};
use super::stream::{DocumentStream, ReadRows};
use crate::pg::query::ids::RowIds;
use crate::pg::server::error::Result;
use neardup_core::features::source_document::SourceDocument;
use neardup_core::memory;
use neardup_core::methods::documents::Side;

const DOING: &str = "reading groups of rows";

/// The tables whose rows are read by groups: none, one or two.
#[derive(Default)]
pub(super) struct GroupedTables<'a>(pub(super) Vec<GroupedTable<'a>>);

impl<'a> GroupedTables<'a> {
    /// Starts to read.
    pub(super) fn open(sources: [Option<&'a DocumentSource>; 2]) -> Result<Self> {
        let mut all = Self::default();
        for source in sources.into_iter().flatten() {
            let Some(equality) = source.group else { continue };
            all.0.push(GroupedTable::open(source, equality)?);
        }
        Ok(all)
    }

    /// Moves on to the next group that each table has. Returns the numbers of its first rows.
    /// `next` moves on to the next group of a table.
    pub(super) fn next(
        &mut self,
        mut next: impl FnMut(&mut GroupedTable<'a>, Side) -> Result<Option<u32>>,
    ) -> Result<Option<[u32; 2]>> {
        match &mut self.0[..] {
            [only] => Ok(next(only, Side::Left)?.map(|first| [first, 0])),
            [left, right] => {
                let mut firsts = [next(left, Side::Left)?, next(right, Side::Right)?];
                while let [Some(left_first), Some(right_first)] = firsts {
                    match left.compare(right) {
                        Ordering::Equal => return Ok(Some([left_first, right_first])),
                        Ordering::Less => firsts[0] = next(left, Side::Left)?,
                        Ordering::Greater => firsts[1] = next(right, Side::Right)?,
                    }
                }
                Ok(None)
            }
            _ => Ok(None),
        }
    }

    /// Returns the number of bytes on the heap that grow with the number of groups.
    pub(super) fn bytes(&self) -> usize {
        self.0.iter().map(|table| table.values.bytes() + memory::bytes(&table.firsts)).sum()
    }
}

impl Drop for GroupedTables<'_> {
    /// Ends the sessions of the cursors in the reverse of the order in which they began.
    fn drop(&mut self) {
        self.0.iter_mut().for_each(|table| table.stream.free());
        while self.0.pop().is_some() {}
    }
}

/// A table whose rows are read by groups.
pub(super) struct GroupedTable<'a> {
    stream: DocumentStream<'a>,
    /// The value of each group so far, and the number of its first row.
    values: RowIds,
    firsts: Vec<u32>,
    /// The number of the current group and the numbers of its rows as far as they are read.
    group: Option<usize>,
    /// Documents that were read and not given yet.
    documents: Vec<(u32, SourceDocument)>,
    /// The number of rows that were read.
    rows: u32,
}

impl<'a> GroupedTable<'a> {
    /// Starts to read.
    fn open(source: &'a DocumentSource, (type_oid, collation): ValueOrder) -> Result<Self> {
        Ok(Self {
            stream: source.stream()?,
            values: RowIds::of_column(type_oid, collation),
            firsts: Vec::new(),
            group: None,
            documents: Vec::new(),
            rows: 0,
        })
    }

    /// Reads some more rows.
    fn read(&mut self, rows: &mut ReadRows<'_>) -> Result<()> {
        let Self { stream, values, firsts, documents, .. } = self;
        stream.fetch(documents, rows, &mut |row, value| {
            let last = (values.len() as u32).checked_sub(1).map(|last| values.datum(last));
            if last.is_none_or(|last| values.compare(last, value) != Ordering::Equal) {
                // SAFETY: the cursor checked the type of the group.
                unsafe { values.push(value)? };
                memory::push(firsts, row, DOING)?;
            }
            Ok(())
        })?;
        self.rows = rows.ids.len() as u32;
        Ok(())
    }

    /// Moves on to the next group. Returns the number of its first row, or `None` if there is none.
    pub(super) fn next(&mut self, rows: &mut ReadRows<'_>) -> Result<Option<u32>> {
        let next = self.group.map_or(0, |group| group + 1);
        while self.firsts.len() <= next && !self.stream.ended {
            self.documents.clear();
            self.read(rows)?;
        }
        self.group = Some(next);
        let first = self.firsts.get(next).copied();
        // Those of groups that are passed over are not wanted.
        self.documents.retain(|&(row, _)| first.is_some_and(|first| row >= first));
        Ok(first)
    }

    /// Compares the current group with that of another table, by the type of both.
    fn compare(&self, other: &Self) -> Ordering {
        let value = |table: &Self| table.group.map(|group| table.values.datum(group as u32));
        match (value(self), value(other)) {
            (Some(one), Some(other)) => self.values.compare(one, other),
            _ => Ordering::Equal,
        }
    }

    /// Returns the numbers of the rows of the current group, as far as they were read, and whether
    /// these are all.
    fn current(&self) -> (std::ops::Range<u32>, bool) {
        let place = self.group.unwrap_or_default();
        let first = self.firsts.get(place).copied().unwrap_or(self.rows);
        match self.firsts.get(place + 1) {
            Some(&end) => (first..end, true),
            None => (first..self.rows, self.stream.ended),
        }
    }

    /// Gives documents of the current group, whose rows are numbered from 0. Returns their size in
    /// bytes.
    pub(super) fn fetch(
        &mut self,
        documents: &mut Vec<(u32, SourceDocument)>,
        rows: &mut ReadRows<'_>,
    ) -> Result<usize> {
        if self.documents.is_empty() && !self.current().1 {
            self.read(rows)?;
        }
        let range = self.current().0;
        let count = self.documents.partition_point(|&(row, _)| row < range.end);
        let given = documents.len();
        let next = self.documents.drain(..count).map(|(row, document)| (row - range.start, document));
        memory::append(documents, next, DOING)?;
        Ok(documents[given..].iter().map(|(_, document)| document.bytes()).sum())
    }

    /// Reports whether all documents of the current group were given.
    pub(super) fn ended(&self) -> bool {
        let (range, is_complete) = self.current();
        is_complete && self.documents.first().is_none_or(|&(row, _)| row >= range.end)
    }

    /// Returns the number of rows of the current group that were read.
    pub(super) fn rows(&self) -> usize {
        self.current().0.len()
    }
}
