//! Rows one by one, in the order of their distance where one is asked for.

use super::scan::{Scan, batch};
use super::search::{COLLECTING, search, undisturbed};
use crate::pg::index::layout::items::{Row, Tid};
use crate::pg::index::opclass::keys::Keys;
use crate::pg::index::opclass::probe::{Probe, Target};
use crate::pg::index::pages::buffer::Looked;
use crate::pg::server::error::{Result, SqlError, or_raise};
use crate::{error, memory};
use pgrx::PgSqlErrorCode;

/// Distances that an order can have: each has 16 bits of a key.
const MOST_ORDERS: usize = 4;
/// The distance of NULL: after all others.
const NULL: u64 = 0xffff;

/// Where a scan is that returns rows one by one.
#[derive(Debug, Default)]
pub struct Ordered {
    targets: Vec<Option<Target>>,
    /// What finds all rows up to some distance, for the first pass.
    near: Option<(Probe, u64)>,
    batch: Vec<(u64, Tid)>,
    at: usize,
    /// Everything up to here was returned.
    after: Option<(u64, Tid)>,
    done: bool,
}

impl Ordered {
    /// A scan in the order of the distances to these; one without conditions begins with what is near.
    pub fn new(keys: &Keys, targets: Vec<Option<Target>>, everything: bool) -> Result<Self> {
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

    /// The order of a row: its distances one behind the other.
    fn key(&self, keys: &Keys, row: Row, sketch: &[u8]) -> u64 {
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
    pub fn recheck(&self) -> bool {
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

/// The next row, and its distances.
pub fn next(scan: &mut Scan) -> Option<(Tid, Vec<Option<f64>>)> {
    loop {
        if let Some(&(key, tid)) = scan.ordered.batch.get(scan.ordered.at) {
            scan.ordered.at += 1;
            return Some((tid, scan.ordered.distances(&scan.keys, key)));
        }
        if scan.ordered.done || scan.is_empty() {
            return None;
        }
        fill(scan);
    }
}

/// Collects the rows that come next.
fn fill(scan: &mut Scan) {
    let ordered = &scan.ordered;
    let mut nearest = Nearest::new(batch(), ordered.after);
    undisturbed(scan.index, || {
        nearest.clear();
        let mut add = |row: Row, sketch: &[u8]| {
            or_raise(nearest.push((ordered.key(&scan.keys, row, sketch), row.tid())));
        };
        let looked: Looked<()> = match &ordered.near {
            Some((probe, _)) => search(scan.index, &scan.keys, probe, &mut add),
            None => scan.search(&mut add),
        };
        looked
    });
    let (batch, more) = nearest.finish();
    let ordered = &mut scan.ordered;
    if more {
        ordered.after = batch.last().copied();
    } else if let Some((_, distance)) = ordered.near.take() {
        ordered.after = Some((distance, Tid::MAX));
    } else {
        ordered.done = true;
    }
    ordered.batch = batch;
    ordered.at = 0;
}

/// The first so many of what it is given, in order and without duplicates.
#[derive(Debug)]
pub struct Nearest {
    most: usize,
    after: Option<(u64, Tid)>,
    items: Vec<(u64, Tid)>,
    bound: Option<(u64, Tid)>,
}

impl Nearest {
    /// Bytes of an item.
    pub const BYTES: usize = size_of::<(u64, Tid)>();

    /// Takes what comes after `after`.
    fn new(most: usize, after: Option<(u64, Tid)>) -> Self {
        Self { most: most.max(1), after, items: Vec::new(), bound: None }
    }

    fn clear(&mut self) {
        self.items.clear();
        self.bound = None;
    }

    fn push(&mut self, item: (u64, Tid)) -> error::Result<()> {
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
