//! Chooses segments, and merges them into one.

use roaring::RoaringBitmap;

use super::cursor::{MergedCursor, SegmentCursor};
use super::maintenance::{Change, Maintenance, budget, sure};
use super::segment::Segment;
use super::writer::SegmentWriter;
use crate::pg::index::families::keys::ClassKeys;
use crate::pg::index::layout::format::{Descriptor, MOST_SEGMENTS};
use crate::pg::index::layout::items::{HeapRow, SignaturePair};
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
    /// The number of its first row.
    first: u32,
    /// What a row has as its new number, less the number of rows before it that are not dead; it
    /// wraps around.
    base: u32,
}

impl MergedSegment {
    /// Gives the rows of a segment that are not dead to a writer, which brings them into its order.
    fn new(segment: Segment, payload: usize, writer: &mut SegmentWriter) -> Result<Self> {
        let (mut dead, mut runs, mut living) = (RoaringBitmap::new(), Vec::<MergedRows>::new(), 0);
        for n in 0..segment.about.row_pages {
            let (first, contents) = sure(segment.index, segment.row_page(n));
            for (row, bytes) in (first..).zip(contents.chunks_exact(HeapRow::SIZE + payload)) {
                let (head, sketch) = bytes.split_at(HeapRow::SIZE);
                let head = HeapRow::read(head);
                if head.has(HeapRow::DEAD) {
                    dead.insert(row);
                    continue;
                }
                let base = writer.add(head, sketch)?.wrapping_sub(living);
                living += 1;
                if runs.last().is_none_or(|last| last.base != base) {
                    memory::push(&mut runs, MergedRows { first: row, base }, "merging segments")?;
                }
            }
        }
        Ok(Self { segment, dead, runs })
    }

    /// Returns the new number of a row, or None if it is dead.
    fn number(&self, row: u32) -> Option<u32> {
        let run = &self.runs[self.runs.partition_point(|run| run.first <= row).checked_sub(1)?];
        (!self.dead.contains(row)).then(|| run.base.wrapping_add(row - self.dead.rank(row) as u32))
    }
}

impl Maintenance {
    /// Merges the segments that are due or, if none are due, rewrites a segment with many dead
    /// rows, again and again, for VACUUM.
    pub(crate) fn merge_due(&self) -> Result<()> {
        let decays = |segment: &&Descriptor| segment.dead > 0 && segment.dead >= segment.rows / 5;
        self.merge_some(&mut |Directory { segments, .. }| {
            tier(segments).or_else(|| segments.iter().find(decays).map(|&segment| vec![segment]))
        })
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
        let mut writer = SegmentWriter::new(index, Logging::Now, self.reserve(), keys.layout(), budget() / 4);
        let mut sources = Vec::new();
        for &about in chosen {
            let segment = sure(index, Segment::open(reading, about, keys.layout()));
            sources.push(MergedSegment::new(segment, keys.payload(), &mut writer)?);
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
