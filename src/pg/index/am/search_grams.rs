//! Finds rows whose strings may be similar to a given string, by the grams of their characters. The
//! strings that are most similar come first, and the search ends where no better ones can follow.
//! docs/design/signature-index.md, "Grams", explains why it misses no row.

use super::gram_counts::GramCounts;
use super::gram_search::{Edits, SegmentSearch, Taker, UNSETTLED, WINDOW, WantedRows, judge};
use super::live_segments::living;
use crate::pg::index::layout::items::HeapRow;
use crate::pg::index::layout::meta::Directory;
use crate::pg::index::families::grams::{GramItem, GramProbe};
use crate::pg::index::families::keys::ClassKeys;
use crate::pg::index::families::sets::probe::step_of;
use crate::pg::index::pages::buffer::{Looked, OpenIndex};
use crate::pg::index::storage::list_reader::PartReader;
use crate::pg::index::storage::pending::{self, PendingPages};
use crate::pg::index::storage::segment::{COLLECTING, Segment};
use crate::pg::server::error::or_raise;
use neardup_core::joins::search::grams::{BITS, MOST_ELEMENTS, common, signature, sizes};
use neardup_core::memory;

/// The largest number of lists that are open at the same time. Each list keeps one page in memory.
const OPEN: usize = 256;
/// Of an ordered search, at least this many rows of a group are looked at together.
const TOGETHER: u32 = 64;

/// Gives every row whose string may be in a ball to `each`.
pub(super) fn search_grams(
    index: OpenIndex,
    keys: &ClassKeys,
    probe: &GramProbe,
    wanted: WantedRows,
    each: &mut dyn Taker,
) -> Looked<()> {
    let mut greatest = u64::MAX;
    let edits = or_raise(probe.ball().map(|ball| Edits::new(&ball)).transpose());
    let edits = edits.as_ref();
    // The pending pages are read before the directory, so that a row that is moving from the
    // pending pages to a segment is seen.
    let mut pages = PendingPages::all(index, &Directory::read(index).meta);
    let mut elements = Vec::new();
    while let Some((block, contents)) = pages.next()? {
        for item in pending::items(index, block, &contents) {
            keys.check(index, block, &item);
            if item.row.has(HeapRow::DEAD | HeapRow::NULL)
                || item.row.has(HeapRow::EMPTY) && probe.demand.edit().is_none()
            {
                continue;
            }
            let Some(string) = GramItem::read(item.row, item.bytes) else { continue };
            let shared = if item.row.has(HeapRow::SPLIT) {
                u32::MAX
            } else if probe.demand.accepts(string.sizes, u32::MAX) {
                elements.clear();
                elements.extend(string.elements());
                common(&elements, &probe.elements)
            } else {
                continue;
            };
            if let Some(similar) = judge(probe, edits, string.head, shared, greatest) {
                greatest = each.row(item.row, similar);
            }
        }
        greatest = each.settle().unwrap_or(greatest);
    }
    let mut weights: Vec<(u32, u16)> = Vec::new();
    or_raise(memory::reserve(&mut weights, probe.elements.len(), COLLECTING));
    for same in probe.elements.chunk_by(u32::eq) {
        weights.push((same[0], u16::try_from(same.len()).unwrap_or(u16::MAX)));
    }
    for segment in living(index, &Directory::read(index), keys)? {
        let mut search = SegmentSearch {
            segment: &segment,
            probe,
            edits,
            weights: &weights,
            wanted,
            greatest,
            counts: GramCounts::default(),
            reached: Vec::new(),
            rows: Vec::new(),
        };
        search.run(each)?;
        greatest = search.greatest;
    }
    Ok(())
}

/// A list of the rows of a group that have an element.
struct GramList<'a> {
    /// None if the list is opened when it is read.
    part: Option<PartReader<'a>>,
    class: u64,
    /// The number of elements of the sought string whose list this is.
    weight: u16,
    /// The number of rows, or fewer if there are very many.
    rows: u32,
    /// The first row, or 0 if the list is not open.
    first: u32,
}

