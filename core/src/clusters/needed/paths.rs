//! Paths between groups of records that are already connected: large groups are joined with each
//! other and with the records outside of them, half of them after the other half, and not with
//! themselves.

use super::parts::SetParts;
use crate::clusters::components::Components;
use crate::error::Result;
use crate::executor::Executor;
use crate::joins::RecordPair;
use crate::memory;

const DOING: &str = "choosing rows to compare";

/// The search for paths in progress.
#[derive(Debug)]
pub(super) struct Paths {
    /// The number of rows of each record.
    rows: Vec<u32>,
    groups: Components,
    /// The pairs that were found, each of which connects two groups.
    found: Vec<RecordPair>,
    /// What is still to be done, the next task last.
    tasks: Vec<PathTask>,
    /// The number of tasks that are done.
    done: usize,
}

/// Groups of records to be joined with each other. The first group is joined with itself, too, if
/// it consists of small groups.
#[derive(Debug)]
struct PathTask {
    groups: Vec<Vec<u32>>,
    small_first: bool,
}

impl Paths {
    /// Starts with groups of one record each, of which each has this number of rows.
    pub(super) fn new(rows: Vec<u32>) -> Result<Self> {
        let groups = Components::new(rows.len())?;
        Ok(Self { rows, groups, found: Vec::new(), tasks: Vec::new(), done: 0 })
    }

    /// Notes a pair that the caller knows.
    pub(super) fn note(&mut self, pair: &RecordPair) {
        self.groups.unite(pair.left, pair.right, u32::MAX);
    }

    /// Plans the joins: groups of more than `large` records are not joined with themselves.
    pub(super) fn plan(&mut self, records: u32, large: u32) -> Result<()> {
        let mut small = Vec::new();
        let mut by_group: Vec<[u32; 2]> = Vec::new();
        for record in 0..records {
            match self.groups.size(record) > large {
                true => memory::push(&mut by_group, [self.groups.root(record), record], DOING)?,
                false => memory::push(&mut small, record, DOING)?,
            }
        }
        by_group.sort_unstable();
        let mut groups = vec![small];
        for group in by_group.chunk_by(|a, b| a[0] == b[0]) {
            let members = memory::collect(group.iter().map(|[_, record]| *record), DOING)?;
            memory::push(&mut groups, members, DOING)?;
        }
        memory::push(&mut self.tasks, PathTask { groups, small_first: true }, DOING)
    }

    /// Does the next task. Returns false if there is none.
    pub(super) fn advance(&mut self, parts: &mut SetParts, executor: &dyn Executor) -> Result<bool> {
        let Some(PathTask { groups: mut left, small_first }) = self.tasks.pop() else { return Ok(false) };
        self.done += 1;
        if left.len() == 1 {
            if small_first {
                self.find(&left[0], None, parts, executor)?;
            }
            return Ok(true);
        }
        let all: usize = left.iter().map(Vec::len).sum();
        let mut before = 0;
        let half = left.iter().position(|group| {
            before += group.len();
            2 * before >= all
        });
        let right = left.split_off(half.map_or(1, |half| half + 1).clamp(1, left.len() - 1));
        let union = |groups: &[Vec<u32>]| -> Result<Vec<u32>> {
            let mut all = memory::collect(groups.iter().flatten().copied(), DOING)?;
            all.sort_unstable();
            Ok(all)
        };
        // The smaller side is indexed.
        let [mut a, mut b] = [union(&left)?, union(&right)?];
        if a.len() < b.len() {
            std::mem::swap(&mut a, &mut b);
        }
        self.find(&a, Some(&b), parts, executor)?;
        memory::push(&mut self.tasks, PathTask { groups: right, small_first: false }, DOING)?;
        memory::push(&mut self.tasks, PathTask { groups: left, small_first }, DOING)?;
        Ok(true)
    }

    /// Keeps the pairs that connect two groups, until there is only one group.
    fn find(
        &mut self,
        left: &[u32],
        right: Option<&[u32]>,
        parts: &mut SetParts,
        executor: &dyn Executor,
    ) -> Result<()> {
        let mut roots = memory::collect(left.iter().chain(right.unwrap_or(&[])).copied(), DOING)?;
        roots.iter_mut().for_each(|record| *record = self.groups.root(*record));
        roots.sort_unstable();
        roots.dedup();
        let mut distinct = roots.len();
        if distinct <= 1 {
            return Ok(());
        }
        let Self { groups, found, .. } = self;
        parts.join_all(left, right, executor, |pair| {
            if groups.unite(pair.left, pair.right, u32::MAX).is_some() {
                memory::push(found, pair, DOING)?;
                distinct -= 1;
            }
            Ok(distinct > 1)
        })
    }

    /// Returns for each record whether its group has at most `most` rows, and the paths within the
    /// other groups.
    pub(super) fn small(&mut self, most: u32) -> Result<(Vec<bool>, Vec<RecordPair>)> {
        let Self { rows, groups, .. } = self;
        let mut sizes = memory::filled(0u64, rows.len(), DOING)?;
        for (record, &rows) in (0..).zip(&*rows) {
            sizes[groups.root(record) as usize] += u64::from(rows);
        }
        let mut small = memory::filled(false, rows.len(), DOING)?;
        for (record, small) in (0..).zip(&mut small) {
            *small = sizes[groups.root(record) as usize] <= u64::from(most);
        }
        let mut paths = std::mem::take(&mut self.found);
        paths.retain(|pair| !small[pair.left as usize]);
        Ok((small, paths))
    }

    /// Returns the share of the tasks that are done.
    pub(super) fn progress(&self) -> f64 {
        let left: usize = self.tasks.iter().map(|task| 2 * task.groups.len() - 1).sum();
        self.done as f64 / (self.done + left).max(1) as f64
    }

    /// Returns the number of bytes on the heap.
    pub(super) fn bytes(&self) -> usize {
        let tasks = self.tasks.iter().flat_map(|task| &task.groups);
        tasks.map(memory::bytes).sum::<usize>()
            + memory::bytes(&self.found)
            + memory::bytes(&self.rows)
            + self.groups.bytes()
    }
}
