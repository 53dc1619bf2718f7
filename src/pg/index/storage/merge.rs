//! Chooses segments, and merges them into one.

use std::ops::Range;

use roaring::RoaringBitmap;

use super::cursor::{MergedCursor, SegmentCursor};
use super::maintenance::{Change, Maintenance, budget, sure};
use super::segment::Segment;
use super::sort::{PLACES, place_of_size};
use super::writer::SegmentWriter;
use crate::pg::index::families::keys::ClassKeys;
use crate::pg::index::layout::format::{Descriptor, MOST_SEGMENTS, Pieces};
use crate::pg::index::layout::items::{HeapRow, SignaturePair, rows_per_page};
use crate::pg::index::layout::meta::Directory;
use crate::pg::index::pages::record::Logging;
use crate::pg::server::error::Result;
use neardup_core::memory;

/// A segment that is merged.
struct MergedSegment {
    segment: Segment,
    /// The numbers of its dead rows.
    dead: RoaringBitmap,
    /// The runs of rows that stay together, in order. In a segment whose rows have no order, all
    /// rows are one run.
    runs: Vec<MergedRows>,
}

/// A run of rows of a segment that is merged.
struct MergedRows {
    /// Its place in the order of rows.
    place: usize,
    /// The number of its first row.
    first: u32,
    /// What a row that is not dead has as its new number, less its old number and more the number
    /// of dead rows before it; it wraps around.
    base: u32,
}

impl MergedSegment {
    /// Finds the runs of rows of the same place, and the dead rows.
    fn find_runs(&mut self, keys: &ClassKeys) -> Result<()> {
        for n in 0..self.segment.about.row_pages {
            let (first, contents) = sure(self.segment.index, self.segment.row_page(n));
            for (row, bytes) in (first..).zip(contents.chunks_exact(HeapRow::SIZE + keys.payload())) {
                let (head, size) = bytes.split_at(HeapRow::SIZE);
                if HeapRow::read(head).has(HeapRow::DEAD) {
                    self.dead.insert(row);
                }
                let place = place_of_size(size);
                match self.runs.last() {
                    Some(last) if last.place == place => {}
                    Some(last) if last.place > place => {
                        let root = self.segment.about.root;
                        self.segment.index.corrupted(root, "rows are not in the order of their groups");
                    }
                    _ => memory::push(
                        &mut self.runs,
                        MergedRows { place, first: row, base: 0 },
                        "merging segments",
                    )?,
                }
            }
        }
        Ok(())
    }

    /// Returns the rows of a place, if there are any.
    fn run_of(&self, place: usize) -> Option<Range<u32>> {
        let n = self.runs.binary_search_by_key(&place, |run| run.place).ok()?;
        let end = self.runs.get(n + 1).map_or(self.segment.about.rows, |run| run.first);
        Some(self.runs[n].first..end)
    }

    /// Gives the rows of a run that are not dead to a writer.
    fn copy(
        &mut self,
        place: usize,
        rows: Range<u32>,
        keys: &ClassKeys,
        writer: &mut SegmentWriter,
    ) -> Result<()> {
        if rows.is_empty() {
            return Ok(());
        }
        let before = self.dead.range_cardinality(..rows.start) as u32;
        let base = writer.rows().wrapping_sub(rows.start - before);
        match self.runs.iter_mut().find(|run| run.place == place) {
            Some(run) => run.base = base,
            None => memory::push(
                &mut self.runs,
                MergedRows { place, first: rows.start, base },
                "merging segments",
            )?,
        }
        let per_page = rows_per_page(keys.payload()) as u32;
        for n in rows.start / per_page..=(rows.end - 1) / per_page {
            let (first, contents) = sure(self.segment.index, self.segment.row_page(n));
            for (row, bytes) in (first..).zip(contents.chunks_exact(HeapRow::SIZE + keys.payload())) {
                let head = HeapRow::read(bytes);
                if !rows.contains(&row) {
                    continue;
                }
                if head.has(HeapRow::DEAD) {
                    self.dead.insert(row);
                } else {
                    writer.row(head, &bytes[HeapRow::SIZE..])?;
                }
            }
        }
        Ok(())
    }

    /// Returns the new number of a row, or None if it is dead.
    fn number(&self, row: u32) -> Option<u32> {
        let run = &self.runs[self.runs.partition_point(|run| run.first <= row).checked_sub(1)?];
        (!self.dead.contains(row)).then(|| run.base.wrapping_add(row - self.dead.rank(row) as u32))
    }
}

impl Maintenance {
    /// Merges the segments that are due and rewrites segments with many dead rows, for VACUUM.
    pub(crate) fn merge_due(&self) -> Result<()> {
        self.merge_some(&mut |directory| of_vacuum(&directory.segments))
    }

    /// Merges all segments into one without dead rows.
    pub(crate) fn merge_all(&self) -> Result<()> {
        let mut done = false;
        self.merge_some(&mut |directory| {
            let all = of_all(&directory.segments)?;
            (!std::mem::replace(&mut done, true)).then_some(all)
        })
    }

    /// Merges the segments that `choose` chooses, again and again until it chooses none.
    pub(super) fn merge_some(
        &self,
        choose: &mut dyn FnMut(&Directory) -> Option<Vec<Descriptor>>,
    ) -> Result<()> {
        loop {
            let directory = Directory::read(self.index);
            match choose(&directory) {
                Some(chosen) if !chosen.is_empty() => self.merge(&directory, &chosen)?,
                _ => return Ok(()),
            }
        }
    }

