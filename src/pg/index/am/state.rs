//! The state of a scan: its probes, and the rows that it finds.

use pgrx::pg_sys;

use super::gram_search::WantedRows;
use super::nearest_by_edits::NearestByEdits;
use super::ordered::{OrderedPass, OrderedScan};
use super::search::{finds_many, near_bits, search, some_rows, undisturbed};
use super::search_grams::search_grams;
use super::search_sets::search_sets;
use super::search_values::{More, SketchTarget, search_values};
use super::table::{Heap, RowTexts};
use crate::pg::index::layout::items::{HeapRow, Tid};
use crate::pg::index::families::class::OperatorClass;
use crate::pg::index::families::keys::ClassKeys;
use crate::pg::index::families::probe::{Probe, Target};
use crate::pg::index::families::sets::probe::step_of;
use crate::pg::index::pages::buffer::{Looked, OpenIndex};
use crate::pg::server::error::or_raise;

/// A scan of the index.
#[derive(Debug)]
pub(crate) struct Scan {
    /// The index.
    pub index: OpenIndex,
    /// The keys of the index.
    pub keys: ClassKeys,
    /// The conditions on a row. The condition that is best to start with comes first.
    pub probes: Vec<Probe>,
    /// The state by which rows are returned one by one, in order.
    pub ordered: OrderedScan,
    /// The memory context of the arguments of the scan.
    pub memory: pg_sys::MemoryContext,
    /// A memory context that lives as long as the scan.
    pub home: pg_sys::MemoryContext,
    /// The known size of the table.
    pub heap: Heap,
    /// The table and the snapshot of the query, if it is an MVCC snapshot, once rows are returned.
    pub seen: Option<(pg_sys::Relation, pg_sys::Snapshot)>,
    /// An index tuple whose only column is NULL, or a null pointer until one is needed.
    pub no_columns: pg_sys::IndexTuple,
    /// True if the scan was counted in the statistics.
    pub counted: bool,
}

impl Scan {
    /// Reports whether the server must check the conditions on the rows of the table.
    pub(crate) fn recheck(&self) -> bool {
        match self.probes.as_slice() {
            [] => false,
            [probe, rest @ ..] => {
                !probe.is_exact() || rest.iter().any(|probe| !probe.is_near() || !probe.is_exact())
            }
        }
    }

    /// Calls `each` with every row that the first probe finds, unless the row's sketch shows that
    /// another probe does not find it. Passes the row and its sketch, perhaps more than once.
    pub(crate) fn search(&self, each: &mut dyn FnMut(HeapRow, &[u8])) -> Looked<()> {
        let (first, rest) = match self.probes.as_slice() {
            [] => (&Probe::Everything, &[][..]),
            [first, rest @ ..] => (first, rest),
        };
        search(self.index, &self.keys, first, &mut |row, sketch| {
            if rest.iter().all(|probe| !probe.is_near() || self.keys.accepts(probe, row, sketch)) {
                each(row, sketch);
            }
        })
    }

    /// Reports whether the scan can find no row.
    pub(crate) fn is_empty(&self) -> bool {
        self.probes.iter().any(|probe| matches!(probe, Probe::Nothing))
    }

    /// Returns the next row, its distances, and whether these are only lower bounds.
    pub(crate) fn next(&mut self) -> Option<(Tid, Vec<Option<f64>>, bool)> {
        loop {
            if let Some(next) = self.ordered.next(&self.keys) {
                return Some(next);
            }
            if self.ordered.done || self.is_empty() {
                return None;
            }
            self.fill();
        }
    }

    /// Returns a reader of the texts of the table, if they can be read.
    fn texts(&self) -> Option<RowTexts> {
        let (table, snapshot) = self.seen?;
        let form = self.keys.grams.as_ref().and_then(|grams| grams.parameters.normalization);
        // SAFETY: the server keeps both for the scan.
        unsafe { RowTexts::new(self.index, table, snapshot, form).unwrap_or_else(|error| error.raise()) }
    }

