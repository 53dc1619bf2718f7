//! Rows one by one, in the order of their distance where one is asked for.

use crate::pg::index::layout::items::{Row, Tid};
use crate::pg::index::opclass::keys::Keys;
use crate::pg::index::opclass::probe::{Probe, Target};
use crate::pg::index::storage::segment::COLLECTING;
use crate::pg::server::error::{Result, SqlError};
use crate::{error, memory};
use pgrx::{PgSqlErrorCode, pg_sys};

/// Distances that an order can have: each has 16 bits of a key.
const MOST_ORDERS: usize = 4;
/// The distance of NULL: after all others.
const NULL: u64 = 0xffff;

/// Where a scan is that returns rows one by one.
#[derive(Debug, Default)]
pub(crate) struct Ordered {
    targets: Vec<Option<Target>>,
    /// What finds all rows up to some distance, for the first pass.
    near: Option<(Probe, u64)>,
    batch: Vec<(u64, Tid)>,
    at: usize,
    /// Everything up to here was returned.
    after: Option<(u64, Tid)>,
    /// Whether all rows were collected.
    pub done: bool,
}

impl Ordered {
    /// A scan in the order of the distances to these; one without conditions begins with what is near.
    pub(crate) fn new(keys: &Keys, targets: Vec<Option<Target>>, everything: bool) -> Result<Self> {
        if targets.len() > MOST_ORDERS {
            let message = format!("an index scan in the order of {} distances", targets.len());
            return Err(SqlError::new(PgSqlErrorCode::ERRCODE_FEATURE_NOT_SUPPORTED, message)
                .hint(format!("Order by at most {MOST_ORDERS} distances, or SET enable_indexscan = off;")));
        }
        let near = match targets.as_slice() {
            [Some(target)] if everything => keys.near(target),
            _ => None,
        };
        Ok(Self { targets, near, ..Self::default() })
    }

    /// The next of the rows that were collected, and its distances.
    pub(crate) fn next(&mut self, keys: &Keys) -> Option<(Tid, Vec<Option<f64>>)> {
        let &(key, tid) = self.batch.get(self.at)?;
        self.at += 1;
        Some((tid, self.distances(keys, key)))
    }

    /// What finds all rows up to some distance, as long as these were not all collected.
    pub(crate) fn first_pass(&self) -> Option<&Probe> {
        self.near.as_ref().map(|(probe, _)| probe)
    }

    /// Collects the rows that come next, as many as fit into `work_mem`.
    pub(crate) fn nearest(&self) -> Nearest {
        Nearest::new(work_memory() / 2 / Nearest::BYTES, self.after)
    }

    /// Takes the rows that were collected.
    pub(crate) fn take(&mut self, nearest: Nearest) {
        let (batch, more) = nearest.finish();
        if more {
            self.after = batch.last().copied();
        } else if let Some((_, distance)) = self.near.take() {
            self.after = Some((distance, Tid::MAX));
        } else {
            self.done = true;
        }
        self.batch = batch;
        self.at = 0;
    }

    /// The order of a row: its distances concatenated.
    pub(crate) fn key(&self, keys: &Keys, row: Row, sketch: &[u8]) -> u64 {
        self.targets.iter().fold(0, |key, target| {
            let distance = match target {
                // The operator will say.
                Some(Target::Unlike) => 0,
                Some(target) if !row.has(Row::NULL) => keys.difference(target, row, sketch).into(),
                _ => NULL,
            };
            key << 16 | distance
        })
    }

    /// Whether the distances are only lower bounds.
    pub(crate) fn recheck(&self) -> bool {
        self.targets.contains(&Some(Target::Unlike))
    }

    fn distances(&self, keys: &Keys, key: u64) -> Vec<Option<f64>> {
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

/// The first of the items it is given, at most `most`, in order and without duplicates.
#[derive(Debug)]
pub(crate) struct Nearest {
    most: usize,
    after: Option<(u64, Tid)>,
    items: Vec<(u64, Tid)>,
    bound: Option<(u64, Tid)>,
}

impl Nearest {
    /// Bytes of an item.
    const BYTES: usize = size_of::<(u64, Tid)>();

    /// Takes what comes after `after`.
    fn new(most: usize, after: Option<(u64, Tid)>) -> Self {
        Self { most: most.max(1), after, items: Vec::new(), bound: None }
    }

    /// Forgets what it took.
    pub(crate) fn clear(&mut self) {
        self.items.clear();
        self.bound = None;
    }

    /// Takes an item, if it is one of those.
    pub(crate) fn push(&mut self, item: (u64, Tid)) -> error::Result<()> {
        if self.after.is_some_and(|after| item <= after) || self.bound.is_some_and(|bound| item > bound) {
            return Ok(());
        }
        memory::push(&mut self.items, item, COLLECTING)?;
        if self.items.len() >= 2 * self.most {
            self.cut();
        }
        Ok(())
    }

    fn cut(&mut self) {
        self.items.sort_unstable();
        self.items.dedup();
        if self.items.len() > self.most {
            self.items.truncate(self.most);
            self.bound = self.items.last().copied();
        }
    }

    /// The items, and whether there are more.
    fn finish(mut self) -> (Vec<(u64, Tid)>, bool) {
        self.cut();
        (self.items, self.bound.is_some())
    }
}

/// Bytes that a scan may use.
pub(crate) fn work_memory() -> usize {
    // SAFETY: an int that only this thread writes.
    let kilobytes = unsafe { pg_sys::work_mem };
    (kilobytes.max(64) as usize) << 10
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pg_passes_give_everything_once_and_in_order() {
        let all: Vec<(u64, Tid)> = (0..1000_u64).map(|n| (n * 7919 % 13, n * 31 % 997)).collect();
        let mut expected = all.clone();
        expected.sort_unstable();
        expected.dedup();
        for most in [1, 2, 3, 10, 999, 5000] {
            let (mut seen, mut after) = (Vec::new(), None);
            loop {
                let mut nearest = Nearest::new(most, after);
                let mut items = all.iter().chain(&all[..50]);
                items.try_for_each(|&item| nearest.push(item)).expect("memory");
                let (batch, more) = nearest.finish();
                after = batch.last().copied();
                seen.extend(batch);
                if !more {
                    break;
                }
            }
            assert_eq!(seen, expected, "{most} at a time");
        }
    }
}
