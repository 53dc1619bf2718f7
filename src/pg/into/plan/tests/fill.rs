//! The contents of the tables of the model.

use std::collections::BTreeMap;

use super::stars;
use super::world::{Row, World};
use crate::into::state::CallFacts;
use crate::into::step::{LoggedStage, WorkingTable};

impl World {
    pub(super) fn fill(&mut self, table: WorkingTable, state: &mut CallFacts) {
        let set = |n: i64| i64::from(self.read[n as usize].1.unwrap_or_default());
        let mut rows: Vec<Row> = match table {
            WorkingTable::Sets => {
                for n in 0..self.docs.len() {
                    if !self.call.shared || n % Self::parts(table) == self.part {
                        self.read[n] = self.docs[n];
                    }
                }
                (0..self.read.len() as i64).map(|n| (n, n)).collect()
            }
            WorkingTable::Members => {
                let mut with_set: Vec<i64> = self
                    .rows(WorkingTable::Sets)
                    .iter()
                    .map(|row| row.0)
                    .filter(|&n| self.has_set(n))
                    .collect();
                // Parts are read in any order.
                with_set.sort_unstable();
                let first = |n: i64| with_set.iter().copied().find(|&m| set(m) == set(n)).unwrap_or(n);
                with_set.iter().map(|&n| (n, first(n))).collect()
            }
            WorkingTable::Ranks => vec![(0, 0)],
            WorkingTable::Routes => {
                self.rows(WorkingTable::Members).iter().copied().filter(|(n, first)| n == first).collect()
            }
            WorkingTable::Candidates => {
                let routes = self.rows(WorkingTable::Routes);
                let near = |a: i64, b: i64| a < b && (set(a) - set(b)).abs() <= 2;
                let all = routes.iter().flat_map(|a| routes.iter().map(|b| (a.0, b.0)));
                all.filter(|&(a, b)| near(a, b)).collect()
            }
            WorkingTable::Halves => {
                let (LoggedStage::Round(round), rounds) = self.stage() else { panic!("no round") };
                let candidates = self.rows(WorkingTable::Candidates).iter().copied();
                candidates.filter(|(a, b)| (a + b) % rounds == round).collect()
            }
            WorkingTable::Pairs => {
                let from = if self.call.shared { WorkingTable::Candidates } else { WorkingTable::Halves };
                let halves = self.rows(from).iter().copied();
                halves.filter(|&(a, b)| (set(a) - set(b)).abs() <= 1).collect()
            }
            WorkingTable::Edges if matches!(self.stage().0, LoggedStage::Stars(_)) => {
                stars::smaller(self.rows(WorkingTable::Larger))
            }
            WorkingTable::Edges | WorkingTable::Neighbours => stars::edges(self.rows(WorkingTable::Pairs)),
            WorkingTable::Larger => stars::larger(self.rows(WorkingTable::Edges)),
            WorkingTable::Clusters => self.clusters_of_sets(),
            // The others belong to updates and to Citus, which the model does not have.
            _ => Vec::new(),
        };
        if self.call.shared {
            // Each row belongs to a part by one of its numbers.
            let parts = Self::parts(table);
            rows.retain(|row| row.0 as usize % parts == self.part);
        }
        if !matches!(table, WorkingTable::Halves | WorkingTable::Larger) {
            state.filled = Some(rows.len() as i64);
        }
        assert!(!self.is_far(table) || self.far.contains(&table));
        let to = if self.is_far(table) { &mut self.here.far } else { &mut self.here.tables };
        to.get_mut(&table).expect("a table that was made").extend(rows);
    }

    /// Returns the next stage, and the number of rounds in which candidates are compared.
    pub(super) fn stage(&self) -> (LoggedStage, i64) {
        let Some((_, progress, _)) = &self.here.log else { panic!("no log") };
        (progress.next(self.call.by_stars), progress.rounds)
    }

    /// Returns, for each set that is in a cluster, its document and the first document of the
    /// cluster.
    fn clusters_of_sets(&self) -> Vec<Row> {
        let edges: BTreeMap<i64, i64> =
            self.rows(WorkingTable::Edges).iter().map(|&(u, v)| (u, u.min(v))).collect();
        let members = self.rows(WorkingTable::Members);
        let root = |first: i64| edges.get(&first).copied().unwrap_or(first);
        let rows = members.iter().filter(|(n, first)| n == first).map(|&(n, _)| {
            let cluster = members.iter().filter(|row| root(row.1) == root(n)).map(|row| row.0);
            (n, cluster.clone().min().unwrap_or(n), cluster.count())
        });
        rows.filter(|row| row.2 > 1).map(|(n, least, _)| (n, least)).collect()
    }

    pub(super) fn has_set(&self, n: i64) -> bool {
        self.read[n as usize].1.is_some()
    }

    /// Returns the pairs of all members.
    pub(super) fn expanded(&self) -> Vec<Row> {
        let members = self.rows(WorkingTable::Members);
        let of = |first: i64| members.iter().filter(move |row| row.1 == first).map(|row| row.0);
        let mut pairs: Vec<Row> = Vec::new();
        for &(a, b) in self.rows(WorkingTable::Pairs) {
            pairs.extend(of(a).flat_map(|a| of(b).map(move |b| (a.min(b), a.max(b)))));
        }
        for (n, a) in members.iter().enumerate() {
            pairs.extend(members[..n].iter().filter(|b| b.1 == a.1).map(|b| (b.0.min(a.0), b.0.max(a.0))));
        }
        pairs.sort_unstable();
        pairs
    }

    /// Returns the pairs of the documents that were read, compared one by one.
    pub(super) fn anew(&self) -> Vec<Row> {
        let count = self.read.len() as i64;
        let all = (0..count).flat_map(|a| (a + 1..count).map(move |b| (a, b)));
        let set = |n: i64| self.read[n as usize].1.map(i64::from);
        all.filter(|&(a, b)| set(a).zip(set(b)).is_some_and(|(a, b)| (a - b).abs() <= 1)).collect()
    }
}