    /// Goes on to the comparison of all sketches of bits if the search for near rows would find so
    /// many that it would take as long.
    fn pass_over_near(&mut self) {
        if self.keys.class != OperatorClass::Simhash
            || !matches!(self.ordered.only_target(), Some(Target::Sketch(_)))
        {
            return;
        }
        let OrderedPass::Near(probe) = self.ordered.pass() else { return };
        let (index, keys, mut many) = (self.index, &self.keys, false);
        undisturbed(index, || {
            many = finds_many(index, keys, probe)?;
            Ok(())
        });
        if many {
            self.ordered.pass_over_near();
        }
    }

    /// Collects the next rows.
    fn fill(&mut self) {
        self.pass_over_near();
        let ordered = &self.ordered;
        let (index, keys) = (self.index, &self.keys);
        let mut nearest = ordered.nearest();
        let (mut reached, mut is_exact) = (None, false);
        undisturbed(index, || {
            nearest.clear();
            is_exact = false;
            let mut push = |key: u64, row: HeapRow| or_raise(ordered.push(&mut nearest, key, row.tid()));
            let mut add = |row: HeapRow, sketch: &[u8]| push(ordered.key(keys, row, sketch), row);
            match (ordered.pass(), ordered.only_target()) {
                (OrderedPass::Near(Probe::Sets(probe)), _) => {
                    search_sets(index, keys, probe, &mut |row, similar| push(step_of(similar).into(), row))
                }
                (OrderedPass::Near(Probe::Grams(probe)), _) => {
                    if let Some(ball) = probe.ball()
                        && let Some(texts) = self.texts()
                    {
                        let found = NearestByEdits::new(texts, &ball, ordered, &mut nearest);
                        let mut found = found.unwrap_or_else(|error| error.raise());
                        let done = search_grams(index, keys, probe, WantedRows::Nearest, &mut found);
                        is_exact = found.is_exact();
                        return done;
                    }
                    search_grams(index, keys, probe, WantedRows::Nearest, &mut |row: HeapRow, similar| {
                        or_raise(ordered.push(&mut nearest, step_of(similar).into(), row.tid()));
                        ordered.wanted(&nearest)
                    })
                }
                (OrderedPass::Near(&Probe::Near { ref target, most, .. }), _) if keys.has_value_lists() => {
                    // Mostly there are near rows. If not, one more search finds all others.
                    let more = if ordered.is_first_pass() { More::Some } else { More::All };
                    let sought = SketchTarget { target, most, more };
                    let found = search_values(index, keys, &sought, &mut |row, _, difference| {
                        or_raise(ordered.push(&mut nearest, difference.into(), row.tid()));
                        ordered.wanted(&nearest).try_into().unwrap_or(u32::MAX)
                    })?;
                    reached = Some(found.reached);
                    if found.left_out {
                        nearest.leave_out();
                    }
                    Ok(())
                }
                (OrderedPass::Near(probe), _) => search(index, keys, probe, &mut add),
                (OrderedPass::Ties, _) => some_rows(index, keys, &mut |row| {
                    or_raise(ordered.push(&mut nearest, keys.farthest().into(), row.tid()));
                    !nearest.is_full()
                }),
                (OrderedPass::All, Some(Target::Sketch(bits))) if keys.class == OperatorClass::Simhash => {
                    let left_out = near_bits(index, keys, bits, &mut |row, sketch, wanted| {
                        let key = ordered.key(keys, row, sketch);
                        or_raise(ordered.push(&mut nearest, key, row.tid()));
                        *wanted = ordered.wanted(&nearest).try_into().unwrap_or(u32::MAX);
                    })?;
                    if left_out {
                        nearest.leave_out();
                    }
                    Ok(())
                }
                (OrderedPass::All, _) => self.search(&mut add),
            }
        });
        self.ordered.take(nearest, reached, is_exact);
    }
}
