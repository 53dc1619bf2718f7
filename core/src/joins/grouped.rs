//! The records and the pairs of records of all groups of rows, which were joined one group after
//! the other. Together they are one join, whose pairs are kept in memory or in a temporary file.

use super::grouped_rows::GroupedRows;
use super::pairs::{PairedRecords, Pairs};
use super::{Counts, RecordJoin, RecordPair};
use crate::error::{Error, Result};
use crate::executor::Executor;
use crate::features::sets::members::Members;
use crate::memory;
use crate::storage::files::{Resources, TempFiles};
use crate::storage::log::Log;

const DOING: &str = "joining the groups of rows";

/// What is found in a group that is small enough to be held.
#[derive(Debug)]
pub(crate) struct GroupFound {
    records: PairedRecords,
    pairs: Vec<RecordPair>,
    counts: Counts,
}

impl GroupFound {
    /// Joins the records of a group. Returns `None` if there are too many pairs to hold.
    pub(crate) fn new(pairs: Pairs, executor: &dyn Executor) -> Result<Option<Self>> {
        const MOST: usize = 1 << 14;
        let Pairs { mut join, records, .. } = pairs;
        let mut found = Vec::new();
        while let Some(batch) = join.next_batch(executor)? {
            if found.len() + batch.len() > MOST {
                return Ok(None);
            }
            memory::extend(&mut found, &batch, DOING)?;
        }
        Ok(Some(Self { records, pairs: found, counts: join.counts() }))
    }
}

/// The records and the pairs so far.
#[derive(Debug)]
pub(crate) struct GroupedPairs {
    records: PairedRecords,
    /// The number of pairs of rows in `equal`.
    certain: u64,
    pairs: Log<RecordPair>,
    counts: Counts,
}

impl GroupedPairs {
    /// Starts without groups. About `budget` bytes of pairs are in memory.
    pub(crate) fn new(has_right: bool, budget: usize) -> Self {
        let records = PairedRecords { right: has_right.then(Members::default), ..PairedRecords::default() };
        Self { records, certain: 0, pairs: Log::new(budget), counts: Counts::default() }
    }

    /// Returns the number of pairs of rows at least.
    pub(crate) fn least_pairs(&self) -> u64 {
        self.certain.saturating_add(self.pairs.len())
    }

    /// Adds what was found in a group, whose row numbers differ by `offsets` from those of the
    /// tables.
    pub(crate) fn add(&mut self, found: &GroupFound, offsets: [u32; 2], files: &dyn TempFiles) -> Result<()> {
        let GroupFound { records, pairs, counts } = found;
        let from = self.add_records(records, offsets)?;
        self.add_pairs(pairs, from, files)?;
        self.counts.add(counts);
        Ok(())
    }

    /// Joins the records of a large group, and adds them and their pairs, at most `most` or a few
    /// more.
    pub(crate) fn join(
        &mut self,
        pairs: Pairs,
        offsets: [u32; 2],
        most: Option<u64>,
        resources: Resources<'_>,
        report: &mut dyn FnMut(f64),
    ) -> Result<()> {
        let Pairs { mut join, records, .. } = pairs;
        let from = self.add_records(&records, offsets)?;
        drop(records);
        while most.is_none_or(|most| self.least_pairs() <= most)
            && let Some(batch) = join.next_batch(resources.executor)?
        {
            self.add_pairs(&batch, from, resources.files)?;
            report(join.progress());
        }
        self.counts.add(&join.counts());
        Ok(())
    }

    fn add_records(&mut self, records: &PairedRecords, offsets: [u32; 2]) -> Result<[u32; 2]> {
        let all = &mut self.records;
        let before = [Some(&all.left), all.right.as_ref()].map(|side| side.map_or(0, Members::len));
        if u32::try_from(before[0] + records.left.len()).is_err() {
            return Err(Error::TooMany { what: "different documents", limit: u32::MAX.into() });
        }
        let from = before.map(|records| records as u32);
        self.certain = self.certain.saturating_add(records.certain());
        // No similarities mean that all are 1.
        if !records.similarities.is_empty() && all.similarities.is_empty() {
            all.similarities = memory::filled(1.0, all.equal.len(), DOING)?;
        }
        if !all.similarities.is_empty() || !records.similarities.is_empty() {
            let more = (0..records.equal.len()).map(|place| records.similarity(place));
            memory::append(&mut all.similarities, more, DOING)?;
        }
        memory::append(&mut all.equal, records.equal.iter().map(|record| from[0] + record), DOING)?;
        all.left.append(&records.left, offsets[0])?;
        if let (Some(all), Some(right)) = (&mut all.right, &records.right) {
            all.append(right, offsets[1])?;
        }
        Ok(from)
    }

    fn add_pairs(&mut self, pairs: &[RecordPair], from: [u32; 2], files: &dyn TempFiles) -> Result<()> {
        let of_right = from[usize::from(self.records.right.is_some())];
        pairs.iter().try_for_each(|&RecordPair { left, right, similarity }| {
            let pair = RecordPair { left: from[0] + left, right: of_right + right, similarity };
            self.pairs.push(pair, files)
        })
    }

    /// Returns the pairs of all groups. The rows of the right table, if there is one, follow the
    /// `left_rows` of the left table.
    pub(crate) fn finish(self, left_rows: u32) -> Pairs {
        let Self { records, pairs, counts, .. } = self;
        let PairedRecords { left, mut right, equal, similarities } = records;
        if let Some(right) = &mut right {
            right.replace(|row| row + left_rows);
        }
        let join = LoggedJoin::new(pairs, counts);
        Pairs::of_records(Box::new(join), left, right, equal).with_similarities(similarities)
    }

    /// Returns the number of bytes on the heap.
    pub(crate) fn bytes(&self) -> usize {
        self.records.bytes() + self.pairs.bytes()
    }
}

/// The pairs of a join that was done before.
#[derive(Debug)]
pub(crate) struct LoggedJoin {
    pairs: GroupedRows<RecordPair>,
    counts: Counts,
}

impl LoggedJoin {
    /// Gives the pairs that were found, and what was counted.
    pub(crate) fn new(pairs: Log<RecordPair>, counts: Counts) -> Self {
        Self { pairs: GroupedRows::new(pairs), counts }
    }
}

impl RecordJoin for LoggedJoin {
    fn next_batch(&mut self, executor: &dyn Executor) -> Result<Option<Vec<RecordPair>>> {
        self.pairs.next_batch(executor)
    }

    fn counts(&self) -> Counts {
        self.counts
    }

    fn progress(&self) -> f64 {
        self.pairs.progress()
    }

    fn bytes(&self) -> usize {
        self.pairs.bytes()
    }
}