    fn merge(&self, directory: &Directory, chosen: &[Descriptor]) -> Result<()> {
        let index = self.index;
        let keys = ClassKeys::open(index, &directory.meta);
        let reading = index.in_bulk();
        let by_groups = keys.layout().pieces == Pieces::Grouped;
        let mut writer = SegmentWriter::new(index, Logging::Now, self.reserve(), keys.layout(), budget() / 4);
        let mut sources = Vec::new();
        for &about in chosen {
            let segment = sure(index, Segment::open(reading, about, keys.layout()));
            let mut source = MergedSegment { segment, dead: RoaringBitmap::new(), runs: Vec::new() };
            if by_groups {
                source.find_runs(&keys)?;
            } else {
                source.copy(0, 0..about.rows, &keys, &mut writer)?;
            }
            sources.push(source);
        }
        if by_groups {
            for place in 0..PLACES {
                for source in &mut sources {
                    if let Some(rows) = source.run_of(place) {
                        source.copy(place, rows, &keys, &mut writer)?;
                    }
                }
            }
        }
        if writer.rows() > 0 {
            writer.end_rows(chosen.iter().map(|segment| segment.postings).sum())?;
            let segments = sources.iter().map(|source| &source.segment);
            let mut merged = sure(index, MergedCursor::new(segments, SegmentCursor::next));
            while let Some((signature, n, rows)) = sure(index, merged.next()) {
                let (source, mut result) = (&sources[n], Ok(()));
                let pairs = source.segment.each_row(&rows, |row| {
                    if result.is_ok()
                        && let Some(row) = source.number(row)
                    {
                        result = writer.pair(signature, row);
                    }
                });
                sure(index, pairs);
                result?;
            }
        }
        let added = if writer.rows() == 0 { None } else { Some(writer.finish()?) };
        let removed: Vec<u64> = chosen.iter().map(|segment| segment.id).collect();
        let blocks: Vec<u32> = sources.iter().flat_map(|source| source.segment.blocks()).collect();
        self.publish(&removed, Change { added, ..Change::default() }, &blocks);
        Ok(())
    }
}

/// The least number of segments of the same order of magnitude that are merged.
const FAN: usize = 8;
/// If an index has at least this many segments, an insert also merges large segments.
const CROWDED: usize = MOST_SEGMENTS - 2 * FAN;
/// The largest number of rows of a segment.
const MOST_ROWS: u64 = (SignaturePair::LIST - 1) as u64;

/// Chooses the segments that an insert merges: small segments that together have at most 16 times
/// `pages` pages. If there are too many segments, chooses the smallest ones, however large they
/// are.
pub(crate) fn of_insert(segments: &[Descriptor], pages: u64) -> Option<Vec<Descriptor>> {
    if segments.len() >= CROWDED {
        return smallest(segments);
    }
    let due = tier(segments)?;
    let all: u64 = due.iter().map(|segment| u64::from(segment.pages)).sum();
    (all <= 16 * pages).then_some(due)
}

/// Chooses the segments that VACUUM merges: the segments that are due or, if none are due, one
/// segment with many dead rows, which VACUUM then rewrites.
pub(crate) fn of_vacuum(segments: &[Descriptor]) -> Option<Vec<Descriptor>> {
    let decaying = segments.iter().find(|segment| segment.dead > 0 && segment.dead >= segment.rows / 5);
    tier(segments).or_else(|| decaying.map(|&segment| vec![segment]))
}

/// Chooses all segments, if merging them changes anything.
pub(crate) fn of_all(segments: &[Descriptor]) -> Option<Vec<Descriptor>> {
    let worth = segments.len() > 1 || segments.iter().any(|segment| segment.dead > 0);
    worth.then(|| fitting(segments.to_vec()))
}

/// Chooses the smallest segments, to make room in the directory.
pub(crate) fn smallest(segments: &[Descriptor]) -> Option<Vec<Descriptor>> {
    let mut sorted = segments.to_vec();
    sorted.sort_by_key(|segment| segment.pages);
    sorted.truncate(2 * FAN);
    let chosen = fitting(sorted);
    (chosen.len() > 1).then_some(chosen)
}

/// Returns the segments of the lowest order of magnitude that has enough of them.
fn tier(segments: &[Descriptor]) -> Option<Vec<Descriptor>> {
    let of = |segment: &Descriptor| segment.pages.max(1).ilog2() / 3;
    (0..=10).find_map(|tier| {
        let chosen: Vec<_> = segments.iter().copied().filter(|segment| of(segment) == tier).collect();
        let chosen = if chosen.len() >= FAN { fitting(chosen) } else { Vec::new() };
        (chosen.len() > 1).then_some(chosen)
    })
}

/// Returns the longest run of these segments, from the first one on, whose rows can be numbered in
/// one segment.
fn fitting(segments: Vec<Descriptor>) -> Vec<Descriptor> {
    let mut rows = 0;
    let fits = |segment: &Descriptor| {
        rows += u64::from(segment.rows);
        rows <= MOST_ROWS
    };
    segments.into_iter().take_while(fits).collect()
}
