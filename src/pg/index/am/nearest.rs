//! Collects the first rows, in a given order, of many rows.

use crate::pg::index::layout::items::Tid;
use crate::pg::index::storage::segment::COLLECTING;
use neardup_core::error;
use neardup_core::memory;

/// A collection of the first `most` of the items that are pushed, in order and without duplicates.
#[derive(Debug)]
pub(crate) struct NearestItems {
    most: usize,
    after: Option<(u64, Tid)>,
    items: Vec<(u64, Tid)>,
    bound: Option<(u64, Tid)>,
}

impl NearestItems {
    /// The number of bytes of an item.
    pub(crate) const BYTES: usize = size_of::<(u64, Tid)>();

    /// Creates a collection of the first `most` items that come after `after`.
    pub(crate) fn new(most: usize, after: Option<(u64, Tid)>) -> Self {
        Self { most: most.max(1), after, items: Vec::new(), bound: None }
    }

    /// Forgets all items.
    pub(crate) fn clear(&mut self) {
        self.items.clear();
        self.bound = None;
    }

    /// Returns the key of the last of the first `most` items, once there are so many. No item with
    /// a greater key is wanted.
    pub(crate) fn worst(&self) -> Option<u64> {
        self.bound.map(|(key, _)| key)
    }

    /// Adds an item if it can be one of the first `most`.
    pub(crate) fn push(&mut self, key: u64, tid: Tid) -> error::Result<()> {
        let item = (key, tid);
        if self.after.is_some_and(|after| item <= after) || self.bound.is_some_and(|bound| item > bound) {
            return Ok(());
        }
        memory::push(&mut self.items, item, COLLECTING)?;
        // The first bound comes as soon as there is one, as it can spare much work.
        let is_first = self.bound.is_none() && self.items.len() > self.most;
        if is_first || self.items.len() >= 2 * self.most {
            self.cut();
        }
        Ok(())
    }

    /// Reports whether the collection has at least `most` items.
    pub(crate) fn is_full(&self) -> bool {
        self.items.len() >= self.most
    }

    fn cut(&mut self) {
        self.items.sort_unstable();
        self.items.dedup();
        if self.items.len() > self.most {
            self.items.truncate(self.most);
            self.bound = self.items.last().copied();
        }
    }

    /// Returns the items in order, and whether some of the items that were pushed had to be left
    /// out.
    pub(crate) fn finish(mut self) -> (Vec<(u64, Tid)>, bool) {
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
                let mut nearest = NearestItems::new(most, after);
                let mut items = all.iter().chain(&all[..50]);
                items.try_for_each(|&(key, tid)| nearest.push(key, tid)).expect("memory");
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
