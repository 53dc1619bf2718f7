//! The rows that are read and compared with changed rows.

use super::stored::{DOING, damaged};
use crate::pg::query::ids::RowIds;
use crate::pg::server::error::Result;
use neardup_core::executor::{self, Executor};
use neardup_core::hash;
use neardup_core::joins::incremental::partners::SegmentPartners;
use neardup_core::memory;
use neardup_core::storage::rows::RaggedText;

/// The ids of changed rows, which are looked up by their text form.
struct ChangedRowIds<'a> {
    ids: &'a RowIds,
    /// The hash and the row of each id, sorted.
    hashes: Vec<(u64, u32)>,
}

impl<'a> ChangedRowIds<'a> {
    fn new(ids: &'a RowIds, executor: &dyn Executor) -> Result<Self> {
        const LOOK_EVERY: u32 = 1 << 10;
        let mut hashes = Vec::new();
        memory::reserve(&mut hashes, ids.len(), DOING)?;
        for row in 0..ids.len() as u32 {
            if row.is_multiple_of(LOOK_EVERY) {
                executor.check_interrupts()?;
            }
            hashes.push((hash::hash_bytes(ids.show(row).as_bytes()), row));
        }
        executor::one(executor, &mut hashes, |hashes, stop| {
            executor::sort_unstable_by(hashes, stop, &Ord::cmp)
        })?;
        Ok(Self { ids, hashes })
    }

    fn contain(&self, id: &str) -> bool {
        let hash = hash::hash_bytes(id.as_bytes());
        let from = self.hashes.partition_point(|&(other, _)| other < hash);
        let mut same = self.hashes[from..].iter().take_while(|(other, _)| *other == hash);
        same.any(|&(_, row)| self.ids.show(row) == id)
    }
}

/// The rows that are compared with changed rows. Changed rows are not among them.
pub(crate) struct CandidateIds<'a> {
    /// The ids of the rows.
    ids: RaggedText,
    partners: SegmentPartners,
    changed: ChangedRowIds<'a>,
}

impl<'a> CandidateIds<'a> {
    /// Starts without candidates.
    pub(crate) fn new(changed: &'a RowIds, executor: &dyn Executor) -> Result<Self> {
        let changed = ChangedRowIds::new(changed, executor)?;
        Ok(Self { ids: RaggedText::default(), partners: SegmentPartners::default(), changed })
    }

    /// Adds a row, with the changed rows that it may be similar to, if these are known.
    pub(crate) fn add(&mut self, id: &str, partners: Option<&[u32]>) -> Result<()> {
        if self.changed.contain(id) {
            return Ok(());
        }
        self.ids.push(id, DOING)?;
        Ok(self.partners.push(partners)?)
    }

    /// Returns the distinct ids, and the partners of the row with each id. The ids are ordered by
    /// length and then by text, so that ids that are natural numbers ascend: rows with consecutive
    /// ids are often stored close to each other, and are then read faster.
    pub(crate) fn finish(self, executor: &dyn Executor) -> Result<(RowIds, SegmentPartners)> {
        let Self { ids, partners, changed } = self;
        let id = |n: u32| ids.get(n as usize);
        let mut order = Vec::new();
        memory::reserve(&mut order, ids.len(), DOING)?;
        order.extend(0..ids.len() as u32);
        let key = |n: u32| (id(n).len(), id(n));
        executor::one(executor, &mut order, |order, stop| {
            executor::sort_unstable_by(order, stop, &|&a, &b| key(a).cmp(&key(b)))
        })?;
        let (mut distinct, mut sorted, mut rows) = (Vec::new(), SegmentPartners::default(), Vec::new());
        for same in order.chunk_by(|&a, &b| id(a) == id(b)) {
            memory::push(&mut distinct, same[0], DOING)?;
            rows.clear();
            let mut known = true;
            for &n in same {
                match partners.for_document(n as usize) {
                    Some(of) => memory::extend(&mut rows, of, DOING)?,
                    None => known = false,
                }
            }
            // Several segments may report the same row.
            rows.sort_unstable();
            rows.dedup();
            sorted.push(known.then_some(&rows))?;
        }
        let read = RowIds::read(changed.ids.type_oid(), distinct.into_iter().map(id))?;
        Ok((read.ok_or_else(|| damaged("an id is not of the type of the ids"))?, sorted))
    }
}
