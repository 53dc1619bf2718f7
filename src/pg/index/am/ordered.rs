//! Returns rows one by one, in the order of their distance if the query asks for one.

use roaring::RoaringTreemap;

use super::nearest::NearestItems;
use super::reading::SearchEnd;
use crate::pg::index::families::keys::ClassKeys;
use crate::pg::index::families::probe::{Probe, Target};
use crate::pg::index::layout::items::{HeapRow, Tid};
use crate::pg::server::error::{Result, SqlError};
use neardup_core::error;
use pgrx::{PgSqlErrorCode, pg_sys};

/// The largest number of distances that an order can have. Each takes 16 bits of a key.
const MOST_ORDERS: usize = 4;
/// The distance of NULL, which sorts after all other distances.
const NULL: u64 = 0xffff;
/// The number of rows in the first batch of a pass for which any rows will do. Each later batch of
/// the pass has [`GROWTH`] times as many rows as the batch before it.
const FIRST: usize = 32;
const GROWTH: usize = 8;
/// The number of rows in the first batch of a pass that finds few rows in less time than many.
const FIRST_FEW: usize = 32;
/// The number of rows in the first batch of a pass that finds strings. The fewer they are, the
/// sooner the search ends.
const FIRST_STRINGS: usize = 16;
/// The number of rows in the first batch of a pass that compares all sketches.
const FIRST_OF_ALL: usize = 512;

/// The state of a scan that returns rows one by one.
#[derive(Debug, Default)]
pub(crate) struct OrderedScan {
    targets: Vec<Option<Target>>,
    /// Probes, and for each of them the distance up to which it finds all rows. The probe with the
    /// least distance is last.
    near: Vec<(Probe, u64)>,
    /// The number of rows in the next batch, if all rows that the probes in `near` did not find are
    /// equally far from the target and so may come in any order.
    ties: Option<usize>,
    /// The number of rows in the next batch of another pass, if there is a limit. It grows like the
    /// batches of `ties`.
    few: Option<usize>,
    /// The rows that were already returned. They are kept if a later search may find such a row
    /// again, at another place in the order: see [`OrderedScan::push`].
    given: Option<RoaringTreemap>,
    batch: Vec<(u64, Tid)>,
    at: usize,
    /// Set if the keys of the batch are the steps of the real distances.
    is_exact: bool,
    /// The key and the address of the last row that was returned. All rows up to it were returned,
    /// unless `given` says otherwise.
    after: Option<(u64, Tid)>,
    /// The distance up to which all rows were found. All others are farther.
    found: u64,
    /// True if all rows were collected.
    pub done: bool,
}

/// The search that finds the next rows.
#[derive(Debug)]
pub(crate) enum OrderedPass<'a> {
    /// This probe finds all of the next rows. It may also find rows that come later or that were
    /// already returned.
    Near(&'a Probe),
    /// Any rows that are not NULL will do.
    Ties,
    /// All rows must be read.
    All,
}

impl OrderedScan {
    /// Starts a scan in the order of the distances to `targets`. If `everything` is true, the scan
    /// has no conditions and starts with the near rows. If `stopped` is true, some signatures may
    /// not be searched. The probes then do not find all near rows, and the remaining rows need not
    /// be equally far.
    pub(crate) fn new(
        keys: &ClassKeys,
        mut targets: Vec<Option<Target>>,
        everything: bool,
        stopped: bool,
    ) -> Result<Self> {
        if targets.len() > MOST_ORDERS {
            let message = format!("an index scan in the order of {} distances", targets.len());
            return Err(SqlError::new(PgSqlErrorCode::ERRCODE_FEATURE_NOT_SUPPORTED, message)
                .hint(format!("Order by at most {MOST_ORDERS} distances, or SET enable_indexscan = off;")));
        }
        let (mut near, mut ties, mut few) = (Vec::new(), None, None);
        match targets.as_slice() {
            [Some(target)] if everything => {
                near = keys.near(target);
                near.reverse();
                ties = (keys.tells_all(target) && !stopped).then_some(FIRST);
                few = match target {
                    Target::Ball(probe) if matches!(**probe, Probe::Grams(_)) => Some(FIRST_STRINGS),
                    Target::Sketch(_) if keys.has_value_lists() => Some(FIRST_FEW),
                    Target::Sketch(_) => Some(FIRST_OF_ALL),
                    _ => None,
                };
            }
            // If another condition found a row, the index has no set from which to compute the
            // distance of the row.
            _ => {
                for target in targets.iter_mut().flatten() {
                    if matches!(target, Target::Ball(probe) if !matches!(**probe, Probe::Nothing)) {
                        *target = Target::Unlike;
                    }
                }
            }
        }
        let given = ties.map(|_| RoaringTreemap::new());
        Ok(Self { targets, near, ties, few, given, ..Self::default() })
    }

