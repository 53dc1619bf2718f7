//! Keys that very many records share: each record is compared only with its nearest neighbours in
//! the order of the join in memory.

use super::records::{CarriedRecords, TakeCandidate};
use crate::error::Result;
use crate::executor::{self, Executor};
use crate::joins::Counts;
use crate::joins::keys::KeyPosting;
use crate::joins::sketches::buckets::windows::window;
use crate::memory;
use crate::methods::carrier::Carrier;
use crate::row_set::RowSet;
use crate::storage::rows::Ragged;
use crate::storage::sort::Groups;

const DOING: &str = "comparing neighbours of a key";

/// The limit of keys.
pub(super) struct HotKeys {
    /// The number of neighbours, of one table on either side.
    pub(super) most: usize,
    /// The first record of the right table, if there is one.
    pub(super) split: Option<u32>,
}

impl HotKeys {
    /// Reports whether so many records have a key that not all of them are compared.
    pub(super) fn is_cut(&self, group: &[KeyPosting]) -> bool {
        match self.split {
            None => group.len() > self.most + 1,
            Some(split) => group.iter().filter(|own| own.record() >= u64::from(split)).count() > self.most,
        }
    }

    /// Finds the candidates of all such keys.
    pub(super) fn candidates(
        &self,
        carrier: &dyn Carrier,
        postings: &mut Groups<KeyPosting>,
        records: &mut CarriedRecords,
        executor: &dyn Executor,
        counts: &mut Counts,
        take: &mut TakeCandidate<'_>,
    ) -> Result<()> {
        let (mut group, mut loaded) = (Vec::new(), Ragged::default());
        let mut hot = RowSet::new(records.len() as usize)?;
        while postings.next(&mut group, KeyPosting::hash, |_, _| false, executor)? {
            if !self.is_cut(&group) {
                continue;
            }
            let mut sides = [Vec::new(), Vec::new()];
            for posting in &group {
                // Numbers of records have 32 bits.
                let record = posting.record() as u32;
                loaded.clear();
                records.load(record, carrier, &mut loaded)?;
                let side = usize::from(self.split.is_some_and(|split| record >= split));
                memory::push(&mut sides[side], (carrier.place(loaded.get(0))?, record), DOING)?;
                if !hot.contains(record as usize) {
                    hot.insert(record as usize);
                    counts.hot_documents += records.rows(record).len() as u64;
                }
            }
            sides.iter_mut().try_for_each(|side| executor::sort(executor, side, Ord::cmp))?;
            counts.hot_buckets += 1;
            let [lefts, rights] = &sides;
            for (place, &(_, left)) in lefts.iter().enumerate() {
                executor.check_interrupts()?;
                let (others, all) = match self.split {
                    None => (lefts, None),
                    Some(_) => (rights, Some(lefts.len())),
                };
                let of = window(place, all, others.len(), self.most);
                // Of one table, the earlier neighbours have found this record.
                let from = if self.split.is_none() { place + 1 } else { *of.start() };
                for &(_, right) in &others[from..*of.end() + 1] {
                    take([left.min(right), left.max(right)], records)?;
                }
            }
        }
        Ok(())
    }
}