impl SegmentSearch<'_> {
    fn run(&mut self, each: &mut dyn Taker) -> Looked<()> {
        let all = self.segment.about.rows;
        let groups = self.probe.demand.groups();
        for start in (0..all).step_by(WINDOW as usize) {
            for &group in groups.iter().filter(|&&group| *sizes(group).start() <= MOST_ELEMENTS) {
                pgrx::check_for_interrupts!();
                let greatest = self.greatest;
                let is_wanted = |similarity| u64::from(step_of(similarity)) <= greatest;
                // A string of which elements are stored has few enough for 16 bits.
                if let Some(least) = self.probe.demand.least_shared(group, is_wanted)
                    && let Ok(least) = u16::try_from(least)
                {
                    self.count(start, group, least.max(1))?;
                    self.visit(group, least.max(1), each)?;
                    if least == 0 {
                        self.visit_others(start, group, each)?;
                    }
                }
            }
        }
        self.visit_spaced(each)?;
        self.long_strings(each)
    }

    /// Counts the elements that the rows of a group share with the sought string, and collects the
    /// rows that share at least `least`.
    fn count(&mut self, start: u32, group: u32, least: u16) -> Looked<()> {
        self.reached.clear();
        let segment = self.segment;
        let mut lists = open(segment, self.weights, group)?;
        // How many elements a row can share that are in the lists that were not read yet, and how
        // many a row shares of the lists that were read.
        let mut rest: u32 = lists.iter().map(|list| u32::from(list.weight)).sum();
        let first = lists.iter().map(|list| list.first).min().unwrap_or(0);
        self.counts.begin(start.max(first), start.saturating_add(WINDOW), least, rest);
        for list in &mut lists {
            if u32::from(self.counts.most) + rest < least.into() {
                self.reached.clear();
                break;
            }
            rest -= u32::from(list.weight);
            let part = match &mut list.part {
                Some(part) => part,
                None => {
                    let mut part = PartReader::of_class(segment, list.class)?;
                    if !part.find(list.class)? {
                        continue;
                    }
                    list.part.insert(part)
                }
            };
            let mut more = true;
            while more {
                let (counts, reached, weight) = (&mut self.counts, &mut self.reached, list.weight);
                more = part.each_run(|run| or_raise(counts.add(&run, weight, reached)))?;
            }
            list.part = None;
        }
        Ok(())
    }

    /// Gives the rows of a group that were reached to `each`, those that share most elements first.
    fn visit(&mut self, group: u32, least: u16, each: &mut dyn Taker) -> Looked<()> {
        let Self { probe, wanted, counts, reached, .. } = &*self;
        let shared = |row: u32| counts.count(row);
        let most = reached.iter().map(|&row| shared(row)).max().unwrap_or(0);
        let mut with = or_raise(memory::filled(0_u32, usize::from(most) + 1, COLLECTING));
        reached.iter().for_each(|&row| with[usize::from(shared(row))] += 1);
        let (probe, wanted) = (*probe, *wanted);
        let mut high = most;
        while high >= least {
            let similar = probe.demand.greatest(group, high.into());
            if similar.is_none_or(|similar| u64::from(step_of(similar)) > self.greatest) {
                break;
            }
            let (mut low, mut together) = (high, with[usize::from(high)]);
            while low > least && (wanted == WantedRows::All || together < TOGETHER) {
                low -= 1;
                together += with[usize::from(low)];
            }
            let mut rows = std::mem::take(&mut self.rows);
            rows.clear();
            or_raise(memory::reserve(&mut rows, together as usize, COLLECTING));
            let is_next = |&&row: &&u32| (low..=high).contains(&self.counts.count(row));
            rows.extend(self.reached.iter().filter(is_next));
            rows.sort_unstable();
            for rows in rows.chunks(UNSETTLED) {
                self.give(rows.iter().copied(), |counts, row| counts.count(row).into(), each)?;
            }
            self.rows = rows;
            high = low - 1;
        }
        Ok(())
    }
}

/// Opens the lists of a group, the shortest first. If there are too many, they are not opened, and
/// in no particular order.
fn open<'a>(segment: &'a Segment, weights: &[(u32, u16)], group: u32) -> Looked<Vec<GramList<'a>>> {
    let mut lists = Vec::new();
    or_raise(memory::reserve(&mut lists, weights.len(), COLLECTING));
    for &(element, weight) in weights {
        let class = signature(group, element) >> (u64::BITS - BITS);
        if weights.len() > OPEN {
            lists.push(GramList { part: None, class, weight, rows: 0, first: 0 });
            continue;
        }
        let mut part = PartReader::of_class(segment, class)?;
        if part.find(class)? {
            let rows = part.rows_of_this();
            let first = part.first()?.unwrap_or(0);
            lists.push(GramList { part: Some(part), class, weight, rows, first });
        }
    }
    lists.sort_by_key(|list| list.rows);
    Ok(lists)
}
