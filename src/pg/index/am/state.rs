//! The state of a scan: its probes, and the rows that it finds.

use pgrx::pg_sys;

use super::nearest_by_edits::NearestByEdits;
use super::ordered::{OrderedPass, OrderedScan};
use super::reading::{FoundRow, SearchEnd, Taker, WantedRows};
use super::search::{finds_many, near_bits, search, some_rows, undisturbed};
use super::search_grams::search_grams;
use super::table::{Heap, RowTexts};
use crate::pg::index::families::class::OperatorClass;
use crate::pg::index::families::keys::ClassKeys;
use crate::pg::index::families::probe::{Probe, Target};
use crate::pg::index::layout::items::Tid;
use crate::pg::index::pages::buffer::{Looked, OpenIndex};
use crate::pg::server::error::or_raise;
use neardup_core::features::normalization::Normalization;

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
    /// An index tuple whose columns are NULL, or a null pointer until one is needed.
    pub no_columns: pg_sys::IndexTuple,
    /// True if the scan was counted in the statistics.
    pub counted: bool,
}

impl Scan {
    /// Reports whether the server must check the conditions on the rows of the table.
    pub(crate) fn recheck(&self) -> bool {
        match self.probes.as_slice() {
            // Values with equal hashes need not be equal.
            _ if self.index.group_columns() > 0 => true,
            [] => false,
            [probe, rest @ ..] => {
                !probe.is_exact() || rest.iter().any(|probe| !probe.is_near() || !probe.is_exact())
            }
        }
    }

    /// Gives every row that the first probe finds to `taker`, unless the row's sketch shows that
    /// another probe does not find it, perhaps more than once.
    pub(super) fn search(&self, taker: &mut dyn Taker) -> Looked<SearchEnd> {
        let (first, rest) = match self.probes.as_slice() {
            [] => (&Probe::Everything, &[][..]),
            [first, rest @ ..] => (first, rest),
        };
        let accepts = |probe: &Probe, found: &FoundRow<'_>| {
            !probe.is_near() || self.keys.accepts(probe, found.row, found.sketch)
        };
        search(self.index, &self.keys, first, WantedRows::All, &mut |found: FoundRow<'_>| {
            if rest.iter().all(|probe| accepts(probe, &found)) { taker.row(found) } else { u64::MAX }
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

    /// Returns a reader of the texts of the table, in this form, if they can be read.
    fn texts(&self, form: Option<Normalization>) -> Option<RowTexts> {
        let (table, snapshot) = self.seen?;
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
        let (index, keys) = (self.index, &self.keys);
        if undisturbed(index, || finds_many(index, keys, probe)) {
            self.ordered.pass_over_near();
        }
    }

    /// Collects the next rows.
    fn fill(&mut self) {
        self.pass_over_near();
        let ordered = &self.ordered;
        let (index, keys) = (self.index, &self.keys);
        let mut nearest = ordered.nearest();
        let (end, is_exact) = undisturbed(index, || {
            nearest.clear();
            if let OrderedPass::Near(Probe::Grams(probe)) = ordered.pass()
                && let Some(ball) = probe.ball()
                && let Some(texts) = self.texts(probe.normalization)
            {
                let found = NearestByEdits::new(texts, &ball, ordered, &mut nearest);
                let mut found = found.unwrap_or_else(|error| error.raise());
                search_grams(index, keys, probe, WantedRows::Nearest, &mut found)?;
                return Ok((SearchEnd::default(), found.is_exact()));
            }
            let mut take = |found: FoundRow<'_>| {
                let key = found.key.unwrap_or_else(|| ordered.key(keys, found.row, found.sketch));
                or_raise(ordered.push(&mut nearest, key, found.row.tid()));
                ordered.wanted(&nearest)
            };
            let end = match (ordered.pass(), ordered.only_target()) {
                (OrderedPass::Near(probe), _) => {
                    // Mostly there are near rows. If not, one more search finds all others.
                    let wanted =
                        if ordered.is_first_pass() { WantedRows::Nearest } else { WantedRows::Farther };
                    search(index, keys, probe, wanted, &mut take)?
                }
                (OrderedPass::Ties, _) => {
                    some_rows(index, keys, &mut |row| {
                        or_raise(ordered.push(&mut nearest, keys.farthest().into(), row.tid()));
                        !nearest.is_full()
                    })?;
                    SearchEnd::default()
                }
                (OrderedPass::All, Some(Target::Sketch(bits))) if keys.class == OperatorClass::Simhash => {
                    near_bits(index, keys, bits, &mut take)?
                }
                // What a condition knows of a row is no distance of the order.
                (OrderedPass::All, _) => self.search(&mut |found: FoundRow<'_>| {
                    let key = ordered.key(keys, found.row, found.sketch);
                    or_raise(ordered.push(&mut nearest, key, found.row.tid()));
                    u64::MAX
                })?,
            };
            Ok((end, false))
        });
        self.ordered.take(nearest, &end, is_exact);
    }
}