    /// Returns the next collected row, its distances, and whether these are only lower bounds.
    pub(crate) fn next(&mut self, keys: &ClassKeys) -> Option<(Tid, Vec<Option<f64>>, bool)> {
        let &(key, tid) = self.batch.get(self.at)?;
        self.at += 1;
        // The executor returns a row only when the next one may not be nearer. The real distance
        // spares it all the rows that are as far as the last one that it wants.
        if self.is_exact
            && let [Some(Target::Ball(probe))] = self.targets.as_slice()
            && let Probe::Grams(probe) = &**probe
            && let Some(distance) = probe.only_distance(key as u32)
        {
            return Some((tid, vec![Some(distance)], false));
        }
        let recheck = match self.targets.as_slice() {
            [Some(Target::Ball(_))] => key < keys.farthest().into(),
            targets => targets.iter().flatten().any(|target| matches!(target, Target::Unlike)),
        };
        Some((tid, self.distances(keys, key), recheck))
    }

    /// Returns the search that finds the next rows.
    pub(crate) fn pass(&self) -> OrderedPass<'_> {
        match (self.near.last(), self.ties) {
            (Some((probe, _)), _) => OrderedPass::Near(probe),
            (None, Some(_)) => OrderedPass::Ties,
            (None, None) => OrderedPass::All,
        }
    }

    /// Gives up the searches for near rows: the next rows are found among all, in order. Those that
    /// were not found yet need not be equally far.
    pub(crate) fn pass_over_near(&mut self) {
        self.near.clear();
        if self.ties.take().is_some() {
            // The rows that were returned are remembered, and others may have the last one's key.
            self.after = None;
        }
    }

    /// Reports whether the search for the nearest rows is the first one.
    pub(crate) fn is_first_pass(&self) -> bool {
        self.found == 0
    }

    /// Creates the collection for the next rows: as many as fit into `work_mem`, or fewer if any
    /// rows will do.
    pub(crate) fn nearest(&self) -> NearestItems {
        let most = match self.pass() {
            OrderedPass::Ties => self.ties.unwrap_or(FIRST),
            _ => self.few.unwrap_or(usize::MAX).min(most()),
        };
        NearestItems::new(most, self.after.filter(|_| !self.remembers()))
    }

    /// Reports whether only `given` distinguishes the next rows from the rows that were already
    /// returned. In such a pass the next rows are few, or the search finds them early. In every
    /// other pass, rows come in the order of their keys and addresses.
    fn remembers(&self) -> bool {
        self.given.is_some() && !matches!(self.pass(), OrderedPass::All)
    }

    /// Adds a row with this key to the collection, unless the row was already returned. A flush
    /// between two batches may change what is known of a set, and so the lower bound of its
    /// distance. The old bound and the new one both hold, so a key that is less than the last
    /// returned key is raised to it, and no row comes before the rows that were already returned.
    /// A row that an exhausted search did not find is farther than what that search finds.
    pub(crate) fn push(&self, nearest: &mut NearestItems, key: u64, tid: Tid) -> error::Result<()> {
        let Some(given) = &self.given else { return nearest.push(key, tid) };
        if given.contains(place(tid)) {
            return Ok(());
        }
        nearest.push(key.max(self.least()), tid)
    }

    /// Returns the least key under which a row is pushed if returned rows are remembered.
    fn least(&self) -> u64 {
        let last = self.after.filter(|_| self.remembers()).map_or(0, |(key, _)| key);
        last.max(self.found)
    }

    /// Reports whether [`OrderedScan::push`] pushes a row under this key, if it does, and not under
    /// a greater one.
    pub(crate) fn keeps(&self, key: u64, tid: Tid) -> bool {
        key >= self.least() || self.given.as_ref().is_some_and(|given| given.contains(place(tid)))
    }

    /// Returns the greatest key of a row that the collection still wants.
    pub(crate) fn wanted(&self, nearest: &NearestItems) -> u64 {
        match nearest.worst() {
            // Of rows with equal keys any will do if those that were returned are remembered.
            Some(worst) if self.remembers() => worst.saturating_sub(1),
            worst => worst.unwrap_or(u64::MAX),
        }
    }

    /// Returns the only target, if distances to it are all that the scan has to compare.
    pub(crate) fn only_target(&self) -> Option<&Target> {
        match (self.targets.as_slice(), self.few) {
            ([Some(target)], Some(_)) => Some(target),
            _ => None,
        }
    }

    /// Takes over the rows that were collected. If the search found all rows up to a greater
    /// distance than it had to, `reached` is this distance. `is_exact` is set if the keys are the
    /// steps of the real distances.
    pub(crate) fn take(&mut self, nearest: NearestItems, end: &SearchEnd, is_exact: bool) {
        self.is_exact = is_exact;
        let (remembers, full) = (self.remembers(), nearest.is_full());
        let (mut batch, is_cut) = nearest.finish();
        let more = is_cut || end.left_out;
        if let Some(given) = self.given.as_mut().filter(|_| remembers) {
            // One row may have several keys; its least key comes first.
            batch.retain(|&(_, tid)| given.insert(place(tid)));
        }
        self.after = batch.last().copied().or(self.after);
        match (self.near.last(), self.ties) {
            (Some(&(_, distance)), _) if !more => {
                let distance = end.reached.map_or(distance, |reached| distance.max(reached.into()));
                while self.near.last().is_some_and(|&(_, found)| found <= distance) {
                    self.near.pop();
                }
                self.found = distance;
                self.after = Some((distance, Tid::MAX)).filter(|_| !remembers).or(self.after);
            }
            (None, Some(count)) => {
                let next = count.saturating_mul(GROWTH);
                self.ties = (full && next <= most()).then_some(next);
                // All remaining rows, including NULLs, come in the order of their addresses.
                self.after = self.after.filter(|_| self.ties.is_some());
            }
            (None, None) => self.done = !more,
            (Some(_), _) => {}
        }
        if more {
            self.few = self.few.map(|few| few.saturating_mul(GROWTH));
        }
        self.batch = batch;
        self.at = 0;
    }

    /// Returns the sort key of a row: its distances concatenated.
    pub(crate) fn key(&self, keys: &ClassKeys, row: HeapRow, sketch: &[u8]) -> u64 {
        self.targets.iter().fold(0, |key, target| {
            let distance = match target {
                // The operator computes the distance.
                Some(Target::Unlike) => 0,
                Some(target) if !row.has(HeapRow::NULL) => keys.difference_from(target, row, sketch).into(),
                _ => NULL,
            };
            key << 16 | distance
        })
    }

    fn distances(&self, keys: &ClassKeys, key: u64) -> Vec<Option<f64>> {
        let count = self.targets.len();
        let distance = |n: usize| key >> (16 * (count - 1 - n)) & NULL;
        (0..count)
            .map(|n| {
                Some(distance(n))
                    .filter(|&distance| distance != NULL)
                    .map(|distance| keys.distance(distance as u32))
            })
            .collect()
    }
}

/// Returns the largest number of rows in a batch.
fn most() -> usize {
    work_memory() / 2 / NearestItems::BYTES
}

/// Maps an address to its number in a set of addresses. Addresses in adjacent blocks get numbers
/// close together.
fn place(tid: Tid) -> u64 {
    // A page has fewer than 512 rows.
    tid >> 16 << 9 | tid & 0x1ff
}

/// Returns the number of bytes that a scan may use.
pub(crate) fn work_memory() -> usize {
    // SAFETY: an int that only this thread writes.
    let kilobytes = unsafe { pg_sys::work_mem };
    (kilobytes.max(64) as usize) << 10
}
