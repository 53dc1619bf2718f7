//! Leaders in the order of ranks: a record that is no pair of an earlier leader is one. Half of the
//! records after the other half, so that a join of two parts does most of the work.

use super::parts::SetParts;
use crate::error::Result;
use crate::executor::{self, Executor};
use crate::joins::RecordPair;
use crate::memory;

const DOING: &str = "choosing rows to compare";

/// The choice of leaders in progress.
#[derive(Debug)]
pub(super) struct Choosing {
    /// Up to this number of records, all are compared with each other.
    pub(super) few: usize,
    /// The rank of each record; no two have the same.
    rank: Vec<u32>,
    /// What is still to be done, the next task last.
    tasks: Vec<ChoiceTask>,
    leaders: Vec<u32>,
    /// Whether each record is a leader.
    leads: Vec<bool>,
    /// The number of records of which it is known.
    done: usize,
}

/// A piece of the work on some records, in ascending order.
#[derive(Debug)]
enum ChoiceTask {
    /// Chooses leaders among records that are no pairs of a leader so far.
    Choose(Vec<u32>),
    /// Leaves out the pairs of all leaders but this many, then chooses.
    Rest(Vec<u32>, usize),
}

impl Choosing {
    pub(super) fn new(rank: Vec<u32>, few: usize) -> Result<Self> {
        let all = memory::collect(0..rank.len() as u32, DOING)?;
        let leads = memory::filled(false, rank.len(), DOING)?;
        Ok(Self { few, rank, tasks: vec![ChoiceTask::Choose(all)], leaders: Vec::new(), leads, done: 0 })
    }

    /// Does the next task. Returns false if there is none.
    pub(super) fn advance(&mut self, parts: &mut SetParts, executor: &dyn Executor) -> Result<bool> {
        match self.tasks.pop() {
            Some(ChoiceTask::Choose(records)) => self.choose(&records, parts, executor)?,
            Some(ChoiceTask::Rest(records, known)) => self.leave_out(&records, known, parts, executor)?,
            None => return Ok(false),
        }
        Ok(true)
    }

    /// Chooses leaders among records, or splits them.
    fn choose(&mut self, records: &[u32], parts: &mut SetParts, executor: &dyn Executor) -> Result<()> {
        let Self { rank, leads, .. } = self;
        let rank = |record: u32| rank[record as usize];
        if records.len() > self.few {
            let mut ranks = memory::collect(records.iter().map(|&record| rank(record)), DOING)?;
            let (_, &mut middle, _) = ranks.select_nth_unstable(records.len() / 2);
            let part = |first: bool| {
                let within = |record: u32| (rank(record) < middle) == first;
                memory::collect(records.iter().copied().filter(|&record| within(record)), DOING)
            };
            let (first, second) = (part(true)?, part(false)?);
            memory::push(&mut self.tasks, ChoiceTask::Rest(second, self.leaders.len()), DOING)?;
            return memory::push(&mut self.tasks, ChoiceTask::Choose(first), DOING);
        }
        let mut pairs: Vec<[u32; 2]> = Vec::new();
        parts.join_all(records, None, executor, |RecordPair { left, right, .. }| {
            let in_order = if rank(left) < rank(right) { [right, left] } else { [left, right] };
            memory::push(&mut pairs, in_order, DOING)?;
            Ok(true)
        })?;
        executor::sort(executor, &mut pairs, |a, b| a.map(rank).cmp(&b.map(rank)))?;
        records.iter().for_each(|&record| leads[record as usize] = true);
        for [later, earlier] in pairs {
            // All pairs of the earlier record with records before it have been processed.
            leads[later as usize] &= !leads[earlier as usize];
        }
        let leaders =
            memory::collect(records.iter().copied().filter(|&record| leads[record as usize]), DOING)?;
        self.done += records.len();
        memory::extend(&mut self.leaders, &leaders, DOING)
    }

    /// Leaves out the pairs of leaders that were chosen since there were `known` ones.
    fn leave_out(
        &mut self,
        records: &[u32],
        known: usize,
        parts: &mut SetParts,
        executor: &dyn Executor,
    ) -> Result<()> {
        let mut leaders = memory::collect(self.leaders[known..].iter().copied(), DOING)?;
        leaders.sort_unstable();
        let mut follows = memory::filled(false, self.rank.len(), DOING)?;
        parts.join_all(records, Some(&leaders), executor, |pair| {
            follows[pair.left as usize] = true;
            Ok(true)
        })?;
        let rest =
            memory::collect(records.iter().copied().filter(|&record| !follows[record as usize]), DOING)?;
        self.done += records.len() - rest.len();
        memory::push(&mut self.tasks, ChoiceTask::Choose(rest), DOING)
    }

    /// Returns the records that are leaders, or the others, in ascending order.
    pub(super) fn which(&self, lead: bool) -> Result<Vec<u32>> {
        let all = (0..).zip(&self.leads);
        memory::collect(all.filter(|(_, leads)| **leads == lead).map(|(record, _)| record), DOING)
    }

    /// Returns the share of the records of which it is known whether they are leaders.
    pub(super) fn progress(&self) -> f64 {
        self.done as f64 / self.rank.len().max(1) as f64
    }

    /// Returns the number of bytes on the heap.
    pub(super) fn bytes(&self) -> usize {
        let tasks = self.tasks.iter().map(|task| match task {
            ChoiceTask::Choose(records) | ChoiceTask::Rest(records, _) => memory::bytes(records),
        });
        tasks.sum::<usize>()
            + memory::bytes(&self.rank)
            + memory::bytes(&self.leaders)
            + memory::bytes(&self.leads)
    }
}
